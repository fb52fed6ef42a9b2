# SPDX-License-Identifier: Apache-2.0
"""mae_sbox_table: whole, and in four quarters behind a register."""

import cocotb
import pytest

from tests.cipher import sboxes
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def all_bytes(dut) -> None:
    """Every byte in every place; with a register one clock later, and one a clock."""
    await sboxes.all_bytes(dut)


@cocotb.test(timeout_time=10, timeout_unit="us", skip=not bench.parameters().get("Regs"))
async def register_empties(dut) -> None:
    """Idle and in reset the register is empty."""
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
    """Each kind once; a byte, a few and a block."""
    bench.run("mae_sbox_table", parameters=parameters, visible=True)
