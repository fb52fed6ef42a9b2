# SPDX-License-Identifier: Apache-2.0
"""Measures the host processor's time for its part of a DMA transfer on this machine."""

import dataclasses
import functools
import pathlib
import subprocess

from maeslant import paths
from maeslant.build import c_driver
from maeslant.errors import MaeslantError

SOURCE = paths.ROOT / "maeslant" / "bench" / "seal_copy.c"
ENCLAVE = paths.ROOT / "driver" / "enclave"
ROUNDS = 400


@functools.cache
def program() -> pathlib.Path:
    """Compiles the timing program with the enclave's own cipher; returns its path."""
    target = paths.BUILD / "bench" / f"seal_copy_{c_driver.gcm_library()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    library = c_driver.gcm_library()
    sources = [SOURCE, *(ENCLAVE / name for name in (f"gcm_{library}.c", "kdf.c", "wire.c"))]
    inputs = [*sources, *ENCLAVE.glob("*.h")]
    if not target.exists() or target.stat().st_mtime < max(p.stat().st_mtime for p in inputs):
        command = [c_driver.compiler(), "-std=gnu17", "-O2", "-march=x86-64-v2"]
        command += [*map(str, sources), *c_driver.crypto_libraries(), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MaeslantError(f"seal_copy does not compile\n{done.stderr[-2000:]}")
    return target


@dataclasses.dataclass(frozen=True)
class Times:
    """Median times in nanoseconds of the host's steps for a chunk of a given size."""

    copy: float
    seal: float
    open: float
    request: float  # of a chunk, to seal
    answer: float  # to one, to open


@functools.cache
def measure(size: int) -> tuple[Times, Times, str]:
    """Returns warm and cold times for a piece of ``size`` bytes, and the crypto library's name."""
    done = subprocess.run(
        [str(program()), str(size), str(ROUNDS)], capture_output=True, text=True, check=False
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
