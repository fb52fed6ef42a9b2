# SPDX-License-Identifier: Apache-2.0
"""Tests that a netlist that is shortened for a simulator still does the same."""

import pathlib
import random
import re

import pytest

from maeslant.synth import yosys
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


def random_netlist(seed: int) -> str:
    """Returns a netlist of random gates, LUTs, sums and flip-flops, some with one reader."""
    source = random.Random(seed)
    known = [f"a_i[{i}]" for i in range(10)]
    wires, body = [], []
    for i in range(0, 120, 2):
        one, other = f"_{i:04}_", f"_{i + 1:04}_"
        a, b, c = (source.choice(known[-30:]) for _ in "abc")
        kind = source.randrange(7)
        if kind == 0:
            count = source.randint(1, 6)
            inputs = ", ".join(source.choice([*known[-30:], "1'h1"]) for _ in range(count))
            size = 1 << count
            table = source.choice([f"{size}'h{source.getrandbits(size):x}", "32'd3626444760"])
            wires += [f"  wire {one};\n", f"  wire [{size - 1}:0] {other};\n"]
            text = f"{{ {other}[{size - 1}:1], {one} }} = {table} >> {{ {inputs} }}"
            if source.random() < 0.5:
                body.append(f"  assign {other}[0] = {one};\n")
        elif kind == 1:
            wires += [f"  wire {one};\n"]
            text = f"{one} = 8'h{source.getrandbits(8):x} >> {{ {a}, a_i[4:3] }}"
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
    assert short.count("assign") < text.count("assign") * 0.95 and " >> {" not in short
    one, other = tmp_path / "one.v", tmp_path / "other.v"
    one.write_text(text.replace("module gates", "module one"))
    other.write_text(short.replace("module gates", "module other"))
    yosys.run(
        [
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


def test_a_word_with_readers() -> None:
    """A word that is moved like a LUT's table, and read elsewhere, stays."""
    table = "  assign { _2_[3:1], _1_ } = 4'h6 >> { a_i[0], a_i[1] };\n"
    body = f"{table}  assign y_o = {{ _2_[1], _1_ }};\n"
    assert table in compact(netlist("  wire _1_;\n  wire [3:0] _2_;\n", body, 1), "gates")


def test_a_word_that_names_its_lowest_bit() -> None:
    """A LUT becomes an expression, also one whose word has a name for the bit, or of an output."""
    wires = "  wire _1_;\n  wire [3:0] _2_;\n  wire [3:0] _3_;\n"
    body = "  assign { _2_[3:1], _1_ } = 4'h6 >> { a_i[0], a_i[1] };\n"
    body += "  assign _2_[0] = _1_;\n"
    body += "  assign { _3_[3:1], y_o[0] } = 4'h8 >> { _1_, a_i[2] };\n"
    short = compact(netlist(wires, f"{body}  assign y_o[1] = _1_;\n", 1), "gates")
    assert (
        re.findall("assign (.*);", short)
        == [
            "_1_ = (a_i[0] ^ a_i[1])",
            "y_o[0] = (_1_ & a_i[2])",
            "y_o[1] = _1_",
        ]
        and "_2_" not in short
        and "_3_" not in short
    )


def test_words_into_a_table() -> None:
    """A LUT has an input for each bit of a register that is read as a word."""
    wires = "  wire _1_;\n  reg [1:0] _2_ = 2'h0;\n"
    body = "  assign _1_ = 8'h80 >> { _2_, a_i[0] };\n  assign y_o[0] = _1_;\n"
    short = compact(netlist(wires, body, 0), "gates")
    assert "assign _1_ = (_2_[1] & (_2_[0] & a_i[0]));" in short


def test_a_loop_of_gates() -> None:
    """Gates that read each other in a circle end the search for readers."""
    body = "  assign _1_ = ~_2_;\n  assign _2_ = ~_1_;\n  assign y_o[0] = a_i[0];\n"
    assert "~(~_1_)" in compact(netlist("  wire _1_;\n  wire _2_;\n", body, 0), "gates")
