# SPDX-License-Identifier: Apache-2.0
"""Binds the C driver's AEAD calls (mae_aead_*) to Python: messages piece by piece."""

import contextlib
from collections.abc import Iterator

from maeslant.driver.device import CODES, DECRYPT, ENCRYPT, NONCE, TAG, Device, Pieces, check
from maeslant.errors import MaeslantError


class Aead(Pieces):
    """Encrypts or decrypts a GCM or CCM message, or computes a CMAC, on a device, in pieces."""

    def __init__(self, device: Device, handle: object, nonce: bytes, tag_bytes: int) -> None:
        super().__init__(device, handle)
        self.nonce, self.tag_bytes = nonce, tag_bytes

    def aad(self, data: bytes) -> None:
        """Adds ``data`` to the additional authenticated data (AAD) of a GCM or CCM message.

        For a CMAC, ``data`` is the message.
        """
        check(self.lib.mae_aead_aad(self.handle, self.ffi.from_buffer(data), len(data)))

    def update(self, data: bytes) -> Iterator[bytes]:
        """Encrypts or decrypts ``data`` of a GCM or CCM message; yields the output ready so far."""
        return self._put(self.lib.mae_aead_update, data)

    def finish(self, tag: bytes | None = None) -> bytes:
        """Ends a GCM, CCM or CMAC message on a device and returns its tag.

        With ``tag``, raises DeviceError if that is wrong.
        """
        if tag is not None and len(tag) != self.tag_bytes:
            raise MaeslantError(f"the tag has {len(tag)} bytes, not {self.tag_bytes}")
        room = self.ffi.new("uint8_t[]", tag if tag is not None else self.tag_bytes)
        check(self.lib.mae_aead_finish(self.handle, room))
        return bytes(self.ffi.buffer(room, self.tag_bytes))

    def read(self) -> Iterator[bytes]:
        """Yields the rest of a GCM or CCM message's output, after :meth:`finish`."""
        return self._get(self.lib.mae_aead_read)

    def free(self) -> None:
        """Wipes the buffers of a GCM, CCM or CMAC message and erases its key from the device.

        May be called twice.
        """
        self._free(self.lib.mae_aead_free)


@contextlib.contextmanager
def _begun(
    device: Device,
    call,
    mode: str,
    key: bytes | bytearray,
    nonce: bytes | None,
    lengths: tuple[int, int],
    tag_bytes: int,
) -> Iterator[Aead]:
    """Begins a GCM, CCM or CMAC message by a C function; yields it, then frees it."""
    if not tag_bytes:  # to the driver 0 is 16, for which there would be no room
        raise MaeslantError(f"{mode} has no tag of 0 bytes")
    ffi = device.ffi
    size = NONCE if nonce is None else len(nonce)
    room = ffi.new("uint8_t[]", max(1, size))
    ffi.memmove(room, nonce or b"", len(nonce or b""))
    source = ffi.from_buffer(key)
    message = ffi.new("struct mae_message *")
    message.mode, message.tag_bytes = CODES[mode], tag_bytes
    message.key, message.key_bytes = source, len(key)
    message.nonce, message.nonce_bytes = room, size
    message.aad_bytes, message.length = lengths
    handle = ffi.new("mae_aead_t **")
    check(call(device.handle, message, handle))
    aead = Aead(device, handle[0], bytes(ffi.buffer(room, size)), tag_bytes)
    try:
        yield aead
    finally:
        aead.free()


def seal(
    device: Device,
    mode: str,
    key: bytes | bytearray,
    nonce: bytes | None = None,
    lengths: tuple[int, int] = (0, 0),
    tag_bytes: int = TAG,
) -> contextlib.AbstractContextManager[Aead]:
    """Begins a GCM or CCM encryption in pieces on a device; returns a context that gives an Aead.

    ``lengths``: bytes of AAD and of data, which CCM must know ahead.
    """
    if not isinstance(device, Device):
        return device.message(mode, ENCRYPT, key, nonce, lengths, tag_bytes)
    lib = device.lib
    call = lib.mae_aead_seal if nonce is None else lib.mae_aead_seal_with_chosen_nonce
    return _begun(device, call, mode, key, nonce, lengths, tag_bytes)


def unseal(
    device: Device,
    mode: str,
    key: bytes | bytearray,
    nonce: bytes,
    lengths: tuple[int, int] = (0, 0),
    tag_bytes: int = TAG,
    *,
    unverified: bool = False,
) -> contextlib.AbstractContextManager[Aead]:
    """Begins a GCM or CCM decryption in pieces on a device; returns a context that gives an Aead.

    Nothing comes out before ``finish`` has found the tag right.

    ``unverified``: plaintext comes as it is made, to be kept where nothing acts on it.
    """
    if not isinstance(device, Device):
        return device.message(mode, DECRYPT, key, nonce, lengths, tag_bytes, unverified)
    lib = device.lib
    call = lib.mae_aead_unseal_unverified if unverified else lib.mae_aead_unseal
    return _begun(device, call, mode, key, nonce, lengths, tag_bytes)


def cmac(
    device: Device, key: bytes | bytearray, tag_bytes: int = TAG
) -> contextlib.AbstractContextManager[Aead]:
    """Begins a CMAC on a device; returns a context whose Aead takes the message by ``aad``."""
    if not isinstance(device, Device):
        return device.message("cmac", ENCRYPT, key, None, (0, 0), tag_bytes)
    return _begun(device, device.lib.mae_aead_mac, "cmac", key, b"", (0, 0), tag_bytes)
