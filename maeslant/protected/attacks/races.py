# SPDX-License-Identifier: Apache-2.0
"""Defines bus attacks on mailboxes, protected registers, the OS's registers and shared memory."""

from collections.abc import Iterator

from maeslant.protected.attacks.adversary import On, doorbell, flip, mailbox
from maeslant.protected.attacks.entry import (
    BELL,
    ILLEGAL,
    INSIDE,
    LATER,
    NOTHING,
    TAG,
    TIMEOUT,
    Entry,
    edit_answer,
    edit_data,
    flipper,
)
from maeslant.protected.model.constants import (
    CAPABILITIES,
    DEVICE_NONCE,
    HOST_NONCE,
    PAGE,
    RESET,
    RESET_WORD,
    SLOTS,
    STATE,
    Kind,
    State,
)
from maeslant.protected.model.link import Attack, BusError, Event, Link, What


class Scribble(On):
    """Delays a request's doorbell; overwrites the request in the mailbox after the doorbell.

    It rings before the host looks whether that mailbox is free for the host's next request, which
    would overwrite this one before its doorbell.
    """

    def act(self, sight, event, link):  # noqa: D102
        if self.held and sight.what == "doorbell":
            return [event, *self._scribble()]
        if self.held and sight.what == "status" and sight.queue == self.held[0].address // PAGE - 1:
            return [*self._scribble(), event]
        if not self.fired and self._fits(sight):
            self.held.append(event)
            self.steps = 0
            return []
        return [event]

    def _scribble(self) -> list[Event]:
        bell, self.held = self.held[0], []
        last = 16 * (2 + int.from_bytes(bell.data, "little")) - 4
        return [bell, mailbox(bell.address // PAGE - 1, b"\xff" * 4, last)]

    def idle(self, link: Link) -> None:
        """Rings a delayed doorbell; overwrites the request in the mailbox 8 steps later."""
        if self.held:
            self.steps += 1
            if self.steps == 8:
                for event in self._scribble():
                    link.raw(event)


class InQuarantine(On):
    """Delays doorbells so that the kernel starts while the kernel's input is still in transfer."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = self.over = False

    def act(self, sight, event, link):  # noqa: D102
        self.begun |= sight.what == "data in"
        self.over |= sight.what == "number" and (sight.queue, sight.sequence) == (0, 3)
        early = sight.kind == Kind.BATCH and not self.begun
        last = sight.kind == Kind.H2D and sight.sequence == 2 and not self.over
        if sight.what == "doorbell" and (early or last):
            self.fired += 1
            self.held.append(event)
            return []
        return [event]

    def idle(self, link: Link) -> None:
        """Rings the delayed doorbells once the input's DMA or the kernel run has begun."""
        for event in list(self.held):
            if self.over if event.address // PAGE == 2 else self.begun:
                self.held.remove(event)
                link.raw(event)


def races() -> Iterator[Entry]:
    """Yields the bus attacks on mailboxes, protected registers and the OS-accessible registers."""

    def scribble(attack: On, event: Event, link: Link) -> list[Event]:
        queue = event.address // PAGE - 1
        return [event, mailbox(queue, b"\xff" * 96), doorbell(queue, 4), doorbell(queue, 1)]

    def scribble_first(attack: On, event: Event, link: Link) -> list[Event]:
        return [mailbox(event.address // PAGE - 1, b"\xff" * 4, 20), event]

    for kind in Kind:
        nth = LATER.get(kind, 0)
        yield Entry(
            f"race/{kind.name}/after the doorbell",
            "H7",
            "another request than the one that was verified",
            lambda kind=kind, nth=nth: On(scribble, what="doorbell", kind=kind, nth=nth),
            (NOTHING, TAG),  # a short request may be over before the second doorbell
        )
        yield Entry(
            f"race/{kind.name}/before the doorbell",
            "H7",
            "another request than the one that was written",
            lambda kind=kind, nth=nth: On(scribble_first, what="doorbell", kind=kind, nth=nth),
            (TAG,),
        )
    for kind in (Kind.BATCH, Kind.H2D, Kind.D2H):
        yield Entry(
            f"race/{kind.name}/while it waits",
            "H7",
            "another request than the one that was verified",
            lambda kind=kind: Scribble(what="doorbell", kind=kind),
            (NOTHING,),
        )
    yield Entry(
        "race/kernel in quarantine",
        "H8 H17",
        "bytes that were not verified",
        InQuarantine,
        (NOTHING,),
        careless=True,
    )
    yield Entry(
        "race/doorbell without a message",
        "H5",
        "an old message again",
        lambda: On(
            lambda attack, event, link: [event, doorbell(1, 4)], what="number", queue=1, nth=0
        ),
        (TAG, BELL, NOTHING),
    )

    class Raw(On):
        """Accesses the card's protected registers and mailboxes past the driver, as the OS can."""

        def idle(self, link: Link) -> None:
            """Asserts that unauthenticated register accesses fail and mailboxes read as zero."""
            self.fired += 1
            for offset in range(0, 0x80, 4):
                for what, data in ((What.MMIO_WRITE, b"\1\0\0\0"), (What.MMIO_READ, b"")):
                    try:
                        link.raw(Event(what, 0x1000_0000 + offset, 4, data))
                    except BusError:
                        continue
                    raise AssertionError("a raw access to protected space was answered")
            for queue in range(3):
                inside = link.raw(Event(What.MMIO_READ, PAGE * (1 + queue), 0x420))
                assert not any(inside), "the mailbox can be read"

    yield Entry("raw access", "M1 M3 H7", "a protected register", Raw, (NOTHING,))

    class TakeBack(On):
        """Resets the card at a chosen bus read in the middle of an encrypted session."""

        def react(self, sight, event, data, link):  # noqa: D102
            if self.active:
                word = RESET_WORD.to_bytes(4, "little")
                link.raw(Event(What.MMIO_WRITE, RESET, 4, word))
            return data

    for what, nth in (("data in", 1), ("status", 7), ("status", 12), ("load number", 40)):
        yield Entry(
            f"reset/{what}/{nth}",
            "M4 H14",
            "what the session left",
            lambda what=what, nth=nth: TakeBack(what=what, nth=nth),
            (TIMEOUT,),
        )
    yield Entry(
        "register/host nonce in a session",
        "H3",
        "other keys",
        lambda: On(
            lambda attack, event, link: [
                Event(What.MMIO_WRITE, HOST_NONCE, 32, bytes(32)),
                event,
            ],
            what="request",
            every=True,
        ),
        (NOTHING,),
    )
    for name, bit, expect in (
        ("depth", 41, (TAG,)),
        ("queues", 50, (TAG,)),
        ("operations", 25, (TAG,)),
        ("memory", 16, (TAG,)),
        ("version", 57, (ILLEGAL,)),
        ("granule", 8, (ILLEGAL,)),
        ("regions", 1, (TAG,)),
    ):
        yield Entry(
            f"register/capabilities/{name}",
            "H3",
            "a weaker device than it is",
            lambda bit=bit: On(
                answer=edit_answer(lambda data: flip(data, bit)),
                what=f"register {CAPABILITIES:#05x}",
            ),
            expect,
        )
    yield Entry(
        "register/device nonce",
        "H3",
        "old keys again",
        lambda: On(
            answer=edit_answer(lambda data: bytes(32)), what=f"register {DEVICE_NONCE:#05x}"
        ),
        (TAG,),
    )
    yield Entry(
        "register/host nonce",
        "H3",
        "old keys again",
        lambda: On(edit_data(lambda data: bytes(32)), what=f"register {HOST_NONCE:#05x}"),
        (TAG,),
    )
    for name, address in {
        "in the enclave": 0x7F00_0000_1000,
        "across its start": 0x7F00_0000_0000 - 64,
        "around the end of memory": (1 << 64) - 64,
        "not at a granule": Link.BASE + 8,
    }.items():

        class Place(Attack):
            """Gives the enclave a wrong address for a DMA buffer, as a malicious OS can."""

            def __init__(self, address: int = address) -> None:
                super().__init__()
                self.address = address

            def place(self, address: int, size: int) -> int:
                """Returns a wrong address for the fourth DMA buffer that the enclave allocates."""
                self.fired += 1
                return self.address if self.fired == 4 else address

        yield Entry(f"shared memory {name}", "H10", "the enclave's own memory", Place, (INSIDE,))

    class AfterError(On):
        """Corrupts a request, then repeats all earlier requests to the card, stopped by then."""

        def idle(self, link: Link) -> None:
            """Repeats all requests to the stopped card; asserts that mailboxes read as zero."""
            state = link.raw(Event(What.MMIO_READ, STATE, 4))[0]
            if state == State.DEAD:
                for sight, message, bell in self.requests:
                    link.raw(mailbox(sight.queue, message.data))
                    link.raw(bell)
                link.raw(Event(What.MMIO_WRITE, HOST_NONCE, 32, bytes(32)))
                for at in range(SLOTS):
                    assert not any(link.raw(Event(What.MMIO_READ, PAGE + 16 * at, 16)))

    yield Entry(
        "after an error/everything again",
        "H5 H14",
        "a session that lives on",
        lambda: AfterError(edit_data(flipper(20)), what="request", kind=Kind.D2H, nth=1),
        (TAG,),
    )
    yield Entry(
        "register/always ready",
        "H7",
        "a message over another",
        lambda: On(answer=edit_answer(lambda data: b"\1\0\0\0"), what="status", every=True),
        (TIMEOUT, TAG, NOTHING),
    )
    yield Entry(
        "register/never ready",
        "H18",
        "nothing",
        lambda: On(answer=edit_answer(lambda data: bytes(4)), what="status", every=True, nth=9),
        (TIMEOUT,),
    )
