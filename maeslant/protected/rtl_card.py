# SPDX-License-Identifier: Apache-2.0
"""Wraps the simulated protected card so that it can replace the card model.

So the workload, its attacks and its fuzz run on the hardware. Simulated time passes in `step` and
in register accesses; the card's bursts are the link's events, made between two clocks. What the
card did inside comes from monitors bound to its modules (sim/bus_monitor), what it keeps from the
model's state.
"""

import bisect
import enum
import functools
import re
from collections.abc import Callable

from maeslant.build import simulator
from maeslant.protected.model.constants import CAUSE, PAGE, STATE, Cause, State
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.link import BusError
from maeslant.protected.model.workload import Machine
from maeslant.sim.machine import Refused, Simulator, SimulatorError

# Whose capabilities are the workload's: the first one where no other is asked for.
BUILDS = ("protected_small", "protected_fpga_small", "protected_fpga_ram_small")
STEP = 64  # clocks
SCRUB_CLOCKS = 200_000  # clocks that SCRUB may take
ROW = 64
FRAGMENT = 8  # bytes of a secret that are as bad as all of it


class Note(enum.IntEnum):
    """Numbers the record types of the simulated bus monitor, as mae_bus_monitor_pkg does."""

    WRITE = 1
    CLEAR = 2
    ACCESS = 3
    START = 4
    KERNEL_ROW = 5
    END = 6
    MOVED = 7
    FATAL = 8
    TIME = 9


class Time(enum.IntEnum):
    """Numbers the timed event types of the simulated bus monitor, as mae_bus_monitor_pkg does."""

    IN_BEGINS = 0
    IN_ENDS = 1
    OUT_BEGINS = 2
    OUT_ENDS = 3
    DOORBELL = 4
    ANSWERED = 5


class Mirror:
    """Gives access to the simulated card's device memory by the card model's interface."""

    def __init__(self, rows: memoryview) -> None:
        self.rows = rows

    @property
    def data(self) -> bytes:
        """Returns the whole content of the simulated card's device memory."""
        return bytes(self.rows)


class RtlDevice:
    """Wraps the simulated protected card in the interface of the Python model's Device.

    The bus (link.Link) is given after construction, as with device.Device.
    """

    def __init__(
        self,
        capabilities: Capabilities | None = None,
        nonce: Callable[[], bytes] | None = None,
        *,
        build: str = BUILDS[0],
        options: str = "",
        monitor: bool = True,
    ) -> None:
        self.simulator = Simulator(simulator.build(build), options)
        self.bus = None
        self.monitor: list[tuple] = []
        self.times: list[tuple[int, int]] = []  # Time, clock
        self.news = False  # whether something happened
        self.inside = 0  # callbacks that are being made
        self.simulator.set_bus(self._read, self._write)
        if nonce:
            self.simulator.set_nonces(nonce)
        self.signals = self.simulator.signals()
        rows = next(name for name in self.signals if re.search(r"u_memory\.rows_q$", name))
        self.memory = Mirror(self.signals[rows])
        self.image = bytearray(len(self.memory.rows))  # what was written, in order
        self.seen = bytearray()
        self.length = 0
        self.simulator.set_notes(monitor)
        self.finish_scrub()
        low, high = (self.simulator.read32(0x10 + at) for at in (0, 4))
        self.capabilities = Capabilities.unpack(high << 32 | low)
        if capabilities and capabilities != self.capabilities:
            raise ValueError(f"{build} has {self.capabilities}, not {capabilities}")

    def close(self) -> None:
        """Closes the simulator of the protected card (with encrypted DMA)."""
        self.signals, self.memory = {}, None
        self.simulator.close()

    # Bursts.

    def _read(self, address: int, size: int) -> bytes:
        self.news = True
        try:
            return self.bus.dma_read(address, size)
        except BusError:
            raise Refused from None

    def _write(self, address: int, data: bytes) -> None:
        self.news = True
        try:
            self.bus.dma_write(address, data)
        except BusError:
            raise Refused from None

    # Registers: protected space follows their window, whatever the address bits above are.

    def _place(self, address: int) -> int:
        end = PAGE * (1 + self.capabilities.queues)
        return address if address < end else end + address % PAGE

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes registers of the simulated card, in 32-bit words."""
        for at in range(0, len(data) - 3, 4):
            if (address + at) % 4 == 0:
                try:
                    word = int.from_bytes(data[at : at + 4], "little")
                    self.simulator.write32(self._place(address + at), word)
                except SimulatorError as error:
                    raise self._refusal(error, address) from None

    def mmio_read(self, address: int, size: int) -> bytes:
        """Returns the values of the simulated card's registers."""
        first = address - address % 4
        data = b""
        try:
            for at in range(first, address + size, 4):
                data += self.simulator.read32(self._place(at)).to_bytes(4, "little")
        except SimulatorError as error:
            raise self._refusal(error, address) from None
        return data[address - first :][:size]

    @staticmethod
    def _refusal(error: SimulatorError, address: int) -> Exception:
        return BusError(hex(address)) if error.code == 5 else error

    def step(self) -> bool:
        """Simulates the card for 64 clocks; returns true if the bus monitor recorded anything."""
        self.news = False
        self.simulator.run(STEP)
        self._take_notes()
        return self.news

    def install(self, secret: bytes, session_id: bytes) -> bool:
        """Offers a session's secret and ID to the simulated card; returns true if accepted."""
        taken = self.simulator.install(secret, session_id, 4 * STEP)
        for _ in range(SCRUB_CLOCKS // STEP):
            if not taken or self.state in (State.KEYED, State.RUN, State.DEAD):
                break
            self.simulator.run(STEP)
        return taken and self.state != State.DEAD

    # What it is at.

    @property
    def state(self) -> State:
        """Returns the value of the simulated card's STATE register."""
        return State(self.simulator.read32(STATE))

    @property
    def cause(self) -> tuple[Cause, int, int]:
        """Returns the simulated card's CAUSE registers: (error cause, queue, sequence number)."""
        word, low, high = (self.simulator.read32(CAUSE + at) for at in (0, 4, 8))
        return Cause(word & 0xFF), word >> 8 & 0xFF, high << 32 | low

    def finish_scrub(self) -> None:
        """Simulates the card until its device memory is cleared."""
        for _ in range(SCRUB_CLOCKS // STEP):
            self.simulator.run(STEP)
            if self.state not in (State.RESET, State.SCRUB, State.ERROR):
                self._take_notes()
                return
        raise AssertionError("SCRUB does not end")

    @property
    def keys(self) -> object | None:
        """Returns None if the simulated card has no session keys, else an object in their place."""
        if self.state in (State.RESET, State.SCRUB, State.ERROR):
            self.finish_scrub()
        return None if self.state in (State.IDLE, State.DEAD) else self

    def _take_notes(self) -> None:
        """Converts the simulated bus monitor's records to the card model's event list."""
        for kind, a, b, c, data in self.simulator.notes():
            self.news = True
            match kind:
                case Note.WRITE:
                    for at in range(ROW):
                        if b >> at & 1:
                            self.image[ROW * a + at] = data[at]
                case Note.CLEAR:
                    self.image[:] = bytes(len(self.image))
                case Note.ACCESS:
                    width = 1 << (b & 3)
                    if b >> 8:
                        value = int.from_bytes(data[:8], "little")
                        self.monitor.append(("write", a, c, width, value))
                    else:
                        self.monitor.append(("read", a, c, width))
                case Note.START:
                    self.length, self.seen = a, bytearray()
                case Note.KERNEL_ROW:
                    self.seen += data[:16]
                case Note.END:
                    entry = ("fault",) if a else ("run", bytes(self.seen[: self.length]))
                    self.monitor.append(entry)
                case Note.MOVED:
                    self.monitor.append(("release", a, b, bytes(self.image[b : b + c])))
                case Note.FATAL:
                    self.monitor.append(("error", Cause(a)))
                case Note.TIME:
                    self.times.append((a, b))

    def find(self, secrets: dict[str, bytes]) -> list[str]:
        """Returns the names of the simulated card's signals that contain fragments of secrets."""
        names, starts, state = [], [], bytearray()
        for name, view in self.signals.items():
            # ".__V": variables of the simulator itself, which no circuit has.
            if len(view) >= FRAGMENT and any(view) and ".__V" not in name:
                names.append(name)
                starts.append(len(state))
                state += bytes(view) + bytes(FRAGMENT)
        found = []
        whole = int.from_bytes(state, "little")
        for shift in range(8):
            shifted = (whole >> shift).to_bytes(len(state), "little")
            for secret, value in secrets.items():
                for at in range(0, len(value) - FRAGMENT + 1, FRAGMENT):
                    piece = value[at : at + FRAGMENT]
                    for wanted in (piece, piece[::-1]):
                        place = shifted.find(wanted)
                        if place >= 0:
                            name = names[bisect.bisect_right(starts, place) - 1]
                            found.append(f"{secret} at {at} in {name}")
        return found


class RtlMachine(Machine):
    """Runs encrypted sessions on the simulated card in place of the card's Python model."""

    make_device = RtlDevice

    def close(self) -> None:
        """Closes the simulator of the protected card (with encrypted DMA)."""
        self.device.close()


def machine(build: str, **options: object) -> type[RtlMachine]:
    """Returns the class of machines with another build of the card, or other options of it."""

    class BuildMachine(RtlMachine):
        """Runs encrypted sessions on one build of the simulated card."""

        make_device = functools.partial(RtlDevice, build=build, **options)

    return BuildMachine
