# SPDX-License-Identifier: Apache-2.0
"""Implements the GCM tag-oracle attack (H1) on Ghosh's protocol and on Maeslant's.

Two tags under one key and IV over two ciphertexts of one block differ by (c1 ^ c2) * H^2. With H,
any tag can be moved from one ciphertext to another: T' = T ^ GHASH(c) ^ GHASH(c').
"""

import dataclasses
from collections.abc import Iterable

from maeslant.driver import gf128
from maeslant.protected.attacks.adversary import Adversary, Sight
from maeslant.protected.attacks.writes import Writes
from maeslant.protected.model.ghosh import (
    ENGINE_TAG,
    FINALIZE,
    GO,
    HOST_LO,
    MOVE,
    raw_read,
    raw_write,
)
from maeslant.protected.model.link import Attack, Event, Link, What


def recover(first: tuple[bytes, bytes], second: tuple[bytes, bytes]) -> int:
    """Recovers the GCM hash key H from two one-block ciphertexts and their tags."""
    (c1, t1), (c2, t2) = first, second
    tags = int.from_bytes(t1) ^ int.from_bytes(t2)
    texts = int.from_bytes(c1) ^ int.from_bytes(c2)
    return gf128.square_root(gf128.multiply(tags, gf128.inverse(texts)))


def move_tag(h: int, tag: bytes, old: bytes, new: bytes, aad: bytes = b"") -> bytes:
    """Computes the GCM tag of a changed ciphertext from the original tag and the hash key H."""
    change = gf128.ghash(h, old, aad) ^ gf128.ghash(h, new, aad)
    return (int.from_bytes(tag) ^ change).to_bytes(16)


class GhoshOracle(Attack):
    """Attacks Ghosh et al.'s protocol: recovers the GCM hash key H, then forges data and tags."""

    def __init__(self, change: bytes, what: What | None = None) -> None:
        super().__init__()
        self.change = change  # wanted difference of plaintexts
        self.what = what  # DMA_READ: forge what comes in, DMA_WRITE: what goes out; None: both
        self.writes = Writes()
        self.h: int | None = None
        self.sent = self.forged = b""

    def learn(self, link: Link, ciphertext: bytes) -> int:
        """Recovers and returns the GCM hash key H of Ghosh et al.'s card by a replayed start."""
        buffer = link.BASE + len(link.memory) - 64 * (1 + len(ciphertext) // 64)
        other = ciphertext[:-1] + bytes((ciphertext[-1] ^ 1,))
        pairs = []
        for text in (ciphertext, other):
            for event in self.writes.events(0, 2):  # target and start of a transfer into the card
                link.raw(event)
            link.raw(Event(What.HOST_STORE, buffer, len(text), text))
            raw_write(link, HOST_LO, buffer.to_bytes(8, "little"))
            raw_write(link, MOVE, GO)
            raw_write(link, FINALIZE, GO)
            pairs.append((text[-16:], raw_read(link, ENGINE_TAG, 16)))
        self.h = recover(*pairs)
        return self.h

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Returns a bus access of Ghosh et al.'s card, with forged data if it is a DMA write."""
        self.writes.see(event)
        if event.what is What.DMA_WRITE and self._forges(event.what):
            return (event.with_data(self._forge(event.data)),)
        return (event,)

    def answer(self, event: Event, data: bytes, link: Link) -> bytes:
        """Returns forged data or a forged tag for a bus read under the protocol of Ghosh et al."""
        if event.what is What.DMA_READ and self._forges(event.what):
            return self._forge(data)
        if event.what is What.MMIO_READ and event.address == ENGINE_TAG and self.sent:
            # In: the card's tag is over the forged text, the driver wants the sent one's.
            # Out: the card's tag is over the sent text, the driver wants the forged one's.
            data = move_tag(self.h, data, self.forged, self.sent)
            self.sent = self.forged = b""
        return data

    def _forges(self, what: What) -> bool:
        return self.h is not None and self.what in (None, what)

    def _forge(self, data: bytes) -> bytes:
        change = self.change.ljust(len(data), b"\0")
        forged = bytes(a ^ b for a, b in zip(data, change, strict=True))
        self.sent, self.forged = self.sent + data, self.forged + forged
        self.fired += 1
        return forged


@dataclasses.dataclass
class Harvest:
    """Holds a message recorded on the bus, split into AAD, ciphertext and GCM tag."""

    aad: bytes
    ciphertext: bytes
    tag: bytes


class OurOracle(Adversary):
    """Tries the tag-oracle attack on Maeslant's protocol: records GCM tags, then forges data.

    Replays what it can to get a second tag under one key and IV. `learn` tries each pair of tags as
    if both were under one key and IV; `tested` says how many candidates for H there were and
    `right` how many of them predict the tag of a third message of that class.
    """

    def __init__(self, change: bytes, h: int | None = None) -> None:
        super().__init__()
        self.change, self.h = change, h
        self.harvest: list[Harvest] = []
        self.readable: set[bytes] = set()

    def act(self, sight: Sight, event: Event, link: Link) -> Iterable[Event]:
        """Records messages' tags and words of readable registers; returns the bus access."""
        if sight.what in ("request", "response"):
            data = event.data
            self.harvest.append(Harvest(data[:16], data[16:-16], data[-16:]))
        if event.what is What.DMA_READ:
            self.fired += 1
            for page in range(4):
                for at in range(0, 0x600, 16):
                    self.readable.add(raw_read(link, 0x1000 * page + at, 16))
        return (event,)

    def candidates(self) -> Iterable[tuple[Harvest, int]]:
        """Yields (message, H if another had its IV) for each pair of one-block GCM messages."""
        single = [item for item in self.harvest if len(item.ciphertext) == 16]
        for at, first in enumerate(single):
            for second in single[at + 1 :]:
                if first.ciphertext != second.ciphertext:
                    pair = (first.ciphertext, first.tag), (second.ciphertext, second.tag)
                    yield first, recover(*pair)

    def react(self, sight: Sight, event: Event, data: bytes, link: Link) -> bytes:
        """Returns data of a DMA read, forged if this attack was given the GCM hash key H."""
        if self.h is not None and sight.what == "data in":
            change = self.change.ljust(len(data), b"\0")
            return bytes(a ^ b for a, b in zip(data, change, strict=True))
        return data
