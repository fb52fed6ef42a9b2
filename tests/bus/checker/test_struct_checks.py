# SPDX-License-Identifier: Apache-2.0
"""Tests that the AXI4-Lite checker watches ports that are the structs of mae_axi_pkg."""

import pathlib

import cocotb
import pytest
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles

from maeslant import paths
from maeslant.build import bus_checkers, cocotb_bench
from tests.support.stream import start

FAULTY = paths.ROOT / "tests" / "bus" / "checker" / "mae_faulty_structs.sv"


@cocotb.test()
async def waits(dut: SimHandleBase) -> None:
    """Runs the clock without a request."""
    await start(dut, axil_i=0)
    await ClockCycles(dut.clk_i, 8)


@pytest.mark.parametrize("fault", [False, True])
def test_breaks_rule(fault: bool) -> None:
    """The AXI4-Lite checker ends the simulation at a response in a struct without a request."""
    arguments = {"sources": [FAULTY], "parameters": {"Fault": fault}}
    if not fault:
        cocotb_bench.simulate("mae_faulty_structs", __name__, **arguments)
        return
    with pytest.raises(cocotb_bench.SimulationError, match="AxilRAnswers"):
        cocotb_bench.simulate("mae_faulty_structs", __name__, **arguments)


def test_directions(tmp_path: pathlib.Path) -> None:
    """Struct ports are a subordinate's if requests come in, a manager's if they go out."""
    for way, back, side in (("input", "output", "s"), ("output", "input", "m")):
        file = tmp_path / f"mae_{side}.sv"
        i, o = ("i", "o") if side == "s" else ("o", "i")
        file.write_text(
            f"module mae_{side} (input logic clk_i, input logic rst_ni,\n"
            f"{way} mae_axi_pkg::axil_req_t axil_{i}, {back} mae_axi_pkg::axil_rsp_t axil_{o});\n"
        )
        (port,) = bus_checkers.ports(file)
        assert (port.prefix, port.side) == (f"{side}_axil", side)
        bound = port.bind()
        assert f".awvalid(axil_{i}.aw_valid)" in bound and f".rdata(axil_{o}.r_data)" in bound
