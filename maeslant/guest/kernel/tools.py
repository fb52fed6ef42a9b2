# SPDX-License-Identifier: Apache-2.0
"""Puts Debian's programs for file systems and block devices into a guest.

They lie with their libraries in a folder of their own and run under their dynamic linker, because
the guest's other programs have this machine's libraries.
"""

import pathlib
import re
import subprocess
from collections.abc import Iterable

from maeslant.errors import MaeslantError
from maeslant.guest import packages

FOLDER = "debian"
LIBRARIES = pathlib.PurePath("usr/lib/x86_64-linux-gnu")
LOADER = "ld-linux-x86-64.so.2"
PLACES = {"mkfs.ext4": "usr/sbin/mke2fs", "fsck.ext4": "usr/sbin/e2fsck", "fio": "usr/bin/fio"}


def tree(names: Iterable[str]) -> dict[str, bytes]:
    """Returns the files, by their places in a guest, of some of Debian's programs."""
    root = packages.fetch("storage")
    loader, settings = root / LIBRARIES / LOADER, root / "etc/mke2fs.conf"
    found = {f"{FOLDER}/{LOADER}": loader.read_bytes(), "etc/mke2fs.conf": settings.read_bytes()}
    path = f"{root / LIBRARIES}:{root / LIBRARIES / 'ceph'}"
    for name in names:
        program = root / PLACES[name]
        command = [str(loader), "--library-path", path, "--list", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or "not found" in done.stdout:
            raise MaeslantError(f"{program} lacks a library:\n{done.stdout}{done.stderr}")
        for each in map(pathlib.Path, re.findall(r"=> (/\S+) \(", done.stdout)):
            found[f"{FOLDER}/{each.name}"] = each.read_bytes()
        found[f"{FOLDER}/{name}"] = program.read_bytes()
        start = f"/{FOLDER}/{LOADER} --library-path /{FOLDER} --argv0 {name} /{FOLDER}/{name}"
        found[f"bin/{name}"] = f'#!/bin/sh\nexec {start} "$@"\n'.encode()
    return found
