# SPDX-License-Identifier: Apache-2.0
"""Measures the CKKS kernel: clocks of its parts, and products compared with SEAL on this CPU."""

import time
from collections.abc import Callable

import numpy as np
import seal

from maeslant.bench.measure.figures import Figure
from maeslant.fhe import demo, matrix, sets
from maeslant.fhe.card import Evaluator
from maeslant.fhe.program import Program

TARGETS = {"small": (1700, 14_000, 10), "large": (None, None, 12)}
KEPT = 8  # rotations in a row


def _figure(
    config: str, metric: str, value: float, unit: str, better: str, target: object
) -> Figure:
    return Figure("fhe", config, metric, value, unit, better, target)


def _clocks(card: Evaluator, write: Callable[[Program], None]) -> int:
    """Returns the clocks of a kernel program, less those of an empty program."""
    found = []
    for one in (write, lambda program: None):
        card.free, program = card.base, Program(card.params)
        one(program)
        card.run(program)
        found.append(card.clocks)
    return found[0] - found[1]


def part_figures(params: sets.ParameterSet) -> list[Figure]:
    """Measures one transform, and one rotation whose ciphertext stays on the card."""
    transform, rotation, _ = TARGETS[params.name]
    client = matrix.Client(params, 1)
    element = params.steps_to_galois(1)
    with Evaluator(params) as card:
        card.use_keys(client.galois)
        key = card.key(element)
        one = _clocks(card, lambda program: program.transform(forward=program.new((0, 1))))

        def turns(program: Program) -> None:
            c = [program.new((0, 1)) for _ in range(2)]
            for _ in range(KEPT):
                before, c = c, program.rotate(c, element, key)
                program.free(*before)

        many = _clocks(card, turns) / KEPT
        card.rotate(client.encrypt(np.ones(64)), 1)
        whole = card.clocks
    return [
        _figure(params.build, "transform, 16 lanes", one, "clocks", "lower", transform),
        _figure(params.build, "rotation, ciphertext kept", many, "clocks", "lower", rotation),
        _figure(params.build, "rotation from memory to memory", whole, "clocks", "lower", None),
    ]


def product_figures(params: sets.ParameterSet) -> list[Figure]:
    """Measures products of 64 x 64 matrices at 200 MHz against SEAL on one core."""
    rng = np.random.default_rng(1)
    a, b, v = (rng.uniform(-1, 1, shape) for shape in ((64, 64), (64, 64), 64))
    kinds = {"matrix by encrypted vector": (v, False)}
    if params is sets.LARGE:
        kinds |= {"matrix by encrypted matrix": (b, False), "both matrices encrypted": (b, True)}
    result = []
    for name, (right, encrypted) in kinds.items():
        found = demo.multiply(a, right, encrypted, params is sets.LARGE)
        target = {"matrix by encrypted vector": TARGETS[params.name][2]}.get(name, 10)
        metric = f"64 x 64, {name}"
        result += [
            _figure(params.build, f"{metric}: bytes equal SEAL's", found["equal"], "", "higher", 1),
            _figure(params.build, f"{metric}: error", found["error"], "", "lower", None),
            _figure(params.build, metric, found["clocks"], "clocks", "lower", None),
            _figure(params.build, f"{metric}: SEAL here", found["seal_ms"], "ms", "lower", None),
            _figure(
                params.build, f"{metric}: times as fast", found["faster"], "x", "higher", target
            ),
        ]
    return result


def _seconds(call: Callable[[], object], times: int = 20) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def software_figures(params: sets.ParameterSet) -> list[Figure]:
    """Times SEAL in software: the transforms of a rotation, the random numbers of an encryption."""
    client = matrix.Client(params, 1)
    evaluator, x = seal.Evaluator(params.context), client.encrypt(np.ones(64))
    rotation = _seconds(lambda: evaluator.rotate_vector(x, 1, client.galois))
    # Two polynomials of two primes: four transforms.
    transform = _seconds(lambda: evaluator.transform_from_ntt(x)) / 4
    level = sets.DATA
    share = 100 * transform * (level * level + 3 * level + 2) / rotation
    drawn = _seconds(lambda: client.encrypt(np.ones(64)))
    return [
        _figure(params.build, "SEAL: a rotation", 1000 * rotation, "ms", "lower", None),
        _figure(params.build, "SEAL: of it in transforms", share, "%", "lower", None),
        _figure(
            params.build, "SEAL: an encryption, drawn at random", 1000 * drawn, "ms", "lower", None
        ),
    ]


def figures() -> list[Figure]:
    """Measures all figures of the CKKS kernel."""
    result = []
    for params in (sets.SMALL, sets.LARGE):
        result += part_figures(params) + product_figures(params) + software_figures(params)
    return result
