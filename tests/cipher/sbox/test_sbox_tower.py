# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sbox_tower: the tower-field S-box gives FIPS 197's bytes, with or without register."""

import cocotb
import pytest

from tests.cipher import sboxes
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def all_bytes(dut) -> None:
    """mae_sbox_tower substitutes each byte value at each position, registered one clock later."""
    await sboxes.all_bytes(dut)


@cocotb.test(timeout_time=10, timeout_unit="us", skip=not bench.parameters().get("Regs"))
async def register_empties(dut) -> None:
    """The register of mae_sbox_tower is empty when idle and in reset."""
    await sboxes.register_empties(dut)


@pytest.mark.parametrize(
    "parameters",
    (
        {"Kind": 1, "Regs": 0, "Bytes": 3},
        {"Kind": 2, "Regs": 1, "Bytes": 1},
        {"Kind": 3, "Regs": 1, "Bytes": 16},
    ),
    ids=str,
)
def test_sbox_tower(parameters: dict[str, int]) -> None:
    """Runs the checks of mae_sbox_tower for each kind, for one byte, a few and a block."""
    bench.run("mae_sbox_tower", parameters=parameters, visible=True)
