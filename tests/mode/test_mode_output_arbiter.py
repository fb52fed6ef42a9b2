# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_output_arbiter: rows of all sources leave once, in turn, without excess bytes.

Tests mae_mode_output_arbiter.
"""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

PAYLOAD = ("ctx", "data", "bytes", "last", "key_lost")


class Row:
    """Holds a random output row that a source offers to mae_mode_output_arbiter."""

    def __init__(self, lanes: int, contexts: int) -> None:
        self.ctx = random.randrange(contexts)
        self.data = random.randbytes(16 * lanes)
        self.bytes = random.choice((random.randrange(1, 16 * lanes + 1), 16 * lanes))
        self.last = random.randrange(2)


def blocks(data: bytes) -> int:
    """Packs the AES blocks of a row into an integer, the first in the lowest bits."""
    order = [data[at : at + 16] for at in range(0, len(data), 16)]
    return int.from_bytes(b"".join(reversed(order)), "big")


class Merge:
    """Drives mae_mode_output_arbiter with rows on its sources and checks what leaves."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.lanes, self.contexts = (bench.parameters()[n] for n in ("Lanes", "Contexts"))
        self.offered: list[Row | None] = [None] * (self.lanes + 1)
        self.lost = 0
        self.kept: list[int] | None = None  # shown and not taken

    async def reset(self) -> None:
        """Resets mae_mode_output_arbiter with idle sources."""
        await start(self.dut, source_valid_i=0, out_ready_i=0, lost_i=0)

    def offer(self, source: int) -> None:
        """Offers a new random row on a source of mae_mode_output_arbiter."""
        self.offered[source] = Row(self.lanes, self.contexts)

    def _drive(self, port: str, width: int, value) -> None:
        packed = sum(value(row) << n * width for n, row in enumerate(self.offered) if row)
        getattr(self.dut, f"source_{port}_i").value = packed

    async def step(self, ready: bool) -> int | None:
        """Runs one clock of mae_mode_output_arbiter; returns the source whose row left."""
        dut = self.dut
        self._drive("valid", 1, lambda row: 1)
        self._drive("ctx", 8, lambda row: row.ctx)
        self._drive("data", 128 * self.lanes, lambda row: blocks(row.data))
        self._drive("bytes", (16 * self.lanes).bit_length(), lambda row: row.bytes)
        self._drive("last", 1, lambda row: row.last)
        dut.lost_i.value = self.lost
        dut.out_ready_i.value = ready
        await RisingEdge(dut.clk_i)
        taken = int(dut.source_ready_o.value)
        if not int(dut.out_valid_o.value):
            assert not any(self.offered) and taken == 0
            return None
        shown = [int(getattr(dut, f"out_{name}_o").value) for name in PAYLOAD]
        assert self.kept in (None, shown), "a row was exchanged before it was taken"
        self.kept = None if ready else shown
        if not ready:
            assert taken == 0
            return None
        source = taken.bit_length() - 1
        row = self.offered[source]
        assert taken == 1 << source and row
        lost = self.lost >> row.ctx & 1
        assert shown == [row.ctx, self.visible(row), row.bytes, row.last, lost]
        self.offered[source] = None
        return source

    def visible(self, row: Row) -> int:
        """Returns a row's value as it may leave: zeros beyond its length or after a lost key."""
        if self.lost >> row.ctx & 1:
            return 0
        return blocks(row.data[: row.bytes].ljust(16 * self.lanes, b"\0"))


@cocotb.test(timeout_time=100, timeout_unit="us")
async def shows_what_it_may(dut) -> None:
    """Each row leaves mae_mode_output_arbiter once, zeros beyond its length or for lost keys."""
    merge = Merge(dut)
    await merge.reset()
    left = 0
    for _ in range(1500):
        for source, row in enumerate(merge.offered):
            if row is None and random.random() < 0.3:
                merge.offer(source)
        if merge.kept is None:
            merge.lost = random.choice((0, random.getrandbits(merge.contexts)))
        left += await merge.step(random.random() < 0.7) is not None
    assert left > 400


@cocotb.test(timeout_time=20, timeout_unit="us")
async def every_length(dut) -> None:
    """mae_mode_output_arbiter zeroes all bytes beyond a row's length, for each length."""
    merge = Merge(dut)
    await merge.reset()
    for count in range(1, 16 * merge.lanes + 1):
        merge.offer(count % (merge.lanes + 1))
        merge.offered[count % (merge.lanes + 1)].bytes = count
        assert await merge.step(True) is not None


@cocotb.test(timeout_time=20, timeout_unit="us")
async def in_turns(dut) -> None:
    """If all sources offer rows, mae_mode_output_arbiter takes one per clock from each in turn."""
    merge = Merge(dut)
    await merge.reset()
    sources, served = merge.lanes + 1, []
    for _ in range(5 * sources):
        for source, row in enumerate(merge.offered):
            if row is None:
                merge.offer(source)
        served.append(await merge.step(True))
    for at in range(4 * sources):
        assert sorted(served[at : at + sources]) == list(range(sources))


@pytest.mark.parametrize(
    "parameters", ({"Lanes": 1, "Contexts": 1}, {"Lanes": 3, "Contexts": 12}), ids=str
)
def test_mode_output_arbiter(parameters: dict[str, int]) -> None:
    """Builds mae_mode_output_arbiter with one and a few lanes and runs this file's tests."""
    bench.run("mae_mode_output_arbiter", parameters=parameters)
