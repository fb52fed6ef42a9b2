# SPDX-License-Identifier: Apache-2.0
"""Encrypts and hashes parts of messages on one card, in any order, repeatable.

Each takes the device first, then only what it needs, and gives bytes. All take the key: it is on
the card for as long as the part takes.
"""

from maeslant.driver import gf128
from maeslant.driver.device import BLOCK, ENCRYPT, Device

DATA_LENGTH = 1  # GCM's length block counts bits, AAD in its upper half and data in its lower
AAD_LENGTH = 1 << 64


def plain(
    device: Device,
    mode: str,
    direction: int,
    key: bytes,
    iv: bytes | None,
    offset: int,
    before: bytes,
    data: bytes,
) -> bytes:
    """Encrypts or decrypts a message's part that starts at byte ``offset``, after ``before``."""
    return device.crypt_part(mode, direction, key, iv, offset, before, data)


def block(device: Device, key: bytes, data: bytes) -> bytes:
    """Encrypts whole blocks with AES itself (ECB) on a card."""
    return device.crypt("ecb", ENCRYPT, key, None, data)


def last(device: Device, key: bytes, chain: bytes, data: bytes) -> bytes:
    """Continues a CBC-MAC from ``chain`` over whole blocks; returns the new chain value."""
    return device.crypt("cbc", ENCRYPT, key, chain, data)[-BLOCK:]


def _nonce(h: int, counter: int) -> bytes:
    """Returns the 16-byte IV with which GCM starts at a given counter block.

    GCM's first counter block is GHASH of such an IV, ((IV * H) ^ 128) * H, and H has an inverse.
    """
    inverse = gf128.inverse(h)
    return gf128.multiply(gf128.multiply(counter, inverse) ^ 128, inverse).to_bytes(BLOCK)


def _hash(tag: bytes, mask: int, h: int, lengths: int) -> bytes:
    """Removes mask and length block from a GCM tag, which leaves the GHASH of the blocks."""
    product = int.from_bytes(tag) ^ mask
    return (gf128.multiply(product, gf128.inverse(h)) ^ lengths).to_bytes(BLOCK)


def gcm(
    device: Device, direction: int, key: bytes, h: int, counter: int, data: bytes
) -> tuple[bytes, bytes]:
    """Encrypts or decrypts a part of a GCM message from a counter on; returns data and GHASH.

    The hash is of the ciphertext's blocks from 0 on. Decrypting takes a second pass for it: what a
    card decrypts it also checks, and a part has no tag of its own.
    """
    mask = int.from_bytes(block(device, key, counter.to_bytes(BLOCK)))
    nonce = _nonce(h, counter)
    _, result, tag = device.seal("gcm", key, data, nonce=nonce)
    if direction == ENCRYPT:
        return result, _hash(tag, mask, h, 8 * len(data) * DATA_LENGTH)
    return result, ghash(device, key, h, counter, data)


def ghash(device: Device, key: bytes, h: int, counter: int, data: bytes) -> bytes:
    """Computes GHASH of blocks on a card; the last block is padded with zeros."""
    mask = int.from_bytes(block(device, key, counter.to_bytes(BLOCK)))
    _, _, tag = device.seal("gcm", key, b"", aad=data, nonce=_nonce(h, counter))
    return _hash(tag, mask, h, 8 * len(data) * AAD_LENGTH)
