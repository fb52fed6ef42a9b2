# SPDX-License-Identifier: Apache-2.0
"""Tests mae_ram: random writes of parts of words, reads at once and from the register."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from tests.support import bench
from tests.support.stream import start_clock

CONFIGURATIONS = [
    {"Width": 8, "Depth": 1},
    {"Width": 36, "Depth": 5},
    {"Width": 32, "Depth": 16, "WriteBits": 8},
    {"Width": 32, "Depth": 16, "WriteBits": 8, "ReadReg": 1},
    {"Width": 9, "Depth": 64, "ReadReg": 1},
]


@cocotb.test(timeout_time=200, timeout_unit="us")
async def holds_what_is_written(dut) -> None:
    """mae_ram gives the old word in the clock of a write; its register holds or is cleared."""
    values = bench.parameters()
    width, depth = values["Width"], values["Depth"]
    part, registered = values.get("WriteBits", width), values.get("ReadReg", 0)
    words = [0] * depth
    start_clock(dut.clk_i, 10_000)
    dut.write_i.value = dut.read_i.value = dut.clear_i.value = 0
    dut.read_addr_i.value = 0
    read = 0
    for step in range(depth + 1000):
        await FallingEdge(dut.clk_i)
        known = step > depth
        wanted = (1 << width // part) - 1 if not known else random.getrandbits(width // part)
        address = step % depth if not known else random.randrange(depth)
        data = random.getrandbits(width)
        dut.write_i.value, dut.write_addr_i.value, dut.write_data_i.value = wanted, address, data
        at, take, clear = random.randrange(depth), random.random() < 0.7, random.random() < 0.1
        dut.read_addr_i.value, dut.read_i.value, dut.clear_i.value = at, int(take), int(clear)
        await ReadOnly()
        if known:
            assert int(dut.read_data_o.value) == (read if registered else words[at])
        await RisingEdge(dut.clk_i)
        if clear or take:
            read = 0 if clear else words[at]
        for lane in range(width // part):
            if wanted >> lane & 1:
                mask = ((1 << part) - 1) << lane * part
                words[address] = words[address] & ~mask | data & mask


@pytest.mark.parametrize("values", CONFIGURATIONS, ids=lambda v: "-".join(map(str, v.values())))
def test_ram(values: dict[str, int]) -> None:
    """Builds the generic mae_ram and runs this file's test."""
    bench.run("mae_ram", parameters=values)
