# SPDX-License-Identifier: Apache-2.0
"""Tests the file of test vectors that a Linux guest reads."""

import struct
from collections import Counter

from tests.vectors import authenticated, export


def test_counts() -> None:
    """The file has every published vector whose lengths are whole bytes."""
    counts = Counter(vector.mode for vector in export.every(1))
    ciphers = {"ecb": 2138, "cbc": 2138, "cfb": 2138, "ofb": 2138, "ctr": 9, "xts": 2800}
    # CAVP's and Wycheproof's; of CMAC those of SP 800-38B and Wycheproof's.
    assert counts == ciphers | {"gcm": 47250 + 316, "ccm": 2880 + 552, "cmac": 12 + 311}


def test_record() -> None:
    """A record has mode, direction, outcome and the lengths before the bytes."""
    vector = authenticated.Vector(
        "one", "gcm", authenticated.REFUSED, False, b"k", b"nn", b"aaa", b"", b"cc", b"t"
    )
    record = export.record(vector)
    assert struct.unpack_from("<4sBB2x6I", record) == (b"gcm\0", 0, 2, 1, 2, 3, 0, 2, 1)
    assert record[32:] == b"knnaaacct"
