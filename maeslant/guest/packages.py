# SPDX-License-Identifier: Apache-2.0
"""Downloads the Debian packages of configs/linux_packages.json and unpacks what a guest needs.

Everything lies in the user's cache; nothing is installed, and nothing needs root.
"""

import dataclasses
import fcntl
import hashlib
import http.client
import io
import json
import pathlib
import re
import shutil
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request

from maeslant import paths
from maeslant.errors import MaeslantError, naming

LOCK = paths.ROOT / "configs" / "linux_packages.json"
FOLDER = paths.CACHE / "linux"
# The second keeps what the first has replaced by a newer version.
SERVERS = (
    "https://deb.debian.org/debian/",
    "https://snapshot.debian.org/archive/debian/{snapshot}/",
)
CHUNK = 1 << 20
SECONDS = 60  # that a server may be silent
# What is taken from the packages; the licences go with it.
LICENCES = r"usr/share/doc/[\w.+-]+/copyright"
WANTED = {
    "qemu": re.compile(
        r"usr/bin/qemu-system-x86_64|usr/lib/x86_64-linux-gnu/[\w.+-]+\.so[\w.]*"
        r"|usr/share/qemu/(kvmvapic|linuxboot_dma)\.bin|usr/share/seabios/bios-256k\.bin"
        rf"|{LICENCES}"
    ),
    "guest": re.compile(
        r"usr/lib/modules/[^/]+/vmlinuz|usr/bin/busybox"
        r"|usr/lib/modules/.*/(vfio[\w-]*|irqbypass|uio(_pci_generic)?)\.ko\.xz"
        rf"|{LICENCES}"
    ),
    # To build a kernel module, under the C library of the kernel's release.
    "module": re.compile(
        r"usr/src/linux-headers-.*|usr/lib/linux-kbuild-.*"
        rf"|usr/lib/x86_64-linux-gnu/(libc|ld-linux-x86-64)\.so[\w.]*|{LICENCES}"
    ),
    # File system and load on a block device.
    "storage": re.compile(
        r"usr/sbin/(mke2fs|e2fsck)|usr/bin/fio|etc/mke2fs\.conf"
        rf"|usr/lib/x86_64-linux-gnu/(ceph/)?[\w.+-]+\.so[\w.]*|{LICENCES}"
    ),
}


@dataclasses.dataclass(frozen=True)
class Package:
    """Describes a pinned Debian package: purpose, path on the server, digest."""

    purpose: str  # a key of WANTED
    name: str
    version: str
    path: str
    size: int
    sha256: str


def lock() -> tuple[str, list[Package]]:
    """Reads configs/linux_packages.json; returns the snapshot date and the Debian packages."""
    text = json.loads(LOCK.read_text())
    return text["snapshot"], [Package(**each) for each in text["packages"]]


def members(archive: bytes) -> dict[str, bytes]:
    """Returns the members of an ar archive, such as a Debian package, as bytes by name."""
    found, at = {}, 8
    if not archive.startswith(b"!<arch>\n"):
        raise MaeslantError("this is no Debian package")
    while at + 60 <= len(archive):
        name = archive[at : at + 16].decode("ascii").rstrip().rstrip("/")
        size = int(archive[at + 48 : at + 58])
        found[name] = archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    return found


def unpack(package: bytes, wanted: re.Pattern[str], folder: pathlib.Path) -> None:
    """Unpacks the files of a Debian package that match a name pattern into a folder."""
    data = members(package)
    name = next((name for name in data if name.startswith("data.tar")), "")
    if name not in ("data.tar", "data.tar.gz", "data.tar.xz"):
        raise MaeslantError(f"this Debian package holds its files as {name or 'nothing'}")
    with tarfile.open(fileobj=io.BytesIO(data[name])) as files:
        for each in files:
            path = each.name.removeprefix("./")
            if not wanted.fullmatch(path) or ".." in path.split("/"):
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if each.issym() and "/" not in each.linkname:
                target.unlink(missing_ok=True)
                target.symlink_to(each.linkname)
            elif each.isfile():
                with naming(target):
                    target.write_bytes(files.extractfile(each).read())
                target.chmod(0o755 if each.mode & 0o100 else 0o644)


def _read(url: str, say) -> bytes:
    """Downloads a URL and returns the bytes; reports the size of each received block to ``say``."""
    request = urllib.request.Request(url, headers={"User-Agent": "maeslant"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        parts = []
        while part := answer.read(CHUNK):
            parts.append(part)
            say(len(part))
    return b"".join(parts)


def download(package: Package, snapshot: str, say) -> bytes:
    """Downloads a Debian package from the first server that has it with the pinned digest."""
    reasons = []
    for server in SERVERS:
        url = server.format(snapshot=snapshot) + urllib.parse.quote(package.path)
        try:
            data = _read(url, say)
        except (OSError, http.client.HTTPException) as error:
            reasons.append(f"{url}: {getattr(error, 'reason', None) or error}")
            continue
        if hashlib.sha256(data).hexdigest() == package.sha256:
            return data
        reasons.append(f"{url}: its SHA-256 is not the pinned one")
    raise MaeslantError("\n".join([f"{package.name} {package.version} cannot be had:", *reasons]))


def _stored(package: Package) -> pathlib.Path:
    return FOLDER / "packages" / f"{package.sha256[:16]}-{pathlib.PurePath(package.path).name}"


def _show(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done / 1e6:6.1f} of {total / 1e6:.1f} MB", end="", file=sys.stderr, flush=True)


def folder(purpose: str) -> pathlib.Path:
    """Returns the path for the unpacked Debian packages of "qemu" or "guest"; may not exist."""
    packages = [package for package in lock()[1] if package.purpose == purpose]
    key = hashlib.sha256("".join(package.sha256 for package in packages).encode())
    key.update(WANTED[purpose].pattern.encode())
    return FOLDER / f"{purpose}-{key.hexdigest()[:16]}"


def fetch(purpose: str) -> pathlib.Path:
    """Returns the folder of unpacked Debian packages of "qemu" or "guest"; downloads if needed.

    Says before what it downloads, how large it is and where it will lie.
    """
    snapshot, every = lock()
    packages = [package for package in every if package.purpose == purpose]
    target = folder(purpose)
    if target.is_dir():
        return target
    (FOLDER / "packages").mkdir(parents=True, exist_ok=True)
    with open(FOLDER / ".lock", "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if target.is_dir():
            return target
        missing = [package for package in packages if not _stored(package).exists()]
        total = sum(package.size for package in missing)
        if missing:
            print(
                f"downloading {len(missing)} Debian packages for {purpose}, {total / 1e6:.1f} MB, "
                f"once, from deb.debian.org to {FOLDER}",
                file=sys.stderr,
            )
        done = 0

        def say(count: int) -> None:
            nonlocal done
            done += count
            _show(done, total)

        part = target.with_name(f"{target.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        for package in packages:
            if not _stored(package).exists():
                paths.write(_stored(package), download(package, snapshot, say))
            data = _stored(package).read_bytes()
            if hashlib.sha256(data).hexdigest() != package.sha256:
                _stored(package).unlink()
                raise MaeslantError(f"{_stored(package)} was damaged and is removed; try again")
            unpack(data, WANTED[purpose], part)
        if missing and sys.stderr.isatty():
            print(file=sys.stderr)
        part.replace(target)
    return target
