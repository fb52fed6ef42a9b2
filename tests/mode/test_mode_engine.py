# SPDX-License-Identifier: Apache-2.0
"""mae_mode_engine with its key cache and a cipher: everything at once, against OpenSSL."""

import pathlib
import random

import cocotb
import pytest

from tests.mode import engine
from tests.support import bench

BENCH = pathlib.Path(__file__).with_name("mae_mode_bench.sv")
SMALL = {"Lanes": 1, "Contexts": 1, "Parallel": 0, "SlotRows": 2, "KeyBanks": 1, "Iter": 1}
BUILDS = [
    {"Lanes": 4, "Contexts": 64},
    {"Lanes": 1, "Contexts": 16},
    SMALL,
]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def every_mode(dut):
    """Each mode, direction and key size, alone, from one byte or block to a few rows."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(1)
    keys = engine.Keys(6, rng)
    await tb.write_keys(keys)
    for mode in engine.MODES:
        for decrypt in (False, True):
            for slot in range(3):
                if mode == "xts" and slot == 1:
                    continue
                for size in (1, 16, tb.row_bytes, tb.row_bytes + 13, 3 * tb.row_bytes + 17):
                    ctx = rng.randrange(tb.contexts)
                    m = engine.message(rng, keys, mode, decrypt, size, slot, slot + 3)
                    await tb.run({ctx: [m]})
                    tb.check({ctx: [m]})


async def mixture(tb, seed, count, **how):
    """Random messages in random contexts, cut into jobs."""
    rng = random.Random(seed)
    keys = engine.Keys(9, rng)
    await tb.write_keys(keys)
    queues: dict[int, list[engine.Message]] = {}
    for _ in range(count):
        m = engine.message(
            rng,
            keys,
            rng.choice(engine.MODES),
            rng.random() < 0.5,
            rng.randrange(1, 6 * tb.row_bytes),
            jobs=rng.choice((1, 1, 2, 3)),
            granule=rng.choice((16, tb.row_bytes)),
        )
        queues.setdefault(rng.randrange(tb.contexts), []).append(m)
    await tb.run(queues, **how)
    tb.check(queues)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def mixed(dut):
    """Many contexts, all modes, more keys than banks, nothing stalls."""
    await mixture(await engine.fresh(dut, bench.parameters()), 2, 120)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def mixed_stalls(dut):
    """The same with stalls at both ends."""
    tb = await engine.fresh(dut, bench.parameters())
    await mixture(tb, 3, 60, in_stall=0.5, out_stall=0.2)
    await mixture(tb, 4, 60, in_stall=0.1, out_stall=0.7)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def mixed_heedless(dut):
    """The same without looking at room_o: slower, but all right."""
    await mixture(await engine.fresh(dut, bench.parameters()), 5, 60, heed_room=None)


@pytest.mark.parametrize("parameters", BUILDS, ids=lambda p: f"{p['Lanes']}x{p['Contexts']}")
def test_mode_engine(parameters):
    bench.run("mae_mode_bench", parameters=parameters, sources=[BENCH])
