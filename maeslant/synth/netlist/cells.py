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


def read(
    netlist: pathlib.Path, target: str, library: Library | None, *, multiply: bool = False
) -> list[str]:
    """Returns Yosys' commands that read a mapped netlist and models of its cells.

    ``library``: of standard cells; None for the FPGAs of ``target``. ``multiply``: with ours of a
    multiplier, by which no proof ends. Writes a file beside the netlist.
    """
    if library:
        models = f"read_liberty -ignore_miss_func {library.path}"
    else:
        models = f"read_verilog {MODELS[target]}"
    more = netlist.with_name("models.v")
    ours = multiplier() if multiply and target == "ecp5" else ""
    more.write_text(block_ram.models(target) + ours)
    return [models, f"read_verilog {more}", f"read_verilog {netlist}"]
