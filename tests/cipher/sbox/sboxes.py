# SPDX-License-Identifier: Apache-2.0
"""Tests an S-box module for several bytes against the definition of FIPS 197."""

import random

from cocotb.triggers import RisingEdge, Timer

from tests.cipher import fips197
from tests.cipher.leaks import registers_left
from tests.support import bench
from tests.support.stream import start

KINDS = {
    "mae_sbox_boolean_fwd": 1,
    "mae_sbox_low_depth": 1,
    "mae_sbox_boolean_inv": 2,
}  # the others have a parameter


async def all_bytes(dut) -> None:
    """Asserts that the S-box gives FIPS 197's output for each byte value at each position."""
    fips197.check_against_openssl()
    regs, count = bench.parameters()["Regs"], len(dut.in_i) // 8
    kind = KINDS.get(dut._name) or bench.parameters()["Kind"]
    await start(dut, en_i=0, in_i=0, **({"inverse_i": 0} if hasattr(dut, "inverse_i") else {}))
    places = [[random.sample(range(256), 256) for _ in range(2)] for _ in range(count)]
    clocks = [(inverse, n) for inverse in (0, 1) for n in range(256)]
    clocks += [None] * 100
    random.shuffle(clocks)
    before = b""
    for clock in clocks:
        inverse, n = clock or (random.randrange(2), 0)
        row = bytes(place[inverse][n] for place in places)
        dut.en_i.value = clock is not None
        dut.in_i.value = int.from_bytes(row, "little")
        if hasattr(dut, "inverse_i"):
            dut.inverse_i.value = inverse
        table = fips197.INV_SBOX if kind == 2 or (kind == 3 and inverse) else fips197.SBOX
        wanted = bytes(table[x] for x in row) if clock else b""
        await Timer(1, "ns")
        shown = before if regs else wanted
        if shown:
            assert int(dut.out_o.value).to_bytes(count, "little") == shown
        await RisingEdge(dut.clk_i)
        before = wanted


async def register_empties(dut) -> None:
    """Asserts that the S-box's register holds zero a clock after en_i falls, and in reset."""
    count = len(dut.in_i) // 8
    for reset in (False, True):
        await start(dut, en_i=1, in_i=int.from_bytes(random.randbytes(count), "little"))
        await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        assert registers_left(dut)
        if reset:
            dut.rst_ni.value = 0
        else:
            dut.en_i.value = 0
            await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        assert registers_left(dut) == []
