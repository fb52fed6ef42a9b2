# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gf128_mul: a product in GF(2^128) per clock, equal to SP 800-38D algorithm 1.

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


async def products(dut, pairs: list, gaps: float = 0.0) -> list[int]:
    """Sends pairs to mae_gf128_mul with random gaps; returns the products, each in its clock."""
    latency = 1 + bench.parameters()["OutReg"]
    due: list[int] = []  # of the pairs under way, clocks to go
    out: list[int] = []
    pairs = list(pairs)
    while pairs or due:
        dut.valid_i.value = 0
        dut.a_i.value = random.getrandbits(128)
        if pairs and random.random() >= gaps:
            dut.valid_i.value = 1
            dut.a_i.value, dut.b_i.value = pairs.pop(0)
            due.append(latency)
        await RisingEdge(dut.clk_i)
        due = [clocks - 1 for clocks in due]
        await ReadOnly()
        assert int(dut.valid_o.value) == (0 in due)
        if 0 in due:
            due.remove(0)
            out.append(int(dut.product_o.value))
        else:
            assert int(dut.product_o.value) == 0, "an idle stage holds nothing"
        await NextTimeStep()
    return out


async def begin(dut) -> None:
    """Resets mae_gf128_mul with idle inputs."""
    await start(dut, clear_i=0, valid_i=0, a_i=0, b_i=0)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def single_bits(dut) -> None:
    """mae_gf128_mul multiplies x^i by x^j for all i and j."""
    await begin(dut)
    powers = [1 << 127]
    while len(powers) < 255:
        powers.append(gcm_oracle.multiply(powers[-1], 1 << 126))
    pairs = [(i, j) for i in range(128) for j in range(128)]
    found = await products(dut, [(powers[i], powers[j]) for i, j in pairs])
    assert found == [powers[i + j] for i, j in pairs]


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def random_pairs(dut) -> None:
    """mae_gf128_mul multiplies random operands, 0, 1 and all ones right, with gaps between."""
    await begin(dut)
    ends = [0, 1, 1 << 127, gcm_oracle.BLOCK - 1]
    pairs = [(a, b) for a in ends for b in ends]
    pairs += [(random.getrandbits(128), random.getrandbits(128)) for _ in range(600)]
    assert await products(dut, pairs, 0.3) == [gcm_oracle.multiply(a, b) for a, b in pairs]


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def tags(dut) -> None:
    """GHASH computed with mae_gf128_mul gives the tags of AES-GCM by `cryptography`."""
    await begin(dut)
    for _ in range(6):
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
            y = (await products(dut, [(y ^ word, gcm_oracle.hash_key(key))]))[0]
        assert (y ^ gcm_oracle.encrypt_block(key, gcm_oracle.first_counter(key, iv))).to_bytes(
            16, "big"
        ) == tag


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def clear(dut) -> None:
    """After clear_i mae_gf128_mul gives no product and its output is zero."""
    await begin(dut)
    dut.valid_i.value = 1
    dut.a_i.value = dut.b_i.value = gcm_oracle.BLOCK - 1
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = dut.valid_i.value = 0
    for _ in range(3):
        await ReadOnly()
        assert not int(dut.valid_o.value) and int(dut.product_o.value) == 0
        await RisingEdge(dut.clk_i)


@pytest.mark.parametrize("out_reg", [0, 1])
def test_gf128_mul(out_reg: int) -> None:
    """Builds mae_gf128_mul with and without output register and runs this file's tests."""
    bench.run("mae_gf128_mul", parameters={"OutReg": out_reg})
