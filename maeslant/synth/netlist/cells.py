# SPDX-License-Identifier: Apache-2.0
"""Reads netlists with functional models of the cells that they are made of."""

import pathlib

from maeslant.synth.liberty import Library
from maeslant.synth.netlist import block_ram

# Yosys' models of the cells of FPGAs.
MODELS = {
    "ecp5": "-D NO_INCLUDES +/ecp5/cells_sim.v",
    "gatemate": "+/gatemate/cells_sim.v",
    "gw5a": "+/gowin/cells_sim.v",
    "xc7": "+/xilinx/cells_sim.v",
}


def multiplier() -> str:
    """Returns a model of ECP5's multiplier without registers, after Lattice FPGA-TN-02205."""

    def pins(name: str, count: int) -> str:
        return ", ".join(f"{name}{i}" for i in reversed(range(count)))

    a, b, c, p = (pins(name, 36 if name == "P" else 18) for name in "ABCP")
    return f"""
module MULT18X18D (input {a}, {b}, {c}, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, output {p});
  wire signed [18:0] a = {{SIGNEDA & A17, {a}}}, b = {{SIGNEDB & B17, {b}}};
  wire signed [37:0] product = a * b;
  assign {{{p}}} = SOURCEA || SOURCEB ? 36'hx : product[35:0];  // from another one: not modelled
endmodule
"""


def to_prove(netlist: pathlib.Path, target: str, library: Library | None) -> list[str]:
    """Returns Yosys' commands that read a mapped netlist and models of its cells, for a proof.

    ``library``: of standard cells; None for the FPGAs of ``target``. Writes a file beside it.
    """
    if library:
        models = f"read_liberty -ignore_miss_func {library.path}"
    else:
        models = f"read_verilog {MODELS[target]}"
    memories = netlist.with_name("block_ram.v")
    memories.write_text(block_ram.models(target))
    return [models, f"read_verilog {memories}", f"read_verilog {netlist}"]


def to_simulate(netlist: pathlib.Path, target: str) -> tuple[list[str], pathlib.Path]:
    """Returns Yosys' commands that read an FPGA's netlist to simulate, and a file with models.

    The models in the file are read as black boxes: of large memories Yosys would take gigabytes.
    """
    others = netlist.with_name("models.v")
    others.write_text(block_ram.models(target) + (multiplier() if target == "ecp5" else ""))
    passes = [f"read_verilog {MODELS[target]}", f"read_verilog -lib {others}"]
    return [*passes, f"read_verilog {netlist}"], others
