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
    """Defines the interface of cards with Ghosh's protocol: registers, bus and memory."""

    key: bytes
    bus: Link | None
    memory: bytes

    def close(self) -> None:
        """Closes the card, a simulated one or a model."""


class Adversary(Attack):
    """Records bus events of Ghosh's protocol; base of attacks that act before given transfers."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = Writes()
        self.hosts: list[Event] = []  # of the address in host memory
        self.moved: list[bytes] = []  # ciphertext into the card

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Records writes of protected registers, host addresses and data; returns the bus event."""
        self.writes.see(event)
        if event.what is What.MMIO_WRITE and event.address == HOST_LO:
            self.hosts.append(event)
        if event.what is What.HOST_STORE:
            self.moved.append(event.data)
        return (event,)

    def before(self, now: str, link: Link) -> None:
        """Acts before the driver's last sending, and before its receiving; here it does nothing."""


class Edit(Adversary):
    """Changes the first bus event of a kind in the driver's last sending, or in its receiving."""

    def __init__(self, what: What, address: int | None, edit: Callable, now: str = SEND) -> None:
        super().__init__()
        self.what, self.address, self.edit, self.now = what, address, edit, now
        self.armed = False

    def before(self, now: str, link: Link) -> None:
        """Arms this attack if the wanted transfer, sending or receiving, begins."""
        self.armed = now == self.now

    def _take(self, event: Event) -> bool:
        """Returns true if the bus event is the one to change; then disarms this attack."""
        taken = self.armed and event.what is self.what and self.address in (None, event.address)
        if taken:
            self.armed = False
            self.fired += 1
        return taken

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Returns the bus event, changed if it is the write for which this attack waits."""
        super().transform(event, link)
        return self.edit(self, event) if not event.is_read and self._take(event) else (event,)

    def answer(self, event: Event, data: bytes, link: Link) -> bytes:
        """Returns the data of a bus read, changed if it is the read for which this attack waits."""
        return self.edit(self, data) if event.is_read and self._take(event) else data


class Oracle(GhoshOracle):
    """Finds the GCM hash key H by Ghosh's tag oracle before the last sending, then forges data."""

    def before(self, now: str, link: Link) -> None:
        """Finds the GCM hash key H of Ghosh's card, at the first transfer."""
        if self.h is None:
            self.learn(link, os.urandom(SIZE))


class Rollback(Adversary):
    """Replays the sending of old weights to Ghosh's card after new weights were sent."""

    def before(self, now: str, link: Link) -> None:
        """Repeats the transfer of the old weights before the driver reads the data back."""
        if now != RECEIVE:
            return
        for event in self.writes.events(2, 4):
            link.raw(event)
        link.raw(Event(What.HOST_STORE, link.BASE + len(link.memory) - SIZE, SIZE, self.moved[1]))
        self._move(link)

    def _move(self, link: Link) -> None:
        """Makes Ghosh's card move data from or to the end of host memory."""
        buffer = link.BASE + len(link.memory) - SIZE
        raw_write(link, HOST_LO, buffer.to_bytes(8, "little"))
        raw_write(link, MOVE, GO)
        self.fired += 1


class RawAccess(Rollback):
    """Reads device memory of Ghosh's card by writing protected registers without tags."""

    def before(self, now: str, link: Link) -> None:
        """Writes target and start registers of Ghosh's card and makes it send the weights."""
        raw_write(link, TARGET, target_word(OUT, PLACE, SIZE))
        raw_write(link, START, bytes(8))
        self._move(link)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Holds the outcome of an attack on Ghosh's protocol: if it acted, who noticed, wrong data."""

    fired: bool
    caught: str  # ACCESS, DATA or NOBODY
    wrong: tuple[str, ...]

    @property
    def through(self) -> bool:
        """Returns true if the attack got through: the driver accepted wrong data."""
        return self.fired and self.caught == NOBODY and bool(self.wrong)


@dataclasses.dataclass(frozen=True)
class Entry:
    """Describes an attack on Ghosh's protocol: aim, and whether it is expected to get through."""

    name: str
    requirement: str  # of docs/protocol.md, that ours answers it with
    aim: str
    make: Callable[[], Attack]
    through: bool
    caught: str = NOBODY

    def play(self, card: Callable[[bytes], GhoshCard]) -> Outcome:
        """Runs this attack on a card with Ghosh's protocol; returns the outcome."""
        return play(self.make(), card)

    def right(self, outcome: Outcome) -> bool:
        """Returns true if the outcome is the expected one of this attack on Ghosh's protocol."""
        return outcome.fired and outcome.through == self.through and outcome.caught == self.caught


def play(attack: Attack, card: Callable[[bytes], GhoshCard]) -> Outcome:
    """Runs a workload under an attack on a card with Ghosh's protocol; returns the outcome."""
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
    """Yields the attacks on Ghosh's protocol: first those that get through, then the stopped."""
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
