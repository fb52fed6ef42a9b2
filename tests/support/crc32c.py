# SPDX-License-Identifier: Apache-2.0
"""Computes CRC-32C a bit at a time, as the reference of tests (RFC 3720 §12.1)."""

# RFC 3720 §B.4: data, and the CRC as the number whose bytes are printed there, lowest first.
READ_COMMAND = bytes.fromhex(
    "01c00000000000000000000000000000140000000000040000000014000000182800000000000000"
    "0200000000000000"
)
VECTORS = (
    (bytes(32), "aa36918a"),
    (b"\xff" * 32, "43aba862"),
    (bytes(range(32)), "4e79dd46"),
    (bytes(range(31, -1, -1)), "5cdb3f11"),
    (READ_COMMAND, "563a96d9"),
)


def crc32c(data: bytes) -> int:
    """Returns the CRC-32C of some bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
