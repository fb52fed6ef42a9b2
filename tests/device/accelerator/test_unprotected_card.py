# SPDX-License-Identifier: Apache-2.0
"""Tests mae_unprotected_card: DMA transfers, kernel runs, interrupts, refused accesses.

Tests mae_unprotected_card, with mae_unprotected_dma_queue and mae_unprotected_dma.
"""

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiResp

from maeslant.protected.model import card as golden
from tests.device.registers import Registers
from tests.support import bench
from tests.support.axi_memory import AxiMemory, axi_name

BASE, HOST = 0x56_7000_0000, 1 << 20
NN, MAP = 0, 1
PARAMETERS = bench.parameters()
KERNEL, BITS = int(PARAMETERS.get("Kernel", MAP)), int(PARAMETERS.get("MemoryBits", 14))
SIZE = 1 << BITS
AXI = bool(int(PARAMETERS.get("AxiMemory", 0)))  # device memory behind m_axi_mem


class Card(Registers):
    """Models the unprotected card's host: registers, memory and submitted transfers."""

    def __init__(self, dut: SimHandleBase) -> None:
        super().__init__(dut, "mae_unprotected_card")
        self.dut = dut
        self.pushed = {"h2d": 0, "d2h": 0}

    @classmethod
    async def begin(cls, dut: SimHandleBase, seed: int = 1, **options: object) -> "Card":
        """Resets the unprotected card; returns a host model with random memory."""
        dut.rst_ni.value = 0
        Clock(dut.clk_i, 10, unit="ns").start()
        card = cls(dut)
        options = {"latency": (20, 200), **options}
        card.memory = AxiMemory(
            dut, HOST, base=BASE, seed=seed, names=axi_name("m_axi_"), **options
        )
        card.random = card.memory.random
        card.memory.data[:] = card.random.randbytes(HOST)
        if AXI:
            card.device = AxiMemory(
                dut,
                SIZE,
                seed=seed,
                names=axi_name("m_axi_mem_"),
                latency=(20, 120),
                crossing=True,
            )
        await ClockCycles(dut.clk_i, 5)
        dut.rst_ni.value = 1
        card.memory.start()
        if AXI:
            card.device.data[:] = card.random.randbytes(SIZE)
            card.device.start()
        return card

    async def push(self, channel: str, host: int, device: int, length: int) -> None:
        """Submits a DMA transfer to the unprotected card's h2d or d2h channel."""
        await self.write(f"{channel}.host_lo", host & 0xFFFFFFFF)
        await self.write(f"{channel}.host_hi", host >> 32)
        await self.write(f"{channel}.device", device)
        await self.write(f"{channel}.length", length)
        self.pushed[channel] += 1

    async def finish(self, channel: str) -> None:
        """Waits until the card has completed all transfers submitted to a DMA channel."""
        while await self.read(f"{channel}.completed") != self.pushed[channel]:
            pass

    async def kernel(self, offset: int, value: int) -> AxiResp:
        """Writes a 64-bit register of the unprotected card's kernel as two words."""
        for at in (0,) if offset == golden.CONTROL else (0, 4):
            response = await self.write_at(0x100 + offset + at, value >> 8 * at & 0xFFFFFFFF)
        return response

    async def kernel_status(self) -> int:
        """Reads the status register of the unprotected card's kernel."""
        return (await self.read_at(0x100 + golden.STATUS))[0]


@cocotb.test(skip=KERNEL != MAP, timeout_time=20, timeout_unit="ms")
async def there_and_back(dut: SimHandleBase) -> None:
    """The unprotected card transfers any length both ways and changes no other byte."""
    card = await Card.begin(dut, stall=0.1)
    device = bytearray(SIZE)
    for _ in range(12):
        wanted = bytearray(card.memory.data)
        for _ in range(card.random.randrange(1, 7)):
            length = card.random.choice((1, 63, 64, 65, 500, card.random.randrange(1, 4000)))
            at = 64 * card.random.randrange((SIZE - length) // 64)
            host = 64 * card.random.randrange((HOST // 2 - length) // 64)
            await card.push("h2d", BASE + host, at, length)
            device[at : at + length] = card.memory.data[host : host + length]
        await card.finish("h2d")
        for _ in range(card.random.randrange(1, 7)):
            length = card.random.choice((1, 63, 64, 65, 500, card.random.randrange(1, 4000)))
            at = 64 * card.random.randrange((SIZE - length) // 64)
            host = HOST // 2 + 64 * card.random.randrange((HOST // 2 - length) // 64)
            await card.push("d2h", BASE + host, at, length)
            wanted[host : host + length] = device[at : at + length]
        await card.finish("d2h")
        assert card.memory.data == wanted
    for channel in ("h2d", "d2h"):
        assert await card.read(f"{channel}.status") == 0


@cocotb.test(skip=KERNEL != MAP, timeout_time=5, timeout_unit="ms")
async def kernel_runs(dut: SimHandleBase) -> None:
    """The unprotected card runs its kernel between transfers, with interrupts at each end."""
    card = await Card.begin(dut)
    caps = await card.fields("caps")
    assert caps == {"log2_memory": BITS, "kernel": KERNEL, "depth": 8}
    assert await card.read("id") == 0x4D414550 and await card.field("version.major") == 1
    await card.write("irq_enable", h2d=1, d2h=1, kernel=1)

    async def interrupt(**which: int) -> None:
        while not dut.irq_o.value:
            await RisingEdge(dut.clk_i)
        assert await card.read("irq_status") == card.pack("irq_status", **which)
        await card.write("irq_status", **which)
        assert not dut.irq_o.value

    await card.push("h2d", BASE, 0, 1000)
    await interrupt(h2d=1)
    for offset, value in (
        (golden.SOURCE, 0),
        (golden.DESTINATION, 2048),
        (golden.LENGTH, 1000),
        (golden.SCRATCH, 0x1122334455667788),
        (golden.CONTROL, 1),
    ):
        assert await card.kernel(offset, value) == AxiResp.OKAY
    assert await card.kernel_status() == golden.BUSY
    assert await card.kernel(golden.LENGTH, 1) == AxiResp.SLVERR
    await interrupt(kernel=1)
    assert await card.kernel_status() == 0
    assert (await card.read_at(0x100 + golden.RUNS))[0] == 1
    assert (await card.read_at(0x100 + golden.LENGTH))[0] == 1000
    assert (await card.read_at(0x100 + golden.SCRATCH + 4))[0] == 0x11223344
    await card.push("d2h", BASE + 0x8000, 2048, 1000)
    await interrupt(d2h=1)
    wanted = bytes(card.memory.data[:1000]).translate(golden.TABLE)
    assert card.memory.read(BASE + 0x8000, 1000) == wanted
    # Beyond the memory; a part of a word starts nothing.
    await card.kernel(golden.DESTINATION, SIZE - 64)
    await card.bus.write(0x100 + golden.CONTROL, b"\1")
    assert await card.kernel_status() == 0
    await card.kernel(golden.CONTROL, 1)
    await interrupt(kernel=1)
    assert await card.kernel_status() == golden.FAULT


@cocotb.test(skip=KERNEL != MAP, timeout_time=5, timeout_unit="ms")
async def refused(dut: SimHandleBase) -> None:
    """The unprotected card refuses illegal transfers and registers and reports bus errors."""
    card = await Card.begin(dut, latency=(3000, 3000))
    for channel in ("h2d", "d2h"):
        for host, device, length in (
            (BASE, 0, 0),
            (BASE, 0, (1 << 20) + 1),
            (BASE, 0, 1 << 31),
            (BASE + 32, 0, 64),
            (BASE, 1, 64),
            (BASE, SIZE - 64, 65),
            (BASE, SIZE, 1),
            (BASE, 0xFFFFFFC0, 65),
        ):
            await card.push(channel, host, device, length)
            status = await card.fields(f"{channel}.status")
            assert status == {"pending": 0, "refused": 1, "bus_error": 0}, (host, device, length)
            await card.write(f"{channel}.status", refused=1)
            assert await card.read(f"{channel}.status") == 0
        card.pushed[channel] = 0
        await card.push(channel, BASE, SIZE - 64, 64)
        await card.finish(channel)
    await ClockCycles(dut.clk_i, 3000)
    card.memory.fail(BASE + 0x100, BASE + 0x140)
    for channel in ("h2d", "d2h"):
        await card.push(channel, BASE, 0, 1000)
        await card.push(channel, BASE + 0x4000, 0, 1000)
        await card.finish(channel)
        assert await card.read(f"{channel}.status") == card.pack(f"{channel}.status", bus_error=1)
        await card.write(f"{channel}.status", bus_error=1)
        # Two on their way, eight that wait; the tenth finds no room.
        for _ in range(11):
            await card.push(channel, BASE + 0x4000, 0, 64)
        assert await card.field(f"{channel}.status.refused") == 1
        card.pushed[channel] -= 11 - (await card.fields(f"{channel}.status"))["pending"]
        await card.finish(channel)
        assert card.pushed[channel] >= 11
        await card.write(f"{channel}.status", refused=1)
    for offset in (0x18, 0x3C, 0x60, 0xA0, 0x180, 0xFFC):
        assert (await card.read_at(offset))[1] == AxiResp.SLVERR, hex(offset)


@cocotb.test(skip=KERNEL != NN, timeout_time=20, timeout_unit="ms")
async def bulk(dut: SimHandleBase) -> None:
    """Long transfers both ways use nearly every data clock of the unprotected card's bus."""
    card = await Card.begin(dut, latency=(100, 100), shuffle=False, interleave=False)
    while await card.field("status.clearing"):
        await ClockCycles(dut.clk_i, 1000)
    length, half = 65536, SIZE // 2
    card.memory.reset_statistics()
    for number in range(4):
        at = number * length % half
        await card.push("h2d", BASE + number * length, at, length)
        await card.push("d2h", BASE + HOST // 2 + number * length, half + at, length)
    await card.finish("h2d")
    await card.finish("d2h")
    figures = card.memory.statistics
    for first, last in (
        (figures.first_read, figures.last_read),
        (figures.first_write, figures.last_write),
    ):
        assert 4 * length // 64 / (last - first + 1) >= 0.95, figures
    assert card.memory.data[HOST // 2 : HOST // 2 + 4 * length] == bytes(4 * length)


@cocotb.test(skip=not AXI or KERNEL != MAP, timeout_time=20, timeout_unit="ms")
async def memory_errors(dut: SimHandleBase) -> None:
    """Error responses of device memory set the transfer's error bit or end the kernel's run."""
    card = await Card.begin(dut)
    while await card.read("status"):
        pass
    card.device.fail(0x400, 0x480)
    for channel, other in (("h2d", "d2h"), ("d2h", "h2d")):
        await card.push(channel, BASE, 0x3C0, 256)
        await card.finish(channel)
        while not await card.read(f"{channel}.status"):
            pass
        assert (await card.fields(f"{channel}.status"))["bus_error"] == 1
        assert await card.read(f"{other}.status") == 0
        await card.write(f"{channel}.status", bus_error=1)
    for source, destination, fault in ((0x400, 0x800, 1), (0x800, 0xC00, 0), (0x3F0, 0x800, 1)):
        await card.kernel(golden.SOURCE, source)
        await card.kernel(golden.DESTINATION, destination)
        await card.kernel(golden.LENGTH, 64)
        await card.kernel(golden.CONTROL, 1)
        while (status := await card.kernel_status()) & golden.BUSY:
            pass
        assert bool(status & golden.FAULT) == bool(fault), hex(source)
    assert await card.read("h2d.status") == await card.read("d2h.status") == 0


@pytest.mark.parametrize(
    ("kernel", "bits"), [(MAP, 14), pytest.param(NN, 18, marks=pytest.mark.slow)]
)
def test_unprotected_card(kernel: int, bits: int) -> None:
    """Builds mae_unprotected_card with each of its kernels and runs this file's tests."""
    bench.run("mae_unprotected_card", parameters={"Kernel": kernel, "MemoryBits": bits})


@pytest.mark.full
@pytest.mark.parametrize(
    ("kernel", "bits"), [(MAP, 14), pytest.param(NN, 18, marks=pytest.mark.slow)]
)
def test_axi_memory(kernel: int, bits: int) -> None:
    """Builds mae_unprotected_card with its memory behind m_axi_mem and runs this file's tests."""
    parameters = {"Kernel": kernel, "MemoryBits": bits, "AxiMemory": 1}
    bench.run("mae_unprotected_card", parameters=parameters)
