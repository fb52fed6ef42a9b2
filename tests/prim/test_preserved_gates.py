# SPDX-License-Identifier: Apache-2.0
"""Tests mae_preserved_gates (AND, NAND, OR and NOR gates) against Python's operators."""

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.support import bench


@cocotb.test(timeout_time=10, timeout_unit="us")
async def equals_the_operator(dut) -> None:
    """Each gate of mae_preserved_gates combines its own group of input bits right."""
    values = bench.parameters()
    inputs, width = values["Inputs"], values["Width"]
    for trial in range(200):
        bits = [random.random() < (0.2, 0.5, 0.8)[trial % 3] for _ in range(inputs * width)]
        dut.in_i.value = sum(bit << i for i, bit in enumerate(bits))
        await Timer(1, "ns")
        of = [bits[i * inputs : (i + 1) * inputs] for i in range(width)]
        wanted = [(all(b) if values["All"] else any(b)) != bool(values["Low"]) for b in of]
        assert int(dut.out_o.value) == sum(bit << i for i, bit in enumerate(wanted))


@pytest.mark.parametrize(
    "parameters",
    (
        {"All": 1, "Low": 0, "Inputs": 2, "Width": 7},
        {"All": 1, "Low": 1, "Inputs": 4, "Width": 3},
        {"All": 0, "Low": 0, "Inputs": 3, "Width": 1},
        {"All": 0, "Low": 1, "Inputs": 1, "Width": 5},
    ),
    ids=str,
)
def test_preserved_gates(parameters: dict[str, int]) -> None:
    """Builds mae_preserved_gates for AND, NAND, OR and NOR and runs this file's test."""
    bench.run("mae_preserved_gates", parameters=parameters)
