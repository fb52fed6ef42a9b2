# SPDX-License-Identifier: Apache-2.0
"""mae_dma_ring_buffer: windows at any byte of any row, over the ends of rows and rings; erasing."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

from tests.support import bench


@cocotb.test(timeout_time=500, timeout_unit="us")
async def windows_anywhere(dut) -> None:
    """Random writes and reads in the same clock against a byte array for each context."""
    given = bench.parameters()
    width, contexts, rows = given["DataWidth"] // 8, given["Contexts"], given["RowsPerContext"]
    any_byte = given["ByteWrites"]
    size = width * rows
    rings = [bytearray(size) for _ in range(contexts)]
    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, unit="ns").start()
    for signal in (dut.clear_i, dut.wr_valid_i, dut.rd_enable_i):
        signal.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    expected = None

    async def clock(write: tuple[int, int, bytes, int] | None, read: tuple[int, int] | None):
        nonlocal expected
        await FallingEdge(dut.clk_i)
        if expected is not None:
            data = int(dut.rd_data_o.value).to_bytes(width, "little")
            assert data == expected, "read data, held while there is no new read"
        if read:
            ctx, at = read
            dut.rd_ctx_i.value, dut.rd_row_i.value = ctx, at // width
            dut.rd_offset_i.value = at % width
            expected = bytes(rings[ctx][(at + i) % size] for i in range(width))
        dut.rd_enable_i.value = int(read is not None)
        dut.wr_valid_i.value = int(write is not None)
        if write:
            ctx, at, data, strobe = write
            dut.wr_ctx_i.value, dut.wr_row_i.value = ctx, at // width
            dut.wr_offset_i.value, dut.wr_strobe_i.value = at % width, strobe
            dut.wr_data_i.value = int.from_bytes(data, "little")
            for lane in range(width):
                if strobe >> lane & 1:
                    rings[ctx][(at + lane) % size] = data[lane]

    for ctx in range(contexts):  # the memory holds anything at first
        for row in range(rows):
            await clock((ctx, row * width, random.randbytes(width), (1 << width) - 1), None)
    for _ in range(1500):
        write = read = None
        if random.random() < 0.8:
            at = random.randrange(size) if any_byte else random.randrange(rows) * width
            strobe = random.choice(((1 << width) - 1, random.getrandbits(width)))
            strobe = strobe if any_byte else (1 << width) - 1
            write = (random.randrange(contexts), at, random.randbytes(width), strobe)
        if random.random() < 0.8:
            read = (random.randrange(contexts), random.randrange(size))
        await clock(write, read)
    await clock(None, None)
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    clocks = 0
    while dut.clearing_o.value == 1:
        await FallingEdge(dut.clk_i)
        clocks += 1
    assert clocks == contexts * rows // 2 + 1
    assert int(dut.rd_data_o.value) == 0, "what was read last"
    expected, rings = None, [bytearray(size) for _ in range(contexts)]
    for ctx in range(contexts):
        for row in range(rows):
            await clock(None, (ctx, row * width))
    await clock(None, None)


@pytest.mark.parametrize(
    ("width", "contexts", "rows", "any_byte"),
    [(128, 1, 2, True), (512, 5, 8, True), (1024, 2, 4, True), (256, 3, 4, False)],
)
def test_buffer(width: int, contexts: int, rows: int, any_byte: bool) -> None:
    """The ends of the parameters' ranges."""
    bench.run(
        "mae_dma_ring_buffer",
        parameters={
            "DataWidth": width,
            "Contexts": contexts,
            "RowsPerContext": rows,
            "ByteWrites": any_byte,
        },
    )
