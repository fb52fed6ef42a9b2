# SPDX-License-Identifier: Apache-2.0
"""Tests the self-test of boards/ulx3s: LEDs show if AES in the core works."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def lights_when_right(dut) -> None:
    """After two blocks of the ULX3S self-test led 0 is on and led 1 (wrong ciphertext) is off."""
    cocotb.start_soon(Clock(dut.clk_25mhz, 40, "ns").start())
    await ClockCycles(dut.clk_25mhz, 60)
    assert int(dut.led.value) & 0b11 == 0b01


def test_selftest() -> None:
    """Runs the ULX3S board's top in a simulation with the core's parameters of the board."""
    bench.run("ulx3s_selftest", sources=["boards/ulx3s/ulx3s_selftest.v"])
