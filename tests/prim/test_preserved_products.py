# SPDX-License-Identifier: Apache-2.0
"""Tests mae_preserved_products (sums of products and words) against Python's operators."""

import functools
import operator
import random

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.support import bench


@cocotb.test(timeout_time=10, timeout_unit="us")
async def equals_the_sum(dut) -> None:
    """mae_preserved_products adds the products of its factors, and its terms if it has any."""
    values = bench.parameters()
    width = values["Width"]

    def drawn(count: int) -> list[int]:
        return [random.getrandbits(width) for _ in range(count)]

    def packed(words: list[int]) -> int:
        return sum(word << i * width for i, word in enumerate(words))

    for _ in range(200):
        a, b, terms = drawn(values["Products"]), drawn(values["Products"]), drawn(values["Terms"])
        dut.a_i.value, dut.b_i.value = packed(a), packed(b)
        dut.terms_i.value = packed(terms or drawn(1))
        await Timer(1, "ns")
        words = [*map(operator.and_, a, b), *terms]
        assert int(dut.out_o.value) == functools.reduce(operator.xor, words)


@pytest.mark.parametrize(
    "parameters",
    (
        {"Products": 3, "Terms": 0, "Width": 18},
        {"Products": 1, "Terms": 4, "Width": 13},
        {"Products": 2, "Terms": 2, "Width": 1},
    ),
    ids=str,
)
def test_preserved_products(parameters: dict[str, int]) -> None:
    """Builds mae_preserved_products with and without terms and runs this file's test."""
    bench.run("mae_preserved_products", parameters=parameters)
