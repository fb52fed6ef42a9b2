# SPDX-License-Identifier: Apache-2.0
"""Tests the pinned Debian packages: their list, their unpacking, and a server with other bytes."""

import hashlib
import io
import pathlib
import re
import tarfile

import pytest

from maeslant.errors import MaeslantError
from maeslant.guest import packages


def _deb(entries: dict[str, bytes | str]) -> bytes:
    """Makes a Debian package of files (bytes) and symbolic links (text)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as tar:
        for name, what in entries.items():
            info = tarfile.TarInfo(name)
            if isinstance(what, str):
                info.type, info.linkname = tarfile.SYMTYPE, what
                tar.addfile(info)
            else:
                info.size = len(what)
                tar.addfile(info, io.BytesIO(what))
    result = b"!<arch>\n"
    for name, data in (("debian-binary", b"2.0\n"), ("data.tar.xz", out.getvalue())):
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n"
        result += head.encode() + data + b"\n" * (len(data) % 2)
    return result


def test_list_is_complete() -> None:
    """Each package has a digest, a size and a purpose; sums are as the guide says."""
    snapshot, every = packages.lock()
    assert re.fullmatch(r"\d{8}T000000Z", snapshot)
    assert {package.purpose for package in every} == set(packages.WANTED)
    assert all(re.fullmatch("[0-9a-f]{64}", package.sha256) for package in every)
    sizes = {purpose: 0 for purpose in packages.WANTED}
    for package in every:
        sizes[package.purpose] += package.size
    megabytes = {purpose: round(size / 1e6) for purpose, size in sizes.items()}
    assert megabytes == {"guest": 37, "qemu": 27, "module": 17, "storage": 35}


def test_unpacking_stays_in_its_folder(tmp_path: pathlib.Path) -> None:
    """Files and links that leave the folder, or were not asked for, are left out."""
    entries = {
        "./usr/a": b"1",
        "./usr/../../b": b"2",
        "/usr/c": b"3",
        "./usr/d": "a",
        "./usr/e": "/etc/passwd",
        "./usr/f": "../../g",
        "./other": b"4",
    }
    folder = tmp_path / "in"
    packages.unpack(_deb(entries), re.compile(r"usr/.*"), folder)
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert found == {"in", "in/usr", "in/usr/a", "in/usr/d"}
    assert (folder / "usr/d").read_bytes() == b"1"
    with pytest.raises(MaeslantError, match="no Debian package"):
        packages.unpack(b"<html>", re.compile(".*"), folder)


def test_other_bytes_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """A package whose digest is not the pinned one is refused by name; nothing is kept of it."""
    good = _deb({"./usr/lib/modules/1/vmlinuz": b"kernel"})
    pinned = packages.Package(
        "guest", "linux", "1", "pool/l.deb", len(good), hashlib.sha256(good).hexdigest()
    )
    asked: list[str] = []
    answers = {"deb.debian.org": good[:-1] + b"x", "snapshot.debian.org": good[:-1] + b"x"}

    def read(url: str, say) -> bytes:
        asked.append(url.split("/")[2])
        return answers[asked[-1]]

    monkeypatch.setattr(packages, "FOLDER", tmp_path)
    monkeypatch.setattr(packages, "lock", lambda: ("20261125T000000Z", [pinned]))
    monkeypatch.setattr(packages, "_read", read)
    with pytest.raises(MaeslantError, match="linux 1 cannot be had"):
        packages.fetch("guest")
    assert asked == ["deb.debian.org", "snapshot.debian.org"]
    assert not packages.folder("guest").exists()
    answers["snapshot.debian.org"] = good  # where the first server has a newer version only
    folder = packages.fetch("guest")
    assert (folder / "usr/lib/modules/1/vmlinuz").read_bytes() == b"kernel"
    asked.clear()
    assert packages.fetch("guest") == folder and not asked
