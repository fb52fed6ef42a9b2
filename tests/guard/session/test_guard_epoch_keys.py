# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_epoch_keys with key changes (REKEY) on all queues against a model."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from maeslant.protected.model.constants import Kind, Status
from tests.support.bench import run

QUEUES, LAST_EPOCH = 3, 60


class Epochs:
    """Drives mae_guard_epoch_keys and models epochs, unanswered requests and the key table."""

    def __init__(self, dut, seed: int) -> None:
        self.dut, self.random = dut, random.Random(seed)
        self.epoch, self.next = [0] * QUEUES, [1] * QUEUES
        self.banks: set[int] = set()  # that live
        self.unanswered: list[tuple[int, int, int]] = []  # epoch, queue, number
        self.rekeys: dict[int, tuple[int, int]] = {}  # queue: epoch, number
        self.busy, self.keys = 0, []
        self.seen: dict[int, int] = {}

    async def begin(self) -> None:
        """Starts the clock and resets mae_guard_epoch_keys."""
        Clock(self.dut.clk_i, 10, "ns").start()
        for name in """clear_i halt_i install_i place_i taken_i rekey_i answer_ready_i
         told_valid_i told_i keys_busy_i""".split():
            getattr(self.dut, name).value = 0
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)

    def free(self) -> None:
        """Drops from the model the keys of epochs in which no queue and no open request is."""
        used = set(self.epoch) | {epoch for epoch, _, _ in self.unanswered}
        if len(self.banks) == 2:
            self.banks -= {min(self.banks)} - used

    async def tick(self, **inputs: int) -> None:
        """Runs one clock of mae_guard_epoch_keys and checks which keys it derives or erases."""
        dut, r = self.dut, self.random
        for name in ("taken_i", "rekey_i", "install_i"):
            getattr(dut, name).value = inputs.get(name, 0)
        dut.keys_busy_i.value = int(self.busy > 0)
        self.busy -= self.busy > 0
        answerable = [u for u in self.unanswered if u[1:] not in self.held()]
        answered = r.choice(answerable) if answerable and r.random() < 0.1 else None
        dut.told_valid_i.value = int(answered is not None)
        if answered:
            epoch, queue, number = answered
            dut.told_i.value = (queue << 96 | epoch << 64 | number) << 1
            self.unanswered.remove(answered)
        ready = r.random() < 0.3
        dut.answer_ready_i.value = int(ready)
        await Timer(1, "ns")
        for name in ("derive_o", "erase_o"):
            if getattr(dut, name).value:
                assert not dut.keys_busy_i.value
                self.keys.append((name, int(dut.keys_epoch_o.value)))
                self.busy = r.randrange(1, 40)
                if name == "erase_o":
                    assert self.keys[-1][1] not in self.banks
        if ready and dut.answer_valid_o.value:
            assert not self.busy
            self.check(int(dut.answer_o.value))
        self.free()
        await FallingEdge(dut.clk_i)

    def held(self) -> set[tuple[int, int]]:
        """Returns the key changes (REKEY) to which mae_guard_epoch_keys still owes an answer."""
        return {(queue, number) for queue, (_, number) in self.rekeys.items()}

    def check(self, answer: int) -> None:
        """Compares the answer of mae_guard_epoch_keys to a key change (REKEY) with the model."""
        assert answer & (1 << 142) - 1 == 0
        value, executed = answer >> 142 & (1 << 64) - 1, answer >> 206 & 0xFFFF
        status, kind = answer >> 222 & 0xFFFF, answer >> 238 & 0xFF
        number, epoch = answer >> 246 & (1 << 64) - 1, answer >> 310 & (1 << 32) - 1
        queue = answer >> 342
        assert kind == Kind.REKEY and self.rekeys.pop(queue) == (epoch, number)
        if status == Status.OK:
            assert self.epoch[queue] == epoch
            self.epoch[queue] = epoch + 1
            assert (executed, value) == (1, epoch + 1)
            assert int(self.dut.epoch_o.value) >> 32 * queue & (1 << 32) - 1 == epoch + 1
            if epoch + 1 not in self.banks:
                assert self.keys[-1] == ("derive_o", epoch + 1) and len(self.banks) < 2
                self.banks.add(epoch + 1)
        else:
            assert (executed, value) == (0, 0)
            if status == Status.LIMIT:
                assert epoch == LAST_EPOCH
            else:
                assert status == Status.EPOCH and epoch != LAST_EPOCH
        self.seen[status] = self.seen.get(status, 0) + 1

    async def request(self, queue: int, rekey: bool) -> None:
        """Announces a request to mae_guard_epoch_keys, which a key change (REKEY) may be."""
        place = queue << 96 | self.epoch[queue] << 64 | self.next[queue]
        self.dut.place_i.value = place
        self.unanswered.append((self.epoch[queue], queue, self.next[queue]))
        if rekey:
            self.rekeys[queue] = self.epoch[queue], self.next[queue]
        self.next[queue] += 1
        await self.tick(taken_i=1)
        if rekey:
            await self.tick()
            await self.tick(rekey_i=1)


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def rekeys(dut) -> None:
    """mae_guard_epoch_keys answers random key changes as the model does, with the right keys.

    OK exactly when the bank is free.
    """
    epochs = Epochs(dut, 1)
    await epochs.begin()
    await epochs.tick(install_i=1)
    while not dut.ready_o.value:
        await epochs.tick()
    assert epochs.keys == [("derive_o", 0)]
    epochs.banks = {0}
    r = epochs.random
    for _ in range(20000):
        queue = r.randrange(QUEUES)
        waits = {(q, n) for _, q, n in epochs.unanswered}
        switching = queue in epochs.rekeys or (queue, epochs.next[queue] - 1) in waits
        if not switching and len(waits) < 20 and r.random() < 0.1:
            await epochs.request(queue, r.random() < 0.3)
        else:
            await epochs.tick()
    assert epochs.seen[Status.OK] == QUEUES * LAST_EPOCH, epochs.seen
    assert epochs.seen[Status.EPOCH] > 20 and epochs.seen[Status.LIMIT] > 20, epochs.seen


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def an_epoch_waits_for_the_last_answer(dut) -> None:
    """mae_guard_epoch_keys refuses a second key change until all old requests are answered."""
    epochs = Epochs(dut, 2)
    await epochs.begin()
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await epochs.tick(install_i=1)
    while not dut.ready_o.value:
        await epochs.tick()
    epochs.banks = {0}

    async def rekey(queue: int) -> int:
        before = dict(epochs.seen)
        await epochs.request(queue, True)
        epochs.unanswered.pop()  # answered by hand
        epoch = epochs.epoch[queue]
        while queue in epochs.rekeys:
            await epochs.tick()
        dut.told_i.value = (queue << 96 | epoch << 64) << 1
        dut.told_valid_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.told_valid_i.value = 0
        return next(s for s in epochs.seen if epochs.seen[s] != before.get(s, 0))

    dut.place_i.value = 7  # queue 0, epoch 0: an answer that comes late
    await epochs.tick(taken_i=1)
    assert [await rekey(queue) for queue in (0, 1, 2)] == [Status.OK] * 3
    epochs.banks = {0, 1}
    for _ in range(50):
        await epochs.tick()
    assert ("erase_o", 0) not in epochs.keys
    epochs.unanswered.append((0, 0, 7))  # so that the rules know it, too
    epochs.banks = {0, 1}
    assert await rekey(1) == Status.EPOCH
    while epochs.unanswered:
        await epochs.tick()
    for _ in range(3):
        await epochs.tick()
    assert epochs.keys[-1] == ("erase_o", 0)
    assert await rekey(1) == Status.OK
    assert epochs.keys[-1] == ("derive_o", 2)


def test_guard_epoch_keys() -> None:
    """Builds mae_guard_epoch_keys for three queues and 60 epochs and runs this file's tests."""
    run("mae_guard_epoch_keys", parameters={"Queues": QUEUES, "LastEpoch": LAST_EPOCH})
