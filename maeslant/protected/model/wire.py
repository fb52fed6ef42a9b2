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
    """Returns the 16-byte header of an encrypted message, which also serves as AAD."""
    return HEADER.pack(VERSION, cls, queue, kind, epoch, sequence)


@dataclasses.dataclass(frozen=True)
class Operation:
    """Describes an operation of a BATCH request: register read, register write or wait."""

    op: int
    log2_width: int = 0
    offset: int = 0
    data: int = 0
    zero: int = 0

    def pack(self) -> bytes:
        """Encodes an operation of a BATCH request into 16 bytes."""
        return OPERATION.pack(self.op, self.log2_width, self.zero, self.offset, self.data)

    @classmethod
    def unpack(cls, data: bytes) -> "Operation":
        """Decodes an operation of a BATCH request from 16 bytes without checks."""
        op, log2_width, zero, offset, value = OPERATION.unpack(data)
        return cls(op, log2_width, offset, value, zero)


def read(offset: int, width: int = 4) -> Operation:
    """Returns the BATCH operation that reads a protected register of 4 or 8 bytes."""
    return Operation(Op.READ, width.bit_length() - 1, offset)


def write(offset: int, data: int, width: int = 4) -> Operation:
    """Returns the BATCH operation that writes a protected register of 4 or 8 bytes."""
    return Operation(Op.WRITE, width.bit_length() - 1, offset, data)


def wait(queue: int, sequence: int) -> Operation:
    """Returns the BATCH operation that waits for another request's response (H16)."""
    return Operation(Op.WAIT, 0, queue, sequence)


def operations(body: bytes) -> list[Operation]:
    """Decodes all operations in the body of a BATCH request."""
    return [Operation.unpack(body[at : at + 16]) for at in range(0, len(body), 16)]


def wait_runs(count: int) -> Operation:
    """Returns the BATCH operation that waits until a number of kernel runs have ended (H16)."""
    return Operation(Op.WAIT, 0, KERNEL, count)


@dataclasses.dataclass(frozen=True)
class Transfer:
    """Describes the body of a DMA request (H2D or D2H): a chunk and the chunk's transfer."""

    address: int
    length: int
    index: int
    base: int
    total: int
    host: int
    after: int = 0
    tag: bytes = bytes(16)

    def pack(self) -> bytes:
        """Encodes the body of a DMA request (H2D or D2H) into 64 bytes."""
        return TRANSFER.pack(*dataclasses.astuple(self))

    @classmethod
    def unpack(cls, data: bytes) -> "Transfer":
        """Decodes the body of a DMA request (H2D or D2H) from 64 bytes without checks."""
        return cls(*TRANSFER.unpack(data))

    @property
    def flags(self) -> Flag:
        """Returns the DMA chunk's flags FIRST and LAST, by the chunk's position in the transfer."""
        first = Flag.FIRST if self.index == 0 else Flag(0)
        last = self.address + self.length == self.base + self.total
        return first | (Flag.LAST if last else Flag(0))

    def aad(self, cls: Class, queue: int, epoch: int, sequence: int) -> bytes:
        """Returns the 48-byte AAD that binds a DMA chunk to its position in a transfer (H4)."""
        place = CHUNK.pack(self.address, self.length, self.index, self.base, self.total)
        return header(cls, queue, self.flags, epoch, sequence) + place

    def legal(self, memory_bytes: int, max_chunk: int) -> bool:
        """Returns true if the DMA chunk's addresses and lengths are legal (docs/protocol.md §5)."""
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
    """Describes the body of the card's response to a request on the encrypted channel."""

    status: int
    executed: int = 0
    value: int = 0
    data: bytes = b""
    zero: int = 0

    def pack(self) -> bytes:
        """Encodes the body of the card's response into bytes."""
        return RESPONSE.pack(self.status, self.executed, self.zero, self.value) + self.data

    @classmethod
    def unpack(cls, body: bytes) -> "Response":
        """Decodes the body of the card's response from bytes without checks."""
        status, executed, zero, value = RESPONSE.unpack_from(body)
        return cls(status, executed, value, body[RESPONSE.size :], zero)


def response_bytes(kind: int, body: bytes) -> int:
    """Returns the length in bytes of the response's body, computed from the request."""
    if kind == Kind.BATCH:
        return 16 + 8 * sum(op.op == Op.READ for op in operations(body))
    return 32 if kind == Kind.D2H else 16


def blocks(count: int) -> int:
    """Returns the AES blocks that ``count`` bytes count against a key's limit (protocol.md §9)."""
    return -(-count // 16) + 1
