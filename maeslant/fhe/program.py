# SPDX-License-Identifier: Apache-2.0
"""Writes programs of the CKKS kernel: SEAL's operations as passes and transforms over slots.

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
    """A list of instructions under construction, with the owners of all slots."""

    def __init__(self, params: ParameterSet) -> None:
        self.params = params
        self.list: list[Instruction] = []
        # The slot that was freed first is taken first: loads then find their slot idle.
        self.idle = [collections.deque(range(count)) for count in SLOTS]

    # Slots.

    def new(self, engines: collections.abc.Iterable[int]) -> Poly:
        """Allocates a polynomial slot in each of some engines."""
        found = {}
        for engine in engines:
            if not self.idle[engine]:
                raise MaeslantError("the program needs more slots than the kernel has")
            found[engine] = self.idle[engine].popleft()
        return found

    def free(self, *polys: Poly) -> None:
        """Frees the slots of polynomials."""
        for poly in polys:
            for engine, slot in poly.items():
                self.idle[engine].append(slot)

    # Memory.

    def setup(self, address: int) -> None:
        """Loads the constants and twiddle tables from device memory into the CKKS kernel."""
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
        """Loads a polynomial: all primes of its level in order, or those of `engines`."""
        poly = self.new(range(level) if engines is None else engines)
        for engine, slot in poly.items():
            at = address + engine * self.params.poly_bytes
            self.list.append(
                Instruction(Op.LOAD, engine=engine, slot=slot, address=at, montgomery=montgomery)
            )
        return poly

    def store(self, poly: Poly, address: int) -> None:
        """Stores a polynomial to device memory."""
        for engine, slot in poly.items():
            at = address + engine * self.params.poly_bytes
            self.list.append(Instruction(Op.STORE, engine=engine, slot=slot, address=at))

    # Passes.

    def run_pass(self, parts: dict[int, Part], galois: int = 0) -> None:
        """Adds a pass of some engines; of the other engines only v is used."""
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
        """Adds a pass u + v w over all engines of polynomial v."""
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
        """Transforms polynomials of different engines in place, forward or inverse, all at once."""
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

    # SEAL's operations.

    def add(self, a: Poly, b: Poly, into: Poly | None = None) -> Poly:
        """Adds two polynomials."""
        return self.combine(a, b, ONE, into)

    def subtract(self, a: Poly, b: Poly, into: Poly | None = None) -> Poly:
        """Subtracts two polynomials."""
        return self.combine(a, b, ONE, into, minus=True)

    def multiply(self, a: Poly, montgomery: Poly, plus: Poly | int = ZERO) -> Poly:
        """Computes a b + plus, with b in Montgomery form; the result replaces plus."""
        return self.combine(plus, a, montgomery, None if isinstance(plus, int) else plus)

    def to_montgomery(self, a: Poly) -> Poly:
        """Converts a polynomial to Montgomery form (a R)."""
        return self.combine(ZERO, a, CONSTANT | sets.SQUARE)

    def permute(self, a: Poly, galois: int, factor: int = ONE) -> Poly:
        """Applies an automorphism to a polynomial and multiplies it by a constant."""
        return self.combine(ZERO, a, factor, galois=galois)

    def scale_up(self, a: Poly) -> Poly:
        """Multiplies a polynomial by the special prime P, by which `switch_key` divides."""
        return self.combine(ZERO, a, CONSTANT | sets.TIMES_SPECIAL)

    def switch_key(self, c: Poly, key: int, plus: list[Poly | None]) -> list[Poly]:
        """Switches polynomial c to the key at an address; returns two polynomials, divided by P.

        `plus` is added before the division, so it is a multiple of P; it and c are used up.
        """
        level, size = len(c), self.params.poly_bytes
        data, every = list(range(level)), [*range(level), SPECIAL]
        digits = self.combine(ZERO, c)  # a copy, then coefficients
        self.transform(inverse=digits)

        # Every digit modulo every other prime.
        lifted = [{e: None for e in every if e != j} for j in data]
        for j in data:
            lifted[j] = self.new(lifted[j])

        def part(j: int, engine: int) -> Part:
            return Part(True, source=j, dst=lifted[j][engine], v=digits.get(engine, ZERO), w=ONE)

        def accumulate(j: int, k: int, engines: list[int]) -> dict[int, Part]:
            where = key + (j * 2 + k) * ENGINES * size
            found = self.load(where, level, True, engines)
            for e in engines:
                start = sums[k].get(e, ZERO)
                if e not in sums[k]:
                    sums[k] |= self.new([e])
                first[k, j][e] = found[e]
                made[e] = Part(True, source=e, dst=sums[k][e], u=start, v=t(j, e), w=found[e])
            return made

        def t(j: int, engine: int) -> int:
            return c[engine] if engine == j else lifted[j][engine]

        sums: list[Poly] = [dict(p) if p else {} for p in plus]
        first: dict[tuple[int, int], Poly] = collections.defaultdict(dict)
        made: dict[int, Part] = {}

        def flush() -> None:
            # An engine whose v another one takes takes part with it.
            for e, slot in digits.items():
                if e not in made and any(p.source == e for p in made.values()):
                    made[e] = Part(v=slot, source=e)
            self.run_pass(dict(made))
            made.clear()
            for polys in first.values():
                self.free(polys)
            first.clear()

        if level == 1:
            made[SPECIAL] = part(0, SPECIAL)
            flush()
            self.free(digits)
            self.transform(forward=lifted[0])
            for k in (0, 1):
                accumulate(0, k, every)
                flush()
        else:
            made |= {0: part(1, 0), 1: part(0, 1), SPECIAL: part(0, SPECIAL)}
            flush()
            made[SPECIAL] = part(1, SPECIAL)
            flush()
            self.free(digits)
            together = {0: lifted[1][0], 1: lifted[0][1], SPECIAL: lifted[0][SPECIAL]}
            self.transform(forward=together)
            lifted[1][0], lifted[0][1], lifted[0][SPECIAL] = (together[e] for e in every)
            alone = {SPECIAL: lifted[1][SPECIAL]}
            self.transform(forward=alone)
            lifted[1] |= alone
            for k in (0, 1):
                for j in data:
                    accumulate(j, k, every)
                    flush()
        self.free(c, *lifted)
        return self._divide(sums, SPECIAL, data)

    def _divide(self, sums: list[Poly], last: int, data: list[int]) -> list[Poly]:
        """Divides polynomials by an engine's prime and rounds, as SEAL does; consumes `sums`."""
        over, half = sets.OVER_SPECIAL, sets.HALF_SPECIAL
        if last != SPECIAL:
            over, half = sets.OVER_LAST, sets.HALF_LAST
        over, half = CONSTANT | over, CONSTANT | half
        tops = [{last: poly[last]} for poly in sums]
        self.transform(inverse=tops[0])
        results, forward = [], None
        for k, top in enumerate(tops):
            if k:  # beside the one before
                nearer = tops[k]
                self.transform(forward=forward, inverse=nearer)
                results.append(self._finish(sums[k - 1], forward, over))
            self.run_pass(
                {last: Part(True, source=last, dst=top[last], u=half, v=top[last], w=ONE)}
            )
            forward = self.new(data)
            parts = {e: Part(True, source=last, dst=forward[e], u=half, w=ONE) for e in data}
            self.run_pass(parts | {last: Part(v=top[last], source=last)})
            self.free(top)
        self.transform(forward=forward)
        results.append(self._finish(sums[-1], forward, over))
        return results

    def _finish(self, total: Poly, rest: Poly, over: int) -> Poly:
        """Computes (total - rest) divided by the prime."""
        here = {e: total[e] for e in rest}
        result = self.combine(rest, here, over, into=here, gs=True)
        self.free(rest)
        return result

    def rotate(self, c: list[Poly], galois: int, key: int) -> list[Poly]:
        """Applies an automorphism to a ciphertext and switches back to its key; keeps c."""
        base = self.permute(c[0], galois, CONSTANT | sets.TIMES_SPECIAL)
        return self.switch_key(self.permute(c[1], galois), key, [base, None])

    def relinearize(self, c: list[Poly], key: int) -> list[Poly]:
        """Relinearizes a ciphertext of three polynomials to two; keeps the ciphertext."""
        plus = [self.scale_up(poly) for poly in c[:2]]
        return self.switch_key(self.combine(ZERO, c[2]), key, plus)

    def rescale(self, c: list[Poly]) -> list[Poly]:
        """Divides a ciphertext by the last data prime; keeps c."""
        last = len(c[0]) - 1
        copies = [self.combine(ZERO, poly) for poly in c]
        return self._divide(copies, last, list(range(last)))

    def encode(self) -> bytes:
        """Packs the instruction list for device memory."""
        order = instructions.interleave(self.list, self.params.log_n)
        end = Instruction(Op.END)
        return b"".join(instruction.encode() for instruction in [*order, end])
