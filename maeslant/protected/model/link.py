# SPDX-License-Identifier: Apache-2.0
"""The bus and host memory between the two ends: the place where the adversary stands.

Everything that passes is an Event. An attack sees each before it happens and says what happens
instead (any list of events), sees what a read returned and may change it, and may act whenever
time passes. A real driver with a simulated card gives the same events to the same attacks.
"""

import contextlib
import dataclasses
import enum
from collections.abc import Callable, Iterable
from typing import Protocol


class BusError(Exception):
    """An access that nobody answers, or that is refused."""


class What(enum.Enum):
    """Who does what to which memory."""

    MMIO_WRITE = enum.auto()  # the driver, through the OS's mapping, to the card's registers
    MMIO_READ = enum.auto()
    DMA_READ = enum.auto()  # the card, to host memory
    DMA_WRITE = enum.auto()
    HOST_LOAD = enum.auto()  # the enclave, to shared memory
    HOST_STORE = enum.auto()


@dataclasses.dataclass(frozen=True)
class Event:
    """One access: data if it writes, size in any case."""

    what: What
    address: int
    size: int
    data: bytes = b""

    def with_data(self, data: bytes) -> "Event":
        """The same access with other data."""
        return dataclasses.replace(self, data=data, size=len(data))

    def at(self, address: int) -> "Event":
        """The same access at another address."""
        return dataclasses.replace(self, address=address)

    @property
    def is_read(self) -> bool:
        """Whether somebody waits for data."""
        return self.what in (What.MMIO_READ, What.DMA_READ, What.HOST_LOAD)


class Attack:
    """Does nothing; attacks override what they need. `fired` counts what they changed."""

    name = "none"

    def __init__(self) -> None:
        self.fired = 0

    def transform(self, event: Event, link: "Link") -> Iterable[Event]:
        """What happens instead of an event."""
        return (event,)

    def answer(self, event: Event, data: bytes, link: "Link") -> bytes:
        """What the reader gets instead of what was read."""
        return data

    def idle(self, link: "Link") -> None:
        """Time passes."""

    def place(self, address: int, size: int) -> int:
        """Where the kernel driver says that shared memory is."""
        return address


class Card(Protocol):
    """What stands at the other side of the bus."""

    def mmio_write(self, address: int, data: bytes) -> None:
        """A register write."""

    def mmio_read(self, address: int, size: int) -> bytes:
        """A register read."""

    def step(self) -> bool:
        """Do a little work; whether there was any."""


class Link:
    """Registers of the card, host memory, and the attack on both."""

    BASE = 0x1_0000_0000

    def __init__(self, card: Card, memory: int = 1 << 18, attack: Attack | None = None) -> None:
        self.card, self.attack = card, attack or Attack()
        self.memory = bytearray(memory)
        self.free = self.BASE
        self.steps = 0
        self.watchers: list[Callable[[Event], None]] = []

    def allocate(self, size: int) -> int:
        """The kernel driver's: shared memory that the card can reach."""
        address, self.free = self.free, self.free + -(-size // 64) * 64
        if self.free > self.BASE + len(self.memory):
            raise MemoryError
        return self.attack.place(address, size)

    def raw(self, event: Event) -> bytes:
        """Carry an event out, past the attack."""
        for watcher in self.watchers:
            watcher(event)
        match event.what:
            case What.MMIO_WRITE:
                self.card.mmio_write(event.address, event.data)
                return b""
            case What.MMIO_READ:
                return self.card.mmio_read(event.address, event.size)
        at = event.address - self.BASE
        if at < 0 or at + event.size > len(self.memory):
            raise BusError(hex(event.address))
        if event.is_read:
            return bytes(self.memory[at : at + event.size])
        self.memory[at : at + len(event.data)] = event.data
        return b""

    def do(self, event: Event) -> bytes:
        """Carry an event out as the attack wants it; a read nobody answered gives no bytes."""
        data = b""
        for real in self.attack.transform(event, self):
            try:
                data = self.raw(real)
            except BusError:
                if real == event:
                    raise
        return self.attack.answer(event, data, self) if event.is_read else b""

    def step(self) -> bool:
        """Time passes for card and adversary."""
        self.steps += 1
        self.attack.idle(self)
        return self.card.step()

    def mmio_write(self, address: int, data: bytes) -> None:
        """The driver's register write."""
        with contextlib.suppress(BusError):  # writes are posted
            self.do(Event(What.MMIO_WRITE, address, len(data), data))

    def mmio_read(self, address: int, size: int) -> bytes:
        """The driver's register read; what is missing reads as ones, as on PCIe."""
        try:
            data = self.do(Event(What.MMIO_READ, address, size))
        except BusError:
            data = b""
        return data[:size].ljust(size, b"\xff")

    def load(self, address: int, size: int) -> bytes:
        """The enclave's read of shared memory; what is missing reads as zero."""
        try:
            data = self.do(Event(What.HOST_LOAD, address, size))
        except BusError:
            data = b""
        return data[:size].ljust(size, b"\0")

    def store(self, address: int, data: bytes) -> None:
        """The enclave's write to shared memory."""
        with contextlib.suppress(BusError):
            self.do(Event(What.HOST_STORE, address, len(data), data))

    def dma_read(self, address: int, size: int) -> bytes:
        """The card's read; a wrong count of bytes is the card's to notice."""
        return self.do(Event(What.DMA_READ, address, size))

    def dma_write(self, address: int, data: bytes) -> None:
        """The card's write."""
        self.do(Event(What.DMA_WRITE, address, len(data), data))
