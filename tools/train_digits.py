# SPDX-License-Identifier: Apache-2.0
"""Trains the network that classifies handwritten digits, and quantizes it to int8.

Plain NumPy, fixed seeds. Float sums differ in their last bits between machines; so that the result
does not, the weights are rounded to multiples of 2^-16 after each step, far coarser than those
bits. `--check` fails when the file is not what the training gives.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths
from maeslant.protected.network import digits, layers

CHANNELS, CLASSES, KERNEL = 16, 10, 3
EPOCHS, BATCH, RATE, MOMENTUM, DECAY = 30, 32, 0.05, 0.9, 1e-4
SEED = 17
GRID = 2.0**16
FULL_SCALE = 16.0  # of a pixel


def patches(maps: np.ndarray) -> np.ndarray:
    """Returns each pixel's 3x3 neighbourhood in feature maps, for convolution (im2col)."""
    count, height, width, channels = maps.shape
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (KERNEL, KERNEL), (1, 2))
    return view.transpose(0, 1, 2, 4, 5, 3).reshape(count, height, width, -1)


def unpatches(slopes: np.ndarray, channels: int) -> np.ndarray:
    """Returns feature maps as sums of 3x3 neighbourhoods (col2im), the transpose of ``patches``."""
    count, height, width, _ = slopes.shape
    parts = slopes.reshape(count, height, width, KERNEL, KERNEL, channels)
    padded = np.zeros((count, height + 2, width + 2, channels))
    for y in range(KERNEL):
        for x in range(KERNEL):
            padded[:, y : y + height, x : x + width] += parts[:, :, :, y, x]
    return padded[:, 1:-1, 1:-1]


def forward(weights: list[np.ndarray], maps: np.ndarray) -> list[np.ndarray]:
    """Returns the outputs of all layers of the digit network, in floating point."""
    first = np.maximum(patches(maps) @ weights[0] + weights[1], 0)
    second = np.maximum(patches(first) @ weights[2] + weights[3], 0)
    count, height, width, channels = second.shape
    cells = second.reshape(count, height // 2, 2, width // 2, 2, channels)
    pooled = cells.max(axis=(2, 4))
    return [first, second, pooled, pooled.reshape(count, -1) @ weights[4] + weights[5]]


def slopes(weights: list[np.ndarray], maps: np.ndarray, wanted: np.ndarray) -> list[np.ndarray]:
    """Returns the gradient of the digit network's loss with respect to all weights."""
    first, second, pooled, outputs = forward(weights, maps)
    count = len(maps)
    chances = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(count), wanted] -= 1
    chances /= count
    full = pooled.reshape(count, -1).T @ chances
    back = (chances @ weights[4].T).reshape(pooled.shape)
    # Of equal values in a cell of the pool each gets the slope: they are zeros, which ReLU stops.
    wide = np.repeat(np.repeat(pooled, 2, axis=1), 2, axis=2)
    back = np.repeat(np.repeat(back, 2, axis=1), 2, axis=2) * ((second == wide) & (second > 0))
    flat = back.reshape(-1, CHANNELS)
    kernel = patches(first).reshape(len(flat), -1).T @ flat
    before = unpatches(back @ weights[2].T, CHANNELS) * (first > 0)
    before = before.reshape(-1, CHANNELS)
    entry = patches(maps).reshape(len(before), -1).T @ before
    return [entry, before.sum(axis=0), kernel, flat.sum(axis=0), full, chances.sum(axis=0)]


def train(maps: np.ndarray, wanted: np.ndarray) -> list[np.ndarray]:
    """Trains the digit network by gradient descent with momentum; returns the weights."""
    random = np.random.Generator(np.random.PCG64(SEED))
    sizes = [(KERNEL**2, CHANNELS), (KERNEL**2 * CHANNELS, CHANNELS), (16 * CHANNELS, CLASSES)]
    weights = []
    for inputs, outputs in sizes:
        spread = (2 / inputs) ** 0.5
        weights += [random.normal(0, spread, (inputs, outputs)), np.zeros(outputs)]
    weights = [np.round(w * GRID) / GRID for w in weights]
    speeds = [np.zeros_like(w) for w in weights]
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = random.permutation(len(maps))
        for at in range(0, len(maps), BATCH):
            chosen = order[at : at + BATCH]
            found = slopes(weights, maps[chosen], wanted[chosen])
            for i, slope in enumerate(found):
                speeds[i] = MOMENTUM * speeds[i] + slope + DECAY * weights[i]
                weights[i] = np.round((weights[i] - rate * speeds[i]) * GRID) / GRID
    return weights


def quantize(weights: list[np.ndarray], maps: np.ndarray) -> list[layers.Layer]:
    """Quantizes the digit network to int8 with a scale per layer; returns the layers."""
    first, second, _, outputs = forward(weights, maps)
    tops = [np.abs(values).max() for values in (first, second, outputs)]
    shapes = [(KERNEL, KERNEL, 1), (KERNEL, KERNEL, CHANNELS), (1, 1, 16 * CHANNELS)]
    network: list[layers.Layer] = []
    scale = 1 / FULL_SCALE  # what 1 of the layer's input is
    for i, (top, shape) in enumerate(zip(tops, shapes, strict=True)):
        kernel, bias = weights[2 * i], weights[2 * i + 1]
        fine = np.abs(kernel).max() / layers.HIGHEST
        after = top / layers.HIGHEST
        ratio = scale * fine / after
        shift = 15 - int(np.floor(np.log2(ratio)))
        kind = layers.Full if i == 2 else layers.Convolution
        network.append(
            kind(
                weights=np.round(kernel / fine).astype(np.int8).T.reshape(-1, *shape).copy(),
                biases=np.round(bias / (scale * fine)).astype(np.int32),
                multiplier=min(round(ratio * 2**shift), 2**16 - 1),
                shift=shift,
                relu=i != 2,
                pad=0 if i == 2 else 1,
            )
        )
        scale = after
    return [network[0], network[1], layers.Pool(), network[2]]


def make() -> str:
    """Trains and quantizes the digit network; returns the JSON text for digits.json."""
    pixels, wanted = digits.images()
    known, unknown = digits.split()
    maps = pixels / FULL_SCALE
    weights = train(maps[known], wanted[known])
    network = quantize(weights, maps[known])
    float_right = (forward(weights, maps[unknown])[-1].argmax(axis=1) == wanted[unknown]).sum()
    int8_right = (np.array(digits.labels(network, pixels[unknown])) == wanted[unknown]).sum()
    facts = {"trained": len(known), "held_out": len(unknown)}
    return digits.save(
        network, {**facts, "float_right": int(float_right), "int8_right": int(int8_right)}
    )


def main() -> int:
    """Trains the digit network and writes digits.json; with --check only compares the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when the file is stale")
    check = parser.parse_args().check
    text = make()
    if check:
        same = digits.FILE.read_text() == text
        print("as trained" if same else f"{digits.FILE.name} is not what the training gives")
        return int(not same)
    paths.write(digits.FILE, text)
    for name, value in digits.facts().items():
        print(f"{name:12} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
