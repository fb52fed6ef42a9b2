# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axis_checker: a broken AXI4-Stream rule ends the simulation; legal traffic passes."""

import os

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from maeslant import paths
from maeslant.build import cocotb_bench

WIRES = paths.ROOT / "tests" / "bus" / "checker" / "mae_axis_wires.sv"
INPUTS = ("clear_i", "s_axis_tvalid", "m_axis_tready", "s_axis_tdata", "s_axis_tlast")
IDLE, WAITS, TAKEN = (0, 0, 0, 0, 0), (0, 1, 0, 7, 0), (0, 1, 1, 7, 0)
# What the transmitter offers clock by clock (in the order of INPUTS), and the rule that it breaks.
CASES = {
    "legal": ("", [IDLE, WAITS, WAITS, TAKEN, TAKEN, WAITS, (1, 1, 0, 7, 0), IDLE]),
    "a beat is withdrawn": ("AxisHolds", [IDLE, WAITS, IDLE]),
    "its data change": ("AxisHolds", [IDLE, WAITS, (0, 1, 0, 8, 0)]),
    "its last mark changes": ("AxisHolds", [IDLE, WAITS, (0, 1, 1, 7, 1)]),
    "a beat comes out of reset": ("AxisReset", [TAKEN]),
}


@cocotb.test()
async def traffic(dut) -> None:
    """Drives the AXI4-Stream signals of the case named in CASE onto mae_axis_wires."""
    handles = [getattr(dut, name) for name in INPUTS]
    for handle in handles:
        handle.value = 0
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for values in CASES[os.environ["CASE"]][1]:
        for handle, value in zip(handles, values, strict=True):
            handle.value = value
        await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)


def simulate(case: str) -> None:
    """Simulates mae_axis_wires with its AXI4-Stream checkers on the traffic of a named case."""
    cocotb_bench.simulate(
        "mae_axis_wires", "tests.bus.checker.test_axis_checker", sources=[WIRES], env={"CASE": case}
    )


def test_legal() -> None:
    """mae_axis_checker lets legal AXI4-Stream traffic pass, with a beat that a clear drops."""
    simulate("legal")


@pytest.mark.parametrize("case", [name for name in CASES if name != "legal"])
def test_broken(case: str) -> None:
    """mae_axis_checker ends the simulation with the name of the AXI4-Stream rule that is broken."""
    with pytest.raises(cocotb_bench.SimulationError, match=CASES[case][0]):
        simulate(case)
