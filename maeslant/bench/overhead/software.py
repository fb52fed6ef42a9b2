# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time in which a host copies, encrypts and decrypts DMA data."""

import bisect
import dataclasses
import functools
import os
import pathlib
import subprocess

from maeslant import paths
from maeslant.build import c_driver, made
from maeslant.errors import MaeslantError

SOURCE = paths.ROOT / "maeslant" / "bench" / "seal_copy.c"
ENCLAVE = paths.ROOT / "driver" / "enclave"
ROUNDS = 400
SIZES = (4096, 16384, 32768, 65536)  # measured; times of other sizes lie on lines between


@functools.cache
def program() -> pathlib.Path:
    """Compiles the C program that times the enclave driver's encryption; returns the path."""
    target = paths.BUILD / "bench" / f"seal_copy_{c_driver.gcm_library()}"
    library = c_driver.gcm_library()
    names = (f"crypto/gcm_{library}.c", "crypto/kdf.c", "outside.c", "wire.c")
    sources = [SOURCE, *(ENCLAVE / name for name in names)]
    inputs = [*sources, *ENCLAVE.glob("**/*.h")]
    options = ["-std=gnu17", "-O2", "-march=x86-64-v2", *c_driver.INCLUDES]
    options += [*map(str, sources), *c_driver.crypto_libraries(), "-pthread"]

    def write(new: pathlib.Path) -> None:
        c_driver.run([c_driver.compiler(), *options, "-o", str(new)], "compiling seal_copy")

    return made.make(target, sorted(inputs), write, *options)


@dataclasses.dataclass(frozen=True)
class Times:
    """Holds the host software's median times in ns for the steps of one DMA chunk."""

    copy: float
    seal: float
    open: float
    request: float  # of a chunk, to seal
    answer: float  # to one, to open


def processors() -> int:
    """Returns the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0))


def processor_name() -> str:
    """Returns the CPU's model name as the operating system reports it."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else "unknown processor"


@functools.cache
def measure(size: int, threads: int = 1) -> tuple[Times, Times, str]:
    """Returns (times with cached data, times with uncached data, AES library) for ``size`` bytes.

    ``threads``: as many do the same at once, each for itself; the times are one thread's.
    """
    done = subprocess.run(
        [str(program()), str(size), str(ROUNDS), str(threads)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MaeslantError(f"seal_copy {size}: exit status {done.returncode}")
    values = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    library = values.pop("library")
    names = [field.name for field in dataclasses.fields(Times)]
    warm, cold = (
        Times(**{name: float(values[f"{name}_{how}"]) for name in names})
        for how in ("warm", "cold")
    )
    return warm, cold, library


@functools.cache
def times(size: int, cold: bool, threads: int = 1) -> Times:
    """Returns the times to encrypt and decrypt a DMA chunk of any size, by interpolation."""
    at_once = min(threads, processors())
    low = min(max(bisect.bisect_right(SIZES, size) - 1, 0), len(SIZES) - 2)
    a, b = (measure(SIZES[low + step], at_once)[1 if cold else 0] for step in (0, 1))
    part = (size - SIZES[low]) / (SIZES[low + 1] - SIZES[low])
    line = {
        field.name: getattr(a, field.name)
        + part * (getattr(b, field.name) - getattr(a, field.name))
        for field in dataclasses.fields(Times)
    }
    return Times(**{name: max(value, 0.0) for name, value in line.items()})
