# SPDX-License-Identifier: Apache-2.0
"""Divides AES messages into parts for the cards of a pool and joins the parts' results.

What can be divided is done by all cards at once; of the rest one part follows the other, each on
whichever card is free, so that no part of any message has more than one card to lose.
"""

import collections
import hmac
import os
from collections.abc import Iterator

from maeslant.driver import gf128
from maeslant.driver.device import BLOCK, CODES, DECRYPT, ENCRYPT, NONCE, DeviceError, library
from maeslant.driver.pool import parts
from maeslant.errors import MaeslantError

PART = 1 << 20  # bytes: long beside what a part costs a card, some hundred clocks
AHEAD = 2  # parts for each card: one at work, one behind it
TAGS = {"gcm": (4, 8, *range(12, 17)), "ccm": range(4, 17, 2), "cmac": range(4, 17)}
GCM_MOST = (1 << 36) - 32  # SP 800-38D 5.2.1.1


def xor(left: bytes, right: bytes) -> bytes:
    """Returns the XOR of two byte strings of equal length."""
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def wrong_tag() -> DeviceError:
    """Returns the DeviceError that a device raises for a wrong authentication tag."""
    ffi, lib = library()
    return DeviceError(ffi.string(lib.mae_strerror(lib.MAE_E_AUTH)).decode(), lib.MAE_E_AUTH)


def check_sizes(mode: str, nonce: bytes | None, tag_bytes: int) -> None:
    """Raises MaeslantError for a nonce or tag size that GCM, CCM or CMAC does not allow."""
    least, most = {"gcm": (1, 65536), "ccm": (7, 13), "cmac": (0, 0)}[mode]
    if nonce is not None and not least <= len(nonce) <= most:
        raise MaeslantError(f"{mode} takes a nonce of {least} to {most} bytes, not {len(nonce)}")
    if tag_bytes not in TAGS[mode]:
        raise MaeslantError(f"{mode} has no tag of {tag_bytes} bytes")


def hold_back(results: Iterator[bytes], held: list[bytes]) -> Iterator[bytes]:
    """Collects decrypted parts in the list ``held`` until the tag check; returns no output."""
    held += results
    return iter(())


class Cutter:
    """Cuts a message that arrives in pieces into parts of 1 MiB, for the cards of a pool."""

    def __init__(self) -> None:
        self.held = bytearray()

    def put(self, data: bytes) -> Iterator[bytes]:
        """Adds ``data`` to a message that is cut into parts; yields each complete part of 1 MiB."""
        self.held += data
        while len(self.held) >= PART + BLOCK:
            yield bytes(self.held[:PART])
            del self.held[:PART]

    def rest(self) -> bytes:
        """Returns and wipes a message's bytes that are left after its last part of 1 MiB."""
        data = bytes(self.held)
        self.wipe()
        return data

    def wipe(self) -> None:
        """Overwrites the bytes of a message that await their part, and discards them."""
        self.held[:] = bytes(len(self.held))
        self.held.clear()


class Flight:
    """Queues message parts that run on a pool's cards; gives results in the order of starts."""

    def __init__(self, pool) -> None:
        self.pool = pool
        self.most = AHEAD * pool.width
        self.answers = collections.deque()

    def begin(self, note: object, call, *arguments: object) -> Iterator[tuple[object, object]]:
        """Starts a message part on a card of the pool; yields results of earlier parts."""
        self.answers.append((note, self.pool.run(call, *arguments)))
        while self.answers and (len(self.answers) > self.most or self.answers[0][1].done()):
            yield self._next()

    def end(self) -> Iterator[tuple[object, object]]:
        """Waits for all message parts still running on the pool's cards; yields their results."""
        while self.answers:
            yield self._next()

    def _next(self) -> tuple[object, object]:
        note, answer = self.answers.popleft()
        return note, answer.result()

    def cancel(self) -> None:
        """Cancels all message parts still running on the pool's cards."""
        while self.answers:
            self.answers.popleft()[1].cancel()


def next_iv(mode: str, source: bytes, result: bytes) -> bytes:
    """Returns the IV for the next part of a CBC, CFB, PCBC or OFB message."""
    if mode in ("cbc", "cfb"):
        return result[-BLOCK:]
    return xor(source[-BLOCK:], result[-BLOCK:])  # PCBC's chain, and OFB's keystream


class Stream:
    """Processes a message without authentication on a pool's cards, piece by piece."""

    def __init__(self, pool, mode: str, direction: int, key: bytes, iv: bytes | None) -> None:
        self.mode, self.direction, self.key, self.iv = mode, direction, key, iv
        self.divided = library()[1].mae_mode_divides(CODES[mode], direction)
        self.cutter = Cutter()
        self.flight = Flight(pool)
        self.pool = pool
        self.offset = 0
        self.before = bytes(BLOCK)

    def _part(self, data: bytes) -> Iterator[bytes]:
        arguments = (self.mode, self.direction, self.key, self.iv)
        if self.divided:
            begun = self.flight.begin(None, parts.plain, *arguments, self.offset, self.before, data)
            self.offset += len(data)
            self.before = data[-BLOCK:]
            yield from (result for _, result in begun)
            return
        result = self.pool.run(parts.plain, *arguments, 0, self.before, data).result()
        if len(data) >= BLOCK:
            self.iv = next_iv(self.mode, data, result)
        self.offset += len(data)
        yield result

    def update(self, data: bytes) -> Iterator[bytes]:
        """Encrypts or decrypts ``data`` on the pool's cards; yields the output ready so far."""
        for part in self.cutter.put(data):
            yield from self._part(part)

    def finish(self) -> Iterator[bytes]:
        """Ends the message on the pool's cards; yields its remaining output."""
        rest = self.cutter.rest()
        if rest or not self.offset:  # nothing at all goes to a card too: it knows whether it may be
            yield from self._part(rest)
        yield from (result for _, result in self.flight.end())

    def free(self) -> None:
        """Cancels the message's parts on the pool's cards; wipes its bytes and forgets its key."""
        self.flight.cancel()
        self.cutter.wipe()
        self.key = b""


class Gcm:
    """Processes a GCM message in parts on a pool's cards and combines the parts' hashes to a tag.

    A part's counter comes from the IV that it is given, its hash from its tag (parts.gcm); GHASH of
    the whole is the sum of the parts' hashes, each times H to the number of blocks behind it. The
    mask of a part's tag is the last block of keystream of the part before: no job of its own.
    """

    def __init__(self, pool, direction, key, nonce, lengths, tag_bytes, unverified) -> None:
        self.pool, self.direction, self.key, self.tag_bytes = pool, direction, key, tag_bytes
        self.nonce = os.urandom(NONCE) if nonce is None else nonce
        hash_key = pool.run(parts.block, key, bytes(BLOCK))
        if len(self.nonce) == NONCE:  # its mask does not wait for H
            self.first = int.from_bytes(self.nonce + (1).to_bytes(4))
            mask = pool.run(parts.block, key, self.first.to_bytes(BLOCK))
        self.h = int.from_bytes(hash_key.result())
        if not self.h:  # one key in 2^128; its hash says nothing
            raise MaeslantError("GCM cannot be divided under this key; take another")
        self.inverse = gf128.inverse(self.h)
        if len(self.nonce) != NONCE:
            self.first = gf128.ghash(self.h, self.nonce) if self.nonce else 0
            mask = pool.run(parts.block, key, self.first.to_bytes(BLOCK))
        self.cutter, self.flight = Cutter(), Flight(pool)
        self.first_mask = self.mask = mask.result()
        self.powers: dict[int, int] = {}
        self.sum = 0
        self.aad_bytes = self.data_bytes = 0
        self.in_data = False
        self.withholds = direction == DECRYPT and not unverified
        self.ready: list[bytes] = []

    def _counter(self, blocks: int) -> int:
        """Returns GCM's counter block, ``blocks`` after the first, modulo 2^32 (inc32)."""
        low = (self.first + blocks) % (1 << 32)
        return self.first >> 32 << 32 | low

    def _add(self, length: int, lengths: int, tag: bytes) -> None:
        """Adds the hash of a message part to the GHASH of the whole GCM message."""
        value = parts.hash_of(tag, int.from_bytes(self.mask), self.inverse, lengths)
        blocks = -(-length // BLOCK)
        if blocks not in self.powers:
            self.powers[blocks] = gf128.power(self.h, blocks)
        self.sum = gf128.multiply(self.sum, self.powers[blocks]) ^ value

    def _take(self, done: Iterator[tuple[object, object]]) -> Iterator[bytes]:
        """Adds the hashes of finished parts to the GCM message's GHASH; yields the parts' data."""
        for (length, lengths, last), (data, tag) in done:
            self._add(length, lengths, tag)
            if data:
                self.mask = xor(last, data[-BLOCK:])  # of the next part, if this one is whole
                yield data

    def _part(self, data: bytes) -> Iterator[bytes]:
        if not self.in_data:
            call = (parts.ghash, self.key, self.inverse, self.first, data)
        else:
            counter = self._counter(self.data_bytes // BLOCK)
            call = (parts.gcm, self.direction, self.key, self.inverse, counter, data)
            self.data_bytes += len(data)
            if self.data_bytes > GCM_MOST:
                raise MaeslantError("GCM takes at most 2^36 - 32 bytes")
        # A card hashes its own ciphertext as data, and what comes from outside as AAD.
        own = self.in_data and self.direction == ENCRYPT
        lengths = 8 * len(data) * (parts.DATA_LENGTH if own else parts.AAD_LENGTH)
        note = (len(data), lengths, data[-BLOCK:])
        yield from self._take(self.flight.begin(note, *call))

    def _rest(self) -> Iterator[bytes]:
        if rest := self.cutter.rest():
            yield from self._part(rest)

    def aad(self, data: bytes) -> None:
        """Adds ``data`` to the additional authenticated data (AAD) of the GCM message."""
        if self.in_data:
            raise MaeslantError("all AAD comes before the data")
        self.aad_bytes += len(data)
        for part in self.cutter.put(data):
            list(self._part(part))

    def _data(self) -> None:
        if not self.in_data:
            list(self._rest())
            self.in_data = True

    def update(self, data: bytes) -> Iterator[bytes]:
        """Encrypts or decrypts ``data`` by GCM on the pool's cards; yields output ready so far."""
        self._data()
        for part in self.cutter.put(data):
            results = self._part(part)
            yield from hold_back(results, self.ready) if self.withholds else results

    def finish(self, tag: bytes | None = None) -> bytes:
        """Ends the GCM message; returns its tag, or raises DeviceError if ``tag`` is wrong."""
        self._data()
        self.ready += self._rest()
        self.ready += self._take(self.flight.end())
        lengths = 8 * self.aad_bytes * parts.AAD_LENGTH + 8 * self.data_bytes * parts.DATA_LENGTH
        total = gf128.multiply(self.sum ^ lengths, self.h).to_bytes(BLOCK)
        made = xor(total, self.first_mask)[: self.tag_bytes]
        if tag is not None and not hmac.compare_digest(made, tag):
            self.ready.clear()
            raise wrong_tag()
        return made

    def read(self) -> Iterator[bytes]:
        """Yields the rest of the GCM message's output, after :meth:`finish`."""
        while self.ready:
            yield self.ready.pop(0)

    def free(self) -> None:
        """Cancels the GCM message's parts on cards; wipes held bytes; forgets key and hash."""
        self.flight.cancel()
        self.cutter.wipe()
        self.ready.clear()
        self.powers.clear()
        self.key, self.h, self.inverse, self.sum = b"", 0, 0, 0
        self.first_mask = self.mask = b""


class Mac:
    """Computes the CBC-MAC of a message in pieces on a pool's cards, part after part."""

    def __init__(self, pool, key: bytes) -> None:
        self.pool, self.key, self.chain = pool, key, bytes(BLOCK)
        self.cutter = Cutter()

    def _part(self, data: bytes) -> None:
        self.chain = self.pool.run(parts.last, self.key, self.chain, data).result()

    def put(self, data: bytes) -> None:
        """Adds ``data`` to the message whose CBC-MAC the pool's cards compute."""
        for part in self.cutter.put(data):
            self._part(part)

    def pad(self) -> None:
        """Fills the CBC-MAC's last block with zeros, as CCM does between AAD and data."""
        if rest := self.cutter.rest():
            self._part(rest + bytes(-len(rest) % BLOCK))

    def rest(self) -> bytes:
        """Returns a message's last block, 0 to 16 bytes, which the CBC-MAC does not cover yet."""
        rest = self.cutter.rest()
        cut = max(0, (len(rest) - 1) // BLOCK * BLOCK)
        if cut:
            self._part(rest[:cut])
        return rest[cut:]


class Cmac:
    """Computes a CMAC (SP 800-38B) of a message in pieces on the cards of a pool."""

    def __init__(self, pool, direction, key, nonce, lengths, tag_bytes, unverified) -> None:
        self.mac, self.tag_bytes, self.nonce = Mac(pool, key), tag_bytes, b""

    def aad(self, data: bytes) -> None:
        """Adds ``data`` to the message whose CMAC the pool's cards compute."""
        self.mac.put(data)

    def finish(self, tag: bytes | None = None) -> bytes:
        """Ends the message and returns its CMAC, computed on the pool's cards.

        With ``tag``: fails if it is wrong.
        """
        mac, rest = self.mac, self.mac.rest()
        subkey = int.from_bytes(mac.pool.run(parts.block, mac.key, bytes(BLOCK)).result())
        for _ in range(1 if len(rest) == BLOCK else 2):
            subkey = subkey << 1 & ((1 << 128) - 1) ^ (0x87 if subkey >> 127 else 0)
        if len(rest) < BLOCK:
            rest = (rest + b"\x80").ljust(BLOCK, b"\0")
        final = xor(xor(rest, subkey.to_bytes(BLOCK)), mac.chain)
        made = mac.pool.run(parts.block, mac.key, final).result()[: self.tag_bytes]
        if tag is not None and not hmac.compare_digest(made, tag):
            raise wrong_tag()
        return made

    def free(self) -> None:
        """Wipes the CMAC's held message bytes and forgets its key."""
        self.mac.cutter.wipe()
        self.mac.key = b""


class Ccm:
    """Processes a CCM message on a pool's cards: CTR in parallel, CBC-MAC part after part."""

    def __init__(self, pool, direction, key, nonce, lengths, tag_bytes, unverified) -> None:
        self.pool, self.direction, self.key, self.tag_bytes = pool, direction, key, tag_bytes
        self.nonce = os.urandom(NONCE) if nonce is None else nonce
        self.aad_left, self.data_left = lengths
        size = BLOCK - 1 - len(self.nonce)  # of the counter, in bytes
        if lengths[1] >> 8 * size:
            raise MaeslantError(
                f"CCM with an IV of {len(self.nonce)} bytes takes less than 2^{8 * size} bytes"
            )
        flags = (64 if lengths[0] else 0) | (tag_bytes - 2) // 2 << 3 | size - 1
        self.mac = Mac(pool, key)
        self.mac.put(bytes([flags]) + self.nonce + lengths[1].to_bytes(size))
        if lengths[0] >= 0xFF00:
            short = lengths[0] < 1 << 32
            prefix = b"\xff\xfe" if short else b"\xff\xff"
            self.mac.put(prefix + lengths[0].to_bytes(4 if short else 8))
        elif lengths[0]:
            self.mac.put(lengths[0].to_bytes(2))
        self.counter = bytes([size - 1]) + self.nonce + bytes(size)
        first = (int.from_bytes(self.counter) + 1).to_bytes(BLOCK)
        self.stream = Stream(pool, "ctr", ENCRYPT, key, first)
        self.plain = collections.deque()  # encrypting: what the parts on their way came from
        self.in_data = False
        self.withholds = direction == DECRYPT and not unverified
        self.ready: list[bytes] = []

    def aad(self, data: bytes) -> None:
        """Adds ``data`` to the additional authenticated data (AAD) of the CCM message."""
        if self.in_data:
            raise MaeslantError("all AAD comes before the data")
        self.aad_left -= len(data)
        self.mac.put(data)

    def _data(self) -> None:
        if not self.in_data:
            self.mac.pad()
            self.in_data = True

    def _seen(self, results: Iterator[bytes]) -> Iterator[bytes]:
        for result in results:
            if self.direction == DECRYPT:
                self.mac.put(result)
            yield result

    def update(self, data: bytes) -> Iterator[bytes]:
        """Encrypts or decrypts ``data`` by CCM on the pool's cards; yields output ready so far."""
        self._data()
        self.data_left -= len(data)
        if self.direction == ENCRYPT:
            self.mac.put(data)
        results = self._seen(self.stream.update(data))
        yield from hold_back(results, self.ready) if self.withholds else results

    def finish(self, tag: bytes | None = None) -> bytes:
        """Ends the CCM message; returns its tag, or raises DeviceError if ``tag`` is wrong."""
        self._data()
        if self.aad_left or self.data_left:
            raise MaeslantError("the message's length differs from the announced one")
        self.ready += self._seen(self.stream.finish())
        self.mac.pad()
        mask = self.pool.run(parts.block, self.key, self.counter).result()
        made = xor(self.mac.chain, mask)[: self.tag_bytes]
        if tag is not None and not hmac.compare_digest(made, tag):
            self.ready.clear()
            raise wrong_tag()
        return made

    def read(self) -> Iterator[bytes]:
        """Yields the rest of the CCM message's output, after :meth:`finish`."""
        while self.ready:
            yield self.ready.pop(0)

    def free(self) -> None:
        """Cancels the CCM message's parts on cards; wipes held bytes; forgets the key."""
        self.stream.free()
        self.mac.cutter.wipe()
        self.ready.clear()
        self.mac.key = self.key = b""
