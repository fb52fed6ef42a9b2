# SPDX-License-Identifier: Apache-2.0
"""Tests mae_key_on_the_fly: each round key in its clock, both directions, restart at any clock."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.cipher import fips197
from tests.cipher.fips197 import ROUNDS, round_keys
from tests.cipher.leaks import registers_left
from tests.support import bench
from tests.support.stream import start

SIZES = (16, 24, 32)


class Walk:
    """Drives mae_key_on_the_fly and models its key and the round key that is due."""

    def __init__(self, dut) -> None:
        self.dut = dut
        values = bench.parameters()
        dirs = int(values.get("Dirs", 3))
        self.dirs = [d for d in (0, 1) if dirs >> d & 1]
        self.sizes = SIZES[: int(values.get("MaxKeyLen", 2)) + 1]
        self.keys: list[bytes] = []
        self.decrypt = 0
        self.round: int | None = None  # of the run under way
        self.hidden = False  # the run that a key makes by itself

    async def reset(self) -> None:
        """Resets mae_key_on_the_fly with idle inputs."""
        fips197.check_against_openssl(2)
        await start(self.dut, clear_i=0, load_i=0, len_i=0, key_i=0, start_i=0, dir_i=0)

    @property
    def rounds(self) -> int:
        """Returns the number of AES rounds for the key loaded in the model."""
        return len(self.keys) - 1

    async def step(self, key: bytes | None = None, run: int | None = None) -> None:
        """Runs one clock of mae_key_on_the_fly with a new key or start; checks the round key."""
        dut = self.dut
        dut.load_i.value = key is not None
        dut.start_i.value = run is not None
        if key is not None:
            dut.len_i.value = SIZES.index(len(key))
            dut.key_i.value = int.from_bytes(key.ljust(32, b"\0"), "big")
        if run is not None:
            dut.dir_i.value = run
        await Timer(2, "ns")
        assert int(dut.loaded_o.value) == bool(self.keys)
        last = self.round is not None and self.round == self.rounds
        assert int(dut.last_o.value) == last
        assert int(dut.first_o.value) == (self.round == 1)
        if self.round is not None and not self.hidden:
            keys = self.keys[::-1] if self.decrypt else self.keys
            shown = int(dut.key_o.value), int(dut.next_o.value)
            wanted = keys[self.round - 1], keys[self.round]
            assert shown == tuple(int.from_bytes(k, "big") for k in wanted)
            assert int(dut.dir_o.value) == self.decrypt
        await RisingEdge(dut.clk_i)
        self.round = None if self.round is None or last else self.round + 1
        if key is not None:
            self.keys = round_keys(key)
            self.decrypt, self.hidden = 0, True
            self.round = 1 if 1 in self.dirs else None
        if run is not None:
            self.decrypt, self.hidden, self.round = run, False, 1

    def known(self) -> bool:
        """Returns true if mae_key_on_the_fly reports that the last round key is known."""
        return bool(int(self.dut.known_o.value))

    def may(self, run: int) -> bool:
        """Returns true if the interface allows a run in this direction to start in this clock."""
        if run and not self.known():
            return False
        return run == self.decrypt or self.round in (None, self.rounds)

    async def load(self) -> None:
        """Loads a random key into mae_key_on_the_fly."""
        await self.step(key=random.randbytes(random.choice(self.sizes)))


@cocotb.test(timeout_time=400, timeout_unit="us")
async def random_runs(dut) -> None:
    """mae_key_on_the_fly gives the right round key in each clock of random runs."""
    walk = Walk(dut)
    await walk.reset()
    for _ in range(60):
        await walk.load()
        for _ in range(random.randrange(1, 8)):
            for _ in range(random.choice((0, 0, 1, 5, 20))):
                await walk.step()
            run = random.choice(walk.dirs)
            while not walk.may(run):
                await walk.step()
            await walk.step(run=run)
            for _ in range(random.choice((0, 3, walk.rounds - 1, walk.rounds - 1))):
                await walk.step()


@cocotb.test(timeout_time=100, timeout_unit="us")
async def known_in_time(dut) -> None:
    """mae_key_on_the_fly knows the last round key Nr clocks after it gets the key."""
    walk = Walk(dut)
    await walk.reset()
    for size in walk.sizes:
        await walk.step(key=random.randbytes(size))
        for clock in range(1, ROUNDS[size] + 3):
            await Timer(1, "ns")
            assert walk.known() == (1 in walk.dirs and clock >= ROUNDS[size])
            await walk.step()


@cocotb.test(timeout_time=100, timeout_unit="us")
async def clear_empties(dut) -> None:
    """clear_i in any clock erases all round keys in mae_key_on_the_fly."""
    walk = Walk(dut)
    await walk.reset()
    for clocks in range(18):
        await walk.load()
        await walk.step(run=0) if 0 in walk.dirs else await walk.step()
        for _ in range(clocks):
            await walk.step()
        dut.load_i.value, dut.start_i.value, dut.clear_i.value = 0, 0, 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await Timer(1, "ns")
        assert registers_left(dut) == []
        walk.keys, walk.round, walk.decrypt = [], None, 0
        await walk.step()


@pytest.mark.parametrize(
    "parameters",
    (
        {},
        {"Dirs": 1, "Sbox": 0},
        {"Fewest": 1},
        pytest.param({"Dirs": 2, "Sbox": 0}, marks=pytest.mark.slow),
        pytest.param({"Dirs": 3, "MaxKeyLen": 1, "Sbox": 1}, marks=pytest.mark.slow),
    ),
    ids=str,
)
def test_key_on_the_fly(parameters: dict[str, int]) -> None:
    """Builds mae_key_on_the_fly for all key lengths and directions and runs this file's tests."""
    bench.run("mae_key_on_the_fly", parameters=parameters, visible=True)
