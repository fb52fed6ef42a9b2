# SPDX-License-Identifier: Apache-2.0
"""Builds the server of sim/vfio_user, which makes a simulated card a PCI function for QEMU."""

import fcntl
import pathlib
import shutil
import subprocess

from maeslant import paths
from maeslant.errors import MaeslantError

SOURCES = paths.ROOT / "sim" / "vfio_user"
FLAGS = ("-std=gnu++20", "-O2", "-g", "-Wall", "-Wextra", "-Werror")


def build() -> pathlib.Path:
    """Builds the card's vfio-user server build/sim/vfio_user if out of date; returns its path."""
    folder = paths.BUILD / "sim"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "vfio_user"
    inputs = [*SOURCES.glob("*"), SOURCES.parent / "include" / "mae_sim.h", pathlib.Path(__file__)]
    with open(folder / ".lock.vfio_user", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = target.stat().st_mtime_ns if target.exists() else 0
        if any(path.stat().st_mtime_ns > made for path in inputs):
            if not shutil.which("g++"):
                raise MaeslantError("no C++ compiler found; install one: sudo apt-get install g++")
            fresh = target.with_suffix(".new")
            files = map(str, sorted(SOURCES.glob("*.cpp")))
            command = ["g++", *FLAGS, "-o", str(fresh), *files, "-ldl"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise MaeslantError(f"compiling {target.name} failed:\n{done.stderr}")
            fresh.replace(target)
    return target
