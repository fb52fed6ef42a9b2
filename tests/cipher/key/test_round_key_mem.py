# SPDX-License-Identifier: Apache-2.0
"""Tests mae_round_key_mem: clock of each round key, ready banks, acceptance of new keys.

Tests mae_round_key_mem.
"""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.cipher import fips197
from tests.cipher.fips197 import ROUNDS
from tests.support import bench
from tests.support.stream import start

SIZES = (16, 24, 32)


class Memory:
    """Drives the ports of mae_round_key_mem."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.banks = bench.parameters()["KeyBanks"]
        self.clocks = bench.parameters().get("RoundClocks", 1)
        self.steps = bench.parameters().get("StepClocks", 1)
        self.sizes = SIZES[: bench.parameters().get("MaxKeyLen", 2) + 1]

    async def reset(self) -> None:
        """Resets mae_round_key_mem with idle inputs."""
        fips197.check_against_openssl()
        await start(self.dut, clear_i=0, key_valid_i=0, key_i=0, used_i=0)

    def offer(self, bank: int, key: bytes) -> None:
        """Offers a key for a bank of mae_round_key_mem."""
        head = bank << 2 | SIZES.index(len(key))
        self.dut.key_i.value = head << 256 | int.from_bytes(key.ljust(32, b"\0"), "big")
        self.dut.key_valid_i.value = 1

    async def taken(self) -> int:
        """Returns the clocks until mae_round_key_mem accepts the offered key."""
        for clock in range(100):
            await RisingEdge(self.dut.clk_i)
            if int(self.dut.key_ready_o.value):
                self.dut.key_valid_i.value = 0
                return clock
        raise AssertionError("not taken")

    def ready(self) -> tuple[int, int]:
        """Returns the banks that are ready for encryption and for decryption, as bit masks."""
        return int(self.dut.enc_ready_o.value), int(self.dut.dec_ready_o.value)

    def round_key(self, bank: int, index: int) -> bytes:
        """Returns round key ``index`` of a bank from mae_round_key_mem's output."""
        return int(self.dut.keys_o[bank][index].value).to_bytes(16, "big")


@cocotb.test(timeout_time=200, timeout_unit="us")
async def just_in_time(dut) -> None:
    """mae_round_key_mem has round key i after i * StepClocks + 1 clocks, and right."""
    memory = Memory(dut)
    await memory.reset()
    held: dict[int, list[bytes]] = {}
    whole = 0
    for _ in range(12):
        bank = random.randrange(memory.banks)
        key = random.randbytes(random.choice(memory.sizes))
        memory.offer(bank, key)
        await Timer(1, "ns")
        old = sum(1 << b for b in held)
        assert memory.ready() == (old & ~(1 << bank), whole & ~(1 << bank)), "offered: closed"
        assert await memory.taken() == 0
        held[bank] = fips197.round_keys(key)
        begun = sum(1 << b for b in held)
        last = ROUNDS[len(key)]
        for i in range(last + 1):
            for _ in range(memory.steps if i else 0):
                await RisingEdge(dut.clk_i)
            await Timer(1, "ns")
            whole = whole & ~(1 << bank) | (i == last) << bank
            assert memory.ready() == (begun, whole)
            assert memory.round_key(bank, i) == held[bank][i]
        for b, keys in held.items():
            assert [memory.round_key(b, i) for i in range(len(keys))] == keys
            assert int(dut.len_o[b].value) == (len(keys) - 11) // 2


@cocotb.test(timeout_time=200, timeout_unit="us")
async def waits_for_blocks_and_for_the_expansion(dut) -> None:
    """mae_round_key_mem accepts a new key for a bank after its blocks and the expansion end."""
    memory = Memory(dut)
    await memory.reset()
    for size in memory.sizes:
        for bank in range(memory.banks):
            memory.offer(bank, random.randbytes(size))
            assert await memory.taken() == (ROUNDS[size] * memory.steps if bank else 0)
        for _ in range(20 * memory.steps):
            await RisingEdge(dut.clk_i)
        other = memory.banks - 1
        dut.used_i.value = 1 << other
        await RisingEdge(dut.clk_i)
        dut.used_i.value = 0
        if other:  # free at once
            memory.offer(0, random.randbytes(size))
            assert await memory.taken() == 0
            rest = max(ROUNDS[size] * memory.clocks - 1, ROUNDS[size] * memory.steps + 1)
        else:
            rest = ROUNDS[size] * memory.clocks
        memory.offer(other, random.randbytes(size))
        assert await memory.taken() + 1 == rest
        for _ in range(20 * memory.steps):
            await RisingEdge(dut.clk_i)


@pytest.mark.parametrize(
    "parameters",
    (
        {"KeyBanks": 1, "MaxKeyLen": 0},
        {"KeyBanks": 3, "RoundClocks": 3, "MaxKeyLen": 1},
        {"KeyBanks": 4},
        {"KeyBanks": 2, "RoundClocks": 3, "StepClocks": 2, "Sbox": 3},
    ),
    ids=str,
)
def test_round_key_mem(parameters: dict[str, int]) -> None:
    """Builds mae_round_key_mem with one to four banks and runs this file's tests."""
    bench.run("mae_round_key_mem", parameters=parameters)
