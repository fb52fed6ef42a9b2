# SPDX-License-Identifier: Apache-2.0
"""Proves by SAT that a mapped netlist computes what its RTL computes.

Registers are cut: the output of each becomes an input of a combinational circuit, and what drives
it (next state, clock, reset, the value that reset loads) becomes outputs. A register of the RTL and
one of the netlist that are a pair share their input. If all outputs are equal for all inputs, then
RTL and netlist do the same from every state that both are in, for ever; this holds however the
pairs were found. A register without a pair is free to hold anything, and one that is paired with a
constant is proved to be that. Bits that the RTL leaves undefined are 0. A netlist that relies on
them, or on states that are never reached, is equal and not proved.
"""

import collections
import importlib.util
import pathlib
import re
import subprocess
from collections.abc import Callable, Iterator

from maeslant.synth import circuit, design, yosys
from maeslant.synth.circuit import CONSTANT_TRACES, NEVER, Circuit
from maeslant.synth.liberty import Library
from maeslant.synth.report import Report, SynthesisError

# Functional models of the cells of FPGAs.
MODELS = {"xc7": "+/xilinx/cells_sim.v", "ecp5": "-D NO_INCLUDES +/ecp5/cells_sim.v"}
PINS = {"data": "next state", "clock": "clock", "reset": "reset", "value": "reset value"}
SECONDS = 1200
CONFLICTS = 1_000_000  # of one comparison


def prove(
    report: Report, library: Library | None, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """Proves by ABC that a report's netlist equals its RTL; returns counts of what was compared.

    ``library``: of the netlist's cells; None for FPGAs. Raises SynthesisError where they differ,
    and where ABC comes to no end.
    """
    netlist = report.unpack(work)
    what = design.find(report.name, report.parameters)
    tell("reading RTL and netlist")
    flatten = report.recipe["flatten"] and "kept" not in report.recipe
    rtl = circuit.read([what.read(flatten)], what.top, work / "rtl")
    mapped = read_netlist(netlist, what.top, report.target, library)
    tell("comparing")
    return compare(rtl, mapped, work)


def read_netlist(netlist: pathlib.Path, top: str, target: str, library: Library | None) -> Circuit:
    """Returns a mapped netlist as a Circuit, built with functional models of its cells."""
    if library:
        models = f"read_liberty -ignore_miss_func {library.path}"
    else:
        models = f"read_verilog {MODELS[target]}"
    return circuit.read([models, f"read_verilog {netlist}"], top, netlist.with_name("netlist"))


def compare(rtl: Circuit, netlist: Circuit, work: pathlib.Path) -> dict[str, object]:
    """Proves that two circuits are equal; returns the numbers of compared outputs and registers."""
    miter = Miter(rtl, netlist)
    for side, text in zip(("rtl", "netlist"), miter.texts(), strict=True):
        (work / f"{side}.blif").write_text(text)
    said = _abc(f"cec -T {SECONDS} -C {CONFLICTS} rtl.blif netlist.blif", work)
    if not re.search(r"(?m)^Networks are equivalent", said):
        if differ := [miter.names[key] for key in re.findall(r"(?m)^Output (o\d+):", said)]:
            where = " (in a state that need not be reached)" if miter.groups else ""
            raise SynthesisError(f"the netlist differs from its RTL{where}: {', '.join(differ)}")
        raise SynthesisError(f"ABC cannot tell if the netlist is equal to its RTL: {said[-300:]}")
    return {
        "by": "SAT (ABC cec)",
        "outputs": len(rtl.ports("output")),
        "registers": sum(len(ours) for ours, _ in miter.groups),
        "constant": len(miter.constants[0]),
    }


class Correspondence:
    """Finds registers of RTL and of a netlist that have equal values, by the nets that they drive.

    ``groups``: registers of the RTL and those of the netlist. Those that share a name are a group;
    of the others, those that do the same in a simulation. ``constants``: of each side, others that
    keep their reset value there.
    """

    def __init__(self, rtl: Circuit, netlist: Circuit) -> None:
        self.sides = (rtl, netlist)
        self.groups: dict[object, tuple[list, list]] = collections.defaultdict(lambda: ([], []))
        self.constants: tuple[dict, dict] = ({}, {})
        named = {name: bit for name, bit in netlist.names().items() if bit in netlist.registers}
        ours = {bit: named[name] for name, bit in rtl.names().items() if name in named}
        for own, other in ours.items():
            if own in rtl.registers:
                self.groups[other][0].append(own)
                self.groups[other][1][:] = [other]
        if sum(len(group[0]) for group in self.groups.values()) < len(rtl.registers):
            self._simulate()
        self.groups = {name: group for name, group in self.groups.items() if all(group)}

    def _simulate(self) -> None:
        """Adds the groups of equal registers and the constant ones that a simulation finds."""
        for i, (side, constants) in enumerate(zip(self.sides, self.constants, strict=True)):
            cut = {bit: name for name, bit in side.ports("input").items()}
            cut |= {bit: f"register {name}" for name, g in self.groups.items() for bit in g[i]}
            trace = side.trace(cut, {})
            left = side.registers.keys() - cut.keys()
            fixed = {bit for bit in left if trace[bit] in CONSTANT_TRACES}
            constants |= {bit: CONSTANT_TRACES[trace[bit]] for bit in fixed}
            # Registers that do the same from reset need not from all states: compare that, too.
            cut |= {bit: f"trace {trace[bit]:x}" for bit in left - fixed}
            after = side.trace(cut, constants)
            for bit in left - fixed:
                self.groups[trace[bit], after[bit]][i].append(bit)


class Miter:
    """Builds circuits of RTL and netlist with common inputs and outputs, for ABC to compare."""

    def __init__(self, rtl: Circuit, netlist: Circuit) -> None:
        self.sides = (rtl, netlist)
        self.names: dict[str, str] = {}  # of outputs
        self.inputs: tuple[dict, dict] = ({}, {})
        self.outputs: tuple[dict, dict] = ({}, {})
        for way in ("input", "output"):
            ours, theirs = (side.ports(way) for side in self.sides)
            if ours.keys() != theirs.keys():
                raise SynthesisError("the netlist's ports are not those of the RTL")
            for name, bit in ours.items():
                if way == "input":
                    self._input([bit], [theirs[name]])
                else:
                    self._output(name, (bit, False), (theirs[name], False))
        found = Correspondence(rtl, netlist)
        self.groups, self.constants = list(found.groups.values()), found.constants
        self._registers()
        self._constants()

    def texts(self) -> Iterator[str]:
        """Yields the text of the RTL's circuit and of the netlist's, in the format BLIF."""
        for side, inputs, outputs, constants in zip(
            self.sides, self.inputs, self.outputs, self.constants, strict=True
        ):
            yield side.blif(inputs, outputs, constants)

    def _input(self, ours: list, theirs: list) -> None:
        """Adds a common input that drives some nets of the RTL and of the netlist."""
        key = f"i{len(self.inputs[0])}"
        self.inputs[0][key], self.inputs[1][key] = ours, theirs

    def _output(self, name: str, ours: tuple, theirs: tuple) -> None:
        """Adds a common output that reads a net of the RTL and one of the netlist."""
        key = f"o{len(self.outputs[0])}"
        self.names[key] = name
        self.outputs[0][key], self.outputs[1][key] = ours, theirs

    def _registers(self) -> None:
        """Replaces the registers of RTL and netlist by inputs and outputs."""
        free = [
            s.registers.keys() - c.keys() for s, c in zip(self.sides, self.constants, strict=True)
        ]
        for group in self.groups:
            self._input(*group)
            free = [bits - set(some) for bits, some in zip(free, group, strict=True)]
        for bit in free[0]:
            self._input([bit], [])
        for bit in free[1]:
            self._input([], [bit])
        called = {bit: name for name, bit in self.sides[0].names().items()}
        for ours, theirs in self.groups:
            pairs = [(own, theirs[0]) for own in ours] + [(ours[0], bit) for bit in theirs[1:]]
            for own, other in pairs:
                registers = self.sides[0].registers[own], self.sides[1].registers[other]
                for pin, what in PINS.items():
                    both = (getattr(register, pin) for register in registers)
                    self._output(f"{what} of {called[own]}", *both)

    def _constants(self) -> None:
        """Adds outputs that prove that registers found constant keep their values."""
        for i, (side, constants) in enumerate(zip(self.sides, self.constants, strict=True)):
            called = {bit: name for name, bit in side.names().items()}
            for bit, value in constants.items():
                register = side.registers[bit]
                for pin in ("data", "value") if register.reset != NEVER else ("data",):
                    both = [(value, False), (value, False)]
                    both[i] = getattr(register, pin)
                    self._output(f"constant {called[bit]}", *both)


def _abc(command: str, work: pathlib.Path) -> str:
    """Runs a command of the program ABC in a folder; returns its output."""
    yosys.version()  # or an error that says how to get it
    package = importlib.util.find_spec("pyosys").submodule_search_locations[0]
    try:
        result = subprocess.run(
            [pathlib.Path(package) / "yosys-abc", "-q", command],
            cwd=work,
            capture_output=True,
            text=True,
            timeout=2 * SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SynthesisError(f"ABC did not end in {2 * SECONDS} s") from None
    return result.stdout + result.stderr
