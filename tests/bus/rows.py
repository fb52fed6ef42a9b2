# SPDX-License-Identifier: Apache-2.0
"""Converts bytes into rows of 128-bit blocks, the data format of the cipher modes (rtl/mode)."""


def rows(frame: bytes, lanes: int) -> list[tuple[int, int, int]]:
    """Returns the bytes of a frame as rows of blocks: (data, number of bytes, last row).

    Byte 0 of a block is in its bits 127:120.
    """
    size = 16 * lanes
    found = []
    for start in range(0, len(frame), size):
        part = frame[start : start + size]
        whole = part.ljust(size, b"\0")
        data = sum(
            int.from_bytes(whole[16 * i : 16 * i + 16], "big") << 128 * i for i in range(lanes)
        )
        found.append((data, len(part), int(start + size >= len(frame))))
    return found
