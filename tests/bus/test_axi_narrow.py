# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axi_narrow: bursts keep their data on a narrower bus, in any order, at full rate."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster
from cocotbext.axi.constants import AxiResp

from tests.support import bench
from tests.support.axi import pause_all
from tests.support.axi_memory import DECERR, OKAY, SLVERR, AxiMemory, axi_name
from tests.support.stream import start

SIZE = 2**15
ERRORS = {SLVERR: AxiResp.SLVERR, DECERR: AxiResp.DECERR}


async def begin(dut, **memory: object) -> tuple[AxiMaster, AxiMemory]:
    """Resets mae_axi_narrow; returns a manager on its wide side and a memory on its narrow one."""
    model = AxiMemory(dut, SIZE, names=axi_name("m_axi_"), crossing=True, **memory)
    ratio = len(dut.s_axi_wdata) // len(dut.m_axi_wdata)
    bus = AxiBus.from_prefix(dut, "s_axi")
    manager = AxiMaster(bus, dut.clk_i, dut.rst_ni, False, max_burst_len=256 // ratio)
    await start(dut, purge_i=0)
    model.write(0, random.randbytes(SIZE))
    model.start()
    await ClockCycles(dut.clk_i, 3)
    return manager, model


async def traffic(manager: AxiMaster, memory: AxiMemory, count: int, longest: int) -> None:
    """Runs random bursts of eight users at once and compares the data with a byte array."""
    model = bytearray(memory.read(0, SIZE))

    async def use(base: int, size: int) -> None:
        for _ in range(count):
            length = random.randrange(1, min(longest, size))
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


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4], pause=[0.0, 0.4], one_way=[False, True])
async def bursts_keep_their_data(dut, stall: float, pause: float, one_way: bool) -> None:
    """Random bursts through mae_axi_narrow read and write the right data, whoever pauses."""
    manager, memory = await begin(dut, latency=(1, 60), stall=stall, one_way=one_way)
    if pause:
        pause_all(manager, pause, 2)
    await traffic(manager, memory, 12, 40 * manager.write_if.byte_lanes)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def reads_interleave(dut) -> None:
    """Beats of reads of several IDs that interleave on the bus are put together by their ID."""
    manager, memory = await begin(dut, latency=(1, 80))
    width = manager.write_if.byte_lanes
    reads = [
        (address, manager.init_read(address, 8 * width, arid=number % 4))
        for number, address in enumerate(range(0, SIZE, 8 * width))
    ]
    seen, last = 0, None
    for address, read in reads:
        while not read.is_set():
            await RisingEdge(dut.clk_i)
            if dut.m_axi_rvalid.value == 1 and dut.m_axi_rready.value == 1:
                beat = int(dut.m_axi_rid.value)
                seen += last is not None and beat != last
                last = None if dut.m_axi_rlast.value == 1 else beat
        assert read.data.data == memory.read(address, 8 * width)
    assert seen > 100  # IDs changed inside of bursts


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def errors_arrive(dut) -> None:
    """The first error of the parts of a read, and that of a write, is the response of the whole."""
    manager, memory = await begin(dut, latency=(1, 20))
    width = manager.write_if.byte_lanes
    parts = 8 * width // len(dut.m_axi_wdata)
    for _ in range(20):
        resp = random.choice((SLVERR, DECERR))
        memory.fail(width, width + 1, resp)
        assert (await manager.write(width, bytes(width))).resp == ERRORS[resp]
        memory.mend()
        assert (await manager.write(width, bytes(width))).resp == AxiResp.OKAY
    memory.stop()
    for _ in range(60):
        read = manager.init_read(0, width, arid=random.randrange(4))
        dut.m_axi_arready.value = 1
        await RisingEdge(dut.m_axi_arvalid)
        await FallingEdge(dut.clk_i)
        dut.m_axi_rid.value = int(dut.m_axi_arid.value)
        resps = [random.choice((OKAY, OKAY, SLVERR, DECERR)) for _ in range(parts)]
        for number, resp in enumerate(resps):
            await FallingEdge(dut.clk_i)
            dut.m_axi_rvalid.value, dut.m_axi_rresp.value = 1, resp
            dut.m_axi_rlast.value = number == parts - 1
        await FallingEdge(dut.clk_i)
        dut.m_axi_rvalid.value = 0
        await read.wait()
        assert read.data.resp == ERRORS.get(next(filter(None, resps), OKAY), AxiResp.OKAY)


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(way=["read", "write", "both"])
async def a_beat_of_the_bus_a_clock(dut, way: str) -> None:
    """No data clock of the bus is lost, in reads, in writes, or where they share it."""
    timing = {"latency": (2, 2), "shuffle": False, "one_way": way == "both"}
    manager, memory = await begin(dut, **timing)
    half = SIZE // 2
    read = manager.init_read(0, half) if way != "write" else None
    if way != "read":
        await manager.write(half, bytes(half))
    if read:
        await read.wait()
    reading, writing, busy = memory.statistics.used()
    assert {"read": reading, "write": writing, "both": busy}[way] > 0.97


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def data_are_erased(dut) -> None:
    """When all bursts have ended, no data are left in mae_axi_narrow."""
    manager, memory = await begin(dut, latency=(1, 60))
    memory.write(0, b"\xff" * SIZE)
    width = manager.write_if.byte_lanes
    reads = [manager.init_read(address, 3 * width) for address in range(0, SIZE, 3 * width)]
    await manager.write(0, b"\xff" * 600)
    for read in reads:
        await read.wait()
    await ClockCycles(dut.clk_i, 10)
    assert int(dut.data_q.value) == 0
    for name in ("u_w", "u_read"):
        assert int(getattr(dut, name).out_data_q.value) == 0
        assert int(getattr(dut, name).skid_data_q.value) == 0
    assert not any(int(entry.value) for entry in dut.store_q)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_purge_erases_parts(dut) -> None:
    """A purge erases the parts of reads that a hung bus never ends, and bursts end after it."""
    manager, memory = await begin(dut, latency=(1, 5))
    memory.write(0, b"\xff" * SIZE)
    width, ids = manager.write_if.byte_lanes, 2 ** len(dut.m_axi_rid)
    reads = [manager.init_read(16 * width * i, 16 * width, arid=i) for i in range(ids)]
    await ClockCycles(dut.clk_i, 20)
    memory.hung = frozenset("r")
    await ClockCycles(dut.clk_i, 10)
    assert any(int(entry.value) for entry in dut.store_q)
    dut.purge_i.value = 1
    await ClockCycles(dut.clk_i, ids + 2)
    assert not any(int(entry.value) for entry in dut.store_q)
    memory.hung = frozenset()
    for read in reads:
        await read.wait()
    dut.purge_i.value = 0
    assert not any(int(entry.value) for entry in dut.store_q)
    await traffic(manager, memory, 4, 10 * width)


@pytest.mark.parametrize(("s_width", "m_width", "id_width"), [(128, 64, 3), (512, 64, 2)])
def test_axi_narrow(s_width: int, m_width: int, id_width: int) -> None:
    """Builds mae_axi_narrow for two ratios and runs this file's tests."""
    parameters = {"SWidth": s_width, "MWidth": m_width, "IdWidth": id_width, "AddrWidth": 32}
    bench.run("mae_axi_narrow", parameters=parameters, visible=True)
