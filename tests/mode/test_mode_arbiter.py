# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_arbiter: rows and serial blocks reach the cipher lanes once and in fair turns."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

REQ_BITS = 8 + 2 + 1 + 128


class Askers:
    """Models the parallel and serial path that share the lanes through mae_mode_arbiter."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.lanes = bench.parameters()["Lanes"]
        self.row: dict[int, int] | None = None  # lane: request
        self.serial: list[int | None] = [None] * self.lanes
        self.ready = 0
        self.log: list[tuple[str, int]] = []

    async def reset(self) -> None:
        """Resets mae_mode_arbiter without requests."""
        await start(self.dut, parallel_valid_i=0, serial_valid_i=0, req_ready_i=0)

    def ask(self, lanes: int) -> None:
        """Offers a row of blocks for a set of lanes on mae_mode_arbiter's parallel port."""
        chosen = [i for i in range(self.lanes) if lanes >> i & 1]
        self.row = {i: random.getrandbits(REQ_BITS) for i in chosen}

    def ask_serial(self, lane: int) -> None:
        """Offers a block for a lane on mae_mode_arbiter's serial port."""
        self.serial[lane] = random.getrandbits(REQ_BITS)

    async def step(self) -> tuple[set[int], set[int]]:
        """Runs one clock of mae_mode_arbiter; returns lanes granted to row and serial blocks."""
        dut, row = self.dut, self.row or {}
        dut.parallel_valid_i.value = self.row is not None
        dut.parallel_lanes_i.value = sum(1 << i for i in row)
        dut.parallel_req_i.value = sum(value << i * REQ_BITS for i, value in row.items())
        dut.serial_valid_i.value = sum((r is not None) << i for i, r in enumerate(self.serial))
        dut.serial_req_i.value = sum((r or 0) << i * REQ_BITS for i, r in enumerate(self.serial))
        dut.req_ready_i.value = self.ready
        await RisingEdge(dut.clk_i)
        moved = int(dut.req_valid_o.value) & self.ready
        taken, serial_ready = int(dut.parallel_taken_o.value), int(dut.serial_ready_o.value)
        assert not taken or self.row is not None
        by_row, by_serial = set(), set()
        for lane, asked in enumerate(self.serial):
            sent = int(dut.req_o.value) >> lane * REQ_BITS & (1 << REQ_BITS) - 1
            if taken and lane in row:
                assert moved >> lane & 1 and sent == row[lane], "the whole row in one clock"
                assert not serial_ready >> lane & 1
                by_row.add(lane)
            elif asked is not None and serial_ready >> lane & 1:
                assert moved >> lane & 1 and sent == asked
                self.serial[lane] = None
                by_serial.add(lane)
            else:
                assert not moved >> lane & 1, "a request from nowhere"
        if taken:
            self.row = None
        return by_row, by_serial


@cocotb.test(timeout_time=200, timeout_unit="us")
async def nothing_lost_nothing_stuck(dut) -> None:
    """mae_mode_arbiter passes each request to its lane exactly once, after a bounded wait."""
    askers = Askers(dut)
    await askers.reset()
    waited, passed = 0, [0] * askers.lanes
    for _ in range(3000):
        if askers.row is None and random.random() < 0.7:
            askers.ask(random.randrange(1, 1 << askers.lanes))
        for lane in range(askers.lanes):
            if askers.serial[lane] is None and random.random() < 0.5:
                askers.ask_serial(lane)
        askers.ready = random.choice((0, random.getrandbits(askers.lanes), -1))
        askers.ready &= (1 << askers.lanes) - 1
        by_row, _ = await askers.step()
        waited = waited + 1 if askers.row is not None else 0
        assert waited < 200, "the parallel path starves"
        for lane, asked in enumerate(askers.serial):
            passed[lane] = passed[lane] + (lane in by_row) if asked is not None else 0
            assert passed[lane] < 30, "a serial lane starves"


@cocotb.test(timeout_time=20, timeout_unit="us")
async def takes_turns(dut) -> None:
    """mae_mode_arbiter grants a lane to row blocks and serial blocks in turn."""
    askers = Askers(dut)
    await askers.reset()
    askers.ready = every = (1 << askers.lanes) - 1
    turns = []
    for _ in range(20):
        if askers.row is None:
            askers.ask(every)
        for lane in range(askers.lanes):
            if askers.serial[lane] is None:
                askers.ask_serial(lane)
        by_row, by_serial = await askers.step()
        assert len(by_row) + len(by_serial) == askers.lanes, "no lane idles"
        turns.append(bool(by_row))
    assert turns == [n % 2 == turns.index(True) for n in range(20)]


@cocotb.test(timeout_time=20, timeout_unit="us")
async def keeps_its_turn(dut) -> None:
    """mae_mode_arbiter holds back rows while a serial block whose turn it is waits for its lane."""
    askers = Askers(dut)
    await askers.reset()
    top, every = askers.lanes - 1, (1 << askers.lanes) - 1
    askers.ask_serial(top)
    askers.ask(every)
    askers.ready = every
    while top not in (await askers.step())[0]:
        askers.ask_serial(top)
    askers.ask(every)
    askers.ready = every & ~(1 << top)
    for _ in range(10):
        assert await askers.step() == (set(), set())
    askers.ready = every
    assert await askers.step() == (set(), {top})
    askers.ask_serial(top)
    askers.ready = every & ~(1 << top)  # now the row has the turn, and waits for all its lanes
    for _ in range(10):
        assert await askers.step() == (set(), set())
    askers.ready = every
    assert (await askers.step())[0] == set(range(askers.lanes))


@cocotb.test(timeout_time=20, timeout_unit="us", skip=bench.parameters().get("Lanes", 1) < 2)
async def keeps_its_turn_beside_short_rows(dut) -> None:
    """mae_mode_arbiter keeps a serial block's turn while rows for other lanes pass."""
    askers = Askers(dut)
    await askers.reset()
    top, every = askers.lanes - 1, (1 << askers.lanes) - 1
    askers.ask_serial(top)
    passed = 0
    for n in range(40):  # the lane is not ready for the serial block where only short rows go
        if askers.row is None:
            askers.ask(1 if n % 2 else every)
        long = len(askers.row) == askers.lanes
        askers.ready = every if long else every & ~(1 << top)
        by_row, by_serial = await askers.step()
        passed += top in by_row
        if top in by_serial:
            break
    assert passed <= 1


@pytest.mark.parametrize("lanes", (1, 3))
def test_mode_arbiter(lanes: int) -> None:
    """Builds mae_mode_arbiter for one and several lanes and runs this file's tests."""
    bench.run("mae_mode_arbiter", parameters={"Lanes": lanes})
