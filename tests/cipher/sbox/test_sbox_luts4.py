# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sbox_luts4: AES S-box of four-input LUTs."""

import cocotb
from cocotb.triggers import Timer

from tests.cipher.fips197 import SBOX
from tests.support import bench


@cocotb.test(timeout_time=10, timeout_unit="us")
async def all_bytes(dut) -> None:
    """mae_sbox_luts4 gives the AES S-box's output for each byte value at each position."""
    for x in range(256):
        given = [x, 255 - x]
        dut.in_i.value = given[0] | given[1] << 8
        await Timer(1, "ns")
        assert int(dut.out_o.value) == SBOX[given[0]] | SBOX[given[1]] << 8


def test_sbox_luts4() -> None:
    """Builds mae_sbox_luts4 for two bytes and runs this file's tests."""
    bench.run("mae_sbox_luts4", parameters={"Bytes": 2})
