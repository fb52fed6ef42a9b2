# SPDX-License-Identifier: Apache-2.0
"""Places a netlist's cells by Coriolis, in a process of its own, and puts cells on free sites."""

import collections
import hashlib
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable

from maeslant import paths
from maeslant.synth.place.circuit import Circuit
from maeslant.synth.report import SynthesisError

# Coriolis has an environment of its own, which is made once.
LOCK = pathlib.Path(__file__).with_name("requirements.txt")
SIZE = "57 MB"
WORKER = pathlib.Path(__file__).with_name("coriolis_worker.py")
# The placer's effort, and how unevenly it may fill the core: clumps make shorter wires.
SETTINGS = {"etesian.effort": 8, "etesian.densityVariation": 0.3}
UTILISATION = 0.7  # share of the core that cells take before anything is added
STEPS = re.compile(r"^#(\d+):\s+UB")


def environment() -> pathlib.Path:
    """Returns the Python that has Coriolis; makes its environment if needed, and says so before."""
    key = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:8]
    folder = paths.BUILD / f"coriolis-{key}"
    python = folder / "bin" / "python"
    if (folder / "ready").exists():
        return python
    print(f"downloading Coriolis, {SIZE}, once, from pypi.org to {folder}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    try:
        venv.create(folder, with_pip=True)
        how = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCK)]
        subprocess.run([*pip, *how], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = str(getattr(error, "stderr", "") or error).strip().splitlines()
        raise SynthesisError(f"Coriolis could not be installed: {said[-1]}") from None
    (folder / "ready").touch()
    return python


def version() -> str:
    """Returns the name and version of the placer."""
    return "Coriolis " + re.search(r"coriolis-eda==(\S+)", LOCK.read_text())[1]


def core(um2: float, row: float) -> tuple[float, float]:
    """Returns width and height in µm of a square core for cells of an area."""
    rows = 2 * math.ceil(math.sqrt(um2 / UTILISATION) / row / 2)  # the bottom row is an even one
    width = math.ceil(um2 / UTILISATION / (rows * row) / row) * row
    return round(width, 3), round(rows * row, 3)


def place(circuit: Circuit, work: pathlib.Path, tell: Callable[[str], None]) -> None:
    """Finds places for all cells of a netlist; they are in rows, on sites, and do not overlap."""
    outlines = circuit.technology.outlines
    kinds = {name: number for number, name in enumerate(outlines)}
    numbers = {net: number for number, net in enumerate(circuit.nets)}
    problem = {
        "row": circuit.technology.row,
        "core": circuit.core,
        "settings": SETTINGS,
        "kinds": {name: (outline.width, outline.pins) for name, outline in outlines.items()},
        "cells": [
            (kinds[kind], {pin: numbers[net] for pin, net in circuit.pins[cell].items()})
            for cell, kind in circuit.kinds.items()
        ],
        "nets": len(numbers),
        "ports": [
            (numbers[net], "in" if circuit.ways[net][0] == "input" else "out", x, y)
            for net, (x, y) in circuit.ports.items()
        ],
    }
    source, target = work / "problem.json", work / "places"
    source.write_text(json.dumps(problem))
    command = [str(environment()), str(WORKER), str(source), str(target)]
    with (
        open(work / "place.log", "w") as log,
        subprocess.Popen(
            command, cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as child,
    ):
        for line in child.stdout:
            log.write(line)
            if step := STEPS.match(line):
                tell(f"placing: step {step[1]}")
    if child.returncode or not target.exists():
        last = (work / "place.log").read_text().splitlines()[-3:]
        raise SynthesisError(f"Coriolis stopped: {' '.join(last)}")
    lines = target.read_text().splitlines()
    for cell, line in zip(circuit.kinds, lines, strict=True):
        x, y, _ = line.split()
        circuit.at[cell] = float(x), float(y)
    settle(circuit)


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
        order = sorted(range(rows), key=lambda number: abs(number - wanted))
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
    circuit.__dict__.pop("trees", None)
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
