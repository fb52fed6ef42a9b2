# SPDX-License-Identifier: Apache-2.0
"""Controls the simulated unprotected card: DMA transfers, registers, kernel runs.

Its driver is as short as one can be: three or four register writes a transfer, one interrupt.
Registers: regs/mae_unprotected_card.rdl.
"""

from maeslant.build import simulator
from maeslant.build.generated import mae_unprotected_card as registers
from maeslant.build.generated.mae_unprotected_card import (
    CHANNEL_COMPLETED as COMPLETED,
)
from maeslant.build.generated.mae_unprotected_card import (
    CHANNEL_DEVICE as DEVICE,
)
from maeslant.build.generated.mae_unprotected_card import (
    CHANNEL_HOST_HI as HOST_HI,
)
from maeslant.build.generated.mae_unprotected_card import (
    CHANNEL_HOST_LO as HOST_LO,
)
from maeslant.build.generated.mae_unprotected_card import (
    CHANNEL_LENGTH as LENGTH,
)
from maeslant.build.generated.mae_unprotected_card import (
    CHANNEL_STATUS,
    D2H,
    H2D,
    IRQ_ENABLE,
    IRQ_STATUS,
    STATUS,
)
from maeslant.errors import MaeslantError
from maeslant.sim.machine import Simulator

BUILD = "unprotected"
WINDOW = registers.KERNEL
IRQ_IN, IRQ_OUT, IRQ_KERNEL = 1, 2, 4
CONTROL, KERNEL_STATUS, FAULT = 0, 4, 2
LONGEST = 1 << 20
HOST = 1 << 32  # where host memory is mapped


class UnprotectedCard:
    """Simulates an unprotected card and ``size`` bytes of host memory for its DMA."""

    def __init__(self, build: str = BUILD, options: str = "", size: int = 1 << 22) -> None:
        self.sim = Simulator(simulator.build(build), options)
        self.memory = bytearray(size)
        self.sim.map(HOST, self.memory)
        while self.sim.read32(STATUS):  # the memory is zeroed
            self.sim.run(1024)
        for channel in (H2D, D2H):
            self.sim.write32(channel + HOST_HI, HOST >> 32)
        self.sim.write32(IRQ_ENABLE, IRQ_IN | IRQ_OUT | IRQ_KERNEL)

    def close(self) -> None:
        """Closes the simulator of the unprotected card."""
        self.sim.close()

    def clocks(self) -> int:
        """Returns the number of clocks that the unprotected card has run."""
        return self.sim.stats()["core_clocks"]

    def _wait(self, bit: int, limit: int) -> None:
        """Runs the unprotected card until an interrupt and clears that; raises if none comes."""
        while not (status := self.sim.read32(IRQ_STATUS)) & bit:
            if not self.sim.wait(limit):
                raise MaeslantError("the card gave no interrupt")
            if not self.sim.read32(IRQ_STATUS) & bit:
                self.sim.run(16)
        self.sim.write32(IRQ_STATUS, status & bit)

    def transfer(
        self, channel: int, pieces: list[tuple[int, int, int]], limit: int = 10_000_000
    ) -> None:
        """Moves data by DMA between host memory and the unprotected card's memory, until complete.

        Raises MaeslantError for a bus error or a piece that the card refuses.
        """
        sim, bit = self.sim, IRQ_IN if channel == H2D else IRQ_OUT
        begun = sim.read32(channel + COMPLETED)
        for number, (host, device, size) in enumerate(pieces):
            while (number - sim.read32(channel + COMPLETED) + begun) % (1 << 32) >= 8:
                self._wait(bit, limit)
            sim.write32(channel + HOST_LO, (HOST + host) & 0xFFFFFFFF)
            sim.write32(channel + DEVICE, device)
            sim.write32(channel + LENGTH, size)
        while (sim.read32(channel + COMPLETED) - begun) % (1 << 32) < len(pieces):
            self._wait(bit, limit)
        sim.write32(IRQ_STATUS, bit)
        problems = sim.read32(channel + CHANNEL_STATUS) >> 8
        sim.write32(channel + CHANNEL_STATUS, problems << 8)
        if problems:
            raise MaeslantError("a transfer " + ("was refused" if problems & 1 else "failed"))

    def load(self, device: int, data: bytes, host: int = 0) -> None:
        """Writes the unprotected card's memory by DMA from host memory at the offset ``host``."""
        self.memory[host : host + len(data)] = data
        cuts = range(0, len(data), LONGEST)
        pieces = [(host + at, device + at, min(LONGEST, len(data) - at)) for at in cuts]
        self.transfer(H2D, pieces)

    def fetch(self, device: int, size: int, host: int = 0) -> bytes:
        """Returns bytes of the unprotected card's memory, by DMA to host memory at ``host``."""
        cuts = range(0, size, LONGEST)
        pieces = [(host + at, device + at, min(LONGEST, size - at)) for at in cuts]
        self.transfer(D2H, pieces)
        return bytes(self.memory[host : host + size])

    def write(self, offset: int, value: int, width: int = 8) -> None:
        """Writes a register of the unprotected card's kernel."""
        for at in range(0, width, 4):
            self.sim.write32(WINDOW + offset + at, value >> 8 * at & 0xFFFFFFFF)

    def read(self, offset: int, width: int = 8) -> int:
        """Returns the value of a register of the unprotected card's kernel."""
        words = [self.sim.read32(WINDOW + offset + at) << 8 * at for at in range(0, width, 4)]
        return sum(words)

    def run(self, limit: int = 100_000_000) -> None:
        """Runs the unprotected card's kernel until it has ended; raises MaeslantError on faults."""
        self.write(CONTROL, 1, 4)
        self._wait(IRQ_KERNEL, limit)
        if self.read(KERNEL_STATUS, 4) & FAULT:
            raise MaeslantError("the kernel aborted the run with a fault")
