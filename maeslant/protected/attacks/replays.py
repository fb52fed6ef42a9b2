# SPDX-License-Identifier: Apache-2.0
"""Defines bus attacks that replay a message or put it in another message's place."""

from collections.abc import Callable, Iterator

from maeslant.protected.attacks.adversary import On, mailbox
from maeslant.protected.attacks.entry import (
    BELL,
    CHUNK,
    HEADER,
    HOST_CHUNK,
    LATER,
    NOTHING,
    RESPONSE,
    TAG,
    Entry,
)
from maeslant.protected.model.constants import HOST_NONCE, PAGE, STATUS, Kind
from maeslant.protected.model.link import Event, Link, What


def replays() -> Iterator[Entry]:
    """Yields the bus attacks that replay requests, responses or chunks."""

    def again(attack: On, event: Event, link: Link) -> list[Event]:
        """Returns the previous request of a queue in place of the one on the bus."""
        queue = event.address // PAGE - 1
        old = [entry for entry in attack.requests if entry[0].queue == queue]
        return [mailbox(queue, old[-1][1].data)]

    for kind in (Kind.BATCH, Kind.H2D, Kind.D2H, Kind.REKEY, Kind.CLOSE):
        yield Entry(
            f"replay/request before {kind.name}",
            "H5",
            "a request carried out twice",
            lambda kind=kind: On(again, what="request", kind=kind, nth=1 if kind in LATER else 0),
            (TAG,),
        )

    class Twice(On):
        """Sends a request to the card a second time once its queue is ready."""

        def idle(self, link: Link) -> None:
            """Repeats a queue's last request and its doorbell, once the card can take it."""
            if self.held:
                page = self.held[0].address
                status = link.raw(Event(What.MMIO_READ, page + STATUS, 4))
                if status[0] & 1:
                    for event in self.held:
                        link.raw(event)
                    self.held = []

        def act(self, sight, event, link):  # noqa: D102
            if sight.what == "doorbell" and self._fits(sight):
                self.held = [self._mailbox[sight.queue][1], event]
            return [event]

    for kind in (Kind.OPEN, Kind.BATCH, Kind.H2D, Kind.D2H, Kind.REKEY, Kind.SKIP):
        yield Entry(
            f"replay/{kind.name} rung again",
            "H5",
            "a request carried out twice",
            lambda kind=kind: Twice(kind=kind),
            (TAG, BELL),
        )

    def old_data(attack: On, event: Event, data: bytes, link: Link) -> bytes:
        return next(e.data for s, e in attack.data if s.what == "store")[: len(data)]

    def old_out(attack: On, event: Event, data: bytes, link: Link) -> bytes:
        return next(e.data for s, e in attack.data if s.what == "data out")[: len(data)]

    def old_response(attack: On, event: Event, link: Link) -> list[Event]:
        return [event.with_data(attack.responses[-1][1].data)]

    yield Entry(
        "replay/chunk in",
        "H2",
        "old input in place of new",
        lambda: On(answer=old_data, what="data in", nth=3),
        (CHUNK,),
    )
    yield Entry(
        "replay/chunk out",
        "H2",
        "old results in place of new",
        lambda: On(answer=old_out, what="load", nth=4),
        (HOST_CHUNK,),
    )
    for nth in (1, 5, 9):
        yield Entry(
            f"replay/response {nth}",
            "H6 H18",
            "an old answer vouches for a new request",
            lambda nth=nth: On(old_response, what="response", nth=nth),
            (RESPONSE,),
        )


class Splice(On):
    """Puts an earlier message of the session in the place of a request or response on the bus."""

    def __init__(self, choose: Callable[["Splice"], bytes | None], **where: object) -> None:
        super().__init__(self._put, **where)
        self.choose = choose

    def _put(self, attack: On, event: Event, link: Link) -> list[Event]:
        data = self.choose(self)
        assert data is not None
        return [event.with_data(data)]


def splices() -> Iterator[Entry]:
    """Yields the bus attacks that put a message into another queue, epoch or session."""

    def request(queue: int, epoch: int = 0, nth: int = -1) -> Callable[[Splice], bytes]:
        return lambda attack: [
            e.data for s, e, _ in attack.requests if (s.queue, s.epoch) == (queue, epoch)
        ][nth]

    def rewritten(choose: Callable[[Splice], bytes], **fields: int) -> Callable[[Splice], bytes]:
        """Returns a function that changes a replayed message's header to fit its new place."""

        def make(attack: Splice) -> bytes:
            data = bytearray(choose(attack))
            for name, value in fields.items():
                data[HEADER[name]] = value
            return bytes(data)

        return make

    yield Entry(
        "splice/queues",
        "H2",
        "a request on another queue",
        lambda: Splice(request(1), what="request", kind=Kind.D2H, nth=1),
        (TAG,),
    )
    yield Entry(
        "splice/queues, header rewritten",
        "H2",
        "a request on another queue",
        lambda: Splice(
            rewritten(request(1, 0, 0), queue=2, kind=Kind.D2H),
            what="request",
            kind=Kind.D2H,
            nth=0,
        ),
        (TAG,),
    )
    yield Entry(
        "splice/epochs",
        "H3 H13",
        "a request of the last epoch",
        lambda: Splice(request(1), what="request", epoch=1, queue=1),
        (TAG,),
    )
    yield Entry(
        "splice/epochs, header rewritten",
        "H3 H13",
        "a request of the last epoch",
        lambda: Splice(
            rewritten(request(1, 0, 0), epoch=1, sequence=5),
            what="request",
            epoch=1,
            queue=1,
            nth=0,
        ),
        (TAG,),
    )

    def response_as_request(attack: Splice) -> bytes:
        return attack.responses[-1][1].data.ljust(96, b"\0")

    def request_as_response(attack: Splice) -> bytes:
        return attack.requests[-1][1].data[:48]

    yield Entry(
        "splice/response as request",
        "H3 H4",
        "the device's own words as an order",
        lambda: Splice(response_as_request, what="request", kind=Kind.H2D, nth=1),
        (TAG,),
    )
    yield Entry(
        "splice/request as response",
        "H3 H4",
        "the host's own words as an answer",
        lambda: Splice(request_as_response, what="response", nth=1),
        (RESPONSE,),
    )

    def stored(attack: On, event: Event, data: bytes, link: Link) -> bytes:
        return [e.data for s, e in attack.data if s.what == "store"][-1][: len(data)]

    def sent(attack: On, event: Event, data: bytes, link: Link) -> bytes:
        return [e.data for s, e in attack.data if s.what == "data out"][-1].ljust(len(data))[
            : len(data)
        ]

    yield Entry(
        "splice/chunk in as chunk out",
        "H3",
        "the application's input as its result",
        lambda: On(answer=stored, what="load"),
        (HOST_CHUNK,),
    )
    yield Entry(
        "splice/chunk out as chunk in",
        "H3",
        "results as input",
        lambda: On(answer=sent, what="data in", nth=3),
        (CHUNK,),
    )
    yield Entry(
        "splice/response of another queue",
        "H2",
        "another queue's answer",
        lambda: On(
            lambda attack, event, link: [
                event.with_data(next(e.data for s, e in reversed(attack.responses) if s.queue != 2))
            ],
            what="response",
            queue=2,
        ),
        (RESPONSE,),
    )

    class NextSession(On):
        """Sends the first request, chunk or response of one session again in the next session."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.target = what
            self.old: dict[str, bytes] = {}
            self.sessions = 0

        def act(self, sight, event, link):  # noqa: D102
            if sight.what == f"register {HOST_NONCE:#05x}":
                self.sessions += 1
            name = sight.what
            if name not in ("request", "response", "data out"):
                return [event]
            if self.sessions < 2:
                self.old.setdefault(name, event.data)
            elif name == self.target:
                self.fired += 1
                return [event.with_data(self.old[name].ljust(event.size, b"\0")[: event.size])]
            return [event]

    for what, caught in {"request": TAG, "response": RESPONSE, "data out": HOST_CHUNK}.items():
        yield Entry(
            f"splice/sessions/{what}",
            "H3 H14",
            "one session's bytes in the next",
            lambda what=what: NextSession(what),
            (NOTHING,),
            stay=True,
            second=caught,
        )
