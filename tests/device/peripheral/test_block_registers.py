# SPDX-License-Identifier: Apache-2.0
"""Tests mae_block_registers: 32-bit words to AES blocks and back, for an engine of any speed."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from tests.support import bench
from tests.support.stream import start

INPUTS = (
    "clear_i start_i length_i quiet_i write_req_i write_data_i read_req_i in_ready_i out_valid_i "
    "out_data_i out_bytes_i"
)


class Port:
    """Drives mae_block_registers' register side and models an engine that inverts blocks."""

    def __init__(self, dut, speed: float) -> None:
        self.dut = dut
        self.speed = speed
        self.quiet = False
        self.seen: list[tuple[int, int, int]] = []  # what the engine was given

    @classmethod
    async def begin(cls, dut, speed: float = 0.3) -> "Port":
        """Resets mae_block_registers and starts the engine model."""
        await start(dut, **{name: 0 for name in INPUTS.split()})
        port = cls(dut, speed)
        cocotb.start_soon(port.engine())
        return port

    async def engine(self) -> None:
        """Takes blocks from mae_block_registers and returns each one inverted some clocks later."""
        dut, held = self.dut, []
        while True:
            await FallingEdge(dut.clk_i)
            dut.out_valid_i.value = 0
            if held and random.random() < self.speed:
                data, count = held.pop(0)
                dut.out_valid_i.value = 1
                dut.out_data_i.value = data ^ (1 << 128) - 1
                dut.out_bytes_i.value = count
            ready = random.random() < self.speed
            dut.in_ready_i.value = int(ready)
            if ready and dut.in_valid_o.value == 1:
                data, count = int(dut.in_data_o.value), int(dut.in_bytes_o.value)
                if not self.quiet:
                    held.append((data, count))
                self.seen.append((data, count, int(dut.in_last_o.value)))

    async def start(self, length: int, quiet: bool = False) -> None:
        """Starts a job of given length on mae_block_registers; a quiet job returns no blocks."""
        await FallingEdge(self.dut.clk_i)
        self.quiet = quiet
        self.dut.quiet_i.value = int(quiet)
        self.dut.start_i.value = 1
        self.dut.length_i.value = length
        await FallingEdge(self.dut.clk_i)
        self.dut.start_i.value = 0

    async def write(self, word: int, data: int) -> bool:
        """Writes a data word to mae_block_registers; returns true if overflow_o is raised.

        It is acknowledged at once.
        """
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.write_req_i.value = 1 << word
        dut.write_data_i.value = data
        await RisingEdge(dut.clk_i)
        assert dut.write_ack_o.value == 1 << word
        overflow = bool(dut.overflow_o.value)
        await FallingEdge(dut.clk_i)
        dut.write_req_i.value = 0
        return overflow

    async def put(self, data: bytes) -> bool:
        """Writes a block to mae_block_registers word by word; returns true if it was dropped."""
        words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, 16, 4)]
        return [await self.write(i, word) for i, word in enumerate(words)][3]

    async def read(self, word: int) -> tuple[int, bool, int]:
        """Reads a data word of mae_block_registers; returns word, underflow_o and clocks waited."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.read_req_i.value = 1 << word
        for clocks in range(300):
            await RisingEdge(dut.clk_i)
            ack = int(dut.read_ack_o.value)
            result = int(dut.read_data_o.value), bool(dut.underflow_o.value), clocks
            await FallingEdge(dut.clk_i)
            dut.read_req_i.value = 0
            if ack:
                assert ack == 1 << word
                return result
        raise AssertionError("a read never ends")

    async def get(self) -> bytes:
        """Reads an output block from mae_block_registers, the last word last."""
        order = random.sample(range(3), 3)
        words = {i: (await self.read(i))[0] for i in [*order, 3]}
        return b"".join(words[i].to_bytes(4, "little") for i in range(4))


def inverted(data: bytes) -> bytes:
    """Returns the output that the engine model gives: data inverted and padded with zeros."""
    return bytes(255 - b for b in data) + bytes(-len(data) % 16)


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(speed=[0.05, 1.0])
async def jobs_of_any_length(dut, speed: float) -> None:
    """mae_block_registers passes jobs of any length as blocks, with byte counts and last flag."""
    port = await Port.begin(dut, speed)
    depth = bench.parameters()["Depth"]
    for length in (1, 15, 16, 17, 32, 16 * depth + 5, 16 * depth + 16, 200):
        port.seen.clear()
        data = random.randbytes(length)
        padded = data + random.randbytes(-length % 16)  # what stands there does not matter
        await port.start(length)
        blocks = -(-length // 16)
        got, put, held = b"", 0, 0
        while put < blocks or held:
            room = int(dut.room_o.value)
            assert room == min(depth - held, blocks - put)
            if room and (held == 0 or random.random() < 0.5):
                assert not await port.put(padded[16 * put : 16 * put + 16])
                put, held = put + 1, held + 1
            elif held:
                got += await port.get()
                held -= 1
        assert got == inverted(data)
        for i, (block, count, last) in enumerate(port.seen):
            part = data[16 * i : 16 * i + 16]
            assert (count, last) == (len(part), int(i == blocks - 1))
            assert block == int.from_bytes(part, "little")


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def overflow_and_underflow(dut) -> None:
    """mae_block_registers drops blocks without room; a read without data ends after 255 clocks."""
    port = await Port.begin(dut, 0.0)
    depth = bench.parameters()["Depth"]
    assert await port.put(bytes(16)), "no job, no room"
    assert await port.read(0) == (0, True, 0)
    await port.start(16 * (depth + 1))
    blocks = [random.randbytes(16) for _ in range(depth + 1)]
    for block in blocks[:depth]:
        assert not await port.put(block)
    assert await port.put(random.randbytes(16)), "no room"
    value, underflow, clocks = await port.read(3)
    assert (value, underflow) == (0, True) and 250 <= clocks <= 256
    port.speed = 1.0
    got = b"".join([await port.get() for _ in range(depth)])
    assert not await port.put(blocks[-1])
    assert await port.put(random.randbytes(16)), "beyond the job"
    assert got + await port.get() == inverted(b"".join(blocks))
    assert await port.read(1) == (0, True, 0)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def quiet_jobs(dut) -> None:
    """In a job without output mae_block_registers has room again as the engine takes blocks."""
    port = await Port.begin(dut, 0.0)
    depth = bench.parameters()["Depth"]
    for extra in (3, 16):
        data = random.randbytes(16 * depth + extra)
        port.speed = 1.0
        await port.start(16)
        await port.put(data[:16])  # an answer of the job before stays
        while dut.answers_o.value == 0:
            await RisingEdge(dut.clk_i)
        port.speed = 0.0
        port.seen.clear()
        await port.start(len(data), quiet=True)
        for i in range(depth - 1):
            assert dut.room_o.value == depth - 1 - i
            assert not await port.put(data[16 * i : 16 * i + 16])
        assert dut.room_o.value == 0
        assert await port.get() == inverted(data[:16])
        assert await port.read(0) == (0, True, 0), "none is under way"
        assert dut.room_o.value == 1
        port.speed = 0.3
        for i in range(depth - 1, depth + 1):
            while dut.room_o.value == 0:
                await RisingEdge(dut.clk_i)
            assert not await port.put(data[16 * i : 16 * i + 16].ljust(16, b"\0"))
        while len(port.seen) <= depth:
            await RisingEdge(dut.clk_i)
        got = b"".join(block.to_bytes(16, "little")[:count] for block, count, _ in port.seen)
        assert got == data
        assert await port.put(bytes(16)), "beyond the job"
        await port.start(16 * depth)
        assert dut.room_o.value == depth
        await port.put(data[:16])
        assert await port.get() == inverted(data[:16])
        for _ in range(depth - 1):
            await port.put(data[:16])
            await port.get()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def longest_jobs(dut) -> None:
    """mae_block_registers accepts jobs of up to 2^32 - 1 bytes."""
    port = await Port.begin(dut, 1.0)
    for length in (0xFFFFFFF0, 0xFFFFFFF1, 0xFFFFFFFF):
        await port.start(length)
        await FallingEdge(dut.clk_i)
        assert dut.room_o.value == bench.parameters()["Depth"]
        data = random.randbytes(16)
        assert not await port.put(data), "a block was dropped"
        assert await port.get() == inverted(data)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def words_do_not_linger(dut) -> None:
    """mae_block_registers zeroes unwritten words of a block; clear_i erases all its words."""
    port = await Port.begin(dut, 1.0)
    await port.start(64)
    await port.put(random.randbytes(16))
    await port.get()
    await port.write(1, 0x01020304)
    await port.write(3, 0x05060708)
    want = bytes(4) + bytes.fromhex("04030201") + bytes(4) + bytes.fromhex("08070605")
    assert await port.get() == inverted(want)
    port.speed = 0.0
    await port.put(random.randbytes(16))
    await port.write(0, 0x11111111)
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    assert (dut.room_o.value, dut.answers_o.value, dut.in_valid_o.value) == (0, 0, 0)
    port.speed = 1.0
    await port.start(16)
    await port.write(3, 0)
    assert await port.get() == inverted(bytes(16))


@pytest.mark.parametrize("depth", [1, 4, 15])
def test_block_registers(depth: int) -> None:
    """Builds mae_block_registers in several depths and runs this file's tests."""
    bench.run("mae_block_registers", parameters={"Depth": depth})
