# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sbox_onehot: AES S-box by one-hot decoder, permutation and encoder."""

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.cipher.sbox import sboxes
from tests.support import bench
from tests.support.stream import start


@cocotb.test(timeout_time=100, timeout_unit="us")
async def all_bytes(dut) -> None:
    """mae_sbox_onehot gives the AES S-box's output for each byte value at each position."""
    await sboxes.all_bytes(dut)


@cocotb.test(timeout_time=10, timeout_unit="us", skip=not bench.parameters().get("Regs"))
async def register_empties(dut) -> None:
    """mae_sbox_onehot's register holds zero a clock after en_i falls, and in reset."""
    await sboxes.register_empties(dut)


@cocotb.test(timeout_time=10, timeout_unit="us", skip=bool(bench.parameters().get("Regs")))
async def one_line_is_low(dut) -> None:
    """For each byte value exactly one of mae_sbox_onehot's 256 decoded wires is low."""
    await start(dut, en_i=1, in_i=0, inverse_i=0)
    byte = dut.gen_byte[0]
    for x in range(256):
        dut.in_i.value = x
        await Timer(1, "ns")
        assert int(byte.line.value) == (1 << 256) - 1 - (1 << x)
        halves = (1 << x % 16) | (1 << 16 + x // 16)
        assert int(byte.half.value) == (1 << 32) - 1 - halves


@pytest.mark.parametrize(
    "parameters",
    (
        {"Kind": 1, "Regs": 0, "Bytes": 3},
        {"Kind": 2, "Regs": 1, "Bytes": 1},
        {"Kind": 3, "Regs": 1, "Bytes": 2},
        {"Kind": 3, "Regs": 0, "Bytes": 1},
    ),
    ids=str,
)
def test_sbox_onehot(parameters: dict[str, int]) -> None:
    """Builds mae_sbox_onehot for each direction, with and without register; runs all tests."""
    bench.run("mae_sbox_onehot", parameters=parameters, visible=True)
