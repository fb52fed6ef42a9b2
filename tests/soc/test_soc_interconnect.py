# SPDX-License-Identifier: Apache-2.0
"""Tests mae_soc_interconnect and mae_soc_memory: address map, system registers, clocks.

Tests mae_soc_interconnect and mae_soc_memory.
"""

import random

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge

from tests.soc.system import PERIPHERAL, System
from tests.support.bench import run

REGISTERS = 0x20000000
ROW_BITS = 11
MEMORY = 16 << ROW_BITS


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def memory(dut) -> None:
    """The SoC's memory equals a byte array under accesses of each width, and after a reset."""
    system, generator = System(dut), random.Random(cocotb.RANDOM_SEED)
    await system.open()
    model = bytearray(MEMORY)
    await system.store(0, bytes(model))
    for number in range(1500):
        if number == 1000:
            await system.reset()
        address = generator.choice((0, MEMORY - 2048)) + 4 * generator.randrange(512)
        strobes = generator.randrange(16)
        value = generator.getrandbits(32)
        found = await system.access(address, value, strobes)
        assert system.clocks == 2
        if strobes == 0:
            assert found == int.from_bytes(model[address : address + 4], "little")
        for lane in range(4):
            if strobes >> lane & 1:
                model[address + lane] = value >> 8 * lane & 255
    assert await system.load(0, MEMORY) == bytes(model)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def nothing(dut) -> None:
    """The SoC's unmapped addresses read 0, ignore writes and are counted in a register."""
    system = System(dut)
    await system.open()
    await system.store(0, b"\x11" * 16)
    places = (MEMORY, 0x0FFFFFFC, PERIPHERAL + 0x1000, 0x1FFFFFFC, REGISTERS + 0x1000, 0xFFFFFFFC)
    for count, place in enumerate(places):
        assert await system.access(place) == 0
        assert system.clocks == 2
        await system.access(place, 0xDEADBEEF, 15)
        assert await system.access(REGISTERS + 0x14) == 2 * count + 2
    assert await system.load(0, 16) == b"\x11" * 16
    assert await system.access(PERIPHERAL) == 0x4D414550  # and the device is where it belongs


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def registers(dut) -> None:
    """The SoC's console and finish registers give one pulse per write, with its byte."""
    system = System(dut)
    await system.open()
    seen = []

    async def watch() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            if dut.console_valid_o.value == 1:
                seen.append(("console", int(dut.console_data_o.value)))
            if dut.finish_valid_o.value == 1:
                seen.append(("finish", int(dut.finish_code_o.value)))

    cocotb.start_soon(watch())
    for byte in b"gate":
        await system.access(REGISTERS, byte, 15)
    usual = system.clocks
    await system.access(REGISTERS + 0x10, 7, 15)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    assert seen == [("console", byte) for byte in b"gate"] + [("finish", 7)]
    first = await system.access(REGISTERS + 0x08)
    second = await system.access(REGISTERS + 0x08)
    assert second - first == system.clocks + 1  # this access, and the clock between two
    assert await system.access(REGISTERS + 0x0C) == 0

    async def free() -> None:
        await ClockCycles(dut.clk_i, 40)
        await FallingEdge(dut.clk_i)
        dut.console_ready_i.value = 1

    seen.clear()
    dut.console_ready_i.value = 0
    assert await system.access(REGISTERS + 0x0C) == 0  # other registers do not wait
    assert system.clocks <= usual + 1
    cocotb.start_soon(free())
    await system.access(REGISTERS, ord("!"), 15)
    assert 40 < system.clocks <= 41 + usual
    await ClockCycles(dut.clk_i, 3)
    assert seen == [("console", ord("!"))]


def test_soc_interconnect() -> None:
    """Builds mae_soc_interconnect with 32 KiB of memory and runs this file's tests."""
    run("mae_soc_interconnect", parameters={"RowBits": ROW_BITS}, visible=True, optimize="-O1")
