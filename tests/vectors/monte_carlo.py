# SPDX-License-Identifier: Apache-2.0
"""Implements the AES Monte Carlo tests of AESAVS §6.4 as generators of block operations.

A generator yields ``Key(bytes)`` or ``Block(iv, data)`` and receives each block's result, so that
a device can run one chain or many side by side.
"""

import dataclasses
from collections.abc import Generator

ITERATIONS = 1000


@dataclasses.dataclass
class Key:
    """Asks the user of the generator to load a key for the next blocks."""

    value: bytes


@dataclasses.dataclass
class Block:
    """Asks the user of the generator to encrypt or decrypt one block."""

    iv: bytes | None
    data: bytes


def xor(left: bytes, right: bytes) -> bytes:
    """Returns the XOR of two byte strings."""
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def next_chain(mode: str, encrypt: bool, data: bytes, out: bytes) -> bytes | None:
    """Returns the IV with which a mode's next block operation continues."""
    if mode == "ecb":
        return None
    if mode == "ofb":
        return xor(data, out)
    return out if encrypt else data


def chain(
    mode: str, encrypt: bool, key: bytes, iv: bytes, data: bytes, counts: int
) -> Generator[Key | Block, bytes | None, list[tuple[bytes, bytes, bytes, bytes]]]:
    """Runs the outer iterations of an AES Monte Carlo test; returns key, IV and texts of each."""
    results = []
    iv = None if mode == "ecb" else iv
    for _ in range(counts):
        yield Key(key)
        start, current, last, before = iv, iv, data, b""
        out = b""
        feed = data
        for step in range(ITERATIONS):
            before, out_before = out, feed
            out = yield Block(current, feed)
            current = next_chain(mode, encrypt, out_before, out)
            if mode == "ecb":
                feed = out
            else:  # AESAVS: the second input is the IV, then the output before last
                feed = start if step == 0 else before
        results.append((key, start or b"", last, out))
        both = before + out
        key = xor(key, both[len(both) - len(key) :])
        if mode == "ecb":
            data = out
        else:
            iv, data = out, before
    return results
