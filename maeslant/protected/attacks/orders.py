# SPDX-License-Identifier: Apache-2.0
"""Defines bus attacks that reorder, delay, drop or truncate requests, responses and chunks."""

from collections.abc import Iterator

from maeslant.protected.attacks.adversary import On
from maeslant.protected.attacks.entry import (
    BEAT,
    BELL,
    CHUNK,
    HOST_CHUNK,
    LATER,
    NOTHING,
    RESPONSE,
    TAG,
    TIMEOUT,
    Entry,
    drop,
    edit_answer,
    edit_data,
)
from maeslant.protected.model.constants import SLOT_BYTES, Kind
from maeslant.protected.model.link import Event, Link


class SwapRequests(On):
    """Swaps two requests of a queue: holds back the first until the second was sent."""

    def act(self, sight, event, link):  # noqa: D102
        if sight.what not in ("request", "doorbell") or sight.queue != self.where["queue"]:
            return [event]
        if len(self.held) < 2:
            if sight.kind != self.where.get("kind", sight.kind):
                return [event]
            self.held.append(event)
            self.fired += 1
            return []
        if sight.what == "request":
            return [event]
        first, bell = self.held
        return [event, first, bell]


def orders() -> Iterator[Entry]:
    """Yields the bus attacks that reorder requests, responses or parts of chunks."""
    for queue, kind in ((0, Kind.BATCH), (1, Kind.H2D), (2, Kind.D2H)):
        yield Entry(
            f"reorder/requests/{kind.name}",
            "H5 H16 H17",
            "requests in another order",
            lambda queue=queue, kind=kind: SwapRequests(queue=queue, kind=kind),
            (TAG, TIMEOUT),
        )

    def operations(attack: On, event: Event, link: Link) -> list[Event]:
        data = event.data
        return [event.with_data(data[:16] + data[32:48] + data[16:32] + data[48:])]

    yield Entry(
        "reorder/operations",
        "H7 H16",
        "the kernel starts before WAIT",
        lambda: On(operations, what="request", kind=Kind.BATCH),
        (TAG,),
    )

    def other_chunk(attack: On, event: Event, link: Link) -> list[Event]:
        return [event.at(event.address + 128)]

    yield Entry(
        "reorder/chunks in",
        "H17",
        "chunks swapped",
        lambda: On(other_chunk, what="data in", nth=0),
        (CHUNK,),
    )
    yield Entry(
        "reorder/chunks out",
        "H17",
        "chunks swapped",
        lambda: On(other_chunk, what="load", nth=0),
        (HOST_CHUNK,),
    )

    def halves(data: bytes) -> bytes:
        return data[64:] + data[:64]

    yield Entry(
        "reorder/beats in",
        "H9",
        "beats swapped",
        lambda: On(answer=edit_answer(halves), what="data in"),
        (CHUNK,),
    )
    yield Entry(
        "reorder/beats out",
        "H9",
        "beats swapped",
        lambda: On(edit_data(halves), what="data out"),
        (HOST_CHUNK,),
    )

    def next_slot(attack: On, event: Event, link: Link) -> list[Event]:
        return [event.at(event.address + SLOT_BYTES)]

    yield Entry(
        "reorder/responses",
        "H6",
        "another request's answer",
        lambda: On(next_slot, what="load response", queue=1, nth=1),
        (RESPONSE,),
    )


class Late(On):
    """Delays matching bus events, each by a number of steps of the card."""

    def __init__(self, steps: int, **where: object) -> None:
        super().__init__(**where)
        self.left, self.steps = 0, steps

    def act(self, sight, event, link):  # noqa: D102
        if self._fits(sight):
            self.held.append(event)
            self.left = self.steps
            return []
        return [event]

    def idle(self, link: Link) -> None:
        """Sends the bus events that this attack has delayed, once their delay is over."""
        self.left -= 1
        if self.left <= 0:
            for event in self.held:
                link.raw(event)
            self.held = []


def losses() -> Iterator[Entry]:
    """Yields the bus attacks that drop or delay doorbells, requests, responses or data."""
    for kind in Kind:
        nth = LATER.get(kind, 0)
        for what, expect in {
            "doorbell": (TIMEOUT, TAG),
            "request": (TAG,),
        }.items():
            yield Entry(
                f"drop/{what}/{kind.name}",
                "H18",
                "a request that is taken for done",
                lambda what=what, kind=kind, nth=nth: On(drop, what=what, kind=kind, nth=nth),
                expect,
            )
        yield Entry(
            f"drop/response/{kind.name}",
            "H18",
            "a request that is taken for done",
            lambda kind=kind: On(drop, what="response", kind=kind, nth=LATER.get(kind, 0)),
            (RESPONSE,),
        )
    for queue in range(3):
        for nth in (0, 2):
            yield Entry(
                f"suppress/number/{queue}/{nth}",
                "H18",
                "an application that goes on without an answer",
                lambda queue=queue, nth=nth: On(drop, what="number", queue=queue, nth=nth),
                (TIMEOUT,),
            )
            yield Entry(
                f"delay/number/{queue}/{nth}",
                "H18",
                "an answer out of its time",
                lambda queue=queue, nth=nth: Late(9, what="number", queue=queue, nth=nth),
                (NOTHING,),
            )
            yield Entry(
                f"delay/doorbell/{queue}/{nth}",
                "H5 H16",
                "a request after those of other queues",
                lambda queue=queue, nth=nth: Late(9, what="doorbell", queue=queue, nth=nth),
                (NOTHING, TAG),
            )
    yield Entry(
        "suppress/every number",
        "H18",
        "no answer ever",
        lambda: On(drop, every=True, what="number"),
        (TIMEOUT,),
    )
    for what, expect in {"store": CHUNK, "data out": HOST_CHUNK}.items():
        for nth in (0, 2):
            yield Entry(
                f"drop/{what}/{nth}",
                "H9",
                "missing data",
                lambda what=what, nth=nth: On(drop, what=what, nth=nth),
                (expect,),
            )
    yield Entry(
        "delay/response behind its number",
        "H18",
        "half an answer",
        lambda: Late(3, what="response", nth=3),
        (RESPONSE,),
    )


def lengths() -> Iterator[Entry]:
    """Yields the bus attacks that truncate or extend requests, responses or chunks."""
    for kind in Kind:
        for name, change in {
            "one less": lambda n: n - 1,
            "one more": lambda n: n + 1,
            "zero": lambda n: 0,
            "too many": lambda n: 65,
            "high bits": lambda n: n | 1 << 16,
        }.items():
            nth = LATER.get(kind, 0)
            expect = (BELL,) if name in ("zero", "too many", "high bits") else (TAG, BELL)
            yield Entry(
                f"length/doorbell/{kind.name}/{name}",
                "H5",
                "a part of a request, or more than it",
                lambda kind=kind, nth=nth, change=change: On(
                    edit_data(
                        lambda data: change(int.from_bytes(data, "little")).to_bytes(4, "little")
                    ),
                    what="doorbell",
                    kind=kind,
                    nth=nth,
                ),
                expect,
            )
    for name, change in {
        "short": lambda data: data[:-16],
        "one byte less": lambda data: data[:-1],
        "none": lambda data: b"",
        "long": lambda data: data + bytes(16),
    }.items():
        yield Entry(
            f"length/beats in/{name}",
            "H9",
            "a transfer that ends early or goes on",
            lambda change=change: On(answer=edit_answer(change), what="data in", nth=1),
            (BEAT,),
        )
    yield Entry(
        "length/beats out/short",
        "H9",
        "a transfer that ends early",
        lambda: On(edit_data(lambda data: data[:-16]), what="data out", nth=1),
        (HOST_CHUNK,),
    )
    yield Entry(
        "length/response/short",
        "H6",
        "an answer without its end",
        lambda: On(edit_data(lambda data: data[:-16]), what="response", nth=2),
        (RESPONSE,),
    )
    yield Entry(
        "length/last chunk in withheld",
        "H17",
        "a transfer without its end",
        lambda: On(drop, every=True, nth=2, what="doorbell", kind=Kind.H2D),
        (TIMEOUT,),
    )
    yield Entry(
        "length/last chunk out withheld",
        "H17",
        "results without their end",
        lambda: On(drop, every=True, nth=2, what="doorbell", kind=Kind.D2H),
        (TIMEOUT,),
    )
