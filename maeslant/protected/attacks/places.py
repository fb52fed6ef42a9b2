# SPDX-License-Identifier: Apache-2.0
"""Defines bus attacks that change addresses, forge responses or alter memory between reads."""

from collections.abc import Callable, Iterator

from maeslant.protected.attacks.adversary import On, poke
from maeslant.protected.attacks.entry import (
    BEAT,
    CHUNK,
    HOST_CHUNK,
    NOTHING,
    RESPONSE,
    TAG,
    TIMEOUT,
    Entry,
    edit_data,
)
from maeslant.protected.model.constants import (
    DOORBELL,
    MAILBOX,
    PAGE,
    RESPONSE_BASE,
    SLOT_BYTES,
    SLOTS,
    Kind,
)
from maeslant.protected.model.link import BusError, Event, Link, What


def places() -> Iterator[Entry]:
    """Yields the bus attacks that redirect the card's reads, writes and responses."""
    for name, address in {
        "another chunk": Link.BASE + 3 * SLOTS * SLOT_BYTES + 4096,
        "responses": Link.BASE + SLOT_BYTES,
    }.items():
        yield Entry(
            f"redirect/read/{name}",
            "D5",
            "other host memory as input",
            lambda address=address: On(
                lambda attack, event, link: [event.at(address)], what="data in", nth=1
            ),
            (CHUNK,),
        )
        yield Entry(
            f"redirect/write/{name}",
            "D5",
            "results somewhere else",
            lambda address=address: On(
                lambda attack, event, link: [event.at(address)], what="data out", nth=1
            ),
            (HOST_CHUNK,),
        )

    def error(attack: On, event: Event, link: Link) -> list[Event]:
        raise BusError

    for what in ("data in", "data out", "response", "number"):
        yield Entry(
            f"redirect/nowhere/{what}",
            "H9",
            "a bus error that goes unnoticed",
            lambda what=what: On(error, what=what, nth=1),
            (BEAT,),
        )
    yield Entry(
        "redirect/mailbox of another queue",
        "H2",
        "a request on another queue",
        lambda: On(
            lambda attack, event, link: [event.at(event.address + PAGE)],
            every=True,
            queue=1,
            kind=Kind.H2D,
        ),
        (TAG,),
    )
    yield Entry(
        "redirect/response base",
        "H18",
        "answers where nobody looks",
        lambda: On(
            edit_data(lambda data: (int.from_bytes(data, "little") + 64).to_bytes(8, "little")),
            what=f"register {RESPONSE_BASE:#05x}",
            queue=1,
        ),
        (TIMEOUT, RESPONSE),
    )
    yield Entry(
        "redirect/two queues answer into one slot",
        "H2",
        "another queue's answer",
        lambda: On(
            edit_data(lambda data: Link.BASE.to_bytes(8, "little")),
            what=f"register {RESPONSE_BASE:#05x}",
            queue=1,
        ),
        (TIMEOUT, RESPONSE),
    )


class Invent(On):
    """Writes a forged response into a request's response slot when its doorbell is rung."""

    def __init__(self, message: Callable[["Invent", int, int], bytes], **where: object) -> None:
        super().__init__(**where)
        self.message = message

    def act(self, sight, event, link):  # noqa: D102
        if sight.what == "doorbell" and self._fits(sight):
            slot = self.bases[sight.queue] + SLOT_BYTES * (sight.sequence % SLOTS)
            message = self.message(self, sight.queue, sight.sequence)
            return [
                event,
                poke(slot + 16, message),
                poke(slot, sight.sequence.to_bytes(8) + bytes(8)),
            ]
        return [event]


def inventions() -> Iterator[Entry]:
    """Yields the bus attacks that forge a response or end a transfer early."""
    for name, message in {
        "zeros": lambda attack, queue, sequence: bytes(64),
        "plain OK": lambda attack, queue, sequence: (
            bytes((1, 2, queue, 3)) + bytes(4) + sequence.to_bytes(8) + b"\0\1\0\1" + bytes(28)
        ),
        "the last answer": lambda attack, queue, sequence: attack.responses[-1][1].data,
    }.items():
        for kind in (Kind.BATCH, Kind.H2D, Kind.D2H):
            yield Entry(
                f"invent/{kind.name}/{name}",
                "H9 H18",
                "a completion before the work",
                lambda kind=kind, message=message: Invent(message, kind=kind, nth=1),
                (RESPONSE,),
            )
    yield Entry(
        "finalize/number early",
        "H9",
        "an answer before it is written",
        lambda: On(
            lambda attack, event, link: [
                poke(event.address - 16, _header_number(event.data)),
                event,
            ],
            what="response",
            nth=2,
        ),
        (NOTHING,),
    )

    class FinalizeEarly(On):
        """Writes ones to a queue's registers while a chunk is read, to end the transfer early."""

        def react(self, sight, event, data, link):  # noqa: D102
            if sight.what == "data in":
                self.fired += 1
                for offset in range(MAILBOX, 0x500, 4):
                    if offset != DOORBELL and offset not in range(RESPONSE_BASE, RESPONSE_BASE + 8):
                        link.raw(Event(What.MMIO_WRITE, 3 * PAGE + offset, 4, b"\xff" * 4))
            return data

    yield Entry(
        "finalize/by plain registers",
        "H9 H1",
        "a tag over half a transfer",
        FinalizeEarly,
        (TAG, NOTHING),
    )


def _header_number(message: bytes) -> bytes:
    """Returns the sequence number of a response message, as its slot shows it in plaintext."""
    return message[8:16] + bytes(8)


class Memory(On):
    """Inverts bytes in shared memory right after the card or the driver has read them."""

    def __init__(self, size: int = 1, **where: object) -> None:
        super().__init__(**where)
        self.size = size

    def react(self, sight, event, data, link):  # noqa: D102
        if self.active:
            link.raw(poke(event.address, bytes(b ^ 0xFF for b in data)))
        return data


def fetches() -> Iterator[Entry]:
    """Yields the bus attacks that change shared memory between two reads of the same bytes."""
    yield Entry(
        "double fetch/out, after each load",
        "H10",
        "plaintext that was not verified",
        lambda: Memory(what="load", every=True),
        (NOTHING,),
        big=True,
    )
    yield Entry(
        "double fetch/answer, after its load",
        "H10",
        "an answer that was not verified",
        lambda: Memory(what="load response", every=True),
        (NOTHING,),
    )
    yield Entry(
        "double fetch/in, after each read",
        "H8 H10",
        "input that was not verified",
        lambda: Memory(what="data in", every=True),
        (NOTHING,),
        big=True,
    )
    for nth in (0, 1, 2):

        def before(attack: On, event: Event, link: Link) -> list[Event]:
            """Overwrites part of a chunk in shared memory before the driver's load of it."""
            return [poke(event.address + 8, b"\xa5" * 8), event]

        yield Entry(
            f"double fetch/out, between stages {nth}",
            "H10",
            "plaintext that was not verified",
            lambda nth=nth: On(before, what="load", nth=nth),
            (HOST_CHUNK,),
            big=True,
        )

        def after(attack: On, event: Event, link: Link) -> list[Event]:
            """Overwrites part of a chunk in shared memory right after the driver has stored it."""
            return [event, poke(event.address + 8, b"\xa5" * 8)]

        yield Entry(
            f"double fetch/in, between stages {nth}",
            "H10",
            "a right tag over changed ciphertext",
            lambda nth=nth: On(after, what="store", nth=nth),
            (CHUNK,),
            big=True,
        )
