# SPDX-License-Identifier: Apache-2.0
"""Tests mae_fifo: order, depth, throughput and erasure, for several depths and widths."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge

from tests.support import bench
from tests.support.stream import Sink, Source, start


async def begin(dut) -> None:
    """Resets mae_fifo with idle inputs."""
    await start(dut, clear_i=0, in_valid_i=0, in_data_i=0, out_ready_i=0)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def keeps_order_under_stalls(dut) -> None:
    """Words leave mae_fifo in their order under random stalls of both sides."""
    await begin(dut)
    width = len(dut.in_data_i)
    for in_stall, out_stall in ((0.0, 0.0), (0.7, 0.0), (0.0, 0.7), (0.4, 0.4)):
        words = [random.getrandbits(width) for _ in range(200)]
        cocotb.start_soon(Source(dut, "in", in_stall, seed=3).send(words))
        assert await Sink(dut, "out", out_stall, seed=4).receive(len(words)) == words
        await RisingEdge(dut.clk_i)
        assert int(dut.out_valid_o.value) == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def fills_to_its_depth(dut) -> None:
    """mae_fifo accepts exactly Depth words, and count_o counts them."""
    await begin(dut)
    depth = bench.parameters()["Depth"]
    dut.in_valid_i.value = 1
    for taken in range(depth):
        await RisingEdge(dut.clk_i)
        assert int(dut.in_ready_o.value) == 1
        assert int(dut.count_o.value) == taken
    await RisingEdge(dut.clk_i)
    assert int(dut.in_ready_o.value) == 0
    assert int(dut.count_o.value) == depth
    dut.in_valid_i.value = 0
    assert await Sink(dut, "out").receive(depth) == [0] * depth


@cocotb.test(timeout_time=100, timeout_unit="us")
async def one_word_a_clock(dut) -> None:
    """mae_fifo passes a word per clock, or every second clock if its depth is 1."""
    await begin(dut)
    dut.in_valid_i.value = 1
    dut.out_ready_i.value = 1
    await ClockCycles(dut.clk_i, 5)
    passed = 0
    for _ in range(100):
        await RisingEdge(dut.clk_i)
        passed += int(dut.out_valid_o.value)
    assert passed == (50 if bench.parameters()["Depth"] == 1 else 100)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def clear_zeroes_the_store(dut) -> None:
    """clear_i and reset empty mae_fifo in one clock and erase all words."""
    for by_reset in (False, True):
        await begin(dut)
        depth, zero = bench.parameters()["Depth"], bench.parameters().get("Zero", 1)
        ones = 2 ** len(dut.in_data_i) - 1
        cocotb.start_soon(Source(dut, "in").send([ones] * depth))
        await ClockCycles(dut.clk_i, depth + 3)
        assert all(int(dut.store_q[i].value) == ones for i in range(depth))
        dut.in_valid_i.value = 1  # a push in the same clock loses against clear
        signal, active = (dut.rst_ni, 0) if by_reset else (dut.clear_i, 1)
        signal.value = active
        await RisingEdge(dut.clk_i)
        dut.in_valid_i.value = 0
        signal.value = 1 - active
        await RisingEdge(dut.clk_i)
        assert int(dut.count_o.value) == 0
        assert int(dut.out_valid_o.value) == 0
        assert int(dut.in_ready_o.value) == 1
        if zero:
            assert all(int(dut.store_q[i].value) == 0 for i in range(depth))


@pytest.mark.parametrize(
    "parameters",
    [
        {"Width": 1, "Depth": 1},
        {"Width": 8, "Depth": 2},
        {"Width": 128, "Depth": 5},
        {"Width": 16, "Depth": 64, "Zero": 0},
    ],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_fifo(parameters: dict) -> None:
    """Builds mae_fifo with several depths and widths and runs this file's tests."""
    bench.run("mae_fifo", parameters=parameters)
