# SPDX-License-Identifier: Apache-2.0
"""Proves by SAT that a mapped netlist computes what its RTL computes.

Registers are cut: the output of each becomes an input of a combinational circuit, and what drives
it (next state, clock, reset, the value that reset loads) becomes outputs. A register of the RTL and
one of the netlist that share a name share their input. If all outputs are equal for all inputs,
then RTL and netlist do the same from every state that both are in, for ever; this holds however the
pairs were found. A register without a pair is free to hold anything, and one that is constant in
the netlist is proved to be that. Bits that the RTL leaves undefined are 0.
"""

import dataclasses
import importlib.util
import json
import pathlib
import re
import subprocess
from collections.abc import Callable, Iterator

from maeslant.synth import design, yosys
from maeslant.synth.liberty import Library
from maeslant.synth.report import Report, SynthesisError

# Yosys' passes from any cells to gates and flip-flops.
GATES = [
    "proc",
    "flatten",
    "memory_map",
    "opt_expr",
    "opt_clean",
    "dffunmap",
    "techmap",
    "simplemap",
    "opt_expr",
    "opt_merge",  # Yosys makes two flip-flops of a cell whose both outputs are used
    "opt_clean",
    "setundef -undriven -zero",
]
OPTIMIZED = ("proc", "flatten", "opt -full", "memory_map", "opt -full")
# Functional models of the cells of FPGAs.
MODELS = {"xc7": "+/xilinx/cells_sim.v", "ecp5": "+/ecp5/cells_sim.v"}
# Functions of Yosys' gates: covers in BLIF, of the inputs A, B, S.
COVERS = {
    "$_BUF_": "1 1",
    "$_NOT_": "0 1",
    "$_AND_": "11 1",
    "$_NAND_": "11 0",
    "$_OR_": "00 0",
    "$_NOR_": "00 1",
    "$_XOR_": "01 1\n10 1",
    "$_XNOR_": "00 1\n11 1",
    "$_ANDNOT_": "10 1",
    "$_ORNOT_": "01 0",
    "$_MUX_": "1-0 1\n-11 1",
}
PINS = ("next state", "clock", "reset", "reset value")
CONSTANTS = ("0", "1", "x")
FLIP_FLOP = re.compile(r"\$_DFF_([PN])(?:([PN])([01]))?_")
LOADED = re.compile(r"\$_ALDFF_([PN])([PN])_")
SECONDS = 1200
CONFLICTS = 1_000_000  # of one comparison


@dataclasses.dataclass(frozen=True)
class Register:
    """Describes a flip-flop of one bit by the nets at its pins.

    ``drives``: data, clock, reset and the value that reset loads, each with true if inverted.
    """

    q: object
    drives: tuple[tuple[object, bool], ...]


@dataclasses.dataclass(frozen=True)
class Circuit:
    """Holds a flat netlist of gates and flip-flops as Yosys writes it in JSON."""

    module: dict

    def registers(self) -> dict[object, Register]:
        """Returns the flip-flops of the circuit by the nets that they drive."""
        found = {}
        for kind, pins in self._cells():
            data, reset, value = (pins.get("D", ["0"])[0], False), ("0", False), ("0", False)
            if flip_flop := FLIP_FLOP.fullmatch(kind):
                if flip_flop[2]:
                    reset, value = (pins["R"][0], flip_flop[2] == "N"), (flip_flop[3], False)
            elif flip_flop := LOADED.fullmatch(kind):
                reset, value = (pins["L"][0], flip_flop[2] == "N"), (pins["AD"][0], False)
            elif kind in COVERS:
                continue
            else:
                raise SynthesisError(f"a netlist with a cell {kind} cannot be proved")
            clock = (pins["C"][0], flip_flop[1] == "N")
            found[pins["Q"][0]] = Register(pins["Q"][0], (data, clock, reset, value))
        return found

    def _cells(self) -> Iterator[tuple[str, dict]]:
        """Yields the circuit's cells as types with nets by pin."""
        for cell in self.module["cells"].values():
            if cell["type"] != "$scopeinfo":
                yield cell["type"], cell["connections"]

    def names(self) -> Iterator[tuple[str, object]]:
        """Yields the circuit's named nets, bit by bit."""
        for name, net in self.module["netnames"].items():
            for i, bit in enumerate(net["bits"]):
                yield name if len(net["bits"]) == 1 else f"{name}[{i + net.get('offset', 0)}]", bit

    def ports(self, direction: str) -> dict[str, object]:
        """Returns the nets of the circuit's input or output ports by name, bit by bit."""
        return {
            f"{name}[{i}]": bit
            for name, port in self.module["ports"].items()
            if port["direction"] == direction
            for i, bit in enumerate(port["bits"])
        }

    def blif(
        self,
        inputs: dict[str, list],
        outputs: dict[str, tuple[object, bool]],
        constants: dict[object, str],
    ) -> str:
        """Returns the circuit's gates as BLIF.

        ``inputs`` drive nets (none, one or more); ``outputs`` read nets, with true inverted;
        ``constants``: nets that are constant.
        """
        lines = [".model cut", ".inputs " + " ".join(inputs), ".outputs " + " ".join(outputs)]
        lines += [".names n0", ".names n1\n1", ".names nx"]
        lines += [f".names n{bit}\n{value}" for bit, value in constants.items()]
        lines += [f".names {name} n{bit}\n1 1" for name, bits in inputs.items() for bit in bits]
        for kind, pins in self._cells():
            if kind in COVERS:
                given = " ".join(f"n{pins[pin][0]}" for pin in "ABS" if pin in pins)
                lines.append(f".names {given} n{pins['Y'][0]}\n{COVERS[kind]}")
        for name, (bit, inverted) in outputs.items():
            lines.append(f".names n{bit} {name}\n{'0' if inverted else '1'} 1")
        return "\n".join([*lines, ".end", ""])


def prove(
    report: Report, library: Library | None, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """Proves that a report's netlist computes what its RTL computes; returns what was compared.

    ``library``: of the netlist's cells; None for FPGAs. Raises SynthesisError where they differ,
    and where ABC comes to no end.
    """
    netlist = report.unpack(work)
    what = design.find(report.name, report.parameters)
    read = [what.read(report.recipe["flatten"] and "kept" not in report.recipe)]
    tell("reading RTL and netlist")
    rtl = _circuit(read, what.top, work / "rtl")
    hints = _circuit(read, what.top, work / "hints", OPTIMIZED)
    gates = mapped(netlist, what.top, report.target, library)
    tell("comparing")
    return compare(rtl, gates, hints, work)


def mapped(netlist: pathlib.Path, top: str, target: str, library: Library | None) -> Circuit:
    """Reads a mapped netlist as gates and flip-flops."""
    models = f"read_verilog {MODELS[target]}" if library is None else _cells(library)
    return _circuit([models, f"read_verilog {netlist}"], top, netlist.with_name("netlist"))


def _cells(library: Library) -> str:
    """Returns the Yosys command that reads functional models of standard cells."""
    return f"read_liberty -ignore_miss_func {library.path}"


def _circuit(read: list[str], top: str, stem: pathlib.Path, more: tuple[str, ...] = ()) -> Circuit:
    """Runs Yosys passes that read a design; returns it as gates and flip-flops."""
    out = stem.with_suffix(".json")
    passes = [*read, f"hierarchy -check -top {top}", *more, *GATES, f"write_json {out}"]
    yosys.run(passes, stem.with_suffix(".log"))
    return Circuit(json.loads(out.read_text())["modules"][top])


def pairs(rtl: Circuit, netlist: Circuit, hints: Circuit) -> dict[object, object]:
    """Pairs registers of RTL and of a netlist that share a name, by the nets that they drive.

    ``hints``: the RTL after optimization, where registers that always hold the same are one net and
    share all names. A register that is constant there is paired with that.
    """
    ours, theirs = rtl.registers(), netlist.registers()
    known = {name: bit for name, bit in netlist.names() if bit in theirs}
    alike = {bit: known[name] for name, bit in hints.names() if name in known}
    alike |= {bit: bit for bit in CONSTANTS}
    known = {name: alike[bit] for name, bit in hints.names() if bit in alike} | known
    return {bit: known[name] for name, bit in rtl.names() if bit in ours and name in known}


def compare(
    rtl: Circuit, netlist: Circuit, hints: Circuit, work: pathlib.Path
) -> dict[str, object]:
    """Proves that two circuits do the same; returns how many outputs and registers are equal."""
    miter = Miter(rtl, netlist, hints)
    for side, text in zip(("rtl", "netlist"), miter.texts(), strict=True):
        (work / f"{side}.blif").write_text(text)
    said = _abc(f"cec -T {SECONDS} -C {CONFLICTS} rtl.blif netlist.blif", work)
    if not re.search(r"(?m)^Networks are equivalent", said):
        if differ := [miter.names[key] for key in re.findall(r"(?m)^Output (o\d+):", said)]:
            raise SynthesisError(f"the netlist differs from its RTL: {', '.join(differ)}")
        raise SynthesisError(f"ABC cannot tell if the netlist is equal to its RTL: {said[-300:]}")
    return {
        "by": "SAT (ABC cec)",
        "outputs": len(rtl.ports("output")),
        "registers": len(miter.pairs),
        "constant": sum(other in CONSTANTS for other in miter.pairs.values()),
    }


def _abc(command: str, work: pathlib.Path) -> str:
    """Runs a command of ABC in a folder; returns its output."""
    yosys.version()  # or it is missing
    package = importlib.util.find_spec("pyosys").submodule_search_locations[0]
    abc = pathlib.Path(package) / "yosys-abc"
    try:
        result = subprocess.run(
            [abc, "-q", command],
            cwd=work,
            capture_output=True,
            text=True,
            timeout=2 * SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SynthesisError(f"ABC did not end in {2 * SECONDS} s") from None
    return result.stdout + result.stderr


class Miter:
    """Builds two combinational circuits of RTL and netlist, with common inputs and outputs."""

    def __init__(self, rtl: Circuit, netlist: Circuit, hints: Circuit) -> None:
        self.sides = (rtl, netlist)
        self.names: dict[str, str] = {}  # of outputs
        self.inputs: tuple[dict, dict] = ({}, {})
        self.outputs: tuple[dict, dict] = ({}, {})
        self._ports()
        self.pairs = pairs(rtl, netlist, hints)
        self._registers()

    def texts(self) -> Iterator[str]:
        """Yields both circuits as BLIF."""
        constants = {own: other for own, other in self.pairs.items() if other in CONSTANTS}
        for i, side in enumerate(self.sides):
            yield side.blif(self.inputs[i], self.outputs[i], {} if i else constants)

    def _ports(self) -> None:
        """Pairs the ports of both circuits by name."""
        for way, add in (("input", self._input), ("output", self._output)):
            ours, theirs = (side.ports(way) for side in self.sides)
            if ours.keys() != theirs.keys():
                raise SynthesisError("the netlist's ports are not those of the RTL")
            for name, bit in ours.items():
                if way == "input":
                    add([bit], [theirs[name]])
                else:
                    add(name, (bit, False), (theirs[name], False))

    def _input(self, ours: list, theirs: list) -> None:
        """Adds an input that drives some nets of each circuit."""
        key = f"i{len(self.inputs[0])}"
        self.inputs[0][key], self.inputs[1][key] = ours, theirs

    def _output(self, name: str, ours: tuple, theirs: tuple) -> None:
        """Adds an output of both circuits."""
        key = f"o{len(self.outputs[0])}"
        self.names[key] = name
        self.outputs[0][key], self.outputs[1][key] = ours, theirs

    def _registers(self) -> None:
        """Cuts the registers of both circuits."""
        ours, theirs = (side.registers() for side in self.sides)
        called = {bit: name for name, bit in self.sides[0].names() if bit in ours}
        for bit in theirs:
            self._input([own for own, other in self.pairs.items() if other == bit], [bit])
        for bit in ours.keys() - self.pairs.keys():
            self._input([bit], [])
        for own, other in self.pairs.items():
            drives = ours[own].drives
            if other not in CONSTANTS:
                others = theirs[other].drives
            else:
                value = (other, False)
                others = (value, drives[1], drives[2], value)
            for what, mine, its in zip(PINS, drives, others, strict=True):
                self._output(f"{what} of {called[own]}", mine, its)
