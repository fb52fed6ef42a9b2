# SPDX-License-Identifier: Apache-2.0
"""Tests the neural network for digits: data set, accuracy, memory layout, training."""

import subprocess
import sys

import numpy as np
import pytest

from maeslant import paths
from maeslant.protected.network import digits, layers, memory


def test_images() -> None:
    """The digit data set has UCI's shape and values, split into disjoint training and test sets."""
    pixels, wanted = digits.images()
    assert pixels.shape == (1797, 8, 8, 1) and pixels.min() == 0 and pixels.max() == 16
    assert sorted(set(wanted.tolist())) == list(range(10))
    known, unknown = digits.split()
    assert len(unknown) == digits.HELD_OUT and not set(known) & set(unknown)
    assert len(known) + len(unknown) == 1797


def test_accuracy() -> None:
    """The int8 network has the accuracy that digits.json states, at least 97 %."""
    pixels, wanted = digits.held_out()
    labels = digits.labels(digits.load(), pixels)
    right = sum(a == b for a, b in zip(labels, wanted, strict=True))
    assert right == digits.facts()["int8_right"]
    assert right >= 0.97 * digits.HELD_OUT


@pytest.mark.slow
def test_training_repeats() -> None:
    """tools/train_digits.py reproduces digits.json bit for bit."""
    tool = [sys.executable, str(paths.ROOT / "tools" / "train_digits.py"), "--check"]
    subprocess.run(tool, check=True)


def test_packing() -> None:
    """Packed feature maps, commands and parameters have the layout of mae_kernel_pkg."""
    rng = np.random.default_rng(2)
    values = rng.integers(-128, 128, (3, 4, 17), np.int8)
    data = memory.pack_map(values)
    assert len(data) == memory.map_bytes(3, 4, 17) == 3 * 4 * 32
    assert (memory.unpack_map(data, 3, 4, 17) == values).all()
    assert data[(2 * 4 + 1) * 32 + 16] == int(values[2, 1, 16]) % 256 and data[31] == 0
    weights = rng.integers(-128, 128, (18, 2, 2, 3), np.int8)
    layer = layers.Convolution(weights, np.arange(18, dtype=np.int32) - 9, 1, 0)
    data = memory.pack_parameters(layer)
    piece = 64 + 2 * 2 * 3 * 16
    assert len(data) == 2 * piece
    assert data[piece + 4 : piece + 8] == (17 - 9).to_bytes(4, "little")
    assert data[piece + 64 + ((1 * 2 + 0) * 3 + 2) * 16 + 1] == int(weights[17, 1, 0, 2]) % 256
    command = memory.Command(1, 2, 3, 4, 5, 16, 32, 7, 6, 48, 9, 10, True, True)
    data = command.encode()
    assert len(data) == 64 and memory.Command.decode(data) == command
    assert data[:16].hex() == "010302030400050007060900" + "0a000000"


def test_plan() -> None:
    """The parts of a network's memory plan are disjoint and aligned to 64 bytes."""
    pixels = digits.held_out()[0][:5]
    network = digits.load()
    plan = memory.place(network, pixels, base=0x1000)
    spans = [(a, a + len(d)) for a, d in plan.loads]
    spans.append((plan.results, plan.results + plan.count * plan.result_bytes))
    assert all(a % 64 == 0 for a, _ in spans)
    assert all(b <= c for (_, b), (c, _) in zip(spans, spans[1:], strict=False))
    assert spans[0][0] == 0x1000 and spans[-1][1] < plan.end
    data = plan.commands[1]
    commands = [memory.Command.decode(data[i : i + 64]) for i in range(0, len(data), 64)]
    assert [c.last for c in commands] == [False] * 19 + [True]
    for first, second in zip(commands, commands[1:], strict=False):
        if second.op != memory.OP_CONV or second.in_channels != 1:
            assert first.destination == second.source != second.destination
    results = b"".join(memory.pack_map(layers.run(network, image)) for image in pixels)
    assert plan.labels(results) == digits.labels(network, pixels)
