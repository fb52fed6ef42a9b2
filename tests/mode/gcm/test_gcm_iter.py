# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_iter: data and tags against OpenSSL, aborts, erasure, and the clocks it states."""

import random

import cocotb
import pytest
from cocotb.triggers import NextTimeStep, ReadOnly

from tests.cipher import leaks
from tests.mode.gcm import test_gcm_clear as erasure
from tests.mode.gcm import test_gcm_stream as stream
from tests.mode.gcm.gcm_engine import ROUNDS, Engine
from tests.support import bench

no_tag = stream.no_tag


def add(engine: Engine, **options: object):
    """Queues a GCM message of random key, direction, AAD and data with an IV of 12 bytes."""
    options.setdefault("decrypt", random.random() < 0.5)
    if options["decrypt"]:
        options.setdefault("tamper", random.random() < 0.3)
        options.setdefault("tag_bytes", random.choice((4, 8, 12, 13, 14, 15, 16)))
    aad, data = (random.randbytes(stream.any_length(16)) for _ in range(2))
    return engine.message(engine.any_bank(), random.randbytes(12), aad, data, **options)


async def begin(dut) -> Engine:
    """Resets mae_gcm_iter and queues a key for each bank."""
    engine = Engine(dut)
    await engine.reset()
    for bank in range(engine.banks):
        engine.key(bank)
    return engine


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def differential(dut) -> None:
    """mae_gcm_iter gives OpenSSL's results for messages of all shapes, with stalls and new keys."""
    engine = await begin(dut)
    for stall in (0, 0.3, 0.7):
        engine.stall_in = engine.stall_out = engine.stall_tag = engine.stall_msg = stall
        for _ in range(60):
            if random.random() < 0.2:
                engine.key(engine.any_bank())
            add(engine)
        await engine.run(100_000)
    assert engine.done == 180


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def lengths_disagree(dut) -> None:
    """mae_gcm_iter refuses a message whose beats differ from its announced lengths."""
    engine = await begin(dut)
    for odd in ("short", "last", ""):
        for decrypt in (False, True):
            data = random.randbytes(37)
            engine.message(0, random.randbytes(12), b"a", data, decrypt=decrypt, odd=odd)
            engine.message(0, random.randbytes(12), data, b"", decrypt=decrypt, odd=odd)
    await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def schedule(dut) -> None:
    """mae_gcm_iter takes the stated clocks for first beats, further beats and the tag."""
    engine = await begin(dut)
    for size in engine.sizes:
        rounds = ROUNDS[size]
        engine.key(0, random.randbytes(size))
        for aad in (b"", random.randbytes(16)):
            message = engine.message(0, random.randbytes(12), aad, random.randbytes(16 * 5))
            await engine.run()
            clocks = message.clocks
            assert clocks["out"] - clocks["msg"] == 3 * rounds + 5
            assert clocks["last"] - clocks["out"] == 4 * (rounds + 2) - 1
            assert clocks["tag"] - clocks["last"] == 18
        message = engine.message(0, random.randbytes(12), random.randbytes(16 * 5), b"")
        await engine.run()
        assert message.clocks["last"] - message.clocks["first"] == 36


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def aborts(dut) -> None:
    """An abort of mae_gcm_iter at any clock drops the message and its data, and keeps the keys."""
    engine = await begin(dut)
    await engine.run()
    for clocks in range(1, 140, 3):
        aad, data = random.randbytes(16), random.randbytes(80)
        message = engine.message(0, random.randbytes(12), aad, data, decrypt=bool(clocks & 1))
        for _ in range(clocks):
            await engine.tick()
        await erasure.stop(dut, dut.abort_i)
        engine.wipe()
        engine.kept = False
        assert not leaks.leaks(dut, erasure.message_pieces(message))
        await NextTimeStep()
        add(engine)
        await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def clear_takes_all(dut) -> None:
    """After a clear or reset at any clock no register of mae_gcm_iter holds anything."""
    for clocks in (3, 18, 30, 45, 70, 90, 120):
        for port, active in ((dut.clear_i, 1), (dut.rst_ni, 0)):
            engine = await begin(dut)
            for key in engine.keys:
                engine.key(key, random.randbytes(engine.sizes[-1]))
            iv, aad, data = random.randbytes(12), random.randbytes(20), random.randbytes(90)
            message = engine.message(0, iv, aad, data, decrypt=True)
            for _ in range(clocks + 2 * engine.banks):
                await engine.tick()
            secrets = set.union(*(erasure.key_pieces(key, 1) for key in engine.keys.values()))
            await ReadOnly()
            assert len(leaks.leaks(dut, secrets)) > 1
            await NextTimeStep()
            await erasure.stop(dut, port, active)
            left = leaks.leaks(dut, secrets | erasure.message_pieces(message))
            assert not left + leaks.registers_left(dut)
            await NextTimeStep()


@pytest.mark.parametrize("banks, length", [(4, 2), (1, 0)])
def test_gcm_iter(banks: int, length: int) -> None:
    """Builds mae_gcm_iter for four keys and for one AES-128 key and runs this file's tests."""
    parameters = {"KeyBanks": banks, "KeyLen": length}
    bench.run("mae_gcm_iter", parameters=parameters, visible=True)
