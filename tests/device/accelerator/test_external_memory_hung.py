# SPDX-License-Identifier: Apache-2.0
"""Tests that a clear erases the rows in mae_external_memory at once while its memory hangs.

Some channels stand still. Of what was written or read only the beat on the bus stays, as AXI
demands; no other row of before the clear reaches the memory when the bus works again.
"""

import collections

import cocotb
from cocotb.clock import Clock

from tests.device import secrets
from tests.device.accelerator.test_external_memory import BITS, FULL, GRANULES, ROW, Bench, Kernel
from tests.support.bench import run

BOUND = 1  # clocks, as the header of mae_external_memory says
# Channels that stand still, clocks before they do, clocks of the clear, clears.
STATES = {
    "data at once": ("w", 0, 1, 1),
    "data within a burst": ("w", 21, 1, 1),
    "data, cleared again": ("w", 0, 3, 4),
    "addresses": ("aw", 0, 1, 2),
    "addresses later": ("aw", 15, 128, 1),
    "responses": ("b", 0, 1, 1),
    "reads": ("r", 30, 1, 1),
    "all": ("ar r aw w b", 24, 128, 2),
    "none": ("", 40, 1, 1),
}


def left(dut, rows: list[bytes]) -> list[str]:
    """Returns the signals of the memory's module that hold pieces of rows, but for a W beat.

    The checkers' copies of the last clock's outputs are no registers of the device.
    """
    shown = str(dut.m_axi_mem_wdata.value) if dut.m_axi_mem_wvalid.value == 1 else ""
    found = secrets.find(dut, rows, 8, shown)
    return [path for path in found if "u_check_" not in path and "Holds_last_q" not in path]


async def fill(bench: Bench, channels: str, wait: int) -> list[bytes]:
    """Writes and reads rows until nothing is accepted, or 150 clocks; returns the rows."""
    data = [bench.bus.random.randbytes(ROW) for _ in range(2 * GRANULES)]
    ahead = list(data)
    for clock in range(150):
        if clock == wait:
            bench.bus.hung = frozenset(channels.split())
        if bench.write is None:
            bench.write = clock % (GRANULES // 2), FULL, ahead.pop()
        if bench.kernel is None:
            writes = clock % 8 != 5
            at = GRANULES // 2 + clock % (GRANULES // 4)
            row = ahead.pop() if writes else bytes(ROW)
            bench.kernel = Kernel(at, 1, writes, data=row, wide=True)
        if bench.read is None and clock % 8 == 7:
            bench.read = GRANULES - 1
        await bench.step()
        if len(ahead) < 3:
            break
    return data


def withdraw(bench: Bench) -> None:
    """Takes all requests back, and clears the wires that bring data to the module."""
    dut = bench.dut
    bench.write = bench.kernel = bench.read = None
    for name in ("write_data_i", "kernel_row_i", "kernel_request_i", "m_axi_mem_rdata"):
        getattr(dut, name).value = 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(state=list(STATES))
async def nothing_is_left(dut, state: str) -> None:
    """A clear on a hung bus erases all rows in time; afterwards the memory holds zeros."""
    Clock(dut.clk_i, 10, "ns").start()
    channels, wait, clocks, clears = STATES[state]
    bench = Bench(dut, latency=(1, 40), seed=1 + list(STATES).index(state))
    await bench.start()
    rows = await fill(bench, channels, wait)
    withdraw(bench)
    assert left(dut, rows), "the search finds nothing"
    image = bytes(bench.bus.data)
    for turn in range(clears):
        dut.clear_i.value = 1
        for clock in range(clocks):
            await bench.step()
            if not turn and not clock:
                bench.due = collections.deque((bytes(ROW), False, p) for _, _, p in bench.due)
                bench.due_dma.clear()
            if clock + 1 >= BOUND:
                dut.m_axi_mem_rdata.value = 0
                assert left(dut, rows) == [], (turn, clock)
        dut.clear_i.value = 0
        for _ in range(5 + turn):
            await bench.step()
    for _ in range(100):
        await bench.step()
    dut.m_axi_mem_rdata.value = 0
    assert left(dut, rows) == []
    assert dut.busy_o.value or not channels
    bench.bus.hung = frozenset()
    sent = set()
    while dut.busy_o.value:
        await bench.step()
        for at in range(GRANULES):
            row = bench.bus.data[at * ROW : (at + 1) * ROW]
            if any(row) and row != image[at * ROW : (at + 1) * ROW]:
                sent.add(at)
    assert len(sent) <= 1, "rows that the bus had not seen"
    await bench.erased()
    assert not bench.due and not bench.write_errors
    for at in range(GRANULES):  # it works as before
        bench.write = at, FULL, rows[at]
        while bench.write is not None:
            await bench.step()
    await bench.drain()
    assert bench.bus.data == b"".join(rows[:GRANULES])
    bench.bus.stop()


def test_external_memory_hung() -> None:
    """Builds mae_external_memory with all signals visible and runs this file's tests."""
    run("mae_external_memory", parameters={"MemoryBits": BITS}, visible=True, optimize="-O0")
