# SPDX-License-Identifier: Apache-2.0
"""Tests the self-test of boards/ulx3s: its LEDs show if the AES core works."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def lights_when_right(dut) -> None:
    """After two blocks the ULX3S self-test lights led[0] (right) and not led[1] (wrong)."""
    cocotb.start_soon(Clock(dut.clk_25mhz, 40, "ns").start())
    await ClockCycles(dut.clk_25mhz, 60)
    assert int(dut.led.value) & 0b11 == 0b01


def test_selftest() -> None:
    """Builds ulx3s_selftest.v of boards/ulx3s and runs this file's test."""
    bench.run("ulx3s_selftest", sources=["boards/ulx3s/ulx3s_selftest.v"])
