# SPDX-License-Identifier: Apache-2.0
"""The self-test of boards/ulx3s: its LEDs after a while, with the core as SystemVerilog."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def lights_when_right(dut) -> None:
    """After two blocks led 0 is on, and led 1, which a wrong ciphertext sets, is off."""
    cocotb.start_soon(Clock(dut.clk_25mhz, 40, "ns").start())
    await ClockCycles(dut.clk_25mhz, 60)
    assert int(dut.led.value) & 0b11 == 0b01


def test_selftest() -> None:
    """The board's top as it is built, for all pins but the core's parameters."""
    bench.run("ulx3s_selftest", sources=["boards/ulx3s/ulx3s_selftest.v"])
