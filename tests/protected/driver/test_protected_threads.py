# SPDX-License-Identifier: Apache-2.0
"""Runs the C test of the enclave's encrypting threads under the thread and address sanitizers."""

import functools
import os
import pathlib
import subprocess

import pytest

from maeslant.build import c_driver, made

HERE = pathlib.Path(__file__).resolve().parent


@functools.cache
def build(sanitize: str) -> pathlib.Path:
    """Builds threads.c with the C driver under a sanitizer; returns the program's path."""
    fuzz = c_driver.DRIVER / "fuzz"
    own = [HERE / "threads.c", fuzz / "fake.c", *c_driver.protected_sources("openssl")]
    target = c_driver.OUT / f"threads_{sanitize}"

    def write(new: pathlib.Path) -> None:
        c_driver.run(
            [c_driver.compiler(), *c_driver.FLAGS, *c_driver.SANITIZERS[sanitize],
             *c_driver.NO_FENCE_WARNING, *c_driver.INCLUDES, *map(str, own),
             *c_driver.crypto_libraries("openssl"), "-o", str(new)],
            f"making {target.name}",
        )  # fmt: skip

    return made.make(target, c_driver.inputs(*own), write)


@pytest.mark.parametrize("threads", [4, 2, 1])
@pytest.mark.parametrize("sanitize", ["threads", "memory"])
def test_threads(sanitize: str, threads: int) -> None:
    """Transfers, timeouts and forks with 1 to 4 encrypting threads cause no sanitizer error."""
    done = subprocess.run(
        [str(build(sanitize)), str(threads)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
