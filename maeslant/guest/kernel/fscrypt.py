# SPDX-License-Identifier: Apache-2.0
"""Derives the keys and data unit numbers by which Linux's fscrypt encrypts files.

Source: Linux, Documentation/filesystems/fscrypt.rst, "Key hierarchy" and "Contents encryption"; the
numbers of contexts are those of fs/crypto/fscrypt_private.h.
"""

import dataclasses
import re
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

UNIT = 4096  # bytes of a data unit: the file system's block
KEY_BYTES = 64  # of AES-256-XTS
PER_FILE, PER_MODE = 2, 4  # contexts: per-file keys, and policies with IV_INO_LBLK_64
AES_256_XTS = 1  # the mode's number


@dataclasses.dataclass(frozen=True)
class File:
    """Describes an encrypted file as `fscrypt_file show` prints it."""

    name: str
    inode: int
    nonce: bytes
    bytes: int
    extents: tuple[tuple[int, int, int], ...]  # offset in the file, place on the disk, bytes


def parse(output: str) -> list[File]:
    """Reads the lines of `fscrypt_file show` in a guest's output."""
    found = []
    for line in re.findall(r"^file (.*)$", output, re.MULTILINE):
        name, inode, nonce, size, *extents = line.split()
        places = tuple(tuple(map(int, each.split(":"))) for each in extents)
        found.append(File(name, int(inode), bytes.fromhex(nonce), int(size), places))
    return found


def derive(master: bytes, context: int, info: bytes) -> bytes:
    """Derives a key from a master key by HKDF-SHA512."""
    info = b"fscrypt\0" + bytes([context]) + info
    return HKDF(hashes.SHA512(), KEY_BYTES, salt=None, info=info).derive(master)


def file_key(master: bytes, file: File) -> bytes:
    """Derives the key of one file."""
    return derive(master, PER_FILE, file.nonce)


def disk_key(master: bytes, disk: uuid.UUID) -> bytes:
    """Derives the key of all files of a file system under a policy with IV_INO_LBLK_64."""
    return derive(master, PER_MODE, bytes([AES_256_XTS]) + disk.bytes)


def first_unit(file: File, offset: int, shared: bool) -> int:
    """Returns the data unit number at an offset of a file; ``shared``: with IV_INO_LBLK_64."""
    return (file.inode << 32 if shared else 0) + offset // UNIT
