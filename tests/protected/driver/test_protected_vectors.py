# SPDX-License-Identifier: Apache-2.0
"""Compares the C driver's bytes on the bus (driver/enclave) with tests/vectors/protocol.json."""

import contextlib
import json
import pathlib

from maeslant.protected.attacks.adversary import Adversary
from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import Kind
from maeslant.protected.model.device import Device
from maeslant.protected.model.host import HostError
from maeslant.protected.model.link import Link, What
from maeslant.protected.session import Host
from tools import gen_protocol_vectors as vectors

FILE = json.loads((pathlib.Path(__file__).parents[2] / "vectors" / "protocol.json").read_text())


class Tap(Adversary):
    """Records the address and data of each write of the C driver to shared memory."""

    def __init__(self) -> None:
        super().__init__()
        self.stores: dict[int, bytes] = {}

    def act(self, sight, event, link):
        if event.what is What.HOST_STORE:
            self.stores[event.address] = event.data
        return (event,)


def run_session() -> tuple[Tap, list[bytes]]:
    """Runs the session of protocol.json with the C driver; returns bus record and results."""
    of = vectors.session()
    device = Device(vectors.CAPABILITIES, lambda: of.device_nonce[8:])
    tap = Tap()
    link = device.bus = Link(device, 1 << 20, tap)
    host = Host(link, of.secret, of.session_id, of.host_nonce)
    assert device.install(of.secret, of.session_id)
    got = []

    def run(job) -> None:
        with contextlib.suppress(HostError):
            got.append(host.wait(job))

    run(host.open())
    run(host.h2d(1, 0, vectors.octets("three chunks", 320), 128))
    registers = ((card.SOURCE, 0), (card.DESTINATION, 0x400), (card.LENGTH, 320))
    operations = [wire.wait(1, 3), wire.wait_runs(0)]
    operations += [wire.write(offset, value, 8) for offset, value in registers]
    run(host.batch(0, [*operations, wire.write(card.CONTROL, 1)]))
    run(host.d2h(2, 0x400, 320, 128, after=1))
    run(host.batch(0, [wire.read(card.STATUS), wire.read(card.RUNS, 8)]))
    for length in vectors.LENGTHS:
        run(host.h2d(1, 0x1000, vectors.pattern(length)))
        run(host.d2h(2, 0x1000, length))
    run(host.h2d(1, 0x8000, vectors.octets("given up", 256), 128, give_up=1))
    for bad in (
        wire.Operation(9),
        wire.Operation(1, 1, card.SCRATCH),
        wire.Operation(2, 2, card.SCRATCH, 1 << 32),
        wire.write(card.RUNS, 0, 8),
        wire.wait(0, 1 << 40),
        wire.wait(7, 1),
        wire.Operation(1, 2, card.SCRATCH, 0, 1),
    ):
        run(host.batch(0, [wire.read(card.STATUS), bad]))
    for queue in (2, 0, 1):
        run(host.rekey(queue))
    run(host.h2d(1, 0, vectors.octets("second epoch", 100)))
    run(host.d2h(2, 0, 100))
    run(host.close())
    return tap, got


def test_messages_answers_and_chunks_are_the_vectors():
    """The C driver's numbers, IVs, headers, bodies and tags equal those of protocol.json."""
    tap, got = run_session()
    sent = {
        (s.queue, s.sequence): message.data.hex() for s, message, _ in tap.requests if s.kind > 0
    }
    answered = {(s.queue, s.sequence): event.data.hex() for s, event in tap.responses}
    for entry in FILE["exchanges"]:
        where = entry["queue"], entry["sequence"]
        assert sent[where] == entry["message"], (where, Kind(entry["kind"]).name)
        assert answered[where] == entry["response"]
    assert len(sent) == len(FILE["exchanges"])
    for entry in FILE["chunks"]:
        if entry["class"] != 3 or entry["ciphertext"].startswith("sha256"):
            continue
        assert bytes.fromhex(entry["ciphertext"]) in tap.stores.values()
    for length in vectors.LENGTHS:
        assert vectors.pattern(length) in got


def test_a_store_is_at_most_a_stage():
    """The C driver writes to shared memory in pieces of at most 4 KiB (H10)."""
    tap, _ = run_session()
    assert max(map(len, tap.stores.values())) == 4096
