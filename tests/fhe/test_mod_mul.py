# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mod_mul (Montgomery products modulo a prime) against Python integers."""

import itertools
import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from maeslant.fhe import sets
from tests.support import bench

PARAMETERS = [
    {"Width": 37, "Digit": 13},
    {"Width": 54, "Digit": 14},
    {"Width": 24, "Digit": 11},
    {"Width": 20, "Digit": 10},
]


def moduli(width: int, digit: int, count: int) -> list[int]:
    """Returns moduli for mae_mod_mul: the parameter sets' primes, the extremes, random ones."""
    chooser = random.Random(width)
    found = [q for one in sets.SETS.values() for q in one.primes]
    found = [q for q in found if q >> width == 0 and q % (1 << digit) == 1]
    ends = [(1 << digit) + 1, (1 << width) - (1 << digit) + 1]
    high = 1 << (width - digit)
    return found + ends + [(chooser.randrange(1, high) << digit) + 1 for _ in range(count)]


def operands(q: int, width: int, digit: int, chooser: random.Random) -> list[tuple[int, int]]:
    """Returns operand pairs for mae_mod_mul: corner cases and random ones."""
    corners = {0, 1, 2, q - 2, q - 1, (1 << digit) - 1, 1 << digit, (1 << width) - 1, q // 2}
    pairs = [(a, b) for a, b in itertools.product(corners, corners) if b < q]
    return pairs + [(chooser.randrange(1 << width), chooser.randrange(q)) for _ in range(300)]


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def products(dut) -> None:
    """mae_mod_mul gives a * b / R modulo q for one pair per clock."""
    width, digit = bench.parameters()["Width"], bench.parameters()["Digit"]
    steps = -(-width // digit)
    Clock(dut.clk_i, 10, unit="ns").start()
    chooser = random.Random(1)
    await FallingEdge(dut.clk_i)
    for q in moduli(width, digit, 6):
        inverse = pow(1 << digit * steps, -1, q)
        dut.q_high_i.value = q >> digit
        wanted: list[int] = []
        for a, b in operands(q, width, digit, chooser) + [(0, 0)] * (2 * steps):
            dut.a_i.value, dut.b_i.value = a, b
            wanted.append(a * b * inverse % q)
            await FallingEdge(dut.clk_i)
            if len(wanted) > 2 * steps:
                assert int(dut.product_o.value) == wanted.pop(0), (q, a, b)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda p: str(p["Width"]))
def test_mod_mul(parameters: dict[str, int]) -> None:
    """Builds mae_mod_mul for the parameter sets' widths and others; runs this file's test."""
    bench.run("mae_mod_mul", parameters=parameters)
