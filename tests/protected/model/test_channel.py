# SPDX-License-Identifier: Apache-2.0
"""Tests the protocol rules of docs/protocol.md on the model of host and device, without attacks."""

import pytest

from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import Class, Kind, State, Status
from maeslant.protected.model.host import (
    GivenUpError,
    Host,
    MisuseError,
    PoisonedError,
    RefusedError,
)
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.link import Link
from maeslant.protected.model.workload import octets
from tests.protected.model.pair import Pair, place, start


@pytest.fixture
def pair() -> Pair:
    """Opens a protected session between the model's host and device."""
    return Pair().opened()


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        (0, bytes(16), Status.KIND),
        (8, bytes(16), Status.KIND),
        (Kind.OPEN, bytes(16), Status.STATE),
        (Kind.REKEY, bytes(32), Status.LENGTH),
        (Kind.H2D, bytes(48), Status.LENGTH),
        (Kind.D2H, bytes(80), Status.LENGTH),
        (Kind.SKIP, b"\1" + bytes(15), Status.BODY),
        (Kind.BATCH, wire.Operation(1, 2, card.STATUS, 0, 1).pack(), Status.BODY),
        (Kind.BATCH, wire.Operation(0).pack(), Status.OPERATION),
        (Kind.BATCH, wire.Operation(4).pack(), Status.OPERATION),
        (Kind.BATCH, wire.Operation(1, 1, 0x40).pack(), Status.OPERATION),
        (Kind.BATCH, wire.Operation(1, 4, 0x40).pack(), Status.OPERATION),
        (Kind.BATCH, wire.Operation(1, 2, 0x42).pack(), Status.OPERATION),
        (Kind.BATCH, wire.Operation(1, 3, 0x44).pack(), Status.OPERATION),
        (Kind.BATCH, wire.Operation(1, 2, 0x40, 1).pack(), Status.OPERATION),
        (Kind.BATCH, wire.Operation(2, 2, 0x40, 1 << 32).pack(), Status.OPERATION),
        (Kind.BATCH, wire.read(0x80).pack(), Status.OFFSET),
        (Kind.BATCH, wire.read(card.CONTROL).pack(), Status.OFFSET),
        (Kind.BATCH, wire.write(card.RUNS, 0, 8).pack(), Status.OFFSET),
        (Kind.BATCH, wire.wait(3, 1).pack(), Status.WAIT),
        (Kind.BATCH, wire.wait(1, 0).pack(), Status.WAIT),
        (Kind.BATCH, wire.wait(0, 2).pack(), Status.WAIT),
        (Kind.H2D, place(length=0), Status.RANGE),
        (Kind.H2D, place(length=1 << 15, total=1 << 15), Status.RANGE),
        (Kind.H2D, place(total=0), Status.RANGE),
        (Kind.H2D, place(total=1 << 15), Status.RANGE),
        (Kind.H2D, place(base=32, address=32), Status.RANGE),
        (Kind.H2D, place(base=64), Status.RANGE),
        (Kind.H2D, place(length=100), Status.RANGE),
        (Kind.H2D, place(length=320), Status.RANGE),
        (Kind.H2D, place(host=Link.BASE + 1), Status.RANGE),
        (Kind.H2D, place(host=(1 << 64) - 64), Status.RANGE),
        (Kind.H2D, place(address=128, index=0), Status.RANGE),
        (Kind.H2D, place(address=0, index=1), Status.RANGE),
        (Kind.H2D, place(base=(1 << 64) - 64, address=(1 << 64) - 64), Status.RANGE),
        (Kind.D2H, place(address=128, index=1), Status.ORDER),
        (Kind.D2H, place()[:63] + b"\1", Status.BODY),
    ],
)
def test_authentic_but_illegal_requests_are_refused(pair, kind, body, status):
    """The device model answers authentic but illegal requests with a sealed refusal (H5)."""
    assert pair.raw(0, kind, body) == status
    assert not any(pair.device.memory.data) and not pair.device.memory.regions
    assert pair.host.read_values(pair.host.batch(0, [wire.read(card.RUNS, 8)])) == [0]


def test_before_open_everything_else_is_refused():
    """Before OPEN the device model refuses other requests, and OPEN on any queue but 0."""
    pair = Pair()
    assert pair.raw(0, Kind.BATCH, wire.read(card.STATUS).pack()) == Status.STATE
    assert pair.raw(1, Kind.OPEN, bytes(16)) == Status.STATE
    assert pair.device.state == State.KEYED
    pair.opened()
    assert pair.device.state == State.RUN


def test_a_batch_is_checked_whole_before_its_first_operation(pair):
    """The device model runs no operation of a batch whose second operation is illegal (H7)."""
    job = pair.host.batch(0, [wire.write(card.SCRATCH, 7), wire.read(0x80)])
    with pytest.raises(RefusedError) as refused:
        pair.host.wait(job)
    assert (refused.value.executed, refused.value.value) == (0, 1)
    assert pair.host.read_values(pair.host.batch(0, [wire.read(card.SCRATCH)])) == [0]


def test_widths_and_bytes_of_registers(pair):
    """A 32-bit read of a 64-bit card register returns its low half, and a 64-bit read all (H19)."""
    host = pair.host
    host.wait(host.batch(0, [wire.write(card.SCRATCH, 0x1122334455667788, 8)]))
    values = host.read_values(host.batch(0, [wire.read(card.SCRATCH), wire.read(card.SCRATCH, 8)]))
    assert values == [0x55667788, 0x1122334455667788]


@pytest.mark.parametrize("length", [1, 63, 64, 65, 200, 4096, 4097, 9001])
@pytest.mark.parametrize("chunk", [64, 4096, 0])
def test_transfers_of_any_length(pair, length, chunk):
    """The model transfers data of any length to the device and back in chunks (D1, D3, H17)."""
    if length > 60 * (chunk or 1 << 14):
        pytest.skip("more chunks than slots")
    data = octets(f"{length}", length)
    pair.host.wait(pair.host.h2d(1, 0x80, data, chunk))
    assert pair.host.wait(pair.host.d2h(2, 0x80, length, chunk)) == data
    assert pair.device.memory.data[0x80 : 0x80 + length] == data
    assert not pair.device.memory.regions


def test_regions_that_meet_are_refused(pair):
    """The device model refuses overlapping regions, except two of d2h transfers (H8)."""
    host = pair.host
    pair.link.allocate(0)
    waiting = host.d2h(1, 0, 100, after=1)
    for _ in range(8):
        host.pump()
    for base in (0, 64):
        with pytest.raises(RefusedError, match="REGION"):
            host.wait(host.h2d(2, base, b"x"))
    host.wait(host.d2h(2, 64, 64))
    host.wait(host.h2d(2, 128, b"x"))
    host.wait(host.batch(0, start(0x200, 0x240, 1)))
    assert host.wait(waiting) == bytes(100)


def test_the_kernel_may_not_touch_what_is_not_verified(pair):
    """A kernel read of data whose tag is not yet verified faults; later requests fail (H8, H16)."""
    host = pair.host
    up = host.h2d(1, 0, octets("slow", 8192), 4096)
    pair.until_locked()
    run = host.batch(0, start(0, 0x2000, 64))
    down = host.d2h(2, 0x2000, 64, after=1)
    host.wait(up)
    host.wait(run)
    with pytest.raises(RefusedError, match="AFTER"):
        host.wait(down)
    values = host.read_values(host.batch(0, [wire.read(card.STATUS), wire.read(card.RUNS, 8)]))
    assert values == [card.FAULT, 0]
    assert not any(pair.device.memory.data[0x2000:])


def test_the_kernel_may_not_write_what_is_being_read(pair):
    """The device model's kernel cannot write a region before the region is fully read (H8)."""
    host = pair.host
    down = host.d2h(1, 0, 4096)
    pair.until_locked()
    host.wait(host.batch(0, start(0x2000, 0, 64)))
    assert host.wait(down) == bytes(4096)
    assert pair.device.kernel.fault


def test_wait_holds_until_the_answer(pair):
    """A WAIT operation holds its batch until the named request is answered (H16)."""
    host = pair.host
    run = host.batch(0, [wire.wait(1, 2), *start(0, 0x1000, 64)])
    for _ in range(30):
        host.pump()
    assert not run.done
    up = host.h2d(1, 0, octets("w", 128), 64)
    host.wait(run)
    assert up.done
    assert host.wait(host.d2h(2, 0x1000, 64, after=1)) == octets("w", 128)[:64].translate(
        card.TABLE
    )


def test_wait_for_what_was_refused_fails(pair):
    """The device model fails a batch that waits for a refused transfer and starts no run (H16)."""
    host = pair.host
    sequence = host._begin(1, Kind.H2D, 64, 64)
    host._seal(1, Kind.H2D, sequence, place(total=0))
    run = host.batch(0, [wire.write(card.SCRATCH, 1), wire.wait(1, 1), *start(0, 64, 1)])
    with pytest.raises(RefusedError, match="WAIT") as refused:
        host.wait(run)
    assert (refused.value.executed, refused.value.value) == (1, 1)
    assert pair.device.kernel.runs == 0 and not pair.device.kernel.busy


def test_wait_for_a_skipped_number_fails(pair):
    """The device model fails a batch that waits for a skipped request (H11, H16)."""
    host = pair.host
    with pytest.raises(GivenUpError):
        host.wait(host.h2d(1, 0, octets("given up", 64), give_up=0))
    with pytest.raises(RefusedError, match="WAIT"):
        host.wait(host.batch(0, [wire.wait(1, 1), *start(0, 64, 1)]))
    assert pair.device.kernel.runs == 0


def test_no_more_transfers_than_regions(pair):
    """The host model opens no more transfers than memory regions; the device refuses more (H8)."""
    host = pair.host
    for queue, count in ((0, 4), (1, 4), (2, 4)):
        for index in range(count):
            host.d2h(queue, 0x400 * (4 * queue + index), 64, after=1)
    with pytest.raises(MisuseError, match="transfers"):
        host.d2h(2, 0x3000, 64)


def test_the_device_refuses_a_transfer_without_a_lock(pair):
    """The device model refuses a transfer if all its region locks are in use (H8)."""
    pair.device.memory.locks = 1
    pair.host.d2h(1, 0, 64, after=1)
    pair.drain()
    with pytest.raises(RefusedError, match="REGION"):
        pair.host.wait(pair.host.d2h(2, 64, 64))


def test_runs_follow_one_another_by_wait(pair):
    """Batches with WAIT run two kernel jobs in order, each on the result before (H16)."""
    host = pair.host
    host.wait(host.h2d(1, 0, octets("runs", 640)))
    jobs = [
        host.batch(0, [wire.wait_runs(0), *start(0, 0x1000, 640)]),
        host.batch(0, [wire.wait_runs(1), *start(0x1000, 0x2000, 640)]),
    ]
    down = host.d2h(2, 0x2000, 640, after=2)
    want = octets("runs", 640).translate(card.TABLE).translate(card.TABLE)
    assert host.wait(down) == want
    assert all(job.done for job in jobs)


def test_a_run_under_way_cannot_be_changed(pair):
    """A batch that writes a kernel register during a run ends the session with ACCESS (H16)."""
    host = pair.host
    host.wait(host.batch(0, start(0, 0x1000, 4096)))
    with pytest.raises(PoisonedError, match="ACCESS"):
        host.wait(host.batch(0, [wire.write(card.SOURCE, 64, 8)]))
    assert pair.device.state == State.DEAD


def test_waiting_for_a_run_that_fails_fails(pair):
    """The device model fails a batch that waits for a kernel run with a fault (H16)."""
    host = pair.host
    host.wait(host.batch(0, start(1 << 14, 0, 64)))
    with pytest.raises(RefusedError, match="AFTER") as refused:
        host.wait(host.batch(0, [wire.read(card.STATUS), wire.wait_runs(1)]))
    assert refused.value.executed == 1


def test_numbers_of_another_session_do_not_count(pair):
    """The host model clears its slots at OPEN, so that old response numbers have no effect."""
    link = pair.link
    pair.host.wait(pair.host.close())
    link.memory[:] = bytes(range(1, 255)) * (len(link.memory) // 254) + bytes(
        len(link.memory) % 254
    )
    link.free = link.BASE
    for slot in range(3 * 64):
        link.memory[1024 * slot : 1024 * slot + 8] = (slot % 64).to_bytes(8, "big")
    host = Host(link, octets("t", 32), octets("j", 16), octets("m", 32), 1 << 20, timeout=60)
    assert pair.device.install(octets("t", 32), octets("j", 16))
    host.wait(host.open())
    host.wait(host.close())


def test_capabilities_in_their_word():
    """The capability word packs and unpacks each field; illegal values are recognized."""
    word = Capabilities(3, 5, 13, 32, 17, 1, 6, 9).word()
    assert word == 0x01_03_05_0D_20_11_06_09
    assert Capabilities.unpack(word).word() == word
    assert Capabilities.unpack(word).legal()
    for bit in (57, 8, 0, 1, 55, 47, 36, 31, 22):
        other = Capabilities.unpack(word ^ 1 << bit)
        assert other.legal() == (bit in (0, 1))


def test_wait_remembers_64_outcomes(pair):
    """The device model's WAIT knows the last 64 answers of a queue and refuses older numbers."""
    host = pair.host
    for _ in range(65):
        host.wait(host.batch(1, [wire.read(card.STATUS)]))
    host.wait(host.batch(0, [wire.wait(1, 2)]))
    with pytest.raises(RefusedError, match="WAIT"):
        host.wait(host.batch(0, [wire.wait(1, 1)]))


def test_what_is_given_up_is_scrubbed(pair):
    """The model replaces an abandoned chunk's request by SKIP, which frees its region (H11)."""
    host = pair.host
    host.wait(host.h2d(1, 0, octets("before", 256)))
    with pytest.raises(GivenUpError):
        host.wait(host.h2d(1, 0, octets("given up", 250), 64, give_up=2))
    assert not any(pair.device.memory.data[:256])
    host.wait(host.h2d(1, 0, octets("after", 256)))


def test_a_refused_chunk_gives_its_transfer_up(pair):
    """The device model aborts a transfer at a chunk out of order and zeroes its earlier data."""
    host = pair.host
    job = host.h2d(1, 0, octets("gap", 256), 64)
    host.channels[1].unsent[1].message = b""  # replaced below
    second = host.channels[1].unsent[1]
    body = wire.Transfer.unpack(second.body)
    wrong = wire.Transfer(128, 64, 2, 0, 256, body.host, 0, body.tag).pack()
    key = host.keys.get(Class.REQUEST, 0)
    second.message = key.seal_message(1, Kind.H2D, second.sequence, wrong)
    with pytest.raises(RefusedError):
        host.wait(job)
    pair.drain()
    statuses = [request.response.status for request in job.requests]
    assert statuses[0] in (Status.OK, Status.ABORTED)
    assert statuses[1:] == [Status.ORDER] * 3
    assert not any(pair.device.memory.data[:256]) and not pair.device.memory.regions


def test_writes_to_a_busy_mailbox_are_dropped(pair):
    """The device model drops writes to a busy mailbox and keeps no data of them (H7)."""
    waiting = pair.host.batch(1, [wire.wait(0, 2)])
    for _ in range(4):
        pair.host.pump()
    pair.link.mmio_write(0x2000, b"\xff" * 0x420)
    pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))
    pair.host.wait(waiting)
    assert b"\xff" * 64 not in pair.device.queues[1].mailbox


def test_a_part_of_a_word_is_not_taken(pair):
    """The device model's mailbox ignores writes that are no whole 32-bit word."""
    pair.link.mmio_write(0x1000, b"\xff" * 3)
    pair.link.mmio_write(0x1002, b"\xff" * 4)
    assert pair.device.queues[0].mailbox[:1] == b"\x01"


def test_a_second_transfer_on_a_queue_is_refused(pair):
    """The device model refuses a second transfer on a busy queue and aborts the first."""
    assert pair.raw(1, Kind.D2H, place()) == Status.OK
    assert pair.raw(1, Kind.D2H, place(base=0x400, address=0x400)) == Status.ORDER
    assert pair.device.queues[1].open is None and not pair.device.memory.regions
