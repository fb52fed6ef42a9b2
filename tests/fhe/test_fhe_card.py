# SPDX-License-Identifier: Apache-2.0
"""Tests CKKS operations of maeslant/fhe on the simulated FHE card against SEAL."""

import numpy as np
import pytest
import seal

from maeslant.errors import MaeslantError
from maeslant.fhe import demo, matrix, seal_bytes, sets
from maeslant.fhe.card import Evaluator

pytestmark = pytest.mark.full

PARAMS = sets.SMALL


@pytest.fixture(scope="module")
def card():
    """Opens a simulated FHE card without evaluation keys."""
    with Evaluator(PARAMS) as found:
        yield found


@pytest.fixture(scope="module")
def client() -> matrix.Client:
    """Makes a CKKS client with Galois and relinearization keys."""
    return matrix.Client(PARAMS, 1, True)


def test_operations(card: Evaluator, client: matrix.Client) -> None:
    """Each CKKS operation on the simulated card gives SEAL's ciphertext, byte for byte."""
    judge, rng = seal.Evaluator(PARAMS.context), np.random.default_rng(1)
    card.use_keys(client.galois, client.relin)
    for _ in range(2):
        a, b = (client.encrypt(rng.uniform(-1, 1, PARAMS.slots)) for _ in range(2))
        plain = client.encoder.encode(rng.uniform(-1, 1, PARAMS.slots), 2.0**20)
        product = judge.multiply(a, b)
        one = judge.rescale_to_next(judge.multiply_plain(a, client.encode(np.ones(PARAMS.slots))))
        for found, wanted in (
            (card.add(a, b), judge.add(a, b)),
            (card.subtract(a, b), judge.sub(a, b)),
            (card.multiply(a, b), product),
            (card.multiply_plain(a, plain), judge.multiply_plain(a, plain)),
            (card.relinearize(product), judge.relinearize(product, client.relin)),
            (card.rescale(product), judge.rescale_to_next(product)),
            (card.rotate(a, 8), judge.rotate_vector(a, 8, client.galois)),
            (card.rotate(one, 1), judge.rotate_vector(one, 1, client.galois)),
        ):
            assert found.to_string() == wanted.to_string()


def test_errors(card: Evaluator, client: matrix.Client) -> None:
    """The Evaluator refuses operands without keys or of a wrong level with a clear error."""
    card.keys.clear()
    a = client.encrypt(np.ones(64))
    with pytest.raises(MaeslantError, match="no key for the Galois element"):
        card.rotate(a, 1)
    with pytest.raises(MaeslantError, match="no key to relinearise"):
        card.relinearize(a)
    judge = seal.Evaluator(PARAMS.context)
    low = judge.mod_switch_to_next(a)
    with pytest.raises(MaeslantError, match="level is too low"):
        card.rescale(low)
    with pytest.raises(MaeslantError, match="levels differ"):
        card.add(a, low)
    with pytest.raises(MaeslantError, match="not of the parameter set"):
        card.add(matrix.Client(sets.LARGE, 1).encrypt(np.ones(64)), a)
    raw = a.to_string()
    for damage, message in (
        (raw[:100], "cut short"),
        (raw[:-8] + b"\xff" * 8, "not below its prime"),
        (b"\0" * 16 + raw[16:], "not SEAL's"),
        (raw[:48] + b"\0" + raw[49:], "NTT form"),
    ):
        with pytest.raises(MaeslantError, match=message):
            seal_bytes.parse_ciphertext(damage, PARAMS)


def test_product() -> None:
    """Matrix times encrypted vector on the card equals SEAL's bytes and NumPy's result closely."""
    rng = np.random.default_rng(2)
    a, b = rng.uniform(-1, 1, (64, 64)), rng.uniform(-1, 1, 64)
    found = demo.multiply(a, b, False)
    off = np.sqrt(np.mean((found["result"] - a @ b) ** 2))
    assert found["equal"] and off < 2e-3 and found["error"] < 2e-2  # noise is random
    assert found["clocks"] < 170_000


def test_digits() -> None:
    """Digits classified under encryption get the labels of the plaintext network."""
    assert demo.digits(2)["equal"]


def test_shapes() -> None:
    """demo.multiply refuses matrices and vectors of unsuitable shapes."""
    for a, b in (((3, 4), (5,)), ((65, 2), (2,)), ((4,), (4,))):
        with pytest.raises(MaeslantError):
            demo.multiply(np.zeros(a), np.zeros(b), False)
