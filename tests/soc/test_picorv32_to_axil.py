# SPDX-License-Identifier: Apache-2.0
"""Tests mae_picorv32_to_axil: accesses of PicoRV32 reach an AXI4-Lite memory with pauses.

Tests mae_picorv32_to_axil.
"""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteRam

from tests.support.axi import pause_all
from tests.support.bench import run

SIZE = 4096


async def access(dut, address: int, strobes: int, data: int = 0) -> tuple[int, int]:
    """Makes an access on PicoRV32's memory port; returns data and clocks."""
    dut.valid_i.value = 1
    dut.addr_i.value, dut.strb_i.value, dut.wdata_i.value = address, strobes, data
    clocks = 1
    await FallingEdge(dut.clk_i)
    while dut.ready_o.value != 1:
        clocks += 1
        assert clocks < 500, "no answer"
        await FallingEdge(dut.clk_i)
    value = int(dut.rdata_o.value) if strobes == 0 else 0
    await FallingEdge(dut.clk_i)  # the CPU takes it with the rising edge between
    dut.valid_i.value = 0
    return value, clocks


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def equals_a_memory(dut) -> None:
    """Random PicoRV32 reads and writes of each width equal those of a byte array."""
    generator = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    dut.valid_i.value = 0
    dut.rst_ni.value = 0
    ram = AxiLiteRam(AxiLiteBus.from_prefix(dut, "m_axil"), dut.clk_i, dut.rst_ni, False, size=SIZE)
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    model = bytearray(SIZE)
    for number in range(1200):
        if number == 400:
            pause_all(ram, 0.5)
        address = 4 * generator.randrange(SIZE // 4)
        strobes = generator.choice((0, 0, 15, 1, 2, 4, 8, 3, 12))
        data = generator.getrandbits(32)
        value, _ = await access(dut, address, strobes, data)
        for lane in range(4):
            if strobes >> lane & 1:
                model[address + lane] = data >> 8 * lane & 255
        if strobes == 0:
            assert value == int.from_bytes(model[address : address + 4], "little")
        for _ in range(generator.choice((0, 0, 1, 3))):
            await FallingEdge(dut.clk_i)
    assert ram.read(0, SIZE) == bytes(model)


def test_picorv32_to_axil() -> None:
    """Builds mae_picorv32_to_axil with 12-bit addresses and runs this file's test."""
    run("mae_picorv32_to_axil", parameters={"AddrWidth": 12})
