# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_write_row_input: rows stored in claimed pages; reserved room stays available."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

BYTES, ROWS = 16, 4  # of a page
COUNT = 64  # rows are counted modulo this
INPUTS = "row_valid row_ctx row_bytes row_last reserve_valid reserve_ctx look_ctx finish_valid"
INPUTS += " claim_room rooms"


class Context:
    """Models one context of mae_dma_write_row_input: rows in and out, pages claimed."""

    def __init__(self) -> None:
        self.row = self.away = self.claimed = self.bytes = 0
        self.ended = False


async def clock(
    dut,
    contexts: list[Context],
    row: tuple | None,
    rooms: int,
    *,
    may: int | None = None,
    reserve: int | None = None,
) -> bool:
    """Runs one clock of mae_dma_write_row_input with an offered row; ends jobs at random."""
    look = random.randrange(len(contexts))
    looked = contexts[look]
    finish = looked.ended and random.random() < 0.3
    dut.look_ctx_i.value, dut.finish_valid_i.value = look, int(finish)
    ctx, count, last = row or (0, BYTES, 0)
    dut.row_valid_i.value = int(row is not None)
    dut.row_ctx_i.value, dut.row_bytes_i.value, dut.row_last_i.value = ctx, count, last
    dut.reserve_valid_i.value, dut.reserve_ctx_i.value = int(reserve is not None), reserve or 0
    may = rooms >> ctx & 1 if may is None else may
    dut.rooms_i.value, dut.claim_room_i.value = rooms, may
    await RisingEdge(dut.clk_i)
    at = contexts[ctx]
    own = at.away or (at.row + at.away) % ROWS or may
    room = bool(own) and not at.ended
    assert int(dut.row_ready_o.value) == int(room)
    assert int(dut.look_row_o.value) == looked.row % COUNT
    assert int(dut.look_ended_o.value) == int(looked.ended)
    assert not looked.ended or int(dut.look_bytes_o.value) == looked.bytes
    taken = row is not None and room
    guest = taken and not at.away and reserve != ctx
    claims = int(dut.claim_valid_o.value)
    for number, claimer in ((0, reserve), (1, ctx if guest else None)):
        new = claimer is not None and (contexts[claimer].row + contexts[claimer].away) % ROWS == 0
        assert claims >> number & 1 == int(new), "a page is claimed for its first row"
        if new:
            got = int(dut.claim_ctx_o.value)
            width = max(1, (len(contexts) - 1).bit_length())
            assert got >> number * width & (1 << width) - 1 == claimer
            contexts[claimer].claimed += 1
    assert int(dut.wr_valid_o.value) == int(taken)
    assert int(dut.put_valid_o.value) == int(taken and at.row % ROWS == 0)
    if reserve is not None:
        contexts[reserve].away += 1
    if taken:
        assert (int(dut.wr_ctx_o.value), int(dut.wr_row_o.value)) == (ctx, at.row % ROWS)
        at.away -= 0 if guest else 1
        at.row += 1
        at.ended, at.bytes = bool(last), count
    if finish:
        looked.ended = False
        looked.row = -(-looked.row // ROWS) * ROWS
    return taken


@cocotb.test(timeout_time=200, timeout_unit="us")
async def ready_holds_back(dut) -> None:
    """mae_dma_write_row_input accepts a row only if its context has a page or may claim one."""
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    contexts = [Context() for _ in range(bench.parameters()["Contexts"])]
    row, held = None, 0
    for _ in range(3000):
        if row is None and random.random() < 0.9:
            last = random.random() < 0.1
            count = random.randint(1, BYTES) if last else BYTES
            row = (random.randrange(len(contexts)), count, int(last))
        taken = await clock(dut, contexts, row, random.getrandbits(len(contexts)))
        held += row is not None and not taken
        row = None if taken else row
    assert held > 100


@cocotb.test(timeout_time=200, timeout_unit="us")
async def room_keeps_its_word(dut) -> None:
    """mae_dma_write_row_input accepts at once each row for which room was reserved.

    Rows that it gets after room fell need at most the page that there was room for.
    """
    await start(dut, **{f"{name}_i": 0 for name in INPUTS.split()})
    contexts = [Context() for _ in range(bench.parameters()["Contexts"])]
    everyone = (1 << len(contexts)) - 1
    left = [random.randrange(1, 40) for _ in contexts]  # rows of the job not yet chosen
    chosen: tuple | None = None  # in the read mover's register
    away: list[tuple] = []  # at the client
    rooms, closed = everyone, [0] * len(contexts)
    for step in range(4000):
        if step % 20 == 0:
            rooms = random.getrandbits(len(contexts))
            closed = [context.claimed for context in contexts]
        get = chosen is not None and random.random() < 0.8
        if get:
            away.append(chosen)
        row = away[0] if away and random.random() < 0.6 else None  # even in the same clock
        asked = chosen[0] if get else None  # room has a margin: there is always a page for it
        taken = await clock(dut, contexts, row, rooms, may=1, reserve=asked)
        assert taken == (row is not None), "a row was held back"
        if taken:
            away.pop(0)
        for i, context in enumerate(contexts):
            if not rooms >> i & 1:
                assert context.claimed <= closed[i] + 1, "one page at most after room fell"
        given = int(dut.room_o.value)
        if get or chosen is None:
            chosen = None
            able = [i for i in range(len(contexts)) if given >> i & 1 and left[i]]
            if able:
                ctx = random.choice(able)
                left[ctx] -= 1
                chosen = (ctx, BYTES if left[ctx] else 5, int(left[ctx] == 0))
        for i, context in enumerate(contexts):
            busy = context.ended or any(row[0] == i for row in [*away, chosen or (-1,)])
            if left[i] == 0 and not busy:  # the job is over
                left[i] = random.randrange(1, 40)
    assert min(context.claimed for context in contexts) > 20


@pytest.mark.parametrize("contexts", [1, 3])
def test_dma_write_row_input(contexts: int) -> None:
    """Builds mae_dma_write_row_input for one and several contexts; runs this file's tests."""
    parameters = {"DataWidth": 8 * BYTES, "Contexts": contexts, "PageRows": ROWS, "RowWidth": 6}
    bench.run("mae_dma_write_row_input", parameters=parameters)
