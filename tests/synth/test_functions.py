# SPDX-License-Identifier: Apache-2.0
"""Tests that gates written as their functions do what Yosys says that they do."""

import pathlib
import random
import re

import pytest

from maeslant.synth import liberty, yosys
from maeslant.synth.netlist import cells, functions
from maeslant.synth.report import SynthesisError

TRISTATE = re.compile("TBUF|TINV|ebuf|einv")


def known(target: str) -> liberty.Library:
    """Returns a standard-cell library, or skips the test without its Liberty file."""
    try:
        return liberty.find(target)
    except SynthesisError:
        pytest.skip("no Liberty file here")


def netlist_of(library: liberty.Library, source: random.Random) -> tuple[str, int]:
    """Returns a netlist with each of a library's gates and some flip-flops; how many outputs."""
    wires, body, nets = [], [], [f"in_i[{i}]" for i in range(8)]
    named = [c for c in library.cells.values() if c.functions and not TRISTATE.search(c.name)]
    gates = [c for c in named if c.inputs and not c.sequential]
    flip_flops = [c for c in named if "ff" in c.state]
    for number, cell in enumerate([*gates, *source.sample(flip_flops, 5), *gates]):
        pins = {pin: source.choice([*nets[-20:], "1'h1"]) for pin in cell.inputs}
        if cell.sequential:
            # Set and reset together leave the outputs to no one.
            controls = cell.state.keys() & {"clear", "preset"}
            ends = {str(cell.state[name]).strip("!'() ") for name in controls}
            pins |= dict.fromkeys(ends, "rst_ni") | {cell.clock: "clk_i"}
        made = {pin: f"\\u_part.net{number}[{i}] " for i, pin in enumerate(cell.functions)}
        wires += [f"  wire {net};\n" for net in made.values()]
        given = ",\n".join(f"    .{pin}({net})" for pin, net in sorted({**pins, **made}.items()))
        body.append(f"  {cell.name} _{number:05}_ (\n{given}\n  );\n")
        nets += made.values()
    ports = "  input clk_i, rst_ni;\n  input [7:0] in_i;\n"
    outputs = nets[8:]
    text = f"module top(clk_i, rst_ni, in_i, out_o);\n{ports}"
    text += f"  output [{len(outputs) - 1}:0] out_o;\n{''.join(wires)}"
    joined = ",\n    ".join(outputs[::-1])
    return f"{text}{''.join(body)}  assign out_o = {{ {joined} }};\nendmodule\n", len(outputs)


@pytest.mark.parametrize("target", ["nangate45", "ihp"])
def test_equal(target: str, tmp_path: pathlib.Path) -> None:
    """Gates written as functions are proved by Yosys to equal the netlist with its own models."""
    library = known(target)
    netlist, made = tmp_path / "net.v", tmp_path / "made.v"
    text, count = netlist_of(library, random.Random(1))
    netlist.write_text(text)
    gates = functions.written(netlist, "top", library, cells.others(target, library))
    made.write_text(gates)
    assert count > 100 and f"  {next(iter(library.cells))} _" not in gates and "\\" not in gates
    flat = ["proc", "flatten", "async2sync", "opt_clean"]
    yosys.run(
        [
            f"read_liberty -ignore_miss_func {library.path}",
            f"read_verilog {netlist}",
            "hierarchy -check -top top",
            *flat,
            "design -save gold",
            "design -reset",
            f"read_verilog {made}",
            "hierarchy -check -top gates",
            *flat,
            "design -copy-from gold -as gold top",
            "miter -equiv -make_outputs gold gates miter",
            "hierarchy -top miter",
            "flatten",
            "opt_clean",
            "sat -verify -tempinduct -set-init-zero -prove trigger 0 -seq 1 miter",
        ],
        tmp_path / "log",
    )
