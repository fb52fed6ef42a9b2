# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sbox_table: AES S-box as a lookup table, also in four parts behind a register."""

import cocotb
import pytest

from tests.cipher.sbox import sboxes
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def all_bytes(dut) -> None:
    """mae_sbox_table gives the AES S-box's output for each byte value at each position."""
    await sboxes.all_bytes(dut)


@cocotb.test(timeout_time=10, timeout_unit="us", skip=not bench.parameters().get("Regs"))
async def register_empties(dut) -> None:
    """mae_sbox_table's register holds zero a clock after en_i falls, and in reset."""
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
def test_sbox_table(parameters: dict[str, int]) -> None:
    """Builds mae_sbox_table for each direction and several widths; runs this file's tests."""
    bench.run("mae_sbox_table", parameters=parameters, visible=True)
