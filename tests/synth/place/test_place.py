# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant synth --place`: places, wires, loads and clock trees of small netlists."""

import gzip
import random
import re
import shutil

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import distance

from maeslant.synth import SynthesisError, design, liberty, synthesize
from maeslant.synth import report as reports
from maeslant.synth.liberty import Cell, Library
from maeslant.synth.netlist import circuit, equivalence
from maeslant.synth.place import clock_tree, flow, lef, picture, placer, wires
from maeslant.synth.place.circuit import MANY, Circuit, _spanning, _spanning_many
from maeslant.synth.place.lef import Outline, Technology, Wire
from maeslant.synth.timing import sta

OUTLINES = {
    "DFF": Outline(0.8, {"D": ("in", 0.1, 0.3), "CK": ("in", 0.3, 0.5), "Q": ("out", 0.7, 0.7)}),
    "CLKBUF": Outline(0.6, {"A": ("in", 0.1, 0.5), "Z": ("out", 0.5, 0.5)}),
}
CELLS = Technology(1.4, 0.2, OUTLINES, Wire(0.1, 3.0), Wire(0.12, 1.5), "")
BUFFER = Cell("CLKBUF", 0.84, {"A": 1.0}, {"Z": "A"}, {})


def library(tmp_path) -> Library:
    """Returns a library with a clock buffer, of a file that has a model of wires."""
    path = tmp_path / "cells.lib"
    path.write_text(
        "library (x) {\n capacitive_load_unit (1,pf);\n default_wire_load : small;\n}\n"
    )
    return Library("x", path, "", {"CLKBUF": BUFFER}, (), "CLKBUF", 5.0, 1.0, 1.0, "small")


def shift_register(count: int) -> str:
    """Returns the netlist of a shift register, as Yosys writes it; nets have escaped names."""
    nets = ["d_i", *(f"\\q[{n}] " for n in range(count - 1)), "q_o"]
    text = "module shift(clk_i, d_i, q_o);\n  input clk_i;\n  input d_i;\n  output q_o;\n"
    for number in range(count):
        text += f"  DFF f{number} (\n    .CK(clk_i),\n    .D({nets[number]}),\n"
        text += f"    .Q({nets[number + 1]})\n  );\n"
    return text + "endmodule\n"


def scattered(count: int, core: tuple[float, float] = (20.0, 28.0)) -> Circuit:
    """Returns a shift register with its cells anywhere in the core."""
    source, made = random.Random(1), Circuit(shift_register(count), CELLS, core)
    made.at = {
        cell: (source.uniform(0, core[0]), source.uniform(0, core[1])) for cell in made.kinds
    }
    return made


def overlaps(made: Circuit) -> int:
    """Returns how many sites of the core have more than one cell; all cells lie on sites."""
    taken = np.zeros((round(made.core[1] / 1.4), round(made.core[0] / 0.2)), int)
    for cell, (x, y) in made.at.items():
        site, row = round(x / 0.2), round(y / 1.4)
        assert x == pytest.approx(site * 0.2) and y == pytest.approx(row * 1.4)
        width = round(OUTLINES[made.kinds[cell]].width / 0.2)
        assert 0 <= site and site + width <= taken.shape[1] and 0 <= row < taken.shape[0]
        taken[row, site : site + width] += 1
    return int((taken > 1).sum())


@pytest.mark.parametrize("count", [50, 400, 490])
def test_settle(count: int) -> None:
    """Settled cells lie in rows, on sites, and apart, though the core is nearly full (98 %)."""
    made = scattered(count)
    placer.settle(made)
    assert overlaps(made) == 0
    before = dict(made.at)
    assert placer.settle(made) == pytest.approx(0) and made.at == before


def test_settle_moves_least() -> None:
    """Cells of a row that want one place stand on both sides of it; nobody else moves."""
    made = Circuit(shift_register(7), CELLS, (20.0, 1.4))
    made.at = dict.fromkeys(made.kinds, (10.0, 0.0)) | {"f5": (0.0, 0.0), "f6": (19.2, 0.0)}
    placer.settle(made)
    assert [made.at[f"f{n}"][0] for n in (5, 6)] == [0.0, 19.2]
    assert sorted(made.at[f"f{n}"][0] for n in range(5)) == [8.4, 9.2, 10.0, 10.8, 11.6]


def test_no_room() -> None:
    """Cells that a core cannot hold are refused."""
    with pytest.raises(SynthesisError, match="core"):
        placer.settle(scattered(501))


def test_placed_cells(tmp_path) -> None:
    """Placed cells do not overlap and have short wires; a clock draws no cells together."""
    made = scattered(400)
    before = sum(made.tree(net).um for net in made.nets if net != "clk_i")
    whole, less = (placer.problem(made, nets)["nets"] for nets in (set(), {"clk_i"}))
    assert len(whole) == len(less) + 1 == len(made.nets) and max(len(net[0]) for net in less) == 2
    told = []
    placer.place(made, {"clk_i"}, tmp_path, told.append)
    assert overlaps(made) == 0 and told[0].startswith("placing: step")
    assert sum(made.tree(net).um for net in made.nets if net != "clk_i") < 0.2 * before


def test_trees() -> None:
    """A net's wire is as long as SciPy's shortest spanning tree over its pins."""
    made = scattered(60)
    for net, pins in made.nets.items():
        places = np.array([made.place_of(cell, pin, net) for cell, pin in pins])
        assert len(np.unique(places, axis=0)) == len(places)
        whole = distance.squareform(distance.pdist(places, "cityblock"))
        assert made.tree(net).um == pytest.approx(minimum_spanning_tree(whole).sum())
    assert made.nets["d_i"][0] == ("", "d_i") and made.nets["q_o"][-1] == ("", "q_o")


def test_trees_of_few_and_many_pins() -> None:
    """The way for few pins finds wires as short as the other and SciPy's do, and joins all pins."""
    source = np.random.default_rng(4)
    for count in range(2, 2 * MANY):
        places = [(float(x), float(y)) for x, y in source.random((count, 2))]
        whole = distance.squareform(distance.pdist(np.array(places), "cityblock"))
        for way in (_spanning(places), _spanning_many(np.array(places))):
            branches = list(way)
            assert {end for _, end, _ in branches} == {*range(1, count)}
            um = sum(length for *_, length in branches)
            assert um == pytest.approx(minimum_spanning_tree(whole).sum())


def test_spef(tmp_path) -> None:
    """SPEF has all wires but the skipped, with names as OpenSTA wants them and their charge."""
    made, file = scattered(4), tmp_path / "wires.spef"
    wires.write_spef(made, "shift", set(), {"clk_i"}, file)
    found = dict(re.findall(r"(?m)^\*D_NET (\S+) (\S+)$", file.read_text()))
    assert found.keys() == {"d_i", "q_o", r"q\[0\]", r"q\[1\]", r"q\[2\]"}
    for net in made.nets:
        if net != "clk_i":
            name = net.strip().lstrip("\\").replace("[", r"\[").replace("]", r"\]")
            assert float(found[name]) == pytest.approx(0.1 * made.tree(net).um, abs=1e-4)
    parts = [float(n) for n in re.findall(r"(?m)^\d+ \S+ ([\d.]+)$", file.read_text())]
    assert sum(parts) == pytest.approx(sum(map(float, found.values())), abs=1e-3)


def test_loads(tmp_path) -> None:
    """Loads stand for wires in a netlist and its library, and leave no trace."""
    made = scattered(8)
    text, most = wires.loads(made, {"clk_i"})
    sizes = [int(n) for n in re.findall(r"WIRE_(\d+) wire_of_", text)]
    assert len(sizes) == 9 and max(sizes) == most
    total = sum(made.tree(net).um for net in made.nets if net != "clk_i")
    assert sum(sizes) * wires.STEP_FF == pytest.approx(0.1 * total, abs=1.0)
    assert wires.without_loads(text) == made.text
    loaded = wires.without_model(library(tmp_path), tmp_path, most).path.read_text()
    assert "default_wire_load" not in loaded and f"(WIRE_{most})" in loaded
    assert f"capacitance : {most * wires.STEP_FF / 1000:.6g};" in loaded


@pytest.mark.parametrize("count", [3, 16, 17, 300])
def test_clock_tree(tmp_path, count: int) -> None:
    """Each flip-flop is as many buffers from the clock as the others; data stay as they were."""
    made = scattered(count)
    text, places, levels = clock_tree.grow(made, library(tmp_path))
    tree = Circuit(text, CELLS, made.core)
    drivers = {pins["Z"]: pins["A"] for cell, pins in tree.pins.items() if cell in places}
    for cell, pins in made.pins.items():
        assert {**tree.pins[cell], "CK": "clk_i"} == pins
        net, depth = tree.pins[cell]["CK"], 0
        while net != "clk_i":
            net, depth = drivers[net], depth + 1
        assert depth == levels == (1 if count <= 16 else 2 if count <= 256 else 3)
    for net in (*drivers, "clk_i"):
        assert len(tree.nets[net]) - 1 <= clock_tree.FANOUT


def test_whole(tmp_path, monkeypatch) -> None:
    """A placed and mended netlist is equal to its RTL, has a clock tree; a wrong cell shows."""
    if shutil.which("sta") is None:
        pytest.skip("OpenSTA is not installed: sudo apt-get install opensta")
    try:
        cells = liberty.find("nangate45")
        flow.check("nangate45")
    except SynthesisError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(reports, "REPORTS", tmp_path)
    made = synthesize("mae_fifo", "nangate45", {"Depth": 4}, placed=True)
    placed = made.placed
    assert placed["clock_buffers"] > 0 and placed["hold_ns"] > 0 and 0.7 < placed["utilisation"] < 1
    assert placed["period_ns"] < 1.3 * placed["unmended_ns"]
    assert (made.folder / picture.FILE).stat().st_size > 10_000
    netlist = tmp_path / "net.v"
    netlist.write_bytes(gzip.decompress((made.folder / f"{flow.NETLIST}.gz").read_bytes()))
    what = design.find("mae_fifo", {"Depth": 4})

    def compared() -> dict[str, object]:
        rtl = circuit.read([what.read()], what.top, tmp_path / "rtl")
        mapped = equivalence.read_netlist(netlist, what.top, "nangate45", cells)
        return equivalence.compare(rtl, mapped, tmp_path)

    assert compared()["registers"] > 20
    netlist.write_text(re.sub(r"\bNAND2_X\d", "NOR2_X1", netlist.read_text(), count=1))
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared()


def test_lost_wires(tmp_path) -> None:
    """A wire whose net or pin OpenSTA does not find in the netlist is an error, not no wire."""
    if shutil.which("sta") is None:
        pytest.skip("OpenSTA is not installed: sudo apt-get install opensta")
    try:
        cells, technology = liberty.find("nangate45"), lef.read("nangate45")
    except SynthesisError as error:
        pytest.skip(str(error))
    text = shift_register(3).replace("DFF f", "DFF_X1 f")
    made = Circuit(text, technology, (20.0, 28.0))
    made.at = {cell: (2.0 * number, 1.4) for number, cell in enumerate(made.kinds)}
    plain = wires.without_model(cells, tmp_path)
    bare = flow.timing(made, "shift", plain, {*made.nets}, tmp_path)
    assert flow.timing(made, "shift", plain, {"clk_i"}, tmp_path)["period_ns"] > bare["period_ns"]
    made.nets[r"\no[0] "] = made.nets.pop(r"\q[0]")
    with pytest.raises(SynthesisError, match="no place for 1 wires"):
        flow.timing(made, "shift", plain, {"clk_i"}, tmp_path)


@pytest.mark.parametrize("long", ["input", "output"])
def test_ports_behind_a_clock_tree(tmp_path, long: str) -> None:
    """A tree that delays the clock of all flip-flops delays what is behind ports, too."""
    if shutil.which("sta") is None:
        pytest.skip("OpenSTA is not installed: sudo apt-get install opensta")
    try:
        cells = liberty.find("nangate45")
    except SynthesisError as error:
        pytest.skip(str(error))
    chain = ["d_i", *"abcdefgh", "m"] if long == "input" else ["o", *"abcdefgh", "q_o"]
    data = ("m", "n", "q_o") if long == "input" else ("d_i", "n", "o")

    def timed(buffers: int) -> dict[str, object]:
        """Times two flip-flops behind so many buffers, with inverters at one of their ports."""
        clocks = ["clk_i", *(f"c{n}" for n in range(buffers))]
        gates = [f"CLKBUF_X3 b{n} (.A({clocks[n]}), .Z(c{n}));" for n in range(buffers)]
        gates += [f"INV_X1 i{n} (.A({chain[n]}), .ZN({chain[n + 1]}));" for n in range(9)]
        gates += [
            f"DFF_X1 f{n} (.CK({clocks[-1]}), .D({data[n]}), .Q({data[n + 1]}));" for n in (0, 1)
        ]
        head = "module two(clk_i, d_i, q_o);\n  input clk_i;\n  input d_i;\n  output q_o;\n"
        netlist = tmp_path / "two.v"
        netlist.write_text(head + "\n".join([*gates, "endmodule", ""]))
        return sta.timing(netlist, "two", cells, 1.0, propagated=True)

    near, far = timed(1), timed(8)
    assert far["latency_ns"] > near["latency_ns"] + 0.15 and far["skew_ns"] == 0
    assert far["period_ns"] == pytest.approx(near["period_ns"], abs=0.005)


def test_unknown_target() -> None:
    """Without cell outlines nothing can be placed, and the error says for what it can."""
    with pytest.raises(SynthesisError, match="LEF.*nangate45, not sky130"):
        flow.check("sky130")
