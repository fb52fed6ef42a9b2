# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sbox_boolean, mae_sbox_boolean_fwd, mae_sbox_boolean_inv and mae_sbox_low_depth."""

import cocotb
import pytest

from tests.cipher.sbox import sboxes
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def all_bytes(dut) -> None:
    """mae_sbox_boolean gives the AES S-box's output for each byte value at each position."""
    await sboxes.all_bytes(dut)


@cocotb.test(timeout_time=10, timeout_unit="us", skip=not bench.parameters().get("Regs"))
async def register_empties(dut) -> None:
    """mae_sbox_boolean's register holds zero a clock after en_i falls, and in reset."""
    await sboxes.register_empties(dut)


@pytest.mark.parametrize(
    "top, parameters",
    (
        ("mae_sbox_boolean", {"Kind": 3, "Regs": 1, "Bytes": 16}),
        ("mae_sbox_boolean", {"Kind": 3, "Regs": 0, "Bytes": 1}),
        ("mae_sbox_boolean_fwd", {"Regs": 1, "Bytes": 4}),
        ("mae_sbox_boolean_inv", {"Regs": 1, "Bytes": 3}),
        ("mae_sbox_low_depth", {"Regs": 1, "Late": 0, "Bytes": 4}),
        ("mae_sbox_boolean", {"Kind": 3, "Regs": 1, "Late": 1, "Shallow": 1, "Bytes": 3}),
        ("mae_sbox_boolean", {"Kind": 2, "Regs": 0, "Shallow": 1, "Bytes": 2}),
    ),
    ids=str,
)
def test_sbox_boolean(top: str, parameters: dict[str, int]) -> None:
    """Builds mae_sbox_boolean or one of its circuits and runs this file's tests."""
    bench.run(top, parameters=parameters, visible=True)
