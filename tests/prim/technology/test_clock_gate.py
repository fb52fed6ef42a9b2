# SPDX-License-Identifier: Apache-2.0
"""Tests mae_clock_gate: whole pulses pass while it is enabled, none while it is not."""

import random

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from tests.support import bench
from tests.support.stream import start_clock


@cocotb.test(timeout_time=100, timeout_unit="us")
async def whole_pulses_or_none(dut) -> None:
    """The enable at a rising edge of mae_clock_gate's clock decides about the whole pulse."""
    dut.enable_i.value = 0
    start_clock(dut.clk_i, 10_000)
    await RisingEdge(dut.clk_i)
    for _ in range(300):
        await FallingEdge(dut.clk_i)
        await Timer(random.randrange(1, 4000), "ps")
        assert int(dut.clk_o.value) == 0
        passes = random.randrange(2)
        dut.enable_i.value = passes
        await RisingEdge(dut.clk_i)
        await Timer(random.randrange(1, 2000), "ps")
        assert int(dut.clk_o.value) == passes
        dut.enable_i.value = random.randrange(2)  # as registers behind the edge do
        await Timer(random.randrange(1, 2000), "ps")
        assert int(dut.clk_o.value) == passes


def test_clock_gate() -> None:
    """Builds the generic mae_clock_gate and runs this file's test."""
    bench.run("mae_clock_gate")
