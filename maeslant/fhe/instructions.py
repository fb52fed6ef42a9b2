# SPDX-License-Identifier: Apache-2.0
"""Encodes instructions of the CKKS kernel and orders them for parallel execution."""

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
LANES = 32  # butterflies a clock in each engine of the builds (mae_kernel_fhe)


class Op(enum.IntEnum):
    """Numbers the operations of CKKS kernel instructions."""

    END, PASS, TRANSFORM, LOAD, STORE, CONSTANTS, TABLE = range(7)


@dataclasses.dataclass(frozen=True)
class Part:
    """Describes what one engine of the CKKS kernel does in an instruction."""

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
        """Returns one engine's part of a CKKS kernel instruction, packed into 8 bytes."""
        flags = self.active | self.gs << 1 | self.permute << 2 | self.minus << 3
        return PART.pack(flags, self.source, self.dst, self.u, self.v, self.w)


@dataclasses.dataclass(frozen=True)
class Instruction:
    """Describes an instruction of the CKKS kernel: computation or memory transfer."""

    op: Op
    parts: tuple[Part, ...] = ()
    galois: int = 0
    engine: int = 0
    slot: int = 0
    address: int = 0
    montgomery: bool = False

    @property
    def moves(self) -> bool:
        """Returns true if the CKKS kernel instruction is a memory transfer."""
        return self.op >= Op.LOAD

    @property
    def reads(self) -> set[tuple[int, int]]:
        """Returns the (engine, slot) pairs that the CKKS kernel instruction reads."""
        if self.op == Op.STORE:
            return {(self.engine, self.slot)}
        operands = ((e, s) for e, p in enumerate(self.parts) for s in (p.u, p.v, p.w))
        return {(e, s) for e, s in operands if s < CONSTANT}

    @property
    def writes(self) -> set[tuple[int, int]]:
        """Returns the (engine, slot) pairs that the CKKS kernel instruction writes."""
        if self.op == Op.LOAD:
            return {(self.engine, self.slot)}
        found = {(e, p.dst) for e, p in enumerate(self.parts) if p.active}
        if self.op == Op.TRANSFORM:
            found |= {(e, p.u) for e, p in enumerate(self.parts) if p.active}
        return found

    def conflicts(self, other: "Instruction") -> bool:
        """Returns true if this CKKS kernel instruction and another one must keep their order."""
        if Op.CONSTANTS in (self.op, other.op) or Op.TABLE in (self.op, other.op):
            return True
        return bool(
            self.writes & (other.reads | other.writes) or other.writes & (self.reads | self.writes)
        )

    def encode(self) -> bytes:
        """Returns a CKKS kernel instruction, packed into 64 bytes."""
        field = self.engine | self.slot << 8 if self.moves else self.galois
        head = HEAD.pack(self.op, self.montgomery, field, self.address)
        return (head + b"".join(part.encode() for part in self.parts)).ljust(BYTES, b"\0")


def clocks(instruction: Instruction, log_n: int, lanes: int) -> int:
    """Returns the estimated clocks that the CKKS kernel takes for an instruction."""
    n, tail = 1 << log_n, 20
    if instruction.op == Op.CONSTANTS:
        return tail
    if instruction.moves:
        return n // 8 + tail
    return (log_n * n // 2 if instruction.op == Op.TRANSFORM else n) // lanes + tail


def _followers(program: list[Instruction]) -> list[set[int]]:
    """Returns, for each CKKS kernel instruction, the later instructions that must wait for it."""
    found: list[set[int]] = [set() for _ in program]
    wrote: dict[tuple[int, int], int] = {}
    read: dict[tuple[int, int], list[int]] = {}
    fixed: set[int] = set()  # the last constants or table, which all others wait for
    for place, instruction in enumerate(program):
        earlier = set(fixed)
        if instruction.op in (Op.CONSTANTS, Op.TABLE):
            earlier, fixed = set(range(place)), {place}
        for slot in instruction.reads:
            earlier |= {wrote[slot]} if slot in wrote else set()
            read.setdefault(slot, []).append(place)
        for slot in instruction.writes:
            earlier |= {wrote[slot]} if slot in wrote else set()
            earlier |= set(read.pop(slot, ()))
            wrote[slot] = place
        for other in earlier - {place}:  # an instruction may read and write one slot
            found[other].add(place)
    return found


def _joined(one: Instruction, other: Instruction) -> Instruction | None:
    """Returns two CKKS kernel instructions joined to one; None if they share an engine."""
    if one.op != other.op or one.moves or (one.galois and other.galois):
        return None
    parts = []
    for p, q in zip(one.parts, other.parts, strict=True):
        p, q = (p, q) if p.active else (q, p)
        # An engine that only gives its v to others may use it itself.
        if q != Part() and (q.active or q.v != p.v):
            return None
        parts.append(p)
    return Instruction(one.op, tuple(parts), galois=one.galois or other.galois)


def schedule(program: list[Instruction], log_n: int, lanes: int = LANES) -> list[Instruction]:
    """Returns CKKS kernel instructions in an order in which memory and engines work in parallel.

    Passes or transforms of different engines that can begin together become one instruction. Of
    those that can begin soonest, the one goes first that wastes the fewest clocks of idle engines,
    then the one with the longest way to the program's end (list scheduling). Instructions that
    share a slot keep their order.
    """
    lengths = [clocks(instruction, log_n, lanes) for instruction in program]
    followers = _followers(program)
    way, awaited = list(lengths), [0] * len(program)
    for place in reversed(range(len(program))):
        way[place] += max((way[later] for later in followers[place]), default=0)
        for later in followers[place]:
            awaited[later] += 1
    earliest = [0] * len(program)  # when all that an instruction waits for has ended
    ready = {place for place, count in enumerate(awaited) if not count}
    now, free = 0, [0, 0]  # of the engines, of memory
    order = []
    while ready:
        begin = {p: max(now, free[program[p].moves], earliest[p]) for p in ready}
        start = min(begin.values())
        soonest = sorted((p for p in ready if begin[p] == start), key=lambda p: (-way[p], p))
        options = (_join(program, place, soonest) for place in soonest)
        chosen, places = min(options, key=lambda option: _idle(option[0], log_n, lanes))
        now, end = start + ISSUE, start + lengths[places[0]]
        free[chosen.moves] = end
        for place in places:
            ready.remove(place)
            for later in followers[place]:
                awaited[later] -= 1
                earliest[later] = max(earliest[later], end)
                if not awaited[later]:
                    ready.add(later)
        order.append(chosen)
    return order


def _join(
    program: list[Instruction], first: int, others: list[int]
) -> tuple[Instruction, list[int]]:
    """Joins a CKKS kernel instruction with later ones; returns it and the joined ones' indices."""
    chosen, places = program[first], [first]
    for place in others:
        whole = None if place == first else _joined(chosen, program[place])
        if whole:
            chosen, places = whole, [*places, place]
    return chosen, places


def _idle(instruction: Instruction, log_n: int, lanes: int) -> int:
    """Returns the clocks in which engines of the CKKS kernel idle during an instruction."""
    engines = ENGINES - sum(part.active for part in instruction.parts)
    return 0 if instruction.moves else engines * clocks(instruction, log_n, lanes)
