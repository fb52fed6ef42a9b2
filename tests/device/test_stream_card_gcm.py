# SPDX-License-Identifier: Apache-2.0
"""Tests GCM on mae_stream_card: messages through the rings, memory after wrong tags and aborts."""

import struct

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.device.card.test_stream_card import SMALL, build
from tests.device.card_host import DATA as FIRST
from tests.device.card_host import DECRYPT, LISTS, Card, Job
from tests.dma.rings import FINAL, INIT, Status
from tests.support import bench

GCM = 8
DATA, AAD, IV = 0, 1, 2


def part(card: Card, data: bytes, context: int, phase: int, answer: bytes, **fields) -> Job:
    """Makes one job (IV, AAD or data) of a GCM message for the stream card."""
    parts = fields.pop("parts", (0, 0))
    in_place = fields.pop("in_place", False)
    flags = fields.pop("flags", 0)
    decrypt = bool(flags & DECRYPT)
    job = card.job("gcm", decrypt, data, context=context, slot=fields.pop("slot"), parts=parts,
                   in_place=in_place, flags=flags, answer=answer)  # fmt: skip
    job.desc.op, job.desc.phase = GCM, phase
    for name, value in fields.items():
        setattr(job.desc, name, value)
    if phase != DATA:
        job.dst, job.answer, job.desc.dst = [], b"", 0
    return job


def message(
    card: Card,
    context: int,
    slot: int,
    decrypt: bool,
    sizes: tuple[int, int, int],
    *,
    tampered: bool = False,
    parts: tuple[int, int] = (0, 0),
    in_place: bool = False,
) -> tuple[list[Job], bytes]:
    """Makes the jobs of a GCM message of given sizes for the stream card; returns its tag too."""
    iv, aad, plain = (card.random.randbytes(n) for n in sizes)
    sealed = AESGCM(card.keys[slot]).encrypt(iv, plain, aad)
    cipher, tag = sealed[:-16], sealed[-16:]
    data, answer = (cipher, plain) if decrypt else (plain, cipher)
    both = DECRYPT * decrypt
    jobs = []
    if len(iv) != 12:
        jobs.append(part(card, iv, context, IV, b"", slot=slot, flags=both | INIT))
    if aad:
        jobs.append(part(card, aad, context, AAD, b"", slot=slot, flags=both))
    end = part(card, data, context, DATA, answer, slot=slot, flags=both | FINAL, parts=parts,
               in_place=in_place)  # fmt: skip
    jobs.append(end)
    if len(iv) == 12:
        jobs[0].desc.flags |= INIT
        jobs[0].desc.nonce = iv
    if decrypt:
        wrong = bytearray(tag)
        if tampered:
            wrong[card.random.randrange(16)] ^= 1 << card.random.randrange(8)
            end.answer = bytes(len(data))  # what is left of it
        end.desc.iv, end.desc.tag_bytes = bytes(wrong), 16
    return jobs, tag


async def carry_out(card: Card, lots: list[tuple[list[Job], bytes, bool]]) -> None:
    """Runs GCM messages on the stream card at once; asserts status, tag and host memory."""
    image = bytearray(card.memory.data)
    jobs = [job for parts, _, _ in lots for job in parts]
    await card.submit(jobs)
    done = await card.finish()
    for parts, tag, tampered in lots:
        for job in parts:
            got, last = done[job.desc.cookie], job is parts[-1]
            bad = tampered and last
            assert got.status == (Status.BAD_TAG if bad else Status.OK), (job.desc, got)
            sealed = last and not job.desc.flags & DECRYPT
            assert got.tag == (tag if sealed else bytes(16)), job.desc
            at = 0
            for addr, count in job.dst:
                place = slice(addr - card.memory.base, addr - card.memory.base + count)
                image[place] = job.answer[at : at + count]
                at += count
    card.forget_rings(image)
    assert image == card.memory.data


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def messages(dut) -> None:
    """mae_stream_card runs GCM messages in all contexts right and reports tampered ones."""
    card = await Card.begin(dut, 1, latency=(20, 120), shuffle=True)
    rng = card.random
    for slot, size in enumerate((16, 24, 32)):
        await card.key(slot, size)
    for _ in range(3):
        lots = []
        for context in range(min(card.contexts, 16)):
            decrypt, iv = rng.random() < 0.6, 12 if rng.random() < 0.7 else rng.randint(8, 40)
            tampered = decrypt and rng.random() < 0.5
            sizes = (iv, rng.choice((0, rng.randint(1, 90))), rng.choice((0, rng.randint(1, 900))))
            in_place = rng.random() < 0.3
            cut = (0, 0)
            if sizes[2] and rng.random() < 0.4:
                cut = (
                    (rng.randint(1, 4),) * 2 if in_place else (rng.randint(0, 4), rng.randint(0, 4))
                )
            made, tag = message(card, context, rng.randrange(3), decrypt, sizes,
                                tampered=tampered, parts=cut, in_place=in_place)  # fmt: skip
            lots.append((made, tag, tampered))
        await carry_out(card, lots)


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def nothing_before_the_verdict(dut) -> None:
    """When mae_stream_card reports a wrong tag, the destination in memory holds no plaintext."""
    card = await Card.begin(dut, 2, latency=(100, 300), shuffle=True, stall=0.2)
    await card.key(0, 16)
    made, tag = message(card, 0, 0, True, (12, 16, 5000), tampered=True, parts=(0, 3))
    lots = [(made, tag, True)]
    for context in range(1, 4):
        lots.append((*message(card, context, 0, context % 2 == 0, (12, 0, 2000)), False))
    await carry_out(card, lots)


def found(card: Card, job: Job) -> bytes:
    """Returns the bytes that are now in a job's destination."""
    return b"".join(card.memory.read(addr, count) for addr, count in job.dst)


def read_whole(card: Card, job: Job) -> bool:
    """Returns true if the stream card has asked for every byte of a job's source."""
    pieces = [(job.desc.src, job.desc.length)]
    if job.desc.src_entries:
        entries = card.memory.read(job.desc.src, 16 * job.desc.src_entries)
        pieces = [(addr, count) for addr, count, _ in struct.iter_unpack("<QII", entries)]
    width, log = card.memory.bytes, card.memory.read_log
    asked = {addr // width + i for addr, beats in log for i in range(beats)}
    return all(at // width in asked for addr, count in pieces for at in range(addr, addr + count))


async def abort(card: Card, jobs: list[Job], wait: int) -> dict[int, Status]:
    """Aborts jobs ``wait`` clocks after their submission; returns statuses by cookie."""
    card.memory.read_log.clear()
    await card.submit(jobs)
    await ClockCycles(card.clk, wait)
    await card.write("ctrl", enable=1, abort=1)
    while not (await card.fields("status"))["halted"]:
        pass
    card.sent = await card.read("comp_tail")
    done = {cookie: one.status for cookie, one in (await card.finish()).items()}
    await card.disable()
    await card.enable()
    return done


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def abort_at_any_time(dut) -> None:
    """An abort at any time leaves no plaintext in a destination that was not verified.

    What was written stays after an abort only if the tag of the whole message was right.
    """
    card = await Card.begin(dut, 3, latency=(10, 60), shuffle=True)
    await card.key(0, 16)
    seen: set[tuple[bool, Status | None, bool]] = set()
    for turn in range(72):
        card.next_list, card.next_data = LISTS, FIRST
        old: list[tuple[Job, bool, bytes]] = []
        for context in range(2):
            tampered = (turn // 3 + context) % 2 == 0
            parts = turn % 3 * 9, turn % 4 * 7
            (job,), _ = message(
                card, context, 0, True, (12, 0, 700), tampered=tampered, parts=parts
            )
            old.append((job, tampered, found(card, job)))
        done = await abort(card, [job for job, _, _ in old], 7 * turn)
        for job, tampered, before in old:
            now, status = found(card, job), done.get(job.desc.cookie)
            untouched = all(new in (0, was) for new, was in zip(now, before, strict=True))
            if status == Status.OK:
                assert not tampered and now == job.answer
            elif not untouched:
                assert not tampered and read_whole(card, job), "plaintext that was not verified"
            if status == Status.BAD_TAG:
                assert tampered and not any(now)
            if status is None:
                assert now == before, "a job that was not begun"
            seen.add((tampered, status, any(now)))
    wanted = {(False, Status.OK, True), (True, Status.BAD_TAG, False)}
    wanted |= {
        (tampered, Status.ABORTED, full) for tampered in (False, True) for full in (False, True)
    }
    assert wanted <= seen, seen


@pytest.mark.parametrize("more", [{}, SMALL], ids=["stream", "fpga"])
@pytest.mark.parametrize("lanes", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_stream_card_gcm(lanes: int, more: dict[str, int]) -> None:
    """Builds mae_stream_card with one and more lanes and runs this file's tests."""
    bench.run(
        "mae_stream_card", parameters=build(lanes, 15 * lanes if more else 16 * lanes, **more)
    )
