# SPDX-License-Identifier: Apache-2.0
"""Tests the simulated GCM engine on random messages against OpenSSL (soak test).

``python -m maeslant.verify.soak --messages 100000 --seed 1`` (`make soak`) runs the whole; the
counts say what was seen. Keys change on the way, two of them live; stalls, aborts and clears come
at random.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import random
import sys
import time

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from rich.console import Console
from rich.table import Table

from maeslant.errors import MaeslantError
from maeslant.sim import gcm_engine
from maeslant.sim.gcm_engine import Abort, Engine, Key, Message, Stall

CHUNK = 500  # messages that one engine sees from its reset on
OPENSSL_IVS = range(8, 129)  # bytes
PLACES = ("tag", "data", "aad", "iv", "no tag")
TAG_SIZES = (16, 16, 16, 12, 13, 14, 15, 8, 4)


class SoakError(MaeslantError):
    """Raised if the simulated GCM engine's output differs from OpenSSL's."""


class Oracle:
    """Computes AES-GCM by OpenSSL for IVs of any length, as reference for the engine."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.aead = AESGCM(key)

    def _block(self, block: bytes) -> bytes:
        return Cipher(algorithms.AES(self.key), modes.ECB()).encryptor().update(block)

    def _hash(self, aad: bytes, text: bytes) -> bytes:
        """Returns the GHASH of AAD and ciphertext, as OpenSSL's GCM tag without the mask."""
        pad = self.aead.encrypt(bytes(12), bytes(len(text)), b"")[: len(text)]
        tag = self.aead.encrypt(bytes(12), _xor(text, pad), aad)[len(text) :]
        return _xor(tag, self._block(bytes(15) + b"\1"))

    def encrypt(self, iv: bytes, aad: bytes, data: bytes) -> tuple[bytes, bytes]:
        """Encrypts a message by OpenSSL's AES-GCM; returns (ciphertext, tag)."""
        if len(iv) in OPENSSL_IVS:
            both = self.aead.encrypt(iv, data, aad)
            return both[: len(data)], both[len(data) :]
        first = self._hash(b"", iv)
        count, pad = int.from_bytes(first[12:], "big"), b""
        while len(pad) < len(data):  # OpenSSL's CTR carries beyond 32 bits: one run up to there
            count = (count + 1) % (1 << 32)
            run = min((len(data) - len(pad) + 15) // 16, (1 << 32) - count)
            side = Cipher(
                algorithms.AES(self.key), modes.CTR(first[:12] + count.to_bytes(4, "big"))
            )
            pad += side.encryptor().update(bytes(16 * run))
            count += run - 1
        text = _xor(data, pad[: len(data)])
        return text, _xor(self._hash(aad, text), self._block(first))


def _xor(left: bytes, right: bytes) -> bytes:
    size = len(left)
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(size, "big")


@dataclasses.dataclass(slots=True)
class Case:
    """Holds a random GCM message for the engine, with the expected output.

    ``what``: good, tampered, odd or cut (by an abort).
    """

    what: str
    message: Message
    text: bytes
    tag: bytes
    place: str = ""  # of the flipped bit


class Generator:
    """Generates random test jobs (keys, messages, aborts) for the simulated GCM engine."""

    def __init__(self, seed: str, sizes: tuple[int, ...], banks: int) -> None:
        self.rng = random.Random(seed)
        self.sizes = sizes
        self.oracles: list[Oracle] = [None] * banks
        self.jobs: list[gcm_engine.Job] = []
        self.cases: list[Case] = []
        self.open = 0  # cases before this one cannot be cut
        self.counts: collections.Counter[str] = collections.Counter()
        self.style = "any"

    def key(self, bank: int) -> None:
        """Appends a test job that loads a random key into one of the GCM engine's key slots."""
        key = self.rng.randbytes(self.rng.choice(self.sizes))
        self.oracles[bank] = Oracle(key)
        self.jobs.append(Key(bank, key))
        self.counts["keys"] += 1

    def size(self, dense: int) -> int:
        """Returns a random GCM message length in bytes, mostly short, rarely up to 64 KB."""
        kind = self.rng.random()
        if kind < 0.93:
            return self.rng.randrange(dense + 1)
        if kind < 0.995:
            return self.rng.randrange(4096)
        return self.rng.randrange(1 << 16) + 1

    def message(self, bank: int, tamper: bool, what: str) -> None:
        """Appends a test job: a random GCM message to encrypt or decrypt under a slot's key."""
        rng = self.rng
        iv_size = 12 if rng.random() < 0.75 else rng.choice((rng.randrange(1, 40), 8, 16, 128, 300))
        aad_size, size = rng.randrange(101) * (rng.random() < 0.75), self.size(300)
        if self.style == "IVs":  # to be hashed, one after the other
            iv_size, aad_size, size = rng.randrange(1, 12), rng.randrange(2), rng.randrange(2)
        iv, aad, data = rng.randbytes(iv_size), rng.randbytes(aad_size), rng.randbytes(size)
        text, tag = self.oracles[bank].encrypt(iv, aad, data)
        if not tamper and rng.random() < 0.5:
            message = Message(bank, False, iv, aad, data)
            case = Case(what, message, text, tag)
        else:
            tag = tag[: rng.choice(TAG_SIZES)]
            case = Case(what, Message(bank, True, iv, aad, text, tag), data, bytes(16))
        if tamper:
            self.tamper(case)
        elif what == "odd":
            case.message.odd = rng.randrange(1, 3)
            if not (data or aad or len(iv) != 12):  # there are no beats
                case.what, case.message.odd = "good", 0
        self.cases.append(case)
        self.jobs.append(case.message)

    def tamper(self, case: Case) -> None:
        """Inverts a bit of a GCM message's tag, data, AAD or IV, or removes the tag."""
        if self.rng.random() < 0.02:
            case.place, case.message.tag = "no tag", b""
            return
        places = [name for name in PLACES[:4] if getattr(case.message, name)]
        case.place = self.rng.choice(places)
        part = bytearray(getattr(case.message, case.place))
        bit = self.rng.randrange(8 * len(part))
        part[bit // 8] ^= 1 << bit % 8
        setattr(case.message, case.place, bytes(part))

    def stall(self) -> None:
        """Appends a test job that sets random stalls at the GCM engine's ports."""
        rng = self.rng
        chances = [rng.choice((0, 0, 0, 30, 128, 230)) for _ in range(5)]
        if rng.random() < 0.3:
            chances = [0] * 5
        self.jobs.append(Stall(tuple(chances)))

    def abort(self) -> None:
        """Appends a test job that aborts the GCM engine, mostly in the middle of messages."""
        clear = self.rng.random() < 0.1
        wait = self.rng.choice((0, 1, 5, 20, 60))
        self.jobs.append(Abort(self.rng.randrange(wait + 1), clear))
        self.counts["clears" if clear else "aborts"] += 1
        for case in self.cases[self.open :]:
            if case.what in ("good", "tampered", "odd"):
                case.what = f"cut {case.what}"
        self.open = len(self.cases)
        for bank in range(len(self.oracles)) if clear else ():
            self.key(bank)

    def batch(self, good: int, tampered: int) -> tuple[list[gcm_engine.Job], list[Case]]:
        """Returns (random test jobs, expected results) with valid and tampered messages, aborts."""
        rng = self.rng
        self.jobs, self.cases, self.open = [], [], 0
        for bank in range(len(self.oracles)):
            if self.oracles[bank] is None or rng.random() < 0.3:
                self.key(bank)
        todo = [False] * good + [True] * tampered
        rng.shuffle(todo)
        for number, tamper in enumerate(todo):
            if number % 50 == 0:
                self.stall()
                self.style = rng.choice(("one bank", "turns", "any", "keys", "any", "any", "IVs"))
                bank = rng.randrange(len(self.oracles))
            if self.style in ("turns", "keys", "IVs"):
                bank = (bank + 1) % len(self.oracles)
            elif self.style == "any":
                bank = rng.randrange(len(self.oracles))
            if rng.random() < (0.7 if self.style == "keys" else 0.02):
                self.key(bank)
            self.message(bank, tamper, "tampered" if tamper else "good")
            if rng.random() < 0.01:
                self.message(rng.randrange(len(self.oracles)), False, "odd")
        return self.jobs, self.cases

    def cut_batch(self) -> tuple[list[gcm_engine.Job], list[Case]]:
        """Returns (random test jobs, expected results) with few GCM messages and a final abort."""
        rng = self.rng
        self.jobs, self.cases, self.open = [], [], 0
        for _ in range(10):
            self.stall()
            for _ in range(rng.randrange(1, 9)):
                bank = rng.randrange(len(self.oracles))
                if rng.random() < 0.2:
                    self.key(bank)
                self.message(bank, rng.random() < 0.3, "good")
                self.cases[-1].what = "tampered" if self.cases[-1].place else "good"
            self.abort()
        return self.jobs, self.cases


def check(case: Case) -> None:
    """Raises SoakError if the engine's output for a GCM message is not as expected."""
    message = case.message
    shape = f"bank {message.bank}, IV {len(message.iv)}, AAD {len(message.aad)}, "
    shape += f"data {len(message.data)}, {'decrypt' if message.decrypt else 'encrypt'}"

    def claim(holds: bool, what: str) -> None:
        if not holds:
            raise SoakError(f"{what}: {case.what} {case.place} message ({shape})")

    same = case.place not in ("data", "iv")
    cut = case.what.startswith("cut")
    if cut:
        claim(not same or case.text.startswith(message.text), "another text")
        if not message.ended:
            return
    claim(message.ended, "no end")
    if same and not cut:
        claim(message.text == case.text, "another text")
    bad = case.what.endswith(("tampered", "odd"))
    claim(message.ok != bad, "accepted" if bad else "refused")
    if not bad:
        claim(message.found == case.tag, "another tag")
    elif message.decrypt:
        claim(message.found == bytes(16), "a tag is shown")


def chunk(lanes: int | str, number: int, seed: int, messages: int) -> collections.Counter[str]:
    """Runs random messages on a newly simulated GCM engine; returns counts of checked events."""
    name = f"{seed}/{lanes}/{number}"
    generator = Generator(name, gcm_engine.key_sizes(lanes), gcm_engine.banks(lanes))
    engine = Engine(lanes, generator.rng.getrandbits(64))
    counts = generator.counts
    try:
        left = messages
        while left:
            size = min(left, 125)
            for jobs, cases in (generator.batch(size, size), generator.cut_batch()):
                engine.run(jobs)
                for case in cases:
                    check(case)
                    counts[case.what.split()[0]] += 1
                    if case.what in ("good", "tampered"):
                        counts["bytes"] += len(case.text)
                    if case.place and not case.what.startswith("cut"):
                        counts[f"tampered {case.place}"] += 1
            left -= size
    except MaeslantError as error:
        raise SoakError(f"{error}\nagain: {again(lanes, number, seed, messages)}") from None
    counts["clocks"] = engine.clocks
    return counts


def again(lanes: int | str, number: int, seed: int, messages: int) -> str:
    """Returns the command line that repeats a failed run of the GCM engine's random test."""
    command = f"python -m maeslant.verify.soak --seed {seed} --lanes {lanes}"
    return f"{command} --messages {messages} --chunk {number}"


def soak(
    messages: int, seed: int, lanes: list[int | str], processes: int = 2, only: int | None = None
) -> dict[int | str, collections.Counter[str]]:
    """Runs random messages on GCM engines of all widths in parallel; returns counts by engine."""
    for width in lanes:
        Engine(width)  # build before the processes need it
    work = []
    for at, width in enumerate(lanes):
        share = messages // len(lanes) + (at < messages % len(lanes))
        for number, first in enumerate(range(0, share, CHUNK)):
            work.append((width, number if only is None else only, min(CHUNK, share - first)))
    counts = {width: collections.Counter() for width in lanes}
    work.sort(key=lambda item: -gcm_engine.lanes(item[0]))  # the slow ones first
    if processes == 1:
        for width, number, size in work:
            counts[width] += chunk(width, number, seed, size)
        return counts
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        futures = [pool.submit(chunk, width, n, seed, size) for width, n, size in work]
        try:
            for (width, _, _), future in zip(work, futures, strict=True):
                counts[width] += future.result()
        except MaeslantError:
            pool.shutdown(cancel_futures=True)
            raise
    return counts


def show(counts: dict[int | str, collections.Counter[str]], seconds: float) -> None:
    """Prints the number of tested messages of each kind, a line per GCM engine."""
    columns = {
        "good": "right",
        "tampered": "refused",
        "odd": "odd",
        "cut": "cut",
        "aborts": "aborts",
        "clears": "clears",
        "keys": "keys",
        "bytes": "bytes",
        "clocks": "clocks",
    }
    table = Table("lanes", title="mae_gcm_stream beside OpenSSL")
    for title in columns.values():
        table.add_column(title, justify="right")
    total = sum(counts.values(), collections.Counter())
    for width, row in [*counts.items(), ("all", total)]:
        table.add_row(str(width), *(str(row[name]) for name in columns))
    Console(width=None if sys.stdout.isatty() else 100).print(table)
    places = ", ".join(f"{total[f'tampered {name}']} {name}" for name in PLACES)
    print(
        f"{total['good']} messages agree in every byte and tag; {total['tampered']} tampered ones "
        f"({places}) were refused; {seconds:.0f} s"
    )
    print("odd: beats that disagree with the announced lengths; cut: under way when aborted")


def main() -> int:
    """Runs the GCM engines' random test, prints counts; returns 0 if all results are right."""
    parser = argparse.ArgumentParser(prog="python -m maeslant.verify.soak", description=__doc__)
    parser.add_argument(
        "--messages", type=int, default=100_000, help="number of messages, of all widths together"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--lanes",
        type=lambda text: int(text) if text.isdigit() else text,
        choices=list(gcm_engine.names()),
        nargs="+",
        default=list(gcm_engine.names()),
        help="engines, by number of lanes or by name",
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--chunk", type=int, help="run only this chunk")
    arguments = parser.parse_args()
    began = time.monotonic()
    try:
        counts = soak(
            arguments.messages,
            arguments.seed,
            arguments.lanes,
            arguments.processes if arguments.chunk is None else 1,
            arguments.chunk,
        )
    except MaeslantError as error:
        print(error, file=sys.stderr)
        return 1
    show(counts, time.monotonic() - began)
    return 0


if __name__ == "__main__":
    sys.exit(main())
