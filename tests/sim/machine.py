# SPDX-License-Identifier: Apache-2.0
"""Opens simulated devices through the simulator's C interface, for tests; drives sim_probe."""

import ctypes
import os
import pathlib
import re

from maeslant import paths
from maeslant.build import simulator

HEADER = paths.ROOT / "sim" / "include" / "mae_sim.h"
PROBE = pathlib.Path(__file__).with_name("sim_probe.sv")
WORDS = {"uint64_t": ctypes.c_uint64, "uint32_t": ctypes.c_uint32}


def structure(name: str) -> type[ctypes.Structure]:
    """Returns a C struct of the simulator's header as a ctypes Structure."""
    body = re.search(rf"struct {name} {{(.*?)\n}};", HEADER.read_text(), re.S)[1]
    found = re.findall(r"^\s+(uint\d+_t) (\w+);", body, re.M)
    fields = [(field, WORDS[kind]) for kind, field in found]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


Stats = structure("mae_sim_stats")
Detail = structure("mae_sim_detail")


class SimError(OSError):
    """Is raised when a function of the simulator returns a negative errno."""


class Machine:
    """Opens a simulated device by the simulator's C library and wraps its functions."""

    def __init__(self, library: pathlib.Path, options: str = "") -> None:
        self.lib = ctypes.CDLL(str(library))
        self.lib.mae_sim_create.restype = ctypes.c_void_p
        self.lib.mae_sim_message.restype = ctypes.c_char_p
        error = ctypes.create_string_buffer(400)
        handle = self.lib.mae_sim_create(options.encode(), error, ctypes.c_size_t(len(error)))
        if not handle:
            raise ValueError(error.value.decode())
        self.sim = ctypes.c_void_p(handle)
        self.buffers: dict[int, object] = {}

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_: object) -> None:
        self.lib.mae_sim_destroy(self.sim)

    def _check(self, result: int) -> int:
        if result < 0:
            raise SimError(-result, f"{os.strerror(-result)}: {self.message()}")
        return result

    def message(self) -> str:
        return self.lib.mae_sim_message(self.sim).decode()

    def read(self, offset: int) -> int:
        value = ctypes.c_uint32()
        self._check(self.lib.mae_sim_read32(self.sim, ctypes.c_uint32(offset), ctypes.byref(value)))
        return value.value

    def write(self, offset: int, value: int) -> None:
        word = ctypes.c_uint32(value)
        self._check(self.lib.mae_sim_write32(self.sim, ctypes.c_uint32(offset), word))

    def map(self, iova: int, data: bytearray, writable: bool = True) -> None:
        view = (ctypes.c_char * len(data)).from_buffer(data)
        self.buffers[iova] = view
        address, size = ctypes.c_uint64(iova), ctypes.c_uint64(len(data))
        self._check(self.lib.mae_sim_map(self.sim, address, view, size, int(writable)))

    def unmap(self, iova: int, size: int) -> None:
        self._check(self.lib.mae_sim_unmap(self.sim, ctypes.c_uint64(iova), ctypes.c_uint64(size)))

    def wait(self, clocks: int) -> bool:
        return bool(self._check(self.lib.mae_sim_wait(self.sim, ctypes.c_uint64(clocks))))

    def run(self, clocks: int) -> None:
        self._check(self.lib.mae_sim_run(self.sim, ctypes.c_uint64(clocks)))

    def host_copy(self, dst: int, src: int, size: int) -> None:
        args = (ctypes.c_uint64(value) for value in (dst, src, size))
        self._check(self.lib.mae_sim_host_copy(self.sim, *args))

    def stats(self) -> ctypes.Structure:
        result = Stats()
        self.lib.mae_sim_stats(self.sim, ctypes.byref(result))
        return result

    def detail(self) -> ctypes.Structure:
        result = Detail()
        self.lib.mae_sim_detail(self.sim, ctypes.byref(result))
        return result

    def reset_stats(self) -> None:
        self.lib.mae_sim_stats_reset(self.sim)


class Probe(Machine):
    """Opens a simulated sim_probe with a source and a destination buffer of 64 KiB."""

    SRC = 0x1_0000_0000
    DST = 0x2_0000_0000
    COPY, BOTH, READ, WRITE = range(4)

    def __init__(
        self, options: str = "", *, width: int = 512, row: int = 0, trace: bool = False
    ) -> None:
        super().__init__(build_probe(width, trace, row), options)
        self.beat = width // 8
        self.src = bytearray(os.urandom(65536))
        self.dst = bytearray(65536)

    def map_buffers(self) -> None:
        self.map(self.SRC, self.src, writable=False)
        self.map(self.DST, self.dst)

    def set_up(
        self,
        bursts: int = 64,
        beats: int = 16,
        mode: int = COPY,
        ids: int = 0x3F,
        src: int = SRC,
        dst: int = DST,
        mutation: int = 0,
    ) -> None:
        """Writes the registers of sim_probe and starts its copy."""
        for offset, value in (
            (0x0C, src & 0xFFFFFFFF),
            (0x10, src >> 32),
            (0x14, dst & 0xFFFFFFFF),
            (0x18, dst >> 32),
            (0x1C, bursts),
            (0x20, beats),
            (0x24, mode),
            (0x28, ids),
            (0x2C, mutation),
            (0x08, 1),
        ):
            self.write(offset, value)

    def go(self, clocks: int = 100_000, **how: int) -> int:
        """Runs sim_probe to its end; returns the clocks that its register counts."""
        self.set_up(**how)
        assert self.wait(clocks), "the run did not end"
        return self.read(0x3C)

    def errors(self) -> set[str]:
        """Returns the kinds of error response that sim_probe saw in its last run."""
        names = ("read slverr", "read decerr", "write slverr", "write decerr")
        status = self.read(0x08) >> 2
        return {name for bit, name in enumerate(names) if status >> bit & 1}

    def read_clocks(self, bursts: int) -> list[int]:
        return [self.read(0x400 + 4 * i) for i in range(bursts)]

    def write_clocks(self, bursts: int) -> list[int]:
        return [self.read(0x800 + 4 * i) for i in range(bursts)]


def build_probe(width: int = 512, trace: bool = False, row: int = 0) -> pathlib.Path:
    """Builds the simulator of sim_probe without AXI checkers; returns the library's path."""
    name = f"probe{width}_{row}" if row else f"probe{width}"
    return simulator.build_top(
        name,
        "sim_probe",
        {"DataWidth": width},
        sources=[PROBE],
        trace=trace,
        checked=False,
        macros={"ROW_BYTES": row} if row else {},
    )
