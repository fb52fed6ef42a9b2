# SPDX-License-Identifier: Apache-2.0
"""Derives the protected channel's keys and IVs, and seals messages (docs/protocol.md §2)."""

import dataclasses
import hmac

from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.kbkdf import KBKDFCMAC, CounterLocation, Mode

from maeslant.protected.model import wire
from maeslant.protected.model.constants import GRANULE, MAX_OPERATIONS, TAG, VERSION, Class

LABEL = b"maeslant1"
OUTPUT = 44


class BudgetError(Exception):
    """Raised if another use of a key would exceed the key's limit of AES blocks (H12)."""


class TagError(Exception):
    """Raised if a message of the encrypted channel has a wrong GCM tag or header."""


@dataclasses.dataclass(frozen=True)
class Capabilities:
    """Holds the card's capabilities, a 64-bit word from which, among others, keys are derived."""

    queues: int = 4
    depth: int = 8
    log2_chunk: int = 20
    operations: int = MAX_OPERATIONS
    log2_memory: int = 20
    version: int = VERSION
    log2_granule: int = GRANULE.bit_length() - 1
    regions: int = 12

    def word(self) -> int:
        """Encodes the card's capabilities as the 64-bit word of the capability register."""
        fields = (self.version, self.queues, self.depth, self.log2_chunk, self.operations)
        return int.from_bytes(bytes((*fields, self.log2_memory, self.log2_granule, self.regions)))

    @classmethod
    def unpack(cls, word: int) -> "Capabilities":
        """Decodes the card's capabilities from a 64-bit word, without checks."""
        version, queues, depth, chunk, operations, memory, granule, regions = word.to_bytes(8)
        return cls(queues, depth, chunk, operations, memory, version, granule, regions)

    def legal(self) -> bool:
        """Returns true if all fields of the card's capabilities are within their legal ranges."""
        return (
            (self.version, self.log2_granule) == (VERSION, 6)
            and 1 <= self.queues <= 64
            and 1 <= self.depth <= 63
            and 12 <= self.log2_chunk <= 20
            and 4 <= self.operations <= 64
            and 12 <= self.log2_memory <= 40
            and 1 <= self.regions <= 64
        )


@dataclasses.dataclass(frozen=True)
class Session:
    """Holds the inputs of a session's key derivation: secret, ID, nonces, capabilities."""

    secret: bytes
    session_id: bytes
    host_nonce: bytes
    device_nonce: bytes
    capabilities: int

    def context(self, cls: int, epoch: int) -> bytes:
        """Returns the 93-byte context of the key derivation for a message class and key epoch."""
        return b"".join(
            (
                self.session_id,
                self.host_nonce,
                self.device_nonce,
                cls.to_bytes(1),
                epoch.to_bytes(4),
                self.capabilities.to_bytes(8),
            )
        )

    def derive(self, cls: int, epoch: int) -> bytes:
        """Derives and returns AES key and IV mask of a message class in a key epoch (H3)."""
        kdf = KBKDFCMAC(
            algorithm=algorithms.AES256,
            mode=Mode.CounterMode,
            length=OUTPUT,
            rlen=4,
            llen=4,
            location=CounterLocation.BeforeFixed,
            label=LABEL,
            context=self.context(cls, epoch),
            fixed=None,
        )
        return kdf.derive(self.secret)


class Key:
    """Holds AES key and IV mask of a message class in a key epoch, and counts AES blocks used."""

    def __init__(self, session: Session, cls: Class, epoch: int, limit: int) -> None:
        output = session.derive(cls, epoch)
        self.bytes, self.mask = output[:32], output[32:]
        self.cls, self.epoch, self.limit = cls, epoch, limit
        self.used = 1  # H

    def spend(self, count: int) -> None:
        """Counts a message's AES blocks; raises BudgetError beyond the key's limit (H12)."""
        if self.used + wire.blocks(count) > self.limit:
            raise BudgetError(f"class {self.cls} epoch {self.epoch}: {self.used} blocks used")
        self.used += wire.blocks(count)

    def iv(self, queue: int, sequence: int) -> bytes:
        """Returns the GCM IV for a queue's sequence number under this key (H2)."""
        counter = bytes((self.cls, queue, 0, 0)) + sequence.to_bytes(8)
        return bytes(a ^ b for a, b in zip(self.mask, counter, strict=True))

    def seal(self, queue: int, sequence: int, aad: bytes, plain: bytes) -> bytes:
        """Encrypts data by AES-256-GCM under this key; returns ciphertext followed by tag."""
        return AESGCM(self.bytes).encrypt(self.iv(queue, sequence), plain, aad)

    def open(self, queue: int, sequence: int, aad: bytes, sealed: bytes) -> bytes:
        """Decrypts data by AES-256-GCM under this key; raises TagError on a wrong tag (H15)."""
        if len(sealed) < TAG:
            raise TagError
        try:
            return AESGCM(self.bytes).decrypt(self.iv(queue, sequence), sealed, aad)
        except Exception as error:  # InvalidTag, and nothing that tells more
            raise TagError from error

    def seal_message(self, queue: int, kind: int, sequence: int, body: bytes) -> bytes:
        """Encrypts a request or response under this key; returns header, ciphertext and GCM tag."""
        aad = wire.header(self.cls, queue, kind, self.epoch, sequence)
        return aad + self.seal(queue, sequence, aad, body)

    def open_message(self, queue: int, kind: int, sequence: int, message: bytes) -> bytes:
        """Verifies and decrypts a request or response under this key; returns the message's body.

        The header is made here; the one received is compared as a part of the tag.
        """
        made = wire.header(self.cls, queue, kind, self.epoch, sequence)
        same = hmac.compare_digest(made, message[:16])
        body = self.open(queue, sequence, made, message[16:])
        if not same:
            raise TagError
        return body

    def erase(self) -> None:
        """Overwrites this AES key and its IV mask with zeros."""
        self.bytes, self.mask = bytes(32), bytes(12)


class Keys:
    """Holds an encrypted session's keys of four message classes, for up to two epochs (H13)."""

    def __init__(self, session: Session, limit: int) -> None:
        self.session, self.limit = session, limit
        self.banks: dict[int, dict[Class, Key]] = {}
        self.load(0)

    def load(self, epoch: int) -> None:
        """Derives the keys of all four message classes for a key epoch."""
        assert len(self.banks) < 2 and epoch not in self.banks
        self.banks[epoch] = {cls: Key(self.session, cls, epoch, self.limit) for cls in Class}

    def get(self, cls: Class, epoch: int) -> Key:
        """Returns the key of a message class in a key epoch that is loaded."""
        return self.banks[epoch][cls]

    def erase(self, epoch: int) -> None:
        """Erases the keys of all message classes in a key epoch."""
        for key in self.banks.pop(epoch).values():
            key.erase()

    def wipe(self) -> None:
        """Erases all keys of the encrypted session and the session's secret."""
        for epoch in list(self.banks):
            self.erase(epoch)
        self.session = Session(bytes(32), bytes(16), bytes(32), bytes(32), 0)
