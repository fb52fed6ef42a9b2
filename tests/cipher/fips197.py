# SPDX-License-Identifier: Apache-2.0
"""Implements AES step by step as FIPS 197 defines it, as a reference for the tests of the RTL.

Nothing here comes from the RTL: the S-box is computed from the field. :func:`check_against_openssl`
compares whole encryptions and decryptions with OpenSSL; tests that use this module call it first.
"""

import functools
import random

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ROUNDS = {16: 10, 24: 12, 32: 14}


def times(a: int, b: int) -> int:
    """Multiplies two bytes in the AES field GF(2^8) (FIPS 197 §4.2)."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def _sbox(x: int) -> int:
    """Computes an AES S-box entry: inverse in GF(2^8), then the affine map (FIPS 197 §5.1.1)."""
    b = next((y for y in range(256) if times(x, y) == 1), 0)
    bits = [b >> i & 1 for i in range(8)]
    return (
        sum(
            (
                bits[i]
                ^ bits[(i + 4) % 8]
                ^ bits[(i + 5) % 8]
                ^ bits[(i + 6) % 8]
                ^ bits[(i + 7) % 8]
            )
            << i
            for i in range(8)
        )
        ^ 0x63
    )


SBOX = [_sbox(x) for x in range(256)]
INV_SBOX = [SBOX.index(x) for x in range(256)]


def words(key: bytes) -> list[bytes]:
    """Expands an AES key into the words of its key schedule (FIPS 197 §5.2)."""
    size = len(key) // 4
    schedule = [key[4 * i : 4 * i + 4] for i in range(size)]
    rcon = 1
    for i in range(size, 4 * (ROUNDS[len(key)] + 1)):
        word = schedule[-1]
        if i % size == 0:
            word = bytes(SBOX[x] for x in word[1:] + word[:1])
            word = bytes([word[0] ^ rcon]) + word[1:]
            rcon = times(rcon, 2)
        elif size == 8 and i % size == 4:
            word = bytes(SBOX[x] for x in word)
        schedule.append(xor(schedule[i - size], word))
    return schedule


def round_keys(key: bytes) -> list[bytes]:
    """Returns the Nr + 1 round keys of an AES key."""
    schedule = words(key)
    return [b"".join(schedule[i : i + 4]) for i in range(0, len(schedule), 4)]


def xor(a: bytes, b: bytes) -> bytes:
    """Returns the XOR of two byte strings of equal length."""
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def shift_rows(state: bytes, by: int = 1) -> bytes:
    """Rotates row r of an AES state left by r columns (§5.1.2), or right with by = -1."""
    return bytes(state[4 * ((c + by * r) % 4) + r] for c in range(4) for r in range(4))


def mix_columns(state: bytes, matrix: tuple[int, ...] = (2, 3, 1, 1)) -> bytes:
    """Multiplies each column of an AES state by a circulant matrix (MixColumns, §5.1.3)."""
    return bytes(
        functools.reduce(
            lambda a, b: a ^ b,
            (times(matrix[(k - r) % 4], state[4 * c + k]) for k in range(4)),
        )
        for c in range(4)
        for r in range(4)
    )


def encrypt_round(state: bytes, key: bytes, last: bool) -> bytes:
    """Computes one round of AES encryption as FIPS 197 defines it (§5.1)."""
    state = shift_rows(bytes(SBOX[x] for x in state))
    return xor(state if last else mix_columns(state), key)


def decrypt_round(state: bytes, key: bytes, last: bool) -> bytes:
    """Computes one round of AES decryption as FIPS 197 defines it (§5.3)."""
    state = xor(bytes(INV_SBOX[x] for x in shift_rows(state, -1)), key)
    return state if last else mix_columns(state, (14, 11, 13, 9))


def states(key: bytes, block: bytes, decrypt: bool) -> list[bytes]:
    """Returns the AES states before the first round and after each round."""
    keys = round_keys(key)
    if decrypt:
        keys.reverse()
    step = decrypt_round if decrypt else encrypt_round
    found = [xor(block, keys[0])]
    for key_ in keys[1:]:
        found.append(step(found[-1], key_, len(found) == len(keys) - 1))
    return found


def openssl(key: bytes, block: bytes, decrypt: bool) -> bytes:
    """Encrypts or decrypts one AES block by OpenSSL."""
    return bytes(_openssl(key, decrypt).update(block))


@functools.lru_cache(maxsize=4096)
def _openssl(key: bytes, decrypt: bool):  # noqa: ANN202 - the type is private to cryptography
    cipher = Cipher(algorithms.AES(key), modes.ECB())
    return cipher.decryptor() if decrypt else cipher.encryptor()


def check_against_openssl(blocks: int = 20) -> None:
    """Asserts that this AES equals OpenSSL's on random keys and blocks."""
    rng = random.Random(197)
    for size in ROUNDS:
        for _ in range(blocks):
            key, block = rng.randbytes(size), rng.randbytes(16)
            for decrypt in (False, True):
                assert states(key, block, decrypt)[-1] == openssl(key, block, decrypt)
