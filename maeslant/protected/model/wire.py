# SPDX-License-Identifier: Apache-2.0
"""Packs and unpacks the messages of the protected channel (docs/protocol.md §3)."""

import dataclasses
import struct

from maeslant.protected.model.constants import GRANULE, KERNEL, VERSION, Class, Flag, Kind, Op

HEADER = struct.Struct(">BBBBIQ")
OPERATION = struct.Struct(">BBHIQ")
CHUNK = struct.Struct(">QIIQQ")  # behind the header in the AAD, in front of the rest in the body
TRANSFER = struct.Struct(">QIIQQQQ16s")
RESPONSE = struct.Struct(">HHIQ")
KIND_OFFSET = 3


def header(cls: int, queue: int, kind: int, epoch: int, sequence: int) -> bytes:
    """Returns the 16-byte header of a protected message, which is also the message's AAD."""
    return HEADER.pack(VERSION, cls, queue, kind, epoch, sequence)


@dataclasses.dataclass(frozen=True)
class Operation:
    """Describes one operation of a BATCH request: read or write a register, or wait."""

    op: int
    log2_width: int = 0
    offset: int = 0
    data: int = 0
    zero: int = 0

    def pack(self) -> bytes:
        """Returns an operation of a BATCH request, packed into 16 bytes."""
        return OPERATION.pack(self.op, self.log2_width, self.zero, self.offset, self.data)

    @classmethod
    def unpack(cls, data: bytes) -> "Operation":
        """Returns an operation of a BATCH request, unpacked from 16 bytes without checks."""
        op, log2_width, zero, offset, value = OPERATION.unpack(data)
        return cls(op, log2_width, offset, value, zero)


def read(offset: int, width: int = 4) -> Operation:
    """Returns the BATCH operation that reads a protected register of 4 or 8 bytes."""
    return Operation(Op.READ, width.bit_length() - 1, offset)


def write(offset: int, data: int, width: int = 4) -> Operation:
    """Returns the BATCH operation that writes a protected register of 4 or 8 bytes."""
    return Operation(Op.WRITE, width.bit_length() - 1, offset, data)


def wait(queue: int, sequence: int) -> Operation:
    """Returns the BATCH operation that waits for the response to another request (H16)."""
    return Operation(Op.WAIT, 0, queue, sequence)


def operations(body: bytes) -> list[Operation]:
    """Returns all operations in a BATCH request's body."""
    return [Operation.unpack(body[at : at + 16]) for at in range(0, len(body), 16)]


def wait_runs(count: int) -> Operation:
    """Returns the BATCH operation that waits for a number of kernel runs (H16)."""
    return Operation(Op.WAIT, 0, KERNEL, count)


@dataclasses.dataclass(frozen=True)
class Transfer:
    """Describes the body of an H2D or D2H request: one chunk and its transfer."""

    address: int
    length: int
    index: int
    base: int
    total: int
    host: int
    after: int = 0
    tag: bytes = bytes(16)

    def pack(self) -> bytes:
        """Returns the body of an H2D or D2H request, packed into 64 bytes."""
        return TRANSFER.pack(*dataclasses.astuple(self))

    @classmethod
    def unpack(cls, data: bytes) -> "Transfer":
        """Returns the body of an H2D or D2H request, unpacked from 64 bytes without checks."""
        return cls(*TRANSFER.unpack(data))

    @property
    def flags(self) -> Flag:
        """Returns the chunk's flags FIRST and LAST, from its place in the transfer."""
        first = Flag.FIRST if self.index == 0 else Flag(0)
        last = self.address + self.length == self.base + self.total
        return first | (Flag.LAST if last else Flag(0))

    def aad(self, cls: Class, queue: int, epoch: int, sequence: int) -> bytes:
        """Returns the 48-byte AAD that binds a chunk to its place in the transfer (H4, H17)."""
        place = CHUNK.pack(self.address, self.length, self.index, self.base, self.total)
        return header(cls, queue, self.flags, epoch, sequence) + place

    def legal(self, memory_bytes: int, max_chunk: int) -> bool:
        """Returns true if the chunk's addresses and lengths are legal (docs/protocol.md §5)."""
        end = self.address + self.length
        return (
            1 <= self.length <= max_chunk
            and self.total >= 1
            and self.base + self.total <= memory_bytes
            and not (self.base % GRANULE or self.address % GRANULE or self.host % GRANULE)
            and self.base <= self.address
            and end <= self.base + self.total
            and (self.length % GRANULE == 0 or end == self.base + self.total)
            and self.host + self.length <= 1 << 64
            and (self.index == 0) == (self.address == self.base)
        )


@dataclasses.dataclass(frozen=True)
class Response:
    """Describes the body of the card's response to a request."""

    status: int
    executed: int = 0
    value: int = 0
    data: bytes = b""
    zero: int = 0

    def pack(self) -> bytes:
        """Returns the body of the card's response, packed into bytes."""
        return RESPONSE.pack(self.status, self.executed, self.zero, self.value) + self.data

    @classmethod
    def unpack(cls, body: bytes) -> "Response":
        """Returns the body of the card's response, unpacked from bytes without checks."""
        status, executed, zero, value = RESPONSE.unpack_from(body)
        return cls(status, executed, value, body[RESPONSE.size :], zero)


def response_bytes(kind: int, body: bytes) -> int:
    """Returns the length of the body of a request's response, from the request alone."""
    if kind == Kind.BATCH:
        return 16 + 8 * sum(op.op == Op.READ for op in operations(body))
    return 32 if kind == Kind.D2H else 16


def blocks(count: int) -> int:
    """Returns the AES blocks that ``count`` bytes use up of a key's limit (docs/protocol.md §9)."""
    return -(-count // 16) + 1
