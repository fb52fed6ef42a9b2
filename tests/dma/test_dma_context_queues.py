# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_context_queues: a queue per context in one shared memory."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start


@cocotb.test(timeout_time=200, timeout_unit="us")
async def queues_of_items(dut) -> None:
    """mae_dma_context_queues returns items as Python's deque does, under random puts and gets."""
    contexts, items = bench.parameters()["Contexts"], bench.parameters()["Items"]
    names = ("put_valid", "put_ctx", "put_item", "get_valid", "get_ctx")
    await start(dut, **{f"{name}_i": 0 for name in names})
    queues: list[deque[int]] = [deque() for _ in range(contexts)]
    free = set(range(items))
    both = alone = 0
    for step in range(4000):
        fill = step % 400 < 200
        put, get = random.choices(range(min(contexts, random.choice((2, contexts)))), k=2)
        puts = bool(free) and random.random() < (0.8 if fill else 0.3)
        gets = bool(queues[get]) and random.random() < (0.3 if fill else 0.8)
        item = random.choice(sorted(free)) if puts else 0
        values = (int(puts), put, item, int(gets), get)
        for name, value in zip(names, values, strict=True):
            getattr(dut, f"{name}_i").value = value
        await RisingEdge(dut.clk_i)
        assert int(dut.any_o.value) == sum(bool(queue) << i for i, queue in enumerate(queues))
        if queues[get]:
            assert int(dut.head_o.value) == queues[get][0]
            assert len(queues[get]) < 2 or int(dut.next_o.value) == queues[get][1]
        assert not queues[put] or int(dut.tail_o.value) == queues[put][-1]
        if puts and gets and put == get:
            both += 1
            alone += len(queues[get]) == 1
        if gets:
            free.add(queues[get].popleft())
        if puts:
            free.remove(item)
            queues[put].append(item)
    assert min(both, alone) > 10, "the draw missed a case"


@pytest.mark.parametrize(("contexts", "items"), [(1, 2), (3, 9), (64, 128)])
def test_dma_context_queues(contexts: int, items: int) -> None:
    """Builds mae_dma_context_queues for one, few and many contexts and runs this file's test."""
    bench.run("mae_dma_context_queues", parameters={"Contexts": contexts, "Items": items})
