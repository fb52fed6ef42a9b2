# SPDX-License-Identifier: Apache-2.0
"""Drives a DMA engine in tests: pushes segments, collects ends of jobs."""

import collections
import random
from collections.abc import Iterator

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, FallingEdge

Segment = tuple[int, int]  # address, bytes

ABORT = (0, 0)  # in place of a segment: the list has failed


class Mover:
    """Pushes segments into a DMA engine while it has room, and collects ends of jobs."""

    def __init__(
        self, dut: SimHandleBase, prefix: str = "", *, stall: float = 0.0, seed: int = 1
    ) -> None:
        self.clock = dut.clk_i
        self.random = random.Random(seed)
        self.stall = stall
        self.seg = {
            name: getattr(dut, f"{prefix}seg_{name}_i")
            for name in ("valid", "abort", "ctx", "addr", "bytes", "last")
        }
        self.seg_ready = getattr(dut, f"{prefix}seg_ready_o")
        self.done_ready = getattr(dut, f"{prefix}done_ready_i")
        self.done = {
            name: getattr(dut, f"{prefix}done_{name}_o")
            for name in ("valid", "ctx", "status", "bytes")
            if hasattr(dut, f"{prefix}done_{name}_o")
        }
        self.queues: dict[int, collections.deque[tuple[Segment, bool]]] = {}
        self.ends: dict[int, collections.deque[dict[str, int]]] = collections.defaultdict(
            collections.deque
        )
        self.ended = Event()
        for handle in (*self.seg.values(), self.done_ready):
            handle.value = 0

    def start(self) -> None:
        """Starts driving segments into the DMA mover."""
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Stops driving segments into the DMA mover."""
        self._task.cancel()

    def push(self, ctx: int, segments: list[Segment]) -> None:
        """Queues the segments of a DMA job; a list that ends with ABORT has no last segment."""
        queue = self.queues.setdefault(ctx, collections.deque())
        last = len(segments) - 1
        queue.extend((segment, i == last) for i, segment in enumerate(segments))

    async def end(self, ctx: int) -> dict[str, int]:
        """Waits for the next end of a context's DMA job; returns status and byte count."""
        while not self.ends[ctx]:
            self.ended.clear()
            await self.ended.wait()
        return self.ends[ctx].popleft()

    async def _run(self) -> None:
        falling = FallingEdge(self.clock)
        shown = ready_shown = None
        while True:
            await falling
            push = None
            if self.queues and not (self.stall and self.random.random() < self.stall):
                room = int(self.seg_ready.value)
                ready = [ctx for ctx in self.queues if room >> ctx & 1]
                if ready:
                    push = self.random.choice(ready)
            if push is not None:
                queue = self.queues[push]
                (addr, count), last = queue.popleft()
                if not queue:
                    del self.queues[push]
                abort = (addr, count) == ABORT
                self.seg["valid"].value = int(not abort)
                self.seg["abort"].value = int(abort)
                self.seg["ctx"].value = push
                self.seg["addr"].value = addr
                self.seg["bytes"].value = count
                self.seg["last"].value = int(last and not abort)
            elif shown is not None:
                self.seg["valid"].value = 0
                self.seg["abort"].value = 0
            shown = push
            ready = int(not (self.stall and self.random.random() < self.stall))
            if ready != ready_shown:
                ready_shown = self.done_ready.value = ready
            if ready and int(self.done["valid"].value):
                end = {name: int(handle.value) for name, handle in self.done.items()}
                self.ends[end["ctx"]].append(end)
                self.ended.set()


def spans(segments: list[Segment]) -> Iterator[int]:
    """Lists every address of a scatter-gather list, in order."""
    for addr, count in segments:
        yield from range(addr, addr + count)


class Land:
    """Allocates memory pieces close together, so that neighbours often share a bus word."""

    def __init__(self, first: int, after: int, chooser: random.Random) -> None:
        self.next = first
        self.after = after
        self.random = chooser

    def take(self, count: int, align: int = 1) -> int:
        """Allocates a number of bytes of the DMA test's memory."""
        gap = self.random.choice((0, 0, 1, 3, 16, 100))
        at = -(-(self.next + gap) // align) * align
        self.next = at + count
        assert self.next <= self.after, "the test needs more memory"
        return at

    def scatter(self, length: int, longest: int) -> list[Segment]:
        """Allocates memory pieces of 1 to ``longest`` bytes in random order."""
        sizes = []
        longest = max(longest, length // 100)
        while length:
            size = min(length, self.random.choice((1, 2, self.random.randint(1, longest), longest)))
            sizes.append(size)
            length -= size
        order = list(range(len(sizes)))
        self.random.shuffle(order)
        places = {i: self.take(sizes[i]) for i in order}
        return [(places[i], size) for i, size in enumerate(sizes)]
