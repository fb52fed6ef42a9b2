# SPDX-License-Identifier: Apache-2.0
"""Tests that a netlist that is shortened for a simulator still does the same."""

import pathlib
import random
import re

import pytest

from maeslant.synth import yosys
from maeslant.synth.netlist import cells
from maeslant.synth.netlist.compact import compact

HEAD = """
module gates(clk_i, rst_ni, a_i, y_o);
  input clk_i;
  wire clk_i;
  input rst_ni;
  wire rst_ni;
  input [9:0] a_i;
  wire [9:0] a_i;
  output [OUT:0] y_o;
  wire [OUT:0] y_o;
"""


def netlist(wires: str, body: str, out: int) -> str:
    """Returns a netlist of a module "gates", as Yosys writes it."""
    return f"{HEAD.replace('OUT', str(out))}{wires}{body}endmodule\n"


def lut(output: str, table: int, inputs: list[str]) -> str:
    """Returns a LUT of 7-series, as Yosys writes it; the table is a number of either kind."""
    size = 1 << len(inputs)
    value = f"32'd{table}" if table % 3 == 0 and size <= 32 else f"{size}'h{table:x}"
    pins = "".join(f"    .I{i}({net}),\n" for i, net in enumerate(inputs))
    head = f"  LUT{len(inputs)} #(\n    .INIT({value})\n  ) _{output.strip('_[]')}_lut (\n"
    return f"{head}{pins}    .O({output})\n  );\n"


def random_netlist(seed: int) -> str:
    """Returns a netlist of random gates, LUTs, sums and flip-flops, some with one reader."""
    source = random.Random(seed)
    known = [f"a_i[{i}]" for i in range(10)]
    wires, body = [], []
    for i in range(0, 120, 2):
        one, other = f"_{i:04}_", f"_{i + 1:04}_"
        a, b, c = (source.choice(known[-30:]) for _ in "abc")
        kind = source.randrange(7)
        if kind in (0, 1):
            count = source.randint(1, 6)
            inputs = [source.choice([*known[-30:], "1'h1", "a_i[4]"]) for _ in range(count)]
            wires += [f"  wire {one};\n"]
            body.append(lut(one, source.getrandbits(1 << count), inputs))
            known.append(one)
            continue
        elif kind == 2:  # a bit of a sum, which has more bits than its terms
            wires += [f"  wire {one};\n", f"  wire [2:0] {other};\n"]
            body.append(f"  assign {other} = {a} + {b} + (~{c});\n")
            text = f"{one} = {other}[1]"
        else:
            wires += [f"  wire {one};\n"]
            gates = f"{a} & {b}", f"~{a}", f"{a} ^ {b}", f"{a} ? {b} : {c}", f"{a} | {b}"
            text = f"{one} = {source.choice(gates)}"
        body.append(f"  assign {text};\n")
        known.append(one)
    registers = ""
    for i, bit in enumerate(source.sample(known[10:], 8)):
        wires += [f"  reg _{900 + i}_;\n", f"  wire _{950 + i}_;\n"]
        body.append(f"  assign _{950 + i}_ = ~rst_ni;\n")
        registers += f"  always @(posedge clk_i, posedge _{950 + i}_)\n"
        registers += f"    if (_{950 + i}_) _{900 + i}_ <= 1'h0;\n    else _{900 + i}_ <= {bit};\n"
        body.append(f"  assign y_o[{i}] = _{900 + i}_;\n")
    for i, bit in enumerate(source.sample(known[10:], 20)):
        body.append(f"  assign y_o[{8 + i}] = {bit};\n")
    return netlist("".join(wires), "".join(body) + registers, 27)


@pytest.mark.parametrize("seed", range(6))
def test_equal(seed: int, tmp_path: pathlib.Path) -> None:
    """A shortened netlist is proved by Yosys to be equal to what it was."""
    text = random_netlist(seed)
    short = compact(text, "gates")
    assert short.count("assign") < (text.count("assign") + text.count("LUT")) * 0.95
    assert "LUT" not in short
    one, other = tmp_path / "one.v", tmp_path / "other.v"
    one.write_text(text.replace("module gates", "module one"))
    other.write_text(short.replace("module gates", "module other"))
    yosys.run(
        [
            f"read_verilog {cells.MODELS['xc7']}",
            f"read_verilog {one} {other}",
            "proc",
            "async2sync",
            "miter -equiv -make_outputs one other miter",
            "hierarchy -top miter",
            "flatten",
            "opt_clean",
            "sat -verify -tempinduct -set-init-zero -prove trigger 0 -seq 1 miter",
        ],
        tmp_path / "log",
    )


def test_what_is_joined() -> None:
    """Equal nets become one, a net with one reader goes there; sums and words stay."""
    wires = "".join(f"  wire _{i}_;\n" for i in (1, 2, 3, 4, 5, 7, 8)) + "  wire [1:0] _6_;\n"
    body = """  assign _1_ = ~rst_ni;
  assign _2_ = ~rst_ni;
  assign _3_ = _1_ & _2_;
  assign _4_ = _3_ | a_i[0];
  assign _5_ = ~a_i[1];
  assign _6_ = { 1'h0, a_i[2] } + _5_;
  assign _7_ = ~a_i[3];
  assign _8_ = a_i[1:0] > _7_;
  assign y_o = { _8_, _4_, _6_ };
"""
    short = compact(netlist(wires, body, 3), "gates")
    assert re.findall("assign (.*);", short) == [
        "_1_ = ~rst_ni",
        "_4_ = (_1_ & _1_) | a_i[0]",
        "_5_ = ~a_i[1]",
        "_7_ = ~a_i[3]",
        "_8_ = a_i[1:0] > _7_",
        "_6_ = { 1'h0, a_i[2] } + _5_",
        "y_o = { _8_, _4_, _6_ }",
    ]
    assert "wire _2_" not in short and "wire _3_" not in short


def test_pins_of_a_table() -> None:
    """A LUT's expression has the inputs from the lowest on, by whatever names its pins go."""
    want = "(a_i[2] ? a_i[1] : a_i[0])"
    for pins in ("I0", "I1", "I2", "O"), ("I0", "I1", "I2", "F"), ("A", "B", "C", "Z"):
        nets = dict(zip(pins, ("a_i[0]", "a_i[1]", "a_i[2]", "y_o[0]"), strict=True))
        text = ",\n".join(f"    .{pin}({net})" for pin, net in sorted(nets.items()))
        body = f"  LUT3 #(\n    .INIT(8'hca)\n  ) _1_ (\n{text}\n  );\n"
        assert f"assign y_o[0] = {want};" in compact(netlist("", body, 0), "gates")


def test_a_loop_of_gates() -> None:
    """Gates that read each other in a circle end the search for readers."""
    body = "  assign _1_ = ~_2_;\n  assign _2_ = ~_1_;\n  assign y_o[0] = a_i[0];\n"
    assert "~(~_1_)" in compact(netlist("  wire _1_;\n  wire _2_;\n", body, 0), "gates")
