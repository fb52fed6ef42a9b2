# SPDX-License-Identifier: Apache-2.0
"""Generates random stimulus at full load for a netlist whose power is estimated.

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
    """Drives random inputs into a simulated netlist; counts the AES blocks at its outputs."""

    says = "every input random each clock"
    warm = 48  # clocks before transitions are counted

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
        """Sets all bits of a netlist's input to a value; ignores an absent input."""
        if name in self.inputs:
            self.values[name] = np.full(len(self.inputs[name]), value)

    def number(self, name: str, value: int, at: int = 0, width: int | None = None) -> None:
        """Sets bits of a netlist's input to a number, the same in all parallel runs."""
        for bit in range(width or len(self.inputs[name])):
            self.values[name][at + bit] = ONES if value >> bit & 1 else ZERO

    def fresh(self, name: str, at: int = 0, width: int | None = None) -> None:
        """Sets bits of a netlist's input to random values, different in each parallel run."""
        width = len(self.inputs[name]) if width is None else width
        self.values[name][at : at + width] = self.random.integers(
            0, ONES, width, np.uint64, endpoint=True
        )

    def high(self, name: str) -> bool:
        """Returns true if bit 0 of a netlist's output is 1 in the first parallel run."""
        return bool(self.design.words[self.design.port(name)[0]] & np.uint64(1))

    def clock(self, count: bool) -> None:
        """Simulates one clock of the netlist with new inputs; counts the AES blocks returned."""
        self.drive()
        self.design.edge(self.values, count)
        if count:
            self.blocks += self.out()

    def drive(self) -> None:
        """Sets the netlist's inputs for the next clock to random values."""
        for name in self.inputs:
            if QUIET.search(name):
                continue
            if re.search(r"valid_i$|ready_i$", name):
                self.set(name, ONES)
            else:
                self.fresh(name)

    def out(self) -> int:
        """Returns the AES blocks that the netlist returns in this clock, over all parallel runs."""
        return 0


class Cipher(Bench):
    """Drives a key, then random blocks on all lanes, into the netlist of an AES core."""

    says = "one AES-128 key, a fresh random block to encrypt whenever a lane takes one"

    def block(self, lane: int, width: int) -> None:
        """Drives a random block into a lane of the AES core's netlist."""
        self.fresh("req_i", lane * width, BLOCK)

    def drive(self) -> None:
        """Drives a key, later a block on each free lane, into the AES core's netlist."""
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
        """Returns the number of AES blocks that the AES core's netlist returns in this clock."""
        return int(np.bitwise_count(self.design.words[self.design.port("rsp_valid_o")]).sum())

    def clock(self, count: bool) -> None:
        """Simulates a clock cycle of the AES core's netlist; measures the core's latency."""
        super().clock(count)
        if self.keyed:
            self.begun = self.begun or self.high("req_ready_o")
            if self.latency is None and self.high("rsp_valid_o"):
                self.latency = self.since
            self.since += self.begun


class Systolic(Cipher):
    """Drives mae_cipher_lanes_systolic, whose keys wait for all lanes, then reach one by one."""

    warm = 144  # for 10 lanes with 3 registers a round 117 until the last lane's first answer


class Counter(Cipher):
    """Drives the counter blocks of CTR mode (SP 800-38A §6.5) into an AES core's netlist.

    The lanes take blocks in turn.
    """

    says = "consecutive counter blocks"
    BITS = 32  # as in SP 800-38D §6.2; those above are each run's own and stay

    def block(self, lane: int, width: int) -> None:
        """Drives the next counter block into a lane of the AES core's netlist."""
        if not hasattr(self, "number_next"):
            self.number_next = int(self.random.integers(1 << self.BITS))
            self.started = set()
        if lane not in self.started:
            self.started.add(lane)
            self.fresh("req_i", lane * width, BLOCK)
        self.number("req_i", self.number_next, lane * width, self.BITS)
        self.number_next = (self.number_next + 1) % (1 << self.BITS)


class Idle(Cipher):
    """Drives a key into an AES core's netlist, then blocks, then none."""

    says = "one AES-128 key and no block"
    BUSY = 8  # clocks with blocks, so that a clock that stops has something to stop for

    def drive(self) -> None:
        """Drives a key, later blocks for some clocks, then nothing, into the AES core's netlist."""
        super().drive()
        self.driven = getattr(self, "driven", 0) + 1
        if self.driven > self.BUSY:
            self.set("req_valid_i", ZERO)


class Streams(Bench):
    """Drives a key, an ECB command and random data into the netlist of mae_mode_axis."""

    says = "one AES-128 key, one ECB message of random blocks, a row whenever the input takes one"
    START = 200  # clocks until the first block, at most

    def __init__(self, parameters: dict[str, int], design: Netlist) -> None:
        super().__init__(parameters, design)
        for _ in range(self.START):
            self.clock(count=False)
            if self.out():
                break

    def drive(self) -> None:
        """Drives key, ECB command, then random data into the netlist of mae_mode_axis."""
        if not hasattr(self, "step"):
            self.step, self.lanes = "key", len(self.inputs["s_axis_tkeep"]) // 16
            for name in ("s_axis_key_tdata", "s_axis_cmd_tdata"):
                self.number(name, 0)  # of 16 bytes, slot 0; ECB, encryption
            self.fresh("s_axis_key_tdata", 0, BLOCK)
            self.set("s_axis_key_tvalid", ONES)
            self.set("s_axis_tkeep", ONES)
            self.set("m_axis_tready", ONES)
            self.fresh("s_axis_tdata")
        elif self.step == "key" and self.high("s_axis_key_tready"):
            self.step = "command"
            self.set("s_axis_key_tvalid", ZERO)
            self.set("s_axis_cmd_tvalid", ONES)
        elif self.step == "command" and self.high("s_axis_cmd_tready"):
            self.step = "data"
            self.set("s_axis_cmd_tvalid", ZERO)
            self.set("s_axis_tvalid", ONES)
        elif self.step == "data" and self.high("s_axis_tready"):
            self.fresh("s_axis_tdata")

    def out(self) -> int:
        """Returns the number of AES blocks that the netlist returns now, refused ones excluded."""
        words = self.design.words
        valid, refused = (
            words[self.design.port(name)[0]] for name in ("m_axis_tvalid", "m_axis_tuser")
        )
        return self.lanes * int(np.bitwise_count(valid & ~refused))


BENCHES: dict[str, type[Bench]] = {
    "mae_cipher_iter": Cipher,
    "mae_cipher_min_area": Cipher,
    "mae_cipher_min_luts": Cipher,
    "mae_cipher_luts4": Cipher,
    "mae_cipher_pipe": Cipher,
    "mae_cipher_lanes": Cipher,
    "mae_cipher_lanes_aligned": Cipher,
    "mae_cipher_lanes_systolic": Systolic,
    "mae_mode_axis": Streams,
}


def bench(top: str, parameters: dict[str, int], design: Netlist) -> Bench:
    """Returns the stimulus for the power estimate of a module's netlist."""
    kind: Callable[..., Bench] = BENCHES.get(top, Bench)
    return kind(parameters, design)


def counter_mode(top: str) -> type[Bench] | None:
    """Returns the class of CTR stimulus for an AES core's netlist; None for other modules."""
    return Counter if BENCHES.get(top) is Cipher else None
