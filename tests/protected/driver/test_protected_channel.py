# SPDX-License-Identifier: Apache-2.0
"""Tests the rules of docs/protocol.md §6 on the C driver (driver/enclave), without attacks."""

import pytest

from maeslant.protected import session
from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import Kind, State, Status
from maeslant.protected.model.host import GivenUpError, MisuseError, PoisonedError, RefusedError
from maeslant.protected.model.keys import BudgetError
from maeslant.protected.model.link import What
from maeslant.protected.model.workload import octets
from maeslant.protected.session import Host
from tests.protected.driver.pair import CAPABILITIES, SECRETS, Pair, start


@pytest.fixture(
    params=[{}, {"eager": 1}, {"eager": 1, "threads": 3}],
    ids=["sealed first", "sent while sealing", "threads"],
)
def pair(request) -> Pair:
    """Opens a protected session between the C driver and the card model."""
    return Pair(**request.param).opened()


@pytest.mark.parametrize("length", [1, 63, 64, 65, 200, 4096, 4097, 9001])
@pytest.mark.parametrize("chunk", [64, 4096, 0])
def test_transfers_of_any_length(pair, length, chunk):
    """The C driver transfers data of any length to the card model and back (D1, D3, H17)."""
    if length > 60 * (chunk or 1 << 14):
        pytest.skip("more chunks than slots")
    data = octets(f"{length}", length)
    pair.host.wait(pair.host.h2d(1, 0x80, data, chunk))
    assert pair.host.wait(pair.host.d2h(2, 0x80, length, chunk)) == data
    assert pair.device.memory.data[0x80 : 0x80 + length] == data
    assert not pair.device.memory.regions


def test_batches_read_write_and_wait(pair):
    """The C driver's batches write and read card registers and wait for transfers (H16, H19)."""
    host = pair.host
    host.wait(host.batch(0, [wire.write(card.SCRATCH, 0x1122334455667788, 8)]))
    values = host.read_values(host.batch(0, [wire.read(card.SCRATCH), wire.read(card.SCRATCH, 8)]))
    assert values == [0x55667788, 0x1122334455667788]
    data = octets("runs", 640)
    up = host.h2d(1, 0, data, 128)
    run = host.batch(0, [wire.wait(up.last.queue, up.last.sequence), *start(0, 0x1000, 640)])
    down = host.d2h(2, 0x1000, 640, 128, after=1)
    assert host.wait(down) == data.translate(card.TABLE)
    assert run.done and up.done


def test_refusals_say_what_was_refused(pair):
    """A batch with a bad register address is refused by the card, and the error says so (M3)."""
    host = pair.host
    job = host.batch(0, [wire.write(card.SCRATCH, 7), wire.read(0x80)])
    with pytest.raises(RefusedError) as refused:
        host.wait(job)
    assert refused.value.status == Status.OFFSET
    assert (refused.value.executed, refused.value.value) == (0, 1)
    assert host.read_values(host.batch(0, [wire.read(card.SCRATCH)])) == [0]


def test_a_failed_kernel_fails_what_waits_for_it(pair):
    """A C driver's read that waits for a failed kernel run is refused and returns no data (H16)."""
    host = pair.host
    host.wait(host.batch(0, start(1 << 14, 0, 64)))
    down = host.d2h(2, 0, 64, after=1)
    with pytest.raises(RefusedError, match="AFTER"):
        host.wait(down)
    assert not any(bytes(pair.host.ffi.buffer(down.data)))


def test_what_is_given_up_is_scrubbed(pair):
    """The C driver sends SKIP for an abandoned chunk; the card zeroes the transfer's data (H11)."""
    host = pair.host
    host.wait(host.h2d(1, 0, octets("before", 256)))
    with pytest.raises(GivenUpError):
        host.wait(host.h2d(1, 0, octets("given up", 250), 64, give_up=2))
    assert not any(pair.device.memory.data[:256])
    host.wait(host.h2d(1, 0, octets("after", 256)))
    kinds = [sight.kind for sight, _, _ in pair.tap.requests if sight.queue == 1]
    assert kinds == [Kind.H2D, Kind.H2D, Kind.H2D, Kind.SKIP, Kind.H2D]


def test_rekey_under_load_loses_and_repeats_nothing(pair):
    """Ten key changes of the C driver under load lose and repeat no data (H13)."""
    host = pair.host
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
        assert list(pair.device.keys.banks) == [turn + 1]
    seen = [(sight.queue, sight.sequence) for sight, _, _ in pair.tap.requests]
    assert len(seen) == len(set(seen))


def test_misuse_is_refused_before_a_number_is_spent(pair):
    """The C driver refuses illegal calls before it uses a sequence number or the bus (H11)."""
    host = pair.host
    switching = host.rekey(2)
    held = host.d2h(1, 0x1000, 64, after=9)
    before = len(pair.tap.requests)
    for call in (
        lambda: host.batch(0, []),
        lambda: host.batch(0, [wire.read(0)] * 17),
        lambda: host.batch(5, [wire.read(0)]),
        lambda: host.batch(2, [wire.read(0)]),
        lambda: host.rekey(0xFFFFFFFF),
        lambda: host.h2d(0, 0, b""),
        lambda: host.h2d(0, 32, b"x"),
        lambda: host.h2d(0, 0, bytes(65 * 64), 64),
        lambda: host.h2d(0, 0x1000, b"x"),
        lambda: host.h2d(0, 1 << 14, b"x"),
        lambda: host.h2d(0, (1 << 64) - 64, bytes(64)),
        lambda: host.d2h(0, 0, 64, chunk=100),
        lambda: host.d2h(0, 0, 64, chunk=1 << 15),
        lambda: host.close(),
    ):
        with pytest.raises(MisuseError):
            call()
    assert len(pair.tap.requests) == before and not held.done
    host.wait(switching)
    assert host.batch(0, [wire.read(card.STATUS)]).last.sequence == 2


def test_at_most_64_unanswered(pair):
    """The C driver keeps at most 64 requests unanswered, so no slot is overwritten unread."""
    with pytest.raises(MisuseError, match="unanswered"):
        for _ in range(70):
            job = pair.host.batch(0, [wire.wait(1, 1)])
    assert job.last.sequence == 1 + 64


def test_no_more_transfers_than_regions(pair):
    """The C driver refuses to open more transfers than the card has memory regions (H8)."""
    host = pair.host
    jobs = [
        host.d2h(queue, 0x400 * (4 * queue + index), 64, after=1)
        for queue in range(3)
        for index in range(4)
    ]
    with pytest.raises(MisuseError, match="transfers"):
        host.d2h(2, 0x3000, 64)
    pair.device.kernel.runs = 1  # every queue is full: nobody could start it
    for job in jobs:
        host.wait(job)
    host.wait(host.d2h(2, 0x3000, 64))


def test_the_host_stops_before_a_keys_limit():
    """The C driver sends nothing beyond a key's limit; after a key change it continues (H12)."""
    pair = Pair(host=60).opened()
    host = pair.host
    with pytest.raises(BudgetError):
        for _ in range(30):
            host.wait(host.batch(0, [wire.read(card.STATUS)]))
    sent = len(pair.tap.requests)
    with pytest.raises(BudgetError):
        host.h2d(1, 0, bytes(1000))
    pair.drain()
    assert len(pair.tap.requests) == sent
    pair = Pair(host=60).opened()
    for queue in (0, 1, 2):
        pair.host.wait(pair.host.rekey(queue))
    for _ in range(5):
        pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))


def test_poison_wipes_and_fails_everything(pair):
    """A timeout in the C driver ends the session, erases all keys and names the request (H18)."""
    host = pair.host
    jobs = [host.d2h(1, 0, 64, after=9), host.batch(0, [wire.wait(1, 1)])]
    host.ffi.memmove(jobs[0].data, b"\xff" * 64, 64)
    with pytest.raises(PoisonedError, match="timeout: BATCH 2 on queue 0"):
        host.wait(jobs[1])
    assert all(job.done and job.result.error for job in jobs)
    assert not any(bytes(host.ffi.buffer(jobs[0].data)))
    for call in (
        lambda: host.batch(0, [wire.read(card.STATUS)]),
        lambda: host.rekey(1),
        lambda: host.h2d(1, 0, b"x"),
        lambda: host.wait(jobs[0]),
    ):
        with pytest.raises(PoisonedError, match="timeout: BATCH 2"):
            call()


def test_what_the_device_says_of_its_end_is_advice():
    """The C driver's error text quotes the cause that the card reports when it ends a session."""
    pair = Pair(device=30).opened()
    with pytest.raises(PoisonedError, match="the device says BUDGET at queue 0"):
        for _ in range(20):
            pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))
    assert pair.device.state == State.DEAD


@pytest.mark.parametrize(
    "answer",
    [
        wire.Response(0),
        wire.Response(16),
        wire.Response(0xFFFF),
        wire.Response(Status.OK, 1, 0, bytes(8), zero=1),
        wire.Response(Status.OK, 0, 0, bytes(8)),
        wire.Response(Status.OK, 1, 1, bytes(8)),
        wire.Response(Status.OFFSET, 1, 0, bytes(8)),
        wire.Response(Status.OFFSET, 0, 1, bytes(8)),
    ],
    ids=str,
)
def test_authentic_but_impossible_answers_poison(pair, answer, monkeypatch):
    """The C driver ends the session if an authentic response has impossible fields."""
    monkeypatch.setattr(wire.Response, "pack", lambda self, real=wire.Response.pack: real(answer))
    with pytest.raises(PoisonedError, match="impossible response"):
        pair.host.wait(pair.host.batch(0, [wire.read(card.STATUS)]))


def test_numbers_of_another_session_do_not_count(pair):
    """The C driver clears its slots at OPEN, so that numbers of an old session have no effect."""
    link = pair.link
    pair.host.wait(pair.host.close())
    pair.host.free()
    link.free = link.BASE
    for slot in range(3 * 64):
        link.memory[1024 * slot : 1024 * slot + 8] = (slot % 64).to_bytes(8, "big")
    host = Host(link, *SECRETS[:2], octets("m", 32), timeout=60)
    assert pair.device.install(*SECRETS[:2])
    host.wait(host.open())
    host.wait(host.close())


def test_the_host_draws_its_own_nonce():
    """The C driver draws a new host nonce for every session."""
    nonces = set()
    for _ in range(3):
        pair = Pair()
        taken = []
        pair.tap.transform = lambda event, link, taken=taken: taken.append(event) or (event,)
        Host(pair.link, *SECRETS[:2])
        nonces |= {e.data for e in taken if e.what is What.MMIO_WRITE and e.address == 0x40}
    assert len(nonces) == 3 and bytes(32) not in nonces


def test_a_buffer_outside_the_enclave_is_refused():
    """The C driver refuses application buffers that are partly outside the enclave (H10)."""
    pair = Pair()
    host, ffi = pair.host, pair.host.ffi
    config = ffi.new("struct mae_session_config *")
    config.nonce_given, config.buffers_base, config.buffers_bytes = 1, 0x10000, 0x1000
    config.enclave_base, config.enclave_bytes = 0x10000, 0x10000
    handle, task = ffi.new("mae_session_t **"), ffi.new("mae_task_t **")
    lib = session.library()[1]
    assert lib.mae_session_begin(host.outside.struct, config, handle) == lib.MAE_OK
    for base in (0x10000 - 1, 0x11000 - 63, 0x20000, (1 << 64) - 63, 0):
        data = ffi.cast("void *", base)
        h2d = ffi.new("struct mae_h2d *", {"total": 64, "data": data})
        d2h = ffi.new("struct mae_d2h *", {"total": 64, "data": data})
        # First the one that would access the buffer later, so that an error here ends no process.
        assert lib.mae_session_d2h(handle[0], d2h, task) == lib.MAE_E_ARGUMENT
        assert lib.mae_session_h2d(handle[0], h2d, task) == lib.MAE_E_ARGUMENT
    operations = ffi.cast("struct mae_operation *", 0x20000)
    assert lib.mae_session_batch(handle[0], 0, operations, 1, task) == lib.MAE_E_ARGUMENT
    d2h = ffi.new("struct mae_d2h *", {"total": 64, "data": ffi.cast("void *", 0x10FC0)})
    assert lib.mae_session_d2h(handle[0], d2h, task) == lib.MAE_OK
    d2h.data, task[0] = ffi.NULL, ffi.NULL
    # The buffer is only an address here: nothing is answered, so nothing is written to it.


@pytest.mark.parametrize("given", ["", "enclave", "buffers"])
def test_a_session_needs_its_address_ranges(given: str):
    """The C driver opens no session before it knows the enclave's addresses (H10)."""
    host, ffi = Pair().host, session.library()[0]
    config = ffi.new("struct mae_session_config *")
    config.nonce_given = 1
    if given:
        setattr(config, f"{given}_base", 0x10000)
        setattr(config, f"{given}_bytes", 0x10000)
    handle = ffi.new("mae_session_t **")
    lib = session.library()[1]
    assert lib.mae_session_begin(host.outside.struct, config, handle) == lib.MAE_E_ARGUMENT
    assert handle[0] == ffi.NULL


@pytest.mark.parametrize("shared", [0, 0x1000])
@pytest.mark.parametrize(
    ("base", "size", "legal"),
    [(0x10000, 0x10000, True), (0x1F000, 0x1000, True), (0x1F000, 0x1001, False),
     (0xF000, 0x2000, False), (0x8000, 0x20000, False), (0x30000, 0x1000, False)],
)  # fmt: skip
def test_buffers_lie_in_the_enclave(base: int, size: int, legal: bool, shared: int):
    """The C driver opens no session if shared memory could lie where buffers do (H10)."""
    host, ffi = Pair().host, session.library()[0]
    lib, handle = session.library()[1], ffi.new("mae_session_t **")
    config = ffi.new("struct mae_session_config *")
    config.nonce_given, config.enclave_base, config.enclave_bytes = 1, 0x10000, 0x10000
    config.buffers_base, config.buffers_bytes = base, size
    config.shared_base, config.shared_bytes = host.outside.window[0], shared and 1 << 30
    result = lib.mae_session_begin(host.outside.struct, config, handle)
    assert result == (lib.MAE_OK if legal else lib.MAE_E_ARGUMENT)
    assert (handle[0] != ffi.NULL) == legal
    lib.mae_session_free(handle[0])


def test_a_buffer_in_shared_memory_is_refused():
    """The C driver refuses application buffers in shared memory (H10)."""
    pair = Pair().opened()
    host, ffi, lib = pair.host, *session.library()
    base, size = host.outside.window
    task = ffi.new("mae_task_t **")
    for at in (base, base + size - 64, base - 63, base + size - 1):
        data = ffi.cast("void *", at)
        h2d = ffi.new("struct mae_h2d *", {"total": 64, "data": data})
        d2h = ffi.new("struct mae_d2h *", {"total": 64, "data": data})
        assert lib.mae_session_h2d(host.session, h2d, task) == lib.MAE_E_ARGUMENT
        assert lib.mae_session_d2h(host.session, d2h, task) == lib.MAE_E_ARGUMENT


def test_depth_is_kept(pair):
    """The C driver keeps at most as many chunks in flight as the card's depth allows."""
    job = pair.host.d2h(1, 0, 640, 64, after=1)
    most = 0
    for _ in range(60):
        pair.host.pump()
        most = max(most, len(pair.device.queues[1].chunks))
    assert most == CAPABILITIES.depth
    pair.host.wait(pair.host.batch(0, start(0x1000, 0x1040, 64)))
    assert pair.host.wait(job) == bytes(640)


def test_nothing_follows_a_close(pair):
    """After the answer to CLOSE the C driver sends nothing, and its keys are erased."""
    host = pair.host
    job = host.close()
    sent = len(pair.tap.requests)
    for _ in range(2):
        for call in (
            lambda: host.open(),
            lambda: host.close(),
            lambda: host.batch(1, [wire.read(card.STATUS)]),
            lambda: host.h2d(1, 0, b"x"),
            lambda: host.d2h(1, 0, 64),
            lambda: host.rekey(1),
        ):
            with pytest.raises(MisuseError, match="closed|unanswered"):
                call()
        host.wait(job)
    assert len(pair.tap.requests) == sent + 1 and pair.device.state == State.IDLE


def test_a_freed_transfer_goes_on_without_its_buffer(pair):
    """A d2h transfer that the application has freed completes without writing its buffer."""
    host = pair.host
    host.wait(host.h2d(1, 0, octets("freed", 640)))
    down = host.d2h(2, 0, 640, 64)
    room = down.data
    del down
    pair.drain()
    assert not any(bytes(host.ffi.buffer(room)))
    assert host.wait(host.d2h(2, 0, 640)) == octets("freed", 640)
