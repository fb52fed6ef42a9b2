# SPDX-License-Identifier: Apache-2.0
"""Reads netlists with functional models of the cells that they are made of."""

import pathlib
import re

from maeslant.synth.liberty import Library
from maeslant.synth.netlist import block_ram

# Yosys' models of the cells of FPGAs.
MODELS = {
    "ecp5": "-D NO_INCLUDES +/ecp5/cells_sim.v",
    "gatemate": "+/gatemate/cells_sim.v",
    "gw5a": "+/gowin/cells_sim.v",
    "xc7": "+/xilinx/cells_sim.v",
}

UNKNOWN = re.compile(r"(\(\* blackbox \*\) module [^;]*;)")


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


def clock_gates(library: Library) -> str:
    """Returns models of a library's clock gates, each a latch that is open while the clock is low.

    Yosys reads no function of them from a Liberty file.
    """
    text = ""
    for cell in library.cells.values():
        if cell.gate:
            clock, out, enables = cell.gate
            text += f"""
module {cell.name} (input {", ".join(cell.inputs)}, output {out});
  reg enabled;
  always @* if (!{clock}) enabled = {" | ".join(enables)};
  assign {out} = {clock} & enabled;
endmodule
"""
    return text


def to_prove(netlist: pathlib.Path, target: str, library: Library | None) -> list[str]:
    """Returns Yosys' commands that read a mapped netlist and models of its cells, for a proof.

    ``library``: of standard cells; None for the FPGAs of ``target``. Writes a file beside it.
    """
    if library:
        models = f"read_liberty -ignore_miss_func {library.path}"
    else:
        models = f"read_verilog {MODELS[target]}"
    memories = netlist.with_name("block_ram.v")
    # Of no other: Yosys lets ECP5's write a clock later, so no row is a register of the RTL.
    memories.write_text(block_ram.models(target) if target == "xc7" else "")
    return [models, f"read_verilog {memories}", f"read_verilog {netlist}"]


def others(target: str, library: Library | None) -> str:
    """Returns Verilog of cells that a simulation takes from here; ``library`` as for `to_prove`.

    Of a standard-cell library those that Yosys reads no function of; of FPGAs large memories and
    ECP5's multipliers.
    """
    if library:
        return clock_gates(library)
    text = block_ram.models(target) + (multiplier() if target == "ecp5" else "")
    # What stands for a RAM without a model is empty to a simulator: it has to end there.
    end = '`ifndef YOSYS\n  initial $fatal(1, "block RAM without a model");\n`endif'
    return UNKNOWN.sub(lambda head: f"{head[1]}\n{end}", text)
