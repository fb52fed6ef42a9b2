# SPDX-License-Identifier: Apache-2.0
"""Controls a simulated device: registers, time, bus callbacks, internal signals.

The header is the only declaration. For the driver's own use of the machines see
maeslant/driver/device.py.
"""

import errno
import functools
import itertools
import os
import pathlib
import re
from collections.abc import Callable, Iterator

import cffi

from maeslant import paths
from maeslant.errors import MaeslantError

ReadBurst = Callable[[int, int], bytes]  # address, bytes; raises Refused
WriteBurst = Callable[[int, bytes], None]


class SimulatorError(MaeslantError):
    """Raised if a function of the C simulator library returns an error code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Refused(Exception):
    """Raised in a bus callback to give the simulated device a bus error as response."""


@functools.cache
def _ffi() -> cffi.FFI:
    text = (paths.ROOT / "sim" / "include" / "mae_sim.h").read_text()
    room = re.search(r"#define MAE_SIM_BURST_ROOM (\d+)", text)[1]
    ffi = cffi.FFI()
    cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
    ffi.cdef(f"#define MAE_SIM_BURST_ROOM {room}\n" + cdef.replace("MAE_SIM_API", ""))
    return ffi


@functools.cache
def _library(path: pathlib.Path) -> object:
    return _ffi().dlopen(str(path))


class Simulator:
    """Controls a simulated AES device or card by calls of its C simulator library.

    Exceptions that a burst's callback raises come out of the call that ran time.
    """

    def __init__(self, library: pathlib.Path, options: str = "") -> None:
        self.ffi, self.lib = _ffi(), _library(library)
        error = self.ffi.new("char[]", 400)
        handle = self.lib.mae_sim_create(options.encode(), error, 400)
        if handle == self.ffi.NULL:
            raise MaeslantError(self.ffi.string(error).decode())
        self.handle = self.ffi.gc(handle, self.lib.mae_sim_destroy)
        self.raised: BaseException | None = None
        self.kept: dict[str, object] = {}
        self.word = self.ffi.new("uint32_t *")

    def close(self) -> None:
        """Destroys the simulated device. May be called twice."""
        if self.handle is not None:
            self.ffi.release(self.handle)
            self.handle = None

    def _check(self, result: int) -> int:
        if self.raised is not None:
            raised, self.raised = self.raised, None
            raise raised
        if result < 0:
            said = self.ffi.string(self.lib.mae_sim_message(self.handle)).decode()
            raise SimulatorError(f"{os.strerror(-result)}: {said}", -result)
        return result

    def read32(self, offset: int) -> int:
        """Reads a 32-bit register of the simulated device; raises SimulatorError on a bus error."""
        self._check(self.lib.mae_sim_read32(self.handle, offset, self.word))
        return self.word[0]

    def write32(self, offset: int, value: int) -> None:
        """Writes a 32-bit register of the simulated device at a byte offset."""
        self._check(self.lib.mae_sim_write32(self.handle, offset, value))

    def run(self, clocks: int) -> None:
        """Simulates the device for a number of clock cycles."""
        self._check(self.lib.mae_sim_run(self.handle, clocks))

    def wait(self, clocks: int) -> bool:
        """Simulates the device until it interrupts, at most for ``clocks``; true if it has."""
        return bool(self._check(self.lib.mae_sim_wait(self.handle, clocks)))

    def map(self, address: int, memory: bytearray, writable: bool = True) -> None:
        """Maps a buffer of this process into the simulated device's bus address space."""
        view = self.ffi.from_buffer(memory)
        self.kept[f"map {address}"] = view
        call = self.lib.mae_sim_map(self.handle, address, view, len(memory), int(writable))
        self._check(call)

    def set_bus(self, read: ReadBurst, write: WriteBurst) -> None:
        """Sets callbacks that serve the simulated device's reads and writes of host memory."""
        ffi = self.ffi

        def answer(_user: object, address: int, size: int, room: object) -> int:
            try:
                data = read(address, size)[: self.lib.MAE_SIM_BURST_ROOM]
            except Refused:
                return -errno.EIO
            except BaseException as error:
                self.raised = self.raised or error
                return -errno.EIO
            ffi.memmove(room, data, len(data))
            return len(data)

        def take(_user: object, address: int, data: object, size: int) -> int:
            try:
                write(address, bytes(ffi.buffer(data, size)))
            except Refused:
                return -errno.EIO
            except BaseException as error:
                self.raised = self.raised or error
                return -errno.EIO
            return 0

        calls = (
            ffi.callback("mae_sim_read_fn", answer),
            ffi.callback("mae_sim_write_fn", take),
        )
        self.kept["bus"] = calls
        self._check(self.lib.mae_sim_set_bus(self.handle, *calls, ffi.NULL))

    def install(self, secret: bytes, session_id: bytes, clocks: int) -> bool:
        """Offers a session's secret and ID to the simulated card; returns true if accepted."""
        assert (len(secret), len(session_id)) == (32, 16)
        call = self.lib.mae_sim_install(self.handle, secret, session_id, clocks)
        return bool(self._check(call))

    def set_nonces(self, source: Callable[[], bytes]) -> None:
        """Sets the callback that supplies 24 bytes of each of the card's nonces."""

        def give(_user: object, nonce: object) -> None:
            self.ffi.memmove(nonce, source(), 24)

        call = self.ffi.callback("mae_sim_nonce_fn", give)
        self.kept["nonces"] = call
        self._check(self.lib.mae_sim_set_nonces(self.handle, call, self.ffi.NULL))

    def set_notes(self, wanted: bool) -> None:
        """Switches the recording of bus monitor events on or off in the simulator."""
        self.lib.mae_sim_set_notes(self.handle, int(wanted))

    def notes(self) -> Iterator[tuple[int, int, int, int, bytes]]:
        """Yields the bus monitor events that were recorded since the last call."""
        note = self.ffi.new("struct mae_sim_note *")
        while self.lib.mae_sim_take_note(self.handle, note):
            yield note.kind, note.a, note.b, note.c, bytes(self.ffi.buffer(note.data))

    def signals(self) -> dict[str, memoryview]:
        """Returns memory views of all internal signals of the simulated device, by name."""
        found, signal = {}, self.ffi.new("struct mae_sim_signal *")
        for index in itertools.count():
            if self.lib.mae_sim_signal(self.handle, index, signal):
                break
            name = self.ffi.string(signal.name).decode().replace("__DOT__", ".")
            found[name] = memoryview(self.ffi.buffer(signal.data, signal.bytes)).cast("B")
        return found

    def stats(self) -> dict[str, int]:
        """Returns all counters of the simulated device's bus traffic by name."""
        result = {}
        for name in ("stats", "detail"):
            struct = self.ffi.new(f"struct mae_sim_{name} *")
            getattr(self.lib, f"mae_sim_{name}")(self.handle, struct)
            for field, _ in self.ffi.typeof(struct[0]).fields:
                result[field] = getattr(struct, field)
        return result

    def reset_stats(self) -> None:
        """Resets all counters of the simulated device's bus traffic to zero."""
        self.lib.mae_sim_stats_reset(self.handle)
