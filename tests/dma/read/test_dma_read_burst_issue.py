# SPDX-License-Identifier: Apache-2.0
"""Where every burst is cut, its place in the ring, and the ends of jobs.

Tests mae_dma_read_burst_issue.
"""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from tests.dma.cuts import Burst, Feed, cut
from tests.support import bench
from tests.support.stream import start

BYTES, CONTEXTS, ROWS, BEATS, BURSTS, IDS = 16, 3, 8, 4, 4, 4  # the sizes of read_issue_bench
INPUTS = "seg_valid seg_abort seg_ctx seg_addr seg_bytes seg_last ar_ready id_busy commit_slot"
INPUTS += " out_row ended wake"
FIELDS = "ctx slot row offset first last stop_row"


def bursts_of(at: int, segments: list, aborted: bool) -> tuple[list[Burst], tuple]:
    """The bursts of a job that begins at byte ``at`` of its ring, and its last row."""
    bursts = []
    for address, count in segments:
        bursts += cut(at, address, count, BYTES, BEATS)
        at += count
    if aborted:  # what does not fill a row, or a byte of zeros
        return bursts, (at // BYTES, at % BYTES or 1, 1, int(at % BYTES == 0))
    return bursts, ((at - 1) // BYTES, (at - 1) % BYTES + 1, 0, 0)


class Context:
    """One context: its jobs, and the far side of its ring."""

    def __init__(self, feed: Feed, number: int) -> None:
        self.feed, self.number = feed, number
        self.at = self.out = self.commit = self.committed = self.slot = self.jobs = 0
        self.bursts: deque = deque()
        self.flight: deque = deque()
        self.ended = False
        self.begin()

    def begin(self) -> None:
        """The next job."""
        self.aborted = random.random() < 0.3
        segments = self.feed.job(self.number, self.aborted)
        bursts, self.final = bursts_of(self.at, segments, self.aborted)
        self.bursts.extend(bursts)
        self.at = (self.final[0] + 1) * BYTES


@cocotb.test(timeout_time=500, timeout_unit="us")
async def cuts_and_places(dut) -> None:
    """Random jobs, aborts and far side; each burst, AR and last row is the expected one."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    feed = Feed(dut, CONTEXTS)
    contexts = [Context(feed, i) for i in range(CONTEXTS)]
    asked: deque = deque()
    busy: set[int] = set()
    wake = 0
    while min(context.jobs for context in contexts) < 15:
        feed.clock()
        take = int(random.random() < 0.7)
        dut.ar_ready_i.value, dut.wake_i.value = take, wake
        dut.id_busy_i.value = sum(1 << id_ for id_ in busy)
        each = list(enumerate(contexts))
        dut.commit_slot_i.value = sum(c.commit % (2 * BURSTS) << 3 * i for i, c in each)
        dut.out_row_i.value = sum(c.out % (2 * ROWS) << 4 * i for i, c in each)
        dut.ended_i.value = sum(c.ended << i for i, c in each)
        await RisingEdge(dut.clk_i)
        assert int(dut.ar_valid_o.value) == int(bool(asked)), "one clock after its burst"
        if asked:
            shown = tuple(int(s.value) for s in (dut.ar_id_o, dut.ar_addr_o, dut.ar_len_o))
            assert shown == asked[0]
            if take:
                asked.popleft()
        whole = False
        if int(dut.burst_valid_o.value):
            got = [int(getattr(dut, f"burst_{name}_o").value) for name in FIELDS.split()]
            context, id_ = contexts[got[0]], int(dut.burst_id_o.value)
            burst = context.bursts.popleft()
            whole = not context.bursts and not context.aborted
            stop = context.final[0] + 1 if whole else burst.stop // BYTES
            place = [burst.row % ROWS, burst.offset, burst.first, burst.last]
            assert got[1:] == [context.slot % BURSTS, *place, stop % (2 * ROWS)]
            assert id_ not in busy and len(context.flight) < BURSTS
            assert (burst.stop - 1) // BYTES - context.out < ROWS, "there is room for all of it"
            busy.add(id_)
            asked.append((id_, burst.address, burst.length))
            context.flight.append((id_, stop))
            context.slot += 1
        if int(dut.final_valid_o.value):
            context = contexts[int(dut.final_ctx_o.value)]
            names = ("row", "bytes", "aborted", "zero")
            got = [int(getattr(dut, f"final_{name}_o").value) for name in names]
            assert got == [context.final[0] % (2 * ROWS), *context.final[1:]]
            assert not context.ended and not context.bursts and not feed.queues[context.number]
            assert whole or context.aborted and not context.flight
            context.ended = True
        else:
            assert not whole, "the job's last burst says so"
        wake = 0
        for i, context in enumerate(contexts):  # the far side goes on
            if context.flight and random.random() < 0.2:
                id_, context.committed = context.flight.popleft()
                busy.remove(id_)
                context.commit += 1
                wake |= 1 << i
            stop = context.final[0] + 1
            own = context.ended and context.aborted  # its last row is not committed
            if context.out < (stop if own else context.committed) and random.random() < 0.5:
                context.out += 1
                wake |= 1 << i
                if context.ended and context.out == stop:
                    context.ended = False
                    context.jobs += 1
                    context.begin()


@cocotb.test(timeout_time=5, timeout_unit="us")
async def takes_three_clocks(dut) -> None:
    """From segment to AR; then a burst a clock."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    dut.ar_ready_i.value = dut.seg_valid_i.value = 1
    dut.seg_bytes_i.value = 2 * BEATS * BYTES
    shown = []
    for _ in range(6):
        await RisingEdge(dut.clk_i)
        dut.seg_valid_i.value = 0
        shown.append(int(dut.ar_valid_o.value))
    assert shown == [0, 0, 0, 1, 1, 0]


def test_dma_read_burst_issue() -> None:
    """Small rings, so that all limits are met."""
    bench.run("read_issue_bench", sources=["tests/dma/read_issue_bench.sv"])
