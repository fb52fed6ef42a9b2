# SPDX-License-Identifier: Apache-2.0
"""Controls the simulated block card: queues, media encryption keys, requests.

Registers: regs/mae_block_card.rdl; requests and completions: rtl/device/block/mae_block_pkg.sv.
"""

import dataclasses
import struct

from maeslant.build import simulator
from maeslant.build.generated import mae_block_card as registers
from maeslant.errors import MaeslantError
from maeslant.sim.machine import Simulator

BUILD = "block"
SECTOR = 512
READ, WRITE, FLUSH = 0, 1, 2
PLAIN, IRQ = 1, 16
REQUEST_BYTES, COMPLETION_BYTES = 64, 32
LOG2 = 8
QUEUE_BYTES = 0x40  # of registers
HOST = 1 << 32  # where host memory is mapped
ENABLE, WIPING = 1, 2
EXE, DN = 1, 2
RING_BYTES = 1 << 16  # of host memory for the rings of a queue


@dataclasses.dataclass
class Request:
    """Describes a block card's request to read or write sectors; ``host``: offset of its data."""

    op: int
    sector: int = 0
    sectors: int = 0
    host: int = 0
    slot: int | None = None  # None: plain
    unit_log2: int = 12
    unit: int = 0
    flags: int = 0

    def pack(self, cookie: int) -> bytes:
        """Returns the request, packed into the 64 bytes that the block card reads."""
        plain = self.slot is None
        key = (0, 0) if plain or self.op == FLUSH else (self.slot, self.unit_log2)
        head = (cookie, self.op, self.flags | PLAIN * plain, *key, self.sectors, 0)
        unit = (0 if plain else self.unit).to_bytes(16, "little")
        return struct.pack("<IBBBBIIQQ16s16x", *head, self.sector, HOST + self.host, unit)


@dataclasses.dataclass(frozen=True)
class Completion:
    """Holds a block card's completion of a request: cookie, status and bytes."""

    cookie: int
    status: int
    bytes: int


class BlockCard:
    """Simulates a block card, its media and ``size`` bytes of host memory, which hold its rings."""

    def __init__(self, build: str = BUILD, options: str = "", size: int = 1 << 22) -> None:
        self.sim = Simulator(simulator.build(build), options)
        self.memory = bytearray(size)
        self.sim.map(HOST, self.memory)
        while self.sim.read32(registers.STATUS) & WIPING:
            self.sim.run(64)
        caps = self.sim.read32(registers.CAPS)
        self.queues = caps >> 16 & 0xF
        self.rings = [size - RING_BYTES * (q + 1) for q in range(self.queues)]
        self.sent, self.taken = [0] * self.queues, [0] * self.queues
        for q, sub in enumerate(self.rings):
            comp = sub + (REQUEST_BYTES << LOG2)
            self.ring(q, registers.BLOCK_QUEUE_SUB_BASE_LO, HOST + sub & 0xFFFFFFFF)
            self.ring(q, registers.BLOCK_QUEUE_SUB_BASE_HI, HOST >> 32)
            self.ring(q, registers.BLOCK_QUEUE_SUB_LOG2, LOG2)
            self.ring(q, registers.BLOCK_QUEUE_COMP_BASE_LO, HOST + comp & 0xFFFFFFFF)
            self.ring(q, registers.BLOCK_QUEUE_COMP_BASE_HI, HOST >> 32)
            self.ring(q, registers.BLOCK_QUEUE_COMP_LOG2, LOG2)
        self.sim.write32(registers.CTRL, ENABLE)

    def close(self) -> None:
        """Closes the simulator of the block card."""
        self.sim.close()

    def ring(self, queue: int, name: int, value: int) -> None:
        """Writes a register of one of the block card's queues."""
        self.sim.write32(registers.RINGS + QUEUE_BYTES * queue + name, value)

    def command(self, command: registers.LockCommand, slot: int = 0) -> registers.LockError:
        """Runs a key command on the block card until it has ended; returns the error code."""
        self.sim.write32(registers.METD, slot)
        self.sim.write32(registers.LOCK_CTRL, command << 2 | EXE)
        while not (state := self.sim.read32(registers.LOCK_CTRL)) & DN:
            self.sim.run(16)
        self.sim.write32(registers.LOCK_CTRL, DN)
        return registers.LockError(state >> 16 & 0xF)

    def load_key(self, slot: int, key: bytes) -> None:
        """Loads a media encryption key of 64 bytes into a slot; raises MaeslantError if refused."""
        for i, word in enumerate(struct.unpack("<16I", key)):
            self.sim.write32(registers.MEK + 4 * i, word)
        error = self.command(registers.LockCommand.LOAD, slot)
        if error != registers.LockError.OK:
            raise MaeslantError(f"the block card refuses the key: {error.name}")

    def submit(self, requests: list[Request], queue: int = 0) -> None:
        """Writes requests to a queue's submission ring and rings its doorbell."""
        assert self.sent[queue] - self.taken[queue] + len(requests) <= 1 << LOG2
        for request in requests:
            at = self.rings[queue] + REQUEST_BYTES * (self.sent[queue] % (1 << LOG2))
            self.memory[at : at + REQUEST_BYTES] = request.pack(self.sent[queue])
            self.sent[queue] += 1
        self.ring(queue, registers.BLOCK_QUEUE_SUB_TAIL, self.sent[queue] % 65536)

    def finish(self, queue: int = 0, limit: int = 1_000_000, step: int = 4) -> list[Completion]:
        """Runs the block card until a queue has no request in flight; returns the completions."""
        done = []
        first = self.rings[queue] + (REQUEST_BYTES << LOG2)
        while self.taken[queue] < self.sent[queue]:
            at = first + COMPLETION_BYTES * (self.taken[queue] % (1 << LOG2))
            entry = struct.unpack("<16xIBxHII", self.memory[at : at + COMPLETION_BYTES])
            if entry[4] != 1 - (self.taken[queue] >> LOG2) % 2:
                if limit <= 0:
                    raise MaeslantError("the block card does not complete its requests")
                self.sim.run(step)
                limit -= step
                continue
            done.append(Completion(entry[0], entry[1], entry[3]))
            self.taken[queue] += 1
        self.ring(queue, registers.BLOCK_QUEUE_COMP_HEAD, self.taken[queue] % 65536)
        return done

    def run(self, requests: list[Request], queue: int = 0) -> None:
        """Runs requests in a queue of the block card; raises MaeslantError if one fails."""
        self.submit(requests, queue)
        bad = [done.status for done in self.finish(queue) if done.status]
        if bad:
            raise MaeslantError(f"requests of the block card failed: status {bad}")
