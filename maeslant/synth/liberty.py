# SPDX-License-Identifier: Apache-2.0
"""Finds standard-cell libraries (Liberty files) and reads areas and functions of cells."""

import dataclasses
import functools
import gzip
import hashlib
import os
import pathlib
import re

from maeslant import paths
from maeslant.synth.fpga.parts import PARTS
from maeslant.synth.report import SynthesisError

OPENSTA = "https://github.com/The-OpenROAD-Project/OpenSTA, examples/"
ORFS = "https://github.com/The-OpenROAD-Project/OpenROAD-flow-scripts, flow/platforms/ihp-sg13g2/"
# Names for --target: the file, where the public finds it, cells that are not to be used.
KNOWN = {
    "nangate45": ("nangate45_typ.lib", OPENSTA, ()),
    "sky130": ("sky130hd_tt.lib", OPENSTA, ("*probe*", "*lpflow*")),
    "ihp": ("ihp_sg13g2_typ.lib", ORFS, ("*lgcp*", "*sighold*")),
}
FOLDER = "MAESLANT_PDK"
LEAKAGE = re.compile(r"leakage_power_unit\s*:\s*\"?([\d.]+)([numpNUMP][wW])")


@dataclasses.dataclass(frozen=True)
class Cell:
    """Describes a standard cell: area, input capacitances, output functions, state.

    ``gate``: of a clock gate the clock pin, the output, and the pins that enable it. ``state``: the
    Liberty group's expressions by name, and under its kind (ff, latch, ...) the names of the state
    and of its inverse. ``most``: what an output pin may drive, in fF.
    """

    name: str
    area: float
    inputs: dict[str, float]
    functions: dict[str, str]
    state: dict[str, object]
    most: dict[str, float] = dataclasses.field(default_factory=dict)
    gate: tuple[str, str, tuple[str, ...]] | None = None

    @property
    def sequential(self) -> bool:
        """Returns true if the standard cell is a flip-flop or latch."""
        return bool(self.state)

    @property
    def clock(self) -> str:
        """Returns the name of a flip-flop's clock pin."""
        return str(self.state.get("clocked_on", "")).strip("!'() ")


@dataclasses.dataclass(frozen=True)
class Library:
    """Describes a standard-cell library, with driver and load assumed at a design's pins."""

    target: str
    path: pathlib.Path
    digest: str
    cells: dict[str, Cell]
    dont_use: tuple[str, ...]
    driver: str  # drives every input
    load_ff: float  # on every output: a gate of the driver's kind
    nand2_um2: float  # one gate equivalent
    volts: float
    wire_load: str | None  # the file's own model of wires by fan-out, which OpenSTA uses


def folder() -> pathlib.Path:
    """Returns the folder that holds the Liberty files of known standard-cell libraries."""
    return pathlib.Path(os.environ.get(FOLDER, paths.ROOT.parent / "shared" / "pdk"))


def find(target: str) -> Library:
    """Returns a synthesis target's standard-cell library; raises if the file is missing."""
    if target in KNOWN:
        file, public, dont_use = KNOWN[target]
        places = (folder() / file, folder() / f"{file}.gz")
        packed = next((place for place in places if place.exists()), None)
        if packed is None:
            raise SynthesisError(
                f"{target}: no {file} or {file}.gz in {folder()}; it is public ({public}); "
                f"put it into a folder and name that in {FOLDER}, or give its path as --target"
            )
    else:
        packed, dont_use = pathlib.Path(target), ()
        if not packed.is_file():
            names = ", ".join((*KNOWN, *PARTS))
            raise SynthesisError(f"no target {target!r}: neither one of {names} nor a file")
    path, digest = _unpacked(packed)
    text = path.read_text(errors="replace")
    cells, volts = _cells(text), re.search(r"\bnom_voltage\s*:\s*\"?([\d.]+)", text)
    model = re.search(r'\bdefault_wire_load\s*:\s*"?([\w.]+)', text)
    wire = model[1] if model else None
    for name, there in (("nom_voltage", volts), ("leakage_power_unit", LEAKAGE.search(text))):
        if not there:
            raise SynthesisError(f"{path} names no {name}: is it a Liberty file?")
    driver, nand2 = _buffer(cells, path), _nand2(cells, path)
    label = target if target in KNOWN else packed.name.split(".")[0]
    if target not in KNOWN and label in KNOWN:  # a file of that name need not be that library
        label += ".lib"
    return Library(label, path, digest, cells, dont_use, driver, 5.0, nand2, float(volts[1]), wire)


def declare(library: Library) -> str:
    """Returns Yosys' command that declares a library's cells, for designs that name some."""
    return f"read_liberty -lib -ignore_miss_func {library.path}"


def _unpacked(packed: pathlib.Path) -> tuple[pathlib.Path, str]:
    """Decompresses a Liberty file; returns (path, SHA-256 of the text).

    One whose path the tools do not take, for a space in it, is copied to the build folder, too.
    """
    raw = packed.read_bytes()
    try:
        text = gzip.decompress(raw) if packed.suffix == ".gz" else raw
    except (OSError, EOFError):
        raise SynthesisError(f"{packed} is no gzip file") from None
    digest = hashlib.sha256(text).hexdigest()
    if packed.suffix != ".gz" and paths.PLAIN.fullmatch(str(packed.resolve())):
        return packed.resolve(), digest
    stem = re.sub(r"[^A-Za-z0-9_.+-]", "_", packed.name.removesuffix(".gz").removesuffix(".lib"))
    path = paths.BUILD / "pdk" / f"{stem}-{digest[:8]}.lib"
    paths.check(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.write(path, text)
    return path, digest


@functools.lru_cache(8)
def _cells(text: str) -> dict[str, Cell]:
    """Returns all cells of a Liberty file by name; caches the last files."""
    unit = re.search(r"capacitive_load_unit\s*\(\s*([\d.]+)\s*,\s*\"?(\w+)", text)
    femto = float(unit[1]) * {"ff": 1, "pf": 1000}.get(unit[2].lower(), 1) if unit else 1000
    starts = list(re.finditer(r'(?m)^\s*cell\s*\(\s*"?([\w$]+)"?\s*\)', text))
    found = {}
    ends = [*(start.start() for start in starts), len(text)][1:]
    for start, end in zip(starts, ends, strict=True):
        body = text[start.end() : end]
        area = re.search(r"\barea\s*:\s*\"?([\d.eE+-]+)", body)
        inputs, functions, most = {}, {}, {}
        for pin in re.split(r"(?m)^\s*pin\s*\(", body)[1:]:
            name = re.match(r'\s*"?([\w$]+)', pin)
            if name and re.search(r'\bdirection\s*:\s*"?input', pin):
                load = re.search(r"\bcapacitance\s*:\s*\"?([\d.eE+-]+)", pin)
                inputs[name[1]] = float(load[1]) * femto if load else 0.0
            function = re.search(r'\bfunction\s*:\s*"([^"]*)"', pin)
            if name and function:
                functions[name[1]] = function[1]
            limit = re.search(r"\bmax_capacitance\s*:\s*\"?([\d.eE+-]+)", pin)
            if name and limit:
                most[name[1]] = float(limit[1]) * femto
        um2 = float(area[1]) if area else 0.0
        state = _state(body)
        gate = _gate(body) if "clock_gating_integrated_cell" in body else None
        found[start[1]] = Cell(start[1], um2, inputs, functions, state, most, gate)
    return found


def _state(body: str) -> dict[str, object]:
    """Returns the attributes of a cell's flip-flop or latch group in a Liberty file, by name."""
    group = re.search(
        r'\b(ff|latch|ff_bank|latch_bank|statetable)\s*\(\s*"?(\w+)"?[\s,]*"?(\w*)"?[^)]*\)\s*'
        r"\{([^}]*)\}",
        body,
    )
    if not group:
        return {}
    words = dict(re.findall(r'(\w+)\s*:\s*"([^"]*)"', group[4]))
    return {**words, group[1]: (group[2], group[3])}


def _gate(body: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Returns a clock gate's clock pin, output and enabling pins from its Liberty group.

    Returns None for a gate that holds its output high.
    """
    pins: dict[str, list[str]] = {}
    for pin in re.split(r"(?m)^\s*pin\s*\(", body)[1:]:
        name = re.match(r'\s*"?([\w$]+)', pin)
        for kind in re.findall(r'\bclock_gate_(\w+)_pin\s*:\s*"?true', pin):
            pins.setdefault(kind, []).append(name[1])
    if "posedge" not in re.search(r'clock_gating_integrated_cell\s*:\s*"?(\w+)', body)[1]:
        return None
    if not (pins.get("clock") and pins.get("out") and pins.get("enable")):
        return None
    return pins["clock"][0], pins["out"][0], (*pins["enable"], *pins.get("test", ()))


def _like(cells: dict[str, Cell], inputs: int, function: str) -> list[Cell]:
    """Returns a library's cells with a given output function, sorted by area."""
    found = []
    for cell in cells.values():
        if cell.sequential or len(cell.inputs) != inputs or len(cell.functions) != 1:
            continue
        text = re.sub(r"[\s()]", "", next(iter(cell.functions.values())))
        for index, pin in enumerate(sorted(cell.inputs)):
            text = re.sub(rf"\b{re.escape(pin)}\b", str(index), text)
        if text.replace("*", "&").replace("|", "+") in function.split():
            found.append(cell)
    return sorted(found, key=lambda cell: cell.area)


def buffers(cells: dict[str, Cell]) -> list[Cell]:
    """Returns a library's buffer cells, sorted by area, without delay cells."""
    found = _like(cells, 1, "0")
    return [cell for cell in found if not re.search(r"clk|dly|delay", cell.name.lower())]


def _buffer(cells: dict[str, Cell], path: pathlib.Path) -> str:
    """Returns the name of a buffer cell of medium strength in a library."""
    found = buffers(cells)
    four = [c for c in found if re.search(r"(?i)(_|x)4$", c.name)]
    if not found:
        raise SynthesisError(f"{path} has no buffer: is it a Liberty file of standard cells?")
    return (four or found[len(found) // 2 :])[0].name


def _nand2(cells: dict[str, Cell], path: pathlib.Path) -> float:
    """Returns the area of the smallest two-input NAND cell of a library, in µm²."""
    found = [c for c in _like(cells, 2, "!0&1 !0+!1 !1&0 !1+!0") if "nand" in c.name.lower()]
    if not found:
        raise SynthesisError(f"{path} has no NAND of two inputs to count gate equivalents in")
    return found[0].area
