# SPDX-License-Identifier: Apache-2.0
"""Makes ResNet-18, GoogLeNet, AlexNet, and the network of the digits, as ONNX models.

The topologies are torchvision's, for images of 3 x 224 x 224. Their int8 weights are pseudo-random,
the same in every run: labels mean nothing, and layers, sizes and the work to do are those of the
real networks. All their scales are powers of two, so that a floating-point evaluation of the model
makes no rounding errors and can be compared bit by bit. The network of the digits has its trained
weights and scales (maeslant.protected.network).
"""

import math

import numpy as np

from maeslant import extras
from maeslant.protected.network import digits as trained
from maeslant.protected.network import layers

NAMES = ("resnet18", "googlenet", "alexnet", "digits")
STEP = -4  # log2 of a feature map's scale
RMS = 40.0  # of a feature map's values, in steps


class Builder:
    """Builds an ONNX model in QDQ form, layer by layer."""

    def __init__(self, channels: int, height: int, width: int, seed: int, zero: int = -2) -> None:
        extras.need_modules(["onnx"])
        from onnx import helper, numpy_helper

        self.helper, self.convert = helper, numpy_helper.from_array
        self.rng = np.random.default_rng(seed)
        self.nodes: list[object] = []
        self.constants: dict[str, object] = {}
        self.entry = (channels, height, width)
        self.shapes: dict[str, tuple[int, int, int]] = {}
        self.zeros: dict[str, int] = {}
        self.count = 0
        self.input = self.quantise("image", self.entry, zero)

    def constant(self, name: str, value: np.ndarray) -> str:
        """Adds a constant to the ONNX model, once; returns its name."""
        self.constants.setdefault(name, self.convert(value, name))
        return name

    def node(self, op: str, inputs: list[str], **attributes: object) -> str:
        """Adds an operator to the ONNX model; returns the name of the operator's output."""
        self.count += 1
        name = f"{op.lower()}{self.count}"
        self.nodes.append(self.helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def scale(self, step: int) -> str:
        """Adds a scale of 2^step to the ONNX model as a constant; returns its name."""
        return self.constant(f"scale{step}", np.float32(2.0**step))

    def quantise(self, name: str, shape: tuple[int, int, int], zero: int) -> str:
        """Adds a tensor's quantisation to the ONNX model; returns the quantised tensor's name."""
        inputs = [name, self.scale(STEP), self.constant(f"zero{zero}", np.int8(zero))]
        found = self.node("QuantizeLinear", inputs)
        self.shapes[found], self.zeros[found] = shape, zero
        return found

    def real(self, name: str) -> str:
        """Adds a tensor's dequantisation to the ONNX model; returns the real tensor's name."""
        zero = self.constant(f"zero{self.zeros[name]}", np.int8(self.zeros[name]))
        return self.node("DequantizeLinear", [name, self.scale(STEP), zero])

    def weights(self, *shape: int) -> tuple[str, str]:
        """Adds random weights and biases of a given shape to the ONNX model; returns the names."""
        fan = int(np.prod(shape[1:]))
        values = np.clip(np.rint(self.rng.normal(0, 32, shape)), -127, 127).astype(np.int8)
        # Inputs have about twice RMS; each output has its own scale.
        step = round(math.log2(1 / (32 * math.sqrt(2 * fan))))
        steps = step + self.rng.integers(0, 2, shape[0])
        spread = self.rng.normal(0, 8, shape[0]) * 2.0**-steps
        return self.given(values, np.rint(spread).astype(np.int32), 2.0**steps)

    def given(self, values: np.ndarray, biases: np.ndarray, scales: np.ndarray) -> tuple[str, str]:
        """Adds given weights, biases and scales to the ONNX model; returns the tensors' names."""
        number, count = len(self.constants), len(values)
        listed = self.constant(f"scales{number}", scales.astype(np.float32))
        name = self.constant(f"weights{number}", values)
        zeros = self.constant(f"zeros{count}", np.zeros(count, np.int8))
        found = self.node("DequantizeLinear", [name, listed, zeros], axis=0)
        added = self.constant(f"biases{number}", biases)
        units = self.constant(f"units{number}", (scales * 2.0**STEP).astype(np.float32))
        none = self.constant(f"nones{count}", np.zeros(count, np.int32))
        return found, self.node("DequantizeLinear", [added, units, none], axis=0)

    def finish(self, name: str, shape: tuple[int, int, int], relu: bool, zero: int = -100) -> str:
        """Adds Relu, if asked, and quantisation to the ONNX model; returns the layer's output name.

        ``zero`` is the zero point behind Relu; without it, that is 0.
        """
        if relu:
            name = self.node("Relu", [name])
        return self.quantise(name, shape, zero if relu else 0)

    def conv(
        self, source: str, made: int, kernel: int, stride: int = 1, pad: int = 0, relu: bool = True
    ) -> str:
        """Adds a convolution layer to the ONNX model; returns its output's name."""
        channels, height, width = self.shapes[source]
        inputs = [self.real(source), *self.weights(made, channels, kernel, kernel)]
        name = self.node("Conv", inputs, strides=[stride] * 2, pads=[pad] * 4)
        sizes = [(n + 2 * pad - kernel) // stride + 1 for n in (height, width)]
        return self.finish(name, (made, *sizes), relu)

    def full(self, source: str, made: int, relu: bool = False) -> str:
        """Adds a fully connected layer to the ONNX model; returns its output's name."""
        fan = int(np.prod(self.shapes[source]))
        flat = self.node("Flatten", [self.real(source)])
        name = self.node("Gemm", [flat, *self.weights(made, fan)], transB=1)
        return self.finish(name, (made, 1, 1), relu)

    def maximum(
        self, source: str, kernel: int, stride: int, pad: int = 0, ceil: bool = False
    ) -> str:
        """Adds a maximum pooling layer to the ONNX model; returns its output's name."""
        channels, height, width = self.shapes[source]
        names = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        name = self.node("MaxPool", [self.real(source)], ceil_mode=int(ceil), **names)
        room = [n + 2 * pad - kernel + (stride - 1) * ceil for n in (height, width)]
        shape = channels, *(n // stride + 1 for n in room)
        return self.quantise(name, shape, self.zeros[source])

    def average(self, source: str) -> str:
        """Adds an average of each channel to the ONNX model; returns its output's name."""
        name = self.node("GlobalAveragePool", [self.real(source)])
        return self.quantise(name, (self.shapes[source][0], 1, 1), self.zeros[source])

    def add(self, one: str, other: str) -> str:
        """Adds the sum of two feature maps, with Relu, to the ONNX model; returns its name."""
        name = self.node("Add", [self.real(one), self.real(other)])
        return self.finish(name, self.shapes[one], True)

    def concat(self, *sources: str) -> str:
        """Adds a concatenation of channels to the ONNX model; returns its output's name."""
        name = self.node("Concat", [self.real(s) for s in sources], axis=1)
        channels = sum(self.shapes[s][0] for s in sources)
        shape = channels, *self.shapes[sources[0]][1:]
        return self.quantise(name, shape, self.zeros[sources[0]])

    def model(self, output: str) -> object:
        """Returns the finished ONNX model, whose output is the given tensor."""
        helper, name = self.helper, self.real(output)
        kind, channels = 1, self.shapes[output][0]  # float
        image = helper.make_tensor_value_info("image", kind, [1, *self.entry])
        flat = [1, channels] if self.shapes[output][1:] == (1, 1) else [1, *self.shapes[output]]
        result = helper.make_tensor_value_info(name, kind, flat)
        graph = helper.make_graph(
            self.nodes, "network", [image], [result], list(self.constants.values())
        )
        versions = [helper.make_opsetid("", 21)]
        return helper.make_model(graph, opset_imports=versions, ir_version=10)


def resnet18() -> object:
    """Returns an ONNX model of ResNet-18 (He et al., 2015) with random weights."""
    b = Builder(3, 224, 224, 18)
    x = b.maximum(b.conv(b.input, 64, 7, 2, 3), 3, 2, 1)
    for number, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if number and not block else 1
            y = b.conv(b.conv(x, width, 3, stride, 1), width, 3, 1, 1, False)
            if stride == 2:
                x = b.conv(x, width, 1, 2, 0, False)
            x = b.add(x, y)
    return b.model(b.full(b.average(x), 1000))


INCEPTION = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


def googlenet() -> object:
    """Returns an ONNX model of GoogLeNet (Szegedy et al., 2014), with torchvision's 3x3 kernels."""
    b = Builder(3, 224, 224, 14)
    x = b.maximum(b.conv(b.input, 64, 7, 2, 3), 3, 2, 0, True)
    x = b.maximum(b.conv(b.conv(x, 64, 1), 192, 3, 1, 1), 3, 2, 0, True)
    for name, (one, two, three, four, five, six) in INCEPTION.items():
        branches = [
            b.conv(x, one, 1),
            b.conv(b.conv(x, two, 1), three, 3, 1, 1),
            b.conv(b.conv(x, four, 1), five, 3, 1, 1),
            b.conv(b.maximum(x, 3, 1, 1), six, 1),
        ]
        x = b.concat(*branches)
        if name in ("3b", "4e"):
            kernel = 3 if name == "3b" else 2
            x = b.maximum(x, kernel, 2, 0, True)
    return b.model(b.full(b.average(x), 1000))


def alexnet() -> object:
    """Returns an ONNX model of AlexNet (Krizhevsky, 2014: one tower) with random weights."""
    b = Builder(3, 224, 224, 12)
    x = b.maximum(b.conv(b.input, 64, 11, 4, 2), 3, 2)
    x = b.maximum(b.conv(x, 192, 5, 1, 2), 3, 2)
    for width in (384, 256, 256):
        x = b.conv(x, width, 3, 1, 1)
    x = b.full(b.full(b.maximum(x, 3, 2), 4096, True), 4096, True)
    return b.model(b.full(x, 1000))


def digits() -> object:
    """Returns an ONNX model of the trained network that classifies 8x8 digits."""
    b = Builder(1, 8, 8, 0, zero=0)
    x = b.input
    for layer in trained.load():
        if isinstance(layer, layers.Pool):
            x = b.maximum(x, 2, 2)
            continue
        (channels, height, width), count = b.shapes[x], len(layer.weights)
        scales = np.full(count, layer.multiplier / 2**layer.shift)
        if isinstance(layer, layers.Full):  # there the channels of a pixel follow each other
            weights = layer.weights.reshape(count, height, width, channels)
            weights = weights.transpose(0, 3, 1, 2).reshape(count, -1)
            flat = b.node("Flatten", [b.real(x)])
            name = b.node("Gemm", [flat, *b.given(weights, layer.biases, scales)], transB=1)
            x = b.finish(name, (count, 1, 1), layer.relu, 0)
            continue
        given = b.given(layer.weights.transpose(0, 3, 1, 2), layer.biases, scales)
        name = b.node("Conv", [b.real(x), *given], strides=[1, 1], pads=[layer.pad] * 4)
        grow = 2 * layer.pad + 1 - layer.kernel
        x = b.finish(name, (count, height + grow, width + grow), layer.relu, 0)
    return b.model(x)


def make(name: str) -> object:
    """Returns the ONNX model of a network by its name, the same in every run."""
    made = {"resnet18": resnet18, "googlenet": googlenet, "alexnet": alexnet, "digits": digits}
    return made[name]()


def image(name: str | None, shape: tuple[int, int, int]) -> np.ndarray:
    """Returns a network's input image: a digit not used in training, else pseudo-random values."""
    if name == "digits":
        return np.float32(trained.held_out()[0][0].transpose(2, 0, 1)) * np.float32(2.0**STEP)
    return np.random.default_rng(1).normal(0, 2.5, shape).astype(np.float32)
