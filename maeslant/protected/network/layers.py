# SPDX-License-Identifier: Apache-2.0
"""Computes int8 network layers in NumPy, bit for bit as the RTL kernel does.

A feature map is an int8 array (height, width, channels). Sums are int32 and wrap modulo 2^32.
"""

import dataclasses

import numpy as np

LOWEST, HIGHEST = -128, 127
MAX_KERNEL, MAX_SHIFT = 15, 47


def requantize(sums: np.ndarray, multiplier: int, shift: int, relu: bool) -> np.ndarray:
    """Returns int32 sums scaled to int8: times multiplier / 2^shift, rounded, saturated."""
    half = (1 << shift) >> 1
    values = (sums.astype(np.int64) * multiplier + half) >> shift
    return np.clip(values, 0 if relu else LOWEST, HIGHEST).astype(np.int8)


@dataclasses.dataclass(frozen=True)
class Convolution:
    """Describes a convolution layer of an int8 network: stride 1, ``pad`` zeros at each side.

    A fully connected layer is one of a single pixel: kernel 1 and no padding.
    """

    weights: np.ndarray  # int8 (output channel, line, column, input channel)
    biases: np.ndarray  # int32 (output channel)
    multiplier: int
    shift: int
    relu: bool = False
    pad: int = 0

    @property
    def kernel(self) -> int:
        """Returns the size of the layer's square convolution kernel."""
        return self.weights.shape[1]

    def shape(self, height: int, width: int, channels: int) -> tuple[int, int, int]:
        """Returns the shape of the convolution layer's output for an input shape."""
        assert channels == self.weights.shape[3]
        grow = 2 * self.pad + 1 - self.kernel
        return height + grow, width + grow, self.weights.shape[0]

    def sums(self, source: np.ndarray) -> np.ndarray:
        """Returns the convolution layer's int32 sums for an input, before requantization."""
        height, width, _ = self.shape(*source.shape)
        edge = (self.pad, self.pad)
        padded = np.pad(source.astype(np.int64), (edge, edge, (0, 0)))
        sums = np.zeros((height, width, self.weights.shape[0]), np.int64) + self.biases
        for y in range(self.kernel):
            for x in range(self.kernel):
                part = padded[y : y + height, x : x + width]
                sums += part @ self.weights[:, y, x].astype(np.int64).T
        return sums.astype(np.uint32).astype(np.int32)

    def run(self, source: np.ndarray) -> np.ndarray:
        """Returns the convolution layer's int8 output for an input."""
        return requantize(self.sums(source), self.multiplier, self.shift, self.relu)


@dataclasses.dataclass(frozen=True)
class Full(Convolution):
    """Describes a fully connected layer of an int8 network."""

    def shape(self, height: int, width: int, channels: int) -> tuple[int, int, int]:
        """Returns the shape of the fully connected layer's output for an input shape."""
        assert height * width * channels == self.weights.shape[3]
        return 1, 1, self.weights.shape[0]

    def sums(self, source: np.ndarray) -> np.ndarray:
        """Returns the fully connected layer's int32 sums for an input, before requantization."""
        sums = self.weights[:, 0, 0].astype(np.int64) @ source.reshape(-1).astype(np.int64)
        return (sums + self.biases).astype(np.uint32).astype(np.int32).reshape(1, 1, -1)


@dataclasses.dataclass(frozen=True)
class Pool:
    """Describes a 2x2 maximum pooling layer, which drops an odd last line or column."""

    relu: bool = False

    def shape(self, height: int, width: int, channels: int) -> tuple[int, int, int]:
        """Returns the shape of the pooling layer's output for an input shape."""
        return height // 2, width // 2, channels

    def run(self, source: np.ndarray) -> np.ndarray:
        """Returns the pooling layer's int8 output for an input."""
        height, width, channels = self.shape(*source.shape)
        cut = source[: 2 * height, : 2 * width]
        best = cut.reshape(height, 2, width, 2, channels).max(axis=(1, 3))
        return np.maximum(best, 0) if self.relu else best


Layer = Convolution | Pool  # and Full, which is a Convolution


def run(layers: list[Layer], source: np.ndarray) -> np.ndarray:
    """Returns the output of an int8 network for an input, computed layer by layer."""
    for layer in layers:
        source = layer.run(source)
    return source
