# SPDX-License-Identifier: Apache-2.0
"""Encrypts, decrypts and authenticates files in AEAD modes, as [IV] ciphertext tag.

Without an IV from the user the library draws one of 12 bytes, and it stands in front. Plaintext
that this module gives comes before its tag is known: it belongs where a failure destroys it, which
is what ``message_files.destination(..., withhold=True)`` is for.
"""

import contextlib
import hmac
import os
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from maeslant.driver import aead, message_files
from maeslant.driver.device import NONCE, TAG, Device, DeviceError, is_wrong_tag
from maeslant.driver.message_files import Source
from maeslant.errors import MaeslantError

WRONG = "the tag is wrong: another key, IV or AAD, or changed data; nothing was given out"


class Held:
    """Iterates over an encrypted file's chunks without the last 16 bytes, kept as ``tag``."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces, self.tag = pieces, b""

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            held = self.tag + piece
            self.tag = held[-TAG:]
            if len(held) > TAG:
                yield held[:-TAG]
        if len(self.tag) < TAG:
            raise MaeslantError("the input is too short to hold a tag")


@contextlib.contextmanager
def verdict() -> Iterator[None]:
    """Converts a DeviceError for a wrong tag, raised in the context, to a MaeslantError."""
    try:
        yield
    except DeviceError as error:
        if is_wrong_tag(error):
            raise MaeslantError(WRONG) from None
        raise


@contextlib.contextmanager
def sized(source: Source, size: int | None) -> Iterator[tuple[Source | BinaryIO, int]]:
    """Yields (input file, size in bytes); copies a pipe to a temporary file first."""
    if size is not None:
        yield source, size - source.tell()
        return
    with message_files.spool() as (file, sink):
        while piece := source.read(message_files.PIECE):
            sink.write(piece)
        size = file.tell()
        file.seek(0)
        yield file, size


def encrypt(
    device: Device,
    mode: str,
    key: bytes | bytearray,
    iv: bytes | None,
    aad: bytes,
    source: Source,
    size: int | None,
    seen: Callable[[int], None],
) -> Iterator[bytes]:
    """Encrypts a file by GCM or CCM on a device; yields IV (if random), ciphertext, then tag."""
    with contextlib.ExitStack() as stack:
        length = 0
        if mode == "ccm":  # says the length at its start
            source, length = stack.enter_context(sized(source, size))
        if mode == "ccm" and iv is None and length >= 1 << 24:
            raise MaeslantError("CCM with an IV of 12 bytes takes less than 16 MiB; take gcm")
        lengths = (len(aad), length)
        message = stack.enter_context(aead.seal(device, mode, key, iv, lengths))
        if iv is None:
            yield message.nonce
        message.aad(aad)
        for piece in message_files.read(source, seen):
            yield from message.update(piece)
        tag = message.finish()
        yield from message.read()
        yield tag


def decrypt(
    device: Device,
    mode: str,
    key: bytes | bytearray,
    iv: bytes | None,
    aad: bytes,
    source: Source,
    size: int | None,
    seen: Callable[[int], None],
) -> Iterator[bytes]:
    """Decrypts a GCM or CCM file on a device; yields plaintext; raises last on a wrong tag."""
    with contextlib.ExitStack() as stack:
        length = 0
        if iv is None:
            iv = source.read(NONCE)
            if len(iv) < NONCE:
                raise MaeslantError("the input is too short to hold an IV")
        if mode == "ccm":
            source, whole = stack.enter_context(sized(source, size))
            length = whole - TAG
            if length < 0:
                raise MaeslantError("the input is too short to hold a tag")
        stack.enter_context(verdict())
        lengths = (len(aad), length)
        message = stack.enter_context(aead.unseal(device, mode, key, iv, lengths, unverified=True))
        message.aad(aad)
        held = Held(message_files.read(source, seen))
        for piece in held:
            yield from message.update(piece)
        message.finish(held.tag)
        yield from message.read()


def cmac(device: Device, key: bytes | bytearray, pieces: Iterable[bytes]) -> bytes:
    """Returns the CMAC of a file's chunks, computed on an AES device."""
    with aead.cmac(device, key) as message:
        for piece in pieces:
            message.aad(piece)
        return message.finish()


def gmac(
    device: Device, key: bytes | bytearray, iv: bytes | None, pieces: Iterable[bytes]
) -> bytes:
    """Returns the GMAC of a file's chunks, preceded by the IV if the library chose the IV."""
    with aead.seal(device, "gcm", key, iv) as message:
        for piece in pieces:
            message.aad(piece)
        return (message.nonce if iv is None else b"") + message.finish()


def check_cmac(
    device: Device, key: bytes | bytearray, expected: bytes, pieces: Iterable[bytes]
) -> None:
    """Raises MaeslantError unless ``expected`` is the CMAC of a file's chunks."""
    if not hmac.compare_digest(cmac(device, key, pieces), expected):
        raise MaeslantError("the MAC is wrong: another key, or changed data")


def check_gmac(
    device: Device,
    key: bytes | bytearray,
    iv: bytes | None,
    expected: bytes,
    pieces: Iterable[bytes],
) -> None:
    """Raises MaeslantError unless ``expected`` is the GMAC of a file's chunks."""
    if iv is None:
        iv, expected = expected[:NONCE], expected[NONCE:]
    try:
        with aead.unseal(device, "gcm", key, iv) as message:
            for piece in pieces:
                message.aad(piece)
            message.finish(expected)
    except DeviceError as error:
        if is_wrong_tag(error):
            raise MaeslantError("the MAC is wrong: another key or IV, or changed data") from None
        raise


def read_aad(text: str | None, name: str | None) -> bytes:
    """Returns the additional authenticated data from --aad or --aad-file; empty without them."""
    if text is not None and name is not None:
        raise MaeslantError("give the AAD by --aad or by --aad-file, and not by both")
    if name is not None:
        try:
            with open(name, "rb") as file:
                return file.read()
        except OSError as error:
            raise MaeslantError(f"{name}: {os.strerror(error.errno)}") from None
    try:
        return bytes.fromhex(text or "")
    except ValueError:
        raise MaeslantError("--aad is not hexadecimal") from None
