# SPDX-License-Identifier: Apache-2.0
"""Writes the test vectors of the protected channel to tests/vectors/protocol.json.

Every key, message, answer and chunk of a session of the golden model, as it passed the bus, and
messages that must be refused, each with the reason. The same every time; --check compares.
"""

import functools
import hashlib
import json
import sys

from maeslant import paths
from maeslant.protected.attacks.adversary import Adversary, flip
from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import Class, Kind, Status
from maeslant.protected.model.device import Device
from maeslant.protected.model.host import Host, RefusedError
from maeslant.protected.model.keys import Capabilities, Key, Session
from maeslant.protected.model.link import Link

FILE = paths.ROOT / "tests" / "vectors" / "protocol.json"
CAPABILITIES = Capabilities(queues=3, depth=4, log2_chunk=14, operations=16, log2_memory=16)
LENGTHS = (1, 15, 16, 17, 63, 64, 65, 1000, 4096, 4097, 12345)
COMMENT = (
    "Made by tools/gen_protocol_vectors.py; the format is that of docs/protocol.md. Bytes are hex. "
    "keys: every class in three epochs, and their KDF input. exchanges: in order of sealing; "
    "message and response whole, body and answer their plaintexts. chunks: a long ciphertext by "
    "its SHA-256, a long plaintext is the pattern: byte i is (167 i + i div 256 + length) mod 256. "
    "refused: what the receiver must not take, and what it must do."
)


def octets(label: str, size: int) -> bytes:
    """Returns pseudo-random bytes, reproducible from a label, for the protocol's test vectors."""
    return hashlib.shake_256(b"maeslant vectors " + label.encode()).digest(size)


def pattern(length: int) -> bytes:
    """Returns reproducible plaintext bytes of a given length for the protocol's test vectors."""
    return bytes((167 * at + at // 256 + length) % 256 for at in range(length))


def shown(data: bytes) -> str:
    """Returns bytes as hexadecimal text for test vectors, or their hash if too long."""
    if len(data) <= 128:
        return data.hex()
    if data == pattern(len(data)):
        return "pattern"
    return "sha256:" + hashlib.sha256(data).hexdigest()


def session() -> Session:
    """Returns the session of the protocol's test vectors: secret, session ID and nonces."""
    return Session(
        octets("secret", 32),
        octets("session id", 16),
        octets("host nonce", 32),
        bytes(8) + octets("device nonce", 24),
        CAPABILITIES.word(),
    )


def keys(of: Session) -> list[dict]:
    """Returns AES key and IV mask of each message class and key epoch for the test vectors."""
    return [
        {
            "class": cls,
            "epoch": epoch,
            "context": of.context(cls, epoch).hex(),
            "key": of.derive(cls, epoch)[:32].hex(),
            "mask": of.derive(cls, epoch)[32:].hex(),
        }
        for epoch in (0, 1, 65535)
        for cls in Class
    ]


class Recorder:
    """Records the messages of a protocol model's session for the test vectors."""

    def __init__(self) -> None:
        self.session = session()
        self.device = Device(CAPABILITIES, lambda: self.session.device_nonce[8:])
        self.tap = Adversary()
        self.link = Link(self.device, 1 << 20, self.tap)
        self.device.bus = self.link
        of = self.session
        self.host = Host(self.link, of.secret, of.session_id, of.host_nonce)
        assert self.device.install(of.secret, of.session_id)
        self.exchanges: list[dict] = []
        self.chunks: list[dict] = []
        self.data: dict[tuple[int, int], bytes] = {}

    def run(self, job) -> bytes:
        """Waits for a call of the protocol model; records the requests; returns the result."""
        try:
            return self.host.wait(job)
        except RefusedError:
            return b""
        finally:
            for request in job.requests:
                self.write_down(request)

    def write_down(self, request) -> None:
        """Records a request with the response and DMA chunk for the protocol's test vectors."""
        where = (request.queue, request.kind, request.sequence)
        sealed = next(
            event.data
            for sight, event in self.tap.responses
            if (sight.queue, sight.kind, sight.sequence) == where
        )
        self.exchanges.append(
            {
                "queue": request.queue,
                "kind": request.kind,
                "epoch": request.epoch,
                "sequence": request.sequence,
                "body": request.body.hex(),
                "message": request.message.hex(),
                "answer": request.response.pack().hex(),
                "response": sealed.hex(),
            }
        )
        if request.place is None or request.response.status != Status.OK:
            return
        place, h2d = request.place, request.kind == Kind.H2D
        cls = Class.DMA_IN if h2d else Class.DMA_OUT
        plain = self.data[request.queue, request.sequence] if h2d else bytes(request.chunk)
        aad = place.aad(cls, request.queue, request.epoch, request.sequence)
        key = self.session.derive(cls, request.epoch)
        counter = bytes((cls, request.queue, 0, 0)) + request.sequence.to_bytes(8)
        iv = bytes(a ^ b for a, b in zip(key[32:], counter, strict=True))
        at = place.host - self.link.BASE
        text = bytes(self.link.memory[at : at + place.length])
        tag = place.tag if h2d else request.response.data
        self.chunks.append(
            {
                "class": cls,
                "queue": request.queue,
                "epoch": request.epoch,
                "sequence": request.sequence,
                "length": place.length,
                "iv": iv.hex(),
                "aad": aad.hex(),
                "plaintext": shown(plain),
                "ciphertext": shown(text),
                "tag": tag.hex(),
            }
        )

    def send(self, queue: int, base: int, data: bytes, chunk: int = 0, **more: int) -> None:
        """Moves data between host and card in the protocol model's session; records messages."""
        job = self.host.h2d(queue, base, data, chunk, **more)
        for request in job.requests:
            if request.place:
                at = request.place.address - base
                part = data[at : at + request.place.length]
                self.data[queue, request.sequence] = part
        try:
            self.run(job)
        except Exception as error:
            assert more, error


def exchanges() -> Recorder:
    """Runs a session with every kind of request on the protocol model; returns the Recorder."""
    recorder = Recorder()
    host, run = recorder.host, recorder.run
    run(host.open())
    recorder.send(1, 0, octets("three chunks", 320), 128)
    run(
        host.batch(
            0,
            [
                wire.wait(1, 3),
                wire.wait_runs(0),
                wire.write(card.SOURCE, 0, 8),
                wire.write(card.DESTINATION, 0x400, 8),
                wire.write(card.LENGTH, 320, 8),
                wire.write(card.CONTROL, 1),
            ],
        )
    )
    run(host.d2h(2, 0x400, 320, 128, after=1))
    run(host.batch(0, [wire.read(card.STATUS), wire.read(card.RUNS, 8)]))
    for length in LENGTHS:
        recorder.send(1, 0x1000, pattern(length))
        run(host.d2h(2, 0x1000, length))
    recorder.send(1, 0x8000, octets("given up", 256), 128, give_up=1)
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
    recorder.send(1, 0, octets("second epoch", 100))
    run(host.d2h(2, 0, 100))
    run(host.close())
    return recorder


def refused(recorder: Recorder) -> list[dict]:
    """Returns test vectors of requests that a card must refuse after the OPEN request."""
    right = recorder.exchanges[4]  # BATCH 2 on queue 0
    message = bytes.fromhex(right["message"])
    assert (right["kind"], right["queue"], right["sequence"]) == (Kind.BATCH, 0, 2)
    of = recorder.session
    seal = functools.partial(_seal, of)
    body = bytes.fromhex(right["body"])
    blocks = len(body) // 16
    cases = [
        ("the right one", message, blocks, "OK"),
        ("OPEN again", bytes.fromhex(recorder.exchanges[0]["message"]), 1, "fatal TAG"),
        ("a length of one block less", message, blocks - 1, "fatal TAG"),
        ("a length of one block more", message, blocks + 1, "fatal TAG"),
        ("a length of 0", message, 0, "fatal DOORBELL"),
        ("a length of 17, with 16 operations a batch", message, 17, "fatal DOORBELL"),
        ("the next number", seal(Class.REQUEST, 0, 2, 0, 3, body), blocks, "fatal TAG"),
        ("another queue", seal(Class.REQUEST, 1, 2, 0, 2, body), blocks, "fatal TAG"),
        ("the next epoch", seal(Class.REQUEST, 0, 2, 1, 2, body), blocks, "fatal TAG"),
        ("another class", seal(Class.RESPONSE, 0, 2, 0, 2, body), blocks, "fatal TAG"),
        ("OPEN in RUN", seal(Class.REQUEST, 0, 1, 0, 2, bytes(16)), 1, "STATE"),
        ("unknown kind", seal(Class.REQUEST, 0, 9, 0, 2, bytes(16)), 1, "KIND"),
        ("SKIP of two blocks", seal(Class.REQUEST, 0, 6, 0, 2, bytes(32)), 2, "LENGTH"),
        ("SKIP with a body", seal(Class.REQUEST, 0, 6, 0, 2, b"\1" * 16), 1, "BODY"),
        ("D2H with a tag", _transfer(seal, Kind.D2H, tag=b"\1" * 16), 4, "BODY"),
        ("total 0", _transfer(seal, total=0), 4, "RANGE"),
        ("length 0", _transfer(seal, length=0), 4, "RANGE"),
        ("not at a granule", _transfer(seal, address=32, base=32), 4, "RANGE"),
        ("host address not at a granule", _transfer(seal, host=1 << 32 | 8), 4, "RANGE"),
        ("behind the memory", _transfer(seal, address=1 << 16, base=1 << 16), 4, "RANGE"),
        ("wraps around", _transfer(seal, base=(1 << 64) - 64), 4, "RANGE"),
        ("longer than the total", _transfer(seal, length=192), 4, "RANGE"),
        ("index 0 in the middle", _transfer(seal, address=64, length=64), 4, "RANGE"),
        ("a part that is not last", _transfer(seal, length=65), 4, "RANGE"),
        ("no transfer is open", _transfer(seal, address=64, length=64, index=1), 4, "ORDER"),
    ]
    for name, at in (("version", 0), ("class", 1), ("queue", 2), ("kind", 3), ("epoch", 7)):
        cases.append((f"a bit of the {name}", flip(message, 8 * at), blocks, "fatal TAG"))
    for name, at in (("sequence", 15), ("body", 16), ("tag's first byte", -16), ("tag", -1)):
        cases.append((f"a bit of the {name}", flip(message, 8 * at), blocks, "fatal TAG"))
    return [
        {"what": what, "message": data.hex(), "blocks": count, "outcome": outcome}
        for what, data, count, outcome in cases
    ]


def _seal(of: Session, cls: int, queue: int, kind: int, epoch: int, number: int, body: bytes):
    """Returns a request with arbitrary header fields, encrypted under the right key."""
    return Key(of, Class(cls), epoch, 1 << 34).seal_message(queue, kind, number, body)


def _transfer(seal, kind: int = Kind.H2D, **fields) -> bytes:
    place = {"address": 0, "length": 128, "index": 0, "base": 0, "total": 128, "host": 1 << 32}
    body = wire.Transfer(**(place | fields)).pack()
    return seal(Class.REQUEST, 0, kind, 0, 2, body)


def make() -> dict:
    """Returns all of the protocol's test vectors as a dictionary to write as JSON."""
    of = session()
    recorder = exchanges()
    return {
        "comment": COMMENT,
        "session": {
            "secret": of.secret.hex(),
            "session_id": of.session_id.hex(),
            "host_nonce": of.host_nonce.hex(),
            "device_nonce": of.device_nonce.hex(),
            "capabilities": of.capabilities.to_bytes(8).hex(),
        },
        "keys": keys(of),
        "exchanges": recorder.exchanges,
        "chunks": recorder.chunks,
        "refused": refused(recorder),
    }


def main() -> int:
    """Writes the protocol's test vectors; with --check only checks that they are up to date."""
    text = json.dumps(make(), indent=1) + "\n"
    if "--check" in sys.argv:
        stale = not FILE.exists() or FILE.read_text() != text
        if stale:
            print(f"{FILE} is stale: run tools/gen_protocol_vectors.py")
        return int(stale)
    paths.write(FILE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
