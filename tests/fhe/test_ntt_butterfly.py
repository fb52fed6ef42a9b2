# SPDX-License-Identifier: Apache-2.0
"""Tests mae_ntt_butterfly (forward and inverse NTT butterfly) against Python integers."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from tests.fhe.test_mod_mul import PARAMETERS, moduli
from tests.support import bench


def butterfly(gs: int, halve: int, u: int, v: int, w: int, q: int, inverse: int) -> tuple[int, int]:
    """Computes both results of a forward or inverse NTT butterfly in Python."""
    if not gs:
        return (u + v * w * inverse) % q, (u - v * w * inverse) % q
    half = pow(2, -1, q) if halve else 1
    return (u + v) * half % q, (v - u) * w * inverse * half % q


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def results(dut) -> None:
    """mae_ntt_butterfly gives the right results for random operands and corner cases."""
    width, digit = bench.parameters()["Width"], bench.parameters()["Digit"]
    steps = -(-width // digit)
    latency = 2 * steps + 3
    Clock(dut.clk_i, 10, unit="ns").start()
    chooser = random.Random(2)
    await FallingEdge(dut.clk_i)
    for q in moduli(width, digit, 4):
        inverse = pow(1 << digit * steps, -1, q)
        dut.q_high_i.value = q >> digit
        corners = (0, 1, q // 2, q // 2 + 1, q - 1)
        for gs, halve in ((0, 0), (1, 1), (1, 0)):
            dut.gs_i.value, dut.halve_i.value = gs, halve
            triples = [(u, v, w) for u in corners for v in corners for w in (1, q - 1)]
            for _ in range(200):
                v = chooser.randrange(q if gs else 1 << width)
                triples.append((chooser.randrange(q), v, chooser.randrange(q)))
            wanted: list[tuple[int, int]] = []
            for u, v, w in triples + [(0, 0, 0)] * latency:
                dut.u_i.value, dut.v_i.value, dut.w_i.value = u, v, w
                wanted.append(butterfly(gs, halve, u, v, w, q, inverse))
                await FallingEdge(dut.clk_i)
                if len(wanted) >= latency:
                    found = int(dut.upper_o.value), int(dut.lower_o.value)
                    assert found == wanted.pop(0), (q, gs, halve)


@pytest.mark.parametrize("parameters", PARAMETERS[:3], ids=lambda p: str(p["Width"]))
def test_ntt_butterfly(parameters: dict[str, int]) -> None:
    """Builds mae_ntt_butterfly for several widths and runs this file's test."""
    bench.run("mae_ntt_butterfly", parameters=parameters)
