# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_host_port on a bus that answers unrequested, too early or too late.

Its parts: mae_guard_host_reads, mae_guard_host_writes, mae_guard_response_bursts and
mae_guard_halt_reg. What honest memories see of it is in test_guard_moves.
"""

import collections
import random

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.support.bench import run
from tests.support.stream import start

INPUTS = (
    "halt_i mov_ar_valid_i mov_aw_valid_i mov_w_valid_i ans_aw_valid_i ans_w_valid_i"
    " ar_ready_i r_valid_i aw_ready_i w_ready_i b_valid_i mov_w_last_i b_resp_i"
)


class Judge:
    """Asserts that the host port pulses beat_fault_o one clock after each illegal bus beat."""

    def __init__(self, dut) -> None:
        self.dut, self.due, self.wrong, self.right = dut, False, 0, 0

    async def clock(self, good: bool | None) -> None:
        """Runs one clock; asserts that beat_fault_o is high exactly if the beat was illegal."""
        await FallingEdge(self.dut.clk_i)
        assert bool(int(self.dut.beat_fault_o.value)) == (good is False)
        self.wrong += good is False
        self.right += good is True


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def judges_read_beats(dut) -> None:
    """The host port forwards a read beat only if an outstanding burst expects it."""
    await start(dut, **dict.fromkeys(INPUTS.split(), 0))
    judge, left, over, surplus = Judge(dut), {}, set(), 0
    dut.ar_ready_i.value = 1
    await FallingEdge(dut.clk_i)
    for _ in range(6000):
        free = [i for i in range(128) if i not in left]
        ask = random.random() < 0.1 and len(left) < 6
        dut.mov_ar_valid_i.value = int(ask)
        if ask:
            new, beats = random.choice(free), random.choice((1, 2, 8, 16, 256))
            dut.mov_ar_id_i.value, dut.mov_ar_len_i.value = new, beats - 1
            dut.mov_ar_addr_i.value = random.getrandbits(58) << 6
        good, shown = None, random.random() < 0.9
        if shown:
            known = list(left) or [3]
            i = random.choice(known) if random.random() < 0.97 else random.randrange(256)
            due = left.get(i) == 1
            last = due if random.random() < 0.97 else random.random() < 0.5
            if due:  # an end that is missing, and then beats that nobody asked for
                last = random.random() < (0.2 if i in over else 0.8)
                surplus += i in over and not last
            good = i in left and i not in over and last == due
            dut.r_id_i.value, dut.r_last_i.value = i, int(last)
        dut.r_valid_i.value = int(shown)
        await Timer(1, "ns")
        assert bool(int(dut.mov_r_valid_o.value)) == bool(good)
        await judge.clock(good)
        if shown and i in left:
            if last:
                del left[i]
                over.discard(i)
            else:
                if left[i] == 1:
                    over.add(i)
                left[i] = max(left[i] - 1, 1)
        if ask:
            left[new] = beats
    assert judge.wrong > 200 and judge.right > 2000 and surplus > 20
    # Halted, nothing gets through, and it is quiet once every burst has its end.
    dut.mov_ar_valid_i.value, dut.halt_i.value, dut.r_valid_i.value = 1, 1, 0
    await FallingEdge(dut.clk_i)
    while left:
        assert not int(dut.quiet_o.value) and not int(dut.ar_valid_o.value)
        i = next(iter(left))
        dut.r_valid_i.value, dut.r_id_i.value = 1, i
        dut.r_last_i.value = int(left[i] == 1)
        await Timer(1, "ns")
        assert not int(dut.mov_r_valid_o.value)
        left[i] -= 1
        if not left[i]:
            del left[i]
        await FallingEdge(dut.clk_i)
    dut.r_valid_i.value = 0
    await ClockCycles(dut.clk_i, 2)
    assert int(dut.quiet_o.value) and not int(dut.ar_valid_o.value)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def judges_responses(dut) -> None:
    """The host port forwards a write response once, and only after all data of its burst."""
    await start(dut, **dict.fromkeys(INPUTS.split(), 0))
    judge = Judge(dut)
    data: collections.deque[tuple[int, int]] = collections.deque()  # of the mover: id, beats left
    bus: collections.deque[list[int]] = collections.deque()  # bursts whose data is to be taken
    under_way: dict[int, bool] = {}  # by ID: all data was taken
    mover_ids = set()
    ask = None
    await FallingEdge(dut.clk_i)
    for _ in range(6000):
        if ask is None and random.random() < 0.3 and len(under_way) < 6:
            ask = (
                random.choice([i for i in range(128) if i not in mover_ids]),
                random.randint(1, 8),
            )
            mover_ids.add(ask[0])
            dut.mov_aw_id_i.value, dut.mov_aw_len_i.value = ask[0], ask[1] - 1
            dut.mov_aw_addr_i.value = ask[0] << 12
        dut.mov_aw_valid_i.value = int(ask is not None)
        dut.mov_w_valid_i.value = int(bool(data))
        if data:
            dut.mov_w_data_i.value, dut.mov_w_strb_i.value = data[0]
        dut.aw_ready_i.value = int(random.random() < 0.7)
        dut.w_ready_i.value = int(random.random() < 0.7)
        done = [i for i, sent in under_way.items() if sent]
        bad = random.random() < 0.02
        good, shown = None, bad or (bool(done) and random.random() < 0.5)
        if shown:
            stray = [*under_way, random.randrange(256)]  # too early, or not asked for
            answered = random.choice(stray if bad else done)
            dut.b_id_i.value = answered
        dut.b_valid_i.value = int(shown)
        await Timer(1, "ns")
        if shown:  # in the clock of the last beat is early enough
            now = int(dut.w_valid_o.value) and int(dut.w_ready_i.value) and bus[0][1] == 1
            good = under_way.get(answered, False)
            good = good or bool(now and answered == bus[0][0] and answered in under_way)
        assert bool(int(dut.mov_b_valid_o.value)) == bool(good)
        assert not int(dut.ans_done_valid_o.value)
        taken = ask is not None and int(dut.mov_aw_ready_o.value)
        data_taken = bool(data) and int(dut.mov_w_ready_o.value)
        sent = int(dut.w_valid_o.value) and int(dut.w_ready_i.value)
        word, last = int(dut.w_data_o.value), int(dut.w_last_o.value)
        await judge.clock(good)
        if sent:
            bus[0][1] -= 1
            assert word >> 8 == bus[0][0] and last == (bus[0][1] == 0)
            if last:
                number = bus.popleft()[0]
                if number in under_way:
                    under_way[number] = True
        if shown and answered in under_way:
            del under_way[answered]
            if good:  # a burst that was answered too early is lost to the mover
                mover_ids.discard(answered)
        if data_taken:
            data.popleft()
        if taken:
            data.extend((ask[0] << 8 | beat, (1 << 64) - 1) for beat in range(ask[1]))
            bus.append([ask[0], ask[1]])
            under_way[ask[0]] = False
            ask = None
    assert judge.wrong > 50 and judge.right > 100, (judge.wrong, judge.right)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def owes_zeros_after_a_halt(dut) -> None:
    """Once halted the host port shows, but for the beat that it offers already, only zeros."""
    zeros = 0
    for _ in range(100):
        await start(dut, **dict.fromkeys(INPUTS.split(), 0))
        await FallingEdge(dut.clk_i)
        dut.mov_w_data_i.value, dut.mov_w_strb_i.value = (1 << 512) - 1, (1 << 64) - 1
        dut.mov_aw_valid_i.value = dut.mov_w_valid_i.value = dut.aw_ready_i.value = 1
        dut.mov_aw_addr_i.value, dut.mov_aw_id_i.value, dut.mov_aw_len_i.value = 0, 0, 15
        stall = random.random()
        for _ in range(random.randint(3, 14)):
            dut.w_ready_i.value = int(random.random() > stall)
            await Timer(1, "ns")
            taken = int(dut.mov_aw_ready_o.value)
            await FallingEdge(dut.clk_i)
            if taken:
                dut.mov_aw_valid_i.value = 0
        dut.halt_i.value = 1
        offered = int(dut.w_valid_o.value)
        for _ in range(60):
            dut.w_ready_i.value = int(random.random() > 0.4)
            await Timer(1, "ns")
            if int(dut.w_valid_o.value):
                shown = int(dut.w_data_o.value) | int(dut.w_strb_o.value)
                assert offered or not shown
                zeros += not offered
                offered = offered and not int(dut.w_ready_i.value)
            await FallingEdge(dut.clk_i)
    assert zeros > 500, zeros


def test_guard_host_port() -> None:
    """Builds mae_guard_host_port and runs this file's simulation tests on it."""
    run("mae_guard_host_port")
