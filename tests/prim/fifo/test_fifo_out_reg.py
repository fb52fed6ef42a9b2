# SPDX-License-Identifier: Apache-2.0
"""Tests mae_fifo_out_reg: order, depth and erasure, with and without output register."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge

from tests.support import bench
from tests.support.stream import Sink, Source, start


async def begin(dut) -> None:
    """Resets mae_fifo_out_reg with idle inputs."""
    await start(dut, clear_i=0, in_valid_i=0, in_data_i=0, out_ready_i=0)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def keeps_order_under_stalls(dut) -> None:
    """Words leave mae_fifo_out_reg in their order under random stalls of both sides."""
    await begin(dut)
    for in_stall, out_stall in ((0.0, 0.0), (0.7, 0.0), (0.0, 0.7), (0.4, 0.4)):
        words = [random.getrandbits(len(dut.in_data_i)) for _ in range(200)]
        cocotb.start_soon(Source(dut, "in", in_stall, seed=3).send(words))
        assert await Sink(dut, "out", out_stall, seed=4).receive(len(words)) == words
        await RisingEdge(dut.clk_i)
        assert int(dut.out_valid_o.value) == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def holds_its_depth_and_the_register(dut) -> None:
    """mae_fifo_out_reg accepts Depth words, or two more with Cut; clear_i erases all."""
    await begin(dut)
    capacity = bench.parameters()["Depth"] + 2 * bench.parameters()["Cut"]
    dut.in_valid_i.value = 1
    taken = 0
    for _ in range(capacity + 6):
        await RisingEdge(dut.clk_i)
        taken += int(dut.in_ready_o.value)
    assert taken == capacity
    dut.in_valid_i.value = 0
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await ClockCycles(dut.clk_i, 2)
    assert int(dut.out_valid_o.value) == 0 and int(dut.in_ready_o.value) == 1


@pytest.mark.parametrize("cut", [0, 1])
def test_fifo_out_reg(cut: int) -> None:
    """Builds mae_fifo_out_reg with and without output register and runs this file's tests."""
    bench.run("mae_fifo_out_reg", parameters={"Width": 16, "Depth": 4, "Cut": cut})
