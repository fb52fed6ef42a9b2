# SPDX-License-Identifier: Apache-2.0
"""Tests the functional models of FPGAs' cells that Yosys has none of; RAMs: test_equivalence."""

import pathlib
import random

import pytest

from maeslant.synth.netlist import cells, circuit


@pytest.mark.parametrize("signed", range(4))
def test_multiplier(signed: int, tmp_path: pathlib.Path) -> None:
    """The model of ECP5's multiplier multiplies numbers with and without a sign."""
    file = tmp_path / "multiplier.v"
    file.write_text(cells.multiplier())
    found = circuit.read([f"read_verilog {file}"], "MULT18X18D", tmp_path / "multiplier")
    inputs, source = found.ports("input"), random.Random(signed)
    for _ in range(20):
        factors = {name: source.getrandbits(18) for name in "AB"}
        values = circuit.CONSTANTS | dict.fromkeys(inputs.values(), 0)
        for i, name in enumerate("AB"):
            values |= {inputs[f"{name}{n}[0]"]: -(factors[name] >> n & 1) for n in range(18)}
            values[inputs[f"SIGNED{name}[0]"]] = -(signed >> i & 1)
            factors[name] -= (signed >> i & factors[name] >> 17 & 1) << 18
        found.evaluate(values)
        made = sum((values[found.ports("output")[f"P{n}[0]"]] & 1) << n for n in range(36))
        assert made == factors["A"] * factors["B"] % (1 << 36)
