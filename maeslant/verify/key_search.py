# SPDX-License-Identifier: Apache-2.0
"""Searches the state of a simulated device for pieces of keys and of their round keys."""

import functools
from collections.abc import Iterable, Mapping

KEY_BYTES = 32  # of AES-256
ROUNDS = 14
# Four bytes lie in the registers of a word: searched at whole words of small signals, because much
# data holds any four bytes by chance. Eight are searched at each bit.
SHORT, LONG = 4, 8
SMALL = 1024  # bytes of a signal


@functools.cache
def _sbox() -> bytes:
    """Computes AES's S-box: inverses by powers of 3, then the affine map (FIPS 197 §5.1.1)."""
    box, value, inverse = bytearray([0x63]) * 256, 1, 1
    for _ in range(255):
        value ^= value << 1 ^ (0x11B if value & 0x80 else 0)  # times 3
        inverse ^= inverse << 1
        inverse ^= inverse << 2
        inverse ^= inverse << 4
        inverse = (inverse ^ (9 if inverse & 0x80 else 0)) & 0xFF  # divided by 3
        turned = inverse
        for by in range(1, 5):
            turned ^= inverse << by | inverse >> (8 - by)
        box[value] = turned & 0xFF ^ 0x63
    return bytes(box)


def round_keys(key: bytes) -> list[bytes]:
    """Expands an AES-256 key into its round keys (FIPS 197 §5.2)."""
    words = [key[at : at + 4] for at in range(0, KEY_BYTES, 4)]
    for i in range(8, 4 * (ROUNDS + 1)):
        word = words[-1]
        if i % 4 == 0:
            turned = word if i % 8 else word[1:] + word[:1]
            word = bytes(_sbox()[byte] for byte in turned)
            if i % 8 == 0:
                word = bytes([word[0] ^ 1 << (i // 8 - 1)]) + word[1:]
        words.append(bytes(a ^ b for a, b in zip(words[i - 8], word, strict=True)))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def parse(data: bytes) -> dict[str, bytes]:
    """Parses a simulator state written by sim/vfio_user; returns the signals' bytes by name."""
    found, at = {}, 0
    while at < len(data):
        end = data.index(0, at)
        name = data[at:end].decode().replace("__DOT__", ".")
        start = end + 9
        size = int.from_bytes(data[end + 1 : start], "little")
        found[name] = data[start : start + size]
        at = start + size
    return found


def _pieces(secrets: Iterable[bytes], size: int) -> set[bytes]:
    """Returns all aligned fragments of secrets, in both byte orders, to search for."""
    parts = {one[at : at + size] for one in secrets for at in range(0, len(one) - size + 1, size)}
    return parts | {part[::-1] for part in parts}


def find(state: Mapping[str, bytes], keys: Iterable[bytes]) -> list[str]:
    """Returns names in a simulator's state that hold 4 or 8 bytes of an AES key or round key."""
    secrets = [part for key in keys for part in (key, *round_keys(key))]
    short, long = _pieces(secrets, SHORT), _pieces(secrets, LONG)
    found = []
    for name, data in state.items():
        hit = len(data) <= SMALL and any(
            data[at : at + SHORT] in short for at in range(0, len(data) - SHORT + 1, SHORT)
        )
        if not hit and len(data) >= LONG and any(data):
            number = int.from_bytes(data, "little")
            shifted = [(number >> bits).to_bytes(len(data), "little") for bits in range(8)]
            hit = any(piece in view for view in shifted for piece in long)
        if hit:
            found.append(name)
    return found
