# SPDX-License-Identifier: Apache-2.0
"""Computes on SEAL's CKKS ciphertexts by the simulated card, in place of SEAL's evaluator.

The card gets ciphertexts, plaintexts and evaluation keys; never a secret key.
"""

from collections.abc import Callable
from typing import Self

import numpy as np
import seal

from maeslant.errors import MaeslantError
from maeslant.fhe import seal_bytes
from maeslant.fhe.program import Poly, Program
from maeslant.fhe.seal_bytes import Ciphertext
from maeslant.fhe.sets import SMALL, ParameterSet
from maeslant.protected.kernel_card import ProtectedCard
from maeslant.sim.unprotected_jobs import CLOCKS, LIST, UnprotectedJobs

GRANULE = 64
PROTECTED = "fhe_protected"  # build
STEP = 8  # baby steps, and giant steps: 64 diagonals


class Evaluator:
    """Computes on SEAL's CKKS ciphertexts by the kernel of a simulated card."""

    def __init__(self, params: ParameterSet, protected: bool = False) -> None:
        self.params = params
        if protected and params is not SMALL:
            raise MaeslantError("the protected card is built for the small parameter set")
        self.card = (
            ProtectedCard(PROTECTED) if protected else UnprotectedJobs(params.build, size=1 << 25)
        )
        self.free = 0
        self.keys: dict[int, int] = {}  # Galois element, or 0 to relinearise, to address
        self.clocks = 0  # of the kernel's last run
        setup = [params.constants(e).tobytes() + params.table(e).tobytes() for e in range(3)]
        address = self.put(b"".join(setup))
        self.base = self.free
        program = Program(params)
        program.setup(address)
        self.run(program)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.card.close()

    def put(self, data: bytes) -> int:
        """Writes bytes to free memory of the simulated card; returns the address."""
        address = self.free
        self.free += -(-len(data) // GRANULE) * GRANULE
        self.card.load(address, data)
        return address

    def run(self, program: Program) -> None:
        """Runs a program on the card's CKKS kernel and stores its clock count."""
        self.card.write(LIST, self.put(program.encode()))
        self.card.run()
        self.clocks = self.card.read(CLOCKS)

    def use_keys(
        self, galois: seal.GaloisKeys | None = None, relin: seal.RelinKeys | None = None
    ) -> None:
        """Loads SEAL's Galois and relinearization keys into the card's memory."""
        self.free = self.base
        found = seal_bytes.galois_keys(galois, self.params) if galois else {}
        if relin:
            found[0] = seal_bytes.relin_key(relin, self.params)
        for element, key in found.items():
            self.keys[element] = self.put(key.tobytes())
        self.base = self.free

    def key(self, element: int) -> int:
        """Returns the card's address of a Galois or relinearization key that was loaded."""
        if element not in self.keys:
            name = f"for the Galois element {element}" if element else "to relinearise"
            raise MaeslantError(f"there is no key {name} on the card")
        return self.keys[element]

    def parse(self, given: seal.Ciphertext | seal.Plaintext) -> Ciphertext:
        """Converts a SEAL ciphertext or plaintext; returns its polynomials and scale."""
        if isinstance(given, seal.Plaintext):
            return seal_bytes.parse_plaintext(given.to_bytes(), self.params)
        return seal_bytes.parse_ciphertext(given.to_string(), self.params)

    def compute(
        self, make: Callable[..., list[Poly]], scale: float, *given: Ciphertext
    ) -> seal.Ciphertext:
        """Loads CKKS ciphertexts and runs the program from ``make``; returns the ciphertext."""
        self.free, program = self.base, Program(self.params)
        size, operands = self.params.poly_bytes, []
        for one in given:
            at = self.put(one.data.tobytes())
            polys = range(len(one.data))
            operands.append([program.load(at + i * one.level * size, one.level) for i in polys])
        results = make(program, *operands)
        return self.finish(program, results, scale)

    def finish(self, program: Program, results: list[Poly], scale: float) -> seal.Ciphertext:
        """Adds storing of results to a CKKS program, runs it on the card; returns a ciphertext."""
        level, size = len(results[0]), self.params.poly_bytes
        at = self.free
        self.free += len(results) * level * size
        for i, poly in enumerate(results):
            program.store(poly, at + i * level * size)
        self.run(program)
        words = np.frombuffer(self.card.fetch(at, len(results) * level * size), "<u8")
        found = Ciphertext(words.reshape(len(results), level, self.params.n), scale)
        result = seal.Ciphertext()
        result.load_bytes(self.params.context, seal_bytes.ciphertext_bytes(found, self.params))
        return result

    def _pair(self, a: seal.Ciphertext, b: object, same: bool) -> tuple[Ciphertext, Ciphertext]:
        one, other = self.parse(a), self.parse(b)
        if one.level != other.level:
            raise MaeslantError(f"levels differ: {one.level} and {other.level} data primes")
        if same and (one.scale != other.scale or one.data.shape != other.data.shape):
            raise MaeslantError("scales or sizes differ: sums need equal ones")
        bits = sum(q.bit_length() for q in self.params.primes[: one.level])
        if not same and np.log2(one.scale * other.scale) >= bits:
            raise MaeslantError("the level is too low: the product's scale passes its primes")
        return one, other

    def add(self, a: seal.Ciphertext, b: seal.Ciphertext) -> seal.Ciphertext:
        """Returns the sum of two CKKS ciphertexts, computed on the card."""
        one, other = self._pair(a, b, True)

        def make(program: Program, x: list[Poly], y: list[Poly]) -> list[Poly]:
            return [program.add(p, q) for p, q in zip(x, y, strict=True)]

        return self.compute(make, one.scale, one, other)

    def subtract(self, a: seal.Ciphertext, b: seal.Ciphertext) -> seal.Ciphertext:
        """Returns the difference of two CKKS ciphertexts, computed on the card."""
        one, other = self._pair(a, b, True)

        def make(program: Program, x: list[Poly], y: list[Poly]) -> list[Poly]:
            return [program.subtract(p, q) for p, q in zip(x, y, strict=True)]

        return self.compute(make, one.scale, one, other)

    def multiply_plain(self, a: seal.Ciphertext, b: seal.Plaintext) -> seal.Ciphertext:
        """Returns the product of a CKKS ciphertext and a plaintext, computed on the card."""
        one, other = self._pair(a, b, False)

        def make(program: Program, x: list[Poly], y: list[Poly]) -> list[Poly]:
            factor = program.to_montgomery(y[0])
            return [program.multiply(poly, factor) for poly in x]

        return self.compute(make, one.scale * other.scale, one, other)

    def multiply(self, a: seal.Ciphertext, b: seal.Ciphertext) -> seal.Ciphertext:
        """Returns the product of two CKKS ciphertexts, three polynomials, computed on the card."""
        one, other = self._pair(a, b, False)
        if len(one.data) != 2 or len(other.data) != 2:
            raise MaeslantError("relinearise first: products are of two polynomials each")

        def make(program: Program, x: list[Poly], y: list[Poly]) -> list[Poly]:
            return products(program, x, [program.to_montgomery(poly) for poly in y], None)

        return self.compute(make, one.scale * other.scale, one, other)

    def relinearize(self, a: seal.Ciphertext) -> seal.Ciphertext:
        """Relinearizes a CKKS ciphertext of three polynomials on the card; returns one of two."""
        one, key = self.parse(a), self.key(0)
        if len(one.data) != 3:
            raise MaeslantError("only a ciphertext of three polynomials can be relinearised")
        return self.compute(lambda program, x: program.relinearize(x, key), one.scale, one)

    def rescale(self, a: seal.Ciphertext) -> seal.Ciphertext:
        """Divides a CKKS ciphertext by its last prime on the card; returns the quotient."""
        one = self.parse(a)
        if one.level == 1:
            raise MaeslantError("the level is too low: there is no prime left to drop")
        scale = one.scale / self.params.primes[one.level - 1]
        return self.compute(lambda program, x: program.rescale(x), scale, one)

    def _turn(self, a: seal.Ciphertext, element: int) -> seal.Ciphertext:
        one, key = self.parse(a), self.key(element)
        if len(one.data) != 2:
            raise MaeslantError("relinearise first: only two polynomials can be rotated")
        return self.compute(lambda program, x: program.rotate(x, element, key), one.scale, one)

    def rotate(self, a: seal.Ciphertext, steps: int) -> seal.Ciphertext:
        """Returns a CKKS ciphertext with its slots rotated to the left, computed on the card."""
        return self._turn(a, self.params.steps_to_galois(steps))

    def conjugate(self, a: seal.Ciphertext) -> seal.Ciphertext:
        """Returns a CKKS ciphertext with every slot conjugated, computed on the card."""
        return self._turn(a, self.params.conjugation)

    def put_diagonals(self, diagonals: list[seal.Plaintext | seal.Ciphertext]) -> "Matrix":
        """Loads a matrix's 64 encoded diagonals into the card's memory; returns their addresses."""
        self.free = self.base
        parsed = [self.parse(one) for one in diagonals]
        at = [self.put(one.data.tobytes()) for one in parsed]
        self.base = self.free
        return Matrix(at, len(parsed[0].data), parsed[0].scale)

    def product(self, matrix: "Matrix", x: seal.Ciphertext, unit: int) -> seal.Ciphertext:
        """Returns the product of a matrix and an encrypted vector or matrix, computed on the card.

        Baby steps rotate x; giant steps rotate sums of products, by Horner's rule: two Galois keys.
        """
        self.free, one = self.base, self.parse(x)
        if one.level != 2:
            raise MaeslantError("the level is too low: the product needs both data primes")
        small, big = (self.params.steps_to_galois(n * unit) for n in (1, STEP))
        keys = self.key(small), self.key(big)
        relin = self.key(0) if matrix.polys == 2 else 0
        size, program = 2 * self.params.poly_bytes, Program(self.params)
        at = self.put(one.data.tobytes())
        turned = [[program.load(at + i * size, 2) for i in (0, 1)]]
        for _ in range(STEP - 1):
            turned.append(program.rotate(turned[-1], small, keys[0]))
        total: list[Poly] = []
        for giant in reversed(range(STEP)):
            before = total
            if before:
                total = program.rotate(before, big, keys[1])
                program.free(*before)
            part = None
            for baby in range(STEP):
                place = matrix.at[STEP * giant + baby]
                terms = [program.load(place + i * size, 2, True) for i in range(matrix.polys)]
                part = products(program, turned[baby], terms, part)
                program.free(*terms)
            if matrix.polys == 2:
                three, part = part, program.relinearize(part, relin)
                program.free(*three)
            if total:
                for whole, poly in zip(total, part, strict=True):
                    program.add(poly, whole, whole)
                program.free(*part)
            else:
                total = part
        result = program.rescale(total)
        scale = one.scale * matrix.scale / self.params.primes[1]
        return self.finish(program, result, scale)


class Matrix:
    """Holds the addresses of a matrix's encoded diagonals in the card's memory."""

    def __init__(self, at: list[int], polys: int, scale: float) -> None:
        self.at, self.polys, self.scale = at, polys, scale


def products(
    program: Program, x: list[Poly], montgomery: list[Poly], plus: list[Poly] | None
) -> list[Poly]:
    """Adds to a CKKS program the products of a ciphertext with polynomials; returns their slots."""
    count = len(x) + len(montgomery) - 1
    result: list[Poly | int] = list(plus) if plus else [0x80] * count
    for i, a in enumerate(x):
        for j, b in enumerate(montgomery):
            result[i + j] = program.multiply(a, b, result[i + j])
    return result
