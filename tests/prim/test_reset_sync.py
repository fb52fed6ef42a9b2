# SPDX-License-Identifier: Apache-2.0
"""Tests mae_reset_sync: reset starts at once and ends with a clock edge."""

import random

import cocotb
from cocotb.triggers import RisingEdge, Timer

from tests.support import bench
from tests.support.stream import start_clock


@cocotb.test(timeout_time=100, timeout_unit="us")
async def asserts_at_once_and_releases_on_the_second_clock(dut) -> None:
    """mae_reset_sync's output falls at once and rises with the second clock edge, 50 times."""
    dut.rst_ni.value = dut.test_mode_i.value = 0
    start_clock(dut.clk_i, 10_000)
    for _ in range(50):
        await RisingEdge(dut.clk_i)
        await Timer(random.randrange(1000, 9000), "ps")
        dut.rst_ni.value = 1
        for released in (0, 0, 1, 1):
            await Timer(1, "ps")
            assert int(dut.rst_no.value) == released
            await RisingEdge(dut.clk_i)
        await Timer(random.randrange(1000, 9000), "ps")
        dut.rst_ni.value = 0
        await Timer(1, "ps")
        assert int(dut.rst_no.value) == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def test_mode_bypasses_the_registers(dut) -> None:
    """mae_reset_sync's output is its input in test mode, with and without a clock."""
    dut.rst_ni.value, dut.test_mode_i.value = 0, 1
    for clocks in range(2):
        if clocks:
            start_clock(dut.clk_i, 10_000)
        for value in (1, 0, 1, 0):
            dut.rst_ni.value = value
            await Timer(1, "ps")
            assert int(dut.rst_no.value) == value
            await Timer(random.randrange(1, 9000), "ps")


def test_reset_sync() -> None:
    """Builds mae_reset_sync and runs this file's test."""
    bench.run("mae_reset_sync")
