# SPDX-License-Identifier: Apache-2.0
"""Tests mae_kernel_registers: registers, faults and runs of the card's two compute kernels.

The small kernel's against the golden card's, the other's beside a network of one layer.
"""

import random

import cocotb
import numpy as np
import pytest
from cocotb.triggers import RisingEdge, Timer

from maeslant.protected.model import card
from maeslant.protected.model.constants import Op
from maeslant.protected.model.link import BusError
from maeslant.protected.network import clocks, layers, memory
from tests.kernel.device_memory import DeviceMemory
from tests.support import bench
from tests.support.stream import start

NN, MAP = 0, 1
KERNEL = int(bench.parameters().get("Kernel", NN))
LIST, CLOCKS = 0x10, 0x18
SIZE = 1 << 12


class Port:
    """Drives the register port of mae_kernel_registers."""

    def __init__(self, dut) -> None:
        self.dut = dut

    async def access(self, write: bool, offset: int, width: int, value: int = 0) -> int | None:
        """Reads or writes a register of the kernel; returns the data, or None after an error."""
        dut = self.dut
        dut.reg_valid_i.value, dut.reg_write_i.value = 1, int(write)
        dut.reg_offset_i.value, dut.reg_wdata_i.value = offset, value
        dut.reg_log2_width_i.value = width.bit_length() - 1
        await RisingEdge(dut.clk_i)
        dut.reg_valid_i.value = 0
        await RisingEdge(dut.clk_i)
        return None if dut.reg_error_o.value else int(dut.reg_rdata_o.value)

    async def read(self, offset: int, width: int = 8) -> int:
        """Reads a register of the kernel, which must succeed."""
        value = await self.access(False, offset, width)
        assert value is not None
        return value

    async def write(self, offset: int, value: int, width: int = 8) -> bool:
        """Writes a register of the kernel; returns true if it is accepted."""
        return await self.access(True, offset, width, value) is not None

    async def legal(self, write: bool, offset: int, width: int) -> bool:
        """Returns true if mae_kernel_registers reports that a register access is legal."""
        dut = self.dut
        dut.check_write_i.value, dut.check_offset_i.value = int(write), offset
        dut.check_log2_width_i.value = width.bit_length() - 1
        await Timer(1, "ns")
        return bool(dut.check_legal_o.value)

    async def finish(self) -> None:
        """Reads the kernel's status register until its run has ended."""
        while await self.read(card.STATUS, 4) & card.BUSY:
            pass


async def begin(dut, **options) -> tuple[Port, DeviceMemory]:
    """Resets mae_kernel_registers; returns its register port and the memory model beside it."""
    idle = dict(clear_i=0, reg_valid_i=0, mem_ready_i=0, mem_rvalid_i=0, mem_rdata_i=0)
    await start(dut, **idle, mem_fault_i=0, mem_settled_i=1)
    return Port(dut), DeviceMemory(dut, whole=False, **options)


@cocotb.test(skip=KERNEL != MAP, timeout_time=20, timeout_unit="ms")
async def legal_as_golden(dut) -> None:
    """mae_kernel_registers allows exactly the register accesses that the card model allows."""
    port, _ = await begin(dut)
    golden = card.Kernel(card.Memory(SIZE, 1))
    for offset in [*range(0, 0x100, 4), 0x1000, 0x40 | 1 << 31, 0xFFFFFFF8]:
        for write in (False, True):
            for width in (4, 8):
                if offset % width == 0:
                    wanted = golden.legal(Op.WRITE if write else Op.READ, offset, width)
                    assert await port.legal(write, offset, width) == wanted, hex(offset)


@cocotb.test(skip=KERNEL != MAP, timeout_time=50, timeout_unit="ms")
async def accesses_as_golden(dut) -> None:
    """Random register accesses and kernel runs give the card model's registers and memory."""
    chooser = random.Random(1)
    port, device = await begin(dut, answer=2, stall=0.1)
    model = card.Memory(SIZE, 1)
    golden = card.Kernel(model)
    for address in range(0, SIZE, 16):
        model.data[address : address + 16] = chooser.randbytes(16)
    device.load(0, bytes(model.data))
    refused = 0
    for _ in range(4000):
        width = chooser.choice((4, 8))
        offset = chooser.randrange(0, card.SPACE, width)
        write = chooser.random() < 0.6
        if chooser.random() < 0.05:
            offset, width, write = card.CONTROL, 4, True
        if not golden.legal(Op.WRITE if write else Op.READ, offset, width):
            continue
        if not write:
            assert await port.read(offset, width) == golden.read(offset, width), hex(offset)
            continue
        value = chooser.getrandbits(8 * width)
        if offset in (card.SOURCE + 4, card.DESTINATION + 4, card.LENGTH + 4):
            value = 0
        elif offset in (card.SOURCE, card.DESTINATION):
            value = 64 * chooser.randrange(SIZE // 64)
        elif offset == card.LENGTH:
            value = chooser.randrange(300)
        elif offset == card.CONTROL and value & 1:
            places = golden.read(card.SOURCE, 8), golden.read(card.DESTINATION, 8)
            # The memory of the test is as long as is asked for; beyond its end is a fault.
            if max(places) + golden.read(card.LENGTH, 8) > SIZE:
                continue
        golden.write(offset, width, value)
        assert await port.write(offset, value, width)
        if offset == card.CONTROL and value & 1:
            assert await port.read(card.STATUS, 4) == card.BUSY or not golden.read(card.LENGTH, 8)
            if await port.read(card.STATUS, 4) & card.BUSY and golden.read(card.LENGTH, 8) > 64:
                assert not await port.write(card.LENGTH, 1)
                assert not await port.write(card.CONTROL, 1, 4)
                assert await port.write(card.SCRATCH, 7)
                golden.registers[card.SCRATCH : card.SCRATCH + 8] = (7).to_bytes(8, "little")
                refused += 1
            while golden.step():
                pass
            await port.finish()
            assert int(dut.runs_o.value) == golden.runs
            assert device.read(0, SIZE) == bytes(model.data)
    assert golden.runs > 5 and refused > 3, golden.runs


@cocotb.test(skip=KERNEL != MAP, timeout_time=10, timeout_unit="ms")
async def faults(dut) -> None:
    """A refused memory access ends the map kernel's run with a fault, kept until start or clear."""
    port, device = await begin(dut, answer=2)
    await port.write(card.DESTINATION, 1024)
    await port.write(card.LENGTH, 64)
    device.refuse = 5
    assert await port.write(card.CONTROL, 1, 4)
    await port.finish()
    assert await port.read(card.STATUS, 4) == card.FAULT and dut.fault_o.value
    assert await port.read(card.RUNS) == 0 == int(dut.runs_o.value)
    device.refuse = device.refused_at = None
    assert await port.write(card.CONTROL, 2, 4)  # starts nothing
    assert await port.read(card.STATUS, 4) == card.FAULT
    assert await port.write(card.CONTROL, 1, 4)
    assert not dut.fault_o.value
    await port.finish()
    assert await port.read(card.STATUS, 4) == 0 and await port.read(card.RUNS) == 1
    await port.write(card.SCRATCH, 99)
    await port.write(card.CONTROL, 1, 4)
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0
    for _ in range(9):
        await RisingEdge(dut.clk_i)
    assert not dut.busy_o.value
    for offset in (card.RUNS, card.DESTINATION, card.LENGTH, card.SCRATCH):
        assert await port.read(offset) == 0
    assert await port.read(card.STATUS, 4) == 0


@cocotb.test(skip=KERNEL != NN, timeout_time=10, timeout_unit="ms")
async def network(dut) -> None:
    """The network kernel runs a layer in the stated clocks and refuses illegal commands."""
    port, device = await begin(dut, answer=2)
    generator = np.random.default_rng(1)
    weights = generator.integers(-128, 128, (3, 1, 1, 5), np.int8)
    layer = layers.Full(weights, np.arange(3, dtype=np.int32), 999, 20, True, 0)
    source = generator.integers(-128, 128, (1, 1, 5), np.int8)
    command = memory.command(layer, source.shape, 0x1000, 0x2000, 0x3000)
    command.last = True
    for at, data in (
        (0x100, command.encode()),
        (0x1000, memory.pack_map(source)),
        (0x3000, memory.pack_parameters(layer)),
    ):
        device.load(at, data)
    assert await port.write(LIST, 0x100)
    assert await port.write(card.CONTROL, 1, 4)
    assert await port.read(card.STATUS, 4) == card.BUSY
    assert not await port.write(LIST, 0x100)
    await port.finish()
    packed = memory.pack_map(layer.run(source))
    assert device.read(0x2000, len(packed)) == packed
    assert await port.read(card.RUNS) == 1
    wanted = clocks.run([command], 2)
    assert await port.read(CLOCKS) == wanted
    for list_address in (0x108, 1 << 32 | 0x100):  # within a row; beyond what the kernel can reach
        assert await port.write(LIST, list_address)
        assert await port.write(card.CONTROL, 1, 4)
        await port.finish()
        assert await port.read(card.STATUS, 4) == card.FAULT
        assert await port.read(card.RUNS) == 1
    assert await port.write(LIST, 0x100, 4)
    assert await port.write(LIST + 4, 0, 4)
    assert await port.write(card.CONTROL, 1, 4)
    await port.finish()
    assert await port.read(card.STATUS, 4) == 0 and await port.read(card.RUNS) == 2
    assert await port.read(CLOCKS) == wanted
    assert await port.read(LIST + 4, 4) == 0 and await port.read(LIST, 4) == 0x100
    for write, offset, width, is_legal in (
        (True, LIST, 8, True),
        (False, LIST, 4, True),
        (False, CLOCKS, 8, True),
        (False, CLOCKS, 4, False),
        (True, CLOCKS, 8, False),
        (True, 0x20, 8, False),
        (False, 0x38, 8, False),
        (True, 0x78, 8, True),
        (True, 0x80, 8, False),
    ):
        assert await port.legal(write, offset, width) == is_legal, hex(offset)


@pytest.mark.parametrize("kernel", [NN, MAP])
def test_kernel_registers(kernel: int) -> None:
    """Builds mae_kernel_registers with either kernel and runs this file's tests for it."""
    bench.run("mae_kernel_registers", parameters={"Kernel": kernel})


def test_error() -> None:
    """The card model's kernel refuses register writes during a run."""
    golden = card.Kernel(card.Memory(SIZE, 1))
    golden.write(card.LENGTH, 8, 64)
    golden.write(card.CONTROL, 4, 1)
    with pytest.raises(BusError):
        golden.write(card.LENGTH, 8, 1)
