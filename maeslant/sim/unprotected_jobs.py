# SPDX-License-Identifier: Apache-2.0
"""Controls the simulated unprotected card with several DMA transfers at a time."""

from typing import Self

from maeslant.errors import MaeslantError
from maeslant.sim.unprotected_card import (
    CHANNEL_STATUS,
    COMPLETED,
    CONTROL,
    D2H,
    DEVICE,
    FAULT,
    H2D,
    HOST,
    HOST_LO,
    IRQ_IN,
    IRQ_KERNEL,
    IRQ_OUT,
    IRQ_STATUS,
    KERNEL_STATUS,
    LENGTH,
    UnprotectedCard,
)

BUSY = 1
LIST, CLOCKS = 0x10, 0x18
PAUSE = 4096  # clocks
PATIENCE = 50_000  # pauses


class UnprotectedJobs(UnprotectedCard):
    """Simulates an unprotected card whose DMA transfers overlap with kernel runs.

    Transfers are numbered in their direction.
    """

    def __init__(self, build: str, options: str = "", size: int = 1 << 24) -> None:
        super().__init__(build, options, size)
        self.free = 0
        self.pushed = {H2D: 0, D2H: 0}
        self.places: dict[int, tuple[int, int]] = {}  # of transfers out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def allocate(self, size: int) -> int:
        """Allocates host memory of the unprotected card in a ring buffer; returns its offset."""
        size = -(-size // 64) * 64
        if self.free + size > len(self.memory):
            self.free = 0
        self.free += size
        return self.free - size

    def push(self, channel: int, host: int, device: int, size: int) -> int:
        """Starts a DMA transfer of the unprotected card on a channel; returns the transfer's index.

        HOST_HI was set when the card was opened.
        """
        self.sim.write32(channel + HOST_LO, (HOST + host) & 0xFFFFFFFF)
        self.sim.write32(channel + DEVICE, device)
        self.sim.write32(channel + LENGTH, size)
        self.pushed[channel] += 1
        return self.pushed[channel]

    def begin_load(self, device: int, data: bytes) -> int:
        """Starts a DMA transfer into the unprotected card's memory; returns its number."""
        place = self.allocate(len(data))
        self.memory[place : place + len(data)] = data
        return self.push(H2D, place, device, len(data))

    def begin_fetch(self, device: int, size: int) -> int:
        """Starts a DMA transfer out of the unprotected card's memory; returns its number."""
        place = self.allocate(size)
        number = self.push(D2H, place, device, size)
        self.places[number] = (place, size)
        return number

    def _pause(self) -> None:
        """Runs the unprotected card until an interrupt, but for a limited number of clocks.

        All interrupts are cleared; the channels' counters tell which transfers have ended.
        """
        self.sim.wait(PAUSE)
        self.sim.write32(IRQ_STATUS, IRQ_IN | IRQ_OUT | IRQ_KERNEL)

    def wait_for(self, channel: int, number: int) -> None:
        """Runs the unprotected card until a DMA transfer, named by its number, has ended."""
        for _ in range(PATIENCE):
            if self.sim.read32(channel + COMPLETED) >= number:
                if self.sim.read32(channel + CHANNEL_STATUS) >> 8:
                    raise MaeslantError("a transfer failed")
                return
            self._pause()
        raise MaeslantError("a transfer did not end in time")

    def wait_loaded(self, number: int) -> None:
        """Runs the unprotected card until a DMA transfer into its memory has ended."""
        self.wait_for(H2D, number)

    def fetched(self, number: int) -> bytes:
        """Waits for a DMA transfer out of the unprotected card; returns its bytes."""
        self.wait_for(D2H, number)
        place, size = self.places.pop(number)
        return bytes(self.memory[place : place + size])

    def start(self, commands: int) -> None:
        """Starts the unprotected card's kernel on a command list."""
        self.write(LIST, commands)
        self.write(CONTROL, 1, 4)

    def wait_run(self) -> int:
        """Waits until the unprotected card's kernel run has ended; returns the run's clocks."""
        for _ in range(PATIENCE):
            status = self.read(KERNEL_STATUS, 4)
            if status & FAULT:
                raise MaeslantError("the kernel stopped with a fault")
            if not status & BUSY:
                return self.read(CLOCKS)
            self._pause()
        raise MaeslantError("a kernel run did not end in time")
