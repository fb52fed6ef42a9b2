# SPDX-License-Identifier: Apache-2.0
"""Computes expected results of device tests by OpenSSL (package `cryptography`), in all modes."""

from cryptography.hazmat.decrepit.ciphers.modes import CFB, OFB
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.cmac import CMAC

from tests.mode import gcm_oracle

MODES = ("ecb", "cbc", "pcbc", "cfb", "ofb", "ctr", "xts")  # in the order of mode_e
ANY_LENGTH = ("cfb", "ofb", "ctr", "xts")


def _run(cipher: Cipher, decrypt: bool, data: bytes) -> bytes:
    context = cipher.decryptor() if decrypt else cipher.encryptor()
    return context.update(data) + context.finalize()


def _xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def _pcbc(key: bytes, iv: bytes, decrypt: bool, data: bytes) -> bytes:
    """Computes AES-PCBC block by block from OpenSSL's ECB."""
    ecb = Cipher(algorithms.AES(key), modes.ECB())
    chain, result = iv, b""
    for at in range(0, len(data), 16):
        block = data[at : at + 16]
        if decrypt:
            out = _xor(_run(ecb, True, block), chain)
        else:
            out = _run(ecb, False, _xor(block, chain))
        chain = _xor(block, out)
        result += out
    return result


def crypt(
    mode: str, decrypt: bool, key: bytes, iv: bytes, data: bytes, tweak_key: bytes = b""
) -> bytes:
    """Encrypts or decrypts data by OpenSSL in an unauthenticated mode."""
    if mode == "pcbc":
        return _pcbc(key, iv, decrypt, data)
    if mode == "xts":
        key = key + tweak_key
    make = {
        "ecb": lambda: modes.ECB(),
        "cbc": lambda: modes.CBC(iv),
        "cfb": lambda: CFB(iv),
        "ofb": lambda: OFB(iv),
        "ctr": lambda: modes.CTR(iv),
        "xts": lambda: modes.XTS(iv),
    }
    return _run(Cipher(algorithms.AES(key), make[mode]()), decrypt, data)


def key_sizes(mode: str) -> tuple[int, ...]:
    """Returns the key lengths in bytes that a mode allows."""
    return (16, 32) if mode == "xts" else (16, 24, 32)


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
