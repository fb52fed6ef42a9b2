# SPDX-License-Identifier: Apache-2.0
"""Reads a netlist as Yosys writes it: gates as tables of nets' numbers, states, memories."""

import array
import dataclasses
import re
from collections.abc import Iterable

import numpy as np

from maeslant.synth.netlist.functions import BASES, MOST, Cells, Key, Model
from maeslant.synth.netlist.functions import pins as names_of
from maeslant.synth.report import SynthesisError

MODULE = re.compile(r"module (\\\S+|\w+) ?\(")
CELL = re.compile(r"  (\\\S+ |\w+) (#|\S+ +)\($")
PARAMETERS_END = re.compile(r"  \) \S+ +\($")
PIN = re.compile(r"    \.(\w+)\((.*)\),?$")
WIRE = re.compile(r"  (input|output|wire) (?:signed )?(?:\[(\d+):(\d+)\] )?(\\\S+|\w+) ?;$")
ASSIGN = re.compile(r"  assign (.*) = (.*);$")
OPERAND = re.compile(r"(\d+)'s?([bdh])(\w+)|(\\\S+|\w+)(?: ?\[(\d+)(?::(\d+))?\])?")
ZERO, ONE = 0, 1  # nets that are constant
BUFFER = 0b10  # the table of a gate whose output is its input
MEMORY = np.dtype(
    [("table", "<u8"), ("clock", "<i4"), ("enable", "<i4"), ("data", "<i4"), ("count", "<i4")]
    + [("to", "<i4", MOST)]
)


@dataclasses.dataclass(frozen=True)
class Instance:
    """Holds a cell that stays Verilog: its name, parameters, and the nets of each pin."""

    key: Key
    pins: dict[str, list[int]]


def keys(lines: Iterable[str]) -> tuple[set[Key], dict[str, dict[str, tuple[str, int]]]]:
    """Returns the cells in a netlist with their parameters, and the ports of its modules."""
    found, modules = set(), {}
    kind, values, inside = "", [], False
    for line in lines:
        if line.startswith("    ."):
            if inside:
                values.append(PIN.match(line).groups())
        elif inside and PARAMETERS_END.match(line):
            found.add((kind, tuple(values)))
            inside = False
        elif cell := CELL.match(line):
            kind, values, inside = cell[1].strip(), [], cell[2] == "#"
            if not inside:
                found.add((kind, ()))
        elif module := MODULE.match(line):
            ports = modules[module[1].removeprefix("\\")] = {}
        elif (wire := WIRE.match(line)) and wire[1] != "wire":
            ports[wire[4]] = wire[1], int(wire[2] or 0) - int(wire[3] or 0) + 1
    return found, modules


class Netlist:
    """Holds a flat netlist of tables.

    ``tables``, ``counts``, ``inputs``, ``outputs``: of gates. ``changing``: gate of each memory.
    ``states``: net, data, clock, set, clear, and 1 for a latch, with 2 or 4 for a first 0 or 1.
    ``stays``: what is no gate. ``same``: of each net the number of one that equals it.
    """

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._nets = {"1'h0": ZERO, "1'h1": ONE}
        self.count = 2  # of nets
        self.ports: list[tuple[str, str]] = []  # (name, direction)
        self.widths: dict[str, tuple[int, int]] = {}  # of vectors: highest and lowest bit
        self.stays: list[Instance] = []
        self._tables, self._counts, self._outputs, self._inputs = map(array.array, "Qiii")
        self._states: list[tuple[int, ...]] = []
        self._memories: list[tuple] = []
        self._changing: list[int] = []

    def read(self, lines: Iterable[str], top: str) -> None:
        """Adds what the lines of a module in Verilog say."""
        kind, values, pins, parameters, inside = "", [], {}, False, False
        for line in lines:
            if not inside:
                module = MODULE.match(line)
                inside = module is not None and module[1].removeprefix("\\") == top
            elif line.startswith("    ."):
                pin = PIN.match(line)
                if parameters:
                    values.append(pin.groups())
                elif pin[2]:
                    pins[pin[1]] = pin[2]
            elif line == "  );\n":
                self._cell((kind, tuple(values)), pins)
            elif parameters and PARAMETERS_END.match(line):
                parameters = False
            elif cell := CELL.match(line):
                kind, values, pins, parameters = cell[1].strip(), [], {}, cell[2] == "#"
            elif wire := WIRE.match(line):
                if wire[2]:
                    self.widths[wire[4]] = int(wire[2]), int(wire[3])
                    if int(wire[2]) < int(wire[3]):
                        raise SynthesisError(f"the bits of {wire[4]} ascend: not simulated")
                if wire[1] != "wire":
                    self.ports.append((wire[4], wire[1]))
                    self.bits(wire[4])
            elif assign := ASSIGN.match(line):
                for to, of in zip(*map(self.bits, assign.groups()), strict=True):
                    self._gate(BUFFER, [of], to)
            elif line == "endmodule\n":
                break
        if not inside:
            raise SynthesisError(f"the netlist has no module {top}")
        self.tables, self.counts = np.array(self._tables), np.array(self._counts)
        self.outputs = np.array(self._outputs, np.int64)
        self.inputs = np.array(self._inputs, np.int64).reshape(-1, MOST)
        self.states = np.array(self._states, np.int64).reshape(-1, 6)
        self.memories = np.array(self._memories, MEMORY)
        self.changing = np.array(self._changing, np.int64)
        self.same = np.arange(self.count)

    def join(self) -> None:
        """Takes gates that are buffers out; numbers of their outputs are then those of inputs."""
        buffers = (self.tables == BUFFER) & (self.counts == 1)
        kept = np.flatnonzero(~buffers)
        self.same[self.outputs[buffers]] = self.inputs[buffers, 0]
        for _ in range(self.count.bit_length() + 1):
            self.same = self.same[self.same]
        if np.isin(self.same[self.outputs[buffers]], self.outputs[buffers]).any():
            raise SynthesisError("nets that are names of each other are not simulated")
        self.tables, self.counts, self.outputs = (
            of[kept] for of in (self.tables, self.counts, self.outputs)
        )
        self.inputs = self.same[self.inputs[kept]]
        self.states[:, :5] = self.same[self.states[:, :5]]
        for field in ("clock", "enable", "data", "to"):
            self.memories[field] = self.same[self.memories[field]]
        self.changing = np.searchsorted(kept, self.changing)

    def net(self, text: str) -> int:
        """Returns the number of a net of one bit."""
        found = self._nets.get(text)
        return self.bits(text)[0] if found is None else found

    def bits(self, text: str) -> list[int]:
        """Returns the numbers of the nets that a Verilog expression joins, the lowest bit first."""
        found = []
        if OPERAND.sub("", text).strip("{}, "):
            raise SynthesisError(f"{text} in a netlist is not understood")
        for size, base, digits, name, high, low in OPERAND.findall(text):
            if size:
                bits = self._constants(int(size), base, digits)
            elif name not in self.widths:
                bits = [self._named(name)]
            else:
                first, last = (int(high), int(low or high)) if high else self.widths[name]
                bits = [self._named(f"{name} [{i}]") for i in range(last, first + 1)]
            found = bits + found
        return found

    def _constants(self, size: int, base: str, digits: str) -> list[int]:
        """Returns the nets of a number's bits; one of x or z is a net of its own."""
        value = int(re.sub("[xz]", "0", digits), BASES[base])
        bits = [value >> i & 1 for i in range(size)]
        width = {"b": 1, "h": 4}.get(base, size)
        for place, digit in enumerate(reversed(digits)):
            if digit in "xz":
                for i in range(place * width, min((place + 1) * width, size)):
                    bits[i] = self._new()
                    # It begins at random, as a flip-flop does, and stays.
                    self._states.append((bits[i], bits[i], ZERO, ZERO, ZERO, 0))
        return bits

    def _named(self, name: str) -> int:
        number = self._nets.get(name)
        if number is None:
            number = self._nets[name] = self._new()
        return number

    def _new(self) -> int:
        self.count += 1
        return self.count - 1

    def _gate(self, table: int, inputs: list[int], output: int) -> None:
        self._tables.append(table)
        self._counts.append(len(inputs))
        self._outputs.append(output)
        self._inputs.extend([*inputs, *[ZERO] * (MOST - len(inputs))])

    def _cell(self, key: Key, pins: dict[str, str]) -> None:
        """Adds a cell; ``pins``: expressions by name."""
        model = self._cells.model(key)
        if model is None:
            given = {name: self.bits(text) for name, text in pins.items()}
            self.stays.append(Instance(key, given))
            return
        nets: dict[object, int] = {}
        ports = self._cells.directions[key[0]]
        for name, text in pins.items():
            found = self._nets.get(text)
            bits = self.bits(text) if found is None else [found]
            if ports.get(name, (None, 0))[1] != len(bits):
                raise SynthesisError(f"a {key[0]} has no pin {name} of {len(bits)} bits")
            nets |= zip(names_of(name, len(bits)), bits, strict=True)
        try:
            self._add(model, nets)
        except KeyError as pin:
            raise SynthesisError(f"a {key[0]} has nothing at its pin {pin}") from None

    def _add(self, model: Model, nets: dict[object, int]) -> None:
        """Adds the gates, states and memories of a cell with given nets at its pins."""
        given = self._cells.unconnected.copy()
        given.update(nets, **{"1": ONE})
        given.update({place: self._new() for place in range(len(model.states))})

        def made(function: object) -> int:
            if not isinstance(function, tuple):
                return given[function]
            table, inputs = function
            if not inputs:
                return table & 1
            if table == BUFFER and len(inputs) == 1:
                return made(inputs[0])
            return self._made(table, [made(one) for one in inputs])

        for place, state in enumerate(model.states):
            kind = state.latch + {None: 0, False: 2, True: 4}[state.first]
            functions = (state.data, state.clock, state.set, state.clear)
            self._states.append((given[place], *map(made, functions), kind))
        for one in model.memories:
            output = given[one.output] = nets.get(one.output) or self._new()
            self._changing.append(len(self._tables))
            self._gate(0, [given[pin] for pin in one.read], output)
            to = [given[pin] for pin in one.to]
            wired = made(one.clock), made(one.enable), given[one.data], len(to)
            self._memories.append((one.first, *wired, [*to, *[ZERO] * (MOST - len(to))]))
        for pin, (table, inputs) in model.outputs.items():
            if pin in nets:
                self._gate(table, [made(one) for one in inputs], nets[pin])

    def _made(self, table: int, inputs: list[int]) -> int:
        """Adds a gate; returns the number of its output."""
        output = self._new()
        self._gate(table, inputs, output)
        return output
