# SPDX-License-Identifier: Apache-2.0
"""Computes GHASH and GCM by SP 800-38D, and AES-GCM by OpenSSL, as references for tests."""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

BLOCK = 1 << 128
REDUCTION = 0xE1 << 120


def multiply(x: int, y: int) -> int:
    """Multiplies two elements of GF(2^128) by SP 800-38D algorithm 1."""
    z, v = 0, y
    for i in range(128):
        if x >> (127 - i) & 1:
            z ^= v
        v = v >> 1 ^ (REDUCTION if v & 1 else 0)
    return z


def blocks(data: bytes) -> list[int]:
    """Splits data into 128-bit integers, padded with zeros."""
    padded = data + bytes(-len(data) % 16)
    return [int.from_bytes(padded[i : i + 16], "big") for i in range(0, len(padded), 16)]


def ghash(h: int, words: list[int]) -> int:
    """Computes GHASH of 128-bit blocks under H (SP 800-38D algorithm 2)."""
    y = 0
    for word in words:
        y = multiply(y ^ word, h)
    return y


def lengths(aad: bytes, data: bytes) -> int:
    """Returns GHASH's last block, which holds the lengths of AAD and data in bits."""
    return len(aad) * 8 << 64 | len(data) * 8


def encrypt_block(key: bytes, block: bytes) -> int:
    """Encrypts one AES block by `cryptography`; returns it as an integer."""
    side = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return int.from_bytes(side.update(block), "big")


def hash_key(key: bytes) -> int:
    """Computes GCM's hash key H, the encrypted zero block."""
    return encrypt_block(key, bytes(16))


def first_counter(key: bytes, iv: bytes) -> bytes:
    """Computes GCM's first counter block J0 from key and IV (SP 800-38D §7.1)."""
    if len(iv) == 12:
        return iv + b"\0\0\0\1"
    return ghash(hash_key(key), [*blocks(iv), len(iv) * 8]).to_bytes(16, "big")


def encrypt(key: bytes, iv: bytes, aad: bytes, data: bytes) -> tuple[bytes, bytes]:
    """Encrypts by OpenSSL's GCM, or block by block if OpenSSL refuses the IV's length."""
    if 8 <= len(iv) <= 128:
        side = Cipher(algorithms.AES(key), modes.GCM(iv)).encryptor()
        side.authenticate_additional_data(aad)
        text = side.update(data) + side.finalize()
        return text, side.tag
    counter = first_counter(key, iv)
    text = b""
    for number, word in enumerate(blocks(data), 1):
        low = (int.from_bytes(counter[12:], "big") + number) % (1 << 32)
        pad = encrypt_block(key, counter[:12] + low.to_bytes(4, "big"))
        text += (word ^ pad).to_bytes(16, "big")
    text = text[: len(data)]
    tag = ghash(hash_key(key), [*blocks(aad), *blocks(text), lengths(aad, data)])
    return text, (tag ^ encrypt_block(key, counter)).to_bytes(16, "big")


def accepts(key: bytes, iv: bytes, aad: bytes, text: bytes, tag: bytes) -> bool:
    """Returns true if OpenSSL's GCM accepts the tag, which may be truncated."""
    side = Cipher(algorithms.AES(key), modes.GCM(iv, tag, min_tag_length=4)).decryptor()
    side.authenticate_additional_data(aad)
    side.update(text)
    try:
        side.finalize()
    except InvalidTag:
        return False
    return True
