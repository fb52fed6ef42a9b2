# SPDX-License-Identifier: Apache-2.0
"""Tests mae_rr_arb (round-robin arbiter): grants equal a model's, fairness, stable grants."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.support import bench
from tests.support.stream import start


def grant(dut) -> int | None:
    """Returns mae_rr_arb's granted index, or None; asserts that its outputs agree."""
    one_hot, index = int(dut.grant_o.value), int(dut.index_o.value)
    assert int(dut.valid_o.value) == int(one_hot != 0)
    assert one_hot in (0, 1 << index)
    return index if one_hot else None


@cocotb.test(timeout_time=200, timeout_unit="us")
async def follows_the_model(dut) -> None:
    """mae_rr_arb grants the first request at or after its pointer, under random requests."""
    n = len(dut.req_i)
    await start(dut, req_i=0, advance_i=0)
    pointer = 0
    for _ in range(2000):
        density = random.choice((0.02, 0.3, 0.9))
        requests = [int(random.random() < density) for _ in range(n)]
        advance = random.randrange(2)
        dut.req_i.value = sum(bit << i for i, bit in enumerate(requests))
        dut.advance_i.value = advance
        await RisingEdge(dut.clk_i)
        order = [(pointer + i) % n for i in range(n)]
        wanted = next((i for i in order if requests[i]), None)
        assert grant(dut) == wanted
        if wanted is not None:
            pointer = (wanted + 1) % n if advance else wanted


@cocotb.test(timeout_time=100, timeout_unit="us")
async def serves_all_in_turn(dut) -> None:
    """If all N requesters ask, mae_rr_arb grants each of them once in N clocks."""
    n = len(dut.req_i)
    await start(dut, req_i=2**n - 1, advance_i=1)
    served = []
    for _ in range(3 * n):
        await RisingEdge(dut.clk_i)
        served.append(grant(dut))
    assert all(sorted(served[i : i + n]) == list(range(n)) for i in range(2 * n))


@cocotb.test(timeout_time=100, timeout_unit="us")
async def unused_grant_stays(dut) -> None:
    """A grant of mae_rr_arb that is not used stays, though others ask later."""
    n = len(dut.req_i)
    await start(dut, req_i=0, advance_i=0)
    dut.req_i.value = 1 << (n - 1)
    await RisingEdge(dut.clk_i)
    await Timer(1, "ns")
    for requests in (2**n - 1, 1 << (n - 1) | 1):
        dut.req_i.value = requests
        await RisingEdge(dut.clk_i)
        assert grant(dut) == n - 1


@pytest.mark.parametrize("n", [1, 2, 5, 64])
def test_rr_arb(n: int) -> None:
    """Builds mae_rr_arb for several numbers of requesters and runs this file's tests."""
    bench.run("mae_rr_arb", parameters={"N": n})
