# SPDX-License-Identifier: Apache-2.0
"""Tests mae_automorphism, which permutes NTT values, against SEAL's index rule."""

import random

import cocotb
import numpy as np
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from maeslant.fhe import sets
from tests.support import bench


def sources(galois: int, log_n: int) -> np.ndarray:
    """Returns for each NTT value of a polynomial the index from which an automorphism takes it."""
    n = 1 << log_n
    order = sets.bit_reversed(log_n)
    wide = sets.bit_reversed(log_n + 1)
    points = np.array([galois * int(wide[n + i]) % (2 * n) for i in range(n)])
    return order[points >> 1]


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def permutations(dut) -> None:
    """mae_automorphism gives the right source word and lane for each value of a polynomial."""
    log_n, lanes = bench.parameters()["LogN"], bench.parameters()["Lanes"]
    bits = lanes.bit_length() - 1
    chooser = random.Random(3)
    Clock(dut.clk_i, 10, unit="ns").start()
    await FallingEdge(dut.clk_i)
    last = (2 << log_n) - 1
    for galois in (
        1,
        3,
        9,
        pow(3, 8, last + 1),
        last,
        *(2 * chooser.randrange(1 << log_n) + 1,) * 4,
    ):
        wanted = sources(galois, log_n)
        dut.galois_i.value = galois
        for word in range((1 << log_n) // lanes):
            dut.word_i.value = word
            await FallingEdge(dut.clk_i)
            packed, source = int(dut.lane_o.value), int(dut.word_o.value)
            found = [source * lanes + (packed >> bits * lane) % lanes for lane in range(lanes)]
            assert found == list(wanted[word * lanes : (word + 1) * lanes]), (galois, word)


@pytest.mark.parametrize("log_n,lanes", [(12, 32), (13, 32), (12, 16), (12, 8), (10, 8)])
def test_automorphism(log_n: int, lanes: int) -> None:
    """Builds mae_automorphism for several ring sizes and lanes and runs this file's test."""
    bench.run("mae_automorphism", parameters={"LogN": log_n, "Lanes": lanes})


def test_rule() -> None:
    """The index rule of sources() equals X -> X^galois on a polynomial's coefficients."""
    log_n, q = 3, 97
    n = 1 << log_n
    root = sets.minimal_root(q, n)
    order = sets.bit_reversed(log_n)

    def transform(poly: list[int]) -> np.ndarray:
        points = [pow(root, 2 * int(order[i]) + 1, q) for i in range(n)]
        return np.array([sum(c * pow(x, j, q) for j, c in enumerate(poly)) % q for x in points])

    poly = [random.Random(4).randrange(q) for _ in range(n)]
    for galois in range(1, 2 * n, 2):
        mapped = [0] * n
        for i, c in enumerate(poly):
            at = i * galois % (2 * n)
            mapped[at % n] = c if at < n else -c % q
        assert (transform(mapped) == transform(poly)[sources(galois, log_n)]).all()
