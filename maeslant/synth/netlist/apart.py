# SPDX-License-Identifier: Apache-2.0
"""Finds the modules of a netlist that stand in it many times, and are simulated apart.

Where synthesis maps such a module once and keeps it, its own tests run on that one's gates, and its
RTL takes the place of all of them while the rest is simulated. Each gate is then in one simulation,
instead of each of its copies in one that no machine holds.
"""

import dataclasses
import pathlib
import re
from collections.abc import Callable

MODULE = re.compile(r"(?ms)^module \\((\w+)\$\S+) \(.*?^endmodule")
PORT = re.compile(r"(?m)^  (?:in|out)put (?:\[(\d+):0\] )?(\w+);")
# Parameters of the modules that fpga.flow keeps as REPEATED, by the widths of their ports.
# The slots of a memory are a power of two: of others its own tests fail.
PARAMETERS: dict[str, Callable[[dict[str, int]], dict[str, int]]] = {
    "mae_ntt_butterfly": lambda bits: {
        "Width": bits["u_i"],
        "Digit": bits["u_i"] - bits["q_high_i"],
    },
    "mae_poly_slots": lambda bits: {
        "Slots": 2 ** (bits["read_slot_i"] // 4),
        "Words": 2 ** (bits["read_word_i"] // 4),
        "Width": bits["read_data_o"] // 4,
    },
}


@dataclasses.dataclass(frozen=True)
class Part:
    """Names a repeated module of a netlist: in it, and in rtl/ with its parameters."""

    name: str
    module: str
    parameters: dict[str, int]


def parts(netlist: pathlib.Path) -> list[Part]:
    """Returns the repeated modules that a netlist in Verilog defines, with their parameters."""
    found = []
    for text in MODULE.finditer(netlist.read_text()):
        name, module = text.groups()
        if module in PARAMETERS:
            bits = {port: int(high or 0) + 1 for high, port in PORT.findall(text[0])}
            found.append(Part(name, module, PARAMETERS[module](bits)))
    return found
