# SPDX-License-Identifier: Apache-2.0
"""Tests the modules that compute GHASH: hashes of messages of any shape, key changes, clocks.

Tests mae_ghash, mae_ghash_pipelined (mae_ghash_powers, mae_gf128_partial_products),
mae_ghash_one_multiplier.

Powers of H are made while beats flow, aborts and clears come at any clock.
"""

import random

import cocotb
import pytest
from cocotb.triggers import NextTimeStep, ReadOnly, RisingEdge

from tests.mode import gcm_oracle
from tests.support import bench
from tests.support.stream import start


def power_clocks(powers: int) -> int:
    """Returns the clocks that mae_ghash_pipelined needs to compute a number of powers of H."""
    clock, base = 1, 1
    there = {1: 1}
    while base < powers:
        clock = max(clock, there[base])
        for j in range(min(base, powers - base), 0, -1):
            assert there[j] <= clock
            there[base + j] = clock + 4
            clock += 1
        base *= 2
    return clock + 2


class Hash:
    """Drives mae_ghash and compares each hash and its clock with SP 800-38D algorithm 2."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.lanes = bench.parameters().get("Lanes", 1)
        self.deep = "mae_ghash_pipelined" in dut._name
        self.one = "mae_ghash_one_multiplier" in dut._name
        self.latency = 8 if self.deep or self.one else 4
        doublings = (2 * self.lanes - 1).bit_length()
        self.expansion = power_clocks(3 * self.lanes) if self.deep else 2 * doublings
        self.small = self.one or bool(bench.parameters().get("Small", 0))
        if self.small:
            self.expansion = 11 if self.one else 4 * self.lanes - 1
        self.clock = 0
        self.keys = [0] * bench.parameters().get("KeyBanks", 1 if self.one else 2)
        self.due: list[tuple[int, int, int]] = []  # clock, hash, user
        self.checked = 0

    async def reset(self) -> None:
        """Resets mae_ghash with idle inputs."""
        names = "clear abort h_valid h_bank h beat_valid beat_bank beat_data beat_blocks beat_first"
        names += " beat_last beat_length beat_user"
        await start(self.dut, **{f"{name}_i": 0 for name in names.split()})

    async def tick(self) -> None:
        """Runs one clock of mae_ghash; asserts the hash that is due in it, and no other."""
        await RisingEdge(self.dut.clk_i)
        self.clock += 1
        await ReadOnly()
        valid = int(self.dut.hash_valid_o.value)
        if self.due and self.due[0][0] == self.clock:
            _, value, user = self.due.pop(0)
            assert valid, "no hash"
            assert int(self.dut.hash_o.value) == value
            assert int(self.dut.hash_user_o.value) == user
            self.checked += 1
        else:
            assert not valid, "a hash too many"
        await NextTimeStep()
        self.dut.beat_valid_i.value = self.dut.h_valid_i.value = self.dut.beat_data_i.value = 0

    def load(self, bank: int, h: int) -> None:
        """Offers hash key H for a key bank of mae_ghash in this clock."""
        self.keys[bank] = h
        self.dut.h_valid_i.value = 1
        self.dut.h_bank_i.value = bank
        self.dut.h_i.value = h

    async def free(self) -> None:
        """Runs clocks until mae_ghash accepts another hash key."""
        while not int(self.dut.h_ready_o.value):
            await self.tick()

    def ready(self, bank: int) -> bool:
        """Returns true if mae_ghash accepts a beat for this key bank in the next clock."""
        return bool(int(self.dut.ready_o.value) >> bank & 1)

    def beat(self, words: list[int], bank: int, first: bool, last: bool, end: int, user: int):
        """Offers a beat of up to one block per lane to mae_ghash."""
        bits = 0 if self.small else 128
        lanes = words + [random.getrandbits(bits) for _ in range(self.lanes - len(words))]
        self.dut.beat_data_i.value = sum(word << 128 * i for i, word in enumerate(lanes))
        self.dut.beat_valid_i.value = 1
        self.dut.beat_bank_i.value = bank
        self.dut.beat_blocks_i.value = len(words)
        self.dut.beat_first_i.value = first
        self.dut.beat_last_i.value = last
        self.dut.beat_length_i.value = end if last else random.getrandbits(128)
        self.dut.beat_user_i.value = user if last else random.getrandbits(1)

    async def message(self, sizes: list[int], bank: int, gaps: float = 0.0) -> None:
        """Sends a message of beats with given block counts; computes the expected hash."""
        all_words: list[int] = []
        end, user = random.getrandbits(128), random.getrandbits(1)
        for number, size in enumerate(sizes):
            while random.random() < gaps:
                await self.tick()
            words = [random.getrandbits(128) for _ in range(size)]
            all_words += words
            last = number == len(sizes) - 1
            self.beat(words, bank, number == 0, last, end, user)
            if last:
                value = gcm_oracle.ghash(self.keys[bank], [*all_words, end])
                self.due.append((self.clock + self.latency, value, user))
            await self.tick()
        if self.one:  # the clock of the length
            await self.tick()

    def sizes(self, most: int) -> list[int]:
        """Returns random numbers of blocks for the beats of a message to mae_ghash."""
        beats = random.randrange(1, most)
        if random.random() < 0.3:
            return [random.randrange(beats > 1, self.lanes + 1) for _ in range(beats)]
        sizes = [self.lanes] * beats
        for at in (beats - 1, random.randrange(beats)):
            sizes[at] = random.randrange(1, self.lanes + 1)
        return sizes

    async def drain(self) -> None:
        """Runs clocks until mae_ghash has given all expected hashes."""
        while self.due:
            await self.tick()
        await self.tick()


async def ready_after(unit: Hash, bank: int) -> int:
    """Returns the clocks from loading H until mae_ghash accepts the first beat."""
    began = unit.clock
    ready = False
    while not ready:
        await unit.tick()
        await ReadOnly()
        ready = unit.ready(bank)
        await NextTimeStep()
    await unit.tick()
    return unit.clock - began


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def powers_in_time(dut) -> None:
    """mae_ghash accepts the first beat in the stated clock after H and hashes it right."""
    unit = Hash(dut)
    await unit.reset()
    for _ in range(3):
        for bank in range(len(unit.keys)):
            unit.load(bank, random.getrandbits(128))
            assert await ready_after(unit, bank) == unit.expansion
            await unit.message([unit.lanes] * 5, bank)
            await unit.drain()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def back_to_back(dut) -> None:
    """mae_ghash hashes successive messages of all shapes and banks right, with and without gaps."""
    unit = Hash(dut)
    await unit.reset()
    for bank in range(len(unit.keys)):
        await unit.free()
        unit.load(bank, random.getrandbits(128))
        await ready_after(unit, bank)
    for gaps in (0.0, 0.5):
        for beats in ([1] * 6, [2] * 6, [3] * 4, [4] * 3, [1, 2, 3, 1, 3, 2, 2, 1, 4, 1, 1, 3]):
            for count in beats:
                sizes = [unit.lanes] * (count - 1) + [random.randrange(count > 1, unit.lanes + 1)]
                await unit.message(sizes, random.randrange(len(unit.keys)), gaps)
        for _ in range(60):
            await unit.message(unit.sizes(8), random.randrange(len(unit.keys)), gaps)
    await unit.drain()
    assert unit.checked == 182


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def key_under_load(dut) -> None:
    """mae_ghash computes powers of a new H while the other bank hashes a beat in every clock."""
    unit = Hash(dut)
    if len(unit.keys) == 1:
        return
    await unit.reset()
    unit.load(0, random.getrandbits(128))
    await ready_after(unit, 0)
    for gaps in (0.0, 0.2, 0.6, 0.0):
        for bank in (1, 0):
            await unit.free()
            unit.load(bank, random.getrandbits(128))
            began = unit.clock
            while True:
                await unit.message(unit.sizes(5), 1 - bank, gaps)
                if unit.ready(bank):
                    break
                assert unit.clock - began < 4 * unit.lanes + 40
            for _ in range(4):
                await unit.message(unit.sizes(6), bank, gaps)
    await unit.drain()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def abort_and_clear(dut) -> None:
    """abort_i of mae_ghash drops hashes but keeps H; clear_i erases H too."""
    unit = Hash(dut)
    await unit.reset()
    unit.load(0, random.getrandbits(128))
    await ready_after(unit, 0)
    for wait in range(10):
        await unit.message([unit.lanes] * 4, 0)
        for _ in range(wait):
            await unit.tick()
        unit.beat([1], 0, True, False, 0, 0)
        dut.abort_i.value = 1
        unit.due = [entry for entry in unit.due if entry[0] <= unit.clock]
        await unit.tick()
        dut.abort_i.value = 0
        unit.due.clear()
        for _ in range(2):
            await unit.message(unit.sizes(5), 0)
        await unit.drain()
    last = len(unit.keys) - 1
    unit.load(last, random.getrandbits(128))
    await unit.tick()
    dut.clear_i.value = 1
    await unit.tick()
    dut.clear_i.value = 0
    for _ in range(20):
        await unit.tick()
        assert not unit.ready(0) and not unit.ready(last) and int(dut.h_ready_o.value)
    unit.load(last, random.getrandbits(128))
    await ready_after(unit, last)
    await unit.message(unit.sizes(5), last)
    await unit.drain()


@pytest.mark.parametrize("lanes", [1, 3, 4, pytest.param(10, marks=pytest.mark.slow)])
def test_ghash(lanes: int) -> None:
    """Builds mae_ghash with several numbers of lanes and runs this file's tests."""
    bench.run("mae_ghash", parameters={"Lanes": lanes, "KeyBanks": 2})


@pytest.mark.parametrize("lanes", [4, *(pytest.param(n, marks=pytest.mark.full) for n in (1, 3))])
def test_ghash_small(lanes: int) -> None:
    """Builds mae_ghash with one reduction for all lanes and runs this file's tests."""
    bench.run("mae_ghash", parameters={"Lanes": lanes, "KeyBanks": 1, "Small": 1})


@pytest.mark.parametrize(
    "lanes", [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3, 10))]
)
def test_ghash_pipelined(lanes: int) -> None:
    """Builds mae_ghash_pipelined with several numbers of lanes and runs this file's tests."""
    bench.run("mae_ghash_pipelined", parameters={"Lanes": lanes, "KeyBanks": 2})


def test_ghash_one_multiplier() -> None:
    """Builds mae_ghash_one_multiplier and runs this file's tests."""
    bench.run("mae_ghash_one_multiplier")
