# SPDX-License-Identifier: Apache-2.0
"""Tests the AXI protocol checkers: every port of rtl/ has one, and it ends the simulation."""

import re

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from maeslant import paths
from maeslant.build import bus_checkers, cocotb_bench

FAULTY = paths.ROOT / "tests" / "bus" / "checker" / "mae_faulty_port.sv"
RULES = ("AxilBHolds", "AxilRHolds", "AxilBAnswers", "AxilRAnswers", "AxilBResp", "AxilRResp")


@cocotb.test()
async def accesses(dut) -> None:
    """Makes one AXI4-Lite write and one read, and accepts the answers a few clocks late."""
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
    """bus_checkers finds every AXI4, AXI4-Lite and AXI4-Stream port of the modules in rtl/."""
    for file in paths.rtl_files():
        found = {port.prefix for port in bus_checkers.ports(file)}
        text = paths.code(file).split(");")[0]
        has = {
            word.rsplit("_", 1)[0]
            for line in text.splitlines()
            if line.split()[:1] in (["input"], ["output"])
            for word in [line.rstrip(",").split()[-1]]
            if word.endswith(("_awvalid", "_tvalid"))
        }
        for way, stem in re.findall(r"(input|output)\s+\S*axil_req_t\s+(\w+)_[io]\b", text):
            has.add(f"{'s' if way == 'input' else 'm'}_{stem}")
        assert found == has, file


def test_keeps_rules() -> None:
    """The AXI4-Lite checker lets mae_faulty_port pass while it breaks no rule."""
    cocotb_bench.simulate(
        "mae_faulty_port",
        "tests.bus.checker.test_bus_checks",
        sources=[FAULTY],
        parameters={"Fault": len(RULES)},
    )


@pytest.mark.parametrize("fault", range(len(RULES)))
def test_breaks_rule(fault: int) -> None:
    """The AXI4-Lite checker ends the simulation and names the rule that mae_faulty_port breaks."""
    with pytest.raises(cocotb_bench.SimulationError, match=RULES[fault]):
        cocotb_bench.simulate(
            "mae_faulty_port",
            "tests.bus.checker.test_bus_checks",
            sources=[FAULTY],
            parameters={"Fault": fault},
        )
