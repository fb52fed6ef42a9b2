# SPDX-License-Identifier: Apache-2.0
"""What a netlist is fed with while its activity is counted: random data that keep it full.

Control is the same in all parallel runs, data are each run's own. By default every input is random
each clock, valid and ready are high.
"""

import re
from collections.abc import Callable

import numpy as np

from maeslant.synth.power.levels import ONES, Netlist

RESET = 4  # clocks
BLOCK = 128
ZERO = np.uint64(0)
RESETS = re.compile(r"(^|_)(rst_ni|rst_n|resetn|aresetn)$")  # all are active low
QUIET = re.compile(r"(^|_)(clk|rst|reset|clear|abort)(_|$)|resetn$")


class Bench:
    """Drives a netlist's ports clock by clock, and counts the blocks that come out."""

    says = "every input random each clock"

    def __init__(self, parameters: dict[str, int], design: Netlist) -> None:
        self.design, self.parameters = design, parameters
        self.random = np.random.default_rng(1)
        self.inputs = {n: b for n, (d, b) in design.ports.items() if d == "input"}
        self.blocks = 0
        self.latency: int | None = None  # clocks, of the first block
        values = {name: np.zeros(len(nets), np.uint64) for name, nets in self.inputs.items()}
        for _ in range(RESET):
            design.edge(values, count=False)
        self.values = values
        for name in self.inputs:
            if RESETS.search(name):
                self.set(name, ONES)

    def set(self, name: str, value: np.uint64) -> None:
        """All bits of an input, if there is such a port."""
        if name in self.inputs:
            self.values[name] = np.full(len(self.inputs[name]), value)

    def number(self, name: str, value: int, at: int = 0, width: int | None = None) -> None:
        """A number on bits of an input, the same in all runs."""
        for bit in range(width or len(self.inputs[name])):
            self.values[name][at + bit] = ONES if value >> bit & 1 else ZERO

    def fresh(self, name: str, at: int = 0, width: int | None = None) -> None:
        """New random bits on an input, each run's own."""
        width = len(self.inputs[name]) if width is None else width
        self.values[name][at : at + width] = self.random.integers(
            0, ONES, width, np.uint64, endpoint=True
        )

    def high(self, name: str) -> bool:
        """Whether an output's bit 0 is high, in run 0."""
        return bool(self.design.words[self.design.port(name)[0]] & np.uint64(1))

    def clock(self, count: bool) -> None:
        """Choose the inputs of a clock, let it pass, and see what came out."""
        self.drive()
        self.design.edge(self.values, count)
        if count:
            self.blocks += self.out()

    def drive(self) -> None:
        """The inputs of the next clock."""
        for name in self.inputs:
            if QUIET.search(name):
                continue
            if re.search(r"valid_i$|ready_i$", name):
                self.set(name, ONES)
            else:
                self.fresh(name)

    def out(self) -> int:
        """Blocks that came out in this clock, over all runs."""
        return 0


class Cipher(Bench):
    """mae_cipher_iter, _small, _pipe and _lanes: one key, then every lane busy with encryption."""

    says = "one AES-128 key, a fresh random block to encrypt whenever a lane takes one"

    def block(self, lane: int, width: int) -> None:
        """A lane's next block."""
        self.fresh("req_i", lane * width, BLOCK)

    def drive(self) -> None:
        """The key until it was taken, then blocks."""
        lanes = len(self.inputs["req_valid_i"])
        width = len(self.inputs["req_i"]) // lanes  # a request: context, bank, direction, block
        if not hasattr(self, "keyed"):
            self.keyed = False
            self.since = 0  # clocks since the first block was taken
            self.begun = False
            self.number("key_i", 0)
            self.fresh("key_i", 0, 256)
            self.set("key_valid_i", ONES)
            for lane in range(lanes):
                self.block(lane, width)
        elif not self.keyed and self.high("key_ready_o"):
            self.keyed = True
            self.set("key_valid_i", ZERO)
            self.set("req_valid_i", ONES)
        elif self.keyed:
            ready = self.design.words[self.design.port("req_ready_o")]
            for lane in range(lanes):
                if ready[lane] & np.uint64(1):
                    self.block(lane, width)

    def out(self) -> int:
        """Answers."""
        return int(np.bitwise_count(self.design.words[self.design.port("rsp_valid_o")]).sum())

    def clock(self, count: bool) -> None:
        """A clock; the first answer's is looked at."""
        super().clock(count)
        if self.keyed:
            self.begun = self.begun or self.high("req_ready_o")
            if self.latency is None and self.high("rsp_valid_o"):
                self.latency = self.since
            self.since += self.begun


class Counter(Cipher):
    """The same in counter mode, SP 800-38A §6.5: lanes take counter blocks in turn."""

    says = "consecutive counter blocks"
    BITS = 32  # as in SP 800-38D §6.2; those above are each run's own and stay

    def block(self, lane: int, width: int) -> None:
        """The next number; which of them is the first is random."""
        if not hasattr(self, "number_next"):
            self.number_next = int(self.random.integers(1 << self.BITS))
            self.started = set()
        if lane not in self.started:
            self.started.add(lane)
            self.fresh("req_i", lane * width, BLOCK)
        self.number("req_i", self.number_next, lane * width, self.BITS)
        self.number_next = (self.number_next + 1) % (1 << self.BITS)


BENCHES: dict[str, type[Bench]] = {
    "mae_cipher_iter": Cipher,
    "mae_cipher_min_area": Cipher,
    "mae_cipher_pipe": Cipher,
    "mae_cipher_lanes": Cipher,
}


def bench(top: str, parameters: dict[str, int], design: Netlist) -> Bench:
    """The stimulus of a module, reset and ready."""
    kind: Callable[..., Bench] = BENCHES.get(top, Bench)
    return kind(parameters, design)


def counter_mode(top: str) -> type[Bench] | None:
    """The stimulus of a cipher in counter mode; None for other modules."""
    return Counter if BENCHES.get(top) is Cipher else None
