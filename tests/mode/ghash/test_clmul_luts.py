# SPDX-License-Identifier: Apache-2.0
"""Tests mae_clmul16_luts and mae_clmul32_luts, products of polynomials over GF(2).

A product is linear in both factors, so every pair of single bits decides the function.
"""

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.support import bench


def product(a: int, b: int) -> int:
    """Returns the product of two polynomials over GF(2), given as integers."""
    return 0 if b == 0 else (a if b & 1 else 0) ^ product(a << 1, b >> 1)


async def check(dut, a: int, b: int) -> None:
    """Compares one product, with random words to add where the module has them, with Python's."""
    terms = [random.getrandbits(31) for _ in range(bench.parameters().get("Terms", 0))]
    dut.a_i.value, dut.b_i.value = a, b
    if terms:
        dut.terms_i.value = sum(term << 31 * i for i, term in enumerate(terms))
    await Timer(1, "ns")
    want = product(a, b)
    for term in terms:
        want ^= term
    assert int(dut.out_o.value) == want, f"{a:#x} times {b:#x}"


@cocotb.test(timeout_time=10, timeout_unit="us")
async def single_bits(dut) -> None:
    """The product of x^i and x^j is x^(i+j), for all i and j."""
    width = len(dut.a_i)
    for i in range(width):
        for j in range(width):
            await check(dut, 1 << i, 1 << j)


@cocotb.test(timeout_time=10, timeout_unit="us")
async def random_pairs(dut) -> None:
    """Products of random polynomials, 0, 1 and all ones are right."""
    width = len(dut.a_i)
    ends = [0, 1, (1 << width) - 1]
    for a, b in [(a, b) for a in ends for b in ends]:
        await check(dut, a, b)
    for _ in range(2000):
        await check(dut, random.getrandbits(width), random.getrandbits(width))


@pytest.mark.parametrize("terms", [0, 3])
def test_clmul16_luts(terms: int) -> None:
    """Builds mae_clmul16_luts, alone and with words to add, and runs this file's tests."""
    bench.run("mae_clmul16_luts", parameters={"Terms": terms})


def test_clmul32_luts() -> None:
    """Builds mae_clmul32_luts and runs this file's tests."""
    bench.run("mae_clmul32_luts")
