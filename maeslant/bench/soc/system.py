# SPDX-License-Identifier: Apache-2.0
"""Controls the simulated PicoRV32 system: loads and runs programs, accesses memory."""

import functools
import pathlib
import re
from collections.abc import Callable

import cffi
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from maeslant import paths
from maeslant.build import simulator
from maeslant.errors import MaeslantError

BUILD = "soc"
RUNNING, FINISHED, TRAP, FAILED = range(4)
SLICE = 200_000  # clocks between two looks at progress and at the keyboard
MOST = 20_000_000  # clocks after which a program is taken for hung


class SocError(MaeslantError):
    """Raised if a program on the simulated PicoRV32 system fails or does not end."""


@functools.cache
def _ffi() -> cffi.FFI:
    """Returns the CFFI declarations taken from sim/soc/mae_sim_soc.h."""
    text = (paths.ROOT / "sim" / "soc" / "mae_sim_soc.h").read_text()
    ffi = cffi.FFI()
    cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
    ffi.cdef(cdef.replace("MAE_SIM_API", ""))
    return ffi


@functools.cache
def _library(name: str) -> object:
    return _ffi().dlopen(str(simulator.build(name)))


class System:
    """Simulates a PicoRV32 system with the AES peripheral and its memory."""

    def __init__(self, build: str = BUILD) -> None:
        self.lib = _library(build)
        handle = self.lib.mae_sim_soc_create()
        if handle == _ffi().NULL:
            raise SocError("no memory for the simulated system")
        self.handle = _ffi().gc(handle, self.lib.mae_sim_soc_destroy)
        self.symbols: dict[str, int] = {}
        self.console = ""

    @property
    def memory_bytes(self) -> int:
        """Returns the size of the PicoRV32 system's memory in bytes."""
        return self.lib.mae_sim_soc_memory_bytes(self.handle)

    @property
    def clocks(self) -> int:
        """Returns the number of clocks since the PicoRV32 system was last reset."""
        return self.lib.mae_sim_soc_clocks(self.handle)

    def write(self, address: int, data: bytes) -> None:
        """Writes bytes to the PicoRV32 system's memory; raises SocError outside it."""
        if self.lib.mae_sim_soc_write(self.handle, address, bytes(data), len(data)):
            raise SocError(f"{len(data)} bytes at {address:#x} are not inside the memory")

    def read(self, address: int, count: int) -> bytes:
        """Returns bytes of the PicoRV32 system's memory; raises SocError outside it."""
        data = bytearray(count)
        if self.lib.mae_sim_soc_read(self.handle, address, _ffi().from_buffer(data), count):
            raise SocError(f"{count} bytes at {address:#x} are not inside the memory")
        return bytes(data)

    def load(self, program: pathlib.Path) -> None:
        """Loads an ELF file into the PicoRV32 system's memory and resets its CPU."""
        try:
            with program.open("rb") as file:
                elf = ELFFile(file)
                for segment in elf.iter_segments("PT_LOAD"):
                    data = segment.data().ljust(segment["p_memsz"], b"\0")
                    self.write(segment["p_paddr"], data)
                table = elf.get_section_by_name(".symtab")
                self.symbols = {s.name: s["st_value"] for s in table.iter_symbols()}
        except ELFError as error:
            raise SocError(f"{program}: no program: {error}") from None
        self.reset()

    def reset(self) -> None:
        """Resets the PicoRV32 system's CPU and peripherals, but not its memory."""
        self.lib.mae_sim_soc_reset(self.handle)

    def run(self, most: int = MOST, seen: Callable[[int], None] = lambda clocks: None) -> int:
        """Runs the PicoRV32 system until its program ends; returns the program's exit code.

        ``seen`` is called with the number of clocks that have passed.
        """
        most += self.clocks
        while True:
            before = self.clocks
            end = self.lib.mae_sim_soc_run(self.handle, min(SLICE, most - before))
            self.console += self._console()
            seen(self.clocks - before)
            if end == FINISHED:
                return self.lib.mae_sim_soc_code(self.handle)
            if end == TRAP:
                raise SocError(self._last("the CPU met an illegal instruction or access"))
            if end == FAILED:
                text = _ffi().string(self.lib.mae_sim_soc_message(self.handle))
                raise SocError(self._last(text.decode(errors="replace")))
            if self.clocks >= most:
                raise SocError(self._last("the program does not end"))

    def _console(self) -> str:
        room = _ffi().new("char[]", 4096)
        text = ""
        while count := self.lib.mae_sim_soc_console(self.handle, room, 4096):
            text += _ffi().buffer(room, count)[:].decode("latin-1")
        return text

    def _last(self, what: str) -> str:
        lines = self.console.splitlines()[-3:]
        said = "; the console's last words: " + " | ".join(lines) if lines else ""
        return f"clock {self.clocks:,}: {what}{said}"
