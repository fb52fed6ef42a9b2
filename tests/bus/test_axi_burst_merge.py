# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axi_burst_merge: order and bounds of bursts, joining, the time without a request."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.support.bench import run

BEATS, WAIT, WIDTH = 4, 2, 8


async def begin(dut) -> None:
    """Resets mae_axi_burst_merge."""
    for name in "in_valid_i in_granule_i in_source_i out_ready_i block_i".split():
        getattr(dut, name).value = 0
    Clock(dut.clk_i, 10, "ns").start()
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


async def step(dut, request: tuple[int, int] | None, ready: bool) -> tuple[bool, tuple | None]:
    """Offers a request for a clock; returns whether it was accepted, and the burst that left."""
    dut.in_valid_i.value = int(request is not None)
    if request:
        dut.in_granule_i.value, dut.in_source_i.value = request
    dut.out_ready_i.value = int(ready)
    await Timer(1, "ns")
    took = request is not None and bool(dut.in_ready_o.value)
    burst = None
    if ready and dut.out_valid_o.value:
        fields = (dut.out_granule_o, dut.out_last_o, dut.out_source_o)
        burst = tuple(int(field.value) for field in fields)
    await FallingEdge(dut.clk_i)
    return took, burst


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def keeps_order(dut) -> None:
    """Bursts hold the requests in their order, within a block, and hit_o shows where they wait."""
    await begin(dut)
    chooser = random.Random(1)
    waiting: list[tuple[int, int]] = []
    request, made, at = None, 0, 0
    for clock in range(8000):
        if clock % 100 == 0:
            share, readiness = chooser.choice((0.2, 1)), chooser.choice((0.1, 1))
        if request is None and chooser.random() < share:
            at = (at + 1) % 256 if chooser.random() < 0.8 else chooser.randrange(256)
            request = at, int(chooser.random() < 0.1)
        elif request and chooser.random() < 0.02:
            request = None  # withdrawn
        block = chooser.randrange(64)
        dut.block_i.value = block
        await Timer(1, "ns")
        assert bool(dut.hit_o.value) == any(granule // BEATS == block for granule, _ in waiting)
        assert bool(dut.empty_o.value) == (not waiting)
        took, burst = await step(dut, request, chooser.random() < readiness)
        if burst:
            first, last, source = burst
            wanted = [(first + i, source) for i in range(last + 1)]
            assert waiting[: last + 1] == wanted and first // BEATS == (first + last) // BEATS
            del waiting[: last + 1]
            made += last > 0
        if took:
            waiting.append(request)
            request = None
    assert made > 300


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def joins(dut) -> None:
    """Joins what can be one burst, WAIT clocks later at most, at a request a clock."""
    await begin(dut)
    cases = (
        ([(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 3, 0)]),
        ([(5, 0), (6, 0), (7, 0), (8, 0)], [(5, 2, 0), (8, 0, 0)]),
        ([(5, 0), (6, 1), (7, 1)], [(5, 0, 0), (6, 1, 1)]),
        ([(5, 0), (5, 0), (4, 0)], [(5, 0, 0), (5, 0, 0), (4, 0, 0)]),
        ([(4, 0), *[None] * (WAIT - 1), (5, 0)], [(4, 1, 0)]),
        ([(4, 0), *[None] * WAIT, (5, 0)], [(4, 0, 0), (5, 0, 0)]),
    )
    for requests, wanted in cases:
        found = []
        for request in [*requests, *[None] * (WAIT + 3)]:
            took, burst = await step(dut, request, True)
            assert took or request is None
            found += [burst] if burst else []
        assert found == wanted, (requests, found)


def test_axi_burst_merge() -> None:
    """Builds mae_axi_burst_merge and runs this file's tests."""
    run("mae_axi_burst_merge", parameters={"GranuleWidth": WIDTH, "Beats": BEATS, "Wait": WAIT})
