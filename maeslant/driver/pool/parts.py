# SPDX-License-Identifier: Apache-2.0
"""Encrypts, decrypts and hashes one part of a message on one card of a pool.

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
    """Encrypts or decrypts a message's part, from byte ``offset`` on, on one card; returns it.

    ``before`` is the source's block in front of that byte.
    """
    return device.crypt_part(mode, direction, key, iv, offset, before, data)


def block(device: Device, key: bytes, data: bytes) -> bytes:
    """Returns whole blocks encrypted by AES in ECB mode, on one card of a pool."""
    return device.crypt("ecb", ENCRYPT, key, None, data)


def last(device: Device, key: bytes, chain: bytes, data: bytes) -> bytes:
    """Continues a CBC-MAC from ``chain`` over whole blocks on one card; returns its new value."""
    return device.crypt("cbc", ENCRYPT, key, chain, data)[-BLOCK:]


def _nonce(inverse: int, counter: int) -> bytes:
    """Returns the 16-byte IV from which GCM derives a given first counter block.

    GCM's first counter block is GHASH of such an IV, ((IV * H) ^ 128) * H, and H has an inverse.
    """
    return gf128.multiply(gf128.multiply(counter, inverse) ^ 128, inverse).to_bytes(BLOCK)


def hash_of(tag: bytes, mask: int, inverse: int, lengths: int) -> int:
    """Returns the GHASH of a part's blocks, from its GCM tag, without mask and length block.

    ``inverse`` is that of H, here and below.
    """
    return gf128.multiply(int.from_bytes(tag) ^ mask, inverse) ^ lengths


def gcm(
    device: Device, direction: int, key: bytes, inverse: int, counter: int, data: bytes
) -> tuple[bytes, bytes]:
    """Encrypts or decrypts a part of a GCM message on one card; returns data and the part's tag.

    The tag is of the ciphertext as a message of its own, under the mask E(K, counter). Decrypting
    takes a second pass for it: what a card decrypts it also checks, and a part has no tag.
    """
    _, result, tag = device.seal("gcm", key, data, nonce=_nonce(inverse, counter))
    return result, tag if direction == ENCRYPT else ghash(device, key, inverse, counter, data)[1]


def ghash(
    device: Device, key: bytes, inverse: int, counter: int, data: bytes
) -> tuple[bytes, bytes]:
    """Hashes a part's blocks by GCM on one card, as AAD; returns no data and the GCM tag."""
    _, _, tag = device.seal("gcm", key, b"", aad=data, nonce=_nonce(inverse, counter))
    return b"", tag
