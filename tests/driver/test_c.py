# SPDX-License-Identifier: Apache-2.0
"""Runs the driver's C tests with the address, undefined-behaviour and thread sanitizers."""

import os
import pathlib
import subprocess

import pytest

from maeslant.build import c_driver

HERE = pathlib.Path(__file__).resolve().parent / "programs"
# tests/driver/programs/<name>.c; each is a program of its own that stops at the first failure.
PROGRAMS = (
    "registers",
    "rings",
    "misuse",
    "messages",
    "aead",
    "aead_streams",
    "aead_fork",
    "aead_jobs",
    "peripheral_both",
    "null_backend",
    "outside_copies",
    "uio_function",
    "vfio_errors",
    "vfio_registers",
    "pool",
)


@pytest.mark.parametrize(
    ("name", "sanitize"), [*((name, "memory") for name in PROGRAMS), ("pool", "threads")]
)
def test_program(name: str, sanitize: str) -> None:
    """Builds and runs a C test program of the driver under a sanitizer; it must succeed."""
    program = c_driver.build_program(HERE / f"{name}.c", sanitize=sanitize)
    seed = os.environ.get("MAESLANT_SEED", "1")
    done = subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "MAESLANT_SEED": seed},
    )
    rerun = f"rerun: MAESLANT_SEED={seed} {program}"
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{rerun}"


def test_every_program_is_run() -> None:
    """The list of C test programs contains every C file in tests/driver/programs."""
    assert sorted(PROGRAMS) == sorted(path.stem for path in HERE.glob("*.c"))
