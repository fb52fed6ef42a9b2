# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axil_regblock_adapter: AXI4-Lite accesses to a register block of PeakRDL."""

import logging
import random

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, ReadOnly, Timer
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from maeslant import paths
from tests.bus.test_axil_to_reg import address, taken, word
from tests.support.axi import pause_all
from tests.support.bench import run
from tests.support.stream import start

WORDS = 64


class Block:
    """Models a generated register block that answers in the clock of a request or later."""

    def __init__(self, dut: SimHandleBase, slow: float) -> None:
        self.dut, self.slow, self.random = dut, slow, random.Random(3)
        self.memory = bytearray(4 * WORDS)
        self.requests: list[bool] = []  # whether a write, in order
        cocotb.start_soon(self._serve())

    async def _serve(self) -> None:
        dut, waits, pending = self.dut, 0, None
        while True:
            await FallingEdge(dut.clk_i)
            dut.rd_ack_i.value = dut.wr_ack_i.value = 0
            await ReadOnly()
            if dut.req_o.value:
                assert pending is None, "a request while one is carried out"
                pending = bool(dut.req_is_wr_o.value), int(dut.addr_o.value)
                data, mask = int(dut.wr_data_o.value), int(dut.wr_biten_o.value)
                self.requests.append(pending[0])
                waits = self.random.randrange(4) if self.random.random() < self.slow else 0
            await Timer(1, "ns")
            if pending is None or waits:
                waits -= bool(waits)
                continue
            write, at = pending
            failed = at >= 2 * WORDS
            old = int.from_bytes(self.memory[at : at + 4], "little")
            if write and not failed:
                self.memory[at : at + 4] = (data & mask | old & ~mask).to_bytes(4, "little")
            dut.wr_ack_i.value, dut.rd_ack_i.value = int(write), int(not write)
            dut.wr_err_i.value = dut.rd_err_i.value = int(failed)
            dut.rd_data_i.value = old
            pending = None


async def begin(dut: SimHandleBase, slow: float) -> Block:
    """Resets mae_axil_regblock_adapter; returns the register block model behind it."""
    low = "awvalid awaddr wvalid wdata wstrb bready arvalid araddr rready"
    signals = {f"s_axil_{name}": 0 for name in low.split()}
    names = "rd_ack_i rd_err_i rd_data_i wr_ack_i wr_err_i"
    await start(dut, **signals, **{name: 0 for name in names.split()})
    await FallingEdge(dut.clk_i)
    return Block(dut, slow)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def neither_direction_waits_for_the_other(dut: SimHandleBase) -> None:
    """mae_axil_regblock_adapter answers writes while read data is not accepted, and vice versa."""
    await begin(dut, 0)
    for first, second, channel, other in (("ar", "aw", "r", "b"), ("aw", "ar", "b", "r")):
        for _ in range(2):
            await address(dut, first, 0x20)
            if first == "aw":
                await word(dut, 1, 15)
        for _ in range(4):
            await address(dut, second, 0x10)
            if second == "aw":
                await word(dut, 1, 15)
            await taken(dut, other)
        for _ in range(2):
            await taken(dut, channel)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def unstrobed_write(dut: SimHandleBase) -> None:
    """mae_axil_regblock_adapter makes no register access for a write without byte strobes."""
    block = await begin(dut, 0)
    await address(dut, "aw", 0x10)
    await word(dut, 0x12345678, 0)
    await taken(dut, "b")
    assert block.requests == []


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def accesses(dut: SimHandleBase) -> None:
    """Random AXI4-Lite accesses through mae_axil_regblock_adapter get the right answers."""
    block = await begin(dut, 0.3)
    bus = AxiLiteBus.from_prefix(dut, "s_axil")
    master = AxiLiteMaster(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
    for side in (master.read_if, master.write_if):
        side.log.setLevel(logging.WARNING)
    pause_all(master, 0.2)
    chooser, model = random.Random(4), bytearray(4 * WORDS)
    for _ in range(300):
        at, size = 4 * chooser.randrange(WORDS), chooser.randrange(1, 5)
        data, place = chooser.randbytes(size), 4 * chooser.randrange(WORDS)
        write = cocotb.start_soon(master.write(at, data))
        read = await master.read(place, 4)
        written = (await write).resp
        failed = place >= 2 * WORDS
        assert read.resp == (AxiResp.SLVERR if failed else AxiResp.OKAY)
        before = bytes(model[place : place + 4])
        if at < 2 * WORDS:
            model[at : at + size] = data
        assert read.data in ((bytes(4),) if failed else (before, bytes(model[place : place + 4])))
        assert written == (AxiResp.SLVERR if at >= 2 * WORDS else AxiResp.OKAY)
    assert block.memory == model
    assert sorted(block.requests) == [False] * 300 + [True] * 300


def test_axil_regblock_adapter() -> None:
    """Builds mae_axil_regblock_adapter and runs this file's tests."""
    bench = paths.ROOT / "tests" / "bus" / "axil_regblock_bench.sv"
    run("axil_regblock_bench", sources=[bench])
