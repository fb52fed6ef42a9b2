# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of Linux guests that load a library of the driver as it is shipped."""

import pathlib

from maeslant.build import c_driver


def linked(source: pathlib.Path, library: pathlib.Path, *more: str) -> pathlib.Path:
    """Compiles a C program that loads a shared library; returns the program's path.

    ``more``: options of the linker.
    """
    target = c_driver.OUT / "guest" / source.stem
    target.parent.mkdir(parents=True, exist_ok=True)
    if c_driver.stale(target, own=[source, library]):
        command = [c_driver.compiler(), *c_driver.FLAGS, *c_driver.OPTIMISED, *c_driver.INCLUDES]
        command += [str(source), f"-L{library.parent}", f"-Wl,-rpath,{library.parent}"]
        command += ["-Wl,--as-needed", f"-l:{library.name}", *more, "-o", str(target)]
        c_driver.run(command, f"compiling {source.name}")
    return target
