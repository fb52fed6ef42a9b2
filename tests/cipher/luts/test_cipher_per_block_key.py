# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_per_block_key and mae_mix_columns_luts: answers, clocks, erasure."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

from tests.cipher.fips197 import ROUNDS, openssl
from tests.cipher.leaks import leaks, registers_left, secret_words
from tests.support import bench

SIZES = {0: 16, 2: 32}  # of a key, by KeyLen


async def begin(dut) -> int:
    """Resets mae_cipher_per_block_key; returns the size of its keys."""
    Clock(dut.clk_i, 10, "ns").start()
    dut.clear_i.value = dut.valid_i.value = 0
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return SIZES[int(bench.parameters()["KeyLen"])]


def offer(dut, key: bytes, block: bytes) -> None:
    """Offers mae_cipher_per_block_key a block with its key; what is unused of key_i is random."""
    dut.valid_i.value = 1
    dut.key_i.value = int.from_bytes(key + random.randbytes(32 - len(key)))
    dut.block_i.value = int.from_bytes(block)


async def encrypt(dut, key: bytes, block: bytes) -> bytes:
    """Encrypts a block by mae_cipher_per_block_key; asserts that its clocks are the header's."""
    offer(dut, key, block)
    await Timer(1, "ns")
    assert dut.ready_o.value == 1
    for clock in range(1, ROUNDS[len(key)] + 1):
        await FallingEdge(dut.clk_i)
        assert dut.ready_o.value == 0
        dut.valid_i.value = random.getrandbits(1)  # not taken
        dut.block_i.value = random.getrandbits(128)
        if clock > 1:  # the key need not hold any longer
            dut.key_i.value = random.getrandbits(256)
        assert dut.valid_o.value == (clock == ROUNDS[len(key)])
        if not int(dut.valid_o.value):
            assert dut.block_o.value == 0
    answer = int(dut.block_o.value).to_bytes(16)
    dut.valid_i.value = 0
    await FallingEdge(dut.clk_i)
    assert dut.valid_o.value == 0 and dut.block_o.value == 0 and dut.ready_o.value == 1
    return answer


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def answers(dut) -> None:
    """mae_cipher_per_block_key gives the answers of FIPS 197, and of OpenSSL for random blocks."""
    size = await begin(dut)
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    known = {16: "69c4e0d86a7b0430d8cdb78070b4c55a", 32: "8ea2b7ca516745bfeafc49904b496089"}
    assert await encrypt(dut, bytes(range(size)), plain) == bytes.fromhex(known[size])
    for _ in range(200):
        key, block = random.randbytes(size), random.randbytes(16)
        assert await encrypt(dut, key, block) == openssl(key, block, False)
        for _ in range(random.choice((0, 0, 1, 5))):
            await FallingEdge(dut.clk_i)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def clear_leaves_nothing(dut) -> None:
    """A clock after clear_i, a result or in reset, nothing of block and key is left."""
    size = await begin(dut)
    stops = [(by, n) for by in (dut.clear_i, dut.rst_ni) for n in range(1, ROUNDS[size] + 1)]
    for port, clocks in [*stops, (None, ROUNDS[size])]:
        key, block = random.randbytes(size), random.randbytes(16)
        secrets = secret_words(key, [(block, False)])
        offer(dut, key, block)
        for _ in range(clocks):
            await FallingEdge(dut.clk_i)
            dut.valid_i.value = 0
        await Timer(1, "ns")
        assert leaks(dut, secrets), "the search finds what is there"
        if port is not None:
            port.value = int(port is dut.clear_i)
        dut.key_i.value = dut.block_i.value = 0
        for _ in range(1 if port is dut.clear_i else 2):
            await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await Timer(1, "ns")
        assert leaks(dut, secrets) == []
        assert registers_left(dut) == []
        dut.rst_ni.value = 1
        for _ in range(20):
            await FallingEdge(dut.clk_i)
            assert dut.valid_o.value == 0


@pytest.mark.parametrize("length", SIZES)
@pytest.mark.parametrize("sbox", (5, pytest.param(2, marks=pytest.mark.slow)))
def test_cipher_per_block_key(length: int, sbox: int) -> None:
    """Builds mae_cipher_per_block_key for both key lengths and runs this file's tests."""
    parameters = {"KeyLen": length, "Sbox": sbox}
    bench.run("mae_cipher_per_block_key", parameters=parameters, visible=True)
