# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the protected card's bus with random manipulations and judges each session.

`python -m maeslant.protected.attacks.fuzz 100000 [seed]` makes so many and prints what came of
them.
"""

import collections
import dataclasses
import random
import sys
from collections.abc import Callable, Iterable

from maeslant.protected.attacks.adversary import Adversary, Sight, doorbell, flip, mailbox, poke
from maeslant.protected.model.constants import PAGE, RESET, RESET_WORD
from maeslant.protected.model.link import Attack, Event, Link, What
from maeslant.protected.model.workload import Machine, play

EVENTS = 360  # about as many as the workload makes
SESSIONS = 8  # under one storm
GAPS = (3, 10, 30, 100)  # events from one of its manipulations to the next, on average


class Fuzz(Adversary):
    """Manipulates bus events of protected sessions at random: a few in a session, or many in a row.

    The few go deep: most of the workload is behind them. A storm meets the card and the driver in
    all states that its own manipulations bring about, and carries messages across sessions.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.sessions = SESSIONS if seed % 2 else 1
        if self.sessions > 1:
            gap, at = self.random.choice(GAPS), 0.0
            self.left = []
            while at < self.sessions * EVENTS:
                at += self.random.expovariate(1 / gap)
                self.left.append(int(at))
        else:
            count = self.random.choice((1, 1, 1, 2, 2, 3, 5))
            self.left = sorted(self.random.randrange(EVENTS) for _ in range(count))
        self.at = 0
        self.pending = ""
        self.held: list[tuple[int, Event]] = []
        self.done: list[str] = []
        self.seen: list[bytes] = []
        self.stuck = 0

    def act(self, sight: Sight, event: Event, link: Link) -> Iterable[Event]:
        """Returns the bus event or, at positions drawn before, a random manipulation of it."""
        self.at += 1
        self.pending = ""
        if event.data and len(self.seen) < 400:
            self.seen.append(event.data)
        if self.stuck:
            self.stuck -= 1
            return ()
        if not self.left or self.at < self.left[0]:
            return (event,)
        self.left.pop(0)
        self.fired += 1
        names = ["flip", "replay", "noise", "short", "long", "drop", "redirect", "inject", "poke"]
        if not event.is_read:
            names += ["twice", "delay", "silence"]
        name = self.random.choice(names)
        self.done.append(f"{name} {sight.what}")
        return getattr(self, name)(event, link)

    def react(self, sight: Sight, event: Event, data: bytes, link: Link) -> bytes:
        """Returns the data of a bus read, changed by a manipulation drawn for that read."""
        return self._change(self.pending, data) if self.pending and data else data

    def idle(self, link: Link) -> None:
        """Sends the bus events that the fuzzer has delayed, once their delay is over."""
        for when, event in list(self.held):
            if when <= link.steps:
                self.held.remove((when, event))
                self._carry_out(event, link)

    @staticmethod
    def _carry_out(event: Event, link: Link) -> None:
        try:
            link.raw(event)
        except Exception as error:
            if type(error).__name__ != "BusError":
                raise

    def _change(self, name: str, data: bytes) -> bytes:
        match name:
            case "flip":
                return flip(data, self.random.randrange(8 * len(data)))
            case "replay":
                old = self.random.choice(self.seen or [b"\0"])
                return old[: len(data)].ljust(len(data), b"\0")
            case "noise":
                return self.random.randbytes(len(data))
            case "short":
                return data[: self.random.randrange(len(data))]
            case _:
                return data + self.random.randbytes(self.random.choice((1, 4, 16, 64)))

    def _data(self, name: str, event: Event) -> Iterable[Event]:
        if event.is_read:
            self.pending = name
            return (event,)
        return (event.with_data(self._change(name, event.data)),)

    def flip(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: flips a random bit of its data; returns the changed event."""
        return self._data("flip", event)

    def replay(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: gives it the data of a random earlier one; returns it."""
        return self._data("replay", event)

    def noise(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: replaces its data by random bytes; returns the changed event."""
        return self._data("noise", event)

    def short(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: cuts its data to a random length; returns the changed event."""
        return self._data("short", event)

    def long(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: appends random bytes to its data; returns the changed event."""
        return self._data("long", event)

    def drop(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: drops it; returns no event, so its receiver gets nothing."""
        return ()

    def silence(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: drops it and up to 11 events after it; returns no event."""
        self.stuck = self.random.randrange(1, 12)
        return ()

    def twice(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: repeats it after a random delay; returns it."""
        self.held.append((link.steps + self.random.randrange(1, 20), event))
        return (event, event) if self.random.random() < 0.5 else (event,)

    def delay(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: delays it by a random time; returns no event for now."""
        self.held.append((link.steps + self.random.randrange(1, 30), event))
        return ()

    def redirect(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: changes its address by a random distance; returns it."""
        step = self.random.choice((-PAGE, PAGE, -1024, 1024, -64, 64, 8, 128, 256))
        return (dataclasses.replace(event, address=max(0, event.address + step)),)

    def inject(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: adds a forged request, doorbell or card reset; returns both."""
        queue = self.random.randrange(3)
        if self.requests and self.random.random() < 0.7:
            sight, message, bell = self.random.choice(self.requests)
            if self.random.random() < 0.5:
                return (message, bell, event)
            blocks = int.from_bytes(bell.data, "little")
            return (mailbox(queue, message.data), doorbell(queue, blocks), event)
        if self.random.random() < 0.2:
            word = RESET_WORD.to_bytes(4, "little")
            return (event, Event(What.MMIO_WRITE, RESET, 4, word))
        return (doorbell(queue, self.random.randrange(80)), event)

    def poke(self, event: Event, link: Link) -> Iterable[Event]:
        """Manipulates a bus event: adds random bytes written to used host memory; returns both."""
        used = [old.address for _, old in self.data] + [old.address for _, old in self.responses]
        address = self.random.choice(used or [link.BASE])
        data = self.random.randbytes(self.random.choice((1, 8, 64)))
        return (event, poke(address + self.random.randrange(64), data))


@dataclasses.dataclass
class Tally:
    """Counts the sessions, manipulations and detections of a bus fuzzing campaign."""

    runs: int = 0
    sessions: int = 0  # attacked ones
    manipulations: int = 0
    caught: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    kinds: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    wrong: list[str] = dataclasses.field(default_factory=list)


def fuzz(
    manipulations: int,
    seed: int = 0,
    make: Callable[[Attack, str], Machine] = Machine,
    seen: Callable[[int], None] = lambda count: None,
) -> Tally:
    """Fuzzes protected sessions until so many bus manipulations are made; returns their Tally.

    Reports progress to ``seen``.
    """
    tally = Tally()
    while tally.manipulations < manipulations:
        seen(tally.manipulations)
        attack = Fuzz(seed + tally.runs)
        tally.runs += 1
        try:
            verdict = play(attack, make=make, sessions=attack.sessions)
        except Exception as error:
            tally.manipulations += attack.fired
            tally.wrong.append(f"seed {seed + tally.runs - 1}: {attack.done}: {error!r}")
            continue
        tally.manipulations += verdict.fired
        tally.sessions += attack.sessions
        tally.caught.update([verdict.caught, *verdict.later])
        tally.kinds.update(entry.split()[0] for entry in attack.done)
        for wrong in verdict.wrong:
            tally.wrong.append(f"seed {seed + tally.runs - 1}: {attack.done}: {wrong}")
    return tally


def main() -> int:
    """Fuzzes the protected card's bus as the command line asks; prints counts of detections."""
    tally = fuzz(*map(int, sys.argv[1:] or ("1000",)))
    print(f"{tally.manipulations} manipulations of {tally.sessions} sessions: {dict(tally.kinds)}")
    for name, count in tally.caught.most_common():
        print(f"{count:8} {name}")
    print("\n".join(tally.wrong) or "no wrong byte, and every run ended")
    return int(bool(tally.wrong))


if __name__ == "__main__":
    sys.exit(main())
