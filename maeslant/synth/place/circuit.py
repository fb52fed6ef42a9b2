# SPDX-License-Identifier: Apache-2.0
"""Holds a flat mapped netlist with the places of its cells, and measures its wires.

A net's wire is taken to be a rectilinear spanning tree over its pins: nothing is routed.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator

import numpy as np

from maeslant.synth.place.lef import Technology
from maeslant.synth.timing.repair import INSTANCE, PIN

PORT = re.compile(r"(?m)^  (input|output) (?:\[(\d+):0\] )?(\S+) ?;")
ASSIGN = re.compile(r"(?m)^  assign (.+?) = (.+?) ?;")
CONSTANT = re.compile(r"\d*'")
MANY = 16  # pins; for fewer, arrays take longer


@dataclasses.dataclass(frozen=True)
class Tree:
    """Describes a net's wire: its pins (cell and pin; cell "" is a port) and their branches.

    ``branches``: (from, to, length in µm) by number of the pin.
    """

    pins: tuple[tuple[str, str], ...]
    branches: tuple[tuple[int, int, float], ...]

    @property
    def um(self) -> float:
        """Returns the length of the net's wire in µm."""
        return sum(length for *_, length in self.branches)


class Circuit:
    """Holds a netlist's cells, their nets and their places.

    ``kinds`` and ``pins`` are by cell; ``at``: lower left corners in µm; ``ports``: places in µm
    of the design's pins by net, at the edge of the ``core`` (width, height).
    """

    def __init__(self, text: str, technology: Technology, core: tuple[float, float]) -> None:
        self.text, self.technology, self.core = text, technology, core
        self.kinds: dict[str, str] = {}
        self.pins: dict[str, dict[str, str]] = {}
        for match in INSTANCE.finditer(text):
            self.kinds[match[2]] = match[1]
            found = ((pin, net.strip()) for pin, net in PIN.findall(match[3]))
            self.pins[match[2]] = {p: n for p, n in found if n and not CONSTANT.match(n)}
        self.at: dict[str, tuple[float, float]] = {}
        self.measured: dict[str, Tree] = {}  # wires by net, until places change
        alias = {left.strip(): right.strip() for left, right in ASSIGN.findall(text)}
        self.ways = {
            alias.get(net, net): (way, net)
            for net, way in reversed(list(_ports(text)))
            if not CONSTANT.match(alias.get(net, net))
        }
        self.ports = dict(zip(self.ways, _edge(len(self.ways), core), strict=True))

    @functools.cached_property
    def nets(self) -> dict[str, list[tuple[str, str]]]:
        """Returns the pins on each net: (cell, pin), with the driver first; ports have cell ""."""
        found: dict[str, list[tuple[str, str]]] = {}
        for cell, pins in self.pins.items():
            ways = self.technology.outlines[self.kinds[cell]].pins
            for pin, net in pins.items():
                on = found.setdefault(net, [])
                on.insert(0 if ways[pin][0] == "out" else len(on), (cell, pin))
        for net, (way, port) in self.ways.items():
            on = found.setdefault(net, [])
            on.insert(0 if way == "input" else len(on), ("", port))
        return found

    def place_of(self, cell: str, pin: str, net: str) -> tuple[float, float]:
        """Returns the place of a pin in µm."""
        if not cell:
            return self.ports[net]
        x, y = self.at[cell]
        _, dx, dy = self.technology.outlines[self.kinds[cell]].pins[pin]
        row = self.technology.row
        return x + dx, y + (row - dy if round(y / row) % 2 else dy)

    def tree(self, net: str) -> Tree:
        """Returns the wire of a net, measured when it is asked for first.

        That of a clock takes half a minute where it has 50,000 pins.
        """
        if net not in self.measured:
            pins = self.nets[net]
            places = [self.place_of(cell, pin, net) for cell, pin in pins]
            self.measured[net] = Tree(tuple(pins), tuple(_spanning(places)))
        return self.measured[net]

    def um2(self) -> float:
        """Returns the area of all cells in µm²."""
        outlines = self.technology.outlines
        return sum(outlines[kind].width for kind in self.kinds.values()) * self.technology.row

    def changed(self, text: str) -> "Circuit":
        """Returns another netlist of this design, with the places of the cells that both have."""
        made = Circuit(text, self.technology, self.core)
        made.at = {cell: self.at[cell] for cell in made.kinds if cell in self.at}
        for cell in made.kinds.keys() - made.at.keys():
            made.at[cell] = made.middle(cell)
        return made

    def middle(self, cell: str) -> tuple[float, float]:
        """Returns the middle of what is on a cell's nets and has a place: a place for the cell."""
        seen = []
        for net in self.pins[cell].values():
            for other, _ in self.nets[net]:
                if other == "" or other in self.at:
                    seen.append(self.at[other] if other else self.ports[net])
        x, y = np.median(np.array(seen), axis=0) if seen else np.array(self.core) / 2
        return float(x), float(y)


def _ports(text: str) -> Iterator[tuple[str, str]]:
    """Yields the bits of a netlist's ports: name and direction."""
    for way, high, name in PORT.findall(text):
        for bit in range(int(high) + 1) if high else ("",):
            yield (f"{name}[{bit}]" if high else name), way


def _edge(count: int, core: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Yields places for a number of ports, evenly round the edge of the core."""
    width, height = core
    for number in range(count):
        at = (number + 0.5) / count * 2 * (width + height)
        if at < width:
            yield at, 0.0
        elif at < width + height:
            yield width, at - width
        elif at < 2 * width + height:
            yield 2 * width + height - at, height
        else:
            yield 0.0, 2 * (width + height) - at


def _spanning(places: list[tuple[float, float]]) -> Iterator[tuple[int, int, float]]:
    """Yields the branches of a shortest rectilinear spanning tree (Prim), from pin 0 on."""
    if len(places) > MANY:
        yield from _spanning_many(np.array(places))
        return
    x, y = places[0]
    # By pin: how far it is from the tree, and from which of its pins.
    outside = {n: (abs(a - x) + abs(b - y), 0) for n, (a, b) in enumerate(places[1:], 1)}
    while outside:
        nearest = min(outside, key=lambda pin: outside[pin][0])
        length, parent = outside.pop(nearest)
        yield parent, nearest, length
        x, y = places[nearest]
        for pin, (least, _) in outside.items():
            there = abs(places[pin][0] - x) + abs(places[pin][1] - y)
            if there < least:
                outside[pin] = there, nearest


def _spanning_many(places: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Yields what :func:`_spanning` does, faster for many pins."""
    count = len(places)
    distance = np.abs(places - places[:1]).sum(axis=1)
    parent, outside = np.zeros(count, int), np.ones(count, bool)
    outside[0] = False
    for _ in range(count - 1):
        nearest = int(np.argmin(np.where(outside, distance, np.inf)))
        yield int(parent[nearest]), nearest, float(distance[nearest])
        outside[nearest] = False
        there = np.abs(places - places[nearest]).sum(axis=1)
        closer = outside & (there < distance)
        parent[closer], distance[closer] = nearest, there[closer]
