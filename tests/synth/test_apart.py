# SPDX-License-Identifier: Apache-2.0
"""Tests how a netlist's repeated modules are simulated apart from the rest of it."""

import gzip
import pathlib
import re

import pytest

from maeslant.build import cocotb_bench
from maeslant.synth import report as reports
from maeslant.synth import simulate, synthesize
from maeslant.synth.fpga import flow as fpga
from maeslant.synth.netlist import apart

TABLE = "mae_sbox_table"
BUTTERFLY = r"""
module top(u);
  input u;
endmodule

module \mae_ntt_butterfly$top.u_core[0].u_it (clk_i, q_high_i, gs_i, u_i, upper_o);
  input clk_i;
  wire clk_i;
  input [23:0] q_high_i;
  input [36:0] u_i;
  output [36:0] upper_o;
endmodule
"""


class Encrypt(int):
    """Stands for a parameter that is an enum in SystemVerilog, and a number for its tests."""

    def __str__(self) -> str:
        return "mae_aes_pkg::DirsEncrypt"


def test_parameters_are_read_from_ports(tmp_path: pathlib.Path) -> None:
    """parts() gives a repeated module's parameters; all that synthesis repeats have a rule."""
    assert set(apart.PARAMETERS) == set(fpga.REPEATED)
    netlist = tmp_path / "net.v"
    netlist.write_text(BUTTERFLY)
    (part,) = apart.parts(netlist)
    assert part.module == "mae_ntt_butterfly" and part.parameters == {"Width": 37, "Digit": 13}


@pytest.mark.full
@pytest.mark.parametrize("where", ("nowhere", "apart", "around"))
def test_both_sides_are_tested(where: str, tmp_path: pathlib.Path, monkeypatch) -> None:
    """simulate() passes a netlist with an S-box apart; wrong gates in or around it, it does not."""
    rule = {TABLE: lambda bits: {"Kind": Encrypt(1), "Regs": 0, "Bytes": bits["in_i"] // 8}}
    monkeypatch.setattr(reports, "REPORTS", tmp_path)
    monkeypatch.setattr(fpga, "REPEATED", (TABLE,))
    monkeypatch.setattr(apart, "PARAMETERS", rule)
    made = synthesize("mae_cipher_serial", "xc7", {"Sbox": 0}, flatten=False)
    if where == "nowhere":
        passed = simulate(made, "xc7")["passed"]
        assert f"{TABLE}: all_bytes" in passed and "known_answers" in passed
        return
    packed = made.file.with_name("net.v.gz")
    text = gzip.decompress(packed.read_bytes()).decode()
    begin = text.index(f"\nmodule \\{TABLE}$")
    inside, around = text[begin:], text[:begin]
    if where == "apart":
        inside = re.sub(r"(INIT\(64'h)(\w)", lambda m: f"{m[1]}{15 - int(m[2], 16):x}", inside)
    else:
        around = re.sub(r"(INIT\(4'h)(\w)", lambda m: f"{m[1]}{15 - int(m[2], 16):x}", around)
    assert around + inside != text
    packed.write_bytes(gzip.compress((around + inside).encode()))
    top = {"apart": TABLE, "around": "mae_cipher_serial"}[where]
    with pytest.raises(cocotb_bench.SimulationError, match=rf"failed: {top} "):
        simulate(made, "xc7")
