# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_slot_powers: H of every key that is written, its order, its clocks, its end."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.support import bench
from tests.support.stream import start

SET_H, POWER = 0, 1  # ghash_op_e


def hash_key(key: bytes) -> int:
    """Returns E(key, 0), by OpenSSL."""
    return int.from_bytes(Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(bytes(16)))


class Slots:
    """Models the key slots and the hash beside mae_gcm_slot_powers."""

    def __init__(self, dut, seed: int) -> None:
        self.dut = dut
        self.random = random.Random(seed)
        self.lanes = int(bench.parameters()["Lanes"])
        self.count = int(bench.parameters()["KeySlots"])
        self.keys: dict[int, bytes] = {}
        self.ready = lambda: 1
        self.ops: list[tuple[int, int, int, int]] = []  # operation, slot, power, H
        self.had = 0  # have_o

    async def begin(self) -> None:
        """Resets mae_gcm_slot_powers, and answers its reads and operations from now on."""
        names = "clear_i changed_i changed_erase_i changed_slot_i want_valid_i want_slot_i key_i"
        await start(self.dut, **dict.fromkeys([*names.split(), "op_ready_i"], 0))
        cocotb.start_soon(self.answer())

    async def answer(self) -> None:
        """Gives the key of the slot that is read; takes operations."""
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)  # key_i and op_ready_i are combinational
            key = self.keys.get(int(dut.key_slot_o.value), b"")
            length = len(key or bytes(16)) // 8 - 2
            dut.key_i.value = length << 256 | int.from_bytes(key.ljust(32, b"\0"))
            dut.op_ready_i.value = self.ready()
            await ReadOnly()
            self.had = int(dut.have_o.value)
            if int(dut.op_valid_o.value) and int(dut.op_ready_i.value):
                fields = (dut.op_o, dut.op_slot_o, dut.op_power_o, dut.op_block_o)
                self.ops.append(tuple(int(field.value) for field in fields))

    async def change(self, slot: int, key: bytes | None) -> None:
        """Writes or erases a key slot, in one clock."""
        dut = self.dut
        dut.changed_i.value, dut.changed_slot_i.value = 1, slot
        dut.changed_erase_i.value = int(key is None)
        await RisingEdge(dut.clk_i)
        self.keys[slot] = key or b""
        dut.changed_i.value = 0

    async def clocks(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    def nothing_stays(self) -> None:
        """Checks that no register of mae_gcm_slot_powers holds key, state or H."""
        cipher = self.dut.u_cipher
        for secret in (self.dut.h_q, cipher.state_q, cipher.u_walk.window_q, cipher.u_walk.store_q):
            assert not int(secret.value), secret._path

    def new_key(self) -> bytes:
        return self.random.randbytes(self.random.choice((16, 24, 32)))

    def expect(self, slot: int) -> list[tuple[int, int, int | None, int | None]]:
        """Returns the operations of a slot's powers; None: any value."""
        powers = [(POWER, slot, power, None) for power in range(2, self.lanes + 1)]
        return [(SET_H, slot, None, hash_key(self.keys[slot])), *powers]

    def check(self, slots: list[int]) -> None:
        """Compares all operations since the last check with those of slots, in their order."""
        want = [op for slot in slots for op in self.expect(slot)]
        assert len(self.ops) == len(want), (self.ops, want)
        for got, wanted in zip(self.ops, want, strict=True):
            assert all(b in (None, a) for a, b in zip(got, wanted, strict=True)), (got, wanted)
        self.ops.clear()


async def slots(dut, seed: int) -> Slots:
    """Resets mae_gcm_slot_powers and returns its key slots, all empty."""
    it = Slots(dut, seed)
    await it.begin()
    return it


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def every_key(dut) -> None:
    """A written slot gets H and its powers after the clocks of the header, an erased one none."""
    it = await slots(dut, 1)
    for size in (16, 24, 32, 16):
        rounds = 6 + size // 4
        for slot in (0, it.count - 1):
            await it.change(slot, it.random.randbytes(size))
            await it.clocks(rounds + it.lanes + 3)
            assert not it.had >> slot & 1
            await it.clocks(1)
            assert it.had >> slot & 1
            it.check([slot])
            it.nothing_stays()
    await it.change(0, None)
    await it.clocks(60)
    assert not it.had & 1
    it.check([])


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def throughput(dut) -> None:
    """Several slots get their powers in Nr + 4 clocks each; the wanted one comes first."""
    it = await slots(dut, 2)
    for slot in range(it.count):
        await it.change(slot, it.random.randbytes(16))
    wanted = it.count - 1
    dut.want_valid_i.value, dut.want_slot_i.value = 1, wanted
    clocks = 0
    while it.had != 2**it.count - 1:
        await it.clocks(1)
        clocks += 1
    order = [slot for op, slot, _, _ in it.ops if op == SET_H]
    assert order[0] == wanted and sorted(order) == sorted(it.keys)
    it.check(order)
    assert clocks <= 14 * it.count + 2 * it.lanes


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def changes(dut) -> None:
    """A key that changes at any clock leaves no power of the old one, and no H behind."""
    it = await slots(dut, 3)
    for erase in (False, True):
        for at in range(45):
            await it.change(0, it.new_key())
            await it.clocks(at)
            await it.change(0, None if erase else it.new_key())
            await it.clocks(1)
            assert not it.had & 1
            it.ops.clear()
            await it.clocks(60)
            assert it.had & 1 == (not erase)
            it.check([] if erase else [0])
            it.nothing_stays()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def neighbours(dut) -> None:
    """A slot gets its powers whenever the slot that had its turn before changes meanwhile."""
    it = await slots(dut, 6)
    for erase in (False, True):
        for at in range(45):
            await it.change(0, it.new_key())
            await it.clocks(60)
            assert it.had & 1
            await it.change(1, it.new_key())
            await it.clocks(at)
            await it.change(0, None if erase else it.new_key())
            await it.clocks(80)
            assert it.had & 3 == (2 if erase else 3), f"a change {at} clocks later"


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def storm(dut) -> None:
    """Under random writes and stalls all slots get powers, and they are those of their keys."""
    it = await slots(dut, 4)
    it.ready = lambda: int(it.random.random() < 0.7)
    made: dict[int, list[int]] = {}
    for _ in range(300):
        slot = it.random.randrange(it.count)
        await it.change(slot, it.random.choice((None, it.new_key(), it.new_key())))
        dut.want_valid_i.value = it.random.randrange(2)
        dut.want_slot_i.value = it.random.randrange(it.count)
        for _ in range(it.random.choice((0, 3, 30, 80))):
            await it.clocks(1)
            for op, of, power, h in it.ops:
                if op == SET_H:
                    made[of] = [h]
                else:
                    made[of].append(power)
            it.ops.clear()
            for of in range(it.count):
                if it.had >> of & 1:
                    assert made[of] == [hash_key(it.keys[of]), *range(2, it.lanes + 1)]
    await it.clocks(40 * it.count)
    assert it.had == sum(1 << of for of, key in it.keys.items() if key)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def cleared(dut) -> None:
    """After clear_i mae_gcm_slot_powers has no powers, key or H, whatever it was doing."""
    it = await slots(dut, 5)
    for at in range(30):
        for slot in range(it.count):
            await it.change(slot, b"\xff" * 32)
        await it.clocks(at)
        dut.clear_i.value = 1
        await it.clocks(1)
        dut.clear_i.value = 0
        await it.clocks(1)
        assert not it.had
        it.nothing_stays()
        it.ops.clear()
        await it.clocks(60)
        it.check([])


@pytest.mark.parametrize("lanes, slots", [(1, 3), (4, 16)])
def test_gcm_slot_powers(lanes: int, slots: int) -> None:
    """Builds mae_gcm_slot_powers for one and several lanes and runs this file's tests."""
    parameters = {"Lanes": lanes, "KeySlots": slots}
    bench.run("mae_gcm_slot_powers", parameters=parameters, visible=True)
