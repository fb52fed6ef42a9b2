# SPDX-License-Identifier: Apache-2.0
"""Tests mae_delay_line: it delays words, and a clear turns those inside into zeros."""

import collections
import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

CLOCKS = int(bench.parameters().get("Clocks", 2))


@cocotb.test(timeout_time=200, timeout_unit="us")
async def delays(dut) -> None:
    """A word leaves mae_delay_line after Clocks clocks, as zero if a clear came meanwhile."""
    await start(dut, clear_i=0, valid_i=0, data_i=0)
    due: collections.deque[int | None] = collections.deque([None] * CLOCKS)
    cleared = 0
    for clock in range(3000):
        word = random.getrandbits(16) | 1 if random.random() < 0.7 else None
        clear = random.random() < 0.02
        dut.valid_i.value, dut.data_i.value = int(word is not None), word or 0
        dut.clear_i.value = int(clear)
        await RisingEdge(dut.clk_i)
        wanted = due.popleft()
        assert bool(dut.valid_o.value) == (wanted is not None), clock
        if wanted is not None:
            assert int(dut.data_o.value) == wanted, clock
        due.append(word)
        if clear:
            due = collections.deque(None if word is None else 0 for word in due)
            cleared += 1
    assert cleared > 20


@cocotb.test(timeout_time=200, timeout_unit="us")
async def erases(dut) -> None:
    """Clocks clocks after a clear or reset mae_delay_line's memory holds only zeros."""
    await start(dut, clear_i=0, valid_i=0, data_i=0)
    for signal, active in ((dut.clear_i, 1), (dut.rst_ni, 0)):
        dut.valid_i.value, dut.data_i.value = 1, 0xFFFF
        for _ in range(2 * CLOCKS):
            await RisingEdge(dut.clk_i)
        dut.valid_i.value = 0
        signal.value = active
        await RisingEdge(dut.clk_i)
        assert any(int(dut.words_q[i].value) for i in range(CLOCKS))
        signal.value = 1 - active
        for _ in range(CLOCKS + 1):
            await RisingEdge(dut.clk_i)
        assert not any(int(dut.words_q[i].value) for i in range(CLOCKS))


@pytest.mark.parametrize("clocks", [5, 1, 48])
def test_delay_line(clocks: int) -> None:
    """Builds mae_delay_line with several delays and runs this file's tests."""
    bench.run("mae_delay_line", parameters={"Width": 16, "Clocks": clocks})
