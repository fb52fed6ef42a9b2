# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_chunk_gcm: a clear at any time erases its IV masks, chunks and data.

Of its own signals: those of mae_gcm_stream are that module's test's. What it computes is in
test_guard_moves.
"""

import random
import types

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from maeslant.protected.model import wire
from tests.device import secrets
from tests.guard.chunks import GRANULE, KEY, MASK, Chunk
from tests.support import bench
from tests.support.stream import start


async def shake(dut, valid, ready) -> None:  # noqa: ANN001 - handles
    """Holds an input's valid signal of mae_guard_chunk_gcm until the handshake."""
    valid.value, taken = 1, False
    while not taken:
        await Timer(2, "ns")
        taken = bool(int(ready.value))
        await FallingEdge(dut.clk_i)
    valid.value = 0


async def feed(dut, seen: types.SimpleNamespace) -> None:
    """Sends a key, two chunk descriptors and their data rows to mae_guard_chunk_gcm."""
    await FallingEdge(dut.clk_i)
    dut.key_i.value = int.from_bytes(seen.key + seen.mask, "big")
    await shake(dut, dut.key_valid_i, dut.key_ready_o)
    for number in range(2):
        place = wire.Transfer(0, 640, 0, 0, 640, 0)
        chunk = Chunk("in", 3, 0, 5 + number, place, seen.key, seen.mask)
        dut.chunk_i.value = chunk.pack(random.randbytes(16))
        await shake(dut, dut.chunk_valid_i, dut.chunk_ready_o)
    for number in range(20):
        row = random.randbytes(GRANULE)
        seen.rows.append(row)
        dut.row_data_i.value = int.from_bytes(row, "little")
        dut.row_last_i.value = int(number % 10 == 9)
        await shake(dut, dut.row_valid_i, dut.row_ready_o)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def leaves_nothing(dut) -> None:
    """After a clear at any moment no register of mae_guard_chunk_gcm holds a secret or data."""
    names = "clear_i key_valid_i key_bank_i chunk_valid_i chunk_out_i row_valid_i tag_ready_i"
    await start(dut, out_ready_i=1, row_bytes_i=GRANULE, **dict.fromkeys(names.split(), 0))
    for clocks in (2, 8, 14, 20, 30, 36, 42, 50, 60):
        seen = types.SimpleNamespace(
            key=random.randbytes(KEY), mask=random.randbytes(MASK), rows=[]
        )
        task = cocotb.start_soon(feed(dut, seen))
        outs = []
        for _ in range(clocks):
            await FallingEdge(dut.clk_i)
            if int(dut.out_valid_o.value):
                outs.append(int(dut.out_data_o.value).to_bytes(GRANULE, "little"))
        if clocks > 8:
            assert secrets.find(dut, [seen.mask], 8), "the search finds nothing"
        task.cancel()
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        for name in ("key_valid_i", "chunk_valid_i", "row_valid_i", "key_i", "chunk_i"):
            getattr(dut, name).value = 0
        dut.row_data_i.value = 0
        await ClockCycles(dut.clk_i, 44 if bench.parameters()["Small"] else 2)
        await FallingEdge(dut.clk_i)
        assert secrets.find(dut, [seen.key, seen.mask, *seen.rows, *outs], 8) == []
        assert not int(dut.out_valid_o.value) and not int(dut.tag_valid_o.value)
        dut.chunk_valid_i.value = 1
        await ClockCycles(dut.clk_i, 20)
        await FallingEdge(dut.clk_i)
        assert not int(dut.chunk_ready_o.value), "a chunk without a key waits"
        await start(dut, chunk_valid_i=0)


@pytest.mark.slow
@pytest.mark.parametrize("small", [0, 1])
def test_guard_chunk_gcm(small: int) -> None:
    """Builds mae_guard_chunk_gcm for decryption and runs this file's clear test on it."""
    bench.run("mae_guard_chunk_gcm", parameters={"Small": small})
