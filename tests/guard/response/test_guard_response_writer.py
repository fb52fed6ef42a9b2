# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_response_writer: addresses, bytes and order of responses in host memory."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.support.bench import run

NUMBER = 0xFFFF


class Slots:
    """Drives mae_guard_response_writer with responses and models an in-order host bus."""

    def __init__(self, dut, seed: int, stall: float, wait: int, fail: int = -1) -> None:
        self.dut, self.random, self.stall, self.wait = dut, random.Random(seed), stall, wait
        self.fail = fail  # the burst that ends with an error
        self.begun: list[tuple] = []  # what answers there are
        self.bursts: list[tuple[int, list]] = []
        self.answered: list[int] = []
        self.most = 0

    async def begin(self) -> None:
        """Starts the clock and resets the response writer."""
        dut = self.dut
        Clock(dut.clk_i, 10, "ns").start()
        for name in """clear_i halt_i begin_i line_valid_i aw_ready_i w_ready_i write_done_i
         write_error_i""".split():
            getattr(dut, name).value = 0
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 2)
        dut.rst_ni.value = 1
        await FallingEdge(dut.clk_i)

    async def play(self, count: int) -> None:
        """Feeds the response writer until a number of responses is written or an error occurs."""
        dut, r = self.dut, self.random
        lines, writing, heads, beats, due = [], False, [], [], []
        clocks = 0
        while len(self.answered) < count and not dut.fatal_valid_o.value:
            clocks += 1
            assert clocks < 100000
            begins = bool(dut.room_o.value) and not writing and len(self.begun) < count
            begins = begins and r.random() >= self.stall
            dut.begin_i.value = int(begins)
            if begins:
                number, slot, size = r.randrange(1 << 64), r.randrange(1 << 58), r.randrange(1, 10)
                place = r.randrange(8), r.randrange(1 << 32), number
                passed = r.randrange(2)
                packed = (place[0] << 96 | place[1] << 64 | number) << 1 | passed
                dut.answer_i.value, dut.slot_i.value, dut.beats_i.value = packed, slot, size
                lines = [(r.randrange(1 << 512), r.randrange(1 << 64)) for _ in range(size)]
                self.begun.append((packed, 64 * slot, list(lines), number))
                writing = True
            elif lines and r.random() >= self.stall:
                dut.line_valid_i.value = 1
                dut.line_i.value, dut.line_strb_i.value = lines[0]
                dut.line_last_i.value = int(len(lines) == 1)
            dut.aw_ready_i.value = int(r.random() >= self.stall)
            dut.w_ready_i.value = int(r.random() >= self.stall)
            done = bool(due) and due[0] <= clocks
            dut.write_done_i.value = int(done)
            ended = len(self.bursts) - len(due)
            dut.write_error_i.value = int(done and ended == self.fail)
            await Timer(1, "ns")
            if dut.aw_valid_o.value and dut.aw_ready_i.value:
                heads.append((int(dut.aw_address_o.value), int(dut.aw_beats_o.value)))
            if dut.w_valid_o.value and dut.w_ready_i.value:
                beats.append((int(dut.w_data_o.value), int(dut.w_strb_o.value)))
            taken = bool(dut.line_valid_i.value and dut.line_ready_o.value)
            if taken:
                lines.pop(0)
            if dut.written_o.value:
                writing = False
            if heads and len(beats) == heads[0][1]:
                address, _ = heads.pop(0)
                self.bursts.append((address, beats))
                beats = []
                last = due[-1] if due else 0
                due.append(max(last, clocks) + 1 + r.randrange(self.wait))
            if done:
                due.pop(0)
            if dut.answered_valid_o.value:
                self.answered.append(int(dut.answered_o.value))
            self.most = max(self.most, len(due))
            await FallingEdge(dut.clk_i)
            if taken:
                dut.line_valid_i.value = 0
        dut.write_done_i.value = 0

    def judge(self) -> None:
        """Asserts that each response and then its sequence number were written, in order."""
        numbers, responses = [], []
        for address, beats in self.bursts:
            (numbers if beats[0][1] == NUMBER and len(beats) == 1 else responses).append(
                (address, beats)
            )
        assert responses == [(slot, lines) for _, slot, lines, _ in self.begun][: len(responses)]
        wanted = [
            (slot, [(int.from_bytes(number.to_bytes(8), "little"), NUMBER)])
            for _, slot, _, number in self.begun
        ]
        assert numbers == wanted[: len(numbers)]
        assert self.answered == [packed for packed, *_ in self.begun][: len(self.answered)]


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def order(dut) -> None:
    """The response writer writes 150 responses in order to fast and slow host memories."""
    for seed, (stall, wait) in enumerate(((0.0, 1), (0.0, 60), (0.5, 5), (0.2, 300))):
        slots = Slots(dut, seed, stall, wait)
        await slots.begin() if seed == 0 else None
        await slots.play(150)
        slots.judge()
        assert len(slots.bursts) == 300
        assert slots.most >= (3 if wait > 50 else 1), slots.most
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def errors(dut) -> None:
    """On a bus error the response writer names the response and never writes its number."""
    for seed in range(20):
        slots = Slots(dut, seed, 0.2, 40, fail=seed)
        if seed == 0:
            await slots.begin()
        await slots.play(50)
        slots.judge()
        assert dut.fatal_valid_o.value
        place = int(dut.fatal_place_o.value)
        number = place & (1 << 64) - 1
        names = [entry[3] for entry in slots.begun]
        assert names.index(number) >= len(slots.answered)
        address, beats = slots.bursts[seed]
        assert slots.begun[names.index(number)][1] == address
        if len(beats) > 1:  # a response: its number is not written
            assert not any(
                at == address and lines[0][1] == NUMBER for at, lines in slots.bursts[seed + 1 :]
            )
        for _ in range(10):
            await FallingEdge(dut.clk_i)
            assert dut.fatal_valid_o.value and not dut.answered_valid_o.value
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = dut.line_valid_i.value = 0
        assert not dut.fatal_valid_o.value and dut.room_o.value


def test_guard_response_writer() -> None:
    """Builds mae_guard_response_writer and runs this file's simulation tests on it."""
    run("mae_guard_response_writer")
