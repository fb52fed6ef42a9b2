# SPDX-License-Identifier: Apache-2.0
"""Proves by SAT that a mapped netlist computes what its RTL computes.

Registers are cut: the output of each becomes an input of a combinational circuit, and what drives
it (next state, clock, reset, the value that reset loads) becomes outputs. A register of the RTL and
one of the netlist that are a pair share their input. If all outputs are equal for all inputs, then
RTL and netlist do the same from every state that both are in, for ever; this holds however the
pairs were found. A register without a pair is free to hold anything, and one that is paired with a
constant is proved to be that. Where a value of the RTL changes with the bits that the RTL leaves
undefined, the netlist may have any: from then on nothing is claimed. A netlist that relies on
states that are never reached is equal and not proved.
"""

import collections
import importlib.util
import pathlib
import random
import re
import subprocess
from collections.abc import Callable, Iterator

from maeslant.synth import circuit, design, yosys
from maeslant.synth.circuit import CONSTANT_TRACES, NEVER, Circuit
from maeslant.synth.liberty import Library
from maeslant.synth.report import Report, SynthesisError, UnprovedError

# Functional models of the cells of FPGAs.
MODELS = {
    "ecp5": "-D NO_INCLUDES +/ecp5/cells_sim.v",
    "gatemate": "+/gatemate/cells_sim.v",
    "gw5a": "+/gowin/cells_sim.v",
    "xc7": "+/xilinx/cells_sim.v",
}
PINS = {"data": "next state", "clock": "clock", "reset": "reset", "value": "reset value"}
SECONDS = 1200
CONFLICTS = 1_000_000  # of one comparison
SAMPLES = 1000  # random inputs, one of which has to make a value of the RTL defined


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
    tell("comparing")
    return compare(rtl, mapped, work)


def read_netlist(netlist: pathlib.Path, top: str, target: str, library: Library | None) -> Circuit:
    """Reads a mapped netlist as a Circuit, with functional models in place of the cells."""
    if library:
        models = f"read_liberty -ignore_miss_func {library.path}"
    else:
        models = f"read_verilog {MODELS[target]}"
    return circuit.read([models, f"read_verilog {netlist}"], top, netlist.with_name("netlist"))


def compare(rtl: Circuit, netlist: Circuit, work: pathlib.Path) -> dict[str, object]:
    """Proves two circuits equal; returns the numbers of compared outputs and registers.

    "undefined", if any: compared values of the RTL that may depend on its undefined bits.
    """
    miter = Miter(rtl, netlist)
    for side, text in zip(("rtl", "netlist"), miter.texts(), strict=True):
        (work / f"{side}.blif").write_text(text)
    said = _abc(f"cec -T {SECONDS} -C {CONFLICTS} rtl.blif netlist.blif", work)
    if not re.search(r"(?m)^Networks are equivalent", said):
        if differ := [miter.names[key] for key in re.findall(r"(?m)^Output (o\d+):", said)]:
            where = " (in a state that need not be reached)" if miter.groups else ""
            text = f"the netlist differs from its RTL{where}: {', '.join(differ)}"
            raise (UnprovedError if miter.groups else SynthesisError)(text)
        raise UnprovedError(f"ABC cannot tell if the netlist is equal to its RTL: {said[-300:]}")
    return {
        "by": "SAT (ABC cec)",
        "outputs": len(rtl.ports("output")),
        "registers": sum(len(ours) for ours, _ in miter.groups),
        "constant": len(miter.constants[0]),
    } | ({"undefined": len(miter.undefined)} if miter.undefined else {})


class Correspondence:
    """Pairs registers of RTL and netlist that always have equal values, by name or simulation.

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
        """Finds by simulation which registers seem equal and which seem constant; records both."""
        cuts, traces = [], []
        for i, (side, constants) in enumerate(zip(self.sides, self.constants, strict=True)):
            cut = {bit: name for name, bit in side.ports("input").items()}
            cut |= {bit: f"register {name}" for name, g in self.groups.items() for bit in g[i]}
            trace = side.trace(cut, {})
            cuts.append({**cut})
            traces.append(trace)
            left = side.registers.keys() - cut.keys()
            fixed = {bit for bit in left if trace[bit] in CONSTANT_TRACES}
            constants |= {bit: CONSTANT_TRACES[trace[bit]] for bit in fixed}
            # Registers that do the same from reset need not from all states: compare that, too.
            cut |= {bit: f"trace {trace[bit]:x}" for bit in left - fixed}
            after = side.trace(cut, constants)
            for bit in left - fixed:
                self.groups[trace[bit], after[bit]][i].append(bit)
        if len(self.sides[0].undefined()) > 1:
            self._undefined(cuts[0], *traces)

    def _undefined(self, cut: dict, rtl: dict[object, int], netlist: dict[object, int]) -> None:
        """Pairs registers that do the same as long as no undefined bit has reached one.

        ``cut``: the RTL's nets that are random; ``rtl``, ``netlist``: traces of registers.
        """
        other = self.sides[0].trace(cut, {}, "1")
        alone = [
            {bit for group in self.groups.values() if not group[1 - i] for bit in group[i]}
            for i in (0, 1)
        ]
        differ = 0
        for bit in alone[0]:
            differ |= rtl[bit] ^ other[bit]
        usable = circuit.before(differ)
        pairs: dict[object, tuple[list, list]] = collections.defaultdict(lambda: ([], []))
        for i, trace in enumerate((rtl, netlist)):
            for bit in sorted(alone[i]):
                pairs[trace[bit] & usable][i].append(bit)
        pairs = {key: pair for key, pair in pairs.items() if all(pair)}
        taken = [{bit for pair in pairs.values() for bit in pair[i]} for i in (0, 1)]
        for group in self.groups.values():
            for bits, some in zip(group, taken, strict=True):
                bits[:] = [bit for bit in bits if bit not in some]
        self.groups |= {("undefined", key): pair for key, pair in pairs.items()}


class Miter:
    """Builds circuits of RTL and netlist with common inputs and outputs, to compare by ABC."""

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
        taken = rtl.undefined()
        self.undefined = {name for name, (bit, _) in self.outputs[0].items() if bit in taken}
        self._sometimes_defined()

    def _sometimes_defined(self) -> None:
        """Raises SynthesisError if a compared value of the RTL seems never to be defined."""
        source, found = random.Random(0), []
        words = {name: source.getrandbits(SAMPLES) for name in self.inputs[0]}
        given = {bit: words[name] for name, bits in self.inputs[0].items() for bit in bits}
        given |= {bit: circuit.CONSTANTS[value] for bit, value in self.constants[0].items()}
        for undefined in "01":
            found.append(circuit.CONSTANTS | {"x": circuit.CONSTANTS[undefined]} | given)
            self.sides[0].evaluate(found[-1])
        low, high = found
        for name in sorted(self.undefined):
            bit = self.outputs[0][name][0]
            if (low[bit] ^ high[bit]) & (1 << SAMPLES) - 1 == (1 << SAMPLES) - 1:
                raise UnprovedError(f"the RTL leaves {self.names[name]} undefined")

    def texts(self) -> Iterator[str]:
        """Yields the RTL's circuit, then the netlist's, as text in the format BLIF.

        The netlist's outputs are its own, but where the RTL's is another with undefined bits 1 than
        with undefined bits 0: those are the RTL's.
        """
        head = [".model cut", f".inputs {' '.join(self.inputs[0])}"]
        head.append(f".outputs {' '.join(self.outputs[0])}")
        rtl, netlist = self.sides
        zero = rtl.blif(self.inputs[0], self.constants[0])
        for name, (bit, inverted) in self.outputs[0].items():
            zero.append(f".names n{bit} {name}\n{'0' if inverted else '1'} 1")
        yield "\n".join([*head, *zero, ".end", ""])
        lines = netlist.blif(self.inputs[1], self.constants[1], "m")
        if self.undefined:
            lines += rtl.blif(self.inputs[0], self.constants[0])
            lines += rtl.blif(self.inputs[0], self.constants[0], "h", "1")
        for name, (bit, inverted) in self.outputs[1].items():
            is_one = "0" if inverted else "1"
            if name not in self.undefined:
                lines.append(f".names m{bit} {name}\n{is_one} 1")
                continue
            own, inverted = self.outputs[0][name]
            high, low = "01" if inverted else "10"
            lines.append(
                f".names n{own} h{own} m{bit} {name}\n{high}{low}- 1\n00{is_one} 1\n11{is_one} 1"
            )
        yield "\n".join([*head, *lines, ".end", ""])

    def _input(self, ours: list, theirs: list) -> None:
        """Adds a common input that drives given nets of the RTL and of the netlist."""
        key = f"i{len(self.inputs[0])}"
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
