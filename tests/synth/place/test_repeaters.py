# SPDX-License-Identifier: Apache-2.0
"""Tests the buffers that are put into long wires of placed netlists."""

import dataclasses
import random

import pytest

from maeslant.synth.liberty import Cell, Library
from maeslant.synth.place import repeaters
from maeslant.synth.place.circuit import Circuit
from maeslant.synth.place.lef import Outline, Technology, Wire

OUTLINES = {
    "DFF": Outline(0.8, {"D": ("in", 0.1, 0.3), "CK": ("in", 0.3, 0.5), "Q": ("out", 0.7, 0.7)}),
    "BUF": Outline(0.6, {"A": ("in", 0.1, 0.5), "Z": ("out", 0.5, 0.5)}),
}
CELLS = Technology(1.4, 0.2, OUTLINES, Wire(0.1, 4.0), Wire(0.1, 4.0), "")
BUFFER = Cell("BUF", 0.84, {"A": 1.0}, {"Z": "A"}, {})
FLIP_FLOP = Cell("DFF", 1.12, {"D": 1.2, "CK": 1.0}, {}, {})
CORE = (1400.0, 1400.0)


def library(tmp_path) -> Library:
    """Returns a library of a buffer and a flip-flop."""
    cells = {"BUF": BUFFER, "DFF": FLIP_FLOP}
    return Library("x", tmp_path, "", cells, (), "BUF", 5.0, 1.0, 1.0, None)


def fan_out(places: list[tuple[float, float]]) -> Circuit:
    """Returns flip-flops at given places, all but the first of which sample the first one."""
    text = "module fan(clk_i, d_i, q_o);\n  input clk_i;\n  input d_i;\n  output q_o;\n"
    for n in range(len(places)):
        data, out = ("d_i", r"\q[0] ") if n == 0 else (r"\q[0] ", "q_o" if n == 1 else f"n{n}")
        text += f"  DFF f{n} (\n    .CK(clk_i),\n    .D({data}),\n    .Q({out})\n  );\n"
    made = Circuit(text + "endmodule\n", CELLS, CORE)
    made.at = {f"f{n}": place for n, place in enumerate(places)}
    return made


def slowest(made: Circuit, net: str) -> float:
    """Returns the delay in ns of a net's wire to its farthest pin, by the definition of Elmore.

    The delay to a pin is the sum, over all pins, of what hangs there times the resistance of the
    way that both have in common.
    """
    tree = made.tree(net)
    up = {end: (start, um) for start, end, um in tree.branches}
    hangs = [{"D": 1.2, "A": 1.0, "CK": 1.0}.get(pin, 0.0) for _, pin in tree.pins]
    for start, end, um in tree.branches:
        hangs[start] += um * 0.1 / 2
        hangs[end] += um * 0.1 / 2

    def way(pin: int) -> set[int]:
        return {pin} | way(up[pin][0]) if pin in up else set()

    ways = [way(pin) for pin in range(len(tree.pins))]
    return max(
        sum(ff * 4e-6 * sum(up[n][1] for n in ways[pin] & ways[k]) for k, ff in enumerate(hangs))
        for pin in range(len(tree.pins))
    )


def driven(made: Circuit) -> dict[str, int]:
    """Returns the flip-flops that sample the first one, with the buffers on each one's way."""
    first = made.pins["f0"]["Q"]
    drivers = {pins["Z"]: pins["A"] for cell, pins in made.pins.items() if "Z" in pins}
    found = {}
    for cell, pins in made.pins.items():
        net, count = pins.get("D", "d_i"), 0
        while net in drivers:
            net, count = drivers[net], count + 1
        if net == first:
            found[cell] = count
    return found


def test_delays() -> None:
    """The delay that decides on buffers is Elmore's."""
    source = random.Random(3)
    for count in (2, 3, 9):
        made = fan_out([(source.uniform(0, 1000), source.uniform(0, 1000)) for _ in range(count)])
        tree = made.tree(r"\q[0]")
        loads = [1.2 if pin == "D" else 0.0 for _, pin in tree.pins]
        found, behind = repeaters.delays(tree, loads, 0.1, 4.0)
        assert max(found) == pytest.approx(slowest(made, r"\q[0]"))
        assert behind[0] == pytest.approx(sum(loads) + 0.1 * tree.um)


def test_far_pins_get_buffers(tmp_path) -> None:
    """Buffers stand in the wires to far flip-flops, which stay connected; near ones need none."""
    near = [(700.0, 700.0), (705.0, 700.0), (700.0, 707.0)]
    made = fan_out([*near, (1390.0, 1386.0), (0.0, 0.0), (1390.0, 14.0)])
    before = slowest(made, r"\q[0]")
    better = repeaters.repeat(made, library(tmp_path), {"clk_i", "q_o"})
    ways = driven(better)
    assert ways.keys() == {f"f{n}" for n in range(1, 6)}
    assert ways["f1"] == ways["f2"] == 0 and min(ways[f"f{n}"] for n in (3, 4, 5)) >= 1
    nets = [net for net in better.nets if net.startswith("repeater") or net == r"\q[0]"]
    assert max(slowest(better, net) for net in nets) < 0.25 * before
    total = [sum(c.tree(net).um for net in c.nets if net in nets) for c in (made, better)]
    assert total[1] < 1.3 * total[0]


def test_short_wires_stay(tmp_path) -> None:
    """A netlist without long wires stays as it is; so do skipped nets."""
    made = fan_out([(700.0, 700.0), (705.0, 700.0), (700.0, 707.0)])
    assert repeaters.repeat(made, library(tmp_path), {"clk_i", "d_i", "q_o"}).text == made.text
    far = fan_out([(0.0, 0.0), (1390.0, 1386.0)])
    assert repeaters.repeat(far, library(tmp_path), {*far.nets}).text == far.text


def test_ports_keep_their_nets(tmp_path) -> None:
    """A port stays on its net: a buffer in an output's wire drives the net of the port."""
    made = fan_out([(700.0, 700.0), (700.0, 707.0)])
    x, y = made.ports["q_o"]
    made.at["f1"] = (1390.0 if x < 700 else 0.0, 1386.0 if y < 700 else 0.0)
    assert slowest(made, "q_o") > repeaters.SLOW_NS
    better = repeaters.repeat(made, library(tmp_path), {"clk_i"})
    assert all(len(pins) > 1 for net, pins in better.nets.items() if net.startswith("repeater"))
    assert better.nets["q_o"][-1] == ("", "q_o") and better.nets["d_i"][0] == ("", "d_i")
    assert better.kinds[better.nets["q_o"][0][0]] == "BUF"
    assert slowest(better, "q_o") < 0.5 * slowest(made, "q_o")


def test_gates_too_weak(tmp_path) -> None:
    """A gate whose wire weighs more than it may drive gets a buffer that drives all of it."""
    places = [(700.0, 700.0), *((700.0 + 4 * n, 707.0) for n in range(8))]
    known = library(tmp_path)

    def buffered(most: float) -> Circuit:
        weak = dataclasses.replace(FLIP_FLOP, most={"Q": most})
        strong = dataclasses.replace(BUFFER, most={"Z": 60.0})
        cells = known.cells | {"DFF": weak, "BUF": strong}
        return repeaters.repeat(fan_out(places), dataclasses.replace(known, cells=cells), {"clk_i"})

    assert set(driven(buffered(40.0)).values()) == {0}
    made = buffered(10.0)
    assert set(driven(made).values()) == {1} and len(driven(made)) == 8
    assert slowest(made, r"\q[0]") < 0.002
    assert set(driven(buffered(60.0)).values()) == {0}, "a buffer is no stronger"
