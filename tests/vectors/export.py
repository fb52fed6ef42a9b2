# SPDX-License-Identifier: Apache-2.0
"""Writes the published test vectors into one file, for maeslant/guest/card/card_vectors.c.

    python -m tests.vectors.export FILE ONE_OF

ONE_OF: one of so many CAVP vectors of each mode is taken, and all others, of which there are
few. Prints each mode's number of vectors, as JSON.
"""

import itertools
import json
import pathlib
import struct
import sys
from collections import Counter
from collections.abc import Iterator

from tests.vectors import authenticated, gcm, nist

MODES = ("ecb", "cbc", "cfb", "ofb", "ctr", "xts")
OUTCOMES = (authenticated.OPENS, authenticated.WRONG, authenticated.REFUSED)


def ciphers(mode: str) -> Iterator[authenticated.Vector]:
    """Yields the vectors of an unauthenticated mode whose lengths are whole bytes."""
    for path in nist.files(mode):
        for found in nist.parse(path):
            if found.bits % 8 == 0:
                yield authenticated.Vector(
                    path.stem,
                    mode,
                    encrypts=found.encrypt,
                    key=found.key,
                    nonce=found.iv,
                    plaintext=found.plaintext,
                    ciphertext=found.ciphertext,
                )


def every(one_of: int) -> Iterator[authenticated.Vector]:
    """Yields the vectors of all modes, of CAVP's one of so many."""
    for mode in MODES:
        yield from itertools.islice(ciphers(mode), 0, None, 1 if mode == "ctr" else one_of)
    for read, files in (
        (authenticated.gcm_file, gcm.files()),
        (authenticated.ccm_file, authenticated.ccm_files()),
    ):
        yield from itertools.islice(itertools.chain(*map(read, files)), 0, None, one_of)
    for mode in authenticated.WYCHEPROOF_FILES:
        yield from authenticated.wycheproof(mode)
    yield from authenticated.cmac()


def record(vector: authenticated.Vector) -> bytes:
    """Returns a vector as card_vectors reads it."""
    parts = (vector.key, vector.nonce, vector.aad, vector.plaintext, vector.ciphertext, vector.tag)
    outcome = OUTCOMES.index(vector.outcome)
    head = struct.pack("<4sBB2x", vector.mode.encode(), vector.encrypts, outcome)
    return head + struct.pack("<6I", *map(len, parts)) + b"".join(parts)


def main() -> None:
    """Writes the file and prints the numbers of vectors."""
    counts: Counter[str] = Counter()
    with pathlib.Path(sys.argv[1]).open("wb") as file:
        for vector in every(int(sys.argv[2])):
            file.write(record(vector))
            counts[vector.mode] += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
