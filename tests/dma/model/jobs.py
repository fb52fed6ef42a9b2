# SPDX-License-Identifier: Apache-2.0
"""Drives the segment port of a DMA engine and collects the reported ends of jobs."""

import collections
import random
from collections.abc import Iterator

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, FallingEdge

Segment = tuple[int, int]  # address, bytes

ABORT = (0, 0)  # in place of a segment: the list has failed


class Mover:
    """Pushes queued segments into a DMA engine and collects the ends of jobs that it reports."""

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
        """Starts to drive queued segments into the DMA engine."""
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Stops driving segments into the DMA engine."""
        self._task.cancel()

    def push(self, ctx: int, segments: list[Segment]) -> None:
        """Queues a job's segments for the DMA engine; ABORT as last item ends the job early."""
        queue = self.queues.setdefault(ctx, collections.deque())
        last = len(segments) - 1
        queue.extend((segment, i == last) for i, segment in enumerate(segments))

    async def end(self, ctx: int) -> dict[str, int]:
        """Waits until the DMA engine reports the end of a context's job; returns its fields."""
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
    """Yields the address of each byte of a segment list, in order."""
    for addr, count in segments:
        yield from range(addr, addr + count)


class Land:
    """Allocates test memory in pieces so close that neighbours often share a bus word."""

    def __init__(self, first: int, after: int, chooser: random.Random) -> None:
        self.next = first
        self.after = after
        self.random = chooser

    def take(self, count: int, align: int = 1) -> int:
        """Allocates a piece of the test's memory after a random gap; returns its address."""
        gap = self.random.choice((0, 0, 1, 3, 16, 100))
        at = -(-(self.next + gap) // align) * align
        self.next = at + count
        assert self.next <= self.after, "the test needs more memory"
        return at

    def scatter(self, length: int, longest: int) -> list[Segment]:
        """Allocates segments of random size and order that hold ``length`` bytes together."""
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
