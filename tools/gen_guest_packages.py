# SPDX-License-Identifier: Apache-2.0
"""Pins the Debian packages of the Linux guest and its QEMU in configs/linux_packages.json.

Asks apt-get, with folders of its own, for the newest versions in Debian's stable release and its
backports; of a program's dependencies it keeps those whose libraries the program loads. Needs
Debian's apt-get and readelf; changes nothing of the system.
"""

import dataclasses
import datetime
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterable

from maeslant import paths
from maeslant.guest import packages

SUITE = "trixie"
SERVER = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
BACKPORTS = ("--target-release", f"{SUITE}-backports")
# Programs by purpose, and packages that are kept though no program loads a library of theirs.
PROGRAMS = {
    "qemu": ("usr/bin/qemu-system-x86_64",),
    "storage": ("usr/sbin/mke2fs", "usr/sbin/e2fsck", "usr/bin/fio"),
}
KEPT = {"qemu-system-x86", "qemu-system-data", "seabios", "e2fsprogs", "fio"}
# The kernel is that of the backports: the stable release's has no inline encryption.
KERNEL = re.compile(r"linux-(binary|modules|headers|kbuild)-\d.*")
LIBRARIES = pathlib.PurePath("usr/lib/x86_64-linux-gnu")
PRINTED = re.compile(r"'(\S+)' (\S+)_\S+_\w+\.deb (\d+) SHA256:(\w+)")


def apt(folder: pathlib.Path, *arguments: str) -> str:
    """Runs apt-get with all state in a given folder; returns the program's output."""
    for name in ("lists/partial", "cache/archives/partial", "etc/apt.conf.d", "etc/preferences.d"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    suites = (SUITE, f"{SUITE}-backports")
    sources = [f"deb [signed-by={KEYS}] {SERVER} {suite} main\n" for suite in suites]
    (folder / "sources.list").write_text("".join(sources))
    options = {
        "Dir::Etc": folder / "etc",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State": folder,
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Architecture": "amd64",
        "APT::Architectures": "amd64",
        "APT::Install-Recommends": "false",
        "Acquire::Languages": "none",
        "Acquire::ForceHash": "SHA256",
    }
    command = ["apt-get", *(word for k, v in options.items() for word in ("-o", f"{k}={v}"))]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def resolve(folder: pathlib.Path, purpose: str, *arguments: str) -> list[packages.Package]:
    """Returns the Debian packages that apt-get installs for given packages on an empty system."""
    found = []
    text = apt(folder, "install", "--yes", "--print-uris", *arguments)
    for url, name, size, digest in PRINTED.findall(text):
        path = urllib.parse.unquote(url).removeprefix(f"{SERVER}/")
        version = pathlib.PurePath(path).name.split("_")[1]
        found.append(packages.Package(purpose, name, version, path, int(size), digest))
    return found


def loaded(root: pathlib.Path, programs: Iterable[str]) -> set[str]:
    """Returns the names of libraries that unpacked programs load, directly or indirectly."""
    names: set[str] = set()
    todo = [root / program for program in programs]
    while todo:
        command = ["readelf", "-d", todo.pop()]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for name in set(re.findall(r"NEEDED.*\[(.*)\]", text)) - names:
            names.add(name)
            todo += (root / LIBRARIES).glob(f"**/{name}")
    return names


def needed(folder: pathlib.Path, purpose: str, *arguments: str) -> list[packages.Package]:
    """Returns the Debian packages that the programs of a purpose ("qemu", "guest") need."""
    every = resolve(folder, purpose, *arguments)
    snapshot = f"{datetime.date.today():%Y%m%d}T000000Z"
    wanted = packages.WANTED[purpose]
    root, one = folder / purpose, folder / "one"
    for package in every:
        stored = folder / "debs" / package.name
        stored.parent.mkdir(exist_ok=True)
        if not stored.exists():
            stored.write_bytes(packages.download(package, snapshot, lambda count: None))
        packages.unpack(stored.read_bytes(), wanted, root)
    names = loaded(root, PROGRAMS[purpose])
    kept = []
    for package in every:
        packages.unpack((folder / "debs" / package.name).read_bytes(), wanted, one)
        own = {path.name for path in (one / LIBRARIES).glob("**/*")}
        if own & names or package.name in KEPT:
            kept.append(package)
        subprocess.run(["rm", "-rf", str(one)], check=True)
    return kept


def main() -> None:
    """Writes configs/linux_packages.json, the pinned Debian packages for Linux guests."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        apt(folder, "update")
        kernel = resolve(folder, "guest", *BACKPORTS, "linux-image-cloud-amd64")
        headers = resolve(folder, "module", *BACKPORTS, "linux-headers-cloud-amd64")
        found = resolve(folder, "guest", "busybox-static")
        found = [each for each in found if each.name == "busybox-static"]
        found += [each for each in kernel + headers if KERNEL.fullmatch(each.name)]
        found += needed(folder, "qemu", *BACKPORTS, "qemu-system-x86")
        found += needed(folder, "storage", "e2fsprogs", "fio")
        # The kernel's build tools, like its own, want the C library of their release.
        library = next(each for each in found if each.name == "libc6")
        found.append(dataclasses.replace(library, purpose="module"))
    text = {
        "snapshot": f"{datetime.date.today():%Y%m%d}T000000Z",
        "packages": [vars(each) for each in sorted(found, key=lambda p: (p.purpose, p.name))],
    }
    paths.write(packages.LOCK, json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main()
