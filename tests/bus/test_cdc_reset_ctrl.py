# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cdc_reset_ctrl: a reset of either clock domain resets both; release is synchronous.

Tests mae_cdc_reset_ctrl.
"""

import random

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge, Timer, with_timeout

from tests.support import bench
from tests.support.stream import start_clock


@cocotb.test(timeout_time=100, timeout_unit="us")
async def either_resets_both(dut) -> None:
    """A reset of either side of mae_cdc_reset_ctrl resets both sides at once, at random times."""
    dut.s_rst_ni.value = dut.m_rst_ni.value = 0
    start_clock(dut.s_clk_i, 4000)
    start_clock(dut.m_clk_i, 7000)
    await Timer(20, "ns")
    for _ in range(40):
        first, second = random.sample(["s", "m"], 2)
        getattr(dut, f"{first}_rst_ni").value = 1
        await Timer(random.randrange(15_000, 40_000), "ps")
        assert (int(dut.s_rst_no.value), int(dut.m_rst_no.value)) == (0, 0)
        getattr(dut, f"{second}_rst_ni").value = 1
        released = [cocotb.start_soon(released_on_second_clock(dut, side)) for side in ("s", "m")]
        for task in released:
            await with_timeout(task, 50, "ns")
        await Timer(random.randrange(1, 10_000), "ps")
        getattr(dut, f"{random.choice('sm')}_rst_ni").value = 0
        await Timer(1, "ps")
        assert (int(dut.s_rst_no.value), int(dut.m_rst_no.value)) == (0, 0)
        dut.s_rst_ni.value = dut.m_rst_ni.value = 0
        await Timer(random.randrange(1, 10_000), "ps")


async def released_on_second_clock(dut, side: str) -> None:
    """Asserts that a side's reset output rises with the third edge of its clock."""
    for wanted in (0, 0, 1):
        await RisingEdge(getattr(dut, f"{side}_clk_i"))
        assert int(getattr(dut, f"{side}_rst_no").value) == wanted
    await FallingEdge(getattr(dut, f"{side}_clk_i"))


def test_cdc_reset_ctrl() -> None:
    """Builds mae_cdc_reset_ctrl and runs this file's test."""
    bench.run("mae_cdc_reset_ctrl")
