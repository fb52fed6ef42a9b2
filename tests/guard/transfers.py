# SPDX-License-Identifier: Apache-2.0
"""Models transfers and their chunks to test mae_guard_transfer_engine, by the card's rules.

Arms are judged by the golden card's own rules. Some things happen inside at a time that nobody sees
(a transfer whose run fails to come is given up): there, either of two outcomes is right.
"""

import dataclasses
import itertools
import random
from types import SimpleNamespace

from maeslant.protected.model import wire
from maeslant.protected.model.card import Memory, Region
from maeslant.protected.model.constants import GRANULE, Flag, Kind, Status
from maeslant.protected.model.queues import Transfer
from maeslant.protected.model.transfers import Transfers

PLACE = (8, 32, 64)
CHUNK = (*PLACE, 1, 1, 64, 32, 32, 64, 64, 64, 128)
ANSWER = (*PLACE, 8, 16, 16, 64, 7, 7, 128)
FATAL = (8, 8, 64)


def split(value: int, widths: tuple[int, ...]) -> tuple[int, ...]:
    """Splits the bits of a packed SystemVerilog struct into fields, the highest first."""
    found = []
    for width in reversed(widths):
        found.append(value & (1 << width) - 1)
        value >>= width
    return tuple(reversed(found))


def join(values: tuple[int, ...], widths: tuple[int, ...]) -> int:
    """Joins fields to the bits of a packed SystemVerilog struct, the highest first."""
    total = 0
    for value, width in zip(values, widths, strict=True):
        assert 0 <= value < 1 << width
        total = total << width | value
    return total


@dataclasses.dataclass(eq=False)
class Moving:
    """Holds a transfer of the model: its region, its unanswered chunks and its progress."""

    queue: int
    golden: Transfer
    chunks: list["Chunk"] = dataclasses.field(default_factory=list)  # not answered
    open: bool = True
    begun: bool = False
    asked: bool = False  # the requester gives it up
    late: bool = False  # stood in vain for the kernel at some time
    gone: bool = False  # its region is free
    scrubbed: set[int] = dataclasses.field(default_factory=set)

    @property
    def out(self) -> bool:
        """Returns true if the transfer goes from device to host."""
        return self.golden.region.d2h

    @property
    def granules(self) -> set[int]:
        """Returns the numbers of the 64-byte granules in the transfer's memory region."""
        return set(range(self.golden.region.base // GRANULE, self.golden.region.end // GRANULE))


@dataclasses.dataclass(eq=False)
class Chunk:
    """Holds a chunk that the transfer engine has accepted, and its progress, in the model."""

    place: tuple[int, int, int]
    body: wire.Transfer
    moving: Moving
    started: bool = False
    moved: bool = False
    result: tuple[int, int, int] = (0, 1, 0)
    always_late: bool = True  # since the requester began to give it up


class Model:
    """Models all transfers and queues of mae_guard_transfer_engine."""

    def __init__(self, queues: int, regions: int, memory: int, chunk: int) -> None:
        self.capabilities = SimpleNamespace(log2_memory=memory, log2_chunk=chunk)
        self.regions, self.size = regions, 1 << memory
        self.queues: list[list[Chunk]] = [[] for _ in range(queues)]  # not answered, in order
        self.transfers: list[Moving] = []  # not gone
        self.runs, self.fault = 0, False
        self.before = (0, False)  # both, a clock ago

    def open_of(self, queue: int) -> Moving | None:
        """Returns the transfer of a queue that still expects chunks, or None."""
        return next((m for m in self.transfers if m.queue == queue and m.open), None)

    def statuses(self, queue: int, out: bool, body: wire.Transfer) -> set[Status]:
        """Returns the statuses that a chunk request may get; several if a transfer may be over."""
        unsure = [m for m in self.transfers if m.late]
        found = set()
        for gone in itertools.product((False, True), repeat=len(unsure)):
            for freed in itertools.product((False, True), repeat=len(unsure)):
                closed = [m for m, is_gone in zip(unsure, gone, strict=True) if is_gone]
                free = [m for m, is_free in zip(unsure, freed, strict=True) if is_free]
                found.add(self._golden(queue, out, body, closed, free))
        return found

    def _golden(
        self, queue: int, out: bool, body: wire.Transfer, closed: list, free: list
    ) -> Status:
        memory = Memory(0, self.regions)
        memory.regions = [m.golden.region for m in self.transfers if m not in free]
        device = SimpleNamespace(capabilities=self.capabilities, memory=memory)
        opened = self.open_of(queue)
        place = SimpleNamespace(
            index=queue, open=opened.golden if opened and opened not in closed else None
        )
        kind = Kind.D2H if out else Kind.H2D
        return Transfers(device)._refusal(place, kind, body) or Status.OK

    def arm(self, place: tuple[int, int, int], out: bool, body: wire.Transfer) -> None:
        """Adds a chunk that the transfer engine has accepted to the model."""
        queue = place[0]
        if body.index == 0:
            for other in self.transfers:
                assert not (other.open and other.queue == queue and not other.late)
                if other.queue == queue:
                    other.open = False
            region = Region(body.base, body.total, out)
            kind = Kind.D2H if out else Kind.H2D
            self.transfers.append(Moving(queue, Transfer(kind, region, body.after)))
        moving = [m for m in self.transfers if m.queue == queue and m.open][-1]
        moving.golden.index += 1
        moving.golden.address = body.address + body.length
        if body.flags & Flag.LAST:
            moving.open = False
        chunk = Chunk(place, body, moving)
        moving.chunks.append(chunk)
        self.queues[queue].append(chunk)

    def is_late(self, moving: Moving) -> bool:
        """Returns true if a transfer waits for a kernel run that a fault prevents."""
        return self.fault and self.runs < moving.golden.after

    def clock(self) -> None:
        """Runs one clock of the model: marks transfers whose kernel run a fault prevents."""
        runs, fault = self.before
        for queue in self.queues:
            if queue and not queue[0].started:
                moving = queue[0].moving
                moving.late |= self.is_late(moving) or (fault and runs < moving.golden.after)
        self.before = (self.runs, self.fault)
        for moving in self.transfers:
            for chunk in moving.chunks:
                chunk.always_late &= self.is_late(moving)

    def start(self, out: bool, fields: tuple[int, ...]) -> Chunk:
        """Asserts that a chunk started by the RTL is its queue's next, unchanged, not too early."""
        queue = self.queues[fields[0]]
        at = next(i for i, chunk in enumerate(queue) if not chunk.started)
        chunk, body = queue[at], queue[at].body
        moving, flags = chunk.moving, body.flags
        expected = (*chunk.place, int(Flag.FIRST in flags), int(Flag.LAST in flags))
        expected += (body.address, body.length, body.index, body.base, body.total, body.host)
        assert fields == (*expected, int.from_bytes(body.tag)), "not the next chunk of its queue"
        assert moving.out == out
        assert self.runs >= body.after, "before the kernel was done"
        assert all(earlier.moving.out == out for earlier in queue[:at]), "two directions"
        chunk.started = moving.begun = True
        return chunk

    def scrub(self, granule: int) -> None:
        """Records that the RTL zeroes a granule, which must belong to an aborted transfer."""
        for moving in self.transfers:
            if (moving.asked or moving.late) and not moving.out and granule in moving.granules:
                assert all(chunk.moved for chunk in moving.chunks if chunk.started), "not drained"
                assert granule not in moving.scrubbed
                moving.scrubbed.add(granule)
                return
        raise AssertionError(f"granule {granule} is nobody's to scrub")

    def answer(self, fields: tuple[int, ...]) -> Status:
        """Compares an answer of the RTL with the model's oldest chunk and returns its status."""
        queue, status = self.queues[fields[0]], Status(fields[4])
        chunk = next(chunk for chunk in queue if chunk.place == fields[:3])
        moving = chunk.moving
        assert fields[3] == (Kind.D2H if moving.out else Kind.H2D)
        assert chunk is moving.chunks[0], "out of order"
        if status == Status.OK:
            assert chunk is queue[0], "out of order"
            assert chunk.moved
            tag = chunk.result[2] if moving.out else 0
            assert fields[5:] == (1, chunk.body.length, 0, 0, tag)
            if chunk.body.flags & Flag.LAST:
                self._free(moving)
        else:
            assert fields[5:] == (0, 0, 0, 0, 0)
            assert moving.asked or moving.late
            assert chunk.moved or not chunk.started
            assert moving.out or moving.scrubbed == moving.granules, "answered before the scrub"
            first = not moving.gone  # of those that are answered for being given up
            if status == Status.AFTER:
                assert first and not chunk.started and moving.late
            else:
                assert status == Status.ABORTED
                assert not (first and not chunk.started and chunk.always_late), "not AFTER"
            moving.open = False
            self._free(moving)
        moving.chunks.remove(chunk)
        queue.remove(chunk)
        return status

    def _free(self, moving: Moving) -> None:
        moving.gone = True
        if moving in self.transfers:
            self.transfers.remove(moving)

    def ask(self, queue: int) -> None:
        """Records that the RTL begins to abort a queue's unfinished transfer."""
        moving = self.open_of(queue)
        if moving:
            moving.asked = True
            moving.late |= self.is_late(moving)
            for chunk in moving.chunks:
                chunk.always_late = self.is_late(moving)

    def asked(self, queue: int) -> None:
        """Records an abort's end; asserts that the region is zeroed and all chunks answered."""
        moving = self.open_of(queue)
        if moving:
            assert not moving.chunks, "chunks without an answer"
            assert moving.out or moving.scrubbed == moving.granules, "not scrubbed"
            self._free(moving)

    def fault_of(self, write: bool, address: int) -> bool | None:
        """Returns true if a kernel access must fault, false if not, None if either is right."""
        if address >= self.size:
            return True
        granule, unsure = address // GRANULE, False
        for moving in self.transfers:
            if granule in moving.granules and (write or not moving.out):
                if moving.begun and not moving.asked and not any(c.moved for c in moving.chunks):
                    return True
                unsure = True
        return None if unsure else False


class Requests:
    """Makes random chunk requests for the transfer engine: legal, or wrong in one field."""

    def __init__(self, model: Model, generator: random.Random) -> None:
        self.model, self.random = model, generator

    def _free(self) -> int:
        """Returns a random start address, which rarely lies in the region of another transfer."""
        for _ in range(4):
            base = GRANULE * self.random.randrange(self.model.size // GRANULE)
            if not any(base // GRANULE in moving.granules for moving in self.model.transfers):
                break
        return base

    def _length(self, rest: int, longest: int) -> int:
        if rest <= longest and self.random.random() < 0.3:
            return rest
        return min(rest, longest, GRANULE * self.random.choice((1, 1, 2, 5, longest // GRANULE)))

    def body(self, queue: int) -> tuple[bool, wire.Transfer]:
        """Returns the direction and the fields of a random chunk request for a queue."""
        generator, model = self.random, self.model
        longest = 1 << model.capabilities.log2_chunk
        opened = model.open_of(queue)
        out = generator.random() < 0.5
        if opened and generator.random() < 0.95:
            golden = opened.golden
            out = opened.out
            base, total, after = golden.region.base, golden.region.total, golden.after
            index, address = golden.index, golden.address
        else:
            base = self._free()
            total = generator.choice((1, 64, 65, 200, generator.randrange(1, 1200)))
            total = min(total, model.size - base)
            index, address = 0, base
            ahead = generator.choice((*6 * [0], 1, 1, 2))
            if generator.random() < 0.01:
                ahead = 1 << 40
            after = model.runs + ahead
        host = GRANULE * generator.randrange(1 << 58)
        tag = bytes(16) if out else generator.randbytes(16)
        length = self._length(base + total - address, longest)
        if host + length > 1 << 64:
            host = 0
        body = wire.Transfer(address, length, index, base, total, host, after, tag)
        if generator.random() < (0.2 if opened else 0.1):
            return self._wrong(out, body)
        return out, body

    def _wrong(self, out: bool, body: wire.Transfer) -> tuple[bool, wire.Transfer]:
        generator, size = self.random, self.model.size
        name = generator.choice(
            ("out", "address", "length", "index", "base", "total", "host", "after")
        )
        if name == "out":
            return not out, body
        top, old = 1 << (32 if name in ("length", "index") else 64), getattr(body, name)
        edges = (0, 1, 63, 64, old - 1, old + 1, old - 64, old + 64, size, size - 64, size + 64)
        edges += (top - 1, top - 64, old ^ 1 << generator.randrange(top.bit_length() - 1))
        edges += (1 << self.model.capabilities.log2_chunk, top - body.length, top - body.base)
        return out, dataclasses.replace(body, **{name: generator.choice(edges) % top})
