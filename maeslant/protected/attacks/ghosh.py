# SPDX-License-Identifier: Apache-2.0
"""Lists attacks on the protocol of Ghosh et al.: some it lets through, some it stops.

Each runs with the driver of model/ghosh.py and a card that follows the paper, RTL or model. The
workload sends weights to two places, then new ones to the second, and reads those back; an attack
gets through if the driver is content and data are not what it sent.
"""

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from maeslant.protected.attacks.adversary import flip
from maeslant.protected.attacks.tag_oracle import GhoshOracle
from maeslant.protected.attacks.writes import Writes
from maeslant.protected.model.ghosh import (
    ACCESS,
    DATA,
    GO,
    HOST_LO,
    MOVE,
    OUT,
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
OLD, NEW = b"the old weights " * (SIZE // 16), b"the new weights " * (SIZE // 16)
CHANGE = b"\xff\0\0\x01"
SEND, RECEIVE = "send", "receive"  # of the new weights


class GhoshCard(Card, Protocol):
    """Defines what a card that follows the paper offers: registers, bus and memory."""

    key: bytes
    bus: Link | None
    memory: bytes

    def close(self) -> None:
        """Closes the card."""


class Adversary(Attack):
    """Records what passes; acts before the last send and before the reading back, if at all."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = Writes()
        self.hosts: list[Event] = []  # of the address in host memory
        self.moved: list[bytes] = []  # ciphertext into the card

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Records protected writes and host addresses."""
        self.writes.see(event)
        if event.what is What.MMIO_WRITE and event.address == HOST_LO:
            self.hosts.append(event)
        if event.what is What.HOST_STORE:
            self.moved.append(event.data)
        return (event,)

    def before(self, now: str, link: Link) -> None:
        """Acts before the last send, and before the reading back."""


class Edit(Adversary):
    """Changes the first bus event of a kind in the last send, or in the reading back."""

    def __init__(self, what: What, address: int | None, edit: Callable, now: str = SEND) -> None:
        super().__init__()
        self.what, self.address, self.edit, self.now = what, address, edit, now
        self.armed = False

    def before(self, now: str, link: Link) -> None:
        """Waits for the event from the wanted transfer on."""
        self.armed = now == self.now

    def _take(self, event: Event) -> bool:
        """Returns true once, for the event to change."""
        taken = self.armed and event.what is self.what and self.address in (None, event.address)
        if taken:
            self.armed = False
            self.fired += 1
        return taken

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Changes the bus write for which this attack waits."""
        super().transform(event, link)
        return self.edit(self, event) if not event.is_read and self._take(event) else (event,)

    def answer(self, event: Event, data: bytes, link: Link) -> bytes:
        """Changes the data of the bus read for which this attack waits."""
        return self.edit(self, data) if event.is_read and self._take(event) else data


class Oracle(GhoshOracle):
    """Learns H from the tag oracle before the last send, and forges from then on."""

    def before(self, now: str, link: Link) -> None:
        """Learns H, once."""
        if self.h is None:
            self.learn(link, os.urandom(SIZE))


class Rollback(Adversary):
    """Replays the sending of the old weights after the new ones came."""

    def before(self, now: str, link: Link) -> None:
        """Makes the second transfer again, with its ciphertext, before the reading back."""
        if now != RECEIVE:
            return
        for event in self.writes.events(2, 4):
            link.raw(event)
        link.raw(Event(What.HOST_STORE, link.BASE + len(link.memory) - SIZE, SIZE, self.moved[1]))
        self._move(link)

    def _move(self, link: Link) -> None:
        """Has the card move from the end of host memory."""
        buffer = link.BASE + len(link.memory) - SIZE
        raw_write(link, HOST_LO, buffer.to_bytes(8, "little"))
        raw_write(link, MOVE, GO)
        self.fired += 1


class RawAccess(Rollback):
    """Reads device memory by writes of the protected registers without tags."""

    def before(self, now: str, link: Link) -> None:
        """Writes target and start, and has the card move the weights out."""
        raw_write(link, TARGET, target_word(OUT, PLACE, SIZE))
        raw_write(link, START, bytes(8))
        self._move(link)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Describes what came of an attack: whether it acted, who noticed, what data were wrong."""

    fired: bool
    caught: str  # ACCESS, DATA or NOBODY
    wrong: tuple[str, ...]

    @property
    def through(self) -> bool:
        """Returns true if the driver was content with wrong data."""
        return self.fired and self.caught == NOBODY and bool(self.wrong)


@dataclasses.dataclass(frozen=True)
class Entry:
    """Describes an attack on the paper's protocol: aim, what must come of it."""

    name: str
    requirement: str  # of docs/protocol.md, that ours answers it with
    aim: str
    make: Callable[[], Attack]
    through: bool
    caught: str = NOBODY

    def play(self, card: Callable[[bytes], GhoshCard]) -> Outcome:
        """Runs the workload with this attack on a card; returns what came of it."""
        return play(self.make(), card)

    def right(self, outcome: Outcome) -> bool:
        """Returns true if the attack came out as the paper's protocol makes it."""
        return outcome.fired and outcome.through == self.through and outcome.caught == self.caught


def play(attack: Attack, card: Callable[[bytes], GhoshCard]) -> Outcome:
    """Runs the workload with an attack on a card that follows the paper."""
    key = os.urandom(16)
    device = card(key)
    try:
        device.bus = link = Link(device, 1 << 12, attack)
        host = GhoshHost(link, key)
        wrong = []
        try:
            host.send(OTHER, OLD)
            host.send(PLACE, OLD)
            attack.before(SEND, link)
            host.send(PLACE, NEW)
            attack.before(RECEIVE, link)
            result = host.receive(PLACE, SIZE)
            caught = NOBODY
        except TagError as error:
            caught, result = str(error), NEW
        memory = bytes(device.memory)
        if caught == NOBODY:
            wrong += ["the weights"] * (memory[PLACE:][:SIZE] != NEW)
            wrong += ["other weights"] * (memory[OTHER:][:SIZE] != OLD)
            wrong += ["the result"] * (result != NEW)
        shown = any(text in link.memory for text in (OLD, NEW))
        wrong += ["weights in host memory"] * shown
    finally:
        device.close()
    return Outcome(attack.fired > 0, caught, tuple(wrong))


def _flip(attack: Edit, data: bytes) -> bytes:
    return flip(data, 7)


def _flip_write(attack: Edit, event: Event) -> list[Event]:
    return [event.with_data(flip(event.data, 7))]  # of a target: 128 bytes further


def attacks() -> Iterator[Entry]:
    """Lists the attacks on the paper's protocol: those it lets through first."""
    write, read = What.MMIO_WRITE, What.MMIO_READ
    yield Entry(
        "tag oracle/in", "H1", "forged weights", lambda: Oracle(CHANGE, What.DMA_READ), True
    )
    yield Entry(
        "tag oracle/out", "H1", "forged results", lambda: Oracle(CHANGE, What.DMA_WRITE), True
    )
    yield Entry(
        "replay/write",
        "H5",
        "new weights in another place",
        lambda: Edit(write, TARGET, lambda attack, event: attack.writes.events(0, 1)),
        True,
    )
    yield Entry("replay/transfer", "H5", "old weights again", Rollback, True)
    yield Entry(
        "flip/data in",
        "D6",
        "changed weights",
        lambda: Edit(What.DMA_READ, None, _flip),
        False,
        DATA,
    )
    yield Entry(
        "flip/data out",
        "D6",
        "changed results",
        lambda: Edit(What.DMA_WRITE, None, _flip_write, RECEIVE),
        False,
        DATA,
    )
    yield Entry(
        "redirect/host address",
        "D5",
        "other weights",
        lambda: Edit(write, HOST_LO, lambda attack, event: [attack.hosts[0]]),
        False,
        DATA,
    )
    for name, address in (("value", TARGET), ("tag", REQUEST_TAG)):
        yield Entry(
            f"flip/{name} of a protected write",
            "M1",
            "another target",
            lambda address=address: Edit(write, address, _flip_write),
            False,
            ACCESS,
        )
    yield Entry(
        "flip/protected read",
        "M2",
        "another verdict",
        lambda: Edit(read, VERDICT, _flip),
        False,
        ACCESS,
    )
    yield Entry(
        "redirect/protected write",
        "M2",
        "the value in another register",
        lambda: Edit(write, TARGET, lambda attack, event: [event.at(START)]),
        False,
        ACCESS,
    )
    yield Entry(
        "drop/protected write",
        "M3",
        "the old target",
        lambda: Edit(write, TARGET, lambda attack, event: []),
        False,
        ACCESS,
    )
    yield Entry("raw access", "M1", "weights in host memory", RawAccess, False)
