# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sync: values of another clock come after two clocks; reset zeroes them."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from tests.support import bench
from tests.support.stream import start_clock


@cocotb.test(timeout_time=100, timeout_unit="us")
async def values_come_after_two_clocks(dut) -> None:
    """mae_sync gives in each clock what it was given two clocks before; 0 during reset."""
    width = len(dut.data_i)
    dut.rst_ni.value, dut.data_i.value = 0, (1 << width) - 1
    start_clock(dut.clk_i, 10_000)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
        assert int(dut.data_o.value) == 0
    dut.rst_ni.value = 1
    before = [0, 0]
    for _ in range(200):
        value = random.getrandbits(width)
        dut.data_i.value = value
        await RisingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        before = [before[1], value]
        assert int(dut.data_o.value) == before[0]
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    assert int(dut.data_o.value) == 0


@pytest.mark.parametrize("width", [1, 5])
def test_sync(width: int) -> None:
    """Builds the generic mae_sync and runs this file's test."""
    bench.run("mae_sync", parameters={"Width": width})
