# SPDX-License-Identifier: Apache-2.0
"""Tests mae_row_to_axis: rows of AES blocks become AXI4-Stream frames; unused bytes are zero."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiStreamBus, AxiStreamSink

from tests.bus.rows import rows
from tests.support import bench
from tests.support.axi import pauses
from tests.support.stream import Source, start


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(pause=[0.0, 0.4], stall=[0.0, 0.4])
async def rows_become_frames(dut, pause: float, stall: float) -> None:
    """Random rows through mae_row_to_axis become the expected AXI4-Stream frames, with stalls."""
    await start(dut, row_valid_i=0)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk_i, dut.rst_ni, False)
    if pause:
        sink.set_pause_generator(pauses(pause, 5))
    await ClockCycles(dut.clk_i, 2)
    lanes = bench.parameters()["Lanes"]
    frames = [random.randbytes(random.randrange(1, 80 * lanes)) for _ in range(30)]
    sent = []
    for frame in frames:
        padded = frame + random.randbytes(-len(frame) % (16 * lanes))
        sent += [
            (data, count, last)
            for (data, _, _), (_, count, last) in zip(
                rows(padded, lanes), rows(frame, lanes), strict=True
            )
        ]
    source = Source(dut, "row", stall, payload=("data", "bytes", "last"))
    cocotb.start_soon(source.send(sent))
    cocotb.start_soon(nothing_beyond_keep(dut))
    for frame in frames:
        assert bytes((await sink.recv()).tdata) == frame


async def nothing_beyond_keep(dut) -> None:
    """Asserts in each clock that AXI4-Stream bytes with tkeep 0 are zero."""
    while True:
        await ClockCycles(dut.clk_i, 1)
        keep, data = int(dut.m_axis_tkeep.value), int(dut.m_axis_tdata.value)
        assert data >> 8 * keep.bit_length() == 0


@pytest.mark.parametrize("lanes", [1, 4])
def test_row_to_axis(lanes: int) -> None:
    """Builds mae_row_to_axis with one and with several lanes and runs this file's test."""
    bench.run("mae_row_to_axis", parameters={"Lanes": lanes})
