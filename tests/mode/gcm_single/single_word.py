# SPDX-License-Identifier: Apache-2.0
"""Makes GCM messages of one word for mae_gcm_single and mae_gcm_prefetch, with expected answers."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.mode import gcm_oracle
from tests.vectors import gcm as cavp

KEY_SIZES = (16, 24, 32)
MSG_BITS = 8 + 6 + 256 + 5 + 128 + 5 + 128  # gcm_beat_msg_t


def number(data: bytes, size: int) -> int:
    """Packs a byte field of a GCM message, padded with random bits to a fixed size."""
    return int.from_bytes(data + random.randbytes(size - len(data)), "big")


@dataclass
class Word:
    """Holds a GCM message of at most one block, with its key and expected answer.

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
        """Packs lengths, AAD, data and tag of the message into gcm_beat_msg_t."""
        word = self.ctx << 6 | len(self.aad)
        word = (word << 256 | number(self.aad, 32)) << 5 | len(self.data)
        word = (word << 128 | number(self.data, 16)) << 5 | (len(self.tag) if self.decrypt else 0)
        return word << 128 | number(self.tag, 16)

    def own_key(self) -> int:
        """Packs the message's key and IV into gcm_beat_key_t."""
        word = self.decrypt << 2 | KEY_SIZES.index(len(self.key))
        return (word << 256 | number(self.key, 32)) << 96 | int.from_bytes(self.iv, "big")

    def answer(self) -> int:
        """Packs the expected verdict, data and tag into gcm_beat_rsp_t."""
        ok, data, tag = self.wanted
        word = (self.ctx << 1 | ok) << 128 | int.from_bytes(data.ljust(16, b"\0"), "big")
        return word << 128 | int.from_bytes(tag.ljust(16, b"\0"), "big")


def sealed(key: bytes, iv: bytes, aad: bytes, data: bytes) -> Word:
    """Returns a message to encrypt, with ciphertext and tag expected by OpenSSL."""
    text, tag = gcm_oracle.encrypt(key, iv, aad, data)
    return Word(key, iv, aad, data, wanted=(True, text, tag))


def opened(key: bytes, iv: bytes, aad: bytes, data: bytes, tag_bytes: int = 16) -> Word:
    """Returns a message to decrypt, encrypted by OpenSSL, with its expected plaintext."""
    text, tag = gcm_oracle.encrypt(key, iv, aad, data)
    return Word(key, iv, aad, text, True, tag[:tag_bytes], (True, data, b""))


def flipped(data: bytes) -> bytes:
    """Returns a byte string with one random bit inverted."""
    bit = random.randrange(8 * len(data))
    return (int.from_bytes(data, "big") ^ 1 << bit).to_bytes(len(data), "big")


def tampered(word: Word) -> Word:
    """Changes a random field of a message to decrypt; it must then be rejected."""
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
    """Returns a random message to encrypt or decrypt; half of the latter are tampered with."""
    aad = random.randbytes(random.choice((0, random.randrange(33), 16, 32)))
    data = random.randbytes(random.choice((0, 4, 8, 16, random.randrange(17))))
    if decrypt is None:
        decrypt = random.random() < 0.5
    if not decrypt:
        return sealed(key, iv, aad, data)
    word = opened(key, iv, aad, data, random.choice((16, 16, 16, 4, 8, 12, 13, 14, 15)))
    return tampered(word) if random.random() < 0.5 else word


def vectors(longest_key: int) -> Iterator[Word]:
    """Yields NIST's CAVP GCM vectors of at most one block with 96-bit IVs."""
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
