# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of Linux guests that load a library of the driver as it is shipped."""

import pathlib

from maeslant.build import c_driver, made


def linked(source: pathlib.Path, library: pathlib.Path, *more: str) -> pathlib.Path:
    """Compiles a C program that loads a shared library; returns the program's path.

    ``more``: options of the linker.
    """
    target = c_driver.OUT / "guest" / f"{source.stem}-{library.stem}"
    options = [*c_driver.FLAGS, *c_driver.OPTIMISED]
    options += [*c_driver.INCLUDES, str(source), f"-L{library.parent}"]
    options += [f"-Wl,-rpath,{library.parent}", "-Wl,--as-needed", f"-l:{library.name}", *more]

    def write(new: pathlib.Path) -> None:
        command = [c_driver.compiler(), *options, "-o", str(new)]
        c_driver.run(command, f"compiling {source.name}")

    return made.make(target, c_driver.inputs(source, library), write, *options)
