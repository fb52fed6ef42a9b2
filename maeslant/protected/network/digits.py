# SPDX-License-Identifier: Apache-2.0
"""Loads images of handwritten digits, 8x8 pixels, and the network that classifies them.

The images, digits.csv.gz, are the test set of "Optical Recognition of Handwritten Digits" by
E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, 1998, DOI 10.24432/C50P49, licensed
CC BY 4.0, as scikit-learn 1.9.1 packs it. The network is digits.json, made by
tools/train_digits.py.
"""

import base64
import functools
import gzip
import json
import pathlib

import numpy as np

from maeslant.protected.network import layers

FILE = pathlib.Path(__file__).with_name("digits.json")
IMAGES = pathlib.Path(__file__).with_name("digits.csv.gz")
SEED = 5  # of the choice of held-out images
HELD_OUT = 360


@functools.cache
def images() -> tuple[np.ndarray, np.ndarray]:
    """Returns all 1797 images of digits, int8 (image, line, column, 1), and their labels."""
    with gzip.open(IMAGES, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.int8)
    return table[:, :64].reshape(-1, 8, 8, 1), table[:, 64]


def split() -> tuple[np.ndarray, np.ndarray]:
    """Returns the indices of the digit images for training, and of those for testing."""
    order = np.random.Generator(np.random.PCG64(SEED)).permutation(len(images()[0]))
    return order[HELD_OUT:], order[:HELD_OUT]


def held_out() -> tuple[np.ndarray, np.ndarray]:
    """Returns the digit images that were not used in training, and their labels."""
    pixels, digits = images()
    chosen = split()[1]
    return pixels[chosen], digits[chosen]


def save(network: list[layers.Layer], facts: dict[str, object]) -> str:
    """Returns a digit network and its facts as the text of the file digits.json."""
    items = []
    for layer in network:
        item: dict[str, object] = {"kind": type(layer).__name__, "relu": layer.relu}
        if isinstance(layer, layers.Convolution):
            item |= {"pad": layer.pad, "multiplier": layer.multiplier, "shift": layer.shift}
            item |= {"shape": layer.weights.shape, "biases": layer.biases.tolist()}
            item["weights"] = base64.b64encode(layer.weights.tobytes()).decode()
        items.append(item)
    return json.dumps({**facts, "layers": items}, indent=1) + "\n"


def load(path: pathlib.Path = FILE) -> list[layers.Layer]:
    """Returns the layers of the digit network in the file digits.json."""
    network: list[layers.Layer] = []
    for item in json.loads(path.read_text())["layers"]:
        kind = getattr(layers, item.pop("kind"))
        if "weights" in item:
            weights = np.frombuffer(base64.b64decode(item["weights"]), np.int8)
            item["weights"] = weights.reshape(item.pop("shape"))
            item["biases"] = np.array(item["biases"], np.int32)
        network.append(kind(**item))
    return network


def facts(path: pathlib.Path = FILE) -> dict[str, object]:
    """Returns the facts in digits.json about the digit network, such as its accuracy."""
    return {k: v for k, v in json.loads(path.read_text()).items() if k != "layers"}


def labels(network: list[layers.Layer], pixels: np.ndarray) -> list[int]:
    """Returns the labels of digit images, classified by the network's NumPy reference."""
    return [int(layers.run(network, image).reshape(-1).argmax()) for image in pixels]
