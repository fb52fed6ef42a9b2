# SPDX-License-Identifier: Apache-2.0
"""Generates random full-load stimulus for a netlist, to count its switching activity.

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
        """Sets all bits of a netlist's input, if the port exists."""
        if name in self.inputs:
            self.values[name] = np.full(len(self.inputs[name]), value)

    def number(self, name: str, value: int, at: int = 0, width: int | None = None) -> None:
        """Sets bits of a netlist's input to a number, equal in all parallel runs."""
        for bit in range(width or len(self.inputs[name])):
            self.values[name][at + bit] = ONES if value >> bit & 1 else ZERO

    def fresh(self, name: str, at: int = 0, width: int | None = None) -> None:
        """Sets bits of a netlist's input to random values, different in each parallel run."""
        width = len(self.inputs[name]) if width is None else width
        self.values[name][at : at + width] = self.random.integers(
            0, ONES, width, np.uint64, endpoint=True
        )

    def high(self, name: str) -> bool:
        """Returns true if bit 0 of a netlist's output is high in the first run."""
        return bool(self.design.words[self.design.port(name)[0]] & np.uint64(1))

    def clock(self, count: bool) -> None:
        """Simulates one clock of a netlist with new inputs and counts its finished blocks."""
        self.drive()
        self.design.edge(self.values, count)
        if count:
            self.blocks += self.out()

    def drive(self) -> None:
        """Drives random data on the netlist's inputs for the next clock."""
        for name in self.inputs:
            if QUIET.search(name):
                continue
            if re.search(r"valid_i$|ready_i$", name):
                self.set(name, ONES)
            else:
                self.fresh(name)

    def out(self) -> int:
        """Returns the number of blocks that a netlist finished in one clock, over all runs."""
        return 0


class Cipher(Bench):
    """Drives a cipher core with one key, then keeps every lane busy with encryption."""

    says = "one AES-128 key, a fresh random block to encrypt whenever a lane takes one"

    def block(self, lane: int, width: int) -> None:
        """Drives a random AES block on a lane of a cipher netlist."""
        self.fresh("req_i", lane * width, BLOCK)

    def drive(self) -> None:
        """Drives a key into a cipher netlist until accepted, then a block into each lane."""
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
        """Returns the number of blocks that a cipher netlist finished in one clock."""
        return int(np.bitwise_count(self.design.words[self.design.port("rsp_valid_o")]).sum())

    def clock(self, count: bool) -> None:
        """Simulates a clock of a cipher netlist; measures the latency of the first block."""
        super().clock(count)
        if self.keyed:
            self.begun = self.begun or self.high("req_ready_o")
            if self.latency is None and self.high("rsp_valid_o"):
                self.latency = self.since
            self.since += self.begun


class Counter(Cipher):
    """Drives a cipher core in counter mode (SP 800-38A §6.5): lanes take blocks in turn."""

    says = "consecutive counter blocks"
    BITS = 32  # as in SP 800-38D §6.2; those above are each run's own and stay

    def block(self, lane: int, width: int) -> None:
        """Drives the next counter block on a lane of a cipher netlist."""
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
    """Creates the stimulus of a module for power estimation, out of reset."""
    kind: Callable[..., Bench] = BENCHES.get(top, Bench)
    return kind(parameters, design)


def counter_mode(top: str) -> type[Bench] | None:
    """Returns the counter-mode stimulus of a cipher core; None for other modules."""
    return Counter if BENCHES.get(top) is Cipher else None
