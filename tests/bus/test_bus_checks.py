# SPDX-License-Identifier: Apache-2.0
"""Tests the bus checkers: each port has a checker, and a violation ends the simulation."""

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from maeslant import paths
from maeslant.build import bus_checkers, cocotb_bench

FAULTY = paths.ROOT / "tests" / "bus" / "mae_faulty_port.sv"
RULES = ("AxilBHolds", "AxilRHolds", "AxilBAnswers", "AxilRAnswers", "AxilBResp", "AxilRResp")


@cocotb.test()
async def accesses(dut) -> None:
    """Makes one AXI4-Lite write and one read, whose answers the manager takes late."""
    for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
        getattr(dut, f"s_axil_{name}").value = 0
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)
    for name in ("awvalid", "wvalid", "arvalid"):
        getattr(dut, f"s_axil_{name}").value = 1
    await RisingEdge(dut.clk_i)
    for name in ("awvalid", "wvalid", "arvalid"):
        getattr(dut, f"s_axil_{name}").value = 0
    for _ in range(6):
        await RisingEdge(dut.clk_i)
    for name in ("bready", "rready"):
        getattr(dut, f"s_axil_{name}").value = 1
    for _ in range(6):
        await RisingEdge(dut.clk_i)
    await ReadOnly()


def test_every_port() -> None:
    """Every module with a bus port gets a protocol checker for it."""
    for file in sorted(paths.RTL.glob("**/*.sv")):
        found = {port.prefix for port in bus_checkers.ports(file)}
        text = paths.code(file).split(");")[0]
        has = {
            word.rsplit("_", 1)[0]
            for line in text.splitlines()
            if line.split()[:1] in (["input"], ["output"])
            for word in [line.rstrip(",").split()[-1]]
            if word.endswith(("_awvalid", "_tvalid"))
        }
        assert found == has, file


def test_keeps_rules() -> None:
    """A bus checker accepts the traffic of a port without a fault."""
    cocotb_bench.simulate(
        "mae_faulty_port",
        "tests.bus.test_bus_checks",
        sources=[FAULTY],
        parameters={"Fault": len(RULES)},
    )


@pytest.mark.parametrize("fault", range(len(RULES)))
def test_breaks_rule(fault: int) -> None:
    """A bus checker ends the simulation with the name of the rule that a fault violates."""
    with pytest.raises(cocotb_bench.SimulationError, match=RULES[fault]):
        cocotb_bench.simulate(
            "mae_faulty_port",
            "tests.bus.test_bus_checks",
            sources=[FAULTY],
            parameters={"Fault": fault},
        )
