# SPDX-License-Identifier: Apache-2.0
"""Runs sessions of a test application over the protected channel under an attack.

Two sessions, one after another on one card. The first uses every kind of request, several queues,
chunks and epochs; the second looks for what the first has left. `judge` says what is wrong: a wrong
byte with the application or the kernel, an access nobody asked for, a byte of the other session.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Callable

from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import RESET, RESET_WORD
from maeslant.protected.model.device import Device
from maeslant.protected.model.host import GivenUpError, Host, HostError, Job, PoisonedError
from maeslant.protected.model.keys import BudgetError, Capabilities
from maeslant.protected.model.link import Attack, Event, Link, What

CAPABILITIES = Capabilities(queues=3, depth=3, log2_chunk=14, operations=16, log2_memory=14)
BIG = 9000  # more than two stages


def octets(label: str, size: int) -> bytes:
    """Returns reproducible pseudo-random bytes, different for each label."""
    return hashlib.shake_256(label.encode()).digest(size)


@dataclasses.dataclass
class Record:
    """Records an encrypted session: the application's results, error, and card events."""

    results: list[tuple[str, object]] = dataclasses.field(default_factory=list)
    error: Exception | None = None
    monitor: list[tuple] = dataclasses.field(default_factory=list)
    installed: bool = True

    def caught(self) -> str:
        """Returns which check detected the attack: "device:CAUSE", "host:reason" or "nothing"."""
        for entry in self.monitor:
            if entry[0] == "error":
                return f"device:{entry[1].name}"
        if isinstance(self.error, PoisonedError):
            return "host:" + self.error.reason.split(":")[0]
        return f"host:{type(self.error).__name__}" if self.error else "nothing"


def device_nonce(seed: str, number: int) -> bytes:
    """Returns the device nonce with a number of the machine with a seed, the first one being 0."""
    return number.to_bytes(8) + octets(f"{seed} device nonce {number}", 24)


def counter_nonces(label: str) -> Callable[[], bytes]:
    """Returns a function that returns the last 24 bytes of one :func:`device_nonce` a call."""
    count = iter(range(1 << 32))
    return lambda: device_nonce(label, next(count))[8:]


class Machine:
    """Models a machine: a protected card, the bus with an attack, and the enclave's host driver.

    Subclasses put another card or another driver in place of the reference's.
    """

    make_device: Callable[..., Device] = Device
    make_host: Callable[..., Host] = Host

    def __init__(self, attack: Attack | None = None, seed: str = "0", timeout: int = 40) -> None:
        self.seed, self.timeout = seed, timeout
        self.device = self.make_device(CAPABILITIES, counter_nonces(seed))
        self.link = Link(self.device, 1 << 20, attack)
        self.device.bus = self.link

    def session(self, name: str, application: Callable[[Host, Record], None]) -> Record:
        """Runs an application in one encrypted session on this machine model; returns a Record."""
        record = Record()
        label = f"{self.seed} {name}"
        start = len(self.device.monitor)
        self.link.free = self.link.BASE
        secret, session_id = octets(f"{label} secret", 32), octets(f"{label} id", 16)
        nonce = octets(f"{label} host nonce", 32)
        try:
            host = self.make_host(self.link, secret, session_id, nonce, timeout=self.timeout)
            record.installed = self.device.install(secret, session_id)
            application(host, record)
        except (HostError, BudgetError) as error:
            record.error = error
        record.monitor = self.device.monitor[start:]
        return record

    def take_back(self) -> None:
        """Resets this machine's card in the middle of a session, as the operating system can."""
        word = RESET_WORD.to_bytes(4, "little")
        self.link.raw(Event(What.MMIO_WRITE, RESET, 4, word))
        self.device.finish_scrub()

    def close(self) -> None:
        """Does nothing here; subclasses close the simulated card or the driver."""


def run_kernel(
    host: Host, source: int, destination: int, length: int, after: Job, runs: int
) -> Job:
    """Queues a BATCH that starts the kernel after a transfer and earlier runs; returns the Job."""
    return host.batch(
        0,
        [
            wire.wait(after.last.queue, after.last.sequence),
            wire.wait_runs(runs),
            wire.write(card.SOURCE, source, 8),
            wire.write(card.DESTINATION, destination, 8),
            wire.write(card.LENGTH, length, 8),
            wire.write(card.CONTROL, 1),
        ],
    )


def first(host: Host, record: Record, big: bool = False) -> None:
    """Sends requests of every kind to the protected card; adds their results to a Record.

    They use three queues and two key epochs.
    """

    def keep(name: str, job: Job) -> None:
        record.results.append((name, host.wait(job)))

    keep("open", host.open())
    one, two = octets("input one", BIG if big else 320), octets("input two", 200)
    chunk = 1 << 14 if big else 128
    up = host.h2d(1, 0, one, chunk)
    start = run_kernel(host, 0, 0x2400, min(len(one), 320), up, 0)
    if big:
        host.wait(up)  # a region on its way in cannot be on its way out
    down = host.d2h(2, 0 if big else 0x2400, len(one), chunk, after=1)
    keep("up one", up)
    keep("start one", start)
    keep("down one", down)
    keep("scratch", host.batch(0, [wire.write(card.SCRATCH, 0x0123456789ABCDEF, 8)]))
    keep("read", host.batch(0, [wire.read(card.SCRATCH), wire.read(card.RUNS, 8)]))
    for queue in range(3):
        keep(f"rekey {queue}", host.rekey(queue))
    abandoned = host.h2d(1, 0x1000, octets("abandoned", 256), 128, give_up=1)
    try:
        host.wait(abandoned)
    except GivenUpError:
        record.results.append(("abandoned", "given up"))
    up = host.h2d(1, 0x1800, two, 128)
    start = run_kernel(host, 0x1800, 0x3000, 200, up, 1)
    down = host.d2h(2, 0x3000, 200, 128, after=2)
    keep("down two", down)
    keep("start two", start)
    keep("up two", up)
    keep("close", host.close())


def careless(host: Host, record: Record) -> None:
    """Runs an application that starts the kernel too early, which the card must reject (H8)."""

    def keep(name: str, job: Job) -> None:
        record.results.append((name, host.wait(job)))

    keep("open", host.open())
    up = host.h2d(1, 0, octets("in quarantine", 256), 128)
    start = [
        wire.write(card.SOURCE, 0, 8),
        wire.write(card.DESTINATION, 0x2400, 8),
        wire.write(card.LENGTH, 256, 8),
        wire.write(card.CONTROL, 1),
    ]
    keep("start", host.batch(0, start))
    keep("fault", host.batch(0, [wire.read(card.STATUS), wire.read(card.RUNS, 8)]))
    keep("up", up)
    keep("close", host.close())


def second(host: Host, record: Record) -> None:
    """Runs an application that reads all card memory to look for an earlier session's data."""
    host.wait(host.open())
    total = 1 << CAPABILITIES.log2_memory
    memory = host.d2h(1, 0, total)
    registers = host.batch(0, [wire.read(offset, 8) for offset in range(0x10, 0x28, 8)])
    record.results.append(("registers", host.wait(registers)))
    record.results.append(("memory", host.wait(memory)))
    host.wait(host.close())


@functools.cache
def expected(big: bool = False) -> Record:
    """Returns the Record that the application ``first`` gives without an attack."""
    record = Machine().session("first", functools.partial(first, big=big))
    assert record.error is None, record.error
    return record


@functools.cache
def expected_of_careless(attack: Callable[[], Attack]) -> Record:
    """Returns the Record that the application ``careless`` gives on the card model under attack."""
    record = Machine(attack()).session("first", careless)
    assert record.error is None, record.error
    assert ("kernel",) in by_unit(record.monitor)
    assert by_unit(record.monitor)["kernel",] == [("fault",)], "the kernel saw the region"
    return record


def by_unit(monitor: list[tuple]) -> dict[tuple, list[tuple]]:
    """Groups a session's card events by queue and kernel; returns the lists of events."""
    units: dict[tuple, list[tuple]] = {}
    for entry in monitor:
        unit = ("kernel",) if entry[0] in ("run", "fault") else (entry[0] == "release", entry[1])
        if entry[0] != "error":
            units.setdefault(unit, []).append(entry)
    return units


def judge(record: Record, want: Record) -> list[str]:
    """Compares an attacked session's Record with a good Record; returns error texts."""
    wrong = []
    for got, good in zip(record.results, want.results, strict=False):
        if got != good:
            wrong.append(f"application got another {good[0]}")
    if len(record.results) < len(want.results) and record.error is None:
        wrong.append("results are missing, and nobody said so")
    good_units = by_unit(want.monitor)
    for unit, entries in by_unit(record.monitor).items():
        if entries != good_units.get(unit, [])[: len(entries)]:
            wrong.append(f"{unit}: {entries[-1][:2]} is not what was asked for")
    return wrong


def judge_second(record: Record) -> list[str]:
    """Returns an error text for each leak: earlier session's data that a session could read."""
    return [f"{name} not clear" for name, data in record.results if any(data)]


@dataclasses.dataclass
class Verdict:
    """Holds the verdict on a bus attack: wrong results obtained, and the detecting check."""

    caught: str  # in the first session
    wrong: list[str]
    fired: int
    second: str  # in the last one
    later: list[str] = dataclasses.field(default_factory=list)  # in attacked ones between them


def play(
    attack: Attack,
    seed: str = "0",
    big: bool = False,
    stay: bool = False,
    make: Callable[[Attack, str], Machine] = Machine,
    sessions: int = 1,
    want: Record | None = None,
) -> Verdict:
    """Runs sessions under a bus attack, then another session on the card; returns the Verdict.

    ``stay``: the attack acts on the last session, too.

    ``sessions`` plays the first so many times, each under the attack and with secrets of its own.
    ``want``: the first is the careless one, which comes to this.
    """
    machine = make(attack, seed)
    application = careless if want else functools.partial(first, big=big)
    try:
        return _play(machine, attack, application, want or expected(big), stay, sessions)
    finally:
        machine.close()


def _play(
    machine: Machine,
    attack: Attack,
    application: Callable[[Host, Record], None],
    want: Record,
    stay: bool,
    sessions: int,
) -> Verdict:
    wrong, caught = [], []
    for number in range(sessions):
        name = f"first {number}" if number else "first"
        record = machine.session(name, application)
        caught.append(record.caught())
        wrong += judge(record, want)
        if machine.device.keys is None and any(machine.device.memory.data):
            wrong.append("memory outlives the keys")
        if not stay and number == sessions - 1:
            machine.link.attack = Attack()
        machine.take_back()
    last = machine.session("second", second)
    wrong += judge_second(last)
    if last.error and not stay:
        wrong.append(f"the next session failed: {last.error}")
    return Verdict(caught[0], wrong, attack.fired, last.caught(), caught[1:])
