# SPDX-License-Identifier: Apache-2.0
"""Reads a design as a flat circuit of gates and flip-flops, simulates it, writes it as BLIF."""

import collections
import dataclasses
import functools
import json
import pathlib
import re

from maeslant.synth import yosys
from maeslant.synth.report import UnprovedError

# Yosys' passes from any cells to gates and flip-flops.
PASSES = [
    "proc",
    "setattr -mod -unset keep_hierarchy *",
    "flatten",
    "memory_map",
    "opt_expr",
    "opt_merge",
    "opt_clean",
    "dffunmap",
    "techmap",
    "simplemap",
    "opt_expr",
    "opt_merge",  # Yosys makes two flip-flops of a cell both outputs of which are used
    "opt_clean",
    "setundef -undriven -undef",
]
# Yosys' gates of the inputs A, B, S: covers in BLIF, and functions of words.
GATES = {
    "$_BUF_": ("1 1", lambda a: a),
    "$_NOT_": ("0 1", lambda a: ~a),
    "$_AND_": ("11 1", lambda a, b: a & b),
    "$_NAND_": ("11 0", lambda a, b: ~(a & b)),
    "$_OR_": ("00 0", lambda a, b: a | b),
    "$_NOR_": ("00 1", lambda a, b: ~(a | b)),
    "$_XOR_": ("01 1\n10 1", lambda a, b: a ^ b),
    "$_XNOR_": ("00 1\n11 1", lambda a, b: ~(a ^ b)),
    "$_ANDNOT_": ("10 1", lambda a, b: a & ~b),
    "$_ORNOT_": ("01 0", lambda a, b: a | ~b),
    "$_MUX_": ("1-0 1\n-11 1", lambda a, b, s: a ^ ((a ^ b) & s)),
}
# Those gates where a net may be undefined: each net is a pair, 0 and 0, 1 and 1, or 0 and 1 for
# undefined. For both nets of the output: which of the inputs' nets (b or B of B), and the cover.
PAIRS = {
    "$_BUF_": (("a", "1 1"), ("A", "1 1")),
    "$_NOT_": (("A", "0 1"), ("a", "0 1")),
    "$_AND_": (("ab", "11 1"), ("AB", "11 1")),
    "$_NAND_": (("AB", "11 0"), ("ab", "11 0")),
    "$_OR_": (("ab", "00 0"), ("AB", "00 0")),
    "$_NOR_": (("AB", "00 1"), ("ab", "00 1")),
    "$_XOR_": (("aAbB", "1100 1\n0011 1"), ("aAbB", "0000 0\n1111 0")),
    "$_XNOR_": (("aAbB", "0000 1\n1111 1"), ("aAbB", "1100 0\n0011 0")),
    "$_ANDNOT_": (("aB", "10 1"), ("Ab", "10 1")),
    "$_ORNOT_": (("aB", "01 0"), ("Ab", "01 0")),
    "$_MUX_": (("absS", "-11- 1\n1--0 1\n11-- 1"), ("ABsS", "-1-1 1\n1-0- 1")),
}
FLIP_FLOP = re.compile(r"\$_DFF_([PN])(?:([PN])([01]))?_")
LOADED = re.compile(r"\$_ALDFF_([PN])([PN])_")
CONSTANTS = {"0": 0, "1": -1, "x": 0}
NEVER = ("0", False)  # a net, not inverted


@dataclasses.dataclass(frozen=True)
class Register:
    """Describes a flip-flop by the net at each pin, with true for an inverted pin."""

    data: tuple[object, bool]
    clock: tuple[object, bool]
    reset: tuple[object, bool] = NEVER  # asynchronous
    value: tuple[object, bool] = NEVER  # while reset is active


@dataclasses.dataclass(frozen=True)
class Circuit:
    """Holds a flat circuit of gates and flip-flops, read from a module in Yosys' JSON."""

    module: dict

    @functools.cached_property
    def registers(self) -> dict[object, Register]:
        """Returns the circuit's flip-flops, keyed by the nets that the flip-flops drive."""
        found = {}
        for cell in self.module["cells"].values():
            kind, pins = cell["type"], cell["connections"]
            if kind in GATES or kind == "$scopeinfo":
                continue
            pin = {name: bits[0] for name, bits in pins.items()}
            if kept := FLIP_FLOP.fullmatch(kind):
                more = ((pin["R"], kept[2] == "N"), (kept[3], False)) if kept[2] else ()
            elif kept := LOADED.fullmatch(kind):
                more = (pin["L"], kept[2] == "N"), (pin["AD"], False)
            else:
                raise UnprovedError(f"a circuit with a cell {kind} cannot be compared")
            if more and more[0] == ("1", True):
                more = ()  # its reset is tied to inactive
            found[pin["Q"]] = Register((pin["D"], False), (pin["C"], kept[1] == "N"), *more)
        return found

    @functools.cached_property
    def gates(self) -> list[tuple[str, list, object]]:
        """Returns the gates in topological order, as (type, input nets, output net)."""
        left, readers, ready = {}, collections.defaultdict(list), []
        cells = [cell for cell in self.module["cells"].values() if cell["type"] in GATES]
        made = {cell["connections"]["Y"][0] for cell in cells}
        for i, cell in enumerate(cells):
            given = [cell["connections"][pin][0] for pin in "ABS" if pin in cell["connections"]]
            cells[i] = (cell["type"], given, cell["connections"]["Y"][0])
            left[i] = len(made & set(given))
            for bit in made & set(given):
                readers[bit].append(i)
            if not left[i]:
                ready.append(i)
        for i in ready:
            for reader in readers[cells[i][2]]:
                left[reader] -= 1
                if not left[reader]:
                    ready.append(reader)
        if len(ready) < len(cells):
            raise UnprovedError("a circuit with a combinational loop cannot be compared")
        return [cells[i] for i in ready]

    def names(self) -> dict[str, object]:
        """Returns the circuit's nets by name, an entry per bit."""
        return {
            name if len(net["bits"]) == 1 else f"{name}[{i + net.get('offset', 0)}]": bit
            for name, net in self.module["netnames"].items()
            for i, bit in enumerate(net["bits"])
        }

    def ports(self, direction: str) -> dict[str, object]:
        """Returns the nets of the circuit's input or output ports by name, an entry per bit."""
        return {
            f"{name}[{i}]": bit
            for name, port in self.module["ports"].items()
            if port["direction"] == direction
            for i, bit in enumerate(port["bits"])
        }

    def evaluate(self, values: dict[object, int]) -> None:
        """Adds the outputs of all gates to the values of nets, as words of bits."""
        for kind, given, made in self.gates:
            values[made] = GATES[kind][1](*(values[bit] for bit in given))

    def evaluate_pairs(self, values: dict[object, int]) -> dict[object, int]:
        """Adds the outputs of all gates to the values of nets, 0 where they are undefined.

        Returns what is 1 there, of the nets that are undefined somewhere (PAIRS).
        """
        high = {"x": -1}
        for kind, given, made in self.gates:
            if high.keys().isdisjoint(given):
                values[made] = GATES[kind][1](*(values[bit] for bit in given))
                continue
            words = {name: values[bit] for name, bit in zip("abs", given, strict=False)}
            words |= {
                name.upper(): high.get(bit, values[bit])
                for name, bit in zip("abs", given, strict=False)
            }
            low, above = (_covered([words[n] for n in names], c) for names, c in PAIRS[kind])
            values[made] = low
            if low != above:
                high[made] = above
        return high

    @functools.cached_property
    def undefined(self) -> set[object]:
        """Returns the nets whose value may depend on an undefined bit (x), in the same clock."""
        found = {"x"}
        found.update(made for _, given, made in self.gates if not found.isdisjoint(given))
        return found

    def blif(
        self, inputs: dict[str, list], constants: dict[object, str], prefix: str = "n"
    ) -> list[str]:
        """Returns the circuit's gates as lines of BLIF; a net's name begins with ``prefix``.

        ``inputs`` drive nets (none, one or more); ``constants``: nets that are constant. The name
        of the second net of a pair (PAIRS) begins with "h"; where prefix is not "n" no net is
        undefined: x is 0.
        """
        fixed = {"0": "0", "1": "1", "x": "0"} | constants
        lines = [f".names {prefix}{bit}" + ("\n1" if v == "1" else "") for bit, v in fixed.items()]
        for name, bits in inputs.items():
            lines += [f".names {name} {prefix}{bit}\n1 1" for bit in bits]
        pairs = self.undefined if prefix == "n" else set()
        if pairs:
            lines.append(".names hx\n1")
        for kind, given, made in self.gates:
            if made not in pairs:
                pins = " ".join(f"{prefix}{bit}" for bit in (*given, made))
                lines.append(f".names {pins}\n{GATES[kind][0]}")
                continue
            nets = {name: f"n{bit}" for name, bit in zip("abs", given, strict=False)}
            nets |= {
                name.upper(): f"{'h' if bit in pairs else 'n'}{bit}"
                for name, bit in zip("abs", given, strict=False)
            }
            for net, (names, cover) in zip("nh", PAIRS[kind], strict=True):
                lines.append(f".names {' '.join(nets[n] for n in names)} {net}{made}\n{cover}")
        return lines


def _covered(words: list[int], cover: str) -> int:
    """Returns the value of a gate from its inputs', as words of bits; ``cover``: as in BLIF."""
    found = 0
    for row in cover.split("\n"):
        together = -1
        for word, value in zip(words, row, strict=False):
            if value != "-":
                together &= word if value == "1" else ~word
        found |= together
    return found if cover.endswith("1") else ~found


def read(passes: list[str], top: str, stem: pathlib.Path) -> Circuit:
    """Reads a design by Yosys passes; returns a flat Circuit of gates and flip-flops.

    ``stem``: of the files that are written.
    """
    out = stem.with_suffix(".json")
    passes = [*passes, f"hierarchy -top {top}", *PASSES, f"write_json {out}"]
    yosys.run(passes, stem.with_suffix(".log"))
    return Circuit(json.loads(out.read_text())["modules"][top])
