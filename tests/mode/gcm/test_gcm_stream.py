# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_stream: data and tags against OpenSSL, aborts, and the clocks in its header.

Inside it: mae_gcm_msg_dispatch, mae_gcm_keystream, mae_gcm_part_sequencer, mae_gcm_tag_unit,
mae_gcm_fifo, mae_fifo_out_reg. Any lengths, both directions, all key and IV lengths, stalls
everywhere, keys that change, tags that are wrong, aborts at any clock; and the schedule: no lost
clock, key to ready, last data to tag.
"""

import itertools
import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.mode import gcm_oracle
from tests.mode.gcm.gcm_engine import ROUNDS, Engine
from tests.mode.ghash.test_ghash import power_clocks
from tests.support import bench


def any_length(row: int) -> int:
    """Returns a random length: zero, any, or close to a multiple of the row size."""
    kind = random.random()
    if kind < 0.25:
        return 0
    if kind < 0.6:
        return random.randrange(1, 2 * row + 2)
    return max(0, random.randrange(1, 7) * row + random.choice((-17, -16, -1, 0, 1, 15, 16)))


def any_iv() -> bytes:
    """Returns a random GCM IV, mostly of 12 bytes."""
    if random.random() < 0.7:
        return random.randbytes(12)
    return random.randbytes(random.choice((1, 8, 11, 13, 15, 16, 17, 31, 60, 64, 128, 300)))


def add(engine: Engine, bank: int, **options):
    """Queues a GCM message of random direction, IV, AAD and data for mae_gcm_stream."""
    options.setdefault("decrypt", random.random() < 0.5)
    if options["decrypt"]:
        options.setdefault("tamper", random.random() < 0.3)
        options.setdefault("tag_bytes", random.choice((4, 8, 12, 13, 14, 15, 16)))
    aad, data = any_length(engine.row), any_length(engine.row)
    return engine.message(bank, any_iv(), random.randbytes(aad), random.randbytes(data), **options)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def differential(dut) -> None:
    """mae_gcm_stream gives OpenSSL's results for messages of all shapes, with stalls."""
    engine = Engine(dut)
    await engine.reset()
    for stalls in (
        (0, 0, 0, 0),
        (0.3, 0.3, 0.3, 0.3),
        (0, 0.7, 0, 0),
        (0, 0, 0.9, 0),
        (0.7, 0, 0, 0),
    ):
        engine.stall_in, engine.stall_out, engine.stall_tag, engine.stall_msg = stalls
        for bank in range(engine.banks):
            engine.key(bank)
        for _ in range(60):
            if random.random() < 0.1:
                engine.key(engine.any_bank())
            add(engine, engine.any_bank())
        await engine.run()
    assert engine.done == 300


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def counter_wraps(dut) -> None:
    """mae_gcm_stream's counter wraps at 2^32 without a carry."""
    engine = Engine(dut)
    await engine.reset()
    engine.key(0, random.randbytes(16))
    h = gcm_oracle.hash_key(engine.keys[0])
    # J0 = (iv * H + length) * H for one block: solve for the iv by H's inverse.
    inverse, power = 1 << 127, h
    for _ in range(127):  # H^(2^128 - 2)
        power = gcm_oracle.multiply(power, power)
        inverse = gcm_oracle.multiply(inverse, power)
    assert gcm_oracle.multiply(h, inverse) == 1 << 127
    for low in (0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFA, 0xFFFFFFF0):
        wanted = random.getrandbits(96) << 32 | low
        block = gcm_oracle.multiply(gcm_oracle.multiply(wanted, inverse) ^ 128, inverse)
        iv = block.to_bytes(16, "big")
        assert int.from_bytes(gcm_oracle.first_counter(engine.keys[0], iv), "big") == wanted
        engine.message(0, iv, b"", random.randbytes(5 * engine.row - 3))
    await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def lengths_disagree(dut) -> None:
    """mae_gcm_stream rejects a message whose beats differ from its announced lengths."""
    engine = Engine(dut)
    await engine.reset()
    engine.key(0)
    for odd in ("short", "last", ""):
        for decrypt in (False, True):
            iv, data = random.randbytes(12), random.randbytes(engine.row * 2 + 5)
            engine.message(0, iv, b"a", data, decrypt=decrypt, odd=odd)
            engine.message(0, iv, data, b"", decrypt=decrypt, odd=odd)
            engine.message(0, random.randbytes(20), b"", b"", decrypt=decrypt, odd=odd)
    await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def ivs_in_a_row(dut) -> None:
    """mae_gcm_stream gives OpenSSL's results for successive IVs of other than 12 bytes."""
    engine = Engine(dut)
    await engine.reset()
    engine.key(0, random.randbytes(engine.sizes[-1]))
    engine.key(engine.banks - 1, random.randbytes(engine.sizes[0]))
    for number in range(60):
        bank = (0, engine.banks - 1)[number % 2]
        iv, aad = random.randbytes(random.randrange(1, 12)), bytes(random.randrange(2))
        engine.message(bank, iv, aad, bytes(random.randrange(2) * (number > 30)))
    await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def no_tag(dut) -> None:
    """mae_gcm_stream checks all bytes of each tag length and rejects an empty tag."""
    engine = Engine(dut)
    await engine.reset()
    engine.key(0)
    for size in range(17):
        options = {"decrypt": True, "tag_bytes": size}
        engine.message(0, random.randbytes(12), b"a", b"b", tamper=size == 0, **options)
        engine.message(0, random.randbytes(12), b"a", b"b", tamper=True, **options)
    await engine.run()


async def abort(dut, engine: Engine) -> list:
    """Pulses abort_i of mae_gcm_stream; returns the key loads that were not yet sent."""
    pending = [entry for entry in engine.plan if isinstance(entry, tuple)]
    dut.abort_i.value = 1
    dut.key_valid_i.value = dut.msg_valid_i.value = dut.in_valid_i.value = 0
    dut.out_ready_i.value = dut.tag_ready_i.value = 0
    await RisingEdge(dut.clk_i)
    dut.abort_i.value = 0
    engine.wipe()
    engine.kept = False
    return pending


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def aborts_while_h_is_made(dut) -> None:
    """An abort of mae_gcm_stream at any clock after a key load does not disturb H."""
    engine = Engine(dut)
    await engine.reset()
    for clocks in range(1, 60):
        engine.key(0)
        for _ in range(clocks):
            await engine.tick()
        engine.plan = await abort(dut, engine)
        add(engine, 0)
        await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def aborts(dut) -> None:
    """An abort of mae_gcm_stream drops messages but keeps keys; new messages are right."""
    engine = Engine(dut)
    await engine.reset()
    for bank in range(engine.banks):
        engine.key(bank)
    for number in range(40):
        engine.stall_in = engine.stall_out = engine.stall_tag = random.choice((0, 0.4))
        if number % 8 == 7:  # abort while H is on its way
            engine.key(0)
        for _ in range(random.randrange(1, 8)):
            add(engine, engine.any_bank())
        for _ in range(random.randrange(1, 60)):
            await engine.tick()
        if number % 4 == 2:  # abort while a beat waits at the output
            engine.message(engine.any_bank(), random.randbytes(12), b"", random.randbytes(16))
            engine.stall_out = 1
            while not int(dut.out_valid_o.value):
                await engine.tick()
        pending = await abort(dut, engine)
        engine.stall_out = engine.stall_tag  # as before
        for _ in range(random.randrange(1, 20)):
            await engine.tick()  # a beat or tag too many would be seen
        engine.plan = pending
        for _ in range(2):
            add(engine, engine.any_bank())
        await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def keeps_its_key(dut) -> None:
    """A new key of mae_gcm_stream waits for all messages in progress, however many it holds."""
    engine = Engine(dut)
    await engine.reset()
    depth = bench.parameters().get("MsgDepth", 32)
    for number in range(depth, depth + 4):
        engine.key(0)
        await engine.run()
        for _ in range(number):
            engine.message(0, random.randbytes(12), b"", random.randbytes(16))
        engine.key(0)
        engine.message(0, random.randbytes(12), b"", random.randbytes(16))
        engine.hold = 2 * depth + 200  # of beats: all messages that fit wait for theirs
        await engine.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def clears(dut) -> None:
    """After clear_i mae_gcm_stream accepts no message until a new key is loaded."""
    engine = Engine(dut)
    await engine.reset()
    engine.key(0)
    for _ in range(6):
        add(engine, 0)
    for _ in range(40):
        await engine.tick()
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0
    engine.wipe()
    engine.kept = False
    message = engine.message(0, bytes(12), b"", b"data")
    for _ in range(40):
        await engine.tick()
    assert "msg" not in message.clocks
    engine.wipe()
    engine.key(0)
    add(engine, 0)
    await engine.run()


async def key_to_ready(engine: Engine, size: int) -> int:
    """Returns mae_gcm_stream's clocks from a key load to the first output beat under it."""
    engine.key(0, random.randbytes(size))
    message = engine.message(0, random.randbytes(12), b"", random.randbytes(3 * engine.row))
    await engine.run()
    key = [clock for name, clock in engine.log if name == "key"][-1]
    # Of registered ports: the first beats wait in a register for the engine.
    return message.clocks["out"] - 1 - engine.one - key


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def schedule(dut) -> None:
    """mae_gcm_stream takes the stated clocks for keys, first beats and tags, for each key size."""
    engine = Engine(dut)
    await engine.reset()
    registered = engine.deep or engine.one
    for size in engine.sizes:
        rounds = ROUNDS[size] * engine.regs
        ready = await key_to_ready(engine, size)
        target = rounds + 2 * (2 * engine.lanes - 1).bit_length() + 1
        first_beat, tag = 4, 6
        if engine.deep:
            target = rounds + 4 + power_clocks(3 * engine.lanes)
            first_beat, tag = 7, 13
        if engine.small:
            target = rounds + 4 * engine.lanes + (engine.lanes == 1)
        if engine.one:
            target, first_beat, tag = target + 7, first_beat + 2, tag + 5
        target, first_beat = target + engine.cut, first_beat + engine.cut
        cocotb.log.info("lanes %d, key %d: ready in %d of %d", engine.lanes, size, ready, target)
        assert ready <= target

        engine.hold = registered * (rounds + 5) + engine.cut  # no beat waits
        message = engine.message(0, random.randbytes(12), b"", random.randbytes(engine.row))
        await engine.run()
        assert message.clocks["out"] - message.clocks["msg"] == rounds + first_beat + engine.small
        assert message.clocks["tag"] - message.clocks["last"] <= tag

        engine.key(engine.banks - 1, random.randbytes(size))
        engine.message(engine.banks - 1, random.randbytes(12), b"", b"")
        await engine.run()
        engine.lost = 0
        # The first one with beats is announced so far ahead, in the second clock.
        engine.hold = rounds + 5 + registered + engine.cut
        messages = []
        for beats in [
            *range(21),
            *(1 for _ in range(50)),
            *(2, 0, 3, 20, 0, 1, 20),
            *range(20, 0, -1),
        ]:
            aad = random.randrange(beats + 1) if beats else 0
            text = random.randbytes(max(0, (beats - aad) * engine.row - random.randrange(16)))
            more = random.randbytes(max(0, aad * engine.row - random.randrange(16)))
            messages.append(
                engine.message(
                    bank=random.choice((0, engine.banks - 1)),
                    iv=random.randbytes(12),
                    aad=more,
                    data=text,
                    decrypt=random.random() < 0.5,
                )
            )
        await engine.run()
        first, last = messages[1].clocks["first"], messages[-1].clocks["last"]
        cocotb.log.info("key %d: %d lost of %d clocks", size, engine.lost, last - first + 1)
        assert engine.lost <= engine.small * len(messages)
        # One tag a clock: that of an empty message may hold up the next one.
        for before, message in itertools.pairwise(messages):
            if "last" in message.clocks:
                # One multiplier: two beats may wait in registers of the port, a clock each.
                late = 2 * engine.one + ("last" not in before.clocks)
                # Without data no beat waits for the keystream: the tag alone waits for its mask.
                mask = message.clocks["msg"] + rounds + first_beat + engine.small
                assert message.clocks["tag"] <= max(message.clocks["last"] + tag + late, mask)


SLOW = [pytest.param(lanes, marks=pytest.mark.slow) for lanes in (2, 8, 10, 16)]
SLOW_SMALL = [pytest.param(*how, marks=pytest.mark.slow) for how in ((16, 0, 1), (2, 2, 2))]


@pytest.mark.parametrize("lanes", [1, 4, *SLOW])
def test_gcm_stream(lanes: int) -> None:
    """Builds mae_gcm_stream with several numbers of lanes and runs this file's tests."""
    bench.run("mae_gcm_stream", parameters={"Lanes": lanes, "KeyBanks": 2})


@pytest.mark.full
@pytest.mark.parametrize("lanes, longest, regs", [(1, 2, 1), (4, 0, 1), (3, 2, 1), *SLOW_SMALL])
def test_small(lanes: int, longest: int, regs: int) -> None:
    """Builds mae_gcm_stream for the fewest LUTs and runs this file's tests."""
    parameters = {"Lanes": lanes, "KeyBanks": 1, "MaxKeyLen": longest, "RegsPerRound": regs}
    bench.run("mae_gcm_stream", parameters=parameters | {"Small": 1, "MsgDepth": 16 * regs})


@pytest.mark.full
@pytest.mark.parametrize("lanes, longest, regs, one", [(4, 0, 1, 0), (3, 2, 1, 0), (1, 0, 2, 1)])
def test_small_rom(lanes: int, longest: int, regs: int, one: int) -> None:
    """Builds mae_gcm_stream with S-boxes in ROMs, one lane with one multiplier; runs the tests."""
    parameters = {"Lanes": lanes, "KeyBanks": 1, "MaxKeyLen": longest, "RegsPerRound": regs}
    parameters |= {"Small": 1, "RomSboxes": 1, "OneMul": one, "MsgDepth": 16 * regs}
    bench.run("mae_gcm_stream", parameters=parameters)


@pytest.mark.full
@pytest.mark.parametrize("banks, longest", [(1, 0), (4, 1)])
def test_banks(banks: int, longest: int) -> None:
    """Builds mae_gcm_stream with one and four key banks and runs this file's tests."""
    parameters = {"Lanes": 3, "KeyBanks": banks, "MaxKeyLen": longest}
    bench.run("mae_gcm_stream", parameters=parameters)


DEEP = [
    (4, 0, 2, 48),
    *(
        pytest.param(*p, marks=pytest.mark.slow)
        for p in ((1, 0, 3, 64), (3, 2, 1, 48), (10, 1, 2, 64))
    ),
]


@pytest.mark.parametrize("lanes, longest, regs, depth", DEEP)
@pytest.mark.full
def test_deep(lanes: int, longest: int, regs: int, depth: int) -> None:
    """Builds mae_gcm_stream with all pipeline registers and runs this file's tests."""
    parameters = {"Lanes": lanes, "KeyBanks": 2, "MaxKeyLen": longest, "MsgDepth": depth}
    parameters |= {"RegsPerRound": regs, "Deep": 1}
    bench.run("mae_gcm_stream", parameters=parameters)


@pytest.mark.full
def test_shallow() -> None:
    """Builds mae_gcm_stream with output registers that hold more messages than its FIFOs."""
    parameters = {"Lanes": 1, "KeyBanks": 1, "MaxKeyLen": 0, "MsgDepth": 3, "Deep": 1}
    bench.run("mae_gcm_stream", parameters=parameters, test_filter="keeps_its_key")
