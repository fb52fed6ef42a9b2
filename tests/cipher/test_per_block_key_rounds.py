# SPDX-License-Identifier: Apache-2.0
"""Tests mae_per_block_key_rounds: a new key and its blocks in each clock, against OpenSSL.

Tests mae_per_block_key_rounds and its mae_key_schedule_step.
"""

import random

import cocotb
import pytest
from cocotb.triggers import NextTimeStep, ReadOnly, RisingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.cipher import leaks
from tests.support import bench
from tests.support.stream import start

SIZES = (16, 24, 32)


def offer(dut, size: int) -> tuple[int, int]:
    """Offers a random key and blocks to the RTL; returns OpenSSL's ciphertext and user bits."""
    blocks, width = bench.parameters()["Blocks"], bench.parameters()["UserWidth"]
    key, data = random.randbytes(size), random.randbytes(16 * blocks)
    user = random.getrandbits(width)
    dut.len_i.value = SIZES.index(size)
    dut.key_i.value = int.from_bytes(key + random.randbytes(32 - size), "big")
    dut.blocks_i.value = int.from_bytes(data, "big")
    dut.user_i.value = user
    side = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return int.from_bytes(side.update(data), "big"), user


async def begin(dut) -> tuple[tuple[int, ...], int]:
    """Resets mae_per_block_key_rounds; returns the key lengths and the latency."""
    await start(dut, clear_i=0, valid_i=0, len_i=0, key_i=0, blocks_i=0, user_i=0)
    longest = bench.parameters()["MaxKeyLen"]
    return SIZES[: longest + 1], 11 + 2 * longest


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def answers(dut) -> None:
    """mae_per_block_key_rounds equals OpenSSL for keys of mixed lengths, one per clock."""
    sizes, latency = await begin(dut)
    due: list[tuple[int, int] | None] = [None] * (latency - 1)
    for number in range(1500):
        valid = random.random() < (0.5 if number < 500 else 1.0)
        answer = offer(dut, random.choice(sizes))
        dut.valid_i.value = valid
        due.append(answer if valid else None)
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        wanted = due.pop(0)
        assert int(dut.valid_o.value) == (wanted is not None)
        assert (int(dut.blocks_o.value), int(dut.user_o.value)) == (wanted or (0, 0))
        await NextTimeStep()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def clear(dut) -> None:
    """After clear_i at any clock all registers of mae_per_block_key_rounds are zero."""
    sizes, latency = await begin(dut)
    for clocks in (0, 1, 5, latency - 1, latency, latency + 3):
        for _ in range(clocks):
            offer(dut, random.choice(sizes))
            dut.valid_i.value = random.random() < 0.8
            await RisingEdge(dut.clk_i)
        offer(dut, random.choice(sizes))
        dut.valid_i.value = dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.valid_i.value = dut.clear_i.value = 0
        await ReadOnly()
        assert int(dut.valid_o.value) == int(dut.blocks_o.value) == int(dut.user_o.value) == 0
        assert not leaks.registers_left(dut)
        await NextTimeStep()


@pytest.mark.parametrize("longest", [0, 2])
def test_per_block_key_rounds(longest: int) -> None:
    """Builds mae_per_block_key_rounds for 128-bit keys and for all; runs this file's tests."""
    parameters = {"Blocks": 1 if longest == 0 else 2, "UserWidth": 5, "MaxKeyLen": longest}
    bench.run("mae_per_block_key_rounds", parameters=parameters, visible=longest == 0)
