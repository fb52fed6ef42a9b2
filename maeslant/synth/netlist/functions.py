# SPDX-License-Identifier: Apache-2.0
"""Writes the functions of standard cells in the places of a netlist's gates.

Of each gate of a large netlist Yosys would keep some kilobytes. It is asked once here what each of
the library's cells does, and text takes the place of text.
"""

import itertools
import pathlib
import re

from maeslant.synth import yosys
from maeslant.synth.liberty import Library

MODULE = re.compile(r"(?ms)^module (\w+)\(.*?^endmodule\n")
OUTPUT = re.compile(r"(?m)^  output (\w+);")
ASSIGN = re.compile(r"(?m)^  assign (\w+) = (.*);")
STATE = re.compile(r"(?m)^  (?:reg|always) ")
WORD = re.compile(r"(?<!')\b[A-Za-z_]\w*")  # no digits of a constant
INSTANCE = re.compile(r"(?m)^  (\w+) \S+ \(\n((?:    \..*\n)+)  \);\n")
PIN = re.compile(r"(?m)^    \.(\w+)\((.*)\),?$")
NAME = re.compile(r"\\\S+ ")  # that is none in Verilog without the sign before it
FIRST = 10**8  # of the numbers that stand for such names; Yosys' own are smaller


def written(netlist: pathlib.Path, top: str, library: Library, models: str) -> str:
    """Returns the text of a flat netlist, whose top module "gates" has expressions for its gates.

    Behind it stand models of its flip-flops and latches. ``models``: Verilog of those cells of the
    library that Yosys reads no function of, which are left as they are.
    """
    cells = _cells(netlist, library)
    functions = {name: found for name, text in cells.items() if (found := _functions(text))}

    def put(found: re.Match) -> str:
        pins = dict(PIN.findall(found[2]))
        outputs = functions.get(found[1])
        if outputs is None:
            return found[0]
        made = {pins[pin]: text.format_map(pins) for pin, text in outputs.items() if pins.get(pin)}
        return "".join(f"  assign {net} = {text};\n" for net, text in made.items())

    text = INSTANCE.sub(put, netlist.read_text())
    numbers = itertools.count(FIRST)
    numbered: dict[str, str] = {}
    text = NAME.sub(
        lambda name: numbered.get(name[0]) or numbered.setdefault(name[0], f"_{next(numbers)}_"),
        text,
    )
    used = {found[1] for found in INSTANCE.finditer(text)}
    given = {found[1] for found in MODULE.finditer(models)}
    state = "".join(cells[name] for name in sorted(used & cells.keys() - given))
    return re.sub(rf"(?m)^module {top}\(", "module gates(", text, count=1) + state


def _cells(netlist: pathlib.Path, library: Library) -> dict[str, str]:
    """Returns Yosys' models of a library's cells in Verilog by name."""
    models = netlist.with_name("cells.v")
    passes = [f"read_liberty -ignore_miss_func {library.path}", "proc", "opt_expr", "opt_clean"]
    yosys.run([*passes, f"write_verilog -noattr {models}"], netlist.with_name("gates.log"))
    return {found[1]: found[0] for found in MODULE.finditer(models.read_text())}


def _functions(model: str) -> dict[str, str]:
    """Returns the expression of each output of a cell's inputs, which are written as {A}, {B}, ...

    None of a cell with a state, or with an output that the model says nothing of.
    """
    nets = dict(ASSIGN.findall(model))
    outputs = OUTPUT.findall(model)
    if STATE.search(model) or not nets.keys() >= set(outputs):
        return {}

    def expression(name: str) -> str:
        if name not in nets:
            return f"{{{name}}}"
        return f"({WORD.sub(lambda word: expression(word[0]), nets[name])})"

    return {name: expression(name) for name in outputs}
