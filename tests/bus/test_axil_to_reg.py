# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axil_to_reg and mae_axil_port_to_struct: one register access for each of AXI4-Lite."""

import logging
import random

import cocotb
import pytest
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from maeslant import paths
from tests.support.axi import pause_all
from tests.support.bench import parameters, run
from tests.support.stream import start

WORDS = 64


class Device:
    """Models registers behind mae_axil_to_reg; those in the upper half give errors."""

    def __init__(self, dut: SimHandleBase, slow: float) -> None:
        self.dut, self.slow, self.random = dut, slow, random.Random(3)
        self.memory = bytearray(4 * WORDS)
        self.reads = self.writes = 0
        cocotb.start_soon(self._serve())

    async def _serve(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            if dut.write_valid_o.value and dut.write_done_i.value:
                self.writes += 1
                at, strobes = int(dut.write_addr_o.value) & ~3, int(dut.write_strb_o.value)
                data = int(dut.write_data_o.value).to_bytes(4, "little")
                for lane in range(4):
                    if strobes >> lane & 1 and at < 2 * WORDS:
                        self.memory[at + lane] = data[lane]
            self.reads += int(dut.read_valid_o.value) and int(dut.read_done_i.value)
            dut.write_done_i.value = int(self.random.random() >= self.slow)
            dut.read_done_i.value = int(self.random.random() >= self.slow)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def accesses(dut: SimHandleBase) -> None:
    """Random AXI4-Lite reads and partial writes through mae_axil_to_reg reach the registers."""
    slow = int(parameters().get("AddrWidth", 12)) % 3 * 0.3
    await start(dut, write_done_i=0, read_done_i=0, read_data_i=0, read_error_i=0, write_error_i=0)
    device = Device(dut, slow)
    master = AxiLiteMaster(
        AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk_i, dut.rst_ni, reset_active_level=False
    )
    for side in (master.read_if, master.write_if):
        side.log.setLevel(logging.WARNING)
    pause_all(master, 0.2)

    async def answer() -> None:
        """Sets data and error flag of the register that mae_axil_to_reg reads, until cancelled."""
        while True:
            await dut.read_addr_o.value_change
            at = int(dut.read_addr_o.value) & ~3
            dut.read_data_i.value = int.from_bytes(device.memory[at : at + 4], "little")
            dut.read_error_i.value = int(at >= 2 * WORDS)

    async def refuse() -> None:
        while True:
            await dut.write_addr_o.value_change
            dut.write_error_i.value = int(int(dut.write_addr_o.value) >= 2 * WORDS)

    cocotb.start_soon(answer())
    cocotb.start_soon(refuse())
    chooser, model = random.Random(4), bytearray(4 * WORDS)
    for _ in range(400):
        at, size = 4 * chooser.randrange(WORDS), chooser.randrange(1, 5)
        data = chooser.randbytes(size)
        write = cocotb.start_soon(_write(master, at, data))
        assert await write == (AxiResp.SLVERR if at >= 2 * WORDS else AxiResp.OKAY)
        if at < 2 * WORDS:
            model[at : at + size] = data
        places = [4 * chooser.randrange(WORDS) for _ in range(3)]
        reads = [cocotb.start_soon(_read(master, place)) for place in places]
        for place, task in zip(places, reads, strict=True):
            data, response = await task
            failed = place >= 2 * WORDS
            assert response == (AxiResp.SLVERR if failed else AxiResp.OKAY)
            assert data == (bytes(4) if failed else bytes(model[place : place + 4]))
    assert device.memory == model
    assert (device.reads, device.writes) == (1200, 400)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def unstrobed_write(dut: SimHandleBase) -> None:
    """mae_axil_to_reg answers a write without byte strobes with OKAY and accesses no register."""
    await raw(dut)
    dut.write_error_i.value = 1
    await address(dut, "aw", 0x10)
    await word(dut, 0x12345678, 0)
    for _ in range(8):
        assert not dut.write_valid_o.value
        await FallingEdge(dut.clk_i)
    assert (dut.s_axil_bvalid.value, dut.s_axil_bresp.value) == (1, 0)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def neither_direction_waits_for_the_other(dut: SimHandleBase) -> None:
    """In mae_axil_to_reg a read without accepted data delays no write, and the reverse."""
    await raw(dut)
    dut.write_done_i.value = dut.read_done_i.value = 1
    for _ in range(2):
        await address(dut, "ar", 0x20)
    for _ in range(4):
        await address(dut, "aw", 0x10)
        await word(dut, 1, 15)
        await taken(dut, "b")
    for _ in range(2):
        await taken(dut, "r")
    for _ in range(2):
        await address(dut, "aw", 0x10)
        await word(dut, 1, 15)
    for _ in range(4):
        await address(dut, "ar", 0x20)
        await taken(dut, "r")


async def raw(dut: SimHandleBase) -> None:
    """Resets mae_axil_to_reg with all AXI4-Lite and register inputs low."""
    low = "awvalid awaddr wvalid wdata wstrb bready arvalid araddr rready"
    signals = {f"s_axil_{name}": 0 for name in low.split()}
    names = "write_done_i read_done_i read_data_i read_error_i write_error_i"
    await start(dut, **signals, **{name: 0 for name in names.split()})
    await FallingEdge(dut.clk_i)


async def address(dut: SimHandleBase, channel: str, at: int) -> None:
    """Sends an AXI4-Lite address on AW or AR."""
    getattr(dut, f"s_axil_{channel}addr").value = at
    await handed(dut, channel)


async def word(dut: SimHandleBase, data: int, strobes: int) -> None:
    """Sends a word with byte strobes on the AXI4-Lite W channel."""
    dut.s_axil_wdata.value, dut.s_axil_wstrb.value = data, strobes
    await handed(dut, "w")


async def handed(dut: SimHandleBase, channel: str) -> None:
    """Sets valid of an AXI4-Lite channel until ready is high; fails after ten clocks."""
    valid = getattr(dut, f"s_axil_{channel}valid")
    valid.value = 1
    for _ in range(10):
        ready = getattr(dut, f"s_axil_{channel}ready").value
        await FallingEdge(dut.clk_i)
        if ready:
            valid.value = 0
            return
    raise AssertionError(f"{channel}ready never comes")


async def taken(dut: SimHandleBase, channel: str) -> None:
    """Sets ready of an AXI4-Lite channel until valid is high; fails after ten clocks."""
    ready = getattr(dut, f"s_axil_{channel}ready")
    ready.value = 1
    for _ in range(10):
        valid = getattr(dut, f"s_axil_{channel}valid").value
        await FallingEdge(dut.clk_i)
        if valid:
            ready.value = 0
            return
    raise AssertionError(f"{channel}valid never comes")


async def _write(master: AxiLiteMaster, at: int, data: bytes) -> AxiResp:
    return (await master.write(at, data)).resp


async def _read(master: AxiLiteMaster, at: int) -> tuple[bytes, AxiResp]:
    answer = await master.read(at, 4)
    return answer.data, answer.resp


@pytest.mark.parametrize("width", [12, 13])
def test_axil_to_reg(width: int) -> None:
    """Builds mae_axil_to_reg and runs this file's tests with fast and slow registers."""
    bench = paths.ROOT / "tests" / "bus" / "axil_to_reg_bench.sv"
    run("axil_to_reg_bench", sources=[bench], parameters={"AddrWidth": width})
