# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_key_table: session keys of epochs against KBKDF, and block limits of keys."""

import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.device import secrets
from tests.guard.session.test_guard_kdf import derive, end, some_session
from tests.support.bench import run

BUDGET = 1000


class Keys:
    """Drives mae_guard_key_table and models the GCM engines that take its keys."""

    def __init__(self, dut, seed: int) -> None:
        self.dut, self.random = dut, random.Random(seed)
        self.parts = some_session(self.random)
        self.left = [[0, 0] for _ in range(4)]

    async def begin(self) -> None:
        """Starts the clock and resets mae_guard_key_table."""
        for name in ("erase_i", "derive_i", "spend_valid_i", "key_ready_i"):
            getattr(self.dut, name).value = 0
        self.dut.spend_class_i.value, self.dut.spend_bank_i.value = 1, 0
        self.dut.session_i.value = int.from_bytes(b"".join(self.parts))
        Clock(self.dut.clk_i, 10, "ns").start()
        self.dut.clear_i.value = self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)

    async def command(
        self, name: str, epoch: int, at_once: bool = False
    ) -> list[tuple[int, int, bytes]]:
        """Lets the key table derive or erase an epoch's keys; returns the keys that it sends."""
        dut, given = self.dut, []
        dut.epoch_i.value = epoch
        getattr(dut, name).value = 1
        await FallingEdge(dut.clk_i)
        getattr(dut, name).value = 0
        self.clocks = 0
        while dut.busy_o.value:
            self.clocks += 1
            ready = at_once or self.random.random() < 0.3
            dut.key_ready_i.value = int(ready)
            dut.spend_class_i.value, dut.spend_bank_i.value = int(dut.key_class_o.value), epoch % 2
            dut.spend_blocks_i.value = 1
            await Timer(1, "ns")
            if dut.u_kdf.busy_o.value:  # the old key may do nothing more
                assert not dut.spend_ok_o.value
            if ready and dut.key_valid_o.value:
                key = int(dut.key_o.value).to_bytes(44)
                given.append((int(dut.key_class_o.value), int(dut.key_bank_o.value), key))
            await FallingEdge(dut.clk_i)
        for entry in self.left:
            entry[epoch % 2] = BUDGET - 1 if name == "derive_i" else 0
        return given

    def key(self, number: int, epoch: int) -> bytes:
        """Returns the key and IV mask of a message class, by KBKDF of `cryptography`."""
        secret, session_id, host, device, capabilities = self.parts
        context = session_id + host + device + bytes([number]) + epoch.to_bytes(4) + capabilities
        return derive(secret, context)

    async def spend(self) -> None:
        """Asks the key table for blocks of a key's budget and compares its verdict."""
        number, bank = self.random.randrange(1, 5), self.random.randrange(2)
        left = self.left[number - 1][bank]
        blocks = max(0, self.random.choice((1, left, left + 1, self.random.randrange(300))))
        dut, valid = self.dut, self.random.random() < 0.8
        dut.spend_valid_i.value = int(valid)
        dut.spend_class_i.value, dut.spend_bank_i.value = number, bank
        dut.spend_blocks_i.value = blocks
        await Timer(1, "ns")
        assert bool(dut.spend_ok_o.value) == (blocks <= left), (number, bank, blocks, left)
        if valid and blocks <= left:
            self.left[number - 1][bank] -= blocks
        await FallingEdge(dut.clk_i)
        dut.spend_valid_i.value = 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def epochs(dut) -> None:
    """The key table sends each epoch's keys to the right bank and limits the blocks of each key."""
    keys = Keys(dut, 1)
    await keys.begin()
    for _ in range(20):
        await keys.spend()  # no key yet: nothing may be done
    for epoch in (0, 1, 2, 3, 65534, 65535):
        given = await keys.command("derive_i", epoch, epoch == 0)
        assert keys.clocks == 4 * 333 or epoch
        assert given == [(n, epoch % 2, keys.key(n, epoch)) for n in (1, 2, 3, 4)]
        for _ in range(60):
            await keys.spend()
        if epoch == 2:
            given = await keys.command("erase_i", 1, True)
            assert keys.clocks == 8
            assert given == [(n, 1, bytes(44)) for n in (1, 2, 3, 4)]
            for _ in range(20):
                await keys.spend()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def cleared(dut) -> None:
    """A clear or reset of mae_guard_key_table at any time erases all keys and block counts."""
    keys = Keys(dut, 2)
    await keys.begin()
    times = (5, 333, 334, 340, 500)
    for clocks, by_reset in [(None, False), *itertools.product(times, (False, True))]:
        task = cocotb.start_soon(keys.command("derive_i", 7))
        if clocks is None:
            await task
        else:
            for _ in range(clocks):
                await FallingEdge(dut.clk_i)
            task.cancel()
            dut.derive_i.value = 0
            await end(dut, by_reset)
            assert not dut.busy_o.value and not dut.key_valid_o.value
        dut.session_i.value = 0
        await FallingEdge(dut.clk_i)
        held = [keys.parts[0], *(keys.key(n, 7) for n in (1, 2, 3, 4))]
        assert secrets.find(dut, held, 4) == []
        keys.left = [[0, 0] for _ in range(4)] if clocks else keys.left
        for _ in range(10):
            await keys.spend()
        dut.session_i.value = int.from_bytes(b"".join(keys.parts))


def test_guard_key_table() -> None:
    """Builds mae_guard_key_table with a limit of 1,000 blocks and runs this file's tests on it."""
    run("mae_guard_key_table", parameters={"Budget": BUDGET}, visible=True)
