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


def read(netlist: pathlib.Path, target: str, library: Library | None) -> list[str]:
    """Returns Yosys' commands that read a mapped netlist and models of its cells.

    ``library``: of standard cells; None for the FPGAs of ``target``. Writes a file beside it.
    """
    if library:
        models = f"read_liberty -ignore_miss_func {library.path}"
    else:
        models = f"read_verilog {MODELS[target]}"
    memories = netlist.with_name("block_ram.v")
    memories.write_text(block_ram.models(target))
    return [models, f"read_verilog {memories}", f"read_verilog {netlist}"]
