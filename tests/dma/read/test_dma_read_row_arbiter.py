# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_read_row_arbiter: order of rows, back-pressure, ends of jobs.

Tests mae_dma_read_row_arbiter.
"""

import random

import cocotb
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

BYTES, CONTEXTS, ROWS = 16, 3, 4  # the sizes of read_rows_bench: rows of a page
COUNT = 64  # rows are counted modulo this
FINAL = ("ctx", "row", "bytes", "aborted", "zero")
INPUTS = "look_ctx wake room commit_row rd_data row_ready final_valid final_ctx final_row"
INPUTS += " final_bytes final_aborted final_zero"


class Context:
    """Models one context of mae_dma_read_row_arbiter: rows committed and sent, job's last row."""

    def __init__(self) -> None:
        self.out = self.commit = self.jobs = self.since_room = 0
        self.begin()

    def begin(self) -> None:
        """Draws the context's next job: its number of rows, and whether it is aborted."""
        self.last = self.out + random.randrange(12)
        self.aborted = random.random() < 0.3
        self.zero = self.aborted and random.random() < 0.5
        self.bytes = 1 if self.zero else random.randint(1, BYTES)
        self.pageless = self.zero and self.last % ROWS == 0
        self.next = self.last if self.pageless else (self.last // ROWS + 1) * ROWS
        self.ended = False

    def limit(self) -> int:
        """Returns the highest row that the test may commit in this context now."""
        whole = self.ended and not self.aborted
        return min(self.next if whole else self.last, self.out + 2 * ROWS)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def rows_in_order(dut) -> None:
    """mae_dma_read_row_arbiter sends each job's rows in order, whatever stalls occur."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    contexts = [Context() for _ in range(CONTEXTS)]
    register = None  # the row that is shown
    rooms = wake = 0
    while min(context.jobs for context in contexts) < 20:
        number, look = random.randrange(CONTEXTS), random.randrange(CONTEXTS)
        context = contexts[number]
        final = not context.ended and random.random() < 0.1
        final = final and (not context.aborted or context.commit == context.last)
        dut.final_valid_i.value = int(final)
        values = (number, context.last % COUNT, context.bytes, context.aborted, context.zero)
        for name, value in zip(FINAL, values, strict=True):
            getattr(dut, f"final_{name}_i").value = int(value)
        if random.random() < 0.1:
            rooms = random.getrandbits(CONTEXTS)
        ready = int(random.random() < 0.7)
        dut.room_i.value, dut.row_ready_i.value, dut.wake_i.value = rooms, ready, wake
        dut.look_ctx_i.value = look
        commits = [context.commit % COUNT for context in contexts]
        dut.commit_row_i.value = sum(commit << 6 * i for i, commit in enumerate(commits))
        await RisingEdge(dut.clk_i)
        assert int(dut.look_ended_o.value) == int(contexts[look].ended)
        assert int(dut.row_valid_o.value) == int(register is not None)
        finish = None
        if register:
            shown = [getattr(dut, f"row_{name}_o") for name in ("ctx", "data", "bytes", "last")]
            assert [int(signal.value) for signal in shown] == register
            if ready:
                taken = contexts[register[0]]
                taken.since_room = 0 if rooms >> register[0] & 1 else taken.since_room + 1
                assert taken.since_room <= 2, "the client has no room"
                finish = register[0] if register[3] else None
                register = None
        assert int(dut.finish_valid_o.value) == int(finish is not None)
        assert finish in (None, int(dut.finish_ctx_o.value))
        ended = final
        if int(dut.rd_enable_o.value):  # a row is read; it comes with the next clock
            assert register is None, "it has a place to go to"
            at = int(dut.pick_ctx_o.value)
            going = contexts[at]
            assert int(dut.rd_row_o.value) == going.out % ROWS
            last = going.ended and going.out == going.last
            assert going.out < going.commit or last and going.aborted
            data = random.getrandbits(8 * BYTES)
            dut.rd_data_i.value = data
            count = going.bytes if last else BYTES
            register = [at, 0 if last and going.zero else data, count, int(last)]
            empties = (last or going.out % ROWS == ROWS - 1) and not (last and going.pageless)
            assert int(dut.rd_empties_o.value) == int(empties), "its page is free"
            going.out += 1
            if last:
                going.jobs += 1
                going.out = going.next
                going.commit = max(going.commit, going.next)  # what is behind an abort
                going.begin()
        if ended:
            context.ended = True
        wake = 0
        for i, context in enumerate(contexts):
            if context.commit < context.limit() and random.random() < 0.3:
                context.commit = random.randint(context.commit + 1, context.limit())
                if context.commit > context.last:
                    context.commit = context.next  # a whole job is committed with its page
                wake |= 1 << i


@cocotb.test(timeout_time=5, timeout_unit="us")
async def row_a_clock(dut) -> None:
    """mae_dma_read_row_arbiter sends one row per clock, from each context in turn."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    dut.room_i.value = dut.wake_i.value = 2**CONTEXTS - 1
    dut.row_ready_i.value = 1
    dut.commit_row_i.value = sum(ROWS << 6 * i for i in range(CONTEXTS))
    came = []
    for _ in range(ROWS * CONTEXTS + 3):
        await RisingEdge(dut.clk_i)
        dut.wake_i.value = 0
        came.append(int(dut.row_ctx_o.value) if int(dut.row_valid_o.value) else None)
    assert came[:2] == [None, None] and came[-1] is None
    turns = [came[at : at + CONTEXTS] for at in range(2, len(came) - 1, CONTEXTS)]
    assert all(sorted(turn) == list(range(CONTEXTS)) for turn in turns)


def test_dma_read_row_arbiter() -> None:
    """Builds mae_dma_read_row_arbiter in read_rows_bench and runs this file's tests."""
    bench.run("read_rows_bench", sources=["tests/dma/read/read_rows_bench.sv"])
