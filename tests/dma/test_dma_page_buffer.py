# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_page_buffer: reads and writes at any byte, across rows and pages; erasure."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

from tests.support import bench


@cocotb.test(timeout_time=500, timeout_unit="us")
async def windows_anywhere(dut) -> None:
    """mae_dma_page_buffer stores and returns bytes as an array does, at random positions."""
    given = bench.parameters()
    width, pages, rows = given["DataWidth"] // 8, given["Pages"], given["PageRows"]
    any_byte = given["ByteWrites"]
    page_bits = (pages - 1).bit_length()
    size = width * rows  # of a page
    held = [bytearray(size) for _ in range(pages)]

    def byte(pair: tuple[int, int], at: int) -> tuple[bytearray, int]:
        """Returns the page's byte array and the index in it for a byte of a pair of pages."""
        return held[pair[at // size % 2]], at % size

    def two() -> tuple[int, int]:
        """Returns two different pages of the ring buffer at random."""
        return tuple(random.sample(range(pages), 2))

    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, unit="ns").start()
    for signal in (dut.clear_i, dut.wr_valid_i, dut.rd_enable_i):
        signal.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    expected = None

    async def clock(write: tuple | None, read: tuple | None):
        nonlocal expected
        await FallingEdge(dut.clk_i)
        if expected is not None:
            data = int(dut.rd_data_o.value).to_bytes(width, "little")
            assert data == expected, "read data, held while there is no new read"
        if read:
            pair, at = read
            dut.rd_pages_i.value = pair[0] | pair[1] << page_bits
            dut.rd_row_i.value, dut.rd_offset_i.value = at // width, at % width
            places = [byte(pair, at + i) for i in range(width)]
            expected = bytes(page[place] for page, place in places)
        dut.rd_enable_i.value = int(read is not None)
        dut.wr_valid_i.value = int(write is not None)
        if write:
            pair, at, data, strobe = write
            dut.wr_pages_i.value = pair[0] | pair[1] << page_bits
            dut.wr_row_i.value = at // width
            dut.wr_offset_i.value, dut.wr_strobe_i.value = at % width, strobe
            dut.wr_data_i.value = int.from_bytes(data, "little")
            for lane in range(width):
                if strobe >> lane & 1:
                    page, place = byte(pair, at + lane)
                    page[place] = data[lane]

    for page in range(pages):  # the memory holds anything at first
        for row in range(rows):
            all_ = (page, (page + 1) % pages), row * width
            await clock((*all_, random.randbytes(width), (1 << width) - 1), None)
    for _ in range(1500):
        write = read = None
        if random.random() < 0.8:
            at = random.randrange(2 * size) if any_byte else random.randrange(2 * rows) * width
            strobe = random.choice(((1 << width) - 1, random.getrandbits(width)))
            strobe = strobe if any_byte else (1 << width) - 1
            write = (two(), at, random.randbytes(width), strobe)
        if random.random() < 0.8:
            read = (two(), random.randrange(2 * size))
        await clock(write, read)
    await clock(None, None)
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    clocks = 0
    while dut.clearing_o.value == 1:
        await FallingEdge(dut.clk_i)
        clocks += 1
    assert clocks == pages * rows // 2 + 1
    assert int(dut.rd_data_o.value) == 0, "what was read last"
    expected, held = None, [bytearray(size) for _ in range(pages)]
    for page in range(pages):
        for row in range(rows):
            await clock(None, ((page, page ^ 1), row * width))
    await clock(None, None)


@pytest.mark.parametrize(
    ("width", "pages", "rows", "any_byte"),
    [(128, 2, 2, True), (512, 6, 8, True), (1024, 2, 4, True), (256, 4, 4, False)],
)
def test_buffer(width: int, pages: int, rows: int, any_byte: bool) -> None:
    """Builds mae_dma_page_buffer with extreme parameters and runs this file's test."""
    bench.run(
        "mae_dma_page_buffer",
        parameters={
            "DataWidth": width,
            "Pages": pages,
            "PageRows": rows,
            "ByteWrites": any_byte,
        },
    )
