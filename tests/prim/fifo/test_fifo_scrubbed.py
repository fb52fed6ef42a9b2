# SPDX-License-Identifier: Apache-2.0
"""Tests mae_fifo_scrubbed: order, depth, and what of old words is left after a clear or a reset."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, NextTimeStep, ReadOnly, RisingEdge

from tests.support import bench
from tests.support.stream import Sink, Source, start


async def begin(dut) -> None:
    """Resets mae_fifo_scrubbed with idle inputs."""
    await start(dut, clear_i=0, in_valid_i=0, in_data_i=0, out_ready_i=0)


def stored(dut) -> list[int]:
    """Returns the words in the memory of mae_fifo_scrubbed."""
    return [int(dut.u_store.words_q[i].value) for i in range(bench.parameters()["Depth"])]


@cocotb.test(timeout_time=200, timeout_unit="us")
async def keeps_order_under_stalls(dut) -> None:
    """Words leave mae_fifo_scrubbed in their order under random stalls of both sides."""
    await begin(dut)
    for in_stall, out_stall in ((0.0, 0.0), (0.7, 0.0), (0.0, 0.7), (0.4, 0.4)):
        words = [random.getrandbits(len(dut.in_data_i)) for _ in range(200)]
        cocotb.start_soon(Source(dut, "in", in_stall, seed=3).send(words))
        assert await Sink(dut, "out", out_stall, seed=4).receive(len(words)) == words
        await RisingEdge(dut.clk_i)
        assert int(dut.out_valid_o.value) == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def one_word_a_clock(dut) -> None:
    """mae_fifo_scrubbed accepts exactly Depth words, and passes one a clock."""
    await begin(dut)
    depth = bench.parameters()["Depth"]
    dut.in_valid_i.value = 1
    taken = 0
    for _ in range(depth + 5):
        await RisingEdge(dut.clk_i)
        taken += int(dut.in_ready_o.value)
    assert taken == depth
    dut.out_ready_i.value = 1
    await ClockCycles(dut.clk_i, 5)
    for _ in range(50):
        await RisingEdge(dut.clk_i)
        assert int(dut.out_valid_o.value) == 1


async def fill(dut, old: int, taken: int) -> None:
    """Pushes words with a set top bit into mae_fifo_scrubbed; some of them are taken out again."""
    width = len(dut.in_data_i)
    words = [random.getrandbits(width - 1) | 1 << width - 1 for _ in range(old)]
    cocotb.start_soon(Sink(dut, "out").receive(taken))
    await Source(dut, "in").send(words)
    dut.in_data_i.value, dut.out_ready_i.value = (1 << width) - 1, 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def old_words_go(dut) -> None:
    """After clear_i or reset old words are gone in Depth clocks, new words come out all the same.

    With pushes meanwhile in at most 2 * Depth clocks; a push together with the clear is lost.
    """
    depth, width = bench.parameters()["Depth"], len(dut.in_data_i)
    for attempt in range(80):
        await begin(dut)
        old = random.randint(2, depth + 2)
        await fill(dut, old, random.randint(max(0, old - depth), old))
        dut.in_valid_i.value = 1
        signal, active = (dut.rst_ni, 0) if attempt % 4 > 1 else (dut.clear_i, 1)
        signal.value = active
        await RisingEdge(dut.clk_i)
        signal.value = 1 - active
        dut.in_valid_i.value = 0
        await ReadOnly()
        assert int(dut.out_valid_o.value) == 0 and int(dut.in_ready_o.value) == 1
        await NextTimeStep()
        if attempt % 2:
            await ClockCycles(dut.clk_i, depth)
            await ReadOnly()
            assert stored(dut) == [0] * depth
            await NextTimeStep()
            continue
        new = [random.getrandbits(width - 1) for _ in range(3 * depth)]
        out = cocotb.start_soon(Sink(dut, "out", random.random() / 2, attempt).receive(len(new)))
        sent = cocotb.start_soon(Source(dut, "in", random.random(), attempt).send(new))
        await ClockCycles(dut.clk_i, 2 * depth)
        await ReadOnly()
        assert not any(word >> width - 1 for word in stored(dut))
        assert await out == new
        await sent


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def clears_do_not_hold_up(dut) -> None:
    """Old words are gone in Depth clocks though clear_i is held, or comes again and again."""
    depth = bench.parameters()["Depth"]
    for every in (1, 2, 3, depth - 1):
        await begin(dut)
        await ClockCycles(dut.clk_i, random.randint(0, depth))
        await fill(dut, depth, 0)
        for clock in range(depth + 1):
            dut.clear_i.value = int(clock % every == 0)
            await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await ReadOnly()
        assert stored(dut) == [0] * depth
        await NextTimeStep()


@pytest.mark.parametrize("width, depth", [(8, 16), (128, 2), (16, 5)])
def test_fifo_scrubbed(width: int, depth: int) -> None:
    """Builds mae_fifo_scrubbed with several depths and widths and runs this file's tests."""
    bench.run("mae_fifo_scrubbed", parameters={"Width": width, "Depth": depth}, visible=True)
