# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_page_allocator: each context's own share, lent pages, no page twice."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

NAMES = ("claim_valid", "claim_ctx", "put_valid", "put_ctx", "get_valid", "get_ctx")


class Model:
    """Models the pages that each context has claimed and the order in which it holds them."""

    def __init__(self) -> None:
        given = bench.parameters()
        self.contexts, self.pages, self.share = given["Contexts"], given["Pages"], given["Share"]
        self.margin = given["Margin"]
        self.lendable = self.pages - self.share * self.contexts
        self.claimed = [0] * self.contexts
        self.queues: list[deque[int]] = [deque() for _ in range(self.contexts)]

    def lent(self, context: int) -> int:
        """Returns the number of pages that a context holds beyond its own share."""
        return max(0, self.claimed[context] - self.share)

    def may(self, context: int, margin: int) -> bool:
        """Returns true if the model allows a context to claim a page."""
        left = self.lendable - sum(map(self.lent, range(self.contexts)))
        own = self.claimed[context] < self.share
        return own or self.lent(context) + margin < left


async def clock(
    dut, model: Model, claims: list[int | None], put: int | None, get: int | None
) -> None:
    """Runs one clock of mae_dma_page_allocator with claims, put and get; compares the outputs."""
    width = max(1, (model.contexts - 1).bit_length())
    dut.claim_valid_i.value = sum((ctx is not None) << k for k, ctx in enumerate(claims))
    dut.claim_ctx_i.value = sum((ctx or 0) << width * k for k, ctx in enumerate(claims))
    dut.put_valid_i.value, dut.put_ctx_i.value = int(put is not None), put or 0
    dut.get_valid_i.value, dut.get_ctx_i.value = int(get is not None), get or 0
    await RisingEdge(dut.clk_i)
    room = int(dut.room_o.value)
    for k, ctx in enumerate(claims):
        assert room >> k & 1 == int(model.may(ctx or 0, k))
    rooms = sum(model.may(i, model.margin) << i for i in range(model.contexts))
    assert int(dut.rooms_o.value) == rooms
    queue = model.queues[get or 0]
    assert not queue or int(dut.head_o.value) == queue[0]
    assert len(queue) < 2 or int(dut.next_o.value) == queue[1]
    for ctx in claims:
        if ctx is not None:
            model.claimed[ctx] += 1
    if put is not None:
        page = int(dut.page_o.value)
        assert all(page not in queue for queue in model.queues), "it is free"
        model.queues[put].append(page)
    if get is not None:
        model.queues[get].popleft()
        model.claimed[get] -= 1


@cocotb.test(timeout_time=500, timeout_unit="us")
async def lends_and_takes_back(dut) -> None:
    """mae_dma_page_allocator gives no page twice and always allows a context's own share."""
    await start(dut, **{f"{name}_i": 0 for name in NAMES})
    model = Model()
    empty, greed = 0, 0.9
    for step in range(4000):
        if step % 100 == 0:
            greed = random.choice((0.9, 0.9, 0.2))
        claims: list[int | None] = [None, None]
        for k in range(2):
            ctx = random.randrange(model.contexts)
            if random.random() < greed and ctx not in claims and model.may(ctx, k):
                claims[k] = ctx
        owed = [
            i
            for i in range(model.contexts)
            if model.claimed[i] + claims.count(i) > len(model.queues[i])
        ]
        put = random.choice(owed) if owed and random.random() < 0.8 else None
        full = [i for i, queue in enumerate(model.queues) if queue]
        get = random.choice(full) if full and random.random() > greed - 0.1 else None
        await clock(dut, model, claims, put, get)
        empty += sum(map(len, model.queues)) == model.pages
        for i in range(model.contexts):
            assert model.claimed[i] >= model.share or model.may(i, 0), "a share is denied"
    assert empty > 10 or model.lendable >= model.contexts


@cocotb.test(timeout_time=100, timeout_unit="us")
async def one_alone_gets_half(dut) -> None:
    """One context alone may claim half of mae_dma_page_allocator's lendable pages."""
    await start(dut, **{f"{name}_i": 0 for name in NAMES})
    model = Model()
    for ctx in range(min(2, model.contexts)):
        while model.may(ctx, 0):
            await clock(dut, model, [ctx, None], ctx, None)
    assert model.lent(0) == -(-model.lendable // 2)
    if model.contexts > 1:
        left = model.lendable - model.lent(0)
        assert model.lent(1) == -(-left // 2)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def reset_takes_all_back(dut) -> None:
    """After a reset or wipe at any moment all pages of mae_dma_page_allocator are free."""
    for clocks in (1, 50, 400):
        await start(dut, **{f"{name}_i": 0 for name in NAMES})
        model = Model()
        for _ in range(clocks):
            ctx = random.randrange(model.contexts)
            await clock(dut, model, [ctx if model.may(ctx, 0) else None, None], None, None)
            owed = [i for i, queue in enumerate(model.queues) if model.claimed[i] > len(queue)]
            await clock(dut, model, [None, None], random.choice(owed) if owed else None, None)
    await start(dut, **{f"{name}_i": 0 for name in NAMES})
    model = Model()
    for ctx in range(model.contexts):
        while model.may(ctx, 0):
            await clock(dut, model, [ctx, None], ctx, None)
    for ctx in range(model.contexts):
        while model.queues[ctx]:
            await clock(dut, model, [None, None], None, ctx)


@pytest.mark.parametrize(
    ("contexts", "pages", "share", "margin"),
    [(1, 2, 2, 0), (3, 8, 2, 1), (64, 256, 3, 6), (7, 14, 2, 0)],
)
def test_dma_page_allocator(contexts: int, pages: int, share: int, margin: int) -> None:
    """Builds mae_dma_page_allocator with no, few and many lendable pages; runs its tests."""
    parameters = {"Contexts": contexts, "Pages": pages, "Share": share, "Margin": margin}
    bench.run("mae_dma_page_allocator", parameters=parameters)
