# SPDX-License-Identifier: Apache-2.0
"""Prepares 64 x 64 matrices for encrypted products and computes these by SEAL, too."""

import time

import numpy as np
import seal

from maeslant.errors import MaeslantError
from maeslant.fhe.card import STEP
from maeslant.fhe.sets import ParameterSet

SIZE = 64


def padded(values: np.ndarray, what: str) -> np.ndarray:
    """Returns a matrix or vector padded with zeros to size 64, for an encrypted product."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiu" or not np.isfinite(values.astype(float)).all():
        raise MaeslantError(f"{what} must hold finite real numbers")
    if values.ndim not in (1, 2) or 0 in values.shape or max(values.shape) > SIZE:
        raise MaeslantError(f"{what} must be at most {SIZE} x {SIZE}; it is {values.shape}")
    whole = np.zeros((SIZE,) * values.ndim)
    whole[tuple(slice(n) for n in values.shape)] = values
    return whole


def diagonals(matrix: np.ndarray, slots: int, unit: int) -> list[np.ndarray]:
    """Returns the 64 rotated diagonals of a matrix, as encrypted products need them."""
    rows = np.arange(SIZE)
    found = []
    for number in range(SIZE):
        giant = number - number % STEP
        diagonal = matrix[(rows - giant) % SIZE, (rows - giant + number) % SIZE]
        found.append(np.tile(np.repeat(diagonal, unit), slots // (SIZE * unit)))
    return found


class Client:
    """Encodes, encrypts and decrypts matrices by SEAL, with the secret key."""

    def __init__(self, params: ParameterSet, unit: int, with_relin: bool = False) -> None:
        self.params, self.unit = params, unit
        context = params.context
        generator = seal.KeyGenerator(context)
        self.galois = seal.GaloisKeys()
        generator.create_galois_keys([unit, STEP * unit], self.galois)
        self.relin = generator.create_relin_keys() if with_relin else None
        self.encoder = seal.CKKSEncoder(context)
        self.encryptor = seal.Encryptor(context, generator.create_public_key())
        self.decryptor = seal.Decryptor(context, generator.secret_key())

    def encode(self, values: np.ndarray) -> seal.Plaintext:
        """Encodes a matrix diagonal for an encrypted product; returns a SEAL plaintext."""
        return self.encoder.encode(values, float(self.params.primes[1]))

    def encrypt(self, values: np.ndarray) -> seal.Ciphertext:
        """Returns a SEAL ciphertext of a vector, repeated in all slots, or of a matrix's rows."""
        whole = np.tile(values.ravel(), self.params.slots // values.size)
        return self.encryptor.encrypt(self.encoder.encode(whole, 2.0**self.params.log_scale))

    def encrypt_diagonal(self, values: np.ndarray) -> seal.Ciphertext:
        """Encrypts a matrix diagonal by SEAL and returns it; the card then sees no factor."""
        return self.encryptor.encrypt(self.encoder.encode(values, 2.0**self.params.log_scale))

    def decrypt(self, found: seal.Ciphertext, shape: tuple[int, ...]) -> np.ndarray:
        """Decrypts a SEAL ciphertext; returns an array of a given shape."""
        values = np.array(self.encoder.decode(self.decryptor.decrypt(found)))
        return values[: int(np.prod(shape))].reshape(shape)

    def by_seal(
        self, terms: list[seal.Plaintext | seal.Ciphertext], x: seal.Ciphertext
    ) -> tuple[seal.Ciphertext, float]:
        """Computes an encrypted matrix product by SEAL on one core; returns it and the seconds."""
        evaluator, unit = seal.Evaluator(self.params.context), self.unit
        encrypted = isinstance(terms[0], seal.Ciphertext)
        times = evaluator.multiply if encrypted else evaluator.multiply_plain
        start = time.perf_counter()
        turned = [x]
        for _ in range(STEP - 1):
            turned.append(evaluator.rotate_vector(turned[-1], unit, self.galois))
        total = None
        for giant in reversed(range(STEP)):
            if total is not None:
                evaluator.rotate_vector_inplace(total, STEP * unit, self.galois)
            part = None
            for baby in range(STEP):
                term = terms[STEP * giant + baby]
                if not encrypted and term.is_zero():  # SEAL refuses such a product; it adds nothing
                    continue
                product = times(turned[baby], term)
                if part is None:
                    part = product
                else:
                    evaluator.add_inplace(part, product)
            if part is None:
                continue
            if encrypted:
                evaluator.relinearize_inplace(part, self.relin)
            total = part if total is None else evaluator.add(total, part)
        evaluator.rescale_to_next_inplace(total)
        return total, time.perf_counter() - start
