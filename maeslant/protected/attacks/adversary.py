# SPDX-License-Identifier: Apache-2.0
"""Implements the adversary on the bus between the protected card and its driver.

It knows docs/protocol.md and every plain byte, and holds no key. Nothing here touches host or
device but through events, so that the same attacks run against a real driver and a simulated card.
"""

import dataclasses
from collections.abc import Callable, Iterable

from maeslant.protected.model.constants import (
    DOORBELL,
    MAILBOX,
    MAILBOX_BYTES,
    PAGE,
    RESPONSE_BASE,
    SLOT_BYTES,
    SLOTS,
    STATUS,
)
from maeslant.protected.model.link import Attack, Event, Link, What

MEMORY = (What.DMA_READ, What.DMA_WRITE, What.HOST_LOAD, What.HOST_STORE)
NAMES = {
    What.DMA_READ: "data in",
    What.DMA_WRITE: "data out",
    What.HOST_LOAD: "load",
    What.HOST_STORE: "store",
}


@dataclasses.dataclass(frozen=True)
class Sight:
    """Describes a bus event as an adversary who knows the protocol sees it: queue, kind, number."""

    what: str  # request, doorbell, response, number, or a name above, or a register's
    queue: int = -1
    kind: int = -1
    sequence: int = -1
    epoch: int = -1


def flip(data: bytes, bit: int) -> bytes:
    """Returns a byte string with one bit flipped; negative bit numbers count from its end."""
    bit %= 8 * len(data)
    return data[: bit // 8] + bytes((data[bit // 8] ^ 1 << bit % 8,)) + data[bit // 8 + 1 :]


class Adversary(Attack):
    """Interprets and records every bus event; base class of the adversaries that change them."""

    def __init__(self) -> None:
        super().__init__()
        self.bases: dict[int, int] = {}
        self.requests: list[tuple[Sight, Event, Event]] = []  # with its doorbell
        self.responses: list[tuple[Sight, Event]] = []
        self.data: list[tuple[Sight, Event]] = []
        self._mailbox: dict[int, tuple[Sight, Event]] = {}

    def sight(self, event: Event) -> Sight:
        """Returns the Sight of a bus event, such as a request or doorbell, by address and bytes."""
        if event.what in MEMORY:
            for queue, base in self.bases.items():
                at = event.address - base
                if 0 <= at < SLOTS * SLOT_BYTES:
                    return self._slot(event, queue, at)
            return Sight(NAMES[event.what])
        page, offset = divmod(event.address, PAGE)
        queue = page - 1
        if page and event.what is What.MMIO_WRITE:
            if offset == MAILBOX and len(event.data) >= 16:
                return Sight("request", queue, *self._header(event.data))
            if offset < MAILBOX_BYTES:
                return Sight("mailbox", queue)
            if offset == DOORBELL:
                last = self._mailbox.get(queue)
                return dataclasses.replace(last[0] if last else Sight("", queue), what="doorbell")
        if page and offset == STATUS:
            return Sight("status", queue)
        return Sight(f"register {offset:#05x}", queue)

    @staticmethod
    def _header(data: bytes) -> tuple[int, int, int]:
        return data[3], int.from_bytes(data[8:16]), int.from_bytes(data[4:8])

    def _slot(self, event: Event, queue: int, at: int) -> Sight:
        if event.what is What.HOST_STORE:
            return Sight("clear slots", queue)
        number = at % SLOT_BYTES < 16
        if event.is_read:
            return Sight("load number" if number else "load response", queue)
        if number:
            return Sight("number", queue, -1, int.from_bytes(event.data[:8]))
        return Sight("response", queue, *self._header(event.data))

    def transform(self, event: Event, link: Link) -> Iterable[Event]:
        """Records a bus event; returns the bus events that the adversary sends in its place."""
        sight = self.sight(event)
        if event.what is What.MMIO_WRITE and sight.what == f"register {RESPONSE_BASE:#05x}":
            self.bases[sight.queue] = int.from_bytes(event.data, "little")
        if sight.what == "request":
            self._mailbox[sight.queue] = (sight, event)
        events = list(self.act(sight, event, link))
        if sight.what == "doorbell" and sight.queue in self._mailbox:
            self.requests.append((*self._mailbox[sight.queue], event))
        if sight.what == "response":
            self.responses.append((sight, event))
        if sight.what in ("data out", "store"):
            self.data.append((sight, event))
        return events

    def act(self, sight: Sight, event: Event, link: Link) -> Iterable[Event]:
        """Returns the bus events to send in place of the given one; here that one, unchanged."""
        return (event,)

    def answer(self, event: Event, data: bytes, link: Link) -> bytes:
        """Returns the data that the adversary gives to a bus read's reader, changed or not."""
        return self.react(self.sight(event), event, data, link)

    def react(self, sight: Sight, event: Event, data: bytes, link: Link) -> bytes:
        """Returns the data to give to a bus read's reader; here the data read, unchanged."""
        return data


Edit = Callable[["On", Event, Link], Iterable[Event]]
EditAnswer = Callable[["On", Event, bytes, Link], bytes]


class On(Adversary):
    """Applies an edit to the nth bus event that matches a Sight's fields, or to all after it too.

    ``where``: those fields and their values.
    """

    def __init__(
        self,
        edit: Edit | None = None,
        answer: EditAnswer | None = None,
        nth: int = 0,
        every: bool = False,
        **where: object,
    ) -> None:
        super().__init__()
        self.edit, self.edit_answer, self.nth, self.every, self.where = (
            edit,
            answer,
            nth,
            every,
            where,
        )
        self.count = 0
        self.active = False
        self.held: list[Event] = []

    def _fits(self, sight: Sight) -> bool:
        if any(getattr(sight, name) != value for name, value in self.where.items()):
            return False
        self.count += 1
        chosen = self.count - 1 == self.nth or self.every and self.count > self.nth
        self.fired += chosen
        return chosen

    def act(self, sight: Sight, event: Event, link: Link) -> Iterable[Event]:
        """Returns the bus events that the edit function makes of a matching one."""
        self.active = self._fits(sight)
        if self.active and self.edit:
            return self.edit(self, event, link)
        return (event,)

    def react(self, sight: Sight, event: Event, data: bytes, link: Link) -> bytes:
        """Returns the data of a bus read; the edit function changes them if the event matches."""
        if self.active and self.edit_answer:
            return self.edit_answer(self, event, data, link)
        return data


def doorbell(queue: int, blocks: int) -> Event:
    """Returns the forged bus write that rings the doorbell of a card's request queue."""
    data = blocks.to_bytes(4, "little")
    return Event(What.MMIO_WRITE, PAGE * (1 + queue) + DOORBELL, 4, data)


def mailbox(queue: int, message: bytes, at: int = 0) -> Event:
    """Returns the bus write that puts a forged message into a request queue's mailbox."""
    return Event(What.MMIO_WRITE, PAGE * (1 + queue) + MAILBOX + at, len(message), message)


def poke(address: int, data: bytes) -> Event:
    """Returns the bus event by which the adversary overwrites host memory."""
    return Event(What.HOST_STORE, address, len(data), data)
