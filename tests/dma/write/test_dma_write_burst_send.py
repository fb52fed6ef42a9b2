# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_write_burst_send: W beats, strobes and freed rows of planned bursts."""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

BYTES, ROWS = 16, 8  # the sizes of write_send_bench, two pages
FIELDS = ("ctx", "drop", "row", "offset", "len", "first", "last", "pages")


def draw(drop: bool, pages: int | None = None) -> dict[str, int]:
    """Returns a random planned write burst, or a drop of rows."""
    burst = {name: random.randrange(BYTES) for name in FIELDS}
    burst |= {"ctx": random.randrange(4), "drop": int(drop), "row": random.randrange(ROWS)}
    burst["len"] = random.randrange(5)
    burst["pages"] = random.randrange(3) if pages is None else pages
    if burst["len"] == 0:
        burst["first"], burst["last"] = sorted((burst["first"], burst["last"]))
    return burst


class Bench:
    """Drives planned bursts and buffer data into mae_dma_write_burst_send; checks its beats."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.beat = self.freed = 0  # of the burst that is offered
        self.due: deque[tuple] = deque()  # W beats

    async def clock(self, burst: dict[str, int] | None, ready: int) -> tuple[bool, bool]:
        """Runs one clock of mae_dma_write_burst_send with an offered burst; checks its outputs."""
        dut = self.dut
        dut.burst_valid_i.value, dut.w_ready_i.value = int(burst is not None), ready
        for name, value in (burst or {}).items():
            getattr(dut, f"burst_{name}_i").value = value
        await RisingEdge(dut.clk_i)
        shown = bool(int(dut.w_valid_o.value))
        if shown:
            beat = tuple(int(s.value) for s in (dut.w_data_o, dut.w_strb_o, dut.w_last_o))
            assert beat == self.due[0]
            if ready:
                self.due.popleft()
        else:
            assert int(dut.w_data_o.value) == 0, "nothing stays"
        done = burst is not None and bool(int(dut.burst_ready_o.value))
        read = bool(int(dut.rd_enable_o.value))
        if int(dut.free_valid_o.value):
            assert burst is not None and int(dut.rd_ctx_o.value) == burst["ctx"]
            self.freed += 1
            whole = self.beat == burst["len"] if read else burst["drop"] or self.beat < 0
            assert whole, "pages are free when the last beat is read"
        if done:
            assert self.freed == burst["pages"]
        if int(dut.rd_enable_o.value):
            assert burst is not None and not burst["drop"]
            place = [int(s.value) for s in (dut.rd_ctx_o, dut.rd_row_o, dut.rd_offset_o)]
            row = (burst["row"] + self.beat) % ROWS
            assert place == [burst["ctx"], row, burst["offset"]]
            last = self.beat == burst["len"]
            assert done == (last and burst["pages"] < 2), "done when its pages are free"
            low = burst["first"] if self.beat == 0 else 0
            high = burst["last"] if last else BYTES - 1
            data = random.getrandbits(8 * BYTES)
            dut.rd_data_i.value = data  # from now to the next read
            self.due.append((data, sum(1 << lane for lane in range(low, high + 1)), int(last)))
            self.beat = -1 if last else self.beat + 1  # then nothing but pages
        else:
            assert not done or burst["drop"] or self.beat < 0
        if done:
            self.beat = self.freed = 0
        return done, shown


async def begin(dut) -> Bench:
    """Resets mae_dma_write_burst_send with all inputs low."""
    names = ["burst_valid", "rd_data", "w_ready", *(f"burst_{name}" for name in FIELDS)]
    await start(dut, **{f"{name}_i": 0 for name in names})
    return Bench(dut)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def sends_as_planned(dut) -> None:
    """mae_dma_write_burst_send sends the planned beats and drops under random stalls."""
    own = await begin(dut)
    burst, sent = None, 0
    while sent < 400:
        if burst is None and random.random() < 0.7:
            burst = draw(random.random() < 0.2)
        done, _ = await own.clock(burst, int(random.random() < 0.7))
        if done:
            burst, sent = None, sent + 1
    for _ in range(4):
        await own.clock(None, 1)
    assert not own.due, "every beat that was read has left"


@cocotb.test(timeout_time=20, timeout_unit="us")
async def no_gap(dut) -> None:
    """mae_dma_write_burst_send sends the first beat after two clocks, then one in each clock.

    A drop takes a clock, and a second page one more.
    """
    own = await begin(dut)
    bursts = [draw(drop=number == 10, pages=number % 2) for number in range(20)]
    bursts[5]["pages"] = 2
    beats = [shown for burst in bursts for shown in [not burst["drop"]] * (burst["len"] + 1)]
    skipped = bursts[10]["len"]
    at = sum(burst["len"] + 1 for burst in bursts[:10])
    del beats[at : at + skipped]
    beats.insert(sum(burst["len"] + 1 for burst in bursts[:6]), False)
    left, shown = deque(bursts), []
    while len(shown) < len(beats) + 3:
        done, valid = await own.clock(left[0] if left else None, 1)
        shown.append(valid)
        if done:
            left.popleft()
    assert shown == [False, False, *beats, False]


def test_dma_write_burst_send() -> None:
    """Builds mae_dma_write_burst_send in write_send_bench and runs this file's tests."""
    bench.run("write_send_bench", sources=["tests/dma/write/write_send_bench.sv"])
