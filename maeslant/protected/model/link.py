# SPDX-License-Identifier: Apache-2.0
"""Models the bus and host memory between driver and card, where the adversary acts.

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
    """Raised for a bus access that no device answers, or that is refused."""


class What(enum.Enum):
    """Lists the kinds of bus events: who accesses which memory."""

    MMIO_WRITE = enum.auto()  # the driver, through the OS's mapping, to the card's registers
    MMIO_READ = enum.auto()
    DMA_READ = enum.auto()  # the card, to host memory
    DMA_WRITE = enum.auto()
    HOST_LOAD = enum.auto()  # the enclave, to shared memory
    HOST_STORE = enum.auto()


@dataclasses.dataclass(frozen=True)
class Event:
    """Describes one bus access: kind, address, size, and data if it writes."""

    what: What
    address: int
    size: int
    data: bytes = b""

    def with_data(self, data: bytes) -> "Event":
        """Returns a copy of the bus event with other data."""
        return dataclasses.replace(self, data=data, size=len(data))

    def at(self, address: int) -> "Event":
        """Returns a copy of the bus event at another address."""
        return dataclasses.replace(self, address=address)

    @property
    def is_read(self) -> bool:
        """Returns true if a bus event is a read."""
        return self.what in (What.MMIO_READ, What.DMA_READ, What.HOST_LOAD)


class Attack:
    """Observes the bus without any change; base class of attacks.

    `fired` counts what they changed.
    """

    name = "none"

    def __init__(self) -> None:
        self.fired = 0

    def transform(self, event: Event, link: "Link") -> Iterable[Event]:
        """Returns the bus events that an attack puts in place of an event."""
        return (event,)

    def answer(self, event: Event, data: bytes, link: "Link") -> bytes:
        """Returns the data that an attack gives to a reader in place of the data on the bus."""
        return data

    def idle(self, link: "Link") -> None:
        """Lets the attack act between bus events, as time passes."""

    def place(self, address: int, size: int) -> int:
        """Returns the address of shared memory that an attacked kernel driver reports."""
        return address


class Card(Protocol):
    """Defines the interface of a card model to the bus."""

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a register of a card model."""

    def mmio_read(self, address: int, size: int) -> bytes:
        """Reads a register of a card model."""

    def step(self) -> bool:
        """Lets a card model do a step of work; returns true if there was any."""


class Link:
    """Models the bus between driver and card, host memory, and the attack on both."""

    BASE = 0x1_0000_0000

    def __init__(self, card: Card, memory: int = 1 << 18, attack: Attack | None = None) -> None:
        self.card, self.attack = card, attack or Attack()
        self.memory = bytearray(memory)
        self.free = self.BASE
        self.steps = 0
        self.watchers: list[Callable[[Event], None]] = []

    def allocate(self, size: int) -> int:
        """Allocates shared memory that card and driver can reach, as the kernel driver does."""
        address, self.free = self.free, self.free + -(-size // 64) * 64
        if self.free > self.BASE + len(self.memory):
            raise MemoryError
        return self.attack.place(address, size)

    def raw(self, event: Event) -> bytes:
        """Carries out a bus event as it is, without the attack."""
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
        """Carries out a bus event as the attack changes it; an unanswered read returns no bytes."""
        data = b""
        for real in self.attack.transform(event, self):
            try:
                data = self.raw(real)
            except BusError:
                if real == event:
                    raise
        return self.attack.answer(event, data, self) if event.is_read else b""

    def step(self) -> bool:
        """Advances time for adversary and card; returns true if the card did anything."""
        self.steps += 1
        self.attack.idle(self)
        return self.card.step()

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a card register as the driver over the attacked bus; ignores bus errors."""
        with contextlib.suppress(BusError):  # writes are posted
            self.do(Event(What.MMIO_WRITE, address, len(data), data))

    def mmio_read(self, address: int, size: int) -> bytes:
        """Reads a card register as the driver; missing bytes read as ones, as on PCIe."""
        try:
            data = self.do(Event(What.MMIO_READ, address, size))
        except BusError:
            data = b""
        return data[:size].ljust(size, b"\xff")

    def load(self, address: int, size: int) -> bytes:
        """Reads shared memory as the enclave; missing bytes read as zeros."""
        try:
            data = self.do(Event(What.HOST_LOAD, address, size))
        except BusError:
            data = b""
        return data[:size].ljust(size, b"\0")

    def store(self, address: int, data: bytes) -> None:
        """Writes shared memory as the enclave."""
        with contextlib.suppress(BusError):
            self.do(Event(What.HOST_STORE, address, len(data), data))

    def dma_read(self, address: int, size: int) -> bytes:
        """Reads host memory as the card; the card must detect a wrong number of bytes."""
        return self.do(Event(What.DMA_READ, address, size))

    def dma_write(self, address: int, data: bytes) -> None:
        """Writes host memory over the attacked bus as the card."""
        self.do(Event(What.DMA_WRITE, address, len(data), data))
