# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axi_cdc: AXI4 bursts cross between two clocks of any ratio, at full rate; resets."""

import random

import cocotb
import pytest
from cocotb.task import Task
from cocotb.triggers import ClockCycles, RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiMaster, AxiRam

from tests.support import bench
from tests.support.axi import pause_all
from tests.support.stream import start_clock

SIZE = 2**16


async def reset(dut, s_ps: int, m_ps: int) -> list[Task]:
    """Starts both clocks of mae_axi_cdc at random phases and releases both resets."""
    dut.s_rst_ni.value = dut.m_rst_ni.value = 0
    clocks = [start_clock(dut.s_clk_i, s_ps), start_clock(dut.m_clk_i, m_ps)]
    await Timer(5 * max(s_ps, m_ps), "ps")
    for side in random.sample(["s", "m"], 2):
        await Timer(random.randrange(1, 3 * m_ps), "ps")
        getattr(dut, f"{side}_rst_ni").value = 1
    return clocks


async def begin(dut, s_ps: int, m_ps: int) -> tuple[AxiMaster, AxiRam]:
    """Resets mae_axi_cdc; returns an AXI manager and a memory on its two sides."""
    s_bus, m_bus = AxiBus.from_prefix(dut, "s_axi"), AxiBus.from_prefix(dut, "m_axi")
    manager = AxiMaster(s_bus, dut.s_clk_i, dut.s_rst_ni, False)
    memory = AxiRam(m_bus, dut.m_clk_i, dut.m_rst_ni, False, size=SIZE)
    await reset(dut, s_ps, m_ps)
    await ClockCycles(dut.s_clk_i, 4)
    return manager, memory


async def traffic(manager: AxiMaster, memory: AxiRam, count: int) -> None:
    """Runs random AXI bursts through mae_axi_cdc and compares the data with a byte array."""
    model = bytearray(memory.read(0, SIZE))
    widest = manager.write_if.byte_lanes

    async def use(base: int, size: int) -> None:
        for _ in range(count):
            length = random.randrange(1, min(20 * widest, size))
            address = base + random.randrange(size - length)
            if random.randrange(2):
                data = random.randbytes(length)
                await manager.write(address, data)
                model[address : address + length] = data
            else:
                got = (await manager.read(address, length)).data
                assert got == model[address : address + length]

    users = [cocotb.start_soon(use(base, SIZE // 8)) for base in range(0, SIZE, SIZE // 8)]
    for user in users:
        await user
    assert memory.read(0, SIZE) == model


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(ratio=[1.0, 0.97, 0.27, 3.3], pause=[0.0, 0.4])
async def bursts_arrive(dut, ratio: float, pause: float) -> None:
    """AXI bursts through mae_axi_cdc read and write the right data at any clock ratio."""
    manager, memory = await begin(dut, 4000, round(4000 * ratio))
    if pause:
        pause_all(manager, pause, 2)
        pause_all(memory, pause, 3)
    await traffic(manager, memory, 6)


def nothing_passes(dut) -> None:
    """Asserts that no valid and no ready output of mae_axi_cdc is high, as during reset."""
    for source, target, channels in (("s", "m", ("aw", "w", "ar")), ("m", "s", ("b", "r"))):
        for channel in channels:
            assert int(getattr(dut, f"{source}_axi_{channel}ready").value) == 0
            assert int(getattr(dut, f"{target}_axi_{channel}valid").value) == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(side=["s", "m"])
async def idle_side_may_be_reset(dut, side: str) -> None:
    """While one side of mae_axi_cdc is reset, new bursts wait; they then end right."""
    manager, memory = await begin(dut, 4000, 5300)
    await traffic(manager, memory, 2)
    signal = getattr(dut, f"{side}_rst_ni")
    for _ in range(3):
        signal.value = 0
        await Timer(random.randrange(1, 20_000), "ps")
        data = random.randbytes(300)
        waiting = cocotb.start_soon(manager.write(3, data)) if side == "m" else None
        await Timer(random.randrange(1, 50_000), "ps")
        nothing_passes(dut)
        signal.value = 1
        if waiting:
            await waiting
            assert memory.read(3, 300) == data
        await traffic(manager, memory, 2)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def both_sides_reset_under_way(dut) -> None:
    """After a reset of both sides during bursts mae_axi_cdc holds no old beat and works."""
    manager, memory = await begin(dut, 4000, 3100)
    for _ in range(4):
        for address in range(0, 8192, 512):
            manager.init_write(address, b"lost" * 100)
            manager.init_read(address, 400)
        await Timer(random.randrange(20_000, 150_000), "ps")
        dut.s_rst_ni.value = dut.m_rst_ni.value = 0
        await Timer(random.randrange(10_000, 30_000), "ps")
        dut.m_rst_ni.value = 1
        await Timer(random.randrange(1, 20_000), "ps")
        dut.s_rst_ni.value = 1
        await traffic(manager, memory, 2)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_transfer_a_clock(dut) -> None:
    """With equal clocks each channel of mae_axi_cdc passes one beat per clock."""
    forward, backward = ("aw", "w", "ar"), ("b", "r")
    for name in ("awid", "awaddr", "awlen", "awsize", "arid", "araddr", "arlen", "arsize", "wstrb"):
        getattr(dut, f"s_axi_{name}").value = 0
    for name in ("bid", "bresp", "rid", "rresp"):
        getattr(dut, f"m_axi_{name}").value = 0
    for signal in (dut.s_axi_awburst, dut.s_axi_arburst, dut.s_axi_wlast, dut.m_axi_rlast):
        signal.value = 1
    for _ in range(5):
        for channels, source, target in ((forward, "s", "m"), (backward, "m", "s")):
            for channel in channels:
                getattr(dut, f"{source}_axi_{channel}valid").value = 1
                getattr(dut, f"{target}_axi_{channel}ready").value = 1
        clocks = await reset(dut, 4000, 4000)
        await ClockCycles(dut.s_clk_i, 20)
        for channels, target in ((forward, "m"), (backward, "s")):
            for channel in channels:
                for _ in range(50):
                    await RisingEdge(getattr(dut, f"{target}_clk_i"))
                    assert int(getattr(dut, f"{target}_axi_{channel}valid").value) == 1
        for clock in clocks:
            clock.cancel()


@pytest.mark.parametrize(("data_width", "id_width"), [(32, 1), (512, 9)])
def test_axi_cdc(data_width: int, id_width: int) -> None:
    """Builds mae_axi_cdc for a narrow and a wide bus and runs this file's tests."""
    bench.run("mae_axi_cdc", parameters={"DataWidth": data_width, "IdWidth": id_width})
