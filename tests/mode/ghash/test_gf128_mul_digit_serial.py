# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gf128_mul_digit_serial: products in GF(2^128), each in 128 / Digit clocks.

Tests mae_gf128_mul_digit_serial.

Multiplication is linear in both operands, so every pair of single bits decides the function.
"""

import random

import cocotb
import pytest
from cocotb.triggers import NextTimeStep, ReadOnly, RisingEdge
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.mode import gcm_oracle
from tests.support import bench
from tests.support.stream import start


async def multiply(dut, a: int, b: int) -> int:
    """Multiplies two operands in mae_gf128_mul_digit_serial; asserts the clock of the result."""
    clocks = 128 // bench.parameters()["Digit"]
    dut.valid_i.value, dut.a_i.value, dut.b_i.value = 1, a, b
    for clock in range(1, clocks + 1):
        await RisingEdge(dut.clk_i)
        dut.valid_i.value, dut.a_i.value = 0, random.getrandbits(128)
        await ReadOnly()
        product = int(dut.product_o.value)
        assert int(dut.valid_o.value) == (clock == clocks)
        assert clock == clocks or product == 0, "no part of a product is shown"
        await NextTimeStep()
    return product


async def begin(dut) -> None:
    """Resets mae_gf128_mul_digit_serial with idle inputs."""
    await start(dut, clear_i=0, valid_i=0, a_i=0, b_i=0)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def single_bits(dut) -> None:
    """mae_gf128_mul_digit_serial multiplies x^i by x^j for many i and j."""
    await begin(dut)
    powers = [1 << 127]
    while len(powers) < 255:
        powers.append(gcm_oracle.multiply(powers[-1], 1 << 126))
    some = [0, 1, 63, 121, 127]
    pairs = [(i, j) for i in range(128) for j in some] + [(i, j) for i in some for j in range(128)]
    for i, j in pairs:
        assert await multiply(dut, powers[i], powers[j]) == powers[i + j], (i, j)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def random_pairs(dut) -> None:
    """mae_gf128_mul_digit_serial multiplies random operands, with and without gaps."""
    await begin(dut)
    ends = [0, 1, 1 << 127, gcm_oracle.BLOCK - 1]
    pairs = [(a, b) for a in ends for b in ends]
    pairs += [(random.getrandbits(128), random.getrandbits(128)) for _ in range(100)]
    for a, b in pairs:
        assert await multiply(dut, a, b) == gcm_oracle.multiply(a, b)
        for _ in range(random.choice((0, 0, 1, 3))):
            await RisingEdge(dut.clk_i)
            await ReadOnly()
            assert (int(dut.valid_o.value), int(dut.product_o.value)) == (0, 0)
            await NextTimeStep()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def tags(dut) -> None:
    """GHASH computed with mae_gf128_mul_digit_serial gives the tags of AES-GCM."""
    await begin(dut)
    for _ in range(3):
        key, iv = random.randbytes(random.choice((16, 24, 32))), random.randbytes(12)
        aad, data = random.randbytes(random.randrange(40)), random.randbytes(random.randrange(70))
        sealed = AESGCM(key).encrypt(iv, data, aad)
        text, tag = sealed[:-16], sealed[-16:]
        y = 0
        for word in [
            *gcm_oracle.blocks(aad),
            *gcm_oracle.blocks(text),
            gcm_oracle.lengths(aad, data),
        ]:
            y = await multiply(dut, y ^ word, gcm_oracle.hash_key(key))
        assert (y ^ gcm_oracle.encrypt_block(key, gcm_oracle.first_counter(key, iv))).to_bytes(
            16, "big"
        ) == tag


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def clear(dut) -> None:
    """clear_i at any clock ends a multiplication of mae_gf128_mul_digit_serial and erases it."""
    await begin(dut)
    clocks = 128 // bench.parameters()["Digit"]
    for when in range(min(clocks, 9) + 1):
        dut.valid_i.value = 1
        dut.a_i.value = dut.b_i.value = gcm_oracle.BLOCK - 1
        await RisingEdge(dut.clk_i)
        dut.valid_i.value = 0
        for _ in range(when):
            await RisingEdge(dut.clk_i)
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        for _ in range(clocks + 2):
            await ReadOnly()
            assert (int(dut.valid_o.value), int(dut.product_o.value)) == (0, 0)
            assert (int(dut.a_q.value), int(dut.sum_q.value)) == (0, 0)
            await RisingEdge(dut.clk_i)
        assert await multiply(dut, 1 << 127, 0x1234) == 0x1234


@pytest.mark.parametrize("digit", [1, 16, 64])
def test_gf128_mul_digit_serial(digit: int) -> None:
    """Builds mae_gf128_mul_digit_serial for three digit sizes and runs this file's tests."""
    bench.run("mae_gf128_mul_digit_serial", parameters={"Digit": digit})
