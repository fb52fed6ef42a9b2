# SPDX-License-Identifier: Apache-2.0
"""Wraps the simulated card that follows Ghosh et al., so that it can replace its model.

The card is the build `ghosh` (mae_ghosh_card). Simulated time passes in register accesses: a move
lasts until the card has moved its data, a finalize until the tag is there.
"""

import re

from maeslant.build import simulator
from maeslant.build.generated.mae_ghosh_card import FINALIZE, MOVE, STATUS
from maeslant.protected.model.link import BusError, Link
from maeslant.protected.rtl_card import Mirror
from maeslant.sim.machine import Refused, Simulator

BUILD = "ghosh"
CLEARING, MOVING = 1, 2
STEP = 64  # clocks
LIMIT = 100_000  # clocks that clearing the memory, or a move, may take


class RtlGhosh:
    """Wraps the simulated card of Ghosh et al. in the interface of its model, GhoshDevice."""

    def __init__(self, key: bytes, options: str = "") -> None:
        self.key = key
        self.simulator = Simulator(simulator.build(BUILD), options)
        self.bus: Link | None = None
        self.simulator.set_bus(self._read, self._write)
        self.signals = self.simulator.signals()
        rows = next(name for name in self.signals if re.search(r"u_memory\.rows_q$", name))
        self.rows = Mirror(self.signals[rows])
        self._wait(CLEARING)
        if not self.simulator.install(key.ljust(32, b"\0"), bytes(16), STEP):
            raise AssertionError("the card takes no key")

    def close(self) -> None:
        """Closes the simulator of Ghosh's card."""
        self.signals, self.rows = {}, None
        self.simulator.close()

    @property
    def memory(self) -> bytes:
        """Returns all bytes of the device memory of Ghosh's simulated card."""
        return self.rows.data

    def _read(self, address: int, size: int) -> bytes:
        try:
            return self.bus.dma_read(address, size)
        except BusError:
            raise Refused from None

    def _write(self, address: int, data: bytes) -> None:
        try:
            self.bus.dma_write(address, data)
        except BusError:
            raise Refused from None

    def _wait(self, bit: int) -> None:
        """Runs Ghosh's simulated card until a status bit is 0; raises AssertionError if never."""
        for _ in range(LIMIT // STEP):
            self.simulator.run(STEP)
            if not self.simulator.read32(STATUS) & bit:
                return
        raise AssertionError("the card does not end what it does")

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a register of Ghosh's simulated card, word by word."""
        for at in range(0, len(data), 4):
            self.simulator.write32(address + at, int.from_bytes(data[at : at + 4], "little"))
        if address == MOVE:
            self._wait(MOVING)
        elif address == FINALIZE:
            self.simulator.run(STEP)

    def mmio_read(self, address: int, size: int) -> bytes:
        """Returns a register of Ghosh's simulated card, read word by word."""
        words = [self.simulator.read32(address + at) for at in range(0, size, 4)]
        return b"".join(word.to_bytes(4, "little") for word in words)

    def step(self) -> bool:
        """Runs Ghosh's simulated card for 64 clock cycles; returns false."""
        self.simulator.run(STEP)
        return False
