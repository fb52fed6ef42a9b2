# SPDX-License-Identifier: Apache-2.0
"""Reads the power data of standard cells from a Liberty file.

Tables are read at one transition time of inputs, SLEW_NS: over those that occur they differ by few
percent. Energies are in fJ a transition, loads in fF, leakage in mW.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator

import numpy as np

from maeslant.synth.liberty import LEAKAGE, Library

SLEW_NS = 0.02
NUMBER = re.compile(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?")
BRACE = re.compile(r"[{}]")
LITERAL = re.compile(r"(!?)\s*([A-Za-z_]\w*)")


@dataclasses.dataclass(frozen=True)
class Arc:
    """Holds an internal_power table of a cell: energy of a transition, by load."""

    related: str  # the pin that causes it, or nothing
    when: dict[str, bool]  # values of other pins
    loads: np.ndarray
    rise: np.ndarray
    fall: np.ndarray

    def mean(self, load: np.ndarray) -> np.ndarray:
        """Returns the energy in fJ of a cell's transition, up or down on average, by load."""
        return np.interp(load, self.loads, (self.rise + self.fall) / 2)


@dataclasses.dataclass(frozen=True)
class Energies:
    """Holds the internal_power tables of a standard cell by pin, and its leakage."""

    pins: dict[str, tuple[Arc, ...]]
    leakage_mw: float


def read(library: Library) -> dict[str, Energies]:
    """Returns the power data of every cell of a standard-cell library, by name."""
    return _read(library.path.read_text(errors="replace"))


@functools.lru_cache(4)
def _read(text: str) -> dict[str, Energies]:
    """Returns the power data of every cell in the text of a Liberty file, by name."""
    unit = LEAKAGE.search(text)
    leak = float(unit[1]) * {"nw": 1e-6, "pw": 1e-9, "uw": 1e-3, "mw": 1}[unit[2].lower()]
    orders = {
        name: "capac" in body[: body.find("variable_2")]
        for name, body in _groups(text, "power_lut_template")
    }
    femto, found = _femto(text), {}
    for name, body in _groups(text, "cell"):
        own = re.search(r"\bcell_leakage_power\s*:\s*\"?([\d.eE+-]+)", body)
        pins = {
            pin: tuple(_arc(group, orders, femto) for _, group in _groups(part, "internal_power"))
            for pin, part in _groups(body, "pin")
        }
        found[name] = Energies(pins, float(own[1]) * leak if own else 0.0)
    return found


def wire_load(library: Library, fanout: np.ndarray) -> np.ndarray:
    """Returns a net's wire load in fF for each fan-out, from the default wire-load model."""
    if library.wire_load is None:
        return np.zeros(len(fanout))
    text = library.path.read_text(errors="replace")
    body = dict(_groups(text, "wire_load"))[library.wire_load]
    points = re.findall(r"fanout_length\s*\(\s*([\d.]+)\s*,\s*([\d.]+)", body)
    pins, lengths = (np.array([float(p[i]) for p in points]) for i in (0, 1))
    slope = float(re.search(r"\bslope\s*:\s*([\d.eE+-]+)", body)[1])
    each = float(re.search(r"\bcapacitance\s*:\s*([\d.eE+-]+)", body)[1]) * _femto(text)
    more = np.maximum(fanout - pins[-1], 0) * slope
    return np.where(fanout > 0, (np.interp(fanout, pins, lengths) + more) * each, 0.0)


def _femto(text: str) -> float:
    """Returns the unit of capacitance of a Liberty file, in fF."""
    unit = re.search(r"capacitive_load_unit\s*\(\s*([\d.]+)\s*,\s*\"?(\w+)", text)
    return float(unit[1]) * {"ff": 1, "pf": 1000}[unit[2].lower()]


def _groups(text: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yields the groups of one kind in the text of a Liberty file: name and body."""
    for head in re.finditer(rf'\b{kind}\s*\(\s*"?([\w$]*)"?\s*\)\s*\{{', text):
        depth = 1
        for brace in BRACE.finditer(text, head.end()):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                yield head[1], text[head.end() : brace.start()]
                break


def _arc(body: str, orders: dict[str, bool], femto: float) -> Arc:
    """Returns one internal_power table of a cell, at the transition time SLEW_NS."""
    related = re.search(r"\brelated_pin\s*:\s*\"([^\"]*)\"", body)
    when = re.search(r"\bwhen\s*:\s*\"([^\"]*)\"", body)
    tables = {}
    loads = np.array([0.0, 1.0])
    for kind in ("rise_power", "fall_power"):
        tables[kind] = np.zeros(2)
        for template, table in _groups(body, kind):
            values = _numbers(table, "values")
            first, second = _numbers(table, "index_1"), _numbers(table, "index_2")
            if len(values) == 1 or not len(first):
                tables[kind] = np.full(2, values[0])
            elif not len(second):  # over slews alone
                tables[kind] = np.full(2, np.interp(SLEW_NS, first, values))
            else:
                grid = values.reshape(len(first), len(second))
                if orders.get(template):  # the load comes first
                    grid, first, second = grid.T, second, first
                at_slew = [np.interp(SLEW_NS, first, column) for column in grid.T]
                loads, tables[kind] = second * femto, np.array(at_slew)
    rise, fall = (
        t if len(t) == len(loads) else np.full(len(loads), t[0])
        for t in (tables["rise_power"], tables["fall_power"])
    )
    literals = LITERAL.findall(when[1]) if when and "|" not in when[1] else []
    states = {name: not sign for sign, name in literals}
    return Arc(related[1] if related else "", states, loads, rise * femto, fall * femto)


def _numbers(body: str, name: str) -> np.ndarray:
    """Returns the numbers of an attribute in the text of a Liberty file."""
    found = re.search(rf"\b{name}\s*\(([^)]*)\)", body)
    return np.array([float(n) for n in NUMBER.findall(found[1])]) if found else np.zeros(0)
