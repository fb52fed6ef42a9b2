# SPDX-License-Identifier: Apache-2.0
"""Demonstrates encrypted products: SEAL encrypts, the card computes, SEAL decrypts."""

import pathlib

import numpy as np
from rich.console import Console

from maeslant.errors import MaeslantError
from maeslant.fhe import matrix, sets
from maeslant.fhe.card import Evaluator
from maeslant.fhe.matrix import Client
from maeslant.protected.network import digits as handwritten

CLOCK_MHZ = 200
WARNING = (
    "Do not give decrypted results to those who see the ciphertexts: a CKKS result carries its "
    "noise, and with it the key can be found (IND-CPA-D)."
)


def load(file: pathlib.Path) -> np.ndarray:
    """Reads a .npy file of numbers; returns the matrix or vector."""
    try:
        return np.load(file, allow_pickle=False)
    except ValueError as error:
        raise MaeslantError(f"{file} is no .npy file of numbers: {error}") from None


def multiply(
    a: np.ndarray,
    b: np.ndarray,
    encrypted: bool = False,
    large: bool = False,
    protected: bool = False,
) -> dict:
    """Multiplies two matrices on the card, one encrypted; returns the product, error and clocks."""
    left, right = matrix.padded(a, "the first matrix"), matrix.padded(b, "the second")
    if left.ndim != 2 or a.shape[1] != b.shape[0]:
        raise MaeslantError(f"shapes {a.shape} and {b.shape} do not fit: no product")
    if not left.any():
        raise MaeslantError("the first matrix is zero: SEAL refuses a product without noise")
    unit = 1 if right.ndim == 1 else matrix.SIZE
    params = sets.LARGE if encrypted or right.ndim == 2 or large else sets.SMALL
    client = Client(params, unit, encrypted)
    values = matrix.diagonals(left, params.slots, unit)
    terms = [(client.encrypt_diagonal if encrypted else client.encode)(one) for one in values]
    x = client.encrypt(right)
    with Evaluator(params, protected) as card:
        card.use_keys(client.galois, client.relin)
        found = card.product(card.put_diagonals(terms), x, unit)
        clocks = card.clocks
    runs = [client.by_seal(terms, x) for _ in range(5)]
    wanted, seconds = min(runs, key=lambda run: run[1])
    result = client.decrypt(found, right.shape)[tuple(slice(n) for n in (a @ b).shape)]
    return {
        "set": params.name,
        "result": result,
        "error": float(np.abs(result - a @ b).max()),
        "clocks": clocks,
        "card_ms": clocks / CLOCK_MHZ / 1000,
        "seal_ms": 1000 * seconds,
        "faster": seconds * CLOCK_MHZ * 1e6 / clocks,
        "equal": found.to_string() == wanted.to_string(),
        "seen": x.to_string()[-32:].hex(),
    }


def show(found: dict, console: Console) -> None:
    """Prints the result of an encrypted product, with error and clocks."""
    same = "equal to" if found["equal"] else "[red]different from[/]"
    console.print(f"parameter set {found['set']}; the card saw ciphertext: ...{found['seen']}")
    console.print(f"largest error against floating point: {found['error']:.2g}")
    console.print(
        f"card: {found['clocks']:,} clocks, {found['card_ms']:.2f} ms at {CLOCK_MHZ} MHz; SEAL on "
        f"one core here: {found['seal_ms']:.1f} ms, {found['faster']:.1f} times as long; bytes "
        f"{same} SEAL's"
    )
    console.print(WARNING)


def _regress(pixels: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fits a logistic regression to images of digits; returns weights and biases of 10 classes."""
    weights, bias, wanted = np.zeros((10, pixels.shape[1])), np.zeros(10), np.eye(10)[labels]
    for _ in range(1000):
        scores = pixels @ weights.T + bias
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = (chances / chances.sum(axis=1, keepdims=True) - wanted) / len(pixels)
        weights, bias = weights - 2 * error.T @ pixels, bias - 2 * error.sum(axis=0)
    return weights, bias


def digits(images: int) -> dict:
    """Classifies encrypted images of handwritten digits on the card; returns labels and clocks."""
    pixels, labels = handwritten.images()
    pixels = pixels.reshape(len(pixels), -1) / 16
    held = len(pixels) // 2
    if not 1 <= images <= len(pixels) - held:
        raise MaeslantError(f"1 to {len(pixels) - held} images are held out, not {images}")
    coefficients, intercept = _regress(pixels[:held], labels[:held])
    weights = matrix.padded(coefficients / 8, "the weights")
    params, chosen = sets.SMALL, pixels[held : held + images]
    client = Client(params, 1)
    terms = [client.encode(one) for one in matrix.diagonals(weights, params.slots, 1)]
    found, clocks = [], 0
    with Evaluator(params) as card:
        card.use_keys(client.galois)
        held_matrix = card.put_diagonals(terms)
        for image in chosen:
            result = client.decrypt(card.product(held_matrix, client.encrypt(image), 1), (10,))
            found.append(int(np.argmax(8 * result + intercept)))
            clocks += card.clocks
    wanted = np.argmax(chosen @ coefficients.T + intercept, axis=1).tolist()
    right = sum(int(x == y) for x, y in zip(found, labels[held:], strict=False))
    return {
        "images": images,
        "labels": found,
        "equal": found == wanted,
        "same": sum(int(x == y) for x, y in zip(found, wanted, strict=True)),
        "right": right,
        "clocks": clocks,
    }
