# SPDX-License-Identifier: Apache-2.0
"""Wire formats of docs/protocol.md §3: bytes to values and back, without a key in sight."""

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
    """The first 16 bytes of a message; its AAD."""
    return HEADER.pack(VERSION, cls, queue, kind, epoch, sequence)


@dataclasses.dataclass(frozen=True)
class Operation:
    """One operation of a batch."""

    op: int
    log2_width: int = 0
    offset: int = 0
    data: int = 0
    zero: int = 0

    def pack(self) -> bytes:
        """As 16 bytes."""
        return OPERATION.pack(self.op, self.log2_width, self.zero, self.offset, self.data)

    @classmethod
    def unpack(cls, data: bytes) -> "Operation":
        """From 16 bytes; checks nothing."""
        op, log2_width, zero, offset, value = OPERATION.unpack(data)
        return cls(op, log2_width, offset, value, zero)


def read(offset: int, width: int = 4) -> Operation:
    """A READ of 4 or 8 bytes."""
    return Operation(Op.READ, width.bit_length() - 1, offset)


def write(offset: int, data: int, width: int = 4) -> Operation:
    """A WRITE of 4 or 8 bytes."""
    return Operation(Op.WRITE, width.bit_length() - 1, offset, data)


def wait(queue: int, sequence: int) -> Operation:
    """A WAIT for the answer to a request (H16)."""
    return Operation(Op.WAIT, 0, queue, sequence)


def operations(body: bytes) -> list[Operation]:
    """The operations of a batch's body."""
    return [Operation.unpack(body[at : at + 16]) for at in range(0, len(body), 16)]


def wait_runs(count: int) -> Operation:
    """A WAIT for so many runs of the kernel since the session's start (H16)."""
    return Operation(Op.WAIT, 0, KERNEL, count)


@dataclasses.dataclass(frozen=True)
class Transfer:
    """The body of H2D and D2H: one chunk and the transfer it belongs to."""

    address: int
    length: int
    index: int
    base: int
    total: int
    host: int
    after: int = 0
    tag: bytes = bytes(16)

    def pack(self) -> bytes:
        """As 64 bytes."""
        return TRANSFER.pack(*dataclasses.astuple(self))

    @classmethod
    def unpack(cls, data: bytes) -> "Transfer":
        """From 64 bytes; checks nothing."""
        return cls(*TRANSFER.unpack(data))

    @property
    def flags(self) -> Flag:
        """FIRST and LAST, as both ends compute them."""
        first = Flag.FIRST if self.index == 0 else Flag(0)
        last = self.address + self.length == self.base + self.total
        return first | (Flag.LAST if last else Flag(0))

    def aad(self, cls: Class, queue: int, epoch: int, sequence: int) -> bytes:
        """The 48 bytes that bind a chunk to its place (H4, H17)."""
        place = CHUNK.pack(self.address, self.length, self.index, self.base, self.total)
        return header(cls, queue, self.flags, epoch, sequence) + place

    def legal(self, memory_bytes: int, max_chunk: int) -> bool:
        """The RANGE check of docs/protocol.md §5."""
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
    """The body of a response."""

    status: int
    executed: int = 0
    value: int = 0
    data: bytes = b""
    zero: int = 0

    def pack(self) -> bytes:
        """Its bytes."""
        return RESPONSE.pack(self.status, self.executed, self.zero, self.value) + self.data

    @classmethod
    def unpack(cls, body: bytes) -> "Response":
        """From bytes; checks nothing."""
        status, executed, zero, value = RESPONSE.unpack_from(body)
        return cls(status, executed, value, body[RESPONSE.size :], zero)


def response_bytes(kind: int, body: bytes) -> int:
    """The length of the body that answers a request: it follows from the request alone."""
    if kind == Kind.BATCH:
        return 16 + 8 * sum(op.op == Op.READ for op in operations(body))
    return 32 if kind == Kind.D2H else 16


def blocks(count: int) -> int:
    """What a message or chunk of so many bytes costs of a key's budget (docs/protocol.md §9)."""
    return -(-count // 16) + 1
