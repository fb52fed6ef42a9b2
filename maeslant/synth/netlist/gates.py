# SPDX-License-Identifier: Apache-2.0
"""Writes a netlist of standard cells as tables, which sim/gates/gates.cpp simulates.

A simulator that compiles what it runs takes gigabytes and hours for a million gates. Each net is a
number here, and each output of a cell a table of its function, which Yosys reads of the Liberty
file. Verilog with the ports of the module calls the simulation by DPI: for a clock when that
changes, for all other inputs together.
"""

import array
import dataclasses
import functools
import json
import pathlib
import re
from collections.abc import Iterable

import numpy as np

from maeslant import paths
from maeslant.synth import yosys
from maeslant.synth.liberty import Library
from maeslant.synth.netlist.circuit import CONSTANTS, GATES, PASSES, Circuit
from maeslant.synth.report import SynthesisError

SIMULATION = paths.ROOT / "sim" / "gates" / "gates.cpp"
STATE = re.compile(r"\$_(DFF|ALDFF|DFFSR|DLATCH|DLATCHSR)_([NP]+)([01]?)_")
CELL = re.compile(r"  (\w+) \S+ \($")
PIN = re.compile(r"    \.(\w+)\((.*)\),?$")
WIRE = re.compile(r"  (input|output|wire) (?:\[(\d+):(\d+)\] )?(\\\S+|\w+) ?;$")
ASSIGN = re.compile(r"  assign (.*) = (.*);$")
OPERAND = re.compile(r"(\d+)'([bdh])(\w+)|(\\\S+|\w+)(?: ?\[(\d+)(?::(\d+))?\])?")
ZERO, ONE = 0, 1  # nets that are constant
MOST = 6  # inputs of a table of 64 bits
DEEPEST = 10_000  # gates, one behind another
GROUP = np.dtype([("table", "<u8"), ("count", "<i4"), ("size", "<i4")])

Function = tuple[int, tuple[object, ...]]  # table; inputs: names of pins, numbers of states
BUFFER = 0b10


@dataclasses.dataclass(frozen=True)
class Model:
    """Describes a standard cell: outputs' functions, and states'.

    Of a state: data, clock, set and clear; true if it is a latch, which the clock opens.
    """

    outputs: dict[str, Function]
    states: list[tuple[Function, Function, Function, Function, bool]]


def written(netlist: pathlib.Path, top: str, library: Library, models: str) -> str:
    """Returns Verilog of a module "gates" that simulates a flat netlist; writes tables beside it.

    ``models``: Verilog of those cells of the library that Yosys reads no function of.
    """
    read = _Netlist(_modules(netlist, library, models))
    with open(netlist) as lines:
        read.read(lines)
    order = _order(read)
    ports = {kind: [name for name, of in read.ports if of == kind] for kind in ("input", "output")}
    clocks = [name for name in ports["input"] if order.control[read.bits(name)].any()]
    if not read.widths.keys().isdisjoint(clocks):
        raise SynthesisError(f"{top} has a clock in a port of several bits: not simulated")
    ports["data"] = [name for name in ports["input"] if name not in clocks]
    nets = {
        kind: order.number[[bit for name in names for bit in read.bits(name)]]
        for kind, names in (ports | {"clock": clocks}).items()
    }
    states = read.states.copy()
    states[:, :5] = order.number[states[:, :5]]
    parts = [nets["data"], nets["output"], nets["clock"], states, order.groups, order.pins]
    sizes = [read.count, *map(len, parts[:4]), order.controls, *map(len, parts[4:])]
    tables = netlist.with_name("gates.bin")
    with open(tables, "wb") as file:
        for part in (sizes, *parts):
            np.asarray(part, GROUP if part is order.groups else "<i4").tofile(file)
    return _verilog(ports, read, clocks, tables)


def _verilog(
    ports: dict[str, list[str]], read: "_Netlist", clocks: list[str], tables: pathlib.Path
) -> str:
    """Returns the text of the module "gates", which calls the simulation for its ports."""
    widths = {name: len(read.bits(name)) for names in ports.values() for name in names}
    given, made = (sum(widths[name] for name in ports[kind]) for kind in ("data", "output"))
    declared = "".join(
        f"  {kind} {f'[{widths[name] - 1}:0] ' if name in read.widths else ''}{name};\n"
        for kind in ("input", "output")
        for name in ports[kind]
    )
    edges = "".join(
        f"  int edges{i};\n"
        f"  always @({name}) edges{i} <= maeslant_gates_clock(which, {i}, {name});\n"
        for i, name in enumerate(clocks)
    )
    data, results = (", ".join(ports[kind][::-1]) for kind in ("data", "output"))
    moved = " + ".join(["0", *(f"edges{i}" for i in range(len(clocks)))])
    # Nothing drives `start`: it is what the simulator gives a flip-flop that was not reset.
    return f"""
module gates({", ".join([*ports["input"], *ports["output"]])});
{declared}
  import "DPI-C" function int maeslant_gates_open(input string tables, input int start);
  import "DPI-C" function int maeslant_gates_clock(input int which, clock, input bit level);
  import "DPI-C" function void maeslant_gates_settle(
    input int which, moved, input bit [{given - 1}:0] given, output bit [{made - 1}:0] made
  );
  int which, start;
  bit [{made - 1}:0] made;
  initial which = maeslant_gates_open("{tables}", start);
{edges}  always_comb maeslant_gates_settle(which, {moved}, {{{data}}}, made);
  assign {{{results}}} = made;
endmodule
"""


class _Netlist:
    """Reads a flat netlist as Yosys writes it: gates by their tables, states, names of nets."""

    def __init__(self, modules: dict[str, dict]) -> None:
        self._modules = modules
        self._nets = {"1'h0": ZERO, "1'h1": ONE, "1'hx": ZERO}
        self.count = 2  # of nets
        self.ports: list[tuple[str, str]] = []  # (name, direction)
        self.widths: dict[str, tuple[int, int]] = {}  # of vectors: highest and lowest bit
        self._tables, self._counts, self._outputs, self._inputs = map(array.array, "Qiii")
        self._states: list[tuple[int, ...]] = []

    def read(self, lines: Iterable[str]) -> None:
        """Adds what the lines of a module in Verilog say."""
        kind, pins = "", {}
        for line in lines:
            if line.startswith("    ."):
                pin = PIN.match(line)
                if pin[2]:
                    pins[pin[1]] = self.net(pin[2])
            elif line == "  );\n":
                self._cell(kind, pins)
            elif cell := CELL.match(line):
                kind, pins = cell[1], {}
            elif wire := WIRE.match(line):
                if wire[2]:
                    self.widths[wire[4]] = int(wire[2]), int(wire[3])
                if wire[1] != "wire":
                    self.ports.append((wire[4], wire[1]))
                    self.bits(wire[4])
            elif assign := ASSIGN.match(line):
                for to, of in zip(*map(self.bits, assign.groups()), strict=True):
                    self._gate(BUFFER, [of], to)
        self.tables, self.counts = np.array(self._tables), np.array(self._counts)
        self.outputs = np.array(self._outputs, np.int64)
        self.inputs = np.array(self._inputs, np.int64).reshape(-1, MOST)
        self.states = np.array(self._states, np.int64).reshape(-1, 6)

    def net(self, text: str) -> int:
        """Returns the number of a net of one bit."""
        found = self._nets.get(text)
        if found is None:
            found = self._nets[text] = self.bits(text)[0]
        return found

    def bits(self, text: str) -> list[int]:
        """Returns the numbers of the nets that a Verilog expression joins, the lowest bit first."""
        found = []
        for size, base, digits, name, high, low in OPERAND.findall(text):
            if size:
                value = int(digits.replace("x", "0"), {"b": 2, "d": 10, "h": 16}[base])
                bits = [value >> i & 1 for i in range(int(size))]
            elif name not in self.widths:
                bits = [self._named(name)]
            else:
                first, last = (int(high), int(low or high)) if high else self.widths[name]
                bits = [self._named(f"{name} [{i}]") for i in range(last, first + 1)]
            found = bits + found
        return found

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

    @functools.cache  # noqa: B019 (for as long as the netlist is read)
    def _model(self, kind: str) -> Model:
        if kind not in self._modules:
            raise SynthesisError(f"{kind} is no cell that can be simulated")
        return model(kind, self._modules[kind])

    def _cell(self, kind: str, pins: dict[str, int]) -> None:
        """Adds a cell's gates and states; ``pins``: the nets by name."""
        cell = self._model(kind)
        given: dict[object, int] = {**pins, **{i: self._new() for i in range(len(cell.states))}}

        def made(function: Function) -> int:
            table, inputs = function
            if not inputs:
                return table & 1
            if table == BUFFER:
                return given[inputs[0]]
            output = self._new()
            self._gate(table, [given[name] for name in inputs], output)
            return output

        try:
            for i, (*functions, latch) in enumerate(cell.states):
                self._states.append((given[i], *map(made, functions), latch))
            for pin, (table, inputs) in cell.outputs.items():
                if pin in pins:
                    self._gate(table, [given[name] for name in inputs], pins[pin])
        except KeyError as pin:
            raise SynthesisError(f"a {kind} has nothing at its pin {pin}") from None


@dataclasses.dataclass(frozen=True)
class _Order:
    """Holds gates in the order of their evaluation, those that make clocks first.

    ``number``: of a net, in that order; ``control``: nets that clocks depend on; ``controls``:
    how many groups come first; ``pins``: numbers of inputs, of each group those of one pin in a
    row.
    """

    number: np.ndarray
    control: np.ndarray
    controls: int
    groups: np.ndarray
    pins: np.ndarray


def _order(read: _Netlist) -> _Order:
    """Returns the order in which a netlist's gates are evaluated; raises if there is none."""
    inputs, outputs, tables = read.inputs, read.outputs, read.tables
    driven = np.zeros(read.count, int)
    np.add.at(driven, outputs, 1)
    np.add.at(driven, read.states[:, 0], 1)
    np.add.at(
        driven, [bit for name, of in read.ports if of == "input" for bit in read.bits(name)], 1
    )
    driven[[ZERO, ONE]] += 1
    if (driven != 1).any():
        raise SynthesisError(f"{(driven != 1).sum()} nets have no driver, or several")
    control = np.zeros(read.count, bool)
    control[read.states[:, 2]] = True
    before = None
    while before != (before := control.sum()):
        control[inputs[control[outputs]]] = True
        control[[ZERO, ONE]] = False
    level = np.zeros(read.count, np.int32)
    for _ in range(DEEPEST):
        deeper = level[inputs].max(axis=1, initial=0) + 1
        if (level[outputs] == deeper).all():
            break
        level[outputs] = deeper
    else:
        raise SynthesisError("gates that wait for each other, in a loop, are not simulated")
    keys = (tables, read.counts, level[outputs], ~control[outputs])
    order = np.lexsort(keys)
    sorted_keys = [key[order] for key in keys]
    starts = np.zeros(len(order), bool)
    starts[:1] = True
    for key in sorted_keys:
        starts[1:] |= key[1:] != key[:-1]
    begins = np.flatnonzero(starts)
    ends = np.append(begins[1:], len(order))
    groups = np.zeros(len(begins), GROUP)
    groups["table"], groups["count"] = tables[order][begins], read.counts[order][begins]
    groups["size"] = ends - begins
    number = np.zeros(read.count, np.int64)
    made = np.zeros(read.count, bool)
    made[outputs] = True
    number[~made] = np.arange((~made).sum())
    number[outputs[order]] = (~made).sum() + np.arange(len(order))
    numbered = number[inputs[order]]
    pins = [
        numbered[begin:end, :count].T.ravel()
        for begin, end, count in zip(begins, ends, groups["count"], strict=True)
    ]
    controls = int((~sorted_keys[-1][begins]).sum())
    return _Order(number, control, controls, groups, np.concatenate([*pins, [0]])[:-1])


def _modules(netlist: pathlib.Path, library: Library, models: str) -> dict[str, dict]:
    """Returns Yosys' models of a library's cells and of ``models``, as gates and flip-flops."""
    own, out = netlist.with_name("cells.v"), netlist.with_name("cells.json")
    own.write_text(models)
    read = [f"read_liberty -ignore_miss_func {library.path}", f"read_verilog -overwrite {own}"]
    yosys.run([*read, *PASSES, f"write_json {out}"], netlist.with_name("gates.log"))
    return json.loads(out.read_text())["modules"]


def model(kind: str, module: dict) -> Model:
    """Returns what a cell does, a module in Yosys' JSON; raises if it cannot be simulated."""
    circuit = Circuit(module)
    states = [
        (STATE.fullmatch(cell["type"]), {pin: bits[0] for pin, bits in cell["connections"].items()})
        for cell in module["cells"].values()
        if cell["type"] not in GATES and cell["type"] != "$scopeinfo"
    ]
    if not all(form for form, _ in states):
        raise SynthesisError(f"{kind} is no cell that can be simulated")
    ports = module["ports"].items()
    leaves = {port["bits"][0]: name for name, port in ports if port["direction"] == "input"}
    leaves |= {pins["Q"]: number for number, (_, pins) in enumerate(states)}
    rows = range(1 << len(leaves))
    columns = [sum((row >> place & 1) << row for row in rows) for place in range(len(leaves))]
    values: dict[object, int] = {**CONSTANTS, **dict(zip(leaves, columns, strict=True))}
    circuit.evaluate(values)

    def function(word: int) -> Function:
        """Returns the function whose values in all rows are a word's bits."""
        read = [
            place
            for place in range(len(leaves))
            if any((word >> row ^ word >> (row ^ 1 << place)) & 1 for row in rows)
        ]
        if len(read) > MOST:
            raise SynthesisError(f"{kind} has a function of more than {MOST} inputs")
        table = 0
        for place in range(1 << len(read)):
            row = sum((place >> k & 1) << at for k, at in enumerate(read))
            table |= (word >> row & 1) << place
        names = [*leaves.values()]
        return table, tuple(names[at] for at in read)

    found = []
    for form, pins in states:
        of, levels, value = form.groups()
        clock, *active = levels

        def level(pin: str, letter: str, pins: dict = pins) -> int:
            return values[pins[pin]] if letter == "P" else ~values[pins[pin]]

        set_, clear = 0, 0
        if of == "ALDFF":
            load, loaded = level("L", active[0]), values[pins["AD"]]
            set_, clear = load & loaded, load & ~loaded
        elif of.endswith("SR"):
            set_, clear = level("S", active[0]), level("R", active[1])
        elif active:
            reset = level("R", active[0])
            set_, clear = (reset, 0) if value == "1" else (0, reset)
        latch = of.startswith("DLATCH")
        words = (values[pins["D"]], level("E" if latch else "C", clock), set_, clear)
        found.append((*map(function, words), latch))
    outputs = {
        name: function(values[port["bits"][0]])
        for name, port in ports
        if port["direction"] == "output"
    }
    return Model(outputs, found)
