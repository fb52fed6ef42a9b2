# SPDX-License-Identifier: Apache-2.0
"""Tests mae_wipe_control: a wipe halts, resets and erases in that order; test mode bypasses."""

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from tests.support import bench
from tests.support.stream import start_clock

HALT, RESET = 9, 8  # clocks: behind that of wipe_i


async def begin(dut) -> None:
    """Resets mae_wipe_control and lets the wipe pass that its reset may begin."""
    dut.rst_ni.value = dut.wipe_i.value = dut.test_mode_i.value = 0
    start_clock(dut.clk_i, 10_000)
    await FallingEdge(dut.clk_i)
    assert int(dut.job_rst_no.value) == 0
    dut.rst_ni.value = 1
    await Timer(1, "ps")
    assert int(dut.halt_o.value) == bench.parameters()["AtReset"]
    for _ in range(2 * HALT):
        await FallingEdge(dut.clk_i)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def halts_resets_erases(dut) -> None:
    """mae_wipe_control halts at once, resets for 8 clocks, then clears once; it can begin again."""
    await begin(dut)
    for again in (0, 1, 5, 8, 9):
        seen = []
        for clock in range(3 * HALT):
            dut.wipe_i.value = int(clock in (0, again))
            await Timer(1, "ps")
            signals = (dut.halt_o, dut.job_rst_no, dut.clear_o)
            seen.append(tuple(int(signal.value) for signal in signals))
            await FallingEdge(dut.clk_i)
        halted, running, cleared = zip(*seen, strict=True)
        assert halted == tuple(clock <= again + HALT for clock in range(3 * HALT))
        clears = {again + HALT} | ({HALT} if again == HALT else set())
        assert {clock for clock, value in enumerate(cleared) if value} == clears
        held = {clock for clock, value in enumerate(running) if not value}
        first, last = set(range(1, 1 + RESET)), set(range(again + 1, again + 1 + RESET))
        assert held == first | last | ({*range(1, again)} if again < HALT else set())


@cocotb.test(timeout_time=100, timeout_unit="us")
async def test_mode_gives_the_reset(dut) -> None:
    """In test mode mae_wipe_control's reset is rst_ni, also during a wipe and without a clock."""
    await begin(dut)
    dut.test_mode_i.value = 1
    dut.wipe_i.value = 1
    for _ in range(4):
        await FallingEdge(dut.clk_i)
        assert int(dut.job_rst_no.value) == 1
    dut.rst_ni.value = 0
    await Timer(1, "ps")
    assert int(dut.job_rst_no.value) == 0
    dut.rst_ni.value = 1
    await Timer(1, "ps")
    assert int(dut.job_rst_no.value) == 1


@pytest.mark.parametrize("at_reset", [0, 1])
def test_wipe_control(at_reset: int) -> None:
    """Builds mae_wipe_control and runs this file's tests."""
    bench.run("mae_wipe_control", parameters={"AtReset": at_reset})
