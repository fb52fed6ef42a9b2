# SPDX-License-Identifier: Apache-2.0
"""Places a netlist's cells by Coloquinte, in a process of its own, and puts cells on free sites."""

import collections
import heapq
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

from maeslant import extras
from maeslant.synth import interrupt
from maeslant.synth.place.circuit import Circuit
from maeslant.synth.report import SynthesisError

PLACER = "coloquinte"
NEWEST = (3, 13)  # Python: as in pyproject.toml
CHILD = pathlib.Path(__file__).with_name("coloquinte_child.py")
UNIT = 0.01  # µm: rows and sites are multiples of it
EFFORT = 6  # of 9
UTILISATION = 0.7  # share of the core that cells take before anything is added
STEPS = re.compile(r"^#(\d+):\s+UB")


def check() -> None:
    """Raises SynthesisError if the placer is not here."""
    if not extras.is_there(PLACER):
        how = extras.how_to_get("synth")
        if sys.version_info >= NEWEST:
            how = f"it is there for Python before {NEWEST[0]}.{NEWEST[1]}"
        raise SynthesisError(f"Coloquinte, which places cells, is not installed: {how}")


def version() -> str:
    """Returns the name and version of the placer."""
    return f"Coloquinte {extras.version(PLACER)}"


def core(um2: float, row: float) -> tuple[float, float]:
    """Returns width and height in µm of a square core for cells of an area."""
    rows = 2 * math.ceil(math.sqrt(um2 / UTILISATION) / row / 2)  # the bottom row is an even one
    width = math.ceil(um2 / UTILISATION / (rows * row) / row) * row
    return round(width, 3), round(rows * row, 3)


def place(
    circuit: Circuit, skipped: set[str], work: pathlib.Path, tell: Callable[[str], None]
) -> None:
    """Finds places for all cells of a netlist; they are in rows, on sites, and do not overlap.

    ``skipped``: nets that draw no cells together.
    """
    source, target, log = work / "problem.json", work / "places.json", work / "place.log"
    source.write_text(json.dumps(problem(circuit, skipped)))
    command = [sys.executable, str(CHILD), str(source), str(target)]
    how = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    child = None
    try:
        with interrupt.held():
            child = subprocess.Popen(command, cwd=work, start_new_session=True, **how)
        with open(log, "w") as kept:
            for line in child.stdout:
                kept.write(line)
                if step := STEPS.match(line):
                    tell(f"placing: step {step[1]}")
        status = child.wait()
    except BaseException:
        if child:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        raise
    if status or not target.exists():
        raise SynthesisError(f"Coloquinte stopped: {' '.join(log.read_text().splitlines()[-3:])}")
    xs, ys = json.loads(target.read_text())
    # The design's pins come after its cells.
    for cell, x, y in zip(circuit.kinds, xs, ys, strict=False):
        circuit.at[cell] = x * UNIT, y * UNIT
    settle(circuit)


def problem(circuit: Circuit, skipped: set[str]) -> dict[str, object]:
    """Returns what Coloquinte needs to know of a netlist: cells, then ports as cells of no size."""
    outlines, row = circuit.technology.outlines, circuit.technology.row
    cells, ports = [*circuit.kinds], [*circuit.ports]
    numbers = {(cell, net): n for n, (cell, net) in enumerate(_names(cells, ports))}
    kinds = [circuit.kinds[cell] for cell in cells]
    places = [(circuit.core[0] / 2, circuit.core[1] / 2)] * len(cells) + [*circuit.ports.values()]
    nets = []
    for net, pins in circuit.nets.items():
        ends = []
        for cell, pin in pins:
            _, x, y = outlines[circuit.kinds[cell]].pins[pin] if cell else ("", 0, 0)
            ends.append((numbers[cell, "" if cell else net], _whole(x), _whole(y)))
        if len(ends) > 1 and net not in skipped:
            nets.append([*zip(*ends, strict=True)])
    fixed = [False] * len(cells) + [True] * len(ports)
    return {
        "x": [_whole(x) for x, _ in places],
        "y": [_whole(y) for _, y in places],
        "width": [_whole(outlines[kind].width) for kind in kinds] + [0] * len(ports),
        "height": [_whole(row)] * len(cells) + [0] * len(ports),
        "is_fixed": fixed,
        "is_obstruction": [not port for port in fixed],
        "nets": nets,
        "core": [_whole(um) for um in circuit.core],
        "row": _whole(row),
        "effort": EFFORT,
    }


def _names(cells: list[str], ports: list[str]) -> Iterator[tuple[str, str]]:
    """Yields cells and ports in Coloquinte's order: cells by their name, ports by that of a net."""
    yield from ((cell, "") for cell in cells)
    yield from (("", net) for net in ports)


def _whole(um: float) -> int:
    """Returns a length in µm in Coloquinte's unit."""
    return round(um / UNIT)


def settle(circuit: Circuit) -> float:
    """Moves cells to free sites of rows, near to where they are; returns the mean way in µm.

    A cell goes to the nearest row that has room. In a row cells keep their order.
    """
    row, site = circuit.technology.row, circuit.technology.site
    rows, sites = round(circuit.core[1] / row), math.floor(circuit.core[0] / site + 1e-6)
    widths = {
        cell: round(circuit.technology.outlines[kind].width / site)
        for cell, kind in circuit.kinds.items()
    }
    if sum(widths.values()) > rows * sites:
        raise SynthesisError("the cells are larger than the core that was made for them")
    used, members = [0] * rows, collections.defaultdict(list)
    for cell in sorted(widths, key=lambda cell: -widths[cell]):
        wanted = circuit.at[cell][1] / row
        order = heapq.merge(
            range(min(math.floor(wanted), rows - 1), -1, -1),
            range(max(math.ceil(wanted), 0), rows),
            key=lambda number: abs(number - wanted),
        )
        room = next((n for n in order if used[n] + widths[cell] <= sites), None)
        if room is None:
            raise SynthesisError("no row of the core has room for a cell")
        used[room] += widths[cell]
        members[room].append(cell)
    moved = 0.0
    for number, cells in members.items():
        cells.sort(key=lambda cell: circuit.at[cell][0] + widths[cell] * site / 2)
        for cell, at in zip(cells, _spread(cells, widths, circuit, sites), strict=True):
            x, y = circuit.at[cell]
            circuit.at[cell] = round(at * site, 4), round(number * row, 4)
            moved += abs(x - circuit.at[cell][0]) + abs(y - circuit.at[cell][1])
    circuit.measured.clear()
    return moved / max(len(widths), 1)


def _spread(cells: list[str], widths: dict[str, int], circuit: Circuit, sites: int) -> list[int]:
    """Returns sites for cells of a row in their order: the least sum of squared ways (Abacus)."""
    groups: list[list[float]] = []  # sum of wished sites, number of cells, width
    for cell in cells:
        wish = circuit.at[cell][0] / circuit.technology.site
        groups.append([wish, 1, widths[cell]])
        while len(groups) > 1:
            (wish1, many1, width1), (wish2, many2, width2) = groups[-2:]
            if _start(groups[-2], sites) + width1 <= _start(groups[-1], sites):
                break
            groups[-2:] = [[wish1 + wish2 - many2 * width1, many1 + many2, width1 + width2]]
    found, left = [], iter(cells)
    for group in groups:
        at = _start(group, sites)
        for _ in range(int(group[1])):
            found.append(at)
            at += widths[next(left)]
    return found


def _start(group: list[float], sites: int) -> int:
    """Returns the first site of cells that touch."""
    wish, many, width = group
    return int(min(max(round(wish / many), 0), sites - width))
