# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_read_burst_issue: AXI read bursts, their buffer rows and pages, ends of jobs."""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from tests.dma.model.cuts import Burst, Feed, cut
from tests.support import bench
from tests.support.stream import start

BYTES, CONTEXTS, BEATS, IDS = 16, 3, 4, 4  # the sizes of read_issue_bench
ROWS = BEATS  # of a page
COUNT = 64  # rows are counted modulo this
WINDOW = 9  # beats
INPUTS = "seg_valid seg_abort seg_ctx seg_addr seg_bytes seg_last ar_ready id_busy open ended"
INPUTS += " rooms page tail wake r_valid"
FIELDS = "ctx row offset first last stop_row"


def bursts_of(at: int, segments: list, aborted: bool) -> tuple[list[Burst], tuple]:
    """Returns the expected bursts of a read job, and the end that the RTL must report."""
    bursts = []
    for address, count in segments:
        bursts += cut(at, address, count, BYTES, BEATS)
        at += count
    if aborted:  # what does not fill a row, or a byte of zeros
        return bursts, (at // BYTES, at % BYTES or 1, 1, int(at % BYTES == 0))
    return bursts, ((at - 1) // BYTES, (at - 1) % BYTES + 1, 0, 0)


class Context:
    """Models one context of mae_dma_read_burst_issue: its job, expected bursts and pages."""

    def __init__(self, feed: Feed, number: int) -> None:
        self.feed, self.number = feed, number
        self.at = self.jobs = 0
        self.pages: dict[int, int] = {}  # the context's pages, by their order
        self.tail = 0
        self.bursts: deque = deque()
        self.flight: deque = deque()
        self.ended = False
        self.begin()

    def begin(self) -> None:
        """Draws the next job of this context and computes its expected bursts and pages."""
        self.aborted = random.random() < 0.3
        segments = self.feed.job(self.number, self.aborted)
        bursts, self.final = bursts_of(self.at, segments, self.aborted)
        self.bursts.extend(bursts)
        pageless = self.final[3] and self.final[0] % ROWS == 0
        self.next = (self.final[0] // ROWS + (0 if pageless else 1)) * ROWS
        self.at = self.next * BYTES


@cocotb.test(timeout_time=500, timeout_unit="us")
async def cuts_and_places(dut) -> None:
    """mae_dma_read_burst_issue issues the expected AR, rows and end for each random job."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    feed = Feed(dut, CONTEXTS)
    contexts = [Context(feed, i) for i in range(CONTEXTS)]
    asked: deque = deque()
    busy: set[int] = set()
    wake = taken = beats = full = 0
    while min(context.jobs for context in contexts) < 15:
        feed.clock()
        take = int(random.random() < 0.7)
        dut.ar_ready_i.value, dut.wake_i.value = take, wake
        dut.id_busy_i.value = sum(1 << id_ for id_ in busy)
        each = list(enumerate(contexts))
        dut.open_i.value = sum(bool(c.flight) << i for i, c in each)
        come = int(beats > 0 and random.random() < 0.5)
        dut.r_valid_i.value = come
        rooms, page = random.getrandbits(CONTEXTS), random.randrange(8)
        dut.rooms_i.value, dut.page_i.value = rooms, page
        dut.tail_i.value = sum(c.tail << 3 * i for i, c in each)
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
            stop = context.next if whole else burst.stop // BYTES
            place = [burst.row % (2 * ROWS), burst.offset, burst.first, burst.last]
            assert got[1:] == [*place, stop % COUNT]
            assert id_ not in busy
            own = {
                row // ROWS for row in range(burst.start // BYTES, (burst.stop - 1) // BYTES + 1)
            }
            new = own - context.pages.keys()
            assert int(dut.take_o.value) == len(new), "one page more, where it is needed"
            assert not new or rooms >> got[0] & 1, "there is room for it"
            taken += len(new)
            for number in new:
                context.pages[number] = context.tail = page
            pages = int(dut.burst_pages_o.value)
            for number in own:
                assert pages >> 3 * (number % 2) & 7 == context.pages[number]
            full += beats + BEATS == WINDOW
            assert beats + BEATS <= WINDOW, "no more is asked for ahead"
            beats += burst.length + 1
            busy.add(id_)
            asked.append((id_, burst.address, burst.length))
            context.flight.append(id_)
        if int(dut.final_valid_o.value):
            context = contexts[int(dut.final_ctx_o.value)]
            names = ("row", "bytes", "aborted", "zero")
            got = [int(getattr(dut, f"final_{name}_o").value) for name in names]
            assert got == [context.final[0] % COUNT, *context.final[1:]]
            assert not context.ended and not context.bursts and not feed.queues[context.number]
            assert whole or context.aborted and not context.flight
            context.ended = True
        else:
            assert not whole, "the job's last burst says so"
        beats -= come
        wake = 0
        for i, context in enumerate(contexts):  # the far side goes on
            if context.flight and random.random() < 0.2:
                busy.remove(context.flight.popleft())
                wake |= 1 << i
            if context.ended and not context.flight and random.random() < 0.3:
                context.ended = False
                context.jobs += 1
                context.begin()
    assert min(taken, full) > 10


@cocotb.test(timeout_time=5, timeout_unit="us")
async def takes_three_clocks(dut) -> None:
    """mae_dma_read_burst_issue needs three clocks from segment to AR, then one per burst."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    dut.ar_ready_i.value = dut.seg_valid_i.value = 1
    dut.rooms_i.value = 1
    dut.seg_bytes_i.value = 2 * BEATS * BYTES
    shown = []
    for _ in range(6):
        await RisingEdge(dut.clk_i)
        dut.seg_valid_i.value = 0
        shown.append(int(dut.ar_valid_o.value))
    assert shown == [0, 0, 0, 1, 1, 0]


def test_dma_read_burst_issue() -> None:
    """Builds mae_dma_read_burst_issue in read_issue_bench and runs this file's tests."""
    bench.run("read_issue_bench", sources=["tests/dma/read/read_issue_bench.sv"])
