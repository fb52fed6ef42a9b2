# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axis_to_row: AXI4-Stream frames become rows of AES blocks, one per clock."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiStreamBus, AxiStreamSource

from tests.bus.rows import rows
from tests.support import bench
from tests.support.axi import pauses
from tests.support.stream import Sink, start


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(pause=[0.0, 0.4], stall=[0.0, 0.4])
async def frames_become_rows(dut, pause: float, stall: float) -> None:
    """Random AXI4-Stream frames through mae_axis_to_row become the expected rows, with stalls."""
    await start(dut, row_ready_i=0)
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk_i, dut.rst_ni, False)
    if pause:
        source.set_pause_generator(pauses(pause, 5))
    await ClockCycles(dut.clk_i, 2)
    lanes = bench.parameters()["Lanes"]
    frames = [random.randbytes(random.randrange(1, 80 * lanes)) for _ in range(30)]
    wanted = [row for frame in frames for row in rows(frame, lanes)]
    for frame in frames:
        source.send_nowait(frame)
    sink = Sink(dut, "row", stall, payload=("data", "bytes", "last"))
    begin = get_sim_time("ns")
    assert await sink.receive(len(wanted)) == wanted
    if not pause and not stall:
        assert get_sim_time("ns") - begin <= 10 * (len(wanted) + 2)


@pytest.mark.parametrize("lanes", [1, 4])
def test_axis_to_row(lanes: int) -> None:
    """Builds mae_axis_to_row with one and with several lanes and runs this file's test."""
    bench.run("mae_axis_to_row", parameters={"Lanes": lanes})
