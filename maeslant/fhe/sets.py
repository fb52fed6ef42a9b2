# SPDX-License-Identifier: Apache-2.0
"""Defines the CKKS parameter sets of the card's kernel, with their constants and tables."""

import dataclasses
import functools

import numpy as np
import seal

from maeslant.errors import MaeslantError

DATA = 2  # data primes; the third is the special one of key switching
SPECIAL = 2  # its engine
ONE, SQUARE, TIMES_SPECIAL, OVER_SPECIAL, HALF_SPECIAL, OVER_LAST, HALF_LAST = range(1, 8)


@dataclasses.dataclass(frozen=True)
class ParameterSet:
    """Describes a CKKS parameter set: ring degree, sizes of primes, scale."""

    name: str
    build: str
    log_n: int
    bits: tuple[int, ...]
    log_scale: int

    @property
    def n(self) -> int:
        """Returns the ring degree: the number of coefficients of a polynomial."""
        return 1 << self.log_n

    @property
    def slots(self) -> int:
        """Returns how many numbers a CKKS ciphertext of this parameter set holds."""
        return self.n // 2

    @property
    def poly_bytes(self) -> int:
        """Returns the bytes of device memory that a polynomial modulo one prime takes."""
        return 8 * self.n

    @functools.cached_property
    def context(self) -> seal.SEALContext:
        """Returns SEAL's context for this CKKS parameter set, at 128 bits of security."""
        parameters = seal.EncryptionParameters(seal.scheme_type.ckks)
        parameters.set_poly_modulus_degree(self.n)
        parameters.set_coeff_modulus(seal.CoeffModulus.Create(self.n, list(self.bits)))
        return seal.SEALContext(parameters)

    @functools.cached_property
    def primes(self) -> tuple[int, ...]:
        """Returns the data primes of this CKKS parameter set, then the special prime."""
        moduli = seal.CoeffModulus.Create(self.n, list(self.bits))
        return tuple(prime.value() for prime in moduli)

    @functools.cached_property
    def radix(self) -> int:
        """Returns the radix R of the CKKS kernel's Montgomery multiplication."""
        digit = self.log_n + 1
        return 1 << digit * -(-max(self.bits) // digit)

    @functools.cached_property
    def parms_ids(self) -> tuple[bytes, ...]:
        """Returns SEAL's identifiers of this CKKS parameter set, by number of primes."""
        one, two = self.context.last_context_data(), self.context.first_context_data()
        found = (one, two, self.context.key_context_data())
        return tuple(np.array(data.parms_id(), np.uint64).tobytes() for data in found)

    def constants(self, engine: int) -> np.ndarray:
        """Returns the constants that an engine of the CKKS kernel needs for its prime."""
        q, special, last = self.primes[engine], self.primes[SPECIAL], self.primes[DATA - 1]
        r = self.radix
        words = [q, r % q, r * r % q] + [0] * 5
        words[TIMES_SPECIAL] = special * r % q
        words[HALF_SPECIAL] = -(special >> 1) % q
        words[HALF_LAST] = -(last >> 1) % q
        if engine == SPECIAL:
            words[HALF_SPECIAL] = special >> 1
        else:
            words[OVER_SPECIAL] = pow(special, -1, q) * r % q
        if engine == DATA - 1:
            words[HALF_LAST] = last >> 1
        elif engine != SPECIAL:
            words[OVER_LAST] = pow(last, -1, q) * r % q
        return np.array(words, np.uint64)

    def table(self, engine: int) -> np.ndarray:
        """Returns the NTT twiddle factors modulo a prime, in bit-reversed order."""
        q = self.primes[engine]
        power, factor = self.radix % q, minimal_root(q, self.n)
        words = np.zeros(self.n, np.uint64)
        for place in bit_reversed(self.log_n):
            words[place] = power
            power = power * factor % q
        return words

    def steps_to_galois(self, steps: int) -> int:
        """Returns the Galois element that rotates left by a number of slots."""
        if not -self.slots < steps < self.slots:
            raise MaeslantError(f"a ciphertext has {self.slots} slots: no rotation by {steps}")
        return pow(3, steps % self.slots, 2 * self.n)

    @property
    def conjugation(self) -> int:
        """Returns the Galois element that conjugates every slot."""
        return 2 * self.n - 1


def bit_reversed(bits: int) -> np.ndarray:
    """Returns the numbers below 2^bits, each with its bits reversed."""
    order = np.zeros(1, np.int64)
    for _ in range(bits):
        order = np.concatenate([2 * order, 2 * order + 1])
    return order


def minimal_root(q: int, n: int) -> int:
    """Returns the smallest primitive 2n-th root of unity modulo a prime."""
    root = next(r for x in range(2, q) if pow(r := pow(x, (q - 1) // (2 * n), q), n, q) == q - 1)
    square, best = root * root % q, root
    for _ in range(n):
        root = root * square % q
        best = min(best, root)
    return best


SMALL = ParameterSet("small", "fhe", 12, (36, 36, 37), 28)
LARGE = ParameterSet("large", "fhe_large", 13, (54, 54, 54), 40)
SETS = {found.name: found for found in (SMALL, LARGE)}
