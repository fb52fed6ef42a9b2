# SPDX-License-Identifier: Apache-2.0
"""Lists attacks on the protocol of Ghosh et al.: some it stops, some it lets through.

Each runs with the driver of model/ghosh.py and a card that follows the paper, RTL or model. The
workload sends weights to two places, then new ones to the second, and reads those back; an attack
gets through if the driver is content and data are not what it sent.
"""

import dataclasses
import os
from collections.abc import Callable, Iterable
from typing import Protocol

from maeslant.protected.attacks.adversary import flip
from maeslant.protected.attacks.tag_oracle import GhoshOracle
from maeslant.protected.attacks.writes import Writes
from maeslant.protected.model.ghosh import (
    ACCESS,
    DATA,
    ENGINE_TAG,
    FINALIZE,
    GO,
    HOST_LO,
    MOVE,
    REQUEST_TAG,
    START,
    TARGET,
    VERDICT,
    GhoshHost,
    raw_write,
    target_word,
)
from maeslant.protected.model.keys import TagError
from maeslant.protected.model.link import Attack, Card, Event, Link, What

NOBODY = "nobody"
OTHER, PLACE, SIZE = 128, 0, 128  # device addresses, bytes of a transfer
OLD, NEW = b"old weights.... " * (SIZE // 16), b"the new weights " * (SIZE // 16)
CHANGE = b"\xff\0\0\x01"
LAST_SEND, RECEIVE = 2, 3  # transfers of the workload, from 0 on


class GhoshCard(Card, Protocol):
    """Defines what a card that follows the paper offers: registers, bus and memory."""

    bus: Link | None
    memory: bytes

    def close(self) -> None:
        """Closes the card."""


class Edit(Attack):
    """Changes one kind of bus event in one transfer of the workload: the base of most attacks."""

    def __init__(
        self, what: What, address: int | None, edit: Callable, transfer: int = LAST_SEND
    ) -> None:
        super().__init__()
        self.what, self.address, self.edit, self.transfer = what, address, edit, transfer
        self.writes = Writes()
        self.moves: list[Event] = []  # of the host's address

    def _meant(self, event: Event) -> bool:
        """Returns true for the event to change: the first such one of the wanted transfer."""
        starts = [w for *_, w in self.writes.every if w.address == TARGET]
        now = len(starts) - (self.what is not What.MMIO_WRITE or self.address != TARGET)
        if event.what is not self.what or self.fired or now < self.transfer:
            return False
        return self.address in (None, event.address)

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Records protected writes, and changes the bus write for which this attack waits."""
        meant = self._meant(event)
        self.writes.see(event)
        if event.address == HOST_LO and event.what is What.MMIO_WRITE:
            self.moves.append(event)
        if not meant or event.is_read:
            return (event,)
        self.fired += 1
        return self.edit(self, event)

    def answer(self, event: Event, data: bytes, link: Link) -> bytes:
        """Changes the data of the bus read for which this attack waits."""
        if not event.is_read or not self._meant(event):
            return data
        self.fired += 1
        return self.edit(self, data)

    def between(self, link: Link) -> None:
        """Acts between the sends and the reading back, here not at all."""


class Oracle(GhoshOracle):
    """Runs the tag oracle before the last send: learns H from the first transfer's start."""

    def __init__(self, what: What) -> None:
        super().__init__(CHANGE, what)

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Learns H when the third transfer begins, and forges from then on."""
        targets = [w for *_, w in self.writes.every if w.address == TARGET]
        # Before the request of the third transfer: an old start would change its engine.
        if self.h is None and len(targets) == LAST_SEND and event.address == HOST_LO:
            self.learned = True
        if self.h is None and len(targets) == LAST_SEND and self._begins(event):
            self.learn(link, os.urandom(SIZE))
        return super().transform(event, link)

    def _begins(self, event: Event) -> bool:
        """Returns true for the first event of a request after a transfer has ended."""
        return event.what is What.MMIO_WRITE and event.address < REQUEST_TAG and self.ended

    @property
    def ended(self) -> bool:
        """Returns true if the driver has read the tag of the second transfer."""
        return self.tags >= LAST_SEND

    def between(self, link: Link) -> None:
        """Acts between the sends and the reading back, here not at all."""
