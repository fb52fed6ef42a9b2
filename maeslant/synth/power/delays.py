# SPDX-License-Identifier: Apache-2.0
"""Reads delays of a netlist's cells and wires from SDF (IEEE 1497), as OpenSTA writes it.

A value is the mean of its least and its greatest; a path with several conditions has their mean.
"""

import collections
import dataclasses
import pathlib
import re

INSTANCE = re.compile(r"\(INSTANCE (\S*?)\)")
WIRE = re.compile(r"\(INTERCONNECT \S+ (\S+)/(\w+) \(([^)]*)\) \(([^)]*)\)\)")
PATH = re.compile(r"\(IOPATH (?:\(\w+ (\w+)\)|(\w+)) (\w+) \(([^)]*)\) \(([^)]*)\)\)")


@dataclasses.dataclass(frozen=True)
class Delays:
    """Holds delays in ns: of (cell, input, output), rising and falling; of wires by pin."""

    paths: dict[tuple[str, str, str], tuple[float, float]]
    wires: dict[tuple[str, str], float]


def read(sdf: pathlib.Path) -> Delays:
    """Returns the delays in an SDF file."""
    paths, wires, cell = collections.defaultdict(list), {}, ""
    with open(sdf) as lines:
        for line in lines:
            if found := WIRE.search(line):
                wires[_plain(found[1]), found[2]] = (_value(found[3]) + _value(found[4])) / 2
            elif found := PATH.search(line):
                key = cell, found[1] or found[2], found[3]
                paths[key].append((_value(found[4]), _value(found[5])))
            elif found := INSTANCE.search(line):
                cell = _plain(found[1])
    return Delays(
        {
            key: tuple(sum(side) / len(side) for side in zip(*values, strict=True))
            for key, values in paths.items()
        },
        wires,
    )


def _plain(name: str) -> str:
    """Returns a name without the backslashes before its special signs."""
    return name.replace("\\", "")


def _value(triple: str) -> float:
    """Returns the mean of the values that a triple of SDF has."""
    values = [float(value) for value in triple.split(":") if value]
    return sum(values) / len(values) if values else 0.0
