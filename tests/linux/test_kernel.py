# SPDX-License-Identifier: Apache-2.0
"""Tests the Linux driver's build, and what compares an encrypted file system with OpenSSL."""

import hashlib
import hmac
import os
import pathlib
import re
import uuid

import pytest

from maeslant.guest import packages
from maeslant.guest.block import checks as block_checks
from maeslant.guest.kernel import checks, fscrypt, module

MASTER = bytes(range(64))
NONCE = bytes(range(16))
DISK = uuid.UUID("56ff12ca-7fa8-4054-9775-821cfcf57318")


@pytest.mark.skipif(
    not packages.folder("module").is_dir(),
    reason="the packages for module are not in the cache; `maeslant linux` downloads them",
)
def test_module() -> None:
    """The driver compiles for the guest's kernel, under the block card's PCI numbers."""
    text = module.build().read_bytes()
    assert b"alias=pci:v00001234d0000AE51sv" in text
    assert re.search(rb"vermagic=7\.\d+\.\d+\+deb13-cloud-amd64 ", text)
    assert b"license=GPL\0" in text


def test_packages_that_have_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Links to the kernel's headers are made anew when the packages lie in another folder."""
    made: list[pathlib.Path] = []
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    monkeypatch.setattr(module, "_tree", lambda root, tree: made.append(root))
    ko = tmp_path / "out" / "module" / f"{module.NAME}.ko"
    monkeypatch.setattr(module.c_driver, "run", lambda command, what: ko.touch())
    for home in ("one", "one", "two"):
        root = tmp_path / home / "module-0123"
        monkeypatch.setattr(packages, "fetch", lambda purpose, root=root: root)
        module.build()
    assert made == [tmp_path / home / "module-0123" for home in ("one", "two")]


def test_key_derivation() -> None:
    """Keys are HKDF-SHA512 of the master key (RFC 5869) with fscrypt's prefix and context."""
    extracted = hmac.digest(bytes(64), MASTER, "sha512")

    def expanded(info: bytes) -> bytes:
        return hmac.digest(extracted, b"fscrypt\0" + info + b"\1", hashlib.sha512)

    file = fscrypt.File("a", 9, NONCE, 1, ())
    assert fscrypt.file_key(MASTER, file) == expanded(b"\2" + NONCE)
    assert fscrypt.disk_key(MASTER, DISK) == expanded(b"\4\1" + DISK.bytes)
    # As Linux names this master key: context 1.
    identifier = "8699c2c53707405da5aba5ae4d8583c0"
    assert fscrypt.derive(MASTER, 1, b"")[:16].hex() == identifier
    assert fscrypt.first_unit(file, 8192, False) == 2
    assert fscrypt.first_unit(file, 8192, True) == (9 << 32) + 2


def _written(data: bytes) -> tuple[bytes, str]:
    """Returns media with the files of the check in two extents each, and the guest's output."""
    found, lines = bytearray(1 << 23), [f"uuid {DISK}"]
    found[:4096] = data[:4096]  # the file in the folder left plain
    at = 8192
    for folder in checks.FOLDERS:
        for inode, size in enumerate(checks.SIZES, 16):
            name = f"/mnt/{folder}/{size}"
            file = fscrypt.File(name, inode, os.urandom(16), size, ())
            shared = folder == "disk"
            key = fscrypt.disk_key(MASTER, DISK) if shared else fscrypt.file_key(MASTER, file)
            plain = data[:size] + bytes(-size % 4096)
            extents = []
            for start, end in ((0, min(8192, len(plain))), (8192, len(plain))):
                if start < end:
                    first = fscrypt.first_unit(file, start, shared)
                    part = block_checks.encrypted(key, plain[start:end], 4096, first)
                    found[at : at + len(part)] = part
                    extents.append(f"{start}:{at}:{len(part)}")
                    at += len(part) + 4096
            lines.append(f"file {name} {inode} {file.nonce.hex()} {size} {' '.join(extents)}")
    return bytes(found), "\n".join(lines) + "\n"


def test_comparison() -> None:
    """The comparison accepts right media, and names what is wrong with others."""
    data = os.urandom(checks.BYTES)
    found, output = _written(data)
    assert checks.wrong_media(found, output, MASTER, data) == ""
    other = checks.wrong_media(found, output, MASTER[::-1], data)
    assert re.search("media at [0-9]+ is not OpenSSL's ciphertext", other)
    leaked = found[:-16] + data[4096:4112]
    assert "257 blocks of 16 bytes are plaintext" in checks.wrong_media(
        leaked, output, MASTER, data
    )
    short = re.sub(r" 8192:\d+:\d+$", "", output, count=1, flags=re.MULTILINE)
    assert "bytes of" in checks.wrong_media(found, short, MASTER, data)
    fewer = output.replace("file /mnt/disk/1 ", "lost ")
    assert "9 encrypted files" in checks.wrong_media(found, fewer, MASTER, data)


def test_licence() -> None:
    """Each source of the driver has the licence that blk-crypto asks for, and its text is there."""
    folder = module.SOURCES
    assert "GNU GENERAL PUBLIC LICENSE" in (folder / "COPYING").read_text()
    sources = [*folder.glob("**/*.c"), *folder.glob("**/*.h"), folder / "Kbuild"]
    for path in sources:
        assert "SPDX-License-Identifier: GPL-2.0" in path.read_text().splitlines()[0], path
    assert len(sources) == 6
    users = [
        p for p in pathlib.Path(module.SOURCES.parent).glob("**/*.[ch]") if folder not in p.parents
    ]
    assert not [p for p in users if "mae_block_card_linux.h" in p.read_text()]
