# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_response_packer: 16-byte rows of responses become 64-byte lines."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.device import secrets
from tests.support.bench import run


async def begin(dut) -> None:
    """Starts the clock and resets the response packer."""
    Clock(dut.clk_i, 10, "ns").start()
    for name in ("clear_i", "begin_i", "row_valid_i", "line_ready_i"):
        getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


async def pack(dut, generator: random.Random, body: bytes, stall: float) -> tuple[bytes, int]:
    """Sends a response through the response packer; returns the lines and the clocks needed."""
    parts = [generator.randbytes(16)]
    parts += [body[at : at + 16] for at in range(0, len(body), 16)] + [generator.randbytes(16)]
    whole, lines, at, clocks = b"".join(parts), [], 0, 0
    dut.begin_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.begin_i.value = 0
    last = False
    while not last:
        clocks += 1
        valid = at < len(parts) and generator.random() >= stall
        dut.row_valid_i.value = int(valid)
        if valid:
            row = parts[at].ljust(16, b"\xee")
            dut.row_i.value = int.from_bytes(row)
            dut.row_short_i.value = int(len(parts[at]) == 8)
            dut.row_last_i.value = int(at == len(parts) - 1)
        ready = generator.random() >= stall
        dut.line_ready_i.value = int(ready)
        await Timer(1, "ns")
        if ready and dut.line_valid_o.value:
            lines.append((int(dut.line_o.value), int(dut.line_strb_o.value)))
            last = bool(dut.line_last_o.value)
        if valid and dut.row_ready_o.value:
            at += 1
        await FallingEdge(dut.clk_i)
    assert at == len(parts)
    data = b"".join(line.to_bytes(64, "little") for line, _ in lines)
    strobes = "".join(f"{strobe:064b}"[::-1] for _, strobe in lines)
    assert len(lines) == -(-(16 + len(whole)) // 64)
    assert strobes == ("0" * 16 + "1" * len(whole)).ljust(len(strobes), "0")
    assert data == (bytes(16) + whole).ljust(len(data), b"\0")
    return whole, clocks


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def lengths(dut) -> None:
    """The response packer packs bodies of 0 to 64 words at one row per clock without stalls."""
    generator = random.Random(1)
    await begin(dut)
    for words in range(65):
        for stall in (0.0, 0.5, 0.0):
            body = generator.randbytes(16 + 8 * words)
            _, clocks = await pack(dut, generator, body, stall)
            if not stall:
                assert clocks == 2 + -(-len(body) // 16) + 1 + words % 2, (words, clocks)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def cleared(dut) -> None:
    """A clear of the response packer erases its data; the next response starts on a new line."""
    generator = random.Random(2)
    await begin(dut)
    for clocks in range(1, 12):
        body = generator.randbytes(16 + 24)
        task = cocotb.start_soon(pack(dut, generator, body, 0.2))
        await ClockCycles(dut.clk_i, clocks)
        await FallingEdge(dut.clk_i)
        task.cancel()
        dut.row_valid_i.value = dut.line_ready_i.value = dut.begin_i.value = 0
        dut.row_i.value = 0
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        assert not dut.line_valid_o.value
        await FallingEdge(dut.clk_i)  # the assertion's own register
        assert secrets.find(dut, [body], 4) == []
        await pack(dut, generator, generator.randbytes(16), 0.0)


def test_guard_response_packer() -> None:
    """Builds mae_guard_response_packer and runs this file's simulation tests on it."""
    run("mae_guard_response_packer", visible=True)
