# SPDX-License-Identifier: Apache-2.0
"""Places a synthesized netlist and mends it on its placed wires, round by round.

Each round weighs the wires, mends the netlist as synthesis did (maeslant.synth.timing.repair), and
settles what was changed among its neighbours; the fastest round is kept. Then the clock gets its
tree, and OpenSTA times the whole with the wires' capacitance and resistance and the clock as the
tree propagates it. Nothing is routed: a wire is a spanning tree over its pins.
"""

import pathlib
import re
from collections.abc import Callable

from maeslant import extras
from maeslant.synth.liberty import Library
from maeslant.synth.place import clock_tree, lef, placer, repeaters, wires
from maeslant.synth.place.circuit import Circuit
from maeslant.synth.report import Report, SynthesisError
from maeslant.synth.timing import repair, sta

MODEL = 2  # of these figures: a placement of another is made again
ROUNDS = 4
FILES = NETLIST, WIRES = "placed.v", "placed.spef"
LEFT_OUT = (
    "routing (wires are spanning trees over placed pins), power grid, reset tree, variation; hold "
    "times are timed and not mended"
)


def check(target: str) -> None:
    """Raises an error if netlists for a synthesis target cannot be placed here."""
    lef.read(target)
    sta.version()
    placer.check()
    extras.need_modules(("matplotlib",))


def place(
    report: Report, library: Library, work: pathlib.Path, tell: Callable[[str], None]
) -> tuple[dict[str, object], Circuit]:
    """Places a report's netlist; returns (placed figures, the placed circuit)."""
    technology = lef.read(report.target)
    lef.check(library, technology)
    text = _renamed(report.unpack(work).read_text())
    gates = {name for name in repair.cells(text) if library.cells[name].gate}
    if gates:
        raise SynthesisError(
            f"{report.name} has clock gates ({', '.join(sorted(gates))}): no tree is made for these"
        )
    begun = Circuit(text, technology, (1.0, 1.0))
    core = placer.core(begun.um2(), technology.row)
    circuit = Circuit(text, technology, core)
    tell("placing")
    skipped = ideal(circuit.text)
    placer.place(circuit, skipped, work, tell)
    plain = wires.without_model(library, work)
    first = best = timing(circuit, report.top, plain, skipped, work)
    found = repeaters.repeat(circuit, library, skipped)
    asked = report.recipe["period_ns"] or 0.01
    for number in range(ROUNDS):
        if best["period_ns"] <= asked:
            break
        tell(f"mending on placed wires, round {number + 1}: {best['period_ns']:.3f} ns")
        circuit = mended(found, report.top, library, skipped, work, asked)
        circuit = repeaters.repeat(circuit, library, skipped)
        now = timing(circuit, report.top, plain, skipped, work)
        if now["period_ns"] >= best["period_ns"]:
            break
        best, found = now, circuit
    tell("growing the clock tree")
    text, places, levels = clock_tree.grow(found, library)
    tree = found.changed(text)
    tree.at.update(places)
    placer.settle(tree)
    final = timing(tree, report.top, plain, skipped, work, propagated=True)
    width, height = core
    um = sum(tree.tree(net).um for net in tree.nets if net not in skipped)
    return {
        "tool": placer.version(),
        "model": MODEL,
        "core_um": list(core),
        "core_um2": round(width * height, 1),
        "utilisation": round(tree.um2() / (width * height), 3),
        "cells_um2": round(tree.um2(), 1),
        "cells": len(tree.kinds),
        "wire_mm": round(um / 1000, 2),
        "wires": f"spanning trees over placed pins, {technology.says}",
        "unmended_ns": first["period_ns"],
        "period_ns": final["period_ns"],
        "fmax_mhz": final["fmax_mhz"],
        "path": final["path"],
        "hold_ns": final["hold_ns"],
        "skew_ns": final["skew_ns"],
        "latency_ns": final["latency_ns"],
        "clock_buffers": len(places),
        "clock_levels": levels,
        "left_out": LEFT_OUT,
    }, tree


def ideal(text: str) -> set[str]:
    """Returns the nets without wires: clocks before they have trees, and resets."""
    return {*sta.clock_ports(text), *sta.reset_ports(text)}


def mended(
    circuit: Circuit,
    top: str,
    library: Library,
    skipped: set[str],
    work: pathlib.Path,
    goal_ns: float,
) -> Circuit:
    """Returns a netlist mended on its placed wires."""
    text, most = wires.loads(circuit, skipped)
    loaded = wires.without_model(library, work, most)
    netlist = work / "mend.v"
    netlist.write_text(text)
    start = sta.timing(netlist, top, loaded, goal_ns)["period_ns"]
    repair.repair(netlist, top, loaded, start, goal_ns)
    made = circuit.changed(_renamed(wires.without_loads(netlist.read_text())))
    placer.settle(made)
    return made


def _renamed(text: str) -> str:
    """Returns a netlist whose buffers of this round cannot share names with the next one's."""
    found = [int(number) for number in re.findall(r"\bkept(\d+)_apart_", text)]
    number = max(found, default=0) + 1
    return re.sub(r"(?<![\w])apart_(?=\d)", f"kept{number}_apart_", text)


def timing(
    circuit: Circuit,
    top: str,
    library: Library,
    skipped: set[str],
    work: pathlib.Path,
    propagated: bool = False,
) -> dict[str, object]:
    """Returns a placed netlist's critical path; with the clock tree, skew and hold slack, too."""
    netlist, spef = work / NETLIST, work / WIRES
    netlist.write_text(circuit.text)
    clocks = {net for net in circuit.nets if net.startswith("tree_")}
    if propagated:
        clocks |= {*sta.clock_ports(circuit.text)}
    wires.write_spef(circuit, top, clocks, skipped - clocks, spef)
    return sta.timing(netlist, top, library, 1.0, spef=spef, propagated=propagated)
