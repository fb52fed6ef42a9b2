# SPDX-License-Identifier: Apache-2.0
"""Says what each cell of a netlist does: tables of functions, states, small memories.

Yosys reads the cells' models, of a Liberty file or those that it has of an FPGA's cells. LUTs, and
memories that a LUT can be, are known by their names here: their parameters are many.
"""

import collections
import dataclasses
import json
import pathlib
import re

from maeslant.synth import yosys
from maeslant.synth.liberty import Library
from maeslant.synth.netlist import cells
from maeslant.synth.netlist.circuit import CONSTANTS, GATES, PASSES, Circuit
from maeslant.synth.report import SynthesisError

MOST = 6  # inputs of a table of 64 bits
LEAVES = 12  # inputs and states of a cell that tables are made for
STATE = re.compile(r"\$_(DFF|ALDFF|DFFSR|DLATCH|DLATCHSR)_([NP]+)([01]?)_")
LITERAL = re.compile(r"\d+'s?([bdh])(\w+)")
BASES = {"b": 2, "d": 10, "h": 16}
# Of each family the pins of LUTs, from the lowest on, and their output.
LUTS = {
    "ecp5": ("ABCD", "Z"),
    "gw5a": (["I0", "I1", "I2", "I3"], "F"),
    "xc7": (["I0", "I1", "I2", "I3", "I4", "I5"], "O"),
}

# A table and its inputs: names of pins, numbers of states, other functions.
Function = tuple[int, tuple[object, ...]]
Key = tuple[str, tuple[tuple[str, str], ...]]  # a cell's name, its parameters as they are written


def buffer(pin: str, inverted: bool = False) -> Function:
    """Returns the function of one pin that is its value, or the inverse."""
    return (0b01 if inverted else 0b10), (pin,)


@dataclasses.dataclass(frozen=True)
class State:
    """Describes a flip-flop, or a latch that its clock opens.

    ``first``: its value at the start; None if the netlist does not say.
    """

    data: Function
    clock: Function
    set: Function
    clear: Function
    latch: bool
    first: bool | None


@dataclasses.dataclass(frozen=True)
class Memory:
    """Describes up to 64 bits that a clock writes one of, or shifts, and an output reads one of.

    ``output``: a pin, or a name that an output's function has for it. The last of ``to`` and
    ``read`` are the highest; without ``to`` it shifts.
    """

    first: int
    read: tuple[str, ...]
    output: str
    to: tuple[str, ...]
    data: str
    enable: Function
    clock: Function


@dataclasses.dataclass(frozen=True)
class Model:
    """Describes a cell: a function for each output, states, memories."""

    outputs: dict[str, Function]
    states: list[State]
    memories: list[Memory]


class Cells:
    """Finds what the cells of a netlist do, by name and parameters.

    ``directions``: of each cell's ports, with the number of bits. ``others``: Verilog of cells that
    the library's file says nothing of, or of those of an FPGA that stay as they are.
    """

    def __init__(
        self, target: str, library: Library | None, others: str, work: pathlib.Path
    ) -> None:
        self._target, self._library, self._work = target, library, work
        self._known: dict[Key, Model | None] = {}
        # Of an FPGA's cell a pin without a net is 0.
        self.unconnected = {} if library else collections.defaultdict(int)
        self._others = work / "others.v"
        self._others.write_text(others)
        if library:
            passes = [
                f"read_liberty -ignore_miss_func {library.path}",
                f"read_verilog -overwrite {self._others}",
                *PASSES,
            ]
        else:
            passes = [f"read_verilog {cells.MODELS[target]}"]
            passes += [f"read_verilog -overwrite {self._others}", "blackbox"]
        self._modules = self._yosys(passes, "cells")
        self.directions = {name: ports(module) for name, module in self._modules.items()}
        self._stay = set() if library else set(re.findall(r"(?m)^.*?\bmodule (\w+)", others))

    def keep(self, given: dict[str, dict[str, tuple[str, int]]]) -> None:
        """Adds modules of a netlist, with their ports, that stay as they are."""
        self.directions |= given
        self._stay |= given.keys()

    def prepare(self, keys: set[Key]) -> str:
        """Finds what cells do; returns Verilog of those that stay and are none of ``others``."""
        self.renamed: dict[Key, str] = {}  # names of such cells there
        if self._library:
            return ""
        asked = {}
        for kind, values in sorted(keys):
            if kind in self._stay or kind not in self.directions:
                continue
            own = _lut(self._target, kind, dict(values)) or _memories(kind, dict(values))
            if own:
                self._known[kind, values] = own
            else:
                asked[f"variant{len(asked)}"] = kind, values
        files = self._work / "variants.v"
        instances = "".join(f"{name} u_{name} ();\n" for name in asked)
        texts = [self._variant(name, *key) for name, key in asked.items()]
        files.write_text(f"{''.join(texts)}module every;\n{instances}endmodule\n")
        read = [f"read_verilog {cells.MODELS[self._target]}", f"read_verilog {files}"]
        read += ["hierarchy -top every", "delete every"]
        wide = {name for name, (kind, _) in asked.items() if self._wide(kind)}
        stays = self._work / "stays.v"
        stays.write_text("")
        if wide:
            chosen = " ".join(sorted(wide))
            end = ["proc", "flatten", "opt_clean", f"write_verilog -noattr -selected {stays}"]
            yosys.run([*read, *end[:3], f"select {chosen}", end[3]], self._work / "stays.log")
            self.renamed = {asked[name]: name for name in wide}
        narrow = [f"delete {name}" for name in sorted(wide)]
        found = self._yosys([*read, *narrow, *PASSES], "variants") if len(wide) < len(asked) else {}
        for name in asked.keys() - wide:
            self._known[asked[name]] = model(asked[name][0], found[name])
        return stays.read_text()

    def model(self, key: Key) -> Model | None:
        """Returns what a cell does; None if it stays as it is."""
        if key not in self._known:
            kind, _ = key
            if kind not in self.directions:
                raise SynthesisError(f"{kind} is no cell that can be simulated")
            known = self._library and model(kind, self._modules[kind])
            self._known[key] = known or None
        return self._known[key]

    def _wide(self, kind: str) -> bool:
        """Returns true if a cell has more inputs than tables are made for."""
        return sum(n for way, n in self.directions[kind].values() if way == "input") > LEAVES

    def _variant(self, name: str, kind: str, values: tuple[tuple[str, str], ...]) -> str:
        """Returns Verilog of a module that is a cell with parameters."""
        own = self.directions[kind]
        heads = ", ".join(f"{way} [{n - 1}:0] {pin}" for pin, (way, n) in own.items())
        given = ", ".join(f".{parameter}({value})" for parameter, value in values)
        pins = ", ".join(f".{pin}({pin})" for pin in own)
        return f"module {name}({heads});\n  {kind} #({given}) u_it ({pins});\nendmodule\n"

    def _yosys(self, passes: list[str], name: str) -> dict[str, dict]:
        """Runs Yosys' passes; returns all modules in its JSON."""
        out = self._work / f"{name}.json"
        yosys.run([*passes, f"write_json {out}"], self._work / f"{name}.log")
        return json.loads(out.read_text())["modules"]


def ports(module: dict) -> dict[str, tuple[str, int]]:
    """Returns the direction and the number of bits of each port of a module in Yosys' JSON."""
    return {n: (port["direction"], len(port["bits"])) for n, port in module["ports"].items()}


def pins(name: str, count: int) -> tuple[str, ...]:
    """Returns the names of a port's bits, the lowest first."""
    return (name,) if count == 1 else tuple(f"{name}[{i}]" for i in range(count))


def number(literal: str) -> int:
    """Returns the value of a number in Verilog; 0 where that is not known."""
    found = LITERAL.fullmatch(literal)
    return int(re.sub("[xz]", "0", found[2]), BASES[found[1]]) if found else int(literal)


def _lut(target: str, kind: str, values: dict[str, str]) -> Model | None:
    """Returns what a LUT does; None of another cell."""
    found = re.fullmatch(r"LUT(\d)", kind)
    if not found or target not in LUTS:
        return None
    inputs, output = LUTS[target]
    function = number(values.get("INIT", "0")), tuple(inputs[: int(found[1])])
    return Model({output: function}, [], [])


def _memories(kind: str, values: dict[str, str]) -> Model | None:
    """Returns what memories of LUTs do, after AMD UG953, Lattice FPGA-TN-02204, Gowin UG285."""
    values = collections.defaultdict(lambda: "1'h0", values)
    found: list[Memory] = []
    outputs: dict[str, Function] = {}

    def add(first: int, read, output: str, to, data: str, enable, clock) -> None:
        found.append(Memory(first, tuple(read), output, tuple(to), data, enable, clock))

    if form := re.fullmatch(r"RAM(32|64)M", kind):
        depth, width = int(form[1]), 64 // int(form[1])
        to, clock = pins("ADDRD", 5 if depth == 32 else 6), _clock("WCLK", values)
        for part in "ABCD":
            for bit in range(width):
                word = number(values[f"INIT_{part}"])
                first = sum((word >> width * i + bit & 1) << i for i in range(depth))
                output, data = (pins(f"D{way}{part}", width)[bit] for way in "OI")
                read = pins(f"ADDR{part}", len(to))
                add(first, read, output, to, data, buffer("WE"), clock)
    elif form := re.fullmatch(r"RAM(32|64|128|256(?=X1S))X1([DS])", kind):
        count, clock = int(form[1]).bit_length() - 1, _clock("WCLK", values)
        as_vector = kind in ("RAM128X1D", "RAM256X1S")
        to, from_ = (
            pins(name, count) if as_vector else tuple(f"{name}{i}" for i in range(count))
            for name in ("A", "DPRA")
        )
        for output, read in {"SPO": to, "DPO": from_}.items() if form[2] == "D" else [("O", to)]:
            # One of 64 words and more is several, and their outputs are selected from.
            parts = range(1 << max(0, count - MOST))
            names = [f"{output} {part}" for part in parts]
            for part in parts:
                enable = 1 << (1 | part << 1), ("WE", *to[MOST:])
                first = number(values["INIT"]) >> 64 * part & (1 << 64) - 1
                add(first, read[:MOST], names[part], to[:MOST], "D", enable, clock)
            rows = range(1 << len(parts) + len(read[MOST:]))
            selected = sum((row >> (row >> len(parts)) & 1) << row for row in rows)
            outputs[output] = selected, (*names, *read[MOST:])
    elif kind in ("SRL16E", "SRLC32E"):
        read = [f"A{i}" for i in range(4)] if kind == "SRL16E" else pins("A", 5)
        first, clock = number(values["INIT"]), _clock("CLK", values)
        add(first, read, "Q", (), "D", buffer("CE"), clock)
        if kind == "SRLC32E":
            add(first, ["1"] * 5, "Q31", (), "D", buffer("CE"), clock)
    elif kind == "TRELLIS_DPR16X4":
        word = number(values["INITVAL"])
        fixed = {'"0"': (0, ()), '"1"': (1, ())}
        enable, clock = (
            fixed.get(values[f"{n}MUX"]) or buffer(n, values[f"{n}MUX"] == '"INV"')
            for n in ("WRE", "WCK")
        )
        for bit in range(4):
            first = sum((word >> 4 * i + bit & 1) << i for i in range(16))
            output, data = f"DO[{bit}]", f"DI[{bit}]"
            add(first, pins("RAD", 4), output, pins("WAD", 4), data, enable, clock)
    elif form := re.fullmatch(r"RAM16S(DP)?([124])", kind):
        width, (read, to) = int(form[2]), ("RAD", "WAD") if form[1] else ("AD", "AD")
        for bit in range(width):
            output, data = (pins(name, width)[bit] for name in ("DO", "DI"))
            first, clock = number(values[f"INIT_{bit}"]), buffer("CLK")
            add(first, pins(read, 4), output, pins(to, 4), data, buffer("WRE"), clock)
    return Model(outputs, [], found) if found else None


def _clock(pin: str, values: dict[str, str]) -> Function:
    """Returns the function of a 7-series cell's clock pin."""
    return buffer(pin, bool(number(values[f"IS_{pin}_INVERTED"])))


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
    leaves: dict[object, object] = {}
    for name, port in module["ports"].items():
        if port["direction"] == "input":
            leaves |= zip(port["bits"], pins(name, len(port["bits"])), strict=True)
    leaves |= {wires["Q"]: place for place, (_, wires) in enumerate(states)}
    if len(leaves) > LEAVES:
        raise SynthesisError(f"{kind} has too many inputs and states to be simulated")
    rows = range(1 << len(leaves))
    columns = [sum((row >> place & 1) << row for row in rows) for place in range(len(leaves))]
    values: dict[object, int] = {**CONSTANTS, **dict(zip(leaves, columns, strict=True))}
    circuit.evaluate(values)
    drivers = {output: (gate, inputs) for gate, inputs, output in circuit.gates}
    names = [*leaves.values()]

    def table(word: int) -> Function | None:
        """Returns the function whose values in all rows are a word's bits, if it is small."""
        read = [
            place
            for place in range(len(leaves))
            if any((word >> row ^ word >> (row ^ 1 << place)) & 1 for row in rows)
        ]
        if len(read) > MOST:
            return None
        found = 0
        for place in range(1 << len(read)):
            row = sum((place >> k & 1) << at for k, at in enumerate(read))
            found |= (word >> row & 1) << place
        return found, tuple(names[at] for at in read)

    def function(net: object) -> Function:
        """Returns the function that drives a net: a table, or the net's gate of functions."""
        found = table(values[net])
        if found is None:
            gate, inputs = drivers[net]
            words = [sum((row >> k & 1) << row for row in range(8)) for k in range(len(inputs))]
            found = GATES[gate][1](*words) & 0xFF, tuple(map(function, inputs))
        return found

    first = {
        bit: value == "1"
        for net in module["netnames"].values()
        for bit, value in zip(net["bits"], net["attributes"].get("init", "")[::-1], strict=False)
        if value in "01"
    }
    made = []
    for form, wires in states:
        of, levels, value = form.groups()
        clock, *active = levels

        def level(pin: str, letter: str, wires: dict = wires) -> int:
            return values[wires[pin]] if letter == "P" else ~values[wires[pin]]

        set_, clear = 0, 0
        if of == "ALDFF":
            load, loaded = level("L", active[0]), values[wires["AD"]]
            set_, clear = load & loaded, load & ~loaded
        elif of.endswith("SR"):
            set_, clear = level("S", active[0]), level("R", active[1])
        elif active:
            reset = level("R", active[0])
            set_, clear = (reset, 0) if value == "1" else (0, reset)
        latch = of.startswith("DLATCH")
        controls = [table(word) for word in (level("E" if latch else "C", clock), set_, clear)]
        if None in controls:
            raise SynthesisError(f"{kind} has a clock or reset of too many inputs")
        made.append(State(function(wires["D"]), *controls, latch, first.get(wires["Q"])))
    outputs = {
        pin: function(bit)
        for name, port in module["ports"].items()
        if port["direction"] == "output"
        for pin, bit in zip(pins(name, len(port["bits"])), port["bits"], strict=True)
    }
    return Model(outputs, made, [])
