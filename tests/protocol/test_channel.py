# SPDX-License-Identifier: Apache-2.0
"""The two ends with an honest bus: rules of docs/protocol.md, one by one, by requirement."""

import pytest

from maeslant.protocol import card, wire
from maeslant.protocol.constants import LAST_EPOCH, Cause, Class, Kind, State, Status
from maeslant.protocol.device import Device
from maeslant.protocol.host import (
    GivenUpError,
    Host,
    MisuseError,
    PoisonedError,
    RefusedError,
)
from maeslant.protocol.keys import BudgetError, Capabilities
from maeslant.protocol.link import Link
from maeslant.protocol.workload import octets

CAPABILITIES = Capabilities(queues=3, depth=4, log2_chunk=14, operations=16, log2_memory=14)


class Pair:
    """A host and a device after OPEN."""

    def __init__(self, **limits: int) -> None:
        self.device = Device(CAPABILITIES, limit=limits.get("device", 1 << 30))
        self.link = self.device.bus = Link(self.device, 1 << 21)
        self.host = Host(
            self.link,
            octets("s", 32),
            octets("i", 16),
            octets("n", 32),
            limits.get("host", 1 << 29),
            timeout=60,
        )
        assert self.device.install(octets("s", 32), octets("i", 16))

    def opened(self) -> "Pair":
        """Send OPEN."""
        self.host.wait(self.host.open())
        return self

    def settle(self) -> None:
        """Until nothing is unanswered."""
        for _ in range(500):
            self.host.pump()

    def raw(self, queue: int, kind: int, body: bytes) -> Status:
        """Seal what the host would not, and give the status of the answer."""
        sequence = self.host._begin(queue, Kind.BATCH, len(body))
        return self.status(self.host._seal(queue, kind, sequence, body))

    def status(self, request) -> Status:
        """Of the answer to a request."""
        self.settle()
        assert request.response, request.error
        return Status(request.response.status)


@pytest.fixture
def pair() -> Pair:
    """Both ends."""
    return Pair().opened()


def place(**fields: int) -> bytes:
    """The body of a legal chunk, but for some fields."""
    base = {"address": 0, "length": 128, "index": 0, "base": 0, "total": 256, "host": Link.BASE}
    return wire.Transfer(**(base | fields)).pack()


def start(source: int, destination: int, length: int) -> list[wire.Operation]:
    """A run of the kernel."""
    return [
        wire.write(card.SOURCE, source, 8),
        wire.write(card.DESTINATION, destination, 8),
        wire.write(card.LENGTH, length, 8),
        wire.write(card.CONTROL, 1),
    ]


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
    """H5: an authenticated refusal, and the session goes on."""
    assert pair.raw(0, kind, body) == status
    assert not any(pair.device.memory.data) and not pair.device.memory.regions
    assert pair.host.read_values(pair.host.batch(0, [wire.read(card.RUNS, 8)])) == [0]


def test_before_open_everything_else_is_refused():
    """Section 5: KEYED takes OPEN on queue 0."""
    pair = Pair()
    assert pair.raw(0, Kind.BATCH, wire.read(card.STATUS).pack()) == Status.STATE
    assert pair.raw(1, Kind.OPEN, bytes(16)) == Status.STATE
    assert pair.device.state == State.KEYED
    pair.opened()
    assert pair.device.state == State.RUN


def test_a_batch_is_checked_whole_before_its_first_operation(pair):
    """H7."""
    job = pair.host.batch(0, [wire.write(card.SCRATCH, 7), wire.read(0x80)])
    with pytest.raises(RefusedError) as refused:
        pair.host.wait(job)
    assert (refused.value.executed, refused.value.value) == (0, 1)
    assert pair.host.read_values(pair.host.batch(0, [wire.read(card.SCRATCH)])) == [0]


def test_widths_and_bytes_of_registers(pair):
    """H19: what is outside the width is zero, on the way in and out."""
    host = pair.host
    host.wait(host.batch(0, [wire.write(card.SCRATCH, 0x1122334455667788, 8)]))
    values = host.read_values(host.batch(0, [wire.read(card.SCRATCH), wire.read(card.SCRATCH, 8)]))
    assert values == [0x55667788, 0x1122334455667788]


@pytest.mark.parametrize("length", [1, 63, 64, 65, 200, 4096, 4097, 9001])
@pytest.mark.parametrize("chunk", [64, 4096, 0])
def test_transfers_of_any_length(pair, length, chunk):
    """There and back, chunk by chunk (D1, D3, H17)."""
    if length > 60 * (chunk or 1 << 14):
        pytest.skip("more chunks than slots")
    data = octets(f"{length}", length)
    pair.host.wait(pair.host.h2d(1, 0x80, data, chunk))
    assert pair.host.wait(pair.host.d2h(2, 0x80, length, chunk)) == data
    assert pair.device.memory.data[0x80 : 0x80 + length] == data
    assert not pair.device.memory.regions


def test_regions_that_meet_are_refused(pair):
    """H8: in either order, by granule; two outward ones may meet."""
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
    """H8: a fault, no value, and the run is not counted; what waits for it is refused (H16)."""
    host = pair.host
    up = host.h2d(1, 0, octets("slow", 8192), 4096)
    while not any(region.locked for region in pair.device.memory.regions):
        host.pump()
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
    """H8: a read lock to the last write response."""
    host = pair.host
    down = host.d2h(1, 0, 4096)
    while not pair.device.memory.regions or not pair.device.memory.regions[0].locked:
        host.pump()
    host.wait(host.batch(0, start(0x2000, 0, 64)))
    assert host.wait(down) == bytes(4096)
    assert pair.device.kernel.fault


def test_wait_holds_until_the_answer(pair):
    """H16: also for a request that has not come yet."""
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
    """H16: the kernel does not start on a region that was given up."""
    host = pair.host
    sequence = host._begin(1, Kind.H2D, 64, 64)
    host._seal(1, Kind.H2D, sequence, place(total=0))
    run = host.batch(0, [wire.write(card.SCRATCH, 1), wire.wait(1, 1), *start(0, 64, 1)])
    with pytest.raises(RefusedError, match="WAIT") as refused:
        host.wait(run)
    assert (refused.value.executed, refused.value.value) == (1, 1)
    assert pair.device.kernel.runs == 0 and not pair.device.kernel.busy


def test_wait_for_a_skipped_number_fails(pair):
    """H11, H16: SKIP is answered OK, but what its number stood for was given up."""
    host = pair.host
    with pytest.raises(GivenUpError):
        host.wait(host.h2d(1, 0, octets("given up", 64), give_up=0))
    with pytest.raises(RefusedError, match="WAIT"):
        host.wait(host.batch(0, [wire.wait(1, 1), *start(0, 64, 1)]))
    assert pair.device.kernel.runs == 0


def test_no_more_transfers_than_regions(pair):
    """H8: the host does not ask for a lock that is not there; the device refuses."""
    host = pair.host
    for queue, count in ((0, 4), (1, 4), (2, 4)):
        for index in range(count):
            host.d2h(queue, 0x400 * (4 * queue + index), 64, after=1)
    with pytest.raises(MisuseError, match="transfers"):
        host.d2h(2, 0x3000, 64)


def test_the_device_refuses_a_transfer_without_a_lock(pair):
    """H8."""
    pair.device.memory.locks = 1
    pair.host.d2h(1, 0, 64, after=1)
    pair.settle()
    with pytest.raises(RefusedError, match="REGION"):
        pair.host.wait(pair.host.d2h(2, 64, 64))


def test_runs_follow_one_another_by_wait(pair):
    """H16: two runs in flight, the second behind the first, whatever its length."""
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
    """H16: what the OS's timing could decide ends the session instead."""
    host = pair.host
    host.wait(host.batch(0, start(0, 0x1000, 4096)))
    with pytest.raises(PoisonedError, match="ACCESS"):
        host.wait(host.batch(0, [wire.write(card.SOURCE, 64, 8)]))
    assert pair.device.state == State.DEAD


def test_waiting_for_a_run_that_fails_fails(pair):
    """H16."""
    host = pair.host
    host.wait(host.batch(0, start(1 << 14, 0, 64)))
    with pytest.raises(RefusedError, match="AFTER") as refused:
        host.wait(host.batch(0, [wire.read(card.STATUS), wire.wait_runs(1)]))
    assert refused.value.executed == 1


def test_numbers_of_another_session_do_not_count(pair):
    """Section 6: the slots are cleared, as shared memory holds anything."""
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
    """Section 1: every field at its bits."""
    word = Capabilities(3, 5, 13, 32, 17, 1, 6, 9).word()
    assert word == 0x01_03_05_0D_20_11_06_09
    assert Capabilities.unpack(word).word() == word
    assert Capabilities.unpack(word).legal()
    for bit in (57, 8, 0, 1, 55, 47, 36, 31, 22):
        other = Capabilities.unpack(word ^ 1 << bit)
        assert other.legal() == (bit in (0, 1))


def test_wait_remembers_64_outcomes(pair):
    """Older ones are refused: the host has seen them answered."""
    host = pair.host
    for _ in range(65):
        host.wait(host.batch(1, [wire.read(card.STATUS)]))
    host.wait(host.batch(0, [wire.wait(1, 2)]))
    with pytest.raises(RefusedError, match="WAIT"):
        host.wait(host.batch(0, [wire.wait(1, 1)]))


def test_what_is_given_up_is_scrubbed(pair):
    """H11: SKIP takes the number of the abandoned chunk; the region is cleared and free."""
    host = pair.host
    host.wait(host.h2d(1, 0, octets("before", 256)))
    with pytest.raises(GivenUpError):
        host.wait(host.h2d(1, 0, octets("given up", 250), 64, give_up=2))
    assert not any(pair.device.memory.data[:256])
    host.wait(host.h2d(1, 0, octets("after", 256)))


def test_a_refused_chunk_gives_its_transfer_up(pair):
    """ORDER: a gap, and what came before is scrubbed."""
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
    pair.settle()
    statuses = [request.response.status for request in job.requests]
    assert statuses[0] in (Status.OK, Status.ABORTED)
    assert statuses[1:] == [Status.ORDER] * 3
    assert not any(pair.device.memory.data[:256]) and not pair.device.memory.regions


def test_rekey_under_load_loses_and_repeats_nothing(pair):
    """H13: ten epochs, chunks of two at once, every queue on its own."""
    host, seen = pair.host, set()
    for turn in range(10):
        data = octets(f"turn {turn}", 640)
        up = host.h2d(1, 0, data, 64)
        switch = [host.rekey(0)]
        down = host.d2h(2, 0x1000, 320, 64)
        switch.append(host.rekey(1))
        while not switch[1].done:
            host.pump()
        more = host.h2d(1, 0x2000, data, 128)
        switch.append(host.rekey(2))
        for job in (up, down, more, *switch):
            host.wait(job)
        assert pair.device.memory.data[:640] == data
        assert pair.device.memory.data[0x2000:0x2280] == data
        for job in (up, down, more, *switch):
            for request in job.requests:
                seen.add((request.queue, request.sequence))
        assert list(pair.device.keys.banks) == [turn + 1] == list(host.keys.banks)
    assert len(seen) == sum(channel.next - 1 for channel in host.channels) - 1  # OPEN


def test_a_third_epoch_waits_for_the_first(pair):
    """H13: at both ends."""
    host = pair.host
    host.wait(host.rekey(0))
    with pytest.raises(MisuseError, match="every queue"):
        host.rekey(0)
    assert pair.raw(0, Kind.REKEY, bytes(16)) == Status.EPOCH
    assert host.channels[0].epoch == 1


def test_an_epoch_lives_until_its_last_answer(pair):
    """H13: a chunk that waits for the kernel holds its bank."""
    host = pair.host
    down = host.d2h(1, 0, 64, after=1)
    for queue in range(3):
        host.wait(host.rekey(queue))
    assert set(pair.device.keys.banks) == {0, 1}
    assert pair.raw(0, Kind.REKEY, bytes(16)) == Status.EPOCH
    host.channels[0].switching = False
    host.wait(host.batch(0, start(0x100, 0x200, 1)))
    assert host.wait(down) == bytes(64)
    assert set(pair.device.keys.banks) == {1}


def test_the_last_epoch_is_the_last(pair):
    """H12."""
    pair.device.queues[0].epoch = LAST_EPOCH
    pair.device.keys.banks = {LAST_EPOCH: pair.device.keys.banks[0]}
    pair.device.queues[1].epoch = pair.device.queues[2].epoch = LAST_EPOCH
    for cls, key in pair.device.keys.banks[LAST_EPOCH].items():
        fresh = type(key)(pair.device.keys.session, cls, LAST_EPOCH, 1 << 30)
        pair.device.keys.banks[LAST_EPOCH][cls] = fresh
        pair.host.keys.banks.setdefault(LAST_EPOCH, {})[cls] = fresh
    del pair.host.keys.banks[0]
    for channel in pair.host.channels:
        channel.epoch = LAST_EPOCH
    with pytest.raises(MisuseError, match="no epoch"):
        pair.host.rekey(0)
    assert pair.raw(0, Kind.REKEY, bytes(16)) == Status.LIMIT


def test_the_host_stops_before_a_keys_limit():
    """H12: nothing is sealed, no number spent; a rekey helps."""
    pair = Pair(host=60).opened()
    with pytest.raises(BudgetError):
        for _ in range(30):
            pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))
    used = pair.host.keys.get(Class.RESPONSE, 0).used
    assert 50 < used <= 60
    with pytest.raises(BudgetError):
        pair.host.h2d(1, 0, bytes(1000))
    assert pair.host.poison_error is None


@pytest.mark.parametrize("limit", [7, 30])
def test_the_device_stops_at_a_keys_limit(limit):
    """H12: fatal, before anything is done."""
    pair = Pair(device=limit).opened()
    with pytest.raises(PoisonedError, match="BUDGET"):
        for _ in range(20):
            pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))
    assert pair.device.state == State.DEAD and pair.device.cause[0] == Cause.BUDGET


def test_a_long_chunk_counts_all_its_blocks():
    """H12: before it starts."""
    pair = Pair(device=500).opened()
    with pytest.raises(PoisonedError, match="BUDGET"):
        pair.host.wait(pair.host.h2d(1, 0, bytes(16 * 499)))
    assert not any(pair.device.memory.data)


def test_no_installation_but_in_idle(pair):
    """H14: not in a session, not after an error, again after a reset."""
    device, secret = pair.device, octets("other", 32)
    assert not device.install(secret, bytes(16))
    pair.link.mmio_write(0x1000, b"\xff" * 48)
    pair.link.mmio_write(0x1420, b"\1\0\0\0")
    pair.settle()
    assert device.state == State.DEAD and device.keys is None
    assert not device.install(secret, bytes(16))
    nonce = device.nonce
    pair.link.mmio_write(0x018, (0x52455354).to_bytes(4, "little"))
    assert device.state == State.IDLE and device.nonce != nonce
    assert device.install(secret, bytes(16))
    assert not device.install(secret, bytes(16))


def test_close_waits_for_nothing_and_leaves_nothing(pair):
    """H14, section 5: refused while anything is outstanding."""
    host = pair.host
    down = host.d2h(1, 0, 64, after=1)
    with pytest.raises(MisuseError):
        host.close()
    pair.settle()
    assert pair.raw(0, Kind.CLOSE, bytes(16)) == Status.STATE
    assert pair.raw(1, Kind.CLOSE, bytes(16)) == Status.STATE
    host.wait(host.batch(0, [wire.write(card.SCRATCH, 5), *start(0x40, 0x80, 64)]))
    host.wait(down)
    host.wait(host.close())
    device = pair.device
    assert device.state == State.IDLE and device.keys is None
    assert not any(device.memory.data) and not any(device.kernel.registers)


def test_poison_wipes_and_fails_everything(pair):
    """H18: one timeout ends all, and names what was late."""
    host = pair.host
    jobs = [host.d2h(1, 0, 64, after=9), host.batch(0, [wire.wait(1, 1)])]
    with pytest.raises(PoisonedError, match="timeout: BATCH 2 on queue 0"):
        host.wait(jobs[1])
    assert all(request.error for job in jobs for request in job.requests)
    assert not host.keys.banks and not any(host.keys.session.secret)
    with pytest.raises(PoisonedError):
        host.batch(0, [wire.read(card.STATUS)])


def test_misuse_is_refused_before_a_number_is_spent(pair):
    """H11."""
    host = pair.host
    before = [channel.next for channel in host.channels]
    for call in (
        lambda: host.batch(0, []),
        lambda: host.batch(0, [wire.read(0)] * 17),
        lambda: host.batch(5, [wire.read(0)]),
        lambda: host.h2d(0, 0, b""),
        lambda: host.h2d(0, 32, b"x"),
        lambda: host.d2h(0, 0, 64, chunk=100),
    ):
        with pytest.raises(MisuseError):
            call()
    assert [channel.next for channel in host.channels] == before


def test_at_most_64_unanswered(pair):
    """Section 4: a slot is not written again before it was read."""
    with pytest.raises(MisuseError, match="unanswered"):
        for _ in range(70):
            pair.host.batch(0, [wire.wait(1, 1)])
    assert pair.host.channels[0].next == 2 + 64


def test_depth_is_kept(pair):
    """Section 5: no more chunks outstanding than the capabilities say."""
    job = pair.host.d2h(1, 0, 640, 64, after=1)
    most = 0
    for _ in range(60):
        pair.host.pump()
        most = max(most, len(pair.device.queues[1].chunks))
    assert most == CAPABILITIES.depth
    pair.host.wait(pair.host.batch(0, start(0x1000, 0x1040, 64)))
    assert pair.host.wait(job) == bytes(640)
