# SPDX-License-Identifier: Apache-2.0
"""Models the bus and host memory between driver and protected card, and an attack on both.

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
    """Raised by the bus model for an access that no device answers or that one refuses."""


class What(enum.Enum):
    """Numbers the kinds of bus accesses: by MMIO, by DMA or by the enclave; read or write."""

    MMIO_WRITE = enum.auto()  # the driver, through the OS's mapping, to the card's registers
    MMIO_READ = enum.auto()
    DMA_READ = enum.auto()  # the card, to host memory
    DMA_WRITE = enum.auto()
    HOST_LOAD = enum.auto()  # the enclave, to shared memory
    HOST_STORE = enum.auto()


@dataclasses.dataclass(frozen=True)
class Event:
    """Describes one access on the bus model: kind, address, size and written data."""

    what: What
    address: int
    size: int
    data: bytes = b""

    def with_data(self, data: bytes) -> "Event":
        """Returns a copy of the bus access with other data."""
        return dataclasses.replace(self, data=data, size=len(data))

    def at(self, address: int) -> "Event":
        """Returns a copy of the bus access at another address."""
        return dataclasses.replace(self, address=address)

    @property
    def is_read(self) -> bool:
        """Returns true if the bus access is a read."""
        return self.what in (What.MMIO_READ, What.DMA_READ, What.HOST_LOAD)


class Attack:
    """Observes all accesses on the bus model without changing them; base class of attacks.

    `fired` counts what they changed.
    """

    name = "none"

    def __init__(self) -> None:
        self.fired = 0

    def transform(self, event: Event, link: "Link") -> Iterable[Event]:
        """Returns the bus accesses that replace a given one; here it is unchanged."""
        return (event,)

    def answer(self, event: Event, data: bytes, link: "Link") -> bytes:
        """Returns the data that a bus read gives to its reader; here they are unchanged."""
        return data

    def idle(self, link: "Link") -> None:
        """Acts while time passes without bus accesses; here it does nothing."""

    def place(self, address: int, size: int) -> int:
        """Returns the address that the OS reports for allocated memory; here the true one."""
        return address


class Card(Protocol):
    """Defines the methods that a card model offers to the bus model."""

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a register of the card model."""

    def mmio_read(self, address: int, size: int) -> bytes:
        """Returns the value of registers of the card model."""

    def step(self) -> bool:
        """Advances the card model by one step; returns true if it did anything."""


class Link:
    """Models the bus between driver and card, the host memory, and an attack on both."""

    BASE = 0x1_0000_0000

    def __init__(self, card: Card, memory: int = 1 << 18, attack: Attack | None = None) -> None:
        self.card, self.attack = card, attack or Attack()
        self.memory = bytearray(memory)
        self.free = self.BASE
        self.steps = 0
        self.watchers: list[Callable[[Event], None]] = []

    def allocate(self, size: int) -> int:
        """Allocates memory that driver and card share, as the OS does; returns its address."""
        address, self.free = self.free, self.free + -(-size // 64) * 64
        if self.free > self.BASE + len(self.memory):
            raise MemoryError
        return self.attack.place(address, size)

    def raw(self, event: Event) -> bytes:
        """Performs an access on the bus model without passing the attack; returns the data read."""
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
        """Performs an access on the bus model as the attack changes it; returns the data read."""
        data = b""
        for real in self.attack.transform(event, self):
            try:
                data = self.raw(real)
            except BusError:
                if real == event:
                    raise
        return self.attack.answer(event, data, self) if event.is_read else b""

    def step(self) -> bool:
        """Lets the attack act once, then the card model; returns true if the card did anything."""
        self.steps += 1
        self.attack.idle(self)
        return self.card.step()

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a card register over the attacked bus as the driver; bus errors are ignored."""
        with contextlib.suppress(BusError):  # writes are posted
            self.do(Event(What.MMIO_WRITE, address, len(data), data))

    def mmio_read(self, address: int, size: int) -> bytes:
        """Returns a card register that the driver reads over the bus; missing bytes are ones."""
        try:
            data = self.do(Event(What.MMIO_READ, address, size))
        except BusError:
            data = b""
        return data[:size].ljust(size, b"\xff")

    def load(self, address: int, size: int) -> bytes:
        """Returns shared memory that the enclave reads over the bus; missing bytes are zeros."""
        try:
            data = self.do(Event(What.HOST_LOAD, address, size))
        except BusError:
            data = b""
        return data[:size].ljust(size, b"\0")

    def store(self, address: int, data: bytes) -> None:
        """Writes shared memory over the attacked bus as the enclave."""
        with contextlib.suppress(BusError):
            self.do(Event(What.HOST_STORE, address, len(data), data))

    def dma_read(self, address: int, size: int) -> bytes:
        """Returns host memory read by the card over the attacked bus, maybe of wrong length."""
        return self.do(Event(What.DMA_READ, address, size))

    def dma_write(self, address: int, data: bytes) -> None:
        """Writes host memory over the attacked bus as the card."""
        self.do(Event(What.DMA_WRITE, address, len(data), data))
