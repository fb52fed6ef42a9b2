# SPDX-License-Identifier: Apache-2.0
"""Computes every feature map of a network in whole numbers, as the array kernel is to round them.

Sums are exact and wrap at 32 bits; a result is its sum times the scale, ties to even, limited to
int8. The onnx package's evaluator computes the same in floating point and may round otherwise.
"""

import numpy as np

from maeslant.nn.commands import MAX_SHIFT
from maeslant.nn.graph import Layer, Network, Scale


def addition_factors(layer: Layer) -> list[int] | None:
    """Returns two factors up to 127 in the ratio of an addition's scales; None if impossible."""
    one, other = layer.sources
    exact = one.scale / other.scale
    ratio = exact.limit_denominator(127)
    if not 0 < ratio.numerator <= 127 or abs(ratio / exact - 1) > Scale(1, 1 << 20):
        return None
    return [ratio.numerator, ratio.denominator]


def multiplier_of(ratio: Scale) -> tuple[int, int] | None:
    """Returns multiplier (24 bits) and shift nearest to a ratio of scales; None out of range."""
    bits = 23
    while ratio * 2**bits >= 1 << 24:
        bits -= 1
    while ratio * 2**bits < 1 << 23:
        bits += 1
    multiplier = round(ratio * 2**bits)
    while bits > 0 and (multiplier % 2 == 0 or multiplier >= 1 << 24):
        multiplier, bits = multiplier // 2, bits - 1
    while bits > MAX_SHIFT:
        multiplier, bits = (multiplier + 1) // 2, bits - 1
    return None if bits < 0 or multiplier >= 1 << 24 else (multiplier, bits)


def scaled(sums: np.ndarray, ratios: list[Scale], layer: Layer) -> np.ndarray:
    """Returns sums (channel, line, column) as int8, scaled by each channel's ratio and rounded."""
    words = np.array([multiplier_of(ratio) for ratio in ratios], np.int64)
    multipliers, shifts = words[:, 0, None, None], words[:, 1, None, None]
    products = sums.astype(np.uint32).astype(np.int32).astype(np.int64) * multipliers
    whole = products >> shifts
    rest, half = products - (whole << shifts), (1 << shifts) >> 1
    up = (rest > half) | ((rest == half) & (whole % 2 == 1))
    whole += up & (shifts > 0)
    zero = layer.output.zero
    return np.clip(whole + zero, zero if layer.relu else -128, 127).astype(np.int8)


def windows(layer: Layer, source: np.ndarray, edge: int) -> list[tuple[int, int, np.ndarray]]:
    """Returns (kernel line, kernel column, pixels there) for all positions of a layer's kernel."""
    height, width = layer.output.shape[1:]
    (step_y, step_x), (pad_y, pad_x) = layer.stride, layer.pad
    high = max(step_y * (height - 1) + layer.kernel[0], pad_y + source.shape[1])
    wide = max(step_x * (width - 1) + layer.kernel[1], pad_x + source.shape[2])
    padded = np.full((len(source), high, wide), edge, np.float64)  # exact up to 2^53
    padded[:, pad_y : pad_y + source.shape[1], pad_x : pad_x + source.shape[2]] = source
    ends = step_y * (height - 1) + 1, step_x * (width - 1) + 1
    return [
        (y, x, padded[:, y : y + ends[0] : step_y, x : x + ends[1] : step_x])
        for y in range(layer.kernel[0])
        for x in range(layer.kernel[1])
    ]


def compute(layer: Layer, sources: list[np.ndarray]) -> np.ndarray:
    """Computes a layer's int8 feature map from its sources' and returns it."""
    first = layer.sources[0]
    if layer.op == "Concat":
        return np.concatenate(sources)
    if layer.op == "MaxPool":
        parts = [part for _, _, part in windows(layer, sources[0], -128)]
        return np.max(parts, axis=0).astype(np.int8)
    channels = layer.output.shape[0]
    if layer.op == "Add":
        factors = addition_factors(layer)
        sums = np.zeros(layer.output.shape, np.int64)
        for values, tensor, factor in zip(sources, layer.sources, factors, strict=True):
            sums += factor * (values.astype(np.int64) - tensor.zero)
        return scaled(sums, [first.scale / factors[0] / layer.output.scale] * channels, layer)
    parts = windows(layer, sources[0], first.zero)
    if layer.op == "AveragePool":
        total = sum(part - first.zero for _, _, part in parts).astype(np.int64)
        return scaled(total, [first.scale / layer.output.scale / len(parts)] * channels, layer)
    weights = layer.weights.astype(np.float64)
    sums = np.zeros(layer.output.shape, np.float64) + layer.biases[:, None, None]
    for y, x, part in parts:
        flat = (part - first.zero).reshape(len(part), -1)
        sums += (weights[:, :, y, x] @ flat).reshape(sums.shape)
    ratios = [scale * first.scale / layer.output.scale for scale in layer.scales]
    return scaled(sums.astype(np.int64), ratios, layer)


def maps(network: Network, image: np.ndarray) -> dict[str, np.ndarray]:
    """Returns every int8 feature map of a network for an image, by the tensor's name."""
    found = {network.input.name: image}
    for layer in network.layers:
        sources = [found[one.name] for one in layer.sources]
        found[layer.output.name] = compute(layer, sources)
    return found
