# SPDX-License-Identifier: Apache-2.0
"""Tests mae_idle_clock: edges pass for some clocks after the last activity, and after reset."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from tests.support import bench
from tests.support.stream import start_clock


@cocotb.test(timeout_time=200, timeout_unit="us")
async def edges_pass_while_active(dut) -> None:
    """An edge passes mae_idle_clock if it is at most Clocks after one with activity, or a reset."""
    clocks = bench.parameters()["Clocks"]
    dut.rst_ni.value, dut.active_i.value = 0, 0
    start_clock(dut.clk_i, 10_000)
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    since = 0  # edges since the last activity
    for step in range(400):
        active = random.random() < (0.5 if step % 100 < 20 else 0.05)
        dut.active_i.value = int(active)
        since = 0 if active else since + 1
        await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        assert int(dut.clk_o.value) == int(since <= clocks)
        await FallingEdge(dut.clk_i)
        await Timer(1, "ns")
        assert int(dut.clk_o.value) == 0


@pytest.mark.parametrize("clocks", [1, 12, 16])
def test_idle_clock(clocks: int) -> None:
    """Builds mae_idle_clock and runs this file's test."""
    bench.run("mae_idle_clock", parameters={"Clocks": clocks})
