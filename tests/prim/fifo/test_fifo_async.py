# SPDX-License-Identifier: Apache-2.0
"""Tests mae_fifo_async: order at any ratio of its two clocks, depth, throughput, erasure."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge, Timer

from tests.support import bench
from tests.support.stream import Sink, Source, start_clock


def source(dut, stall: float) -> Source:
    """Returns a driver of mae_fifo_async's write side with random stalls."""
    return Source(dut, "in", stall, seed=3, clock="in_clk_i")


def sink(dut, stall: float) -> Sink:
    """Returns a reader of mae_fifo_async's read side with random stalls."""
    return Sink(dut, "out", stall, seed=4, clock="out_clk_i")


async def begin(dut, in_ps: int, out_ps: int) -> None:
    """Starts both clocks of mae_fifo_async at random phases and resets both sides."""
    dut.in_valid_i.value = dut.in_data_i.value = dut.out_ready_i.value = 0
    dut.in_rst_ni.value = dut.out_rst_ni.value = 0
    dut._clocks = [start_clock(dut.in_clk_i, in_ps), start_clock(dut.out_clk_i, out_ps)]
    await Timer(10 * max(in_ps, out_ps), "ps")
    for side in random.sample(["in", "out"], 2):  # released one after the other
        clock = getattr(dut, f"{side}_clk_i")
        await RisingEdge(clock)
        getattr(dut, f"{side}_rst_ni").value = 1
        await ClockCycles(clock, random.randrange(3))


def end(dut) -> None:
    """Stops both clocks of mae_fifo_async."""
    for clock in dut._clocks:
        clock.cancel()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def keeps_order_at_any_ratio(dut) -> None:
    """Words leave mae_fifo_async in their order at any ratio of the clocks, with stalls."""
    width = len(dut.in_data_i)
    for attempt in range(24):
        ratio = random.choice([1, random.uniform(1, 1.1), random.uniform(1, 8)])
        periods = [4000, round(4000 * ratio)]
        random.shuffle(periods)
        await begin(dut, *periods)
        words = [random.getrandbits(width) for _ in range(150)]
        stalls = [(0.0, 0.0), (0.6, 0.0), (0.0, 0.6), (0.4, 0.4)][attempt % 4]
        sending = cocotb.start_soon(source(dut, stalls[0]).send(words))
        assert await sink(dut, stalls[1]).receive(len(words)) == words
        await sending
        await ClockCycles(dut.out_clk_i, 4)
        assert int(dut.out_valid_o.value) == 0
        end(dut)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def one_word_a_clock(dut) -> None:
    """With equal clocks mae_fifo_async passes a word per clock if it has 8 or more entries."""
    for _ in range(10):
        await begin(dut, 4000, 4000)
        dut.in_valid_i.value = dut.out_ready_i.value = 1
        await ClockCycles(dut.out_clk_i, 20)
        passed = 0
        for _ in range(100):
            await RisingEdge(dut.out_clk_i)
            passed += int(dut.out_valid_o.value)
        if bench.parameters()["LogDepth"] >= 3:
            assert passed == 100
        end(dut)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def crosses_in_two_registers(dut) -> None:
    """mae_fifo_async shows a word two read clocks after its write."""
    for _ in range(20):
        await begin(dut, 4000, random.choice([3000, 4000, 9000]))
        await ClockCycles(dut.out_clk_i, 4)
        await ClockCycles(dut.in_clk_i, 4)
        depth = 2 ** bench.parameters()["LogDepth"]
        dut.in_valid_i.value = 1
        await RisingEdge(dut.in_clk_i)
        for wanted in (0, 0, 1):
            await RisingEdge(dut.out_clk_i)
            assert int(dut.out_valid_o.value) == wanted
        await ClockCycles(dut.in_clk_i, depth + 2)
        assert int(dut.in_ready_o.value) == 0
        await RisingEdge(dut.out_clk_i)
        dut.out_ready_i.value = 1
        await RisingEdge(dut.out_clk_i)
        dut.out_ready_i.value = 0
        for wanted in (0, 0, 0, 1):
            await RisingEdge(dut.in_clk_i)
            assert int(dut.in_ready_o.value) == wanted
        end(dut)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def fills_to_its_depth(dut) -> None:
    """mae_fifo_async accepts exactly 2^LogDepth words while none is read."""
    await begin(dut, 4000, 7000)
    dut.in_valid_i.value = 1
    taken = 0
    for _ in range(200):
        await RisingEdge(dut.in_clk_i)
        taken += int(dut.in_ready_o.value)
    assert taken == 2 ** bench.parameters()["LogDepth"]
    end(dut)


@cocotb.test(timeout_time=200, timeout_unit="us", skip=not bench.parameters().get("Zero", 1))
async def zeroes_what_was_taken(dut) -> None:
    """mae_fifo_async erases a word a few clocks after its read, and all words at reset."""
    await begin(dut, 4000, 5000)
    depth, ones = 2 ** bench.parameters()["LogDepth"], 2 ** len(dut.in_data_i) - 1
    sending = cocotb.start_soon(source(dut, 0.0).send([ones] * 20))
    assert await sink(dut, 0.0).receive(20) == [ones] * 20
    await sending
    await ClockCycles(dut.in_clk_i, 5)
    assert [int(dut.gen_zero.store_q[i].value) for i in range(depth)] == [0] * depth
    await source(dut, 0.0).send([ones] * depth)
    await Timer(1, "ns")
    assert [int(dut.gen_zero.store_q[i].value) for i in range(depth)] == [ones] * depth
    dut.in_rst_ni.value = dut.out_rst_ni.value = 0
    await Timer(1, "ns")
    assert [int(dut.gen_zero.store_q[i].value) for i in range(depth)] == [0] * depth
    assert int(dut.out_valid_o.value) == 0
    end(dut)


@pytest.mark.parametrize(
    "parameters",
    [
        {"Width": 8, "LogDepth": 1},
        {"Width": 70, "LogDepth": 3},
        {"Width": 16, "LogDepth": 5, "Zero": 0},
    ],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_fifo_async(parameters: dict) -> None:
    """Builds mae_fifo_async with several depths and runs this file's tests."""
    bench.run("mae_fifo_async", parameters=parameters)
