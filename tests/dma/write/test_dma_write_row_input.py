# SPDX-License-Identifier: Apache-2.0
"""Rows into rings, none beyond a ring's end, and room that keeps its word.

Tests mae_dma_write_row_input.
"""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

BYTES, ROWS = 16, 8
INPUTS = "row_valid row_ctx row_bytes row_last reserve_valid reserve_ctx look_ctx finish_valid"
INPUTS += " free_valid free_ctx free_row"


class Context:
    """One context: rows that came, rows that are sent, whether the job's last one came."""

    def __init__(self) -> None:
        self.row = self.free = self.bytes = 0
        self.ended = False


async def clock(dut, contexts: list[Context], row: tuple | None, freeing: float) -> bool:
    """One clock with an offered row (context, bytes, last); is it taken? Frees and ends too."""
    number, look = random.randrange(len(contexts)), random.randrange(len(contexts))
    freed, looked = contexts[number], contexts[look]
    to = random.randint(freed.free, freed.row)
    free = random.random() < freeing
    finish = looked.ended and looked.free == looked.row and random.random() < 0.3
    dut.free_valid_i.value, dut.free_ctx_i.value = int(free), number
    dut.free_row_i.value = to % (2 * ROWS)
    dut.look_ctx_i.value, dut.finish_valid_i.value = look, int(finish)
    ctx, count, last = row or (0, BYTES, 0)
    dut.row_valid_i.value = int(row is not None)
    dut.row_ctx_i.value, dut.row_bytes_i.value, dut.row_last_i.value = ctx, count, last
    await RisingEdge(dut.clk_i)
    at = contexts[ctx]
    room = at.row - at.free < ROWS and not at.ended
    assert int(dut.row_ready_o.value) == int(room)
    assert int(dut.look_row_o.value) == looked.row % (2 * ROWS)
    assert int(dut.look_ended_o.value) == int(looked.ended)
    assert not looked.ended or int(dut.look_bytes_o.value) == looked.bytes
    taken = row is not None and room
    assert int(dut.wr_valid_o.value) == int(taken)
    if finish:
        looked.ended = False
    if taken:
        assert (int(dut.wr_ctx_o.value), int(dut.wr_row_o.value)) == (ctx, at.row % ROWS)
        at.row += 1
        at.ended, at.bytes = bool(last), count
    if free:
        freed.free = to
    return taken


@cocotb.test(timeout_time=200, timeout_unit="us")
async def ready_holds_back(dut) -> None:
    """Rows from anyone: taken until the ring is full or the job's last row is there."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    contexts = [Context() for _ in range(bench.parameters()["Contexts"])]
    row, full, freeing = None, 0, 0.5
    for step in range(3000):
        if step % 100 == 0:
            freeing = random.choice((0.02, 0.2, 0.8))
        if row is None and random.random() < 0.9:
            last = random.random() < 0.1
            count = random.randint(1, BYTES) if last else BYTES
            row = (random.randrange(len(contexts)), count, int(last))
        if await clock(dut, contexts, row, freeing):
            row = None
        full += any(context.row - context.free == ROWS for context in contexts)
    assert full > 100


@cocotb.test(timeout_time=200, timeout_unit="us")
async def room_keeps_its_word(dut) -> None:
    """A client that gives a row for each one that it gets is never held back."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    contexts = [Context() for _ in range(bench.parameters()["Contexts"])]
    left = [random.randrange(1, 40) for _ in contexts]  # rows of the job not yet chosen
    chosen: tuple | None = None  # in the read mover's register
    away: list[tuple] = []  # at the client
    highest, freeing = 0, 0.5
    for step in range(4000):
        if step % 100 == 0:
            freeing = random.choice((0.0, 0.1, 0.8))
        get = chosen is not None and random.random() < 0.8
        dut.reserve_valid_i.value = int(get)
        dut.reserve_ctx_i.value = chosen[0] if get else 0
        if get:
            away.append(chosen)
        row = away[0] if away and random.random() < 0.6 else None  # even in the same clock
        taken = await clock(dut, contexts, row, freeing)
        assert taken == (row is not None), "a row was held back"
        if taken:
            away.pop(0)
        rooms = int(dut.room_o.value)
        if get or chosen is None:
            chosen = None
            able = [i for i in range(len(contexts)) if rooms >> i & 1 and left[i]]
            if able:
                ctx = random.choice(able)
                left[ctx] -= 1
                chosen = (ctx, BYTES if left[ctx] else 5, int(left[ctx] == 0))
        for i, context in enumerate(contexts):
            busy = context.ended or any(row[0] == i for row in [*away, chosen or (-1,)])
            if left[i] == 0 and not busy:  # the job is over
                left[i] = random.randrange(1, 40)
        highest = max(highest, *(context.row - context.free for context in contexts))
    assert highest >= ROWS - 3, "rings are used to their margin"


@pytest.mark.parametrize("contexts", [1, 3])
def test_dma_write_row_input(contexts: int) -> None:
    """One context and several, small rings."""
    parameters = {"DataWidth": 8 * BYTES, "Contexts": contexts, "RowsPerContext": ROWS}
    bench.run("mae_dma_write_row_input", parameters=parameters)
