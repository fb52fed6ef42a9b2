# SPDX-License-Identifier: Apache-2.0
"""Writes programs of the CKKS kernel that perform SEAL's operations.

A polynomial (Poly) stands in one slot of each engine of its level's primes. Operations give new
polynomials; `free` gives slots back. The order of SEAL's own steps is kept wherever rounding
happens, so that results are its bytes.
"""

import collections

from maeslant.errors import MaeslantError
from maeslant.fhe import instructions, sets
from maeslant.fhe.instructions import CONSTANT, ENGINES, ZERO, Instruction, Op, Part
from maeslant.fhe.sets import SPECIAL, ParameterSet

SLOTS = (32, 32, 8)  # of the engines
ONE = CONSTANT | sets.ONE

Poly = dict[int, int]  # engine to slot


class Program:
    """Collects a program's instructions for the CKKS kernel and allocates polynomial slots."""

    def __init__(self, params: ParameterSet) -> None:
        self.params = params
        self.list: list[Instruction] = []
        # The slot that was freed first is taken first: loads then find their slot idle.
        self.idle = [collections.deque(range(count)) for count in SLOTS]

    # Slots.

    def new(self, engines: collections.abc.Iterable[int]) -> Poly:
        """Allocates a free slot for a polynomial in each of some engines; returns the slots."""
        found = {}
        for engine in engines:
            if not self.idle[engine]:
                raise MaeslantError("the program needs more slots than the kernel has")
            found[engine] = self.idle[engine].popleft()
        return found

    def free(self, *polys: Poly) -> None:
        """Frees the slots of polynomials for reuse by the CKKS program."""
        for poly in polys:
            for engine, slot in poly.items():
                self.idle[engine].append(slot)

    # Memory.

    def setup(self, address: int) -> None:
        """Adds to the CKKS program the loading of the kernel's constants and twiddle factors."""
        for engine in range(ENGINES):
            self.list.append(Instruction(Op.CONSTANTS, engine=engine, address=address))
            table = Instruction(Op.TABLE, engine=engine, address=address + instructions.BYTES)
            self.list.append(table)
            address += instructions.BYTES + self.params.poly_bytes

    def load(
        self,
        address: int,
        level: int,
        montgomery: bool = False,
        engines: collections.abc.Iterable[int] | None = None,
    ) -> Poly:
        """Adds to the CKKS program a polynomial's loading from device memory; returns its slots."""
        poly = self.new(range(level) if engines is None else engines)
        for engine, slot in poly.items():
            at = address + engine * self.params.poly_bytes
            self.list.append(
                Instruction(Op.LOAD, engine=engine, slot=slot, address=at, montgomery=montgomery)
            )
        return poly

    def store(self, poly: Poly, address: int) -> None:
        """Adds to the CKKS program the storing of a polynomial from slots to device memory."""
        for engine, slot in poly.items():
            at = address + engine * self.params.poly_bytes
            self.list.append(Instruction(Op.STORE, engine=engine, slot=slot, address=at))

    # Passes.

    def run_pass(self, parts: dict[int, Part], galois: int = 0) -> None:
        """Adds to the CKKS program an instruction in which each engine combines its polynomials."""
        every = tuple(parts.get(engine, Part()) for engine in range(ENGINES))
        self.list.append(Instruction(Op.PASS, every, galois=galois))

    def combine(
        self,
        u: Poly | int,
        v: Poly,
        w: Poly | int = ONE,
        into: Poly | None = None,
        galois: int = 0,
        **flags: bool,
    ) -> Poly:
        """Adds to the CKKS program u + v w for a polynomial v; returns the slots of the result."""
        dst = self.new(v) if into is None else into

        def operand(given: Poly | int, engine: int) -> int:
            return given if isinstance(given, int) else given[engine]

        parts = {
            e: Part(
                active=True,
                permute=bool(galois),
                source=e,
                dst=dst[e],
                u=operand(u, e),
                v=v[e],
                w=operand(w, e),
                **flags,
            )
            for e in v
        }
        self.run_pass(parts, galois)
        return dst

    def transform(self, forward: Poly | None = None, inverse: Poly | None = None) -> None:
        """Adds to the CKKS program in-place NTTs of some polynomials, inverse NTTs of others."""
        parts, spare = {}, {}
        for poly, gs in ((forward or {}, False), (inverse or {}, True)):
            for engine, slot in poly.items():
                other = self.new([engine])[engine]
                # The result must not begin in the slot that is read.
                dst, by = (slot, other) if self.params.log_n % 2 == 0 else (other, slot)
                parts[engine] = Part(True, gs, source=engine, dst=dst, u=by, v=slot)
                poly[engine] = dst
                spare[engine] = by
        every = tuple(parts.get(engine, Part()) for engine in range(ENGINES))
        self.list.append(Instruction(Op.TRANSFORM, every))
        self.free(spare)

    def transform_copy(self, poly: Poly) -> Poly:
        """Adds to the CKKS program the inverse NTT of a polynomial into new slots; returns them."""
        result, by = self.new(poly), self.new(poly)
        parts = {e: Part(True, True, source=e, dst=result[e], u=by[e], v=poly[e]) for e in poly}
        every = tuple(parts.get(engine, Part()) for engine in range(ENGINES))
        self.list.append(Instruction(Op.TRANSFORM, every))
        self.free(by)
        return result

    # SEAL's operations.

    def add(self, a: Poly, b: Poly, into: Poly | None = None) -> Poly:
        """Adds to the CKKS program the sum of two polynomials; returns its slots."""
        return self.combine(a, b, ONE, into)

    def subtract(self, a: Poly, b: Poly, into: Poly | None = None) -> Poly:
        """Adds to the CKKS program the difference of two polynomials; returns its slots."""
        return self.combine(a, b, ONE, into, minus=True)

    def multiply(self, a: Poly, montgomery: Poly, plus: Poly | int = ZERO) -> Poly:
        """Adds to the CKKS program a b + plus, with b in Montgomery form; returns its slots."""
        return self.combine(plus, a, montgomery, None if isinstance(plus, int) else plus)

    def to_montgomery(self, a: Poly) -> Poly:
        """Adds to the CKKS program a conversion to Montgomery form; returns the result's slots."""
        return self.combine(ZERO, a, CONSTANT | sets.SQUARE)

    def permute(self, a: Poly, galois: int, factor: int = ONE) -> Poly:
        """Adds to the CKKS program an automorphism of a polynomial; returns the result's slots."""
        return self.combine(ZERO, a, factor, galois=galois)

    def scale_up(self, a: Poly) -> Poly:
        """Adds to the CKKS program a polynomial times the special prime P; returns its slots."""
        return self.combine(ZERO, a, CONSTANT | sets.TIMES_SPECIAL)

    def switch_key(self, c: Poly, key: int, plus: list[Poly | None]) -> list[Poly]:
        """Adds to the CKKS program a polynomial's switch to another key; returns two polynomials.

        `plus` is added before the division, so it is a multiple of P; it and c are used up.
        """
        level, size = len(c), self.params.poly_bytes
        data, every = list(range(level)), [*range(level), SPECIAL]
        digits = self.transform_copy(c)

        # Every digit modulo every other prime.
        lifted = [{j: c[j]} for j in data]
        for j in data:
            for e in every:
                if e != j:
                    lifted[j] |= self.new([e])
                    own = digits.get(e, ZERO)
                    part = Part(True, source=j, dst=lifted[j][e], v=own, w=ONE)
                    self.run_pass({e: part, j: Part(v=digits[j], source=j)})
        self.free(digits)
        for j in data:
            for e in every:
                if e != j:
                    alone = {e: lifted[j][e]}
                    self.transform(forward=alone)
                    lifted[j] |= alone

        sums: list[Poly] = [dict(p) if p else {} for p in plus]
        for k in (1, 0):  # c1 first: the next rotation begins with it
            for j in data:
                found = self.load(key + (j * 2 + k) * ENGINES * size, level, True, every)
                start = {e: sums[k].get(e, ZERO) for e in every}
                sums[k] |= self.new(e for e in every if e not in sums[k])
                parts = {
                    e: Part(True, source=e, dst=sums[k][e], u=start[e], v=lifted[j][e], w=found[e])
                    for e in every
                }
                self.run_pass(parts)
                self.free(found)
        self.free(*lifted)
        return self._divide(sums, SPECIAL, data)

    def _divide(self, sums: list[Poly], last: int, data: list[int]) -> list[Poly]:
        """Adds to the CKKS program divisions of polynomials by a prime, rounded; returns slots."""
        over, half = sets.OVER_SPECIAL, sets.HALF_SPECIAL
        if last != SPECIAL:
            over, half = sets.OVER_LAST, sets.HALF_LAST
        over, half = CONSTANT | over, CONSTANT | half
        results = []
        for total in reversed(sums):
            top = {last: total[last]}
            self.transform(inverse=top)
            rounded = Part(True, source=last, dst=top[last], u=half, v=top[last], w=ONE)
            self.run_pass({last: rounded})
            rest = self.new(data)
            parts = {e: Part(True, source=last, dst=rest[e], u=half, w=ONE) for e in data}
            self.run_pass(parts | {last: Part(v=top[last], source=last)})
            self.free(top)
            self.transform(forward=rest)
            results.append(self._finish(total, rest, over))
        return results[::-1]

    def _finish(self, total: Poly, rest: Poly, over: int) -> Poly:
        """Adds to the CKKS program (total - rest) / prime of polynomials; returns its slots."""
        here = {e: total[e] for e in rest}
        result = self.combine(rest, here, over, into=here, gs=True)
        self.free(rest)
        return result

    def rotate(self, c: list[Poly], galois: int, key: int) -> list[Poly]:
        """Adds to the CKKS program an automorphism of a ciphertext; returns the result's slots."""
        base = self.permute(c[0], galois, CONSTANT | sets.TIMES_SPECIAL)
        return self.switch_key(self.permute(c[1], galois), key, [base, None])

    def relinearize(self, c: list[Poly], key: int) -> list[Poly]:
        """Adds to the CKKS program a ciphertext's reduction from three polynomials to two."""
        plus = [self.scale_up(poly) for poly in c[:2]]
        return self.switch_key(self.combine(ZERO, c[2]), key, plus)

    def rescale(self, c: list[Poly]) -> list[Poly]:
        """Adds to the CKKS program the division of a ciphertext by its last data prime."""
        last = len(c[0]) - 1
        copies = [self.combine(ZERO, poly) for poly in c]
        return self._divide(copies, last, list(range(last)))

    def encode(self) -> bytes:
        """Returns the CKKS program's scheduled instructions as bytes for device memory."""
        order = instructions.schedule(self.list, self.params.log_n)
        end = Instruction(Op.END)
        return b"".join(instruction.encode() for instruction in [*order, end])
