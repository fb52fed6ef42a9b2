# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axil_cdc: AXI4-Lite accesses cross between two clocks of any ratio; resets; erasure."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, Timer
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiLiteRam

from tests.support import bench
from tests.support.axi import pause_all
from tests.support.stream import start_clock

SIZE = 1024


async def begin(dut, s_ps: int, m_ps: int) -> tuple[AxiLiteMaster, AxiLiteRam]:
    """Resets mae_axil_cdc; returns an AXI4-Lite manager and a memory on its two sides."""
    dut.s_rst_ni.value = dut.m_rst_ni.value = 0
    start_clock(dut.s_clk_i, s_ps)
    start_clock(dut.m_clk_i, m_ps)
    s_bus, m_bus = AxiLiteBus.from_prefix(dut, "s_axil"), AxiLiteBus.from_prefix(dut, "m_axil")
    manager = AxiLiteMaster(s_bus, dut.s_clk_i, dut.s_rst_ni, False)
    memory = AxiLiteRam(m_bus, dut.m_clk_i, dut.m_rst_ni, False, size=SIZE)
    await Timer(5 * max(s_ps, m_ps), "ps")
    dut.s_rst_ni.value = 1
    await Timer(random.randrange(3 * m_ps), "ps")
    dut.m_rst_ni.value = 1
    await ClockCycles(dut.s_clk_i, 2)
    return manager, memory


async def traffic(manager: AxiLiteMaster, memory: AxiLiteRam, count: int) -> None:
    """Runs random accesses through mae_axil_cdc and compares the data with a byte array."""
    model = bytearray(memory.read(0, SIZE))

    async def use(base: int, size: int) -> None:
        for _ in range(count):
            length = random.randrange(1, 13)
            address = base + random.randrange(size - length)
            if random.randrange(2):
                data = random.randbytes(length)
                await manager.write(address, data)
                model[address : address + length] = data
            else:
                got = (await manager.read(address, length)).data
                assert got == model[address : address + length]

    users = [cocotb.start_soon(use(base, SIZE // 4)) for base in range(0, SIZE, SIZE // 4)]
    for user in users:
        await user
    assert memory.read(0, SIZE) == model


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(ratio=[1.0, 1.03, 0.21, 4.7], pause=[0.0, 0.4])
async def accesses_arrive(dut, ratio: float, pause: float) -> None:
    """AXI4-Lite accesses through mae_axil_cdc read and write the right data."""
    manager, memory = await begin(dut, 4000, round(4000 * ratio))
    if pause:
        pause_all(manager, pause, 2)
        pause_all(memory, pause, 3)
    await traffic(manager, memory, 25)


def nothing_passes(dut) -> None:
    """Asserts that no valid and no ready output of mae_axil_cdc is high, as during reset."""
    for source, target, channels in (("s", "m", ("aw", "w", "ar")), ("m", "s", ("b", "r"))):
        for channel in channels:
            assert int(getattr(dut, f"{source}_axil_{channel}ready").value) == 0
            assert int(getattr(dut, f"{target}_axil_{channel}valid").value) == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(side=["s", "m"])
async def idle_side_may_be_reset(dut, side: str) -> None:
    """While one side of mae_axil_cdc is reset, new accesses wait; they then end right."""
    manager, memory = await begin(dut, 4000, 5300)
    await traffic(manager, memory, 5)
    reset = getattr(dut, f"{side}_rst_ni")
    for _ in range(5):
        reset.value = 0
        await Timer(random.randrange(1, 20_000), "ps")
        waiting = cocotb.start_soon(manager.write(4, b"wait")) if side == "m" else None
        await Timer(random.randrange(1, 50_000), "ps")
        nothing_passes(dut)
        reset.value = 1
        if waiting:
            await waiting
            assert memory.read(4, 4) == b"wait"
        await traffic(manager, memory, 3)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def both_sides_reset_under_way(dut) -> None:
    """After a reset of both sides during accesses mae_axil_cdc holds no old one and works."""
    manager, memory = await begin(dut, 4000, 3100)
    for _ in range(8):
        for address in range(0, 64, 4):
            manager.init_write(address, b"lost")
            manager.init_read(address, 4)
        await Timer(random.randrange(20_000, 150_000), "ps")
        dut.s_rst_ni.value = dut.m_rst_ni.value = 0
        await Timer(random.randrange(10_000, 30_000), "ps")
        dut.m_rst_ni.value = 1
        await Timer(random.randrange(1, 20_000), "ps")
        dut.s_rst_ni.value = 1
        await traffic(manager, memory, 4)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def no_word_stays(dut) -> None:
    """Written data is erased from mae_axil_cdc's storage a few clocks after it has crossed."""
    manager, _ = await begin(dut, 4000, 5300)
    await manager.write(0, b"\xff" * 32)
    await ClockCycles(dut.s_clk_i, 10)
    assert [int(dut.u_w.gen_zero.store_q[i].value) for i in range(2)] == [0, 0]


@pytest.mark.parametrize("width", [12])
def test_axil_cdc(width: int) -> None:
    """Builds mae_axil_cdc for several address widths and runs this file's tests."""
    bench.run("mae_axil_cdc", parameters={"AddrWidth": width}, visible=True)
