# SPDX-License-Identifier: Apache-2.0
"""Tests maeslant/protected/network/layers.py against SciPy and exact integer arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import ndimage, signal

from maeslant.protected.network import layers


def test_requantization_rounds_ties_upwards() -> None:
    """layers.requantize equals exact fractions, rounded half up and clipped to int8."""
    rng = np.random.default_rng(1)
    for shift in range(layers.MAX_SHIFT + 1):
        for multiplier in (0, 1, 3, 2**16 - 1):
            near = (rng.integers(-260, 260, 40) * 2**shift) // (2 * max(multiplier, 1))
            sums = np.clip(np.append(near, [-(2**31), 2**31 - 1, 0]), -(2**31), 2**31 - 1)
            exact = [Fraction(int(s) * multiplier, 2**shift) + Fraction(1, 2) for s in sums]
            wanted = [max(-128, min(127, e.numerator // e.denominator)) for e in exact]
            made = layers.requantize(sums.astype(np.int32), multiplier, shift, relu=False)
            assert made.tolist() == wanted
            positive = layers.requantize(sums.astype(np.int32), multiplier, shift, relu=True)
            assert positive.tolist() == [max(0, value) for value in wanted]


@pytest.mark.parametrize("seed", range(10))
def test_convolution(seed: int) -> None:
    """The convolution layer's sums equal SciPy's correlation of each channel, plus the bias."""
    rng = np.random.default_rng(seed)
    kernel, channels, made = (int(n) for n in rng.integers(1, 6, 3))
    pad = int(rng.integers(0, kernel))
    source = rng.integers(-128, 128, (7, 6, channels), np.int8)
    weights = rng.integers(-128, 128, (made, kernel, kernel, channels), np.int8)
    biases = rng.integers(-(2**31), 2**31, made).astype(np.int32)
    layer = layers.Convolution(weights, biases, 1, 0, False, pad)
    padded = np.pad(source.astype(np.int64), ((pad, pad), (pad, pad), (0, 0)))
    sums = layer.sums(source)
    assert sums.shape == layer.shape(*source.shape)
    for o in range(made):
        parts = (
            signal.correlate(
                padded[:, :, c], weights[o, :, :, c].astype(np.int64), "valid", "direct"
            )
            for c in range(channels)
        )
        wanted = (sum(parts) + int(biases[o])) % 2**32
        assert (sums[:, :, o].astype(np.int64) % 2**32 == wanted).all()


def test_pool_and_full() -> None:
    """The pooling layer equals SciPy's maximum filter; the full layer equals a matrix product."""
    rng = np.random.default_rng(4)
    source = rng.integers(-128, 128, (7, 9, 5), np.int8)
    wanted = ndimage.maximum_filter(source, (2, 2, 1), origin=(-1, -1, 0))[:6:2, :8:2]
    assert (layers.Pool().run(source) == wanted).all()
    assert (layers.Pool(relu=True).run(source) == np.maximum(wanted, 0)).all()
    weights = rng.integers(-128, 128, (3, 1, 1, 315), np.int8)
    layer = layers.Full(weights, np.array([1, -2, 3], np.int32), 1, 0)
    flat = weights.reshape(3, -1).astype(int) @ source.reshape(-1).astype(int)
    assert layer.sums(source).reshape(-1).tolist() == (flat + [1, -2, 3]).tolist()
