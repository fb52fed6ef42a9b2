# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_write_burst_plan: AXI write bursts once data is there, dropped rows, ends.

Tests mae_dma_write_burst_plan.
"""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from tests.dma.model.cuts import Burst, Feed, cut
from tests.support import bench
from tests.support.stream import start

BYTES, CONTEXTS, BEATS, IDS = 16, 3, 4, 8  # the sizes of write_plan_bench
ROWS = BEATS  # of a page
COUNT = 64  # rows are counted modulo this
INPUTS = "seg_valid seg_abort seg_ctx seg_addr seg_bytes seg_last look_row look_ended look_bytes"
INPUTS += " wake ready b_valid b_ctx"
PLACE = ("row", "offset", "len", "first", "last")


class Context:
    """Models one context of mae_dma_write_burst_plan: its job, rows and expected bursts."""

    def __init__(self, feed: Feed, number: int) -> None:
        self.feed, self.number = feed, number
        self.row = self.page = self.jobs = 0
        self.begin()

    def begin(self) -> None:
        """Draws a write job with as many bytes as its segments, or with fewer or more."""
        self.ended, self.under_way = False, 0
        aborted = random.random() < 0.2
        segments = self.feed.job(self.number, aborted)
        held = sum(count for _, count in segments)
        less, more = random.randint(1, held), held + random.randrange(99)
        self.bytes = random.choice((held, held, less, more))
        self.start = self.row
        self.stop = self.start + -(-self.bytes // BYTES)  # its rows
        self.sent = self.start * BYTES
        self.bursts: deque[Burst] = deque()
        at, end = self.start * BYTES, self.start * BYTES + self.bytes
        for address, count in segments:
            self.bursts.extend(cut(at, address, min(count, end - at), BYTES, BEATS))
            at += min(count, end - at)

    def goes_on_in(self, at: int, whole: bool) -> int:
        """Returns the buffer page in which the job continues after byte ``at`` is sent."""
        return -(-self.stop // ROWS) if whole else at // (ROWS * BYTES)

    def there(self) -> int:
        """Returns the position up to which the job's bytes are in the buffer."""
        return self.start * BYTES + self.bytes if self.ended else self.row * BYTES


@cocotb.test(timeout_time=500, timeout_unit="us")
async def plans_what_is_there(dut) -> None:
    """mae_dma_write_burst_plan gives the expected bursts, drops and end of each random job."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    feed = Feed(dut, CONTEXTS)
    contexts = [Context(feed, i) for i in range(CONTEXTS)]
    wake, drops = 0, 0
    while min(context.jobs for context in contexts) < 20:
        feed.clock()
        each = list(enumerate(contexts))
        dut.look_row_i.value = sum(c.row % COUNT << 6 * i for i, c in each)
        dut.look_ended_i.value = sum(c.ended << i for i, c in each)
        dut.look_bytes_i.value = sum(((c.bytes - 1) % BYTES + 1) << 5 * i for i, c in each)
        dut.wake_i.value = wake
        room = sum(c.under_way for c in contexts) < IDS
        dut.ready_i.value = int(room and random.random() < 0.7)
        answer = random.choice([None] * 3 + [i for i, c in each if c.under_way])
        dut.b_valid_i.value, dut.b_ctx_i.value = int(answer is not None), answer or 0
        await RisingEdge(dut.clk_i)
        sent = int(dut.aw_valid_o.value)
        if int(dut.burst_valid_o.value):
            context = contexts[int(dut.burst_ctx_o.value)]
            assert int(dut.burst_drop_o.value) == 1 - sent
            if sent:
                burst = context.bursts.popleft()
                assert burst.stop <= context.there(), "its data is there"
                got = [int(getattr(dut, f"burst_{name}_o").value) for name in PLACE]
                lane0 = (burst.row - context.page * ROWS) % (2 * ROWS)
                place = [lane0, burst.offset, burst.length, burst.first, burst.last]
                assert got == place and int(dut.aw_addr_o.value) == burst.address
                assert int(dut.burst_bytes_o.value) == burst.stop - burst.start
                whole = burst.stop == context.start * BYTES + context.bytes
                page = context.goes_on_in(burst.stop, whole)
                sent_to = burst.stop
                context.under_way += 1
            else:
                assert not context.bursts and not feed.queues[context.number], (
                    "only what no segment wants"
                )
                assert context.sent < context.there()
                sent_to = context.there()
                page = context.goes_on_in(sent_to, context.ended)
                drops += 1
            assert int(dut.burst_pages_o.value) == page - context.page
            context.page, context.sent = page, sent_to
        else:
            assert not sent
        if int(dut.finish_valid_o.value):
            context = contexts[int(dut.look_ctx_o.value)]
            assert context.ended and not context.bursts and not feed.queues[context.number]
            assert context.sent == context.there() and not context.under_way
            context.jobs += 1
            context.row = context.page * ROWS
            context.begin()
        if answer is not None:
            contexts[answer].under_way -= 1
        wake = 0
        context = contexts[number := random.randrange(CONTEXTS)]
        if context.row < context.stop and context.row - context.sent // BYTES < 3 * ROWS:
            context.row, wake = context.row + 1, 1 << number
            context.ended = context.row == context.stop
    assert drops > 5, "the draw missed a case"


@cocotb.test(timeout_time=5, timeout_unit="us")
async def takes_two_clocks(dut) -> None:
    """mae_dma_write_burst_plan gives a burst two clocks after its last row, then one per clock."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    dut.ready_i.value = dut.seg_valid_i.value = 1
    dut.seg_bytes_i.value = 2 * BEATS * BYTES
    await RisingEdge(dut.clk_i)
    dut.seg_valid_i.value = 0
    for _ in range(4):
        await RisingEdge(dut.clk_i)
        assert int(dut.burst_valid_o.value) == 0, "nothing is there"
    shown = []
    dut.wake_i.value = 1
    for _ in range(5):
        await RisingEdge(dut.clk_i)
        dut.wake_i.value, dut.look_row_i.value = 0, 2 * BEATS
        shown.append(int(dut.burst_valid_o.value))
    assert shown == [0, 0, 1, 1, 0]


def test_dma_write_burst_plan() -> None:
    """Builds mae_dma_write_burst_plan in write_plan_bench and runs this file's tests."""
    bench.run("write_plan_bench", sources=["tests/dma/write/write_plan_bench.sv"])
