# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_job_status: it keeps each job's first error and reports each end once."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

OK, SLVERR, DECERR = 0, 9, 10  # status_e of the write mover
AXI = {0: OK, 1: OK, 2: SLVERR, 3: DECERR}  # OKAY, EXOKAY and the two errors


async def idle(dut) -> None:
    """Resets mae_dma_job_status with all inputs low."""
    inputs = "resp_valid resp_ctx resp finish_valid finish_ctx done_ready"
    await start(dut, **{f"{name}_i": 0 for name in inputs.split()})


@cocotb.test(timeout_time=200, timeout_unit="us")
async def first_error_counts(dut) -> None:
    """mae_dma_job_status reports the first error of each job, under random bus responses."""
    contexts = bench.parameters()["Contexts"]
    await idle(dut)
    jobs = {ctx: OK for ctx in range(contexts)}  # first error of those that run
    ends: dict[int, int] = {}  # of those that wait
    seen: set[int] = set()
    held = None
    away = 0.0
    for clock in range(3000):
        if clock % 100 == 0:
            away = random.choice((0, 0.5, 0.97))
        finish = random.choice([*jobs, None]) if random.random() < 0.4 else None
        answered = random.choice([*jobs, None])
        answered = None if answered == finish else answered  # responses come before the end
        response = random.choice((0, 0, 0, 1, 2, 3))
        ready = int(random.random() >= away)
        dut.resp_valid_i.value = int(answered is not None)
        dut.resp_ctx_i.value, dut.resp_i.value = answered or 0, response
        dut.finish_valid_i.value, dut.finish_ctx_i.value = int(finish is not None), finish or 0
        dut.done_ready_i.value = ready
        await RisingEdge(dut.clk_i)
        if int(dut.done_valid_o.value):
            ctx, status = int(dut.done_ctx_o.value), int(dut.done_status_o.value)
            assert held in (None, (ctx, status)), "an end changed while it waited"
            assert ends[ctx] == status
            seen.add(status)
            held = None if ready else (ctx, status)
            if ready:
                del ends[ctx]
                jobs[ctx] = OK
        else:
            assert held is None, "an end went away"
        if answered is not None and jobs[answered] == OK:
            jobs[answered] = AXI[response]
        if finish is not None:
            ends[finish] = jobs.pop(finish)
    assert seen == {OK, SLVERR, DECERR}


@cocotb.test(timeout_time=20, timeout_unit="us")
async def one_end_a_clock(dut) -> None:
    """mae_dma_job_status reports an end after two clocks, and pending ends one per clock."""
    contexts = bench.parameters()["Contexts"]
    await idle(dut)
    shown = []
    dut.finish_valid_i.value = 1
    for ctx in range(contexts):
        dut.finish_ctx_i.value = ctx
        await RisingEdge(dut.clk_i)
        shown.append(int(dut.done_valid_o.value))
    dut.finish_valid_i.value = 0
    for _ in range(2):
        await RisingEdge(dut.clk_i)
        shown.append(int(dut.done_valid_o.value))
    assert shown == [0, 0] + [1] * contexts
    dut.done_ready_i.value = 1
    came = []
    for _ in range(contexts):
        await RisingEdge(dut.clk_i)
        assert int(dut.done_valid_o.value) == 1
        came.append(int(dut.done_ctx_o.value))
    assert sorted(came) == list(range(contexts))
    await RisingEdge(dut.clk_i)
    assert int(dut.done_valid_o.value) == 0


@pytest.mark.parametrize("contexts", [1, 5])
def test_dma_job_status(contexts: int) -> None:
    """Builds mae_dma_job_status for one and several contexts and runs this file's tests."""
    parameters = {"Contexts": contexts, "Slverr": SLVERR, "Decerr": DECERR}
    bench.run("mae_dma_job_status", parameters=parameters)
