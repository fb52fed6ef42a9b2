# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_parallel inside mae_mode_engine: a row per clock, for any mix of contexts."""

import random

import cocotb
import pytest

from tests.mode import engine
from tests.support import bench

CASES = [("ecb", False), ("ecb", True), ("cbc", True), ("cfb", True), ("ctr", False)]
CASES += [("xts", False), ("xts", True)]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def full_rate(dut):
    """mae_mode_parallel passes a row per clock, of one context or of several in any order."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(1)
    keys = engine.Keys(4, rng, (16,))
    await tb.write_keys(keys)
    rows = 80
    for mode, decrypt in CASES:
        for contexts in (1, 4):
            queues = {
                ctx: [engine.message(rng, keys, mode, decrypt, rows * tb.row_bytes, 0, 1)]
                for ctx in rng.sample(range(tb.contexts), contexts)
            }
            tb.out_clocks, tb.row_clocks, tb.lost_clocks = [], [], 0
            await tb.run(queues, gather=True)
            tb.check(queues)
            label = f"{mode} decrypt={decrypt} {contexts} contexts"
            assert engine.spread(tb.out_clocks) == {1}, f"{label}: {tb.out_clocks}"
            assert tb.lost_clocks == 0, label


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def two_keys(dut):
    """Rows under two keys in two banks pass mae_mode_parallel at one per clock in any order."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(2)
    keys = engine.Keys(2, rng, (16,))
    await tb.write_keys(keys)
    queues = {
        ctx: [engine.message(rng, keys, "ctr", False, 80 * tb.row_bytes, ctx % 2)]
        for ctx in range(4)
    }
    await tb.run({ctx: [engine.message(rng, keys, "ctr", False, 16, ctx)] for ctx in range(2)})
    tb.out_clocks, tb.row_clocks, tb.lost_clocks = [], [], 0
    await tb.run(queues, gather=True)
    tb.check(queues)
    assert engine.spread(tb.out_clocks) == {1}, tb.out_clocks
    assert tb.lost_clocks == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def stalled(dut):
    """A slow output loses no row of mae_mode_parallel and delays none for which room is left."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(5)
    keys = engine.Keys(4, rng, (16, 32))
    await tb.write_keys(keys)
    for contexts, out_stall in ((1, 0.9), (5, 0.7), (5, 0.2)):
        queues = {
            ctx: [engine.message(rng, keys, "ctr", False, 90 * tb.row_bytes + 5, ctx % 2)]
            for ctx in range(contexts)
        }
        tb.lost_clocks = 0
        await tb.run(queues, out_stall=out_stall)
        tb.check(queues)
        assert tb.lost_clocks == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def many_keys(dut):
    """With three times more keys than banks all contexts still progress in mae_mode_parallel."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(3)
    keys = engine.Keys(6, rng, (16,))
    await tb.write_keys(keys)
    queues = {
        ctx: [engine.message(rng, keys, "ctr", False, 300 * tb.row_bytes, ctx)] for ctx in range(6)
    }
    tb.out_clocks = []
    await tb.run(queues, heed_room=1)
    tb.check(queues)
    rate = engine.blocks_per_clock(tb.out_clocks) / tb.lanes
    cocotb.log.info("6 keys on 2 banks: %.3f of the lanes", rate)
    assert rate >= 0.9


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def beside_chains(dut):
    """Rows of mae_mode_parallel and blocks of chained modes share the lanes; both progress."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(4)
    for lengths in ((16, 16), (16, 32), (32, 16)):
        keys = engine.Keys(2, rng, lengths)
        await tb.write_keys(keys)
        rows_each = 640 // tb.contexts
        chained = {
            ctx: [engine.message(rng, keys, "cbc", False, rows_each * tb.row_bytes, 1)]
            for ctx in range(tb.contexts // 2)
        }
        rows = {
            ctx: [engine.message(rng, keys, "ctr", False, rows_each * tb.row_bytes, 0)]
            for ctx in range(tb.contexts // 2, tb.contexts)
        }
        tb.out_clocks, tb.out_contexts = [], []
        await tb.run(chained | rows)
        tb.check(chained | rows)
        # Half the way through neither lags far behind.
        early = [ctx for _, ctx in tb.out_contexts[: len(tb.out_contexts) // 2]]
        share = sum(ctx in rows for ctx in early) / len(early)
        cocotb.log.info("the rows' share: %.3f", share)
        assert 0.35 < share < 0.65
        rate = engine.blocks_per_clock(tb.out_clocks) / tb.lanes
        cocotb.log.info("keys of %s bytes: %.3f of the lanes", lengths, rate)
        # With two lengths a shorter block waits until a longer one is past its entry, 4 rounds.
        wait = 4 * int(bench.parameters().get("RegsPerRound", 1))
        assert rate >= (0.8 if lengths == (16, 16) else 0.9 * 2 / (2 + wait))


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def beside_one_chain(dut):
    """One chained message keeps nearly its full speed beside mae_mode_parallel's full rows."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(6)
    keys = engine.Keys(2, rng, (16,))
    await tb.write_keys(keys)
    queues = {
        ctx: [engine.message(rng, keys, "ctr", False, 400 * tb.row_bytes, 0)] for ctx in range(4)
    }
    queues[4] = [engine.message(rng, keys, "cbc", False, 10 * tb.row_bytes, 1)]
    tb.out_clocks, tb.out_contexts = [], []
    await tb.run(queues)
    tb.check(queues)
    clocks = [clock for clock, ctx in tb.out_contexts if ctx == 4]
    latency = 10 * int(bench.parameters().get("RegsPerRound", 1)) + 1
    per_block = (clocks[-1] - clocks[0]) / 9 / tb.lanes
    assert latency <= per_block <= latency + 2, per_block
    rate = engine.blocks_per_clock(tb.out_clocks) / tb.lanes
    assert rate > 0.85, rate


@pytest.mark.parametrize(
    "parameters",
    [engine.WIDE, engine.ONE, engine.DEEP],
    ids=["wide", "one", "deep"],
)
def test_mode_parallel(parameters):
    """Builds mae_mode_bench in several configurations and runs this file's tests."""
    bench.run("mae_mode_bench", parameters=parameters, sources=[engine.SOURCE])
