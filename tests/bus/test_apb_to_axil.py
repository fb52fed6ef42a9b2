# SPDX-License-Identifier: Apache-2.0
"""Tests mae_apb_to_axil: APB accesses reach AXI4-Lite registers, with errors and clocks."""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge, Timer
from cocotbext.axi import ApbBus, ApbMaster, AxiLiteBus, AxiLiteRam, AxiResp

from tests.support import bench
from tests.support.axi import pause_all
from tests.support.stream import start

SIZE = 4096
REQUESTS = ("awready", "wready", "arready")
ANSWERS = ("bvalid", "rvalid", "bresp", "rresp", "rdata")


def axil(dut, name: str):
    """Returns a signal of mae_apb_to_axil's AXI4-Lite port by its name."""
    return getattr(dut, f"m_axil_{name}")


async def begin(dut) -> None:
    """Resets mae_apb_to_axil with idle inputs."""
    idle = {f"s_apb_p{name}": 0 for name in "sel enable write addr prot wdata strb".split()}
    idle |= {f"m_axil_{name}": 0 for name in (*REQUESTS, *ANSWERS)}
    await start(dut, **idle)


async def access(dut, write: bool, address: int, data: int, strobe: int = 15) -> tuple:
    """Makes an APB access through mae_apb_to_axil; returns read data, error and clocks."""
    dut.s_apb_psel.value, dut.s_apb_penable.value = 1, 0
    dut.s_apb_pwrite.value, dut.s_apb_paddr.value = int(write), address
    dut.s_apb_pwdata.value, dut.s_apb_pstrb.value = data, strobe if write else 0
    await RisingEdge(dut.clk_i)
    dut.s_apb_penable.value = 1
    clocks = 2
    await RisingEdge(dut.clk_i)
    while not int(dut.s_apb_pready.value):
        clocks += 1
        await RisingEdge(dut.clk_i)
    result = int(dut.s_apb_prdata.value), int(dut.s_apb_pslverr.value), clocks
    dut.s_apb_psel.value = dut.s_apb_penable.value = 0
    return result


async def registers(dut, delay: int, response: int) -> None:
    """Models AXI4-Lite registers that return the inverted address after ``delay`` clocks."""
    for name in REQUESTS:
        axil(dut, name).value = 1
    while True:
        await RisingEdge(dut.clk_i)
        write = int(dut.m_axil_awvalid.value)
        if not write and not int(dut.m_axil_arvalid.value):
            continue
        side = "b" if write else "r"
        if not write:
            dut.m_axil_rdata.value = ~int(dut.m_axil_araddr.value) & 0xFFFFFFFF
        for _ in range(delay):
            await RisingEdge(dut.clk_i)
        axil(dut, f"{side}resp").value = response
        axil(dut, f"{side}valid").value = 1
        await RisingEdge(dut.clk_i)
        while not int(axil(dut, f"{side}ready").value):
            await RisingEdge(dut.clk_i)
        axil(dut, f"{side}valid").value = 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(pause=[0.0, 0.5])
async def accesses_arrive(dut, pause: float) -> None:
    """Random APB reads and strobed writes through mae_apb_to_axil equal those of a byte array."""
    await begin(dut)
    manager = ApbMaster(ApbBus.from_prefix(dut, "s_apb"), dut.clk_i, dut.rst_ni, False)
    bus = AxiLiteBus.from_prefix(dut, "m_axil")
    memory = AxiLiteRam(bus, dut.clk_i, dut.rst_ni, False, size=SIZE)
    if pause:
        pause_all(memory, pause)
    model = bytearray(SIZE)
    await ClockCycles(dut.clk_i, 2)
    for _ in range(150):
        length = random.randrange(1, 10)
        address = random.randrange(64 - length)
        if random.randrange(2):
            data = random.randbytes(length)
            assert (await manager.write(address, data)).resp == AxiResp.OKAY
            model[address : address + length] = data
        else:
            got = await manager.read(address, length)
            assert got.data == model[address : address + length]
    assert memory.read(0, SIZE) == model


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(delay=[0, 1, 5], response=[0, 2, 3])
async def errors_and_clocks(dut, delay: int, response: int) -> None:
    """mae_apb_to_axil turns AXI errors into pslverr; an access takes 2 clocks plus the delay."""
    await begin(dut)
    cocotb.start_soon(registers(dut, delay, response))
    for _ in range(20):
        write = bool(random.randrange(2))
        address = random.randrange(SIZE)
        data, error, clocks = await access(dut, write, address, 0x01234567)
        assert (error, clocks) == (int(response > 0), 2 + delay)
        assert data == (0 if write else ~address & 0xFFFFFFFF)
        for _ in range(random.randrange(2)):
            await RisingEdge(dut.clk_i)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def each_request_goes_out_once(dut) -> None:
    """mae_apb_to_axil sends write address and data once each, in whatever clock each is taken."""
    await begin(dut)
    for first, second in (("aw", "w"), ("w", "aw")):
        running = cocotb.start_soon(access(dut, True, 0x123, 0x89ABCDEF, 0b0110))
        axil(dut, f"{first}ready").value = 1
        await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        for _ in range(3):
            await RisingEdge(dut.clk_i)
            assert int(axil(dut, f"{first}valid").value) == 0
            assert int(axil(dut, f"{second}valid").value) == 1
            assert int(dut.m_axil_wdata.value) == 0x89ABCDEF
            assert int(dut.m_axil_wstrb.value) == 0b0110
            assert int(dut.m_axil_awaddr.value) == 0x123
        axil(dut, f"{first}ready").value = 0
        axil(dut, f"{second}ready").value = 1
        await RisingEdge(dut.clk_i)
        axil(dut, f"{second}ready").value = 0
        dut.m_axil_bvalid.value = 1
        assert (await running)[1] == 0
        dut.m_axil_bvalid.value = 0
        await RisingEdge(dut.clk_i)


def test_apb_to_axil() -> None:
    """Builds mae_apb_to_axil with 12-bit addresses and runs this file's tests."""
    bench.run("mae_apb_to_axil", parameters={"AddrWidth": 12})
