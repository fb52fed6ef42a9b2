# SPDX-License-Identifier: Apache-2.0
"""Tests the card's CKKS operations on random inputs against SEAL.

A thousand inputs take about 70 minutes of a core with MAESLANT_OPTIMIZE="-O3 -march=native".
"""

import argparse
import sys

import numpy as np
import seal
from rich.progress import track

from maeslant.fhe import sets
from maeslant.fhe.card import Evaluator
from maeslant.fhe.sets import ParameterSet

STEPS = (1, 8, 0)  # rotations; 0 makes the key that conjugates
LEVELS = 2, 1  # data primes
INPUTS = 1000


class Soak:
    """Holds SEAL's evaluator and the simulated card, with equal keys, to compare their results."""

    def __init__(self, params: ParameterSet, card: Evaluator) -> None:
        self.params, self.card = params, card
        context = params.context
        generator = seal.KeyGenerator(context)
        self.galois = seal.GaloisKeys()
        generator.create_galois_keys(list(STEPS), self.galois)
        self.relin = generator.create_relin_keys()
        self.judge = seal.Evaluator(context)
        self.encoder = seal.CKKSEncoder(context)
        self.encryptor = seal.Encryptor(context, generator.create_public_key())
        card.use_keys(self.galois, self.relin)

    def plain(self, rng: np.random.Generator, level: int) -> seal.Plaintext:
        """Returns random numbers, encoded as a SEAL plaintext at a level."""
        values = rng.uniform(-1, 1, self.params.slots)
        found = self.encoder.encode(values, 2.0 ** (self.params.bits[0] // 2 - 3))
        if level == 1:
            self.judge.mod_switch_to_next_inplace(found)
        return found

    def compare(self, seed: int, level: int) -> list[str]:
        """Runs CKKS operations on the card and in SEAL; returns the names of those that differ."""
        rng, card, judge = np.random.default_rng(seed), self.card, self.judge
        a, b = (self.encryptor.encrypt(self.plain(rng, level)) for _ in range(2))
        factor, product = self.plain(rng, level), judge.multiply(a, b)
        pairs = {
            "add": (card.add(a, b), judge.add(a, b)),
            "subtract": (card.subtract(a, b), judge.sub(a, b)),
            "multiply_plain": (card.multiply_plain(a, factor), judge.multiply_plain(a, factor)),
            "multiply": (card.multiply(a, b), product),
            "relinearize": (card.relinearize(product), judge.relinearize(product, self.relin)),
            "rotate 1": (card.rotate(a, 1), judge.rotate_vector(a, 1, self.galois)),
            "rotate 8": (card.rotate(a, 8), judge.rotate_vector(a, 8, self.galois)),
            "conjugate": (card.conjugate(a), judge.complex_conjugate(a, self.galois)),
        }
        if level == 2:
            pairs["rescale"] = card.rescale(product), judge.rescale_to_next(product)
        return [name for name, (x, y) in pairs.items() if x.to_string() != y.to_string()]


def main() -> int:
    """Compares the card's CKKS operations with SEAL's and prints differences; returns 0 if none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=int, nargs="?", default=INPUTS, help="of each operation")
    parser.add_argument("--set", choices=sets.SETS, help="parameter set; default: all")
    parser.add_argument("--level", type=int, choices=LEVELS, help="data primes; default: all")
    given, wrong = parser.parse_args(), 0
    for params in [sets.SETS[given.set]] if given.set else sets.SETS.values():
        with Evaluator(params) as card:
            soak = Soak(params, card)
            for level in [given.level] if given.level else LEVELS:
                for seed in track(range(given.inputs), f"{params.name}, level {level}"):
                    for name in soak.compare(seed, level):
                        wrong += 1
                        print(f"{params.name}, level {level}, seed {seed}: {name} differs")
                print(f"{params.name}, level {level}: {given.inputs} random inputs, each operation")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
