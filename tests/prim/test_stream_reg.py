# SPDX-License-Identifier: Apache-2.0
"""Tests mae_stream_reg: order, full throughput, registered paths, erasure."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge, Timer

from tests.support import bench
from tests.support.stream import Sink, Source, start


async def begin(dut) -> None:
    """Resets mae_stream_reg with idle inputs."""
    await start(dut, clear_i=0, in_valid_i=0, in_data_i=0, out_ready_i=0)


@cocotb.test(timeout_time=300, timeout_unit="us")
async def keeps_order_under_stalls(dut) -> None:
    """Words leave mae_stream_reg in their order under random stalls of both sides."""
    await begin(dut)
    width = len(dut.in_data_i)
    for in_stall, out_stall in ((0.0, 0.0), (0.7, 0.0), (0.0, 0.7), (0.4, 0.4)):
        words = [random.getrandbits(width) for _ in range(300)]
        cocotb.start_soon(Source(dut, "in", in_stall, seed=3).send(words))
        assert await Sink(dut, "out", out_stall, seed=4).receive(len(words)) == words
        await RisingEdge(dut.clk_i)
        assert int(dut.out_valid_o.value) == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def one_word_a_clock(dut) -> None:
    """mae_stream_reg passes a word in every clock, one clock after it came."""
    await begin(dut)
    dut.in_valid_i.value = 1
    dut.out_ready_i.value = 1
    width = len(dut.in_data_i)
    for count in range(100):
        dut.in_data_i.value = count % 2**width
        await RisingEdge(dut.clk_i)
        assert int(dut.in_ready_o.value) == 1
        assert int(dut.out_valid_o.value) == (count > 0)
        if count:
            assert int(dut.out_data_o.value) == (count - 1) % 2**width


@cocotb.test(timeout_time=100, timeout_unit="us")
async def cuts_both_paths(dut) -> None:
    """No input of mae_stream_reg changes an output within the same clock."""
    await begin(dut)
    for preload in (0, 1, 2):
        dut.in_valid_i.value = int(preload > 0)
        await ClockCycles(dut.clk_i, max(preload, 1))
        dut.in_valid_i.value = 0
        await Timer(1, "ns")
        outputs = (dut.in_ready_o, dut.out_valid_o, dut.out_data_o)
        before = [int(signal.value) for signal in outputs]
        assert before[:2] == [int(preload < 2), int(preload > 0)]
        for valid in (0, 1):
            for ready in (0, 1):
                dut.in_valid_i.value, dut.out_ready_i.value = valid, ready
                dut.in_data_i.value = 1
                await Timer(1, "ns")
                assert [int(signal.value) for signal in outputs] == before
        dut.in_valid_i.value = 0
        dut.in_data_i.value = 0
        dut.out_ready_i.value = 1
        await ClockCycles(dut.clk_i, 3)
        dut.out_ready_i.value = 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def clear_zeroes_both_words(dut) -> None:
    """clear_i and reset erase both words stored in mae_stream_reg."""
    for by_reset in (False, True):
        await begin(dut)
        dut.in_valid_i.value = 1
        dut.in_data_i.value = 2 ** len(dut.in_data_i) - 1
        await ClockCycles(dut.clk_i, 3)
        assert int(dut.in_ready_o.value) == 0
        assert int(dut.out_data_q.value) and int(dut.skid_data_q.value)
        signal, active = (dut.rst_ni, 0) if by_reset else (dut.clear_i, 1)
        signal.value = active
        await RisingEdge(dut.clk_i)
        dut.in_valid_i.value = 0
        signal.value = 1 - active
        await RisingEdge(dut.clk_i)
        assert (int(dut.out_valid_o.value), int(dut.in_ready_o.value)) == (0, 1)
        assert (int(dut.out_data_q.value), int(dut.skid_data_q.value)) == (0, 0)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def zeroes_what_has_left(dut) -> None:
    """With Zero = 1 mae_stream_reg's registers are zero after their words have left."""
    await begin(dut)
    dut.in_valid_i.value = 1
    dut.in_data_i.value = 2 ** len(dut.in_data_i) - 1
    await ClockCycles(dut.clk_i, 3)
    dut.in_valid_i.value = 0
    dut.out_ready_i.value = 1
    for left in (1, 0):
        await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        assert bool(int(dut.out_data_q.value)) == bool(left)
        assert int(dut.skid_data_q.value) == 0


@pytest.mark.parametrize("width", [1, 137])
def test_stream_reg(width: int) -> None:
    """Builds mae_stream_reg with a narrow and a wide word and runs this file's tests."""
    bench.run("mae_stream_reg", parameters={"Width": width}, test_filter="^(?!.*zeroes_what)")


def test_stream_reg_zero() -> None:
    """Builds mae_stream_reg with Zero = 1 and runs this file's tests."""
    bench.run("mae_stream_reg", parameters={"Width": 137, "Zero": 1})
