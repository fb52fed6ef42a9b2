# SPDX-License-Identifier: Apache-2.0
"""Makes GCM messages of one word for mae_gcm_single and mae_gcm_prefetch, with answers."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.mode import gcm_oracle
from tests.vectors import gcm as cavp

KEY_SIZES = (16, 24, 32)
MSG_BITS = 8 + 6 + 256 + 5 + 128 + 5 + 128  # gcm_beat_msg_t


def number(data: bytes, size: int) -> int:
    """Packs a byte field of a GCM message: byte 0 highest, random bits after the last byte."""
    return int.from_bytes(data + random.randbytes(size - len(data)), "big")


@dataclass
class Word:
    """Holds a GCM message of one word with its key and expected result.

    ``wanted`` is the answer: ok, data, tag.
    """

    key: bytes
    iv: bytes
    aad: bytes
    data: bytes
    decrypt: bool = False
    tag: bytes = b""
    wanted: tuple[bool, bytes, bytes] = (False, b"", b"")
    ctx: int = field(default_factory=lambda: random.randrange(256))

    def msg(self) -> int:
        """Packs a GCM message of one word into gcm_beat_msg_t."""
        word = self.ctx << 6 | len(self.aad)
        word = (word << 256 | number(self.aad, 32)) << 5 | len(self.data)
        word = (word << 128 | number(self.data, 16)) << 5 | (len(self.tag) if self.decrypt else 0)
        return word << 128 | number(self.tag, 16)

    def own_key(self) -> int:
        """Packs a GCM message's own key and IV into gcm_beat_key_t."""
        word = self.decrypt << 2 | KEY_SIZES.index(len(self.key))
        return (word << 256 | number(self.key, 32)) << 96 | int.from_bytes(self.iv, "big")

    def answer(self) -> int:
        """Packs the expected answer to a GCM message into gcm_beat_rsp_t."""
        ok, data, tag = self.wanted
        word = (self.ctx << 1 | ok) << 128 | int.from_bytes(data.ljust(16, b"\0"), "big")
        return word << 128 | int.from_bytes(tag.ljust(16, b"\0"), "big")


def sealed(key: bytes, iv: bytes, aad: bytes, data: bytes) -> Word:
    """Makes a GCM message of one word to encrypt, with OpenSSL's answer."""
    text, tag = gcm_oracle.encrypt(key, iv, aad, data)
    return Word(key, iv, aad, data, wanted=(True, text, tag))


def opened(key: bytes, iv: bytes, aad: bytes, data: bytes, tag_bytes: int = 16) -> Word:
    """Makes a GCM message of one word to decrypt, sealed by OpenSSL."""
    text, tag = gcm_oracle.encrypt(key, iv, aad, data)
    return Word(key, iv, aad, text, True, tag[:tag_bytes], (True, data, b""))


def flipped(data: bytes) -> bytes:
    """Inverts one bit of a byte string."""
    bit = random.randrange(8 * len(data))
    return (int.from_bytes(data, "big") ^ 1 << bit).to_bytes(len(data), "big")


def tampered(word: Word) -> Word:
    """Changes any field of a GCM message to decrypt, so that it must be refused."""
    parts = [name for name in ("aad", "data", "tag") if getattr(word, name)]
    name = random.choice([*parts, "length"])
    if name == "length":
        name = "aad" if len(word.aad) < 32 else "data"
        longer = getattr(word, name) + b"\0"
        setattr(word, name, longer if len(longer) <= 16 or name == "aad" else longer[1:-2])
    else:
        setattr(word, name, flipped(getattr(word, name)))
    word.wanted = (False, b"", b"")
    return word


def any_word(key: bytes, iv: bytes, decrypt: bool | None = None) -> Word:
    """Makes a random GCM message of one word, half of the decryptions tampered with."""
    aad = random.randbytes(random.choice((0, random.randrange(33), 16, 32)))
    data = random.randbytes(random.choice((0, 4, 8, 16, random.randrange(17))))
    if decrypt is None:
        decrypt = random.random() < 0.5
    if not decrypt:
        return sealed(key, iv, aad, data)
    word = opened(key, iv, aad, data, random.choice((16, 16, 16, 4, 8, 12, 13, 14, 15)))
    return tampered(word) if random.random() < 0.5 else word


def vectors(longest_key: int) -> Iterator[Word]:
    """Returns NIST's CAVP vectors of one word with IVs of 96 bits."""
    for v in cavp.cavp():
        if len(v.key) > longest_key or len(v.iv) != 12 or len(v.aad) > 32:
            continue
        if len(v.ciphertext) > 16:
            continue
        if v.encrypt:
            whole = gcm_oracle.encrypt(v.key, v.iv, v.aad, v.plaintext)[1]
            assert whole.startswith(v.tag)
            wanted = (True, v.ciphertext, whole)
            yield Word(v.key, v.iv, v.aad, v.plaintext, wanted=wanted)
        else:
            wanted = (v.valid, v.plaintext if v.valid else b"", b"")
            yield Word(v.key, v.iv, v.aad, v.ciphertext, True, v.tag, wanted)
