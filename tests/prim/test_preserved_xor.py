# SPDX-License-Identifier: Apache-2.0
"""Tests mae_preserved_xor (sums of words with a choice) against Python's operators."""

import functools
import operator
import random

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.support import bench


@cocotb.test(timeout_time=10, timeout_unit="us")
async def equals_the_sum(dut) -> None:
    """mae_preserved_xor adds its terms, takes the other word or 0 by choice, and adds add_i."""
    values = bench.parameters()
    terms, width, choice = values["Terms"], values["Width"], values["Choice"]
    for trial in range(200):
        words = [random.getrandbits(width) for _ in range(terms)]
        other, add = random.getrandbits(width), random.getrandbits(width)
        dut.terms_i.value = sum(word << i * width for i, word in enumerate(words))
        dut.other_i.value, dut.add_i.value, dut.choose_i.value = other, add, trial % 2
        await Timer(1, "ns")
        wanted = functools.reduce(operator.xor, words)
        if choice and trial % 2:
            wanted = other if choice == 2 else 0
        assert int(dut.out_o.value) == wanted ^ (add if values["Added"] else 0)


@pytest.mark.parametrize(
    "parameters",
    (
        {"Terms": 3, "Choice": 2, "Added": 1, "Width": 32},
        {"Terms": 5, "Choice": 0, "Added": 0, "Width": 7},
        {"Terms": 4, "Choice": 1, "Added": 1, "Width": 1},
    ),
    ids=str,
)
def test_preserved_xor(parameters: dict[str, int]) -> None:
    """Builds mae_preserved_xor for each choice and runs this file's test."""
    bench.run("mae_preserved_xor", parameters=parameters)
