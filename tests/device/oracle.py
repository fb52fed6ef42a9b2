# SPDX-License-Identifier: Apache-2.0
"""Computes expected results of device tests by OpenSSL (package `cryptography`), in all modes."""

from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.cmac import CMAC

from maeslant.driver.device import CODES, MODES
from maeslant.verify.mode_oracle import (
    ANY_LENGTH,
    chains,
    crypt,
    crypt_blocks,
    inverts,
    key_sizes,
)
from tests.mode import gcm_oracle

__all__ = (
    "ANY_LENGTH",
    "CODES",
    "MODES",
    "chains",
    "crypt",
    "crypt_blocks",
    "inverts",
    "key_sizes",
    "mask",
    "seal",
)


def mask(*others: str) -> int:
    """Returns a device's register `modes` with the unauthenticated modes and the given others."""
    return sum(1 << CODES[mode] for mode in (*MODES, *others))


def seal(
    mode: str, key: bytes, nonce: bytes, aad: bytes, data: bytes, tag_bytes: int = 16
) -> tuple[bytes, bytes]:
    """Computes ciphertext and tag by GCM or CCM, or a tag by CMAC, with OpenSSL."""
    if mode == "gcm":
        text, tag = gcm_oracle.encrypt(key, nonce, aad, data)
        return text, tag[:tag_bytes]
    if mode == "ccm":
        sealed = AESCCM(key, tag_bytes).encrypt(nonce, data, aad)
        return sealed[: len(data)], sealed[len(data) :]
    side = CMAC(algorithms.AES(key))
    side.update(data)
    return b"", side.finalize()[:tag_bytes]
