# SPDX-License-Identifier: Apache-2.0
"""Proves by SAT that a mapped netlist computes what its RTL computes.

Registers are cut: the output of each becomes an input of a combinational circuit, and what drives
it (next state, clock, reset, the value that reset loads) becomes outputs. A register of the RTL and
one of the netlist that are a pair share their input. If all outputs are equal for all inputs, then
RTL and netlist do the same from every state that both are in, for ever; this holds however the
pairs were found. Registers of one side that share a pair are taken to begin equal, as a reset makes
them. A register without a pair is free to hold anything, and one that is paired with a constant is
taken to begin as that and proved to stay it. A state machine of the RTL whose states have other
codes in the netlist gets those, and each next state is proved to be one of them. Where a value of
the RTL depends on bits that the RTL leaves undefined, the netlist may have any: from then on
nothing is claimed. A netlist that relies on other states that are never reached is equal and not
proved.
"""

import importlib.util
import pathlib
import random
import re
import subprocess
from collections.abc import Callable, Iterator

from maeslant.synth import design, yosys
from maeslant.synth.liberty import Library
from maeslant.synth.netlist import cells, circuit, state_machines
from maeslant.synth.netlist.circuit import NEVER, Circuit
from maeslant.synth.netlist.correspondence import ALL, SAMPLES, Correspondence
from maeslant.synth.netlist.state_machines import Machine
from maeslant.synth.report import Report, SynthesisError, UnprovedError

PATTERN = re.compile(r"\b([if]\d+)=([01])")  # of a counterexample
PINS = {"data": "next state", "clock": "clock", "reset": "reset", "value": "reset value"}
SECONDS = 1200
CONFLICTS = 1_000_000  # of one comparison
COUNTEREXAMPLES = 50  # of one comparison, to divide classes by


def prove(
    report: Report, library: Library | None, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """Proves by ABC that a synthesized netlist equals its RTL; returns counts of compared points.

    ``library``: of the netlist's cells; None for FPGAs. Raises SynthesisError where they differ,
    and where ABC comes to no end.
    """
    netlist = report.unpack(work)
    what = design.find(report.name, report.parameters)
    tell("reading RTL and netlist")
    flatten = report.recipe["flatten"] and "kept" not in report.recipe
    rtl = circuit.read([what.read(flatten)], what.top, work / "rtl")
    mapped = read_netlist(netlist, what.top, report.target, library)
    logs = (report.folder / name for name in ("front.log", "map.log"))
    said = "".join(log.read_text() for log in logs if log.exists())
    encodings = state_machines.recoded(said)
    tell("comparing")
    return compare(rtl, mapped, work, encodings)


def read_netlist(netlist: pathlib.Path, top: str, target: str, library: Library | None) -> Circuit:
    """Reads a mapped netlist as a Circuit, with functional models in place of the cells."""
    passes = cells.to_prove(netlist, target, library)
    return circuit.read(passes, top, netlist.with_name("netlist"))


def compare(
    rtl: Circuit,
    netlist: Circuit,
    work: pathlib.Path,
    encodings: dict[str, list[str]] | None = None,
) -> dict[str, object]:
    """Proves two circuits equal; returns the numbers of compared outputs and registers.

    ``encodings``: codes of the states that have a register each in the netlist, by name of the
    RTL's register. "undefined", if any: compared values of the RTL that may depend on its undefined
    bits; "state machines": those whose states were proved to be among the codes.
    """
    rtl, machines = state_machines.one_hot(rtl, encodings or {})
    found = Correspondence(rtl, netlist, [machine.states for machine in machines])
    for _ in range(COUNTEREXAMPLES):
        miter = Miter(found, machines)
        for side, text in zip(("rtl", "netlist"), miter.texts(), strict=True):
            (work / f"{side}.blif").write_text(text)
        said = _abc(f"cec -T {SECONDS} -C {CONFLICTS} rtl.blif netlist.blif", work)
        differ = [miter.names[key] for key in re.findall(r"(?m)^Output (o\d+):", said)]
        pattern = {miter.called[key]: bit for key, bit in PATTERN.findall(said)}
        if not differ or not found.refine(pattern):
            break
    else:
        raise UnprovedError(f"{COUNTEREXAMPLES} counterexamples did not tell all registers apart")
    if differ:
        where = " (in a state that need not be reached)" if miter.groups else ""
        text = f"the netlist differs from its RTL{where}: {', '.join(differ)}"
        raise (UnprovedError if miter.groups else SynthesisError)(text)
    if not re.search(r"(?m)^Networks are equivalent", said):
        raise UnprovedError(f"ABC cannot tell if the netlist is equal to its RTL: {said[-300:]}")
    return {
        "by": "SAT (ABC cec)",
        "outputs": len(rtl.ports("output")),
        "registers": sum(len(ours) for ours, _ in miter.groups),
        "constant": len(miter.constants[0]),
    } | {
        name: len(some)
        for name, some in {"undefined": miter.undefined, "state machines": machines}.items()
        if some
    }


class Miter:
    """Builds circuits of RTL and netlist with common inputs and outputs, to compare by ABC."""

    def __init__(self, found: Correspondence, machines: list[Machine]) -> None:
        self.sides = rtl, netlist = found.sides
        self.names: dict[str, str] = {}  # of outputs
        self.called: dict[str, str] = {}  # ports and classes of inputs
        self.free: dict[str, str] = {}  # inputs in place of those that depend on others, "" if none
        self.chosen: list[str] = []  # lines of BLIF by which they do
        self.inputs: tuple[dict, dict] = ({}, {})
        self.outputs: tuple[dict, dict] = ({}, {})
        for way in ("input", "output"):
            ours, theirs = (side.ports(way) for side in self.sides)
            if ours.keys() != theirs.keys():
                raise SynthesisError("the netlist's ports are not those of the RTL")
            for name, bit in ours.items():
                if way == "input":
                    self._input(f"input {name}", [bit], [theirs[name]])
                else:
                    self._output(name, (bit, False), (theirs[name], False))
        self.classes = found.classes
        self.groups, self.constants = found.groups(), found.constants()
        self._registers()
        self._constants()
        for machine in machines:
            self._machine(machine)
        pairs = rtl.undefined
        self.undefined = {name for name, (bit, _) in self.outputs[0].items() if bit in pairs}
        self._sometimes_defined()

    def _sometimes_defined(self) -> None:
        """Raises SynthesisError if a compared value of the RTL seems never to be defined."""
        source = random.Random(0)
        words = {name: source.getrandbits(SAMPLES) for name in self.inputs[0]}
        given = {bit: words[name] for name, bits in self.inputs[0].items() for bit in bits}
        given |= {bit: circuit.CONSTANTS[value] for bit, value in self.constants[0].items()}
        values = circuit.CONSTANTS | given
        high = self.sides[0].evaluate_pairs(values)
        for name in sorted(self.undefined):
            bit = self.outputs[0][name][0]
            if high.get(bit, 0) & ~values[bit] & ALL == ALL:
                raise UnprovedError(f"the RTL leaves {self.names[name]} undefined")

    def texts(self) -> Iterator[str]:
        """Yields the RTL's circuit, then the netlist's, as text in the format BLIF.

        The netlist's outputs are its own, but those that the RTL leaves undefined are the RTL's.
        """
        free = (self.free.get(key, key) for key in self.inputs[0])
        head = [".model cut", f".inputs {' '.join(key for key in free if key)}"]
        head += [f".outputs {' '.join(self.outputs[0])}", *self.chosen]
        rtl, netlist = self.sides
        zero = rtl.blif(self.inputs[0], self.constants[0])
        for name, (bit, inverted) in self.outputs[0].items():
            zero.append(f".names n{bit} {name}\n{'0' if inverted else '1'} 1")
        yield "\n".join([*head, *zero, ".end", ""])
        lines = netlist.blif(self.inputs[1], self.constants[1], "m")
        if self.undefined:
            lines += rtl.blif(self.inputs[0], self.constants[0])
        for name, (bit, inverted) in self.outputs[1].items():
            is_one = "0" if inverted else "1"
            if name not in self.undefined:
                lines.append(f".names m{bit} {name}\n{is_one} 1")
                continue
            own, other = self.outputs[0][name]
            lines.append(
                f".names n{own} h{own} m{bit} {name}\n00{is_one} 1\n11{is_one} 1"
                + ("\n01- 1" if other else "")
            )
        yield "\n".join([*head, *lines, ".end", ""])

    def _input(self, name: str, ours: list, theirs: list) -> None:
        """Adds a common input that drives given nets of the RTL and of the netlist."""
        key = f"i{len(self.inputs[0])}"
        self.called[key] = name
        self.inputs[0][key], self.inputs[1][key] = ours, theirs

    def _output(self, name: str, ours: tuple, theirs: tuple) -> None:
        """Adds a common output that observes a net of the RTL and a net of the netlist."""
        key = f"o{len(self.outputs[0])}"
        self.names[key] = name
        self.outputs[0][key], self.outputs[1][key] = ours, theirs

    def _registers(self) -> None:
        """Replaces registers of RTL and netlist by inputs and outputs, to compare next states."""
        free = [
            s.registers.keys() - c.keys() for s, c in zip(self.sides, self.constants, strict=True)
        ]
        for group in self.groups:
            self._input(self.classes[0][group[0][0]], *group)
            free = [bits - set(some) for bits, some in zip(free, group, strict=True)]
        for bit in free[0]:
            self._input(self.classes[0][bit], [bit], [])
        for bit in free[1]:
            self._input(self.classes[1][bit], [], [bit])
        called = {bit: name for name, bit in self.sides[0].names().items()}
        for ours, theirs in self.groups:
            pairs = [(own, theirs[0]) for own in ours] + [(ours[0], bit) for bit in theirs[1:]]
            for own, other in pairs:
                registers = self.sides[0].registers[own], self.sides[1].registers[other]
                for pin, what in PINS.items():
                    both = (getattr(register, pin) for register in registers)
                    self._output(f"{what} of {called[own]}", *both)

    def _machine(self, machine: Machine) -> None:
        """Makes one of a machine's states 1; adds an output to prove that it has no other state."""
        known = ("1", False)
        self._output(f"next state of {machine.name}", (machine.known, False), known)
        if any(self.constants[0].get(bit) == "1" for bit in machine.states):
            return  # it is in that state for ever: none of the others may be made 1
        of = {bit: key for key, bits in self.inputs[0].items() for bit in bits}
        keys = dict.fromkeys(of[bit] for bit in machine.states if bit in of)
        others = [key for key in keys if key in self.free]
        left = [key for key in keys if key not in self.free]
        for key in left[:-1]:
            free = self.free[key] = f"f{key[1:]}"
            self.called[free] = self.called[key]
            self.chosen.append(f".names {' '.join((free, *others, key))}\n1{'0' * len(others)} 1")
            others.append(key)
        for key in left[-1:]:
            self.free[key] = ""
            none = f"{'0' * len(others)} " if others else ""
            self.chosen.append(f".names {' '.join((*others, key))}\n{none}1")

    def _constants(self) -> None:
        """Adds outputs to prove that registers assumed constant keep their values."""
        for i, (side, constants) in enumerate(zip(self.sides, self.constants, strict=True)):
            called = {bit: name for name, bit in side.names().items()}
            for bit, value in constants.items():
                register = side.registers[bit]
                for pin in ("data", "value") if register.reset != NEVER else ("data",):
                    both = [(value, False), (value, False)]
                    both[i] = getattr(register, pin)
                    self._output(f"constant {called[bit]}", *both)


def _abc(command: str, work: pathlib.Path) -> str:
    """Runs a command of the logic tool ABC in a folder; returns ABC's output."""
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
        raise UnprovedError(f"ABC did not end in {2 * SECONDS} s") from None
    return result.stdout + result.stderr
