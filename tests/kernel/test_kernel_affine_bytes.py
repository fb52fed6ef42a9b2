# SPDX-License-Identifier: Apache-2.0
"""Tests mae_kernel_affine_bytes (3x + 1 on bytes) against the card model's kernel.

Tests mae_kernel_affine_bytes against the reference's kernel.
"""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge

from maeslant.protected.model import card
from tests.kernel.device_memory import DeviceMemory
from tests.support import bench
from tests.support.stream import start

SIZE = 1 << 12


async def begin(dut, **options) -> DeviceMemory:
    """Resets mae_kernel_affine_bytes; returns the memory model at its port."""
    idle = dict(clear_i=0, start_i=0, source_i=0, destination_i=0, length_i=0)
    await start(dut, **idle, mem_ready_i=0, mem_rvalid_i=0, mem_rdata_i=0, mem_fault_i=0)
    return DeviceMemory(dut, whole=False, **options)


async def go(dut, source: int, destination: int, length: int) -> tuple[bool, int]:
    """Runs mae_kernel_affine_bytes; returns its fault flag and the clocks taken."""
    dut.source_i.value, dut.destination_i.value = source, destination
    dut.length_i.value, dut.start_i.value = length, 1
    await RisingEdge(dut.clk_i)
    dut.start_i.value = 0
    for clocks in range(1, 20_000):
        await RisingEdge(dut.clk_i)
        if dut.done_o.value:
            assert not dut.busy_o.value
            return bool(dut.fault_o.value), clocks
        assert dut.busy_o.value and not dut.fault_o.value
    raise AssertionError("not done")


def reference(data: bytes, source: int, destination: int, length: int) -> bytes:
    """Returns the memory's contents after a run of the card model's kernel."""
    memory = card.Memory(SIZE, 1)
    memory.data[:] = data
    kernel = card.Kernel(memory)
    for offset, value in ((card.SOURCE, source), (card.DESTINATION, destination)):
        kernel.write(offset, 8, value)
    kernel.write(card.LENGTH, 8, length)
    kernel.write(card.CONTROL, 4, 1)
    while kernel.step():
        pass
    assert not kernel.fault
    return bytes(memory.data)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def runs(dut) -> None:
    """Random runs of mae_kernel_affine_bytes, even overlapping, equal the card model's."""
    chooser = random.Random(1)
    for number in range(120):
        stall, slow = ((0, 0), (0.5, 0), (0, 0.5), (0.3, 0.3))[number % 4]
        answer = chooser.choice((1, 2, 9))
        device = await begin(dut, stall=stall, slow=slow, answer=answer, seed=number)
        data = chooser.randbytes(SIZE)
        device.load(0, data)
        length = chooser.choice((0, 1, 15, 16, 17, 63, 64, 65, 127, chooser.randrange(700)))
        source = 64 * chooser.randrange(20)
        destination = chooser.choice((64 * chooser.randrange(40), source, source + 64))
        fault, clocks = await go(dut, source, destination, length)
        assert not fault
        assert device.read(0, SIZE) == reference(data, source, destination, length)
        if not stall and not slow and length and length % 64 == 0:
            assert clocks == length // 64 * (answer + 10) + answer + 4, (length, answer)
        device.stop()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def given_up(dut) -> None:
    """A refused access or an illegal address ends mae_kernel_affine_bytes with a fault."""
    for number in range(19):
        device = await begin(dut, stall=0.2, slow=0.2, answer=2, seed=number)
        device.load(0, bytes(range(128)))
        device.refuse = number if number < 17 else None
        fault, _ = await go(dut, 0, 1024, 128)
        assert fault == (number < 17), number  # 16 accesses and the last read
        assert device.rows.get(1024 // 16 + 3, bytes(16)) != bytes(16) or number < 9
        device.refuse = None
        device.refused_at = None
        assert not (await go(dut, 0, 2048, 64))[0]
        device.stop()
    for source, destination in ((1, 64), (64, 16), (1 << 32, 0), (0, 1 << 63), (2**32 - 64, 64)):
        device = await begin(dut)
        fault, _ = await go(dut, source, destination, 65)
        assert fault
        assert device.accesses == 0 or source == 2**32 - 64
        assert (await go(dut, source, destination, 0)) == (False, 2)
        device.stop()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def cleared(dut) -> None:
    """After clear_i mae_kernel_affine_bytes makes no access, reports no end and holds no data."""
    for clocks in range(1, 40):
        device = await begin(dut, answer=3)
        device.load(0, b"\xa5" * 128)
        dut.source_i.value, dut.destination_i.value, dut.length_i.value = 0, 1024, 128
        dut.start_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        await ClockCycles(dut.clk_i, clocks)
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        for _ in range(10):
            await RisingEdge(dut.clk_i)
            assert not dut.mem_valid_o.value and not dut.done_o.value
        assert not dut.busy_o.value
        assert int(dut.rows_q.value) == 0
        assert not (await go(dut, 0, 1024, 64))[0]
        device.stop()


def test_kernel_affine_bytes() -> None:
    """Builds mae_kernel_affine_bytes and runs this file's tests."""
    bench.run("mae_kernel_affine_bytes")


@pytest.mark.parametrize("length", [0, 1, 64, 200])
def test_reference(length: int) -> None:
    """The card model's kernel computes 3x + 1 modulo 256 for each byte."""
    data = bytes(range(256)) * (SIZE // 256)
    after = reference(data, 0, 1024, length)
    assert after[1024 : 1024 + length] == bytes((3 * x + 1) % 256 for x in data[:length])
