# SPDX-License-Identifier: Apache-2.0
"""Makes small ONNX networks that together use each operator supported by mae_kernel_array."""

import numpy as np

from maeslant.nn.networks import Builder


def pooled() -> object:
    """Returns an ONNX network with strides, padding, both poolings and a fully connected layer."""
    b = Builder(3, 11, 9, 1)
    x = b.conv(b.input, 20, 5, 2, 2)
    x = b.maximum(x, 3, 2, 0, True)
    x = b.conv(x, 17, 1, 1, 0, False)
    return b.model(b.full(b.average(x), 10))


def residual() -> object:
    """Returns an ONNX network with a residual block and a fully connected layer."""
    b = Builder(9, 6, 7, 2)
    y = b.conv(b.conv(b.input, 16, 3, 2, 1), 16, 3, 1, 1, False)
    x = b.add(b.conv(b.input, 16, 1, 2, 0, False), y)
    return b.model(b.full(b.add(x, y), 12, True))


def joined() -> object:
    """Returns an ONNX network with an Inception block: branches that are concatenated."""
    b = Builder(4, 5, 7, 3)
    x = b.conv(b.input, 12, 3, 1, 1)
    x = b.concat(b.conv(x, 5, 1), b.conv(b.conv(x, 3, 1), 9, 3, 1, 1), x)
    x = b.concat(b.conv(b.maximum(x, 3, 1, 1), 7, 1), b.conv(x, 16, 1))
    return b.model(b.full(b.average(x), 3))


def large_kernel() -> object:
    """Returns an ONNX network with one 11 x 11 convolution of stride 4."""
    b = Builder(1, 19, 23, 4)
    return b.model(b.conv(b.input, 8, 11, 4, 2))


NETWORKS = {"pooled": pooled, "residual": residual, "joined": joined, "large": large_kernel}


def image(shape: tuple[int, int, int]) -> np.ndarray:
    """Returns a pseudo-random float32 input for a network."""
    return np.random.default_rng(6).normal(0, 2.5, shape).astype(np.float32)
