# SPDX-License-Identifier: Apache-2.0
"""Gives a placed netlist's clocks balanced trees of buffers, by recursive bisection."""

import math
import re

from maeslant.synth.liberty import Library
from maeslant.synth.place.circuit import Circuit
from maeslant.synth.timing import sta
from maeslant.synth.timing.repair import INSTANCE, PIN

FANOUT = 16  # what a buffer of a clock tree drives, at most
BUFFER = re.compile(r"(?i)^clk_?buf")


def buffer(library: Library) -> str:
    """Returns the name of the library's largest clock buffer, or of its usual buffer."""
    found = [cell for cell in library.cells.values() if BUFFER.match(cell.name)]
    return max(found, key=lambda cell: cell.area).name if found else library.driver


def grow(circuit: Circuit, library: Library) -> tuple[str, dict[str, tuple[float, float]], int]:
    """Builds clock trees; returns the netlist's text, the buffers' places, and the levels.

    Each level's buffers stand in the middle of what they drive; all paths from the clock's port to
    flip-flops have as many buffers.
    """
    kind = buffer(library)
    into = next(iter(library.cells[kind].inputs))
    out = next(iter(library.cells[kind].functions))
    moved: dict[tuple[str, str], str] = {}
    made, places, deepest = [], {}, 0
    for clock in sta.clock_ports(circuit.text):
        sinks = [(cell, pin) for cell, pin in circuit.nets.get(clock, ()) if cell]
        points = [(sink, circuit.place_of(*sink, clock)) for sink in sinks]
        level = 0
        while points and (level == 0 or len(points) > 1):
            above = []
            for number, group in enumerate(_split(points, math.ceil(len(points) / FANOUT))):
                name = f"tree_{clock}_{level}_{number}"
                x, y = (sum(place[i] for _, place in group) / len(group) for i in (0, 1))
                for sink, _ in group:
                    moved[sink] = f"{name}_net"
                made.append(name)
                places[name] = x, y
                above.append(((name, into), (x, y)))
            points, level = above, level + 1
        for sink, _ in points:
            moved[sink] = clock
        deepest = max(deepest, level)
    text = rewire(circuit.text, moved)
    new = "".join(
        f"  wire {name}_net;\n  {kind} {name} (\n    .{into}({moved[name, into]}),\n"
        f"    .{out}({name}_net)\n  );\n"
        for name in made
    )
    return re.sub(r"(?m)^endmodule", lambda end: new + end[0], text), places, deepest


def rewire(text: str, moved: dict[tuple[str, str], str]) -> str:
    """Returns a netlist's text with cells' pins on other nets."""
    cells = {cell for cell, _ in moved}

    def cell(match: re.Match) -> str:
        if match[2] not in cells:
            return match[0]
        pins = ",\n".join(
            f"    .{pin}({moved.get((match[2], pin), net)})" for pin, net in PIN.findall(match[3])
        )
        return f"  {match[1]} {match[2]} (\n{pins}\n  );"

    return INSTANCE.sub(cell, text)


def _split(points: list, groups: int) -> list[list]:
    """Halves points along their longer side until there are so many groups, of equal sizes."""
    if groups <= 1:
        return [points]
    spans = [max(p[1][i] for p in points) - min(p[1][i] for p in points) for i in (0, 1)]
    axis = 0 if spans[0] >= spans[1] else 1
    points = sorted(points, key=lambda point: point[1][axis])
    first = groups // 2
    cut = round(len(points) * first / groups)
    return _split(points[:cut], first) + _split(points[cut:], groups - first)
