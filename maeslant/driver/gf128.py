# SPDX-License-Identifier: Apache-2.0
"""Computes in the finite field GF(2^128) of GCM; bit 127 is the coefficient of 1."""

REDUCTION = 0xE1 << 120
ONE = 1 << 127


def multiply(a: int, b: int) -> int:
    """Returns the product of two elements of GCM's field GF(2^128) (SP 800-38D §6.3)."""
    product = 0
    for bit in range(127, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = b >> 1 ^ (REDUCTION if b & 1 else 0)
    return product


def power(a: int, exponent: int) -> int:
    """Returns a power of an element of GCM's field GF(2^128), by square and multiply."""
    result = ONE
    while exponent:
        if exponent & 1:
            result = multiply(result, a)
        a = multiply(a, a)
        exponent >>= 1
    return result


def inverse(a: int) -> int:
    """Returns the multiplicative inverse of an element of GCM's field GF(2^128)."""
    return power(a, (1 << 128) - 2)


def square_root(a: int) -> int:
    """Returns the square root of an element of GCM's field GF(2^128), which always exists."""
    return power(a, 1 << 127)


def ghash(h: int, ciphertext: bytes, aad: bytes = b"") -> int:
    """Returns GCM's GHASH of AAD and ciphertext under the hash key ``h`` (SP 800-38D §6.4)."""
    total = 0
    for data in (aad, ciphertext):
        for at in range(0, len(data), 16):
            block = data[at : at + 16].ljust(16, b"\0")
            total = multiply(total ^ int.from_bytes(block), h)
    return multiply(total ^ (8 * len(aad) << 64 | 8 * len(ciphertext)), h)
