# SPDX-License-Identifier: Apache-2.0
"""Measures what protection costs: the protected card's clocks beside the unprotected card's.

A DMA counts from the clock in which its movers take it to the one in which all of it is where it
belongs: verified in device memory, or acknowledged by host memory. The monitors of
sim/bus_monitor say when that is.
"""

import functools
from collections.abc import Callable

from maeslant.bench.measure.figures import Figure
from maeslant.errors import MaeslantError
from maeslant.protected.model import wire
from maeslant.protected.model.constants import State
from maeslant.protected.model.host import Host
from maeslant.protected.model.link import Link
from maeslant.protected.model.nn_card import SCRATCH
from maeslant.protected.rtl_card import Note, RtlDevice, Time
from maeslant.sim.unprotected_card import CHANNEL_STATUS, D2H, H2D
from maeslant.sim.unprotected_jobs import UnprotectedJobs

UNPROTECTED = "unprotected"
STEADY = "latency=100"
RANDOM = "latency=50-300&order=shuffled&seed=1"
QUICK = "latency=1"
SIZES = tuple(64 << 2 * i for i in range(8))  # 64 B to 1 MB
HALF = 1 << 20  # of the card's memory: one direction's
CHUNK = 64 << 10
ROOM = 8  # transfers that a channel of the card without a guard keeps
POLL_CLOCKS = 64  # clocks
TIMEOUT = 20_000  # looks
WAYS = {"in": (Time.IN_BEGINS, Time.IN_ENDS), "out": (Time.OUT_BEGINS, Time.OUT_ENDS)}
PAPER = "Ghosh: about 30, estimated"
# Ghosh §3.2: what its tags add to an access, in bus transactions.
PAPER_MMIO = {"read": "Ghosh: 2 writes, 2 reads more", "write": "Ghosh: 3 writes, 3 reads more"}


class Protected:
    """Drives encrypted DMA transfers of the simulated protected card in an open session."""

    def __init__(self, build: str, options: str) -> None:
        self.device = RtlDevice(build=build, options=options)
        self.link = Link(self.device, 1 << 24)
        self.device.bus = self.link
        self.host = Host(self.link, bytes(range(32)), bytes(16), bytes(32), timeout=TIMEOUT)
        self.device.install(bytes(range(32)), bytes(16))
        self.host.wait(self.host.open())
        self.free = self.link.free

    def close(self) -> None:
        """Closes the simulator of the protected card (with encrypted DMA)."""
        self.device.close()

    def stats(self) -> dict[str, int]:
        """Returns the simulator's bus counters of the protected card, by name."""
        return self.device.simulator.stats()

    def move(self, way: str, base: int, size: int, chunk: int = HALF) -> object:
        """Starts a DMA transfer of the protected card ("in" or "out"); returns its Job."""
        if way == "in":
            return self.host.h2d(1, base, bytes(size), chunk)
        return self.host.d2h(2, base, size, chunk)

    def wait(self, *jobs: object) -> None:
        """Simulates the protected card until the given DMA transfers are complete."""
        for job in jobs:
            self.host.wait(job)

    def times(self) -> list[tuple[int, int]]:
        """Returns the protected card's timed events since the last call, as (kind, clock) pairs."""
        self.link.free = self.free
        found, self.device.times = self.device.times, []
        return found


class Unprotected:
    """Drives DMA transfers of the simulated unprotected card, as a baseline for the protected card.

    It has the methods of :class:`Protected`.
    """

    def __init__(self, options: str) -> None:
        self.card = UnprotectedJobs(UNPROTECTED, options)
        self.card.sim.set_notes(True)

    def close(self) -> None:
        """Closes the simulator of the unprotected card (with unencrypted DMA)."""
        self.card.close()

    def stats(self) -> dict[str, int]:
        """Returns the simulator's bus counters of the unprotected card, by name."""
        return self.card.sim.stats()

    def move(self, way: str, base: int, size: int, chunk: int = HALF) -> list:
        """Starts a DMA transfer of the unprotected card in chunks; returns the transfer."""
        pieces = [(base + at, min(chunk, size - at)) for at in range(0, size, chunk)]
        job = [H2D if way == "in" else D2H, pieces, 0]
        self._push(job)
        return job

    def _push(self, job: list) -> None:
        channel, pieces, _ = job
        while pieces and self.card.sim.read32(channel + CHANNEL_STATUS) & 0xFF < ROOM:
            base, size = pieces.pop(0)
            job[2] = self.card.push(channel, self.card.allocate(size), base, size)

    def wait(self, *jobs: list) -> None:
        """Simulates the unprotected card until the given DMA transfers are complete."""
        while any(job[1] for job in jobs):
            for job in jobs:
                self._push(job)
            self.card.sim.run(POLL_CLOCKS)
        for channel, _, number in jobs:
            self.card.wait_for(channel, number)

    def times(self) -> list[tuple[int, int]]:
        """Returns the unprotected card's events since the last call, as (kind, clock) pairs."""
        return [(a, b) for kind, a, b, _, _ in self.card.sim.notes() if kind == Note.TIME]


def clocks(card: Protected | Unprotected, way: str, size: int) -> int:
    """Returns the clock cycles of a DMA transfer while 1 MB moves in the opposite direction."""
    other = "out" if way == "in" else "in"
    card.times()
    beside = card.move(other, HALF, HALF)
    card.wait(card.move(way, 0, size), beside)
    begins, ends = WAYS[way]
    times = card.times()
    (begin,) = [at for what, at in times if what == begins]
    (end,) = [at for what, at in times if what == ends]
    (over,) = [at for what, at in times if what == WAYS[other][1]]
    assert begin < over
    return end - begin


def dma_figures(build: str) -> list[Figure]:
    """Measures the clock cycles that encryption and authentication add to DMA, by length.

    Returns the measured values as Figures.
    """
    cards = Protected(build, STEADY), Unprotected(STEADY)
    result = []
    try:
        for way in WAYS:
            for size in SIZES:
                guarded, plain = (clocks(card, way, size) for card in cards)
                length = f"{size} B" if size < 1 << 10 else f"{size >> 10} KB"
                metric = f"DMA {way}, {length}: clocks more than the {plain:,} without a guard"
                more = guarded - plain
                result.append(
                    Figure("guard", build, metric, more, "clocks", "lower", 30, PAPER, "§3.2")
                )
    finally:
        for card in cards:
            card.close()
    return result


def span(make: Callable[[str], Protected | Unprotected], size: int) -> int:
    """Returns a card's clock cycles for DMA in both directions at once, from first to last beat."""
    card = make(RANDOM)
    try:
        sim = card.device.simulator if isinstance(card, Protected) else card.card.sim
        sim.reset_stats()
        card.wait(card.move("in", 0, size, CHUNK), card.move("out", HALF, size, CHUNK))
        stats = card.stats()
        assert stats["payload_read_beats"] == stats["payload_write_beats"] == size // 64
        return stats["last_data_clock"] - stats["first_data_clock"] + 1
    finally:
        card.close()


def bus_figures(build: str) -> list[Figure]:
    """Measures the bus use of DMA transfers on the protected and the unprotected card.

    Returns the measured values as Figures.
    """
    result = []
    for size in (CHUNK, 4 * CHUNK, HALF):
        guarded = span(functools.partial(Protected, build), size)
        plain = span(Unprotected, size)
        beats = size // 64
        metric = (
            f"{size >> 10} KB each way at once: bus clocks used, of {beats / plain:.1%} without"
        )
        share = 100 * beats / guarded
        goal = 0.97 * 100 * beats / plain
        result.append(Figure("guard", build, metric, share, "%", "higher", goal))
    return result


def mmio_figures(build: str) -> list[Figure]:
    """Measures the clock cycles and bus bytes of encrypted, authenticated register accesses.

    Returns the measured values as Figures.
    """
    card = Protected(build, QUICK)
    batches = {
        "read": [wire.read(SCRATCH, 8)],
        "write": [wire.write(SCRATCH, 1, 8)],
        "batch of 64 writes": [wire.write(SCRATCH, i, 8) for i in range(64)],
        "batch of 64 reads": [wire.read(SCRATCH, 8) for _ in range(64)],
    }
    result = []
    try:
        for name, operations in batches.items():
            card.times()
            before = card.stats()
            card.wait(card.host.batch(0, operations))
            after = card.stats()
            times = card.times()
            bell = next(at for what, at in times if what == Time.DOORBELL)
            done = next(at for what, at in times if what == Time.ANSWERED)
            words = after["register_writes"] - before["register_writes"]
            bursts = after["write_bursts"] - before["write_bursts"]
            paper = PAPER_MMIO.get(name, "")
            for metric, value, unit in (
                ("doorbell to answer in host memory", done - bell, "clocks"),
                ("words written by the host, doorbell included", words, "words"),
                ("bursts written by the card", bursts, "bursts"),
            ):
                metric = f"protected {name}: {metric}"
                result.append(
                    Figure("guard", build, metric, value, unit, "lower", None, paper, "§3.2")
                )
    finally:
        card.close()
    return result


def session_figures(build: str) -> list[Figure]:
    """Measures the clock cycles between two users' sessions on the protected card; returns Figures.

    The state of the card is looked at every 64 clocks; the provisioning of the secret is the
    simulator's, byte by byte.
    """
    card = Protected(build, QUICK)
    result = []

    def lap(metric: str) -> None:
        now = card.stats()["bus_clocks"]
        name = f"change of session: {metric}"
        result.append(Figure("guard", build, name, now - begun, "clocks", "lower"))

    try:
        card.wait(card.move("in", 0, CHUNK))
        begun = card.stats()["bus_clocks"]
        card.wait(card.host.close())
        lap("the first user's end answered")
        while card.device.state != State.IDLE:
            card.device.step()
        lap("keys and device memory erased")
        secret, session = bytes([1]) * 32, bytes([1]) * 16
        card.host = Host(card.link, secret, session, bytes([1]) * 32, timeout=TIMEOUT)
        if not card.device.install(secret, session):
            raise MaeslantError("the simulated card takes no second session")
        lap("the second user's keys derived")
        card.wait(card.host.open())
        card.wait(card.host.batch(0, [wire.write(SCRATCH, 1, 8)]))
        lap("the second user's first write answered")
    finally:
        card.close()
    return result


def figures(build: str) -> list[Figure]:
    """Measures all costs of encrypting a card's bus: DMA, registers, sessions; returns Figures."""
    parts = (dma_figures, bus_figures, mmio_figures, session_figures)
    return [figure for part in parts for figure in part(build)]
