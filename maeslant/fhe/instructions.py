# SPDX-License-Identifier: Apache-2.0
"""Encodes the instructions of the CKKS kernel (rtl/fhe/mae_fhe_pkg.sv), their order and clocks."""

import dataclasses
import enum
import struct

BYTES = 64
ENGINES = 3
CONSTANT = 0x80
ZERO = CONSTANT  # constant 0
HEAD = struct.Struct("<BBHI")
PART = struct.Struct("<BBBBBBxx")
ISSUE = 3  # clocks from one instruction to the next at least


class Op(enum.IntEnum):
    """The operation codes of kernel instructions."""

    END, PASS, TRANSFORM, LOAD, STORE, CONSTANTS, TABLE = range(7)


@dataclasses.dataclass(frozen=True)
class Part:
    """One engine's part of a pass (u + v w, u - v w, (v - u) w) or a transform (v to dst by u)."""

    active: bool = False
    gs: bool = False
    permute: bool = False
    minus: bool = False
    source: int = 0  # engine whose v is taken
    dst: int = 0
    u: int = ZERO
    v: int = ZERO
    w: int = ZERO

    def encode(self) -> bytes:
        """Packs one engine's part of an instruction into 8 bytes."""
        flags = self.active | self.gs << 1 | self.permute << 2 | self.minus << 3
        return PART.pack(flags, self.source, self.dst, self.u, self.v, self.w)


@dataclasses.dataclass(frozen=True)
class Instruction:
    """An instruction: a pass of all engines (parts), or a memory transfer of one engine's slot."""

    op: Op
    parts: tuple[Part, ...] = ()
    galois: int = 0
    engine: int = 0
    slot: int = 0
    address: int = 0
    montgomery: bool = False

    @property
    def moves(self) -> bool:
        """Returns true if the instruction is a memory transfer."""
        return self.op >= Op.LOAD

    @property
    def reads(self) -> set[tuple[int, int]]:
        """Returns the (engine, slot) pairs that an instruction reads."""
        if self.op == Op.STORE:
            return {(self.engine, self.slot)}
        operands = ((e, s) for e, p in enumerate(self.parts) for s in (p.u, p.v, p.w))
        return {(e, s) for e, s in operands if s < CONSTANT}

    @property
    def writes(self) -> set[tuple[int, int]]:
        """Returns the (engine, slot) pairs that an instruction writes."""
        if self.op == Op.LOAD:
            return {(self.engine, self.slot)}
        found = {(e, p.dst) for e, p in enumerate(self.parts) if p.active}
        if self.op == Op.TRANSFORM:
            found |= {(e, p.u) for e, p in enumerate(self.parts) if p.active}
        return found

    def conflicts(self, other: "Instruction") -> bool:
        """Returns true if two instructions must keep their order."""
        if Op.CONSTANTS in (self.op, other.op) or Op.TABLE in (self.op, other.op):
            return True
        return bool(
            self.writes & (other.reads | other.writes) or other.writes & (self.reads | self.writes)
        )

    def encode(self) -> bytes:
        """Packs a kernel instruction into 64 bytes."""
        field = self.engine | self.slot << 8 if self.moves else self.galois
        head = HEAD.pack(self.op, self.montgomery, field, self.address)
        return (head + b"".join(part.encode() for part in self.parts)).ljust(BYTES, b"\0")


def clocks(instruction: Instruction, log_n: int, lanes: int) -> int:
    """Estimates the clocks that the hardware takes for an instruction."""
    n, tail = 1 << log_n, 20
    if instruction.op == Op.CONSTANTS:
        return tail
    if instruction.moves:
        return n // 8 + tail
    return (log_n * n // 2 if instruction.op == Op.TRANSFORM else n) // lanes + tail


def interleave(program: list[Instruction], log_n: int, lanes: int = 16) -> list[Instruction]:
    """Orders transfers between passes so that memory and engines work at the same time.

    Of the next transfer and the next pass the one that can begin first goes first, if it conflicts
    with nothing before it in the program that has not begun.
    """
    queues = [[], []]
    for place, instruction in enumerate(program):
        queues[instruction.moves].append((place, instruction))
    heads, free, now = [0, 0], [0, 0], 0
    ends: list[tuple[Instruction, int]] = []  # of what has begun and may be under way
    result = []
    while any(heads[i] < len(queues[i]) for i in (0, 1)):
        options = []
        for i in (0, 1):
            if heads[i] == len(queues[i]):
                continue
            place, mine = queues[i][heads[i]]
            blocked = False
            for other_place, other in queues[1 - i][heads[1 - i] :]:
                if other_place > place:
                    break
                if other.conflicts(mine):
                    blocked = True
                    break
            if not blocked:
                ready = [end for other, end in ends if other.conflicts(mine)]
                options.append((max([now, free[i], *ready]), place, i))
        start, _, i = min(options)
        chosen = queues[i][heads[i]][1]
        heads[i] += 1
        now = start + ISSUE
        free[i] = start + clocks(chosen, log_n, lanes)
        ends = [(other, end) for other, end in ends if end > now] + [(chosen, free[i])]
        result.append(chosen)
    return result
