# SPDX-License-Identifier: Apache-2.0
"""Encodes mae_dma's descriptors, completions, lists and control ports for tests."""

import dataclasses
import enum
import os
import random
import struct

DESC_BYTES = 64
COMPLETION_BYTES = 32
ENTRY_BYTES = 16
SEGMENT_END = 4096  # segments end at its multiples at the latest


class Status(enum.IntEnum):
    """Lists the status numbers of a DMA completion (status_e of mae_dma_pkg)."""

    OK = 0
    DESC_FETCH = 1
    BAD_OP = 2
    BAD_CONTEXT = 3
    BAD_LENGTH = 4
    BAD_KEY = 5
    LIST_FETCH = 6
    READ_SLVERR = 7
    READ_DECERR = 8
    WRITE_SLVERR = 9
    WRITE_DECERR = 10
    ABORTED = 11
    BAD_TAG = 12
    KEY_RECORD = 13


INIT, SRC_LIST, DST_LIST, IRQ, FINAL, RECORD = 2, 4, 8, 16, 32, 64  # flags


@dataclasses.dataclass
class Desc:
    """Holds the fields of a descriptor in mae_dma's submission ring."""

    cookie: int
    context: int
    src: int
    dst: int
    length: int
    op: int = 0
    flags: int = 0
    key_slot: int = 0
    tweak_slot: int = 0
    src_entries: int = 0
    dst_entries: int = 0
    iv: bytes = bytes(16)
    phase: int = 0
    tag_bytes: int = 0
    nonce: bytes = bytes(12)
    record_high: int = 0

    def pack(self) -> bytes:
        """Packs the descriptor into the 64 bytes that mae_dma reads."""
        return struct.pack(
            "<IBBBBIBBBBQQHH12s16s",
            self.cookie,
            self.op,
            self.flags,
            self.context,
            self.key_slot,
            self.length,
            self.tweak_slot,
            self.phase,
            self.tag_bytes,
            self.record_high,
            self.src,
            self.dst,
            self.src_entries,
            self.dst_entries,
            self.nonce,
            self.iv,
        )

    @classmethod
    def unpack(cls, data: bytes) -> "Desc":
        """Unpacks a descriptor from its 64 bytes."""
        names = (
            "cookie op flags context key_slot length tweak_slot phase tag_bytes record_high src "
            "dst src_entries dst_entries nonce iv"
        )
        values = struct.unpack("<IBBBBIBBBBQQHH12s16s", data)
        return cls(**dict(zip(names.split(), values, strict=True)))


@dataclasses.dataclass(frozen=True)
class Completion:
    """Holds the fields of an entry in mae_dma's completion ring."""

    cookie: int
    status: Status
    context: int
    index: int
    bytes: int
    phase: int
    tag: bytes = bytes(16)

    @classmethod
    def unpack(cls, data: bytes) -> "Completion":
        """Unpacks a completion from the 32 bytes that mae_dma writes."""
        tag, cookie, status, context, index, count, phase = struct.unpack("<16sIBBHII", data)
        return cls(cookie, Status(status), context, index, count, phase, tag)


def written(data: bytes) -> int:
    """Returns the phase field of a completion's 32 bytes; it is 0 before the first write."""
    return int.from_bytes(data[28:32], "little")


def entry(addr: int, length: int, reserved: int = 0) -> bytes:
    """Packs address and length into a 16-byte entry of a scatter-gather list."""
    return struct.pack("<QII", addr, length, reserved)


def pack_fields(fields: list[tuple[int, int]]) -> int:
    """Packs (value, width) pairs into a packed SystemVerilog struct, the first in the top bits."""
    word = 0
    for value, width in fields:
        assert 0 <= value < 1 << width
        word = word << width | value
    return word


@dataclasses.dataclass
class Ctrl:
    """Holds the fields of mae_dma's control input (dma_ctrl_t)."""

    enable: int = 0
    abort: int = 0
    irq_enable: int = 1
    sub_base: int = 0
    sub_log2: int = 0
    sub_tail: int = 0
    comp_base: int = 0
    comp_log2: int = 0
    comp_head: int = 0

    def pack(self) -> int:
        """Packs the control fields into the bits of dma_ctrl_t."""
        widths = (1, 1, 1, 64, 4, 16, 64, 4, 16)
        return pack_fields(list(zip(dataclasses.astuple(self), widths, strict=True)))


@dataclasses.dataclass(frozen=True)
class DmaStatus:
    """Holds the fields of mae_dma's status output (dma_status_t)."""

    sub_head: int
    comp_tail: int
    jobs: int
    busy: int
    halted: int
    ring_error: int
    irq_pending: int

    @classmethod
    def unpack(cls, word: int) -> "DmaStatus":
        """Unpacks the status fields from the bits of dma_status_t."""
        values = []
        for width in (1, 1, 1, 1, 9, 16, 16):
            values.append(word & (1 << width) - 1)
            word >>= width
        return cls(*reversed(values))


def run_seed(seed: int) -> int:
    """Returns a random seed for a test, which MAESLANT_SEED changes."""
    return seed + 1000 * (int(os.environ.get("MAESLANT_SEED", "1")) - 1)


def split(rng: random.Random, total: int, parts: int, empty: bool = True) -> list[int]:
    """Splits a length at random into a number of parts, some of them empty."""
    cuts = sorted(rng.randrange(total + 1) for _ in range(parts - 1))
    lengths = [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
    if not empty:
        lengths = [n for n in lengths if n]
    return lengths
