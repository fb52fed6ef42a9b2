# SPDX-License-Identifier: Apache-2.0
"""A small driver of the card without a guard (mae_plain_card), simulated: the baseline."""

import pathlib
from typing import Self

from maeslant.errors import MaeslantError
from maeslant.simulator import Simulator

# docs/registers/mae_plain_card.md
STATUS, IRQ_ENABLE, IRQ_STATUS = 0x0C, 0x10, 0x14
INWARD, OUTWARD = 0x40, 0x80
HOST_LO, HOST_HI, DEVICE, LENGTH, COMPLETED, CHANNEL_STATUS = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14
WINDOW = 0x100
IRQ = {INWARD: 1, OUTWARD: 2, WINDOW: 4}
CONTROL, KERNEL_STATUS, LIST, CLOCKS = 0x00, 0x04, 0x10, 0x18
BUSY, FAULT = 1, 2
BASE = 0x1_0000_0000
PATIENCE = 50_000_000  # clocks
LONGEST = 1 << 20


class PlainCard:
    """An open card; use it as a context manager. Transfers are numbered in their direction."""

    def __init__(self, library: pathlib.Path, options: str = "", mebibytes: int = 16) -> None:
        self.simulator = Simulator(library, options)
        self.memory = bytearray(mebibytes << 20)
        self.simulator.map(BASE, self.memory)
        self.free = 0
        self.pushed = {INWARD: 0, OUTWARD: 0}
        self.places: dict[int, tuple[int, int]] = {}  # of transfers out
        while self.simulator.read32(STATUS) & 1:
            self.simulator.run(64)
        self.simulator.write32(IRQ_ENABLE, 7)
        self.begin = self.simulator.stats()["bus_clocks"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.simulator.close()

    def allocate(self, size: int) -> int:
        """An offset in host memory."""
        size = -(-size // 64) * 64
        if self.free + size > len(self.memory):
            self.free = 0  # what was given out long ago is not used any more
        self.free += size
        return self.free - size

    def push(self, channel: int, host: int, device: int, size: int) -> int:
        """Begin a transfer of at most 1 MiB; its number."""
        address = BASE + host
        for offset, value in (
            (HOST_LO, address & 0xFFFFFFFF),
            (HOST_HI, address >> 32),
            (DEVICE, device),
            (LENGTH, size),
        ):
            self.simulator.write32(channel + offset, value)
        self.pushed[channel] += 1
        return self.pushed[channel]

    def load(self, device: int, data: bytes) -> int:
        """Copy into host memory and begin a transfer into the card."""
        place = self.allocate(len(data))
        self.memory[place : place + len(data)] = data
        return self.push(INWARD, place, device, len(data))

    def fetch(self, device: int, size: int) -> int:
        """Begin a transfer out of the card."""
        place = self.allocate(size)
        number = self.push(OUTWARD, place, device, size)
        self.places[number] = (place, size)
        return number

    def _await(self, channel: int, number: int) -> None:
        for _ in range(PATIENCE // 256):
            if self.simulator.read32(channel + COMPLETED) >= number:
                status = self.simulator.read32(channel + CHANNEL_STATUS)
                if status >> 8:
                    raise MaeslantError(f"a transfer failed: status {status:#x}")
                return
            self._pause(channel)
        raise MaeslantError("a transfer does not end")

    def _pause(self, what: int) -> None:
        """Until its interrupt, or for a while."""
        self.simulator.wait(4096)
        self.simulator.write32(IRQ_STATUS, IRQ[what])

    def wait_loaded(self, number: int) -> None:
        """Until a transfer into the card is over."""
        self._await(INWARD, number)

    def fetched(self, number: int) -> bytes:
        """The bytes of a transfer out of the card."""
        self._await(OUTWARD, number)
        place, size = self.places.pop(number)
        return bytes(self.memory[place : place + size])

    def start(self, commands: int) -> None:
        """Start the kernel on a list of commands."""
        self.simulator.write32(WINDOW + LIST, commands)
        self.simulator.write32(WINDOW + LIST + 4, 0)
        self.simulator.write32(WINDOW + CONTROL, 1)

    def wait_run(self) -> int:
        """Until the kernel stands; the clocks of its run."""
        for _ in range(PATIENCE // 256):
            status = self.simulator.read32(WINDOW + KERNEL_STATUS)
            if status & FAULT:
                raise MaeslantError("the kernel stopped with a fault")
            if not status & BUSY:
                return self.simulator.read32(WINDOW + CLOCKS)
            self._pause(WINDOW)
        raise MaeslantError("a run does not end")

    @property
    def clocks(self) -> int:
        """Since the card was opened."""
        return self.simulator.stats()["bus_clocks"] - self.begin

    def stats(self) -> dict[str, int]:
        """The simulator's counters."""
        return self.simulator.stats()
