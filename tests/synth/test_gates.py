# SPDX-License-Identifier: Apache-2.0
"""Tests the simulation of standard cells by tables beside Verilator's of Yosys' models of them."""

import pathlib
import random
import re
import zlib

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from maeslant.build import cocotb_bench
from maeslant.synth import liberty, yosys
from maeslant.synth.netlist import cells, gates, simulation
from maeslant.synth.report import SynthesisError
from tests.support.stream import start

TRISTATE = re.compile("TBUF|TINV|TLAT|ebuf|einv")


def known(target: str) -> liberty.Library:
    """Returns a standard-cell library, or skips the test without its Liberty file."""
    try:
        return liberty.find(target)
    except SynthesisError:
        pytest.skip("no Liberty file here")


def instance(kind: str, pins: dict[str, str]) -> str:
    """Returns an instance of a cell as Yosys writes it."""
    name = f"_{zlib.crc32(str(pins).encode())}_"
    given = ",\n".join(f"    .{pin}({net})" for pin, net in sorted(pins.items()))
    return f"  {kind} {name} (\n{given}\n  );\n"


def module(wires: list[str], body: list[str], outputs: list[str]) -> str:
    """Returns a module "top" with instances of cells, as Yosys writes it."""
    return (
        "module top(clk_i, rst_ni, in_i, out_o);\n"
        "  input clk_i;\n  wire clk_i;\n  input rst_ni;\n  wire rst_ni;\n"
        f"  input [7:0] in_i;\n  output [{len(outputs) - 1}:0] out_o;\n"
        + "".join(f"  wire {wire};\n" for wire in wires)
        + "".join(body)
        + f"  assign out_o = {{ {', '.join(outputs[::-1])} }};\nendmodule\n"
    )


def every_cell(library: liberty.Library, source: random.Random) -> str:
    """Returns a netlist with each of a library's gates, flip-flops, latches and clock gates.

    Some are left out: those that are both set and reset, whose state has no meaning while they
    are. Nothing that a clock samples changes at its edge but by that of a flip-flop.
    """
    body, given, clocks = [], [f"in_i[{i}]" for i in range(8)], ["clk_i"]
    kinds = [c for c in library.cells.values() if c.functions and not TRISTATE.search(c.name)]
    plain = [c for c in kinds if c.inputs and not c.sequential and not c.gate]
    states = [c for c in kinds if c.sequential and not {"clear", "preset"} <= c.state.keys()]
    states = [c for c in states if not c.gate]
    flip_flops, latches = ([c for c in states if kind in c.state] for kind in ("ff", "latch"))
    for number, cell in enumerate(c for c in library.cells.values() if c.gate):
        clock, out, _ = cell.gate
        pins = {pin: source.choice([*given, "1'h0"]) for pin in cell.inputs}
        body.append(instance(cell.name, {**pins, clock: "clk_i", out: f"gated{number}"}))
        clocks.append(f"gated{number}")
    nets = [*given]
    for number, cell in enumerate([*plain, *flip_flops, *flip_flops, *latches, *plain]):
        near = given if cell in latches else nets[-20:]
        pins = {pin: source.choice([*near, "1'h1"]) for pin in cell.inputs}
        if cell.sequential:
            resets = [cell.state[name] for name in ("clear", "preset") if name in cell.state]
            moved = cell.state.get("clocked_on", cell.state.get("enable"))
            pins |= {str(end).strip("!'() "): "rst_ni" for end in resets}
            pins[str(moved).strip("!'() ")] = source.choice(clocks)
        made = {pin: f"\\u_part.net{number}[{i}] " for i, pin in enumerate(cell.functions)}
        body.append(instance(cell.name, pins | made))
        nets += made.values()
    assert len(plain) > 30 and len(flip_flops) > 3
    return module([*nets[8:], *clocks[1:]], body, nets[8:])


BENCH = """module bench(input logic clk_i, rst_ni, input logic [7:0] in_i, output logic same_o);
  wire [{high}:0] one, other;
  top u_top (.*, .out_o(one));
  gates u_gates (.*, .out_o(other));
  assign same_o = one === other;
endmodule
"""


@cocotb.test()
async def random_inputs(dut) -> None:
    """Both netlists' outputs are the same in both halves of a clock, and when inputs change."""
    source = random.Random(2)
    dut.rst_ni.value = 1  # Verilator's flip-flops are reset at an edge
    await Timer(1, unit="ns")
    await start(dut, in_i=0)
    for edge in [RisingEdge, FallingEdge] * 400:
        await edge(dut.clk_i)
        await Timer(1, unit="ns")
        assert dut.same_o.value
        dut.in_i.value = source.getrandbits(8)
        dut.rst_ni.value = source.random() > 0.02
        await Timer(1, unit="ns")
        assert dut.same_o.value


@pytest.mark.parametrize("target", ["nangate45", "ihp"])
def test_every_cell(target: str, tmp_path: pathlib.Path) -> None:
    """Each cell's tables do what Yosys' model of the cell does in Verilator."""
    library = known(target)
    netlist, models, bench = (tmp_path / f"{name}.sv" for name in ("top", "models", "bench"))
    text = every_cell(library, random.Random(1))
    netlist.write_text(text)
    read = f"read_liberty -ignore_miss_func {library.path}"
    yosys.run([read, "proc", f"write_verilog -noattr {models}"], tmp_path / "log")
    ours = cells.clock_gates(library)
    for name in re.findall(r"module (\w+) \(", ours):
        models.write_text(re.sub(rf"(?ms)^module {name}\(.*?^endmodule\n", "", models.read_text()))
    made = gates.written(netlist, "top", library, ours)
    high = re.search(r"output \[(\d+):0\] out_o", text)[1]
    bench.write_text(f"{ours}{made}{BENCH.format(high=high)}")
    sources = [netlist, models, gates.SIMULATION, bench]
    assert cocotb_bench.simulate("bench", "tests.synth.test_gates", sources=sources)


@pytest.mark.parametrize(
    ("pins", "why"),
    [
        ({"A1": "in_i[0]", "A2": "in_i[1]", "ZN": "made"}, ""),
        ({"A1": "in_i[0]", "A2": "made", "ZN": "made"}, "in a loop"),
        ({"A1": "in_i[0]", "A2": "other", "ZN": "made"}, "1 nets have no driver"),
        ({"A1": "in_i[0]", "A2": "in_i[1]", "ZN": "in_i[2]"}, "2 nets have no driver, or several"),
        ({"A1": "in_i[0]", "ZN": "made"}, "nothing at its pin 'A2'"),
    ],
)
def test_broken_netlists(pins: dict[str, str], why: str, tmp_path: pathlib.Path) -> None:
    """A netlist that has no meaning is refused."""
    library, netlist = known("nangate45"), tmp_path / "top.v"
    netlist.write_text(module(["made", "other"], [instance("NAND2_X1", pins)], ["made"]))
    if not why:
        simulation.files(netlist, "top", "nangate45", library)
        return
    with pytest.raises(SynthesisError, match=why):
        simulation.files(netlist, "top", "nangate45", library)
