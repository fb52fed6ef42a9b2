# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axi_w_purge: write beats pass unchanged, but become zeros during a purge."""

import random

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge

from tests.support.bench import run
from tests.support.stream import start

BEATS = 4
FULL = 0xF


class Link:
    """Models the writer and the bus on both sides of mae_axi_w_purge."""

    def __init__(self, dut: SimHandleBase, seed: int) -> None:
        self.dut, self.random = dut, random.Random(seed)
        self.sent: list[tuple[int, int, int]] = []  # taken from the writer
        self.seen: list[tuple[int, int, int]] = []  # taken by the bus
        self.offered: tuple[int, int, int] | None = None
        self.rate, self.room = 1.0, 1.0

    async def step(self, purge: int) -> None:
        """Runs one clock of mae_axi_w_purge with or without a purge; records beats in and out."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        if self.offered is None and self.random.random() < self.rate:
            bits = self.random.getrandbits(32) | 1
            self.offered = bits, self.random.choice((FULL, 3)), self.random.randrange(2)
        dut.s_axi_wvalid.value = self.offered is not None
        data, strobes, last = self.offered or (0, 0, 0)
        dut.s_axi_wdata.value, dut.s_axi_wstrb.value = data, strobes
        dut.s_axi_wlast.value = last
        dut.m_axi_wready.value = self.random.random() < self.room
        dut.purge_i.value = purge
        await RisingEdge(dut.clk_i)
        if dut.m_axi_wvalid.value == 1 and dut.m_axi_wready.value == 1:
            beat = dut.m_axi_wdata, dut.m_axi_wstrb, dut.m_axi_wlast
            self.seen.append(tuple(int(signal.value) for signal in beat))
        if self.offered and dut.s_axi_wready.value == 1:
            self.sent.append(self.offered)
            self.offered = None


async def begin(dut: SimHandleBase, seed: int) -> Link:
    """Resets mae_axi_w_purge; returns the models around it."""
    await start(dut, purge_i=0, s_axi_wvalid=0, m_axi_wready=0)
    return Link(dut, seed)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def beats_pass_in_their_clock(dut: SimHandleBase) -> None:
    """Without a purge mae_axi_w_purge passes each write beat unchanged in its own clock."""
    link = await begin(dut, 1)
    for link.rate, link.room in ((1, 1), (0.5, 1), (1, 0.5), (0.6, 0.6)):
        for _ in range(200):
            await link.step(0)
            assert link.seen == link.sent
    assert len(link.seen) > 350


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def purged(dut: SimHandleBase) -> None:
    """mae_axi_w_purge sends zeros during a purge, except for a beat that the bus already sees."""
    link = await begin(dut, 2)
    kept = 0
    for round_ in range(200):
        link.sent, link.seen = [], []
        link.rate, link.room = link.random.choice((0.3, 1)), link.random.choice((0, 0.3, 1))
        for _ in range(link.random.randrange(6)):
            await link.step(0)
        before = len(link.seen)
        for _ in range(link.random.choice((1, 2, 30))):
            await link.step(1)
        link.rate = 0
        for _ in range(40 if link.offered else 0):
            await link.step(1)
        if not link.room:  # a bus that never takes anything
            assert len(link.sent) <= BEATS + 1 and not link.seen[before:]
            assert len(link.sent) >= BEATS or link.offered is None
        link.room = 1
        for _ in range(3 * BEATS):
            await link.step(1)
        assert link.offered is None
        assert [beat[2] for beat in link.seen] == [beat[2] for beat in link.sent], round_
        real = next((i for i, beat in enumerate(link.seen) if not beat[1]), len(link.seen))
        assert link.seen[:real] == link.sent[:real] and real <= before + 1
        assert all(beat[:2] == (0, 0) for beat in link.seen[real:])
        kept += real == before + 1
        await link.step(0)
    assert 20 < kept < 180


def test_axi_w_purge() -> None:
    """Builds mae_axi_w_purge for a 32-bit bus and runs this file's tests."""
    run("mae_axi_w_purge", parameters={"DataWidth": 32, "Beats": BEATS})
