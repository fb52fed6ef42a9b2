# SPDX-License-Identifier: Apache-2.0
"""Defines small CKKS parameter sets for tests, with the SEAL library as reference.

RINGS has those and the kernel's own, each by the logarithm of its degree.
"""

import dataclasses
import functools

import numpy as np
import seal

from maeslant.fhe import sets


class Ring(sets.ParameterSet):
    """Defines a small CKKS parameter set, without security, for simulations."""

    @functools.cached_property
    def primes(self) -> tuple[int, ...]:
        """Returns the primes of this parameter set."""
        return tuple(m.value() for m in self.moduli)

    @functools.cached_property
    def moduli(self) -> list:
        """Returns the primes of this parameter set as SEAL's Modulus objects."""
        n, found = self.n, []
        for bits in sorted(set(self.bits)):
            candidate = (1 << bits) + 1
            while len([q for q in found if q.bit_length() == bits]) < self.bits.count(bits):
                candidate -= 2 * n
                if is_prime(candidate):
                    found.append(candidate)
        found.sort()
        return [seal.Modulus(q) for q in found]

    @functools.cached_property
    def context(self) -> seal.SEALContext:
        """Returns a SEAL context of this parameter set, without SEAL's security check."""
        parameters = seal.EncryptionParameters(seal.scheme_type.ckks)
        parameters.set_poly_modulus_degree(self.n)
        parameters.set_coeff_modulus(self.moduli)
        return seal.SEALContext(parameters, True, seal.sec_level_type.none)


def is_prime(q: int) -> bool:
    """Returns true if a number passes Fermat's primality test for six bases."""
    return all(pow(base, q - 1, q) == 1 for base in (2, 3, 5, 7, 11, 13))


TINY = Ring("tiny", "", 10, (24, 24, 24), 10)
# With 32 lanes a transform's stages follow each other in rings of 2048 coefficients and more.
DOUBLE = Ring("double", "", 11, (24, 24, 24), 10)
# The kernel's own at this scale: one prime holds a product's, before it is divided.
OWN = tuple(dataclasses.replace(ring, log_scale=10) for ring in sets.SETS.values())
RINGS = {ring.log_n: ring for ring in (TINY, DOUBLE, *OWN)}


@functools.cache
def transformed(params: sets.ParameterSet) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns pairs of a random polynomial's NTT and coefficients by SEAL, for each prime."""
    context = params.context
    encryptor = seal.Encryptor(context, seal.KeyGenerator(context).create_public_key())
    plain = seal.CKKSEncoder(context).encode(np.arange(3.0), 2.0**params.log_scale)
    cipher = encryptor.encrypt(plain)
    both = []
    for _ in range(2):
        words = np.frombuffer(cipher.to_string(), "<u8", 4 * params.n, 113)
        both.append(words.reshape(2, 2, params.n)[1])
        if not both[1:]:
            seal.Evaluator(context).transform_from_ntt_inplace(cipher)
    return list(zip(*both, strict=True))
