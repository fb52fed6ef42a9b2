# SPDX-License-Identifier: Apache-2.0
"""Finds which registers of RTL and netlist always have equal values."""

import collections
import random

from maeslant.synth.netlist import circuit
from maeslant.synth.netlist.circuit import NEVER, Circuit

SAMPLES = 1024  # random values of the inputs, at a time
ALL = (1 << SAMPLES) - 1
FIXED = {"0": 0, "1": ALL}  # classes of registers that are constant
SHARES = [128, 128, 64, 192, 16, 240, 2, 254]  # of 256 random bits, those that are ones
NEAR = [0, 2, 8, 32]  # of 256 bits near a counterexample, those that differ from it
QUIET = 5  # random states in a row that divide no class, to end with


class Correspondence:
    """Holds the classes of registers of RTL and netlist that are assumed to be equal.

    Registers that share a name are a class. All others are assumed to keep their reset values, then
    are told apart by what random states that accord with the assumption lead to, until no class is
    divided any more: how many clocks away from reset a state is makes no difference. Where random
    states do not tell two registers apart, the counterexamples of a comparison do.

    ``machines``: of the RTL's registers, sets one of which is 1.
    """

    def __init__(self, rtl: Circuit, netlist: Circuit, machines: list[list[object]]) -> None:
        self.sides, self.machines = (rtl, netlist), machines
        self.classes: tuple[dict, dict] = ({}, {})  # names, by register; "0" and "1" are constant
        self.made = 0
        self.source = random.Random(0)
        named = {name: bit for name, bit in netlist.names().items() if bit in netlist.registers}
        for name, own in rtl.names().items():
            if name in named and own in rtl.registers:
                self.classes[0][own] = self.classes[1][named[name]] = f"net {named[name]}"
        self.named = {*self.classes[0].values()}
        left = len(rtl.registers) - len(self.classes[0])
        for side, classes in zip(self.sides, self.classes, strict=True):
            for bit in side.registers.keys() - classes.keys():
                classes[bit] = "1" if side.registers[bit].value[0] == "1" else "0"
        if left:
            self._settle()
            self.refine()

    def groups(self) -> list[tuple[list, list]]:
        """Returns the classes of registers on both sides, as lists of the RTL's, the netlist's."""
        found: dict[str, tuple[list, list]] = collections.defaultdict(lambda: ([], []))
        for i, side in enumerate(self.sides):
            for bit in side.registers:
                found[self.classes[i][bit]][i].append(bit)
        return [both for name, both in found.items() if all(both) and name not in FIXED]

    def constants(self) -> tuple[dict, dict]:
        """Returns the registers of each side that are assumed constant, with their values."""
        rtl, netlist = ({bit: n for bit, n in c.items() if n in FIXED} for c in self.classes)
        return rtl, netlist

    def refine(self, pattern: dict[str, str] | None = None) -> bool:
        """Divides classes until random states divide none any more; returns false if none was.

        ``pattern``: values of ports and classes near which to begin, by name.
        """
        made, quiet, near = self.made, 0, pattern or {}
        while quiet < QUIET:
            before = self.made
            self._divide(self._words(near))
            near, quiet = {}, 0 if self.made > before else quiet + 1
            if quiet == QUIET and self.made == made and pattern is not None:
                self._divide(self._words(pattern), apart=True)
                quiet = 0 if self.made > made else quiet
        return self.made > made

    def _settle(self) -> None:
        """Assumes registers without a reset to be 1 if they become that from random states."""
        for i, classes in enumerate(self.classes):
            registers = self.sides[i].registers
            free = {b for b, n in classes.items() if n == "0" and registers[b].reset == NEVER}
            while free:
                classes.update((bit, f"free {bit}") for bit in free)
                after = self._after(self._words({}), i)
                classes.update((bit, "0") for bit in free)
                always = {bit: n for bit in free for n in FIXED if after[bit][0] == FIXED[n]}
                classes.update(always)
                if "1" not in always.values():
                    break
                free -= always.keys()

    def _words(self, pattern: dict[str, str]) -> dict[str, int]:
        """Returns a word of random values for each input port and class, by name.

        Parts of the words have more ones, or zeros, or are near the values of ``pattern``.
        """
        names = [f"input {name}" for name in self.sides[0].ports("input")]
        names += dict.fromkeys(name for c in self.classes for name in c.values())
        shares = [self.source.sample(SHARES, len(SHARES)) for _ in "01"]
        words = {name: self._word(shares[name.startswith("input ")]) for name in names}
        for name, value in pattern.items():
            noise = self._word(NEAR)
            words[name] = noise if value == "0" else noise ^ ALL
        words |= FIXED
        chosen = {*FIXED}
        for machine in self.machines:
            states = [self.classes[0][bit] for bit in machine]
            self._choose(words, states, chosen, pattern)
        return words

    def _choose(
        self, words: dict[str, int], states: list[str], chosen: set[str], pattern: dict[str, str]
    ) -> None:
        """Changes the words of a machine's states so that one of them is 1 at a time.

        ``chosen``: classes that stay as they are; these are added.
        """
        free = ALL
        for name in {*states} & chosen:
            free &= ~words[name]
        left = [name for name in dict.fromkeys(states) if name not in chosen]
        if not pattern:
            self.source.shuffle(left)
        for i, name in enumerate(left, 1):
            if i == len(left):
                words[name] = free
            elif name in pattern:
                words[name] &= free
            else:
                words[name] = self._word([256 // (len(left) - i + 1)]) & free
            free &= ~words[name]
        chosen.update(left)

    def _word(self, shares: list[int]) -> int:
        """Returns random bits, part by part; ``shares``: of 256 bits in a part, how many are 1."""
        word, size = 0, SAMPLES // len(shares)
        for share in shares:
            part = (1 << size) - 1 if share == 256 else 0
            for i in range(8):
                new = self.source.getrandbits(size)
                part = part | new if share >> i & 1 else part & new
            word = word << size | part
        return word

    def _after(self, words: dict[str, int], i: int) -> dict[object, tuple]:
        """Returns what drives each register's pins, as words, for given values of all inputs.

        The last word is 1 where the next state is undefined.
        """
        side = self.sides[i]
        values = {bit: words[f"input {name}"] for name, bit in side.ports("input").items()}
        values |= circuit.CONSTANTS | {bit: words[name] for bit, name in self.classes[i].items()}
        if i:
            high = {}
            side.evaluate(values)
        else:
            high = side.evaluate_pairs(values)

        def word(pin: tuple[object, bool]) -> int:
            return (values[pin[0]] ^ -pin[1]) & ALL

        return {
            bit: (
                *(word(pin) for pin in (kept.data, kept.clock, kept.reset, kept.value)),
                (high.get(kept.data[0], 0) & ~values[kept.data[0]]) & ALL,
            )
            for bit, kept in side.registers.items()
        }

    def _divide(self, words: dict[str, int], apart: bool = False) -> None:
        """Divides the classes whose registers do not all go to the same value from given ones.

        ``apart``: even those that registers whose next state is undefined keep together.
        """
        members: dict[str, list] = collections.defaultdict(list)
        for i in (0, 1):
            for bit, (*pins, unknown) in self._after(words, i).items():
                if (name := self.classes[i][bit]) not in self.named:
                    members[name].append((i, bit, tuple(pins), unknown))
        for name, some in members.items():
            self._divide_class(name, some, FIXED.get(name), apart)

    def _divide_class(
        self, name: str, some: list[tuple], constant: int | None, apart: bool
    ) -> None:
        """Divides a class by what drives its registers.

        ``some``: (side, register, pins' words, patterns in which the next state is undefined).
        There it may be anything: such a register goes with those that do the same elsewhere, and
        keeps them together if they are of several kinds, unless ``apart``. ``constant``: the
        class's value.
        """
        parts: dict[tuple, list] = {(constant,): []}  # registers, by what drives them
        masks: dict[int, list] = collections.defaultdict(list)
        for i, bit, pins, unknown in some:
            if unknown:
                masks[unknown].append((bit, pins))
            else:
                kind = pins if pins[0] != constant else (constant,)
                parts.setdefault(kind, []).append((i, bit))
        root = {part: part for part in parts}

        def find(part: tuple) -> tuple:
            while root[part] != part:
                part = root[part]
            return part

        defined = [part for part in parts if part[0] is not None]
        for unknown, registers in masks.items():
            fitting = collections.defaultdict(list)
            for part in defined:
                fitting[(part[0] & ~unknown, *part[1:])].append(part)
            for bit, (data, *others) in registers:
                known = data & ~unknown
                fit = [*fitting[(known, *others)], *fitting[(known,)]] or [(data, *others, unknown)]
                root.setdefault(fit[0], fit[0])
                parts.setdefault(fit[0], []).append((0, bit))
                for part in () if apart else fit[1:]:
                    constant_first = sorted((find(fit[0]), find(part)), key=len)
                    root[constant_first[1]] = constant_first[0]
        whole: dict[tuple, list] = collections.defaultdict(list)
        for part, bits in parts.items():
            whole[find(part)] += bits
        stays = (constant,) if constant is not None else next(p for p, b in whole.items() if b)
        for bits in (bits for part, bits in whole.items() if bits and part != stays):
            self.made += 1
            for i, bit in bits:
                self.classes[i][bit] = f"class {self.made}"
