# SPDX-License-Identifier: Apache-2.0
"""Measures clock cycles of the polynomial engine's instructions in simulation (cocotb)."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from maeslant.bench.measure.benches.cipher_bench import note


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def instructions(dut) -> None:
    """Measures the clocks of the CKKS kernel's polynomial engine for an NTT and for a pass."""
    Clock(dut.clk_i, 2, unit="ns").start()
    for name in ("rst_ni", "clear_i", "start_i", "transform_i"):
        getattr(dut, name).value = 0
    dut.galois_i.value = 3
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for metric, transform in (("transform", 1), ("pass", 0)):
        dut.transform_i.value, dut.start_i.value, clocks = transform, 1, 0
        await FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        while dut.busy_o.value:
            await FallingEdge(dut.clk_i)
            clocks += 1
        note(metric=metric, value=clocks)
