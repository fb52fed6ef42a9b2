# SPDX-License-Identifier: Apache-2.0
"""Simulates a netlist of standard cells, 64 runs at once, and counts transitions.

Each net is a word whose bit i belongs to run i. A clock sets the inputs, lets every gate settle
once in the order of dependence (zero delay, so no glitches), and compares with the clock before.
Gates of one kind at one depth are evaluated together, by their functions in the Liberty file.
"""

import collections
import json
import pathlib
import re
from collections.abc import Callable

import numpy as np

from maeslant.synth import yosys
from maeslant.synth.liberty import Library
from maeslant.synth.report import SynthesisError

RUNS = 64
ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
TOKEN = re.compile(r"\s*([\w$]+|[!'&|^+*()])")


def expression(text: str, names: list[str]) -> str:
    """Converts a cell's function from Liberty syntax to a Python expression."""
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise SynthesisError(f"a Liberty function that is not understood: {text!r}")
        tokens.append(found[1])
        at = found.end()
    tokens.append("")

    def primary() -> str:
        token = tokens.pop(0)
        if token == "!":
            return f"(~{primary()})"
        if token == "(":
            value = union()
            tokens.pop(0)
        elif token in ("0", "1"):
            value = "(v[0] ^ v[0])" if token == "0" else "(~(v[0] ^ v[0]))"
        elif token in names:
            value = f"v[{names.index(token)}]"
        else:
            raise SynthesisError(f"a Liberty function that is not understood: {text!r}")
        while tokens[0] == "'":
            tokens.pop(0)
            value = f"(~{value})"
        return value

    def product() -> str:
        value = exclusive()
        while tokens[0] in ("&", "*") or tokens[0] == "!" or re.match(r"[\w(]", tokens[0]):
            if tokens[0] in ("&", "*"):
                tokens.pop(0)
            value = f"({value} & {exclusive()})"
        return value

    def exclusive() -> str:
        value = primary()
        while tokens[0] == "^":
            tokens.pop(0)
            value = f"({value} ^ {primary()})"
        return value

    def union() -> str:
        value = product()
        while tokens[0] in ("|", "+"):
            tokens.pop(0)
            value = f"({value} | {product()})"
        return value

    return union()


def function(text: str, names: list[str]) -> Callable:
    """Converts a cell's function from Liberty syntax to a Python function."""
    return eval(f"lambda v: {expression(text, names)}")  # noqa: S307 (built above, word by word)


class Netlist:
    """Simulates a flat netlist of standard cells, 64 independent runs in one machine word."""

    def __init__(self, netlist: pathlib.Path, top: str, library: Library) -> None:
        self.library = library
        dump = netlist.with_suffix(".json")
        yosys.run([f"read_verilog {netlist}", f"write_json {dump}"], netlist.with_suffix(".log"))
        module = json.loads(dump.read_text())["modules"][top]
        dump.unlink()
        constants = {"0": 0, "1": 1, "x": 0, "z": 0}
        self.ports = {
            name: (port["direction"], np.array([_net(b, constants) for b in port["bits"]]))
            for name, port in module["ports"].items()
        }
        self.cells: dict[str, tuple[str, dict[str, int]]] = {}
        biggest = max((bits.max() for _, bits in self.ports.values()), default=1)
        for name, cell in module["cells"].items():
            kind = cell["type"]
            if kind not in library.cells:
                raise SynthesisError(f"{kind} is no cell of {library.path.name}")
            pins = {p: _net(b[0], constants) for p, b in cell["connections"].items() if b}
            self.cells[name] = (kind, pins)
            biggest = max(biggest, *pins.values())
        self.nets = int(biggest) + 1
        self._order()
        self.words = np.zeros(self.nets, dtype=np.uint64)
        self.words[1] = ONES
        self.forget()

    def _gates(self) -> dict[int, list[int]]:
        """Returns the nets that enable each gated clock, by the net of the clock."""
        found = {}
        for kind, pins in self.cells.values():
            if gate := self.library.cells[kind].gate:
                _, out, enables = gate
                found[pins[out]] = [pins[pin] for pin in enables if pin in pins]
        return found

    def forget(self) -> None:
        """Resets the counters of the netlist's signal transitions to zero."""
        self.toggles = np.zeros(self.nets, dtype=np.int64)
        self.pulses = dict.fromkeys(self.gated, 0)  # of each gated clock
        self.highs = np.zeros(self.nets, dtype=np.int64)
        self.clocks = 0

    def _order(self) -> None:
        """Sorts the netlist's gates topologically, in groups of the same type and depth."""
        states, gates = collections.defaultdict(list), []
        self.gated = self._gates()
        sources: dict[int, int] = {}  # of a net: the gate that drives it
        for name, (kind, pins) in self.cells.items():
            cell = self.library.cells[kind]
            if cell.gate:
                continue
            if cell.sequential:
                clock = pins.get(cell.clock, 0)
                states[kind, clock if clock in self.gated else 0].append(pins)
                continue
            for pin, text in cell.functions.items():
                if pin in pins:
                    sources[pins[pin]] = len(gates)
                    gates.append((kind, pin, text, pins, name))
        depth = [-1] * len(gates)
        for start in range(len(gates)):
            stack = [start]
            while stack:
                gate = stack[-1]
                if depth[gate] >= 0:
                    stack.pop()
                    continue
                kind, pin, text, pins, name = gates[gate]
                inputs = [pins[p] for p in self.library.cells[kind].inputs if p in pins]
                below = [sources[net] for net in inputs if net in sources]
                missing = [g for g in below if depth[g] < 0]
                if not missing:
                    depth[gate] = 1 + max((depth[g] for g in below), default=0)
                    stack.pop()
                elif len(stack) > len(gates):
                    raise SynthesisError(f"a combinational loop goes through {name}")
                else:
                    stack += missing
        groups = collections.defaultdict(list)
        for gate, (kind, pin, _, pins, _) in enumerate(gates):
            groups[depth[gate], kind, pin].append(pins)
        self.groups = []
        for (_, kind, pin), members in sorted(groups.items()):
            names = list(self.library.cells[kind].inputs)
            call = function(self.library.cells[kind].functions[pin], names)
            self.groups.append((call, _columns(members, names), _columns(members, [pin])[0]))
        self.states = [
            _State(self.library.cells[kind], members, self.gated.get(clock))
            for (kind, clock), members in states.items()
        ]

    def port(self, name: str) -> np.ndarray:
        """Returns the net numbers of a port of the netlist, bit 0 first."""
        return self.ports[name][1]

    def clock_nets(self) -> np.ndarray:
        """Returns which nets are clocks: those on flip-flops' clock pins, and what drives these."""
        found = np.zeros(self.nets, bool)
        drivers = {
            pins[out]: [pins[pin] for pin in self.library.cells[kind].inputs if pin in pins]
            for kind, pins in self.cells.values()
            if not self.library.cells[kind].sequential
            for out in self.library.cells[kind].functions
            if out in pins
        }
        nets = []
        for kind, pins in self.cells.values():
            cell = self.library.cells[kind]
            if cell.gate:
                drivers[pins[cell.gate[1]]] = [pins[cell.gate[0]]]
            elif cell.sequential:
                nets.append(pins[cell.clock])
        while nets:
            net = nets.pop()
            if not found[net]:
                found[net] = True
                nets += drivers.get(net, [])
        return found

    def evaluate(self) -> None:
        """Evaluates all gates of the netlist once, in topological order."""
        words = self.words
        for call, inputs, output in self.groups:
            words[output] = call(words[inputs])

    def edge(self, values: dict[str, np.ndarray], count: bool) -> None:
        """Simulates a rising clock edge of the netlist; optionally counts transitions."""
        before = self.words.copy() if count else None
        if count:
            for net, enables in self.gated.items():
                enabled = np.bitwise_or.reduce(self.words[enables])
                self.pulses[net] += int(np.bitwise_count(enabled))
        after = [state.next(self.words) for state in self.states]
        for state, value in zip(self.states, after, strict=True):
            state.put(self.words, value)
        for name, value in values.items():
            self.words[self.port(name)] = value
        self.evaluate()
        if count:
            self.toggles += np.bitwise_count(before ^ self.words)
            self.highs += np.bitwise_count(self.words)
            self.clocks += RUNS

    def activity(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns (transitions per clock, share of time at 1) of each net of the netlist."""
        return self.toggles / max(self.clocks, 1), self.highs / max(self.clocks, 1)


class _State:
    """Holds the state of all flip-flops of one cell type and clock in the simulated netlist.

    ``enables``: nets of which one has to be 1 for a pulse of their clock; None: it has no gate.
    """

    def __init__(
        self, cell, members: list[dict[str, int]], enables: list[int] | None = None
    ) -> None:
        self.enables = enables
        if "ff" not in cell.state:
            raise SynthesisError(f"{cell.name} is no flip-flop: power of latches is not estimated")
        names = [*cell.inputs, *cell.state["ff"]]
        self.inputs = _columns(members, cell.inputs)
        self.value = np.zeros(len(members), dtype=np.uint64)
        self.calls = {
            name: function(cell.state[name], names)
            for name in ("next_state", "clear", "preset")
            if name in cell.state
        }
        self.outputs = [
            (function(text, names), *_present(members, pin)) for pin, text in cell.functions.items()
        ]

    def next(self, words: np.ndarray) -> np.ndarray:
        """Returns the state that a cell type's flip-flops have after the next clock edge."""
        v = [*words[self.inputs], self.value, ~self.value]
        value = self.calls["next_state"](v)
        if self.enables is not None:
            enabled = np.bitwise_or.reduce(words[self.enables])
            value = value & enabled | self.value & ~enabled
        if "clear" in self.calls:
            value = value & ~self.calls["clear"](v)
        if "preset" in self.calls:
            value = value | self.calls["preset"](v)
        return value

    def put(self, words: np.ndarray, value: np.ndarray) -> None:
        """Sets the state of a cell type's flip-flops and drives their output nets."""
        self.value = value
        v = [*words[self.inputs], value, ~value]
        for call, rows, nets in self.outputs:
            words[nets] = call(v)[rows]


def _net(bit: int | str, constants: dict[str, int]) -> int:
    """Returns the net number of a bit in Yosys' JSON; a constant bit has a reserved net."""
    return constants[bit] if isinstance(bit, str) else bit


def _columns(members: list[dict[str, int]], pins: list[str] | tuple[str, ...]) -> np.ndarray:
    """Returns the net numbers at each pin for all cells of a type, as an array."""
    return np.array([[pins_of.get(pin, 0) for pins_of in members] for pin in pins], dtype=np.int64)


def _present(members: list[dict[str, int]], pin: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns (indices of the cells that have a net at a pin, those nets)."""
    rows = [row for row, pins in enumerate(members) if pin in pins]
    return np.array(rows, dtype=np.int64), np.array([members[r][pin] for r in rows], dtype=np.int64)
