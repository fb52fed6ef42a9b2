# SPDX-License-Identifier: Apache-2.0
"""Tests mae_stream_reg_opt, which is a stream register or only wires, as Cut says."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.support import bench
from tests.support.stream import Sink, Source, start


@cocotb.test(timeout_time=300, timeout_unit="us")
async def keeps_order_under_stalls(dut) -> None:
    """Words leave mae_stream_reg_opt in their order under random stalls of both sides."""
    await start(dut, clear_i=0, in_valid_i=0, in_data_i=0, out_ready_i=0)
    for in_stall, out_stall in ((0.0, 0.0), (0.7, 0.0), (0.0, 0.7), (0.4, 0.4)):
        words = [random.getrandbits(len(dut.in_data_i)) for _ in range(300)]
        cocotb.start_soon(Source(dut, "in", in_stall, seed=3).send(words))
        assert await Sink(dut, "out", out_stall, seed=4).receive(len(words)) == words
        await RisingEdge(dut.clk_i)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def cuts_or_does_not(dut) -> None:
    """Without Cut mae_stream_reg_opt's inputs reach its outputs at once; with Cut they do not."""
    await start(dut, clear_i=0, in_valid_i=0, in_data_i=0, out_ready_i=0)
    cut = int(dut.Cut.value)
    for valid, ready, data in ((1, 0, 5), (0, 1, 9), (1, 1, 6), (0, 0, 3)):
        dut.in_valid_i.value, dut.out_ready_i.value, dut.in_data_i.value = valid, ready, data
        await Timer(1, "ps")
        seen = [int(s.value) for s in (dut.out_valid_o, dut.in_ready_o, dut.out_data_o)]
        assert seen == ([0, 1, 0] if cut else [valid, ready, data])


@pytest.mark.parametrize("cut", [0, 1])
def test_stream_reg_opt(cut: int) -> None:
    """Builds mae_stream_reg_opt as register and as wires and runs this file's tests."""
    bench.run("mae_stream_reg_opt", parameters={"Cut": cut})
