# SPDX-License-Identifier: Apache-2.0
"""Tests key records on mae_stream_card: keys in host memory, against OpenSSL.

Covers mae_dma_descriptor_feed, mae_dma_key_records and mae_key_write_merge in their place.
"""

import struct

import cocotb
import pytest
from cocotb.triggers import ClockCycles

from tests.device import oracle
from tests.device.card.test_stream_card import build
from tests.device.card_host import BASE, Card, Job
from tests.device.test_stream_card_gcm import message
from tests.dma.rings import RECORD, Status
from tests.support import bench
from tests.support.axi_memory import SLVERR

TABLE = BASE + 0x30000
RECORDS = 600  # more than bits 7:0 of a record's number can count
RECORD_BYTES = 64


def record(key: bytes, valid: bytes = b"MKEY", size: int | None = None) -> bytes:
    """Packs a key record as the card reads it."""
    return struct.pack("<32s4sI24x", key, valid, len(key) if size is None else size)


async def begin(dut, seed: int, **memory: object) -> Card:
    """Starts a stream card with a table of RECORDS random keys; the card's keys are the records."""
    card = await Card.begin(dut, seed, **memory)
    for index in range(RECORDS):
        card.keys[index] = card.random.randbytes(card.random.choice((16, 24, 32)))
        card.memory.write(TABLE + RECORD_BYTES * index, record(card.keys[index]))
    await set_table(card, TABLE, RECORDS)
    return card


async def set_table(card: Card, base: int, count: int) -> None:
    """Tells the stream card where its table of key records is."""
    await card.write("key_table_lo", base & 0xFFFFFFFF)
    await card.write("key_table_hi", base >> 32)
    await card.write("key_table_size", count)
    await settled(card)


async def settled(card: Card) -> None:
    """Waits until the stream card has forgotten the keys that it should forget."""
    while (await card.fields("key_records"))["busy"]:
        pass


async def forget(card: Card, index: int | None) -> None:
    """Lets the stream card forget one key record, or all."""
    await card.write("key_forget", record=index or 0, every=index is None, go=1)
    await settled(card)


def name(jobs: list[Job], index: int) -> list[Job]:
    """Changes descriptors so that they name a key record."""
    for job in jobs:
        job.desc.flags |= RECORD
        job.desc.key_slot, job.desc.record_high = index & 255, index >> 8
    return jobs


def sealed(card: Card, context: int, index: int, decrypt: bool, sizes) -> tuple[list[Job], bytes]:
    """Makes the jobs of a GCM message under the key of a record."""
    jobs, tag = message(card, context, index, decrypt, sizes)
    return name(jobs, index), tag


async def check(card: Card, lots: list[tuple[list[Job], bytes]]) -> None:
    """Runs GCM messages; asserts status, tag and data of each."""
    await card.submit([job for jobs, _ in lots for job in jobs])
    done = await card.finish()
    for jobs, tag in lots:
        for job in jobs:
            got = done[job.desc.cookie]
            assert got.status == Status.OK, (job.desc, got)
            for addr, count in job.dst:
                assert card.memory.read(addr, count) == job.answer
        if not jobs[-1].desc.flags & 1:
            assert done[jobs[-1].desc.cookie].tag == tag


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def one_record(dut) -> None:
    """mae_stream_card seals a GCM message under a record's key as OpenSSL does."""
    card = await begin(dut, 1)
    assert (await card.fields("key_records"))["slots"] == bench.parameters()["RecordSlots"]
    await check(card, [sealed(card, 0, 517, False, (12, 20, 333))])
    await check(card, [sealed(card, 1, 517, True, (12, 0, 64))])


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def many_records(dut) -> None:
    """Messages of one and more jobs, each under a random record's key, are as OpenSSL's."""
    card = await begin(dut, 2, latency=(50, 300), shuffle=True, stall=0.1)
    rng = card.random
    for _ in range(4):
        lots = []
        for context in range(card.contexts):
            sizes = rng.choice((12, 12, 16)), rng.choice((0, 30)), rng.randrange(1, 600)
            index = rng.choice((rng.randrange(RECORDS), rng.randrange(4)))
            lots.append(sealed(card, context, index, rng.random() < 0.5, sizes))
        await check(card, lots)


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def other_modes(dut) -> None:
    """ECB to CTR take a record's key beside jobs under the host's slots, as OpenSSL does."""
    card = await begin(dut, 3, latency=(50, 300), shuffle=True)
    rng, jobs = card.random, []
    slots = {}
    for slot in range(3):
        slots[slot] = rng.randbytes(16)
        assert await card.load_key(slot, slots[slot]) == 0
    for i in range(96):
        mode, decrypt, iv = oracle.MODES[i % 6], bool(i // 6 % 2), rng.randbytes(16)
        data, index = rng.randbytes(16 * rng.randrange(1, 20)), rng.randrange(RECORDS)
        where = {"context": rng.randrange(card.contexts), "iv": iv}
        if i % 4 == 0:
            slot = rng.randrange(3)
            answer = oracle.crypt(mode, decrypt, slots[slot], iv, data, b"")
            jobs.append(card.job(mode, decrypt, data, slot=slot, answer=answer, **where))
        else:
            jobs += name([card.job(mode, decrypt, data, slot=index, **where)], index)
    await card.run(jobs)


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def bad_records(dut) -> None:
    """A record that is invalid, unreadable or beyond the table fails its own job alone."""
    card = await begin(dut, 4, latency=(20, 200), shuffle=True)
    rng, want, jobs = card.random, {}, []
    bad = {
        10: record(bytes(16), b"MKEX"),
        11: record(bytes(16), size=17),
        12: record(rng.randbytes(32), size=16),
        13: record(rng.randbytes(32), size=24),
        14: record(bytes(16))[:-1] + b"\1",
        15: record(rng.randbytes(32), size=0),
        16: record(rng.randbytes(32), size=40),
    }
    for index, data in bad.items():
        card.memory.write(TABLE + RECORD_BYTES * index, data)
    at = TABLE + RECORD_BYTES * 17
    card.memory.fail(at, at + 1, SLVERR, write=False)
    for i in range(60):
        wrong = i % 3 == 0
        index = rng.choice((*bad, 17, RECORDS, 65535)) if wrong else rng.randrange(20, RECORDS)
        made = card.job("ctr", False, rng.randbytes(100), context=i % card.contexts,
                        iv=bytes(16), slot=index if index in card.keys else 0)  # fmt: skip
        jobs += name([made], index)
        if wrong:
            want[made.desc.cookie] = Status.KEY_RECORD
    await card.run(jobs, want)


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def bad_descriptors(dut) -> None:
    """Record slots are not the host's to name, and fields that do not fit are refused."""
    card = await begin(dut, 5)
    slots = bench.parameters()["KeySlots"]
    await check(card, [sealed(card, 0, i, False, (12, 0, 64)) for i in range(8)])
    changes = [
        ({"key_slot": slots}, Status.BAD_KEY),
        ({"key_slot": slots + 7}, Status.BAD_KEY),
        ({"record_high": 1}, Status.BAD_OP),
        ({"flags": 2 | 128}, Status.BAD_OP),
        ({"flags": 2 | RECORD | 128}, Status.BAD_OP),
        ({"flags": 2 | RECORD, "context": card.contexts}, Status.BAD_CONTEXT),
        ({"flags": 2 | RECORD, "op": 6, "tweak_slot": slots}, Status.BAD_KEY),
    ]
    jobs, want = [], {}
    for fields, status in changes:
        job = card.job("ctr", False, bytes(64), context=0, iv=bytes(16), slot=0)
        for field, value in fields.items():
            setattr(job.desc, field, value)
        jobs.append(job)
        want[job.desc.cookie] = status
    await card.run(jobs, want)
    assert await card.load_key(slots, bytes(16)) != 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def replaced_and_forgotten(dut) -> None:
    """A record that the host replaces and forgets gives the new key; a new table new keys."""
    card = await begin(dut, 6)
    rng = card.random
    for index in (0, 1, None):
        await check(card, [sealed(card, i, i, False, (12, 0, 80)) for i in range(3)])
        for i in range(3) if index is None else (index,):
            card.keys[i] = rng.randbytes(32)
            card.memory.write(TABLE + RECORD_BYTES * i, record(card.keys[i]))
        await forget(card, index)
        await check(card, [sealed(card, i, i, False, (12, 0, 80)) for i in range(3)])
    card.keys = dict(enumerate(list(card.keys.values())[100:200]))
    await set_table(card, TABLE + 100 * RECORD_BYTES, 100)
    await check(card, [sealed(card, i, i, False, (12, 0, 80)) for i in range(8)])
    late = name([card.job("ctr", False, bytes(64), context=0, iv=bytes(16))], 100)
    await card.run(late, {late[0].desc.cookie: Status.KEY_RECORD})


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def table_changes_at_work(dut) -> None:
    """A table that changes while descriptors wait gives each job the old key or the new one."""
    card = await begin(dut, 7, latency=(50, 300), shuffle=True)
    rng, lots = card.random, []
    other = TABLE + 300 * RECORD_BYTES
    for context in range(card.contexts):
        lots.append(sealed(card, context, rng.randrange(300), False, (12, 0, 200)))
    await card.submit([job for jobs, _ in lots for job in jobs])
    await ClockCycles(card.clk, rng.randrange(100, 600))
    await card.write("key_table_lo", other & 0xFFFFFFFF)
    done = await card.finish()
    old = 0
    for jobs, tag in lots:
        got = done[jobs[-1].desc.cookie]
        assert got.status == Status.OK
        old += got.tag == tag
    dut._log.info(f"{old} of {len(lots)} messages under the old table")
    await settled(card)
    card.keys = {i: card.keys[300 + i] for i in range(300)}
    await check(card, [sealed(card, i, i, False, (12, 0, 80)) for i in range(8)])


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def abort_and_wipe(dut) -> None:
    """An abort amid reads of records ends all jobs; a wipe forgets all keys; then it works."""
    card = await begin(dut, 8, latency=(100, 400), shuffle=True)
    rng = card.random
    for clocks in (30, 150, 420, 900):
        lots = [sealed(card, c, rng.randrange(RECORDS), False, (12, 0, 900))
                for c in range(card.contexts)]  # fmt: skip
        await card.submit([job for jobs, _ in lots for job in jobs])
        await ClockCycles(card.clk, clocks)
        await card.write("ctrl", enable=1, abort=1)
        done = await card.finish()
        assert {got.status for got in done.values()} <= {Status.OK, Status.ABORTED}
        while not (await card.fields("status"))["halted"]:
            pass
        await card.disable()
        await card.enable()
        await check(card, [sealed(card, i, i, False, (12, 0, 80)) for i in range(8)])
    await card.write("ctrl", wipe=1)
    while (await card.fields("status"))["wiping"] or (await card.fields("status"))["busy"]:
        pass
    await card.enable()
    await settled(card)
    await check(card, [sealed(card, i, i, False, (12, 0, 80)) for i in range(8)])


@pytest.mark.full
def test_key_records() -> None:
    """Builds mae_stream_card with few record slots, and runs this file's tests."""
    bench.run("mae_stream_card", parameters=build(1, 16, RecordSlots=6))
