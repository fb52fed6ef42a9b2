# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of Linux guests that load a library of the driver as it is shipped."""

import fcntl
import pathlib

from maeslant.build import c_driver


def linked(source: pathlib.Path, library: pathlib.Path, *more: str) -> pathlib.Path:
    """Compiles a C program that loads a shared library; returns the program's path.

    ``more``: options of the linker.
    """
    target = c_driver.OUT / "guest" / f"{source.stem}-{library.stem}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.with_suffix(".lock"), "w") as lock:  # several processes may want it at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if c_driver.stale(target, own=[source, library]):
            fresh = target.with_suffix(".new")
            command = [c_driver.compiler(), *c_driver.FLAGS, *c_driver.OPTIMISED]
            command += [*c_driver.INCLUDES, str(source), f"-L{library.parent}"]
            command += [f"-Wl,-rpath,{library.parent}", "-Wl,--as-needed", f"-l:{library.name}"]
            c_driver.run([*command, *more, "-o", str(fresh)], f"compiling {source.name}")
            fresh.replace(target)
    return target
