# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_single_tag: GCM tag and verdict three clocks after products and mask."""

import random

import cocotb
from cocotb.triggers import NextTimeStep, ReadOnly, RisingEdge

from tests.cipher import leaks
from tests.mode import gcm_oracle
from tests.support import bench
from tests.support.stream import start


def end_word(ctx: int, decrypt: int, tag_bytes: int, tag: int, mask: int, text: int) -> int:
    """Packs a message's end into the bits of gcm_beat_end_t."""
    word = (ctx << 1 | decrypt) << 5 | tag_bytes
    return ((word << 128 | tag) << 128 | mask) << 128 | text


def offer(dut) -> int:
    """Sends the terms of a random GCM tag to mae_gcm_single_tag; returns the expected answer."""
    terms = bench.parameters()["Terms"]
    pairs = [(random.getrandbits(128), random.getrandbits(128)) for _ in range(terms)]
    mask, text, ctx = random.getrandbits(128), random.getrandbits(128), random.randrange(256)
    tag = mask
    for a, b in pairs:
        tag ^= gcm_oracle.multiply(a, b)
    decrypt, size = random.randrange(2), random.randrange(17)
    bits = 128 - 8 * size
    given = (tag >> bits << bits) | random.getrandbits(128) % (1 << bits)
    wrong = random.randrange(2) << random.randrange(bits, 128) if size else 0
    dut.a_i.value = sum(a << 128 * i for i, (a, _) in enumerate(pairs))
    dut.b_i.value = sum(b << 128 * i for i, (_, b) in enumerate(pairs))
    dut.end_i.value = end_word(ctx, decrypt, size, given ^ wrong, mask, text)
    if not decrypt:
        return ((ctx << 1 | 1) << 128 | text) << 128 | tag
    ok = bool(size) and not wrong
    return ((ctx << 1 | ok) << 128 | (text if ok else 0)) << 128


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def answers(dut) -> None:
    """mae_gcm_single_tag gives right tags and verdicts, and zeros in clocks without one."""
    await start(dut, clear_i=0, valid_i=0, a_i=0, b_i=0, end_i=0)
    due: list[int | None] = [None] * 2
    for number in range(1200):
        valid = random.random() < (0.5 if number < 600 else 1.0)
        answer = offer(dut)
        dut.valid_i.value = valid
        due.append(answer if valid else None)
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        wanted = due.pop(0)
        assert int(dut.rsp_valid_o.value) == (wanted is not None)
        assert int(dut.rsp_o.value) == (wanted or 0)
        await NextTimeStep()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def clear(dut) -> None:
    """After clear_i at any clock mae_gcm_single_tag gives no answer and holds no data."""
    await start(dut, clear_i=0, valid_i=0, a_i=0, b_i=0, end_i=0)
    for clocks in range(12):
        dut.valid_i.value = 1
        for _ in range(clocks % 6):
            offer(dut)
            await RisingEdge(dut.clk_i)
        offer(dut)
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = dut.valid_i.value = 0
        await ReadOnly()
        assert int(dut.rsp_valid_o.value) == int(dut.rsp_o.value) == 0
        assert not leaks.registers_left(dut)
        await NextTimeStep()


def test_gcm_single_tag() -> None:
    """Builds mae_gcm_single_tag with four terms and runs this file's tests."""
    bench.run("mae_gcm_single_tag", parameters={"Terms": 4}, visible=True)
