# SPDX-License-Identifier: Apache-2.0
"""Builds the server of sim/vfio_user, which makes a simulated card a PCI function for QEMU."""

import pathlib
import shutil
import subprocess

from maeslant import paths
from maeslant.build import made
from maeslant.errors import MaeslantError

SOURCES = paths.ROOT / "sim" / "vfio_user"
FLAGS = ("-std=gnu++20", "-O2", "-g", "-Wall", "-Wextra", "-Werror")


def build() -> pathlib.Path:
    """Builds the simulated card's vfio-user server build/sim/vfio_user if out of date."""
    own = sorted(SOURCES.glob("*"))
    inputs = [*own, SOURCES.parent / "include" / "mae_sim.h", pathlib.Path(__file__)]

    def write(new: pathlib.Path) -> None:
        if not shutil.which("g++"):
            raise MaeslantError("no C++ compiler found; install one: sudo apt-get install g++")
        files = [str(path) for path in own if path.suffix == ".cpp"]
        command = ["g++", *FLAGS, "-o", str(new), *files, "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MaeslantError(f"compiling vfio_user failed:\n{done.stderr}")

    return made.make(paths.BUILD / "sim" / "vfio_user", inputs, write)
