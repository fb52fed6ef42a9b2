# SPDX-License-Identifier: Apache-2.0
"""Reads outlines and pins of standard cells, and what wires weigh: LEF and its constants."""

import dataclasses
import functools
import gzip
import re

from maeslant.synth import liberty
from maeslant.synth.liberty import Library
from maeslant.synth.report import SynthesisError

ORFS = "https://github.com/The-OpenROAD-Project/OpenROAD-flow-scripts, flow/platforms/nangate45/"
# By target: the file of the cells (as it is or with .gz), and that of the wires' constants.
FILES = {"nangate45": ("NangateOpenCellLibrary.macro.mod.lef", "nangate45_setRC.tcl")}
SITES = {"nangate45": 0.19}
MACRO = re.compile(r"(?ms)^MACRO (\S+)\n(.*?)^END \1\s*$")
PIN = re.compile(r"(?ms)^  PIN (\S+)\n(.*?)^  END \1\s*$")
RECT = re.compile(r"RECT ([\d.-]+) ([\d.-]+) ([\d.-]+) ([\d.-]+)")


@dataclasses.dataclass(frozen=True)
class Outline:
    """Holds the width of a standard cell and the places of its signal pins, in µm.

    ``pins``: ("in" or "out", x, y) by name, of the centre of the largest shape.
    """

    width: float
    pins: dict[str, tuple[str, float, float]]


@dataclasses.dataclass(frozen=True)
class Wire:
    """Holds what a µm of wire weighs: capacitance in fF and resistance in ohm."""

    ff: float
    ohm: float


@dataclasses.dataclass(frozen=True)
class Technology:
    """Describes a technology for placement: cells, rows and sites in µm, wires."""

    row: float
    site: float
    outlines: dict[str, Outline]
    signal: Wire
    clock: Wire
    says: str  # in words, what the wires' constants are


@functools.cache
def read(target: str) -> Technology:
    """Returns the technology of a synthesis target; raises SynthesisError if it cannot be had."""
    if target not in FILES:
        known = ", ".join(FILES)
        raise SynthesisError(f"--place needs cell outlines (LEF): known for {known}, not {target}")
    cells, constants = (_text(name) for name in FILES[target])
    outlines, rows = {}, set()
    for name, body in MACRO.findall(cells):
        size = re.search(r"SIZE\s+([\d.]+)\s+BY\s+([\d.]+)", body)
        rows.add(float(size[2]))
        outlines[name] = Outline(float(size[1]), dict(_pins(body)))
    if len(rows) != 1:
        raise SynthesisError(f"{FILES[target][0]}: cells of one height are needed, not of {rows}")
    layers = dict(
        re.findall(r"(?m)^set_wire_rc -(signal|clock) -layer (\w+)", constants)  # by use
    )
    weighs = {name: Wire(float(c), 1000 * float(r)) for name, r, c in LAYER.findall(constants)}
    signal, clock = (weighs[layers[use]] for use in ("signal", "clock"))
    says = f"{signal.ff:.3f} fF and {signal.ohm:.2f} ohm a µm ({layers['signal']})"
    return Technology(rows.pop(), SITES[target], outlines, signal, clock, says)


# Resistance in kohm and capacitance in fF a µm.
LAYER = re.compile(r"(?m)^set_layer_rc -layer (\w+) -resistance (\S+) -capacitance (\S+)")


def _text(name: str) -> str:
    """Returns the text of a file beside the Liberty files, compressed or not."""
    for path in (liberty.folder() / name, liberty.folder() / f"{name}.gz"):
        if path.exists():
            raw = path.read_bytes()
            return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    raise SynthesisError(
        f"no {name} or {name}.gz in {liberty.folder()}; it is public ({ORFS}); put it there, or "
        f"name another folder in {liberty.FOLDER}"
    )


def _pins(body: str) -> list[tuple[str, tuple[str, float, float]]]:
    """Returns the signal pins of a cell in a LEF file: name, direction and centre."""
    found = []
    for name, text in PIN.findall(body):
        if not re.search(r"USE (SIGNAL|CLOCK)", text):
            continue
        way = "in" if re.search(r"DIRECTION INPUT", text) else "out"
        shapes = [tuple(map(float, shape)) for shape in RECT.findall(text)]
        left, low, right, high = max(shapes, key=lambda s: (s[2] - s[0]) * (s[3] - s[1]))
        found.append((name, (way, (left + right) / 2, (low + high) / 2)))
    return found


def check(library: Library, technology: Technology) -> None:
    """Raises SynthesisError if cells of a library have no outline."""
    usable = {name for name, cell in library.cells.items() if cell.functions}
    if missing := sorted(usable - technology.outlines.keys()):
        raise SynthesisError(f"the LEF file has no {', '.join(missing[:5])}")
