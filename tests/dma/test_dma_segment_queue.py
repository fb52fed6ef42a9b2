# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_segment_queue: two segments per context, consumed in pieces; aborts."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

INPUTS = "seg_valid seg_abort seg_ctx seg_addr seg_bytes seg_last head_ctx take_valid take_bytes"


@cocotb.test(timeout_time=200, timeout_unit="us")
async def follows_queues(dut) -> None:
    """mae_dma_segment_queue returns segments like a queue per context, under random aborts."""
    contexts = bench.parameters()["Contexts"]
    await start(dut, **{f"{name}_i": 0 for name in [*INPUTS.split(), "abort_take"]})
    queues: list[deque[list[int]]] = [deque() for _ in range(contexts)]
    aborted: set[int] = set()
    full = both = aborts = 0
    for _ in range(4000):
        ctx, head = random.randrange(contexts), random.randrange(contexts)
        room = len(queues[ctx]) < 2 and ctx not in aborted  # after an abort the job is over
        push = [
            random.getrandbits(64),
            random.choice((1, random.randrange(1, 99), random.randrange(1, 2**32))),
            random.randrange(2),
        ]
        pushed = room and random.random() < 0.6
        abort = not pushed and ctx not in aborted and random.random() < 0.1
        first = queues[head][0] if queues[head] else None
        taken = first is not None and random.random() < 0.6
        count = 0
        if taken:
            count = random.choice((first[1], random.randint(1, first[1])))
        end = first is None and head in aborted and random.random() < 0.5
        dut.seg_valid_i.value, dut.seg_abort_i.value = int(pushed), int(abort)
        dut.seg_ctx_i.value, dut.head_ctx_i.value = ctx, head
        dut.seg_addr_i.value, dut.seg_bytes_i.value, dut.seg_last_i.value = push
        dut.take_valid_i.value, dut.take_bytes_i.value = int(taken), count
        dut.abort_take_i.value = int(end)
        await RisingEdge(dut.clk_i)
        ready = int(dut.seg_ready_o.value)
        assert [ready >> i & 1 for i in range(contexts)] == [int(len(q) < 2) for q in queues]
        assert int(dut.head_valid_o.value) == int(first is not None)
        assert int(dut.head_abort_o.value) == int(first is None and head in aborted)
        if first:
            shown = [dut.head_addr_o, dut.head_bytes_o, dut.head_last_o]
            assert [int(signal.value) for signal in shown] == first
        full += len(queues[ctx]) == 2
        both += pushed and taken and ctx == head
        aborts += end
        if taken:
            first[0], first[1] = (first[0] + count) % 2**64, first[1] - count
            if first[1] == 0:
                queues[head].popleft()
        if pushed:
            queues[ctx].append(push)
        if end:
            aborted.remove(head)
        if abort:
            aborted.add(ctx)
    assert min(full, both, aborts) > 20, "the draw missed a case"


@pytest.mark.parametrize("contexts", [1, 5])
def test_dma_segment_queue(contexts: int) -> None:
    """Builds mae_dma_segment_queue for one and several contexts and runs this file's test."""
    bench.run("mae_dma_segment_queue", parameters={"Contexts": contexts})
