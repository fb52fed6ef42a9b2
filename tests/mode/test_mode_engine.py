# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_engine with key cache and cipher against OpenSSL, on many contexts at once."""

import random

import cocotb
import pytest

from tests.mode import engine
from tests.support import bench


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def every_mode(dut):
    """mae_mode_engine gives OpenSSL's output in each mode, direction, key size and length."""
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
    """Runs random messages in random contexts through mae_mode_engine and checks the output."""
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
    tb.lost_clocks = 0
    await tb.run(queues, **how)
    tb.check(queues)
    if how.get("heed_room", 1) == 1 and not bench.parameters().get("Iter"):
        assert tb.lost_clocks == 0, "a row that had room was not taken at once"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def mixed(dut):
    """mae_mode_engine gives OpenSSL's output for many contexts, modes and keys at once."""
    await mixture(await engine.fresh(dut, bench.parameters()), 2, 120)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def mixed_stalls(dut):
    """mae_mode_engine gives OpenSSL's output under stalls of input and output."""
    tb = await engine.fresh(dut, bench.parameters())
    await mixture(tb, 3, 60, in_stall=0.5, out_stall=0.2)
    await mixture(tb, 4, 60, in_stall=0.1, out_stall=0.7)
    await mixture(tb, 5, 60, heed_room=2, in_stall=0.1, out_stall=0.5)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def mixed_heedless(dut):
    """mae_mode_engine gives OpenSSL's output, only slower, if rows are sent without room_o."""
    await mixture(await engine.fresh(dut, bench.parameters()), 5, 60, heed_room=None)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def path_change(dut):
    """mae_mode_engine continues a CFB chain when decryption (parallel) follows encryption."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(6)
    keys = engine.Keys(2, rng, (16,))
    await tb.write_keys(keys)
    # CFB decryption continues what encryption began: the chain is the ciphertext in both.
    iv, text = rng.randbytes(16), rng.randbytes(64)
    cipher = engine.crypt("cfb", False, keys.keys[0], b"", iv, text)
    there = engine.Message("cfb", False, 0, 0, iv, text[:32], [32], cipher[:32])
    back = engine.Message("cfb", True, 0, 0, iv, cipher[32:], [32], text[32:])
    await tb.run({0: [there]})
    tb.check({0: [there]})
    await tb.run({0: [back]}, first_init=False)
    tb.check({0: [back]})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def key_lost(dut):
    """If a job's key is rewritten, erased or missing, mae_mode_engine outputs zeros."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(7)
    keys = engine.Keys(4, rng, (16,))
    await tb.write_keys(keys)
    for mode in ("ctr", "cbc"):
        m = engine.message(rng, keys, mode, False, 40 * tb.row_bytes, 1)
        begin = tb.clocks

        def erase(clock, at=begin + 100):
            dut.write_valid_i.value = int(clock == at)
            dut.write_slot_i.value = 1
            dut.write_erase_i.value = 1

        await tb.run({0: [m]}, hook=erase)
        out = tb.out[0]
        lost = [row[2] for row in out]
        assert not lost[0] and lost[-1] and lost == sorted(lost)
        good = b"".join(row[0] for row in out if not row[2])
        assert good == m.want[: len(good)] and len(good) < len(m.want)
        assert not any(b"".join(row[0] for row in out if row[2]))
        assert not int(dut.slot_valid_o.value) & 2
        # An empty slot, then the written one.
        for _ in range(2):
            m = engine.message(rng, keys, mode, False, 3 * tb.row_bytes, 1)
            m.lost = True
            await tb.run({0: [m]})
            tb.check({0: [m]})
        await tb.write_key(1, keys.keys[1])
        m.lost = False
        await tb.run({0: [m]})
        tb.check({0: [m]})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def new_key(dut):
    """mae_mode_engine uses a newly written key although the old one is in a key bank."""
    tb = await engine.fresh(dut, bench.parameters())
    rng = random.Random(8)
    for length in (16, 32, 24, 16, 16):
        keys = engine.Keys(1, rng, (length,))
        await tb.write_key(0, keys.keys[0])
        for decrypt in (False, True):
            m = engine.message(rng, keys, "cbc", decrypt, 32, 0, 0)
            await tb.run({0: [m]})
            tb.check({0: [m]})


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def broken_off(dut):
    """After a reset or clear during work mae_mode_engine runs new messages right."""
    tb = await engine.fresh(dut, bench.parameters())
    for round_ in range(6):
        rng = random.Random(100 + round_)
        keys = engine.Keys(6, rng)
        await tb.write_keys(keys)
        queues = {
            ctx: [engine.message(rng, keys, rng.choice(engine.MODES), False, 20 * tb.row_bytes)]
            for ctx in range(0, tb.contexts, max(1, tb.contexts // 8))
        }
        await tb.run(queues, out_stall=0.3, stop_at=tb.clocks + 60 + 37 * round_)
        dut.cfg_valid_i.value = 0
        dut.row_valid_i.value = 0
        dut.out_ready_i.value = 0
        if round_ % 2:
            await tb.clear()
        else:
            await tb.reset()
        assert not int(dut.slot_valid_o.value)
        await mixture(tb, 200 + round_, 4)
        await tb.clear()


@pytest.mark.parametrize(
    "parameters",
    [
        engine.WIDE,
        engine.ONE,
        engine.SMALL,
        pytest.param(engine.SMALLEST, marks=pytest.mark.slow),
    ],
    ids=["wide", "one", "small", "smallest"],
)
def test_mode_engine(parameters):
    """Builds mae_mode_bench for all relevant configurations and runs this file's tests."""
    bench.run("mae_mode_bench", parameters=parameters, sources=[engine.SOURCE])
