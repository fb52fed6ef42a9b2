# SPDX-License-Identifier: Apache-2.0
"""Puts buffers into long wires of a placed netlist, and behind gates too weak for their wires.

A wire's delay is Elmore's: the resistance of each branch times half its own capacitance and all
that is behind it. While a netlist is mended its wires have no resistance (maeslant.synth.place.
wires), so mending does not see these delays. What a gate may drive, its library says.
"""

import math
import re
from collections.abc import Iterable, Iterator

from maeslant.synth.liberty import Library
from maeslant.synth.place.circuit import Circuit, Tree
from maeslant.synth.place.clock_tree import rewire
from maeslant.synth.place.lef import Wire
from maeslant.synth.place.placer import settle

SLOW_NS = 0.03  # a wire that is slower gets a buffer, if that gains
BUFFER_NS = 0.03  # what a buffer takes that drives little
GAIN_NS = 0.01  # least that a buffer gains, over all pins
LONG_UM = 20
LEAST_UM = 50  # a shorter wire is never slow
PASSES = 4  # each adds a buffer to a net at most
NAME = "repeater"


def repeat(circuit: Circuit, library: Library, skipped: set[str]) -> Circuit:
    """Returns a netlist with buffers where wires ask for them; those of ``skipped`` nets stay."""
    for _ in range(PASSES):
        found = dict(_cuts(circuit, library, skipped))
        if not found:
            break
        circuit = _with_buffers(circuit, library, found)
    return circuit


def delays(
    tree: Tree, loads: list[float], ff: float, ohm: float
) -> tuple[list[float], list[float]]:
    """Returns Elmore delay in ns to each pin of a wire, and the capacitance in fF from there on."""
    behind, found = [*loads], [0.0] * len(loads)
    for start, end, um in reversed(tree.branches):
        behind[start] += behind[end] + um * ff
    for start, end, um in tree.branches:
        found[end] = found[start] + 1e-6 * um * ohm * (um * ff / 2 + behind[end])
    return found, behind


def _cuts(
    circuit: Circuit, library: Library, skipped: set[str]
) -> Iterator[tuple[str, tuple[list[tuple[str, str]], tuple[float, float]]]]:
    """Yields nets with pins that go to the other side of a buffer, and the buffer's place.

    A port stays on its net; so where one hangs behind the buffer, the driver's side moves.
    """
    wire = circuit.technology.signal
    inputs = {name: cell.inputs for name, cell in library.cells.items()}
    into = next(iter(inputs[library.driver].values()))
    most = next(iter(library.cells[library.driver].most.values()), math.inf)
    for net, pins in circuit.nets.items():
        if net in skipped or len(pins) < 2:
            continue
        tree = circuit.tree(net)
        loads = [inputs[circuit.kinds[c]].get(pin, 0.0) if c else 0.0 for c, pin in tree.pins]
        driver, out = tree.pins[0]
        limit = library.cells[circuit.kinds[driver]].most.get(out, most) if driver else most
        if sum(loads) + tree.um * wire.ff > limit < most:
            yield net, ([tree.pins[0]], circuit.at[driver])
            continue
        if tree.um >= LEAST_UM and (found := _cut(tree, loads, wire, into)):
            start, end, part, moved = found
            (x0, y0), (x1, y1) = (circuit.place_of(*tree.pins[n], net) for n in (start, end))
            place = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
            yield net, ([tree.pins[pin] for pin in sorted(moved)], place)


def _cut(
    tree: Tree, loads: list[float], wire: Wire, into: float
) -> tuple[int, int, float, set[int]] | None:
    """Returns where a buffer gains most in a slow wire, if it gains.

    That is a branch (from, to), what part of it lies before the buffer, and the pins that go to
    the buffer's other side. ``loads`` by pin and ``into``, of the buffer, are in fF.
    """
    at, behind = delays(tree, loads, wire.ff, wire.ohm)
    if max(at) <= SLOW_NS:
        return None
    chosen, best = None, _excess(at) - GAIN_NS
    for number, (start, end, um) in enumerate(tree.branches):
        below = _below(tree, number)
        moved = below
        if any(not tree.pins[pin][0] for pin in below):
            moved = set(range(len(at))) - below
        if any(not tree.pins[pin][0] for pin in moved):
            continue
        # The buffer stands in the middle of a long branch, or else where it begins.
        first = um / 2 if um > LONG_UM else 0.0
        less = behind[end] + (um - first) * wire.ff - into
        stays = _after(tree, start, less, at, wire.ohm)
        there = stays[start] + 1e-6 * first * wire.ohm * (first * wire.ff / 2 + into)
        last = 1e-6 * (um - first) * wire.ohm * ((um - first) * wire.ff / 2 + behind[end])
        later = there + BUFFER_NS + last - at[end]
        left = _excess(at[n] + later if n in below else stays[n] for n in range(len(at)))
        if left < best:
            best, chosen = left, (start, end, first / um if um else 0.0, moved)
    return chosen


def _below(tree: Tree, number: int) -> set[int]:
    """Returns the pins of a wire that hang on one of its branches."""
    found = {tree.branches[number][1]}
    for start, end, _ in tree.branches[number + 1 :]:
        if start in found:
            found.add(end)
    return found


def _after(tree: Tree, pin: int, less: float, at: list[float], ohm: float) -> list[float]:
    """Returns the delay to each pin once so many fF fewer hang on one of them."""
    parents = {end: (start, um) for start, end, um in tree.branches}
    way = [pin]
    while way[-1] in parents:
        way.append(parents[way[-1]][0])
    saved = {way[-1]: 0.0}
    for step in reversed(way[:-1]):
        start, um = parents[step]
        saved[step] = saved[start] + 1e-6 * um * ohm * less
    for start, end, _ in tree.branches:
        saved.setdefault(end, saved[start])
    return [delay - saved[pin] for pin, delay in enumerate(at)]


def _excess(delays: Iterable[float]) -> float:
    """Returns how much delays are longer than they may be, in all."""
    return sum(max(delay - SLOW_NS, 0.0) for delay in delays)


def _with_buffers(circuit: Circuit, library: Library, found: dict[str, tuple]) -> Circuit:
    """Returns a netlist with one more buffer for each of given nets, settled near its place."""
    cell = library.cells[library.driver]
    into, out = next(iter(cell.inputs)), next(iter(cell.functions))
    used = [int(n) for n in re.findall(rf"(?m)^  \S+ {NAME}(\d+) \(", circuit.text)]
    first = max(used, default=-1) + 1
    moved, places, new = {}, {}, []
    for number, (net, (pins, place)) in enumerate(found.items(), first):
        name, end = f"{NAME}{number}", " " if net.startswith("\\") else ""
        moved |= dict.fromkeys(pins, f"{name}_net")
        places[name] = place
        before, after = f"{net}{end}", f"{name}_net"
        if circuit.nets[net][0] in pins:
            before, after = after, before
        new.append(
            f"  wire {name}_net;\n  {cell.name} {name} (\n    .{into}({before}),\n"
            f"    .{out}({after})\n  );\n"
        )
    text = re.sub(
        r"(?m)^endmodule", lambda last: "".join(new) + last[0], rewire(circuit.text, moved)
    )
    made = circuit.changed(text)
    made.at.update(places)
    settle(made)
    return made
