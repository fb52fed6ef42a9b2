# SPDX-License-Identifier: Apache-2.0
"""Builds the Linux driver of driver/linux for the guest's kernel, against Debian's headers.

The kernel's build tools and objtool run under the C library of their Debian release, the compiler
is this machine's.
"""

import pathlib
import shutil

from maeslant.build import c_driver, made
from maeslant.errors import MaeslantError
from maeslant.guest import packages

SOURCES = c_driver.DRIVER / "linux"
OUT = c_driver.OUT / "linux"
NAME = "mae_block"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
# Of the kernel's configuration: options of newer compilers, and pahole, are not asked for.
CONFIG = ("CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=", "CONFIG_DEBUG_INFO_BTF_MODULES=")


def _one(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    """Returns the only path in a folder that matches a pattern."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise MaeslantError(f"{folder} has {len(found)} times {pattern}, not once")
    return found[0]


def _link(target: pathlib.Path, source: pathlib.Path) -> None:
    """Creates a folder of symbolic links to another folder's entries."""
    target.mkdir()
    for path in source.iterdir():
        (target / path.name).symlink_to(path)


def _tree(root: pathlib.Path, tree: pathlib.Path) -> None:
    """Links unpacked Debian packages to one source tree as the kernel's Makefile expects."""
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    tools = _one(root, "usr/lib/linux-kbuild-*")
    for name, pattern in (
        ("source", "linux-headers-*-common"),
        ("output", "linux-headers-*-amd64"),
    ):
        _link(tree / name, _one(root / "usr/src", pattern))
        for folder in ("scripts", "tools"):
            (tree / name / folder).symlink_to(tools / folder)
    loader = f"{root / LIBRARIES}/ld-linux-x86-64.so.2 --library-path {root / LIBRARIES}"
    real = {
        "modpost": "scripts/mod/modpost.real-lsb-64",
        "objtool": "tools/objtool/objtool.real-x86",
    }
    for name, program in real.items():
        (tree / name).write_text(f'#!/bin/sh\nexec {loader} {tools / program} "$@"\n')
        (tree / name).chmod(0o755)


def build() -> pathlib.Path:
    """Compiles the kernel module mae_block.ko if out of date; returns the path."""
    root = packages.fetch("module")
    tree, work = OUT / "kernel", OUT / "module"
    inputs = sorted(path for path in SOURCES.glob("**/*") if path.is_file())

    def write(new: pathlib.Path) -> None:
        if not shutil.which("make"):
            raise MaeslantError("make is missing; install it: sudo apt-get install make")
        _tree(root, tree)
        shutil.rmtree(work, ignore_errors=True)  # make goes by times
        work.mkdir()
        command = ["make", "-C", str(tree / "source"), f"KBUILD_OUTPUT={tree / 'output'}"]
        command += [f"M={SOURCES}", f"MO={work}", f"CC={c_driver.compiler()}", *CONFIG]
        command += [f"objtool={tree / 'objtool'}", f"MODPOST={tree / 'modpost'}"]
        c_driver.run([*command, "KBUILD_MODPOST_WARN=", "W=1", "modules"], f"compiling {NAME}")
        (work / f"{NAME}.ko").replace(new)

    # The packages' path, too: links in the tree name it.
    return made.make(OUT / f"{NAME}.ko", [*inputs, pathlib.Path(__file__)], write, str(root))
