# SPDX-License-Identifier: Apache-2.0
"""Measures the card's kernel for encrypted arithmetic (CKKS) beside the library SEAL."""

import json
import tempfile
import time
from collections.abc import Callable

import numpy as np
import seal

from maeslant.bench.measure.figures import Figure
from maeslant.build import cocotb_bench
from maeslant.fhe import demo, matrix, sets
from maeslant.fhe.card import Evaluator
from maeslant.fhe.program import Program

TRANSFORMS = {8: 3300, 16: 1700, 32: None}  # lanes; clocks wanted for N = 4096
TARGETS = {"small": (14_000, 10), "large": (None, 12)}  # rotation, times as fast as SEAL
KEPT = 8  # rotations in a row
IMAGES = 128
# By SEAL's algorithm with L data primes: L^2 + 3 L + 2 in a rotation. An encryption by the public
# key draws three polynomials, transforms each modulo all L + 1 primes, and divides two by the last.
ROTATION = sets.DATA**2 + 3 * sets.DATA + 2
ENCRYPTION = 5 * (sets.DATA + 1)


def _figure(
    config: str, metric: str, value: float, unit: str, better: str, target: object
) -> Figure:
    return Figure("fhe", config, metric, value, unit, better, target)


def _clocks(card: Evaluator, write: Callable[[Program], None]) -> int:
    """Returns the clocks of a program on the CKKS kernel, without those of an empty program."""
    found = []
    for one in (write, lambda program: None):
        card.free, program = card.base, Program(card.params)
        one(program)
        card.run(program)
        found.append(card.clocks)
    return found[0] - found[1]


def transform_figures(params: sets.ParameterSet) -> list[Figure]:
    """Returns figures of the CKKS kernel's clocks for an NTT with 8, 16 and 32 lanes."""
    result = []
    for lanes, target in TRANSFORMS.items():
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
            cocotb_bench.simulate(
                "mae_poly_control",
                "maeslant.bench.measure.benches.ntt_bench",
                parameters={"LogN": params.log_n, "Width": max(params.bits), "Lanes": lanes},
                env={"MAESLANT_FIGURES": file.name},
            )
            found = {line["metric"]: line["value"] for line in map(json.loads, file)}
        target = target if params is sets.SMALL else None
        name = f"transform, {lanes} lanes"
        result.append(_figure(params.build, name, found["transform"], "clocks", "lower", target))
    return result


def part_figures(params: sets.ParameterSet) -> list[Figure]:
    """Returns figures of the card's clocks to rotate a CKKS ciphertext, kept or in memory."""
    rotation, _ = TARGETS[params.name]
    client = matrix.Client(params, 1)
    element = params.steps_to_galois(1)
    with Evaluator(params) as card:
        card.use_keys(client.galois)
        key = card.key(element)

        def turns(program: Program) -> None:
            c = [program.new((0, 1)) for _ in range(2)]
            for _ in range(KEPT):
                before, c = c, program.rotate(c, element, key)
                program.free(*before)

        many = _clocks(card, turns) / KEPT
        card.rotate(client.encrypt(np.ones(64)), 1)
        whole = card.clocks
    return [
        _figure(params.build, "rotation, ciphertext kept", many, "clocks", "lower", rotation),
        _figure(params.build, "rotation from memory to memory", whole, "clocks", "lower", None),
    ]


def product_figures(params: sets.ParameterSet) -> list[Figure]:
    """Returns figures of encrypted products of 64 x 64 matrices, on the card and in SEAL."""
    rng = np.random.default_rng(1)
    a, b, v = (rng.uniform(-1, 1, shape) for shape in ((64, 64), (64, 64), 64))
    kinds = {"matrix by encrypted vector": (v, False)}
    if params is sets.LARGE:
        kinds |= {"matrix by encrypted matrix": (b, False), "both matrices encrypted": (b, True)}
    result = []
    for name, (right, encrypted) in kinds.items():
        found = demo.multiply(a, right, encrypted, params is sets.LARGE)
        target = {"matrix by encrypted vector": TARGETS[params.name][1]}.get(name, 10)
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
    """Returns figures of SEAL's time to rotate and encrypt, and the share of NTTs in it."""
    client = matrix.Client(params, 1)
    evaluator, x = seal.Evaluator(params.context), client.encrypt(np.ones(64))
    rotation = _seconds(lambda: evaluator.rotate_vector(x, 1, client.galois))
    # Two polynomials of two primes: four transforms.
    transform = _seconds(lambda: evaluator.transform_from_ntt(x)) / 4
    plain = client.encode(np.ones(params.slots))
    drawn = _seconds(lambda: client.encryptor.encrypt(plain))
    result = []
    for name, seconds, count in (
        ("a rotation", rotation, ROTATION),
        ("an encryption, which draws random numbers", drawn, ENCRYPTION),
    ):
        share = 100 * transform * count / seconds
        result += [
            _figure(params.build, f"SEAL: {name}", 1000 * seconds, "ms", "lower", None),
            _figure(params.build, f"SEAL: {name}: in transforms", share, "%", "lower", None),
        ]
    return result


def digit_figures() -> list[Figure]:
    """Returns figures of encrypted digits on the card: labels as in plaintext, clocks an image."""
    found = demo.digits(IMAGES)
    name, build = f"digits: {IMAGES} encrypted, labels as in plaintext", sets.SMALL.build
    return [
        _figure(build, name, found["same"], "labels", "higher", IMAGES),
        _figure(
            build, "digits: clocks an image", found["clocks"] / IMAGES, "clocks", "lower", None
        ),
    ]


def figures() -> list[Figure]:
    """Returns all measured figures of encrypted arithmetic (CKKS) on the card and in SEAL."""
    result = []
    for params in (sets.SMALL, sets.LARGE):
        result += transform_figures(params) + part_figures(params)
        result += product_figures(params) + software_figures(params)
    return result + digit_figures()
