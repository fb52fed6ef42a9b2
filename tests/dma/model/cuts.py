# SPDX-License-Identifier: Apache-2.0
"""Makes random segments for DMA tests and computes the AXI bursts that they must become."""

import random
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from cocotb.handle import SimHandleBase


class Burst(NamedTuple):
    """Holds an expected AXI burst: its address, length, and position in the DMA's ring buffer."""

    address: int  # of its first beat
    length: int  # AXI's, beats - 1
    row: int  # where lane 0 of the first beat lies in the ring, and at which byte of the row
    offset: int
    first: int  # first lane of the first beat, last lane of the last one
    last: int
    start: int  # the bytes of the ring that it holds
    stop: int


def cut(at: int, address: int, count: int, width: int, beats: int) -> Iterator[Burst]:
    """Yields the AXI bursts into which the DMA must divide ``count`` bytes at an address."""
    end = address + count
    while address < end:
        stop = min(end, (address // (width * beats) + 1) * width * beats)
        lane0 = at - address % width
        length = (stop - 1) // width - address // width
        to = at + stop - address
        edges = (address % width, (stop - 1) % width)
        aligned = address // width * width
        yield Burst(aligned, length, lane0 // width, lane0 % width, *edges, at, to)
        at, address = to, stop


class Feed:
    """Drives the segment input of a DMA engine with the queued segments of random contexts."""

    def __init__(self, dut: SimHandleBase, contexts: int) -> None:
        self.dut = dut
        self.queues: list[deque[tuple | None]] = [deque() for _ in range(contexts)]
        self.pushed: int | None = None  # with the last clock, so its ready is not yet known

    def job(self, ctx: int, aborted: bool) -> list[tuple[int, int]]:
        """Queues and returns random segments of a DMA job, some at the end of a page or memory."""
        segments = []
        for _ in range(random.randint(1, 3)):
            base = random.choice((0, 4096 - 99, 2**64 - 4096, random.randrange(2**63)))
            count = random.choice((1, 16, 64, random.randint(1, 300)))
            segments.append((base + random.randrange(99), count))
        for number, segment in enumerate(segments, 1):
            self.queues[ctx].append((*segment, number == len(segments) and not aborted))
        if aborted:
            self.queues[ctx].append(None)
        return segments

    def clock(self) -> None:
        """Sets the segment inputs of a DMA engine for the next clock."""
        dut, ctx = self.dut, random.randrange(len(self.queues))
        room = self.queues[ctx] and ctx != self.pushed and int(dut.seg_ready_o.value) >> ctx & 1
        item = self.queues[ctx].popleft() if room else None
        self.pushed = ctx if room else None
        dut.seg_valid_i.value, dut.seg_abort_i.value = (
            int(item is not None),
            int(bool(room) and not item),
        )
        dut.seg_ctx_i.value = ctx
        dut.seg_addr_i.value, dut.seg_bytes_i.value, dut.seg_last_i.value = item or (0, 0, 0)
