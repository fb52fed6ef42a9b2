# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_serial inside mae_mode_engine: clocks of chained modes, XTS with stealing."""

import random

import cocotb
import pytest

from tests.mode import engine
from tests.support import bench

CHAINED = [("cbc", False), ("pcbc", False), ("pcbc", True), ("cfb", False), ("ofb", False)]
# IEEE 1619-2007, Annex B, vectors 15 to 18: 17 to 20 bytes 00 01 02 ...
IEEE_KEYS = bytes(range(0xFF, 0xEF, -1)), bytes(range(0xBF, 0xAF, -1))
IEEE_IV = bytes.fromhex("9a78563412").ljust(16, b"\0")
IEEE = [
    "6c1625db4671522d3d7599601de7ca09ed",
    "d069444b7a7e0cab09e24447d24deb1fedbf",
    "e5df1351c0544ba1350b3363cd8ef4beedbf9d",
    "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac",
]


def latency(length):
    """Returns the cipher's latency in clocks for a key length, in this build."""
    rounds = 6 + length // 4
    if bench.parameters().get("Iter"):
        return rounds
    return rounds * int(bench.parameters().get("RegsPerRound", 1)) + 1


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def one_message(dut):
    """mae_mode_serial takes exactly the cipher's latency per block for one chained message."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(1)
    keys = engine.Keys(6, rng)
    await tb.write_keys(keys)
    every = [(mode, decrypt) for mode in engine.MODES for decrypt in (False, True)]
    alone = not int(bench.parameters().get("Parallel", 1))
    for mode, decrypt in every if alone else CHAINED:
        for slot in (0, 1, 2):
            if mode == "xts" and slot == 1:
                continue
            rows = 10
            m = engine.message(rng, keys, mode, decrypt, rows * tb.row_bytes, slot, slot + 3)
            tb.out_clocks = []
            await tb.run({tb.contexts - 1: [m]}, gather=True)
            tb.check({tb.contexts - 1: [m]})
            want = {latency(engine.LENGTHS[slot]) * tb.lanes}
            assert engine.spread(tb.out_clocks) == want, f"{mode} {decrypt} {tb.out_clocks}"


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def many_messages(dut):
    """mae_mode_serial keeps all lanes busy with as many chained messages as clocks of latency."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(2)
    keys = engine.Keys(1, rng, (16,))
    await tb.write_keys(keys)
    if tb.contexts < latency(16) * tb.lanes:
        return
    for mode, decrypt in CHAINED[:1] + CHAINED[-1:]:
        queues = {
            ctx: [engine.message(rng, keys, mode, decrypt, 12 * tb.row_bytes, 0, 0)]
            for ctx in range(latency(16) * tb.lanes)
        }
        tb.out_clocks = []
        await tb.run(queues, in_turn=True)
        tb.check(queues)
        rate = engine.blocks_per_clock(tb.out_clocks, 0.25)
        cocotb.log.info("%s: %.3f blocks a clock", mode, rate)
        assert rate >= 0.95 * tb.lanes


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def stealing(dut):
    """XTS with stealing on mae_mode_serial equals OpenSSL's, from 17 bytes to three rows."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(3)
    keys = engine.Keys(4, rng, (16, 32))
    await tb.write_keys(keys)
    queues: dict[int, list[engine.Message]] = {}
    for size in range(17, 3 * tb.row_bytes + 1):
        decrypt = bool(rng.getrandbits(1)) if tb.lanes > 1 else None
        for direction in (False, True) if decrypt is None else (decrypt, not decrypt):
            m = engine.message(
                rng, keys, "xts", direction, size, rng.randrange(4), jobs=rng.choice((1, 2))
            )
            queues.setdefault(rng.randrange(tb.contexts), []).append(m)
    await tb.run(queues, in_stall=0.1, out_stall=0.1)
    tb.check(queues)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def ieee_vectors(dut):
    """mae_mode_engine passes the IEEE 1619 vectors of XTS with ciphertext stealing."""
    tb = await engine.fresh(dut, bench.parameters())
    for slot, key in enumerate(IEEE_KEYS):
        await tb.write_key(slot, key)
    for cipher in map(bytes.fromhex, IEEE):
        plain = bytes(range(len(cipher)))
        size = [len(plain)]
        there = engine.Message("xts", False, 0, 1, IEEE_IV, plain, size, cipher)
        back = engine.Message("xts", True, 0, 1, IEEE_IV, cipher, size, plain)
        await tb.run({0: [there, back]})
        tb.check({0: [there, back]})


@pytest.mark.parametrize(
    "parameters",
    [
        engine.WIDE,
        {"Lanes": 2, "Contexts": 32},
        engine.ONE,
        engine.SMALL,
        engine.DEEP,
    ],
    ids=["wide", "two", "one", "small", "deep"],
)
def test_mode_serial(parameters):
    """Builds mae_mode_bench in several configurations and runs this file's tests."""
    bench.run("mae_mode_bench", parameters=parameters, sources=[engine.SOURCE])
