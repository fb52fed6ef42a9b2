# SPDX-License-Identifier: Apache-2.0
"""Models the protected card's device memory, with its locked regions (H8), and a kernel.

The kernel stands for any accelerator: it reads `length` bytes at `source`, maps each through a
fixed table and writes them to `destination`, a granule a step. Both begin at a granule, as regions
do; a run from or to another place is given up with a fault.
"""

import dataclasses

from maeslant.protected.model.constants import GRANULE, Op
from maeslant.protected.model.link import BusError

CONTROL, STATUS, RUNS, SOURCE, DESTINATION, LENGTH, SCRATCH = 0, 4, 8, 0x10, 0x18, 0x20, 0x40
SPACE = 0x80
BUSY, FAULT = 1, 2
TABLE = bytes((3 * byte + 1) & 0xFF for byte in range(256))


@dataclasses.dataclass
class Region:
    """Describes the region of device memory that a transfer reserves and later locks."""

    base: int
    total: int
    d2h: bool  # device to host: others may read
    locked: bool = False

    @property
    def end(self) -> int:
        """Returns the device address that follows the last 64-byte granule of the region."""
        return self.base + -(-self.total // GRANULE) * GRANULE

    def meets(self, address: int, size: int) -> bool:
        """Returns true if a memory access overlaps the transfer's region."""
        return address < self.end and self.base < address + size


class Memory:
    """Models the card's device memory and the regions that transfers reserve in it."""

    def __init__(self, size: int, locks: int) -> None:
        self.data = bytearray(size)
        self.locks = locks
        self.regions: list[Region] = []

    def reserve(self, region: Region) -> bool:
        """Reserves a region of device memory; returns false if it overlaps or none is free."""
        if len(self.regions) == self.locks or any(
            other.meets(region.base, region.end - region.base) and not (other.d2h and region.d2h)
            for other in self.regions
        ):
            return False
        self.regions.append(region)
        return True

    def scrub(self, region: Region) -> None:
        """Clears the device memory in the region of an abandoned transfer."""
        self.data[region.base : region.end] = bytes(region.end - region.base)

    def allowed(self, address: int, size: int, write: bool) -> bool:
        """Returns true if the kernel may access device memory at an address: no lock forbids it."""
        inside = 0 <= address and address + size <= len(self.data)
        return inside and not any(
            region.locked and region.meets(address, size) and (write or not region.d2h)
            for region in self.regions
        )

    def clear(self) -> None:
        """Clears the card model's device memory and its list of regions."""
        self.data[:] = bytes(len(self.data))
        self.regions.clear()


class Kernel:
    """Models a simple accelerator kernel with the registers through which a host starts it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.monitor: list[tuple] = []
        self.clear()

    def clear(self) -> None:
        """Clears the registers and the state of the kernel model."""
        self.registers = bytearray(SPACE)
        self.busy = self.fault = False
        self.runs = self.at = 0
        self.seen = bytearray()

    def legal(self, op: int, offset: int, width: int) -> bool:
        """Returns true if the kernel model has a register of this offset, width, direction (M1)."""
        if offset + width > SPACE:
            return False
        if offset in (CONTROL, STATUS):
            return width == 4 and op == (Op.WRITE if offset == CONTROL else Op.READ)
        if offset == RUNS:
            return width == 8 and op == Op.READ
        return SOURCE <= offset < LENGTH + 8 or offset >= SCRATCH

    def read(self, offset: int, width: int) -> int:
        """Returns the value of a register of the kernel model."""
        if offset == STATUS:
            return BUSY * self.busy | FAULT * self.fault
        if offset == RUNS:
            return self.runs
        return int.from_bytes(self.registers[offset : offset + width], "little")

    def write(self, offset: int, width: int, value: int) -> None:
        """Writes a register of the kernel model; 1 in CONTROL starts a run."""
        if self.busy and offset < SCRATCH:
            raise BusError(hex(offset))
        if offset == CONTROL:
            if value & 1:
                self.busy, self.fault, self.at, self.seen = True, False, 0, bytearray()
        else:
            self.registers[offset : offset + width] = value.to_bytes(width, "little")

    def step(self) -> bool:
        """Processes the kernel model's next 64 bytes; returns false if the kernel is idle."""
        if not self.busy:
            return False
        length = self.read(LENGTH, 8)
        size = min(GRANULE, length - self.at)
        source, destination = self.read(SOURCE, 8) + self.at, self.read(DESTINATION, 8) + self.at
        if size > 0:
            if (
                source % GRANULE
                or destination % GRANULE
                or not self.memory.allowed(source, size, write=False)
                or not self.memory.allowed(destination, size, write=True)
            ):
                self.busy, self.fault = False, True
                self.monitor.append(("fault",))
                return True
            data = self.memory.data[source : source + size]
            self.seen += data
            self.memory.data[destination : destination + size] = data.translate(TABLE)
            self.at += size
        if self.at >= length:
            self.busy = False
            self.runs += 1
            self.monitor.append(("run", bytes(self.seen)))
        return True
