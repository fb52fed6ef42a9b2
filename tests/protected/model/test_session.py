# SPDX-License-Identifier: Apache-2.0
"""Tests sessions of the protocol model: opening, key epochs, key limits, errors and closing."""

import pytest

from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import LAST_EPOCH, Cause, Class, Kind, State, Status
from maeslant.protected.model.host import MisuseError, PoisonedError
from maeslant.protected.model.keys import BudgetError
from maeslant.protected.model.workload import octets
from tests.protected.model.pair import CAPABILITIES, Pair, start


@pytest.fixture
def pair() -> Pair:
    """Opens a session between the protocol model's host and device."""
    return Pair().opened()


def test_rekey_under_load_loses_and_repeats_nothing(pair):
    """Ten key changes of the protocol model under load lose and repeat no data (H13)."""
    host, seen = pair.host, set()
    for turn in range(10):
        data = octets(f"turn {turn}", 640)
        up = host.h2d(1, 0, data, 64)
        switch = [host.rekey(0)]
        down = host.d2h(2, 0x1000, 320, 64)
        switch.append(host.rekey(1))
        host.wait(switch[1])
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
    """Host and device model refuse a second key change until all queues use the new key (H13)."""
    host = pair.host
    host.wait(host.rekey(0))
    with pytest.raises(MisuseError, match="every queue"):
        host.rekey(0)
    assert pair.raw(0, Kind.REKEY, bytes(16)) == Status.EPOCH
    assert host.channels[0].epoch == 1


def test_an_epoch_lives_until_its_last_answer(pair):
    """The device model keeps an epoch's keys until its last request is answered (H13)."""
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
    """After the last key epoch host and device model refuse a further key change (H12)."""
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
    """The host model stops before a key's limit; after a key change it continues (H12)."""
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
    """The device model ends the session before a key exceeds its block limit (H12)."""
    pair = Pair(device=limit).opened()
    with pytest.raises(PoisonedError, match="BUDGET"):
        for _ in range(20):
            pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))
    assert pair.device.state == State.DEAD and pair.device.cause[0] == Cause.BUDGET


def test_a_long_chunk_counts_all_its_blocks():
    """The device model counts a chunk's blocks against the key's limit before it decrypts (H12)."""
    pair = Pair(device=500).opened()
    with pytest.raises(PoisonedError, match="BUDGET"):
        pair.host.wait(pair.host.h2d(1, 0, bytes(16 * 499)))
    assert not any(pair.device.memory.data)


def test_no_installation_but_in_idle(pair):
    """The device model accepts a root secret only in state IDLE (H14)."""
    device, secret = pair.device, octets("other", 32)
    assert not device.install(secret, bytes(16))
    pair.link.mmio_write(0x1000, b"\xff" * 48)
    pair.link.mmio_write(0x1420, b"\1\0\0\0")
    pair.drain()
    assert device.state == State.DEAD and device.keys is None
    assert not device.install(secret, bytes(16))
    nonce = device.nonce
    pair.link.mmio_write(0x018, (0x52455354).to_bytes(4, "little"))
    assert device.state == State.IDLE and device.nonce != nonce
    assert device.install(secret, bytes(16))
    assert not device.install(secret, bytes(16))


def test_close_waits_for_nothing_and_leaves_nothing(pair):
    """The model refuses CLOSE while requests are unanswered; CLOSE erases all data (H14)."""
    host = pair.host
    down = host.d2h(1, 0, 64, after=1)
    with pytest.raises(MisuseError):
        host.close()
    pair.drain()
    assert pair.raw(0, Kind.CLOSE, bytes(16)) == Status.STATE
    assert pair.raw(1, Kind.CLOSE, bytes(16)) == Status.STATE
    host.wait(host.batch(0, [wire.write(card.SCRATCH, 5), *start(0x40, 0x80, 64)]))
    host.wait(down)
    host.wait(host.close())
    device = pair.device
    assert device.state == State.IDLE and device.keys is None
    assert not any(device.memory.data) and not any(device.kernel.registers)


def test_poison_wipes_and_fails_everything(pair):
    """A timeout in the host model ends the session, erases all keys and names the request (H18)."""
    host = pair.host
    jobs = [host.d2h(1, 0, 64, after=9), host.batch(0, [wire.wait(1, 1)])]
    with pytest.raises(PoisonedError, match="timeout: BATCH 2 on queue 0"):
        host.wait(jobs[1])
    assert all(request.error for job in jobs for request in job.requests)
    assert not host.keys.banks and not any(host.keys.session.secret)
    with pytest.raises(PoisonedError):
        host.batch(0, [wire.read(card.STATUS)])


def test_misuse_is_refused_before_a_number_is_spent(pair):
    """The host model refuses illegal calls before it uses a sequence number (H11)."""
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
    """The host model refuses a 65th request on a queue with 64 unanswered ones."""
    with pytest.raises(MisuseError, match="unanswered"):
        for _ in range(70):
            pair.host.batch(0, [wire.wait(1, 1)])
    assert pair.host.channels[0].next == 2 + 64


def test_depth_is_kept(pair):
    """The host model keeps at most as many chunks in flight as the device's depth allows."""
    job = pair.host.d2h(1, 0, 640, 64, after=1)
    most = 0
    for _ in range(60):
        pair.host.pump()
        most = max(most, len(pair.device.queues[1].chunks))
    assert most == CAPABILITIES.depth
    pair.host.wait(pair.host.batch(0, start(0x1000, 0x1040, 64)))
    assert pair.host.wait(job) == bytes(640)


def test_nothing_is_sealed_while_a_queue_switches(pair):
    """The host model refuses requests on a queue until its key change is answered."""
    job = pair.host.rekey(0)
    with pytest.raises(MisuseError, match="REKEY"):
        pair.host.batch(0, [wire.read(card.STATUS)])
    pair.host.wait(job)
    pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))


@pytest.mark.parametrize(
    "answer",
    [
        wire.Response(0),
        wire.Response(16),
        wire.Response(Status.OK, 1, 0, bytes(8), zero=1),
        wire.Response(Status.OK, 0, 0, bytes(8)),
        wire.Response(Status.OK, 1, 1, bytes(8)),
        wire.Response(Status.OFFSET, 1, 0, bytes(8)),
        wire.Response(Status.OFFSET, 0, 1, bytes(8)),
    ],
    ids=str,
)
def test_authentic_but_impossible_answers_poison(pair, answer, monkeypatch):
    """The host model ends the session if an authentic response has impossible fields."""
    monkeypatch.setattr(wire.Response, "pack", lambda self, real=wire.Response.pack: real(answer))
    with pytest.raises(PoisonedError, match="impossible response"):
        pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))


def test_a_driver_without_memory_says_so(pair):
    """A transfer fails with the error "no shared memory" if the kernel driver has none left."""
    pair.link.free = pair.link.BASE + len(pair.link.memory)
    with pytest.raises(PoisonedError, match="no shared memory"):
        pair.host.h2d(1, 0, b"x")
