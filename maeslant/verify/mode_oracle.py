# SPDX-License-Identifier: Apache-2.0
"""Computes expected results in the unauthenticated modes by OpenSSL (package `cryptography`)."""

import dataclasses
from collections.abc import Callable, Sequence

from cryptography.hazmat.decrepit.ciphers.modes import CFB, OFB
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant.driver.device import BLOCK, MODES, PADDED

ANY_LENGTH = tuple(mode for mode in MODES if mode not in PADDED)


def xor(left: bytes, right: bytes) -> bytes:
    """Returns the XOR of two byte strings of equal length."""
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


@dataclasses.dataclass(frozen=True)
class Rule:
    """Describes a mode: OpenSSL's mode that processes one block, and the next chain value."""

    cipher: Callable[[bytes], modes.Mode]  # of a chain value
    next_chain: Callable[[bool, bytes, bytes, bytes], bytes]  # of (decrypt, chain, data, out)
    native: bool = True  # OpenSSL's mode processes whole messages, too


def _keep(decrypt: bool, chain: bytes, data: bytes, out: bytes) -> bytes:
    return chain


def _ciphertext(decrypt: bool, chain: bytes, data: bytes, out: bytes) -> bytes:
    return data if decrypt else out


def _sum(decrypt: bool, chain: bytes, data: bytes, out: bytes) -> bytes:
    return xor(data, out)


def _count(decrypt: bool, chain: bytes, data: bytes, out: bytes) -> bytes:
    return (int.from_bytes(chain) + 1 & (1 << 8 * BLOCK) - 1).to_bytes(BLOCK)


RULES = {
    "ecb": Rule(lambda chain: modes.ECB(), _keep),
    "cbc": Rule(modes.CBC, _ciphertext),
    "pcbc": Rule(modes.CBC, _sum, native=False),
    "cfb": Rule(CFB, _ciphertext),
    "ofb": Rule(OFB, _sum),
    "ctr": Rule(modes.CTR, _count),
    "xts": Rule(modes.XTS, _keep),  # of its tweaks OpenSSL gives none
}


def next_chain(mode: str, decrypt: bool, chain: bytes, data: bytes, out: bytes) -> bytes:
    """Returns the chain value after a block: that of the next block, or the message's next IV."""
    return RULES[mode].next_chain(decrypt, chain, data, out)


def _run(mode: str, decrypt: bool, key: bytes, chain: bytes, data: bytes) -> bytes:
    cipher = Cipher(algorithms.AES(key), RULES[mode].cipher(chain))
    context = cipher.decryptor() if decrypt else cipher.encryptor()
    return context.update(data) + context.finalize()


def crypt_blocks(mode: str, decrypt: bool, keys: Sequence[bytes], iv: bytes, data: bytes) -> bytes:
    """Encrypts or decrypts data block by block by OpenSSL, each block under a key of its own."""
    if mode == "xts":
        raise ValueError("OpenSSL does XTS only as a whole")
    chain, result = iv, []
    for at in range(0, len(data), BLOCK):
        block = data[at : at + BLOCK]
        out = _run(mode, decrypt, keys[at // BLOCK], chain, block)
        chain = next_chain(mode, decrypt, chain, block, out)
        result.append(out)
    return b"".join(result)


def crypt(
    mode: str, decrypt: bool, key: bytes, iv: bytes, data: bytes, tweak_key: bytes = b""
) -> bytes:
    """Encrypts or decrypts data by OpenSSL in an unauthenticated mode."""
    if mode == "xts":
        key += tweak_key
    if RULES[mode].native:
        return _run(mode, decrypt, key, iv, data)
    return crypt_blocks(mode, decrypt, [key] * -(-len(data) // BLOCK), iv, data)


def chains(mode: str, decrypt: bool) -> bool:
    """Returns true if a mode must finish each block before it can start the next (chaining)."""
    block, other = bytes(BLOCK), bytes([1] * BLOCK)
    return next_chain(mode, decrypt, block, block, block) != next_chain(
        mode, decrypt, block, block, other
    )


def inverts(mode: str) -> bool:
    """Returns true if a mode decrypts by the inverse cipher: both directions differ on a block."""
    key, block = bytes(range(2 * BLOCK)), bytes(BLOCK)
    return crypt(mode, True, key, block, block) != crypt(mode, False, key, block, block)


def key_sizes(mode: str) -> tuple[int, ...]:
    """Returns the key lengths in bytes that a mode allows."""
    return (16, 32) if mode == "xts" else (16, 24, 32)
