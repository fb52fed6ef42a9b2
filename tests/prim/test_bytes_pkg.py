# SPDX-License-Identifier: Apache-2.0
"""Tests mae_bytes_pkg: conversion of a block between the byte orders of FIPS 197 and AXI.

FIPS 197 writes a block as the hexadecimal number whose leftmost byte is in0: Python's
``int.from_bytes(data, "big")``. AXI has byte 0 in bits 7:0: ``"little"``. The conversion must
take one to the other for every single byte.
"""

import random

import cocotb
from cocotb.triggers import Timer

from tests.support import bench


@cocotb.test(timeout_time=10, timeout_unit="us")
async def converts_both_ways(dut) -> None:
    """mae_bytes_pkg reverses a block's bytes, from AXI's order to FIPS 197's and back."""
    blocks = [bytes(0xA5 if i == at else 0 for i in range(16)) for at in range(16)]
    # FIPS 197 Appendix B's input: 32 43 f6 ... 34 as in0 ... in15.
    blocks.append(bytes.fromhex("3243f6a8885a308d313198a2e0370734"))
    blocks += [random.randbytes(16) for _ in range(200)]
    for data in blocks:
        axi, block = int.from_bytes(data, "little"), int.from_bytes(data, "big")
        for given, wanted in ((axi, block), (block, axi)):
            dut.block_i.value = given
            await Timer(1, "ns")
            assert int(dut.block_o.value) == wanted
    in0 = 0x32
    dut.block_i.value = in0  # byte 0 on AXI is in bits 7:0 ...
    await Timer(1, "ns")
    assert int(dut.block_o.value) >> 120 == in0  # ... and in bits 127:120 of a block


def test_bytes_pkg() -> None:
    """Builds bytes_wrapper around mae_bytes_pkg and runs this file's test."""
    bench.run("bytes_wrapper", sources=["tests/prim/bytes_wrapper.sv"])
