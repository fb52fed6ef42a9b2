# SPDX-License-Identifier: Apache-2.0
"""Reads an int8 network from an ONNX file in QDQ or QOperator form: tensors and layers.

QDQ form: each layer's inputs come from DequantizeLinear and its output goes to QuantizeLinear,
with or without Relu between. Names of operators in errors are those of the file. A uint8 tensor is
kept as int8, 128 less.
"""

import dataclasses
import fractions
import pathlib

import numpy as np

from maeslant import extras
from maeslant.errors import MaeslantError
from maeslant.nn import qoperator

LAYERS = ("Conv", "Gemm", "MatMul", "MaxPool", "AveragePool", "GlobalAveragePool", "Add", "Concat")
SHAPERS = ("Flatten", "Reshape")
SILENT = ("Identity", "Dropout")
Scale = fractions.Fraction


@dataclasses.dataclass
class Tensor:
    """Describes a quantised feature map: shape (channel, line, column), scale, int8 zero point."""

    name: str
    shape: tuple[int, int, int]
    scale: Scale
    zero: int
    unsigned: bool = False


@dataclasses.dataclass
class Layer:
    """Describes a network's layer: operator, input and output tensors, and the layer's options."""

    op: str  # of LAYERS, with "Copy"
    sources: list[Tensor]
    output: Tensor
    relu: bool = False
    weights: np.ndarray | None = None  # int8 (output, input, line, column)
    biases: np.ndarray | None = None  # int64 (output), in units of source and weight scale
    scales: list[Scale] = dataclasses.field(default_factory=list)  # of the weights, each output
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    pad: tuple[int, int] = (0, 0)  # above and before


@dataclasses.dataclass
class Network:
    """Describes a network: its layers in order, its input tensor and its output tensor."""

    input: Tensor
    layers: list[Layer]
    output: Tensor


def load(path: pathlib.Path) -> object:
    """Reads and checks an ONNX file; returns the model in QDQ form, or raises MaeslantError."""
    extras.need_modules(["onnx"])
    import onnx

    try:
        model = onnx.load(str(path))
        onnx.checker.check_model(model)
        if not model.graph.node:
            raise MaeslantError(f"{path}: the model has no operators")
    except FileNotFoundError:
        raise MaeslantError(f"{path}: no such file") from None
    except MaeslantError:
        raise
    except Exception as error:  # the decoder's and the checker's errors have no common class
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise MaeslantError(f"{path}: not a valid ONNX model: {first}") from None
    return qoperator.converted(model)


class Reader:
    """Converts an ONNX model's graph in QDQ form to the layers of a Network."""

    def __init__(self, model: object) -> None:
        from onnx import numpy_helper

        graph = model.graph
        self.constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        self.producers = {name: node for node in graph.node for name in node.output}
        self.tensors: dict[str, Tensor] = {}
        self.layers: list[Layer] = []
        inputs = [i for i in graph.input if i.name not in self.constants]
        if len(inputs) != 1 or len(graph.output) != 1:
            raise MaeslantError("a network has one input and one output")
        self.input = inputs[0].name
        sizes = [d.dim_value for d in inputs[0].type.tensor_type.shape.dim]
        if len(sizes) != 4 or sizes[0] not in (0, 1) or min(sizes[1:]) < 1:
            raise MaeslantError(f"the input's shape is {sizes}, not 1 x channels x lines x columns")
        self.shape = tuple(sizes[1:])
        self.nodes = list(graph.node)
        self.output = graph.output[0].name

    def fail(self, node: object, why: str) -> MaeslantError:
        """Returns a MaeslantError whose text names an ONNX operator and what is wrong with it."""
        return MaeslantError(f"operator {node.op_type} ({node.name or node.output[0]}): {why}")

    def attributes(self, node: object, *known: str) -> dict[str, object]:
        """Returns an ONNX operator's attributes by name; raises MaeslantError for unknown ones."""
        from onnx import helper

        found = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if unknown := sorted(set(found) - set(known)):
            raise self.fail(node, f"the attribute {unknown[0]} is not supported")
        return found

    def constant(self, node: object, place: int) -> np.ndarray | None:
        """Returns an ONNX operator's constant input at a place; None if the operator lacks it."""
        if len(node.input) <= place or not node.input[place]:
            return None
        if node.input[place] not in self.constants:
            raise self.fail(node, f"input {place} is no constant")
        return self.constants[node.input[place]]

    def quantisation(self, node: object) -> tuple[Scale, int, bool]:
        """Returns a quantisation's scale, its zero point for int8, and true if data are uint8."""
        scale, zero = self.constant(node, 1), self.constant(node, 2)
        if scale.size != 1:
            raise self.fail(node, "a feature map has one scale")
        if not (float(scale.reshape(-1)[0]) > 0 and np.isfinite(scale).all()):
            raise self.fail(node, "the scale is not positive")
        kind = np.dtype(np.uint8) if zero is None else zero.dtype
        if kind not in (np.int8, np.uint8):
            raise self.fail(node, f"the type {kind} is not supported, only int8 and uint8")
        place = 0 if zero is None else int(zero.reshape(-1)[0])
        unsigned = kind == np.uint8
        return Scale(float(scale.reshape(-1)[0])), place - 128 * unsigned, unsigned

    def source(self, name: str, node: object) -> Tensor:
        """Returns the quantised tensor that an ONNX operator reads through DequantizeLinear."""
        maker = self.producers.get(name)
        passed = (*SILENT, *(SHAPERS if node.op_type in ("Gemm", "MatMul") else ()))
        while maker is not None and maker.op_type in passed:
            maker = self.producers.get(maker.input[0])
        if maker is None or maker.op_type != "DequantizeLinear":
            found = maker.op_type if maker is not None else name
            raise self.fail(node, f"an input comes from {found}, not from DequantizeLinear")
        if maker.input[0] not in self.tensors:
            raise self.fail(node, f"the tensor {maker.input[0]} is not made by QuantizeLinear")
        tensor = self.tensors[maker.input[0]]
        if self.quantisation(maker) != (tensor.scale, tensor.zero, tensor.unsigned):
            raise self.fail(maker, "scale or zero point differ from QuantizeLinear's")
        return tensor

    def weights(self, node: object, place: int) -> tuple[np.ndarray, list[Scale]]:
        """Returns an ONNX operator's int8 weights and, for each output, the weights' scale."""
        maker = self.producers.get(node.input[place])
        if maker is None or maker.op_type != "DequantizeLinear":
            raise self.fail(node, "the weights do not come from DequantizeLinear")
        values, scales = self.constant(maker, 0), self.constant(maker, 1)
        zero = self.constant(maker, 2)
        if values.dtype != np.int8 or (zero is not None and np.any(zero)):
            raise self.fail(node, "the weights are not int8 with zero points of 0")
        listed = [Scale(float(s)) for s in scales.reshape(-1)]
        if not all(s > 0 for s in listed):
            raise self.fail(maker, "a scale is not positive")
        axis = {a.name: a.i for a in maker.attribute}.get("axis", 1)
        outputs = 0 if node.op_type == "Conv" else 1
        if node.op_type == "Gemm" and self.attributes(node, *GEMM).get("transB"):
            outputs = 0
        if len(listed) > 1 and axis % values.ndim != outputs:
            raise self.fail(maker, "scales of weights belong to the output channels")
        count = values.shape[outputs]
        return values, listed * (count if len(listed) == 1 else 1)

    def biases(self, node: object, place: int, units: list[Scale]) -> np.ndarray:
        """Returns an ONNX operator's biases as integers, each in its given unit."""
        if len(node.input) <= place or not node.input[place]:
            return np.zeros(len(units), np.int64)
        maker = self.producers.get(node.input[place])
        if maker is not None and maker.op_type == "DequantizeLinear":
            values, scale = self.constant(maker, 0), self.constant(maker, 1)
            real = values.astype(np.float64) * scale.astype(np.float64)
        else:
            real = self.constant(node, place).astype(np.float64)
        if real.shape != (len(units),):
            raise self.fail(node, f"{real.size} biases for {len(units)} outputs")
        return np.array(
            [round(Scale(float(b)) / unit) for b, unit in zip(real, units, strict=True)], np.int64
        )

    def read(self) -> Network:
        """Returns the model as a Network; raises MaeslantError for an operator not supported."""
        known = (*LAYERS, *SHAPERS, *SILENT, "Relu", "QuantizeLinear", "DequantizeLinear")
        for node in self.nodes:
            if node.op_type not in known or node.domain not in ("", "ai.onnx"):
                raise self.fail(node, "not supported; there are " + ", ".join(known))
        entry = None
        for node in self.nodes:
            if node.op_type == "QuantizeLinear" and node.input[0] not in self.constants:
                if node.input[0] == self.input:
                    scale, zero, unsigned = self.quantisation(node)
                    entry = Tensor(node.output[0], self.shape, scale, zero, unsigned)
                    self.tensors[node.output[0]] = entry
                else:
                    self.layer(node)
        if entry is None:
            raise MaeslantError(f"the input {self.input} does not go to QuantizeLinear")
        maker = self.producers[self.output]
        return Network(entry, self.layers, self.source(self.output, maker))

    def layer(self, quantise: object) -> None:
        """Adds to the network the layer whose result an ONNX QuantizeLinear operator quantises."""
        node, relu = self.producers.get(quantise.input[0]), False
        while node is not None and node.op_type in (*SILENT, "Relu"):
            relu |= node.op_type == "Relu"
            node = self.producers.get(node.input[0])
        if node is None or node.op_type not in (*LAYERS, *SHAPERS):
            found = node.op_type if node is not None else quantise.input[0]
            raise self.fail(quantise, f"its input comes from {found}, which is no layer")
        scale, zero, unsigned = self.quantisation(quantise)
        output = Tensor(quantise.output[0], (0, 0, 0), scale, zero, unsigned)
        if node.op_type in SHAPERS:
            source = self.source(node.input[0], node)
            if (source.scale, source.zero, source.unsigned) != (scale, zero, unsigned) or relu:
                raise self.fail(node, "it changes the scale or the zero point")
            self.tensors[output.name] = source
            return
        inputs = node.input if node.op_type in ("Add", "Concat") else node.input[:1]
        sources = [self.source(name, node) for name in inputs]
        layer = Layer(node.op_type, sources, output, relu)
        {"Conv": self.conv, "Gemm": self.gemm, "MatMul": self.gemm, "Add": self.add}.get(
            node.op_type, self.concat if node.op_type == "Concat" else self.pool
        )(node, layer)
        self.tensors[output.name] = output
        self.layers.append(layer)

    def window(self, node: object, found: dict[str, object], layer: Layer) -> None:
        """Sets a layer's kernel, stride and padding, and its output's size, from attributes."""
        dilations = found.get("dilations", [1, 1])
        if list(dilations) != [1, 1] or found.get("group", 1) != 1:
            raise self.fail(node, "dilations and groups are not supported")
        if found.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
            raise self.fail(node, "auto_pad is not supported")
        layer.stride = tuple(found.get("strides", [1, 1]))
        pads = list(found.get("pads", [0, 0, 0, 0]))
        layer.pad = pads[0], pads[1]
        if len(layer.kernel) != 2 or max(layer.kernel) > 15 or max(*layer.stride, *pads) > 15:
            raise self.fail(node, "kernels, strides and pads are two-dimensional and at most 15")
        sizes = []
        for axis in range(2):
            room = layer.sources[0].shape[1 + axis] + pads[axis] + pads[2 + axis]
            steps, rest = divmod(room - layer.kernel[axis], layer.stride[axis])
            if steps < 0:
                raise self.fail(node, "the kernel is larger than the map")
            if found.get("ceil_mode") and rest:
                begin = (steps + 1) * layer.stride[axis] - pads[axis]
                steps += begin < layer.sources[0].shape[1 + axis]
            sizes.append(steps + 1)
        layer.output.shape = (layer.output.shape[0], *sizes)

    def conv(self, node: object, layer: Layer) -> None:
        """Sets a layer's weights, biases and window from an ONNX convolution."""
        found = self.attributes(
            node, "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"
        )
        layer.weights, layer.scales = self.weights(node, 1)
        if layer.weights.ndim != 4 or layer.weights.shape[1] != layer.sources[0].shape[0]:
            raise self.fail(
                node,
                f"weights of shape {layer.weights.shape} do not fit "
                f"{layer.sources[0].shape[0]} channels",
            )
        layer.kernel = layer.weights.shape[2:]
        layer.output.shape = (len(layer.weights), 0, 0)
        layer.biases = self.biases(node, 2, [s * layer.sources[0].scale for s in layer.scales])
        self.window(node, found, layer)

    def gemm(self, node: object, layer: Layer) -> None:
        """Sets a layer's weights and biases from an ONNX Gemm; its kernel is the whole map."""
        found = self.attributes(node, *GEMM) if node.op_type == "Gemm" else {}
        if found.get("alpha", 1) != 1 or found.get("beta", 1) != 1 or found.get("transA"):
            raise self.fail(node, "alpha, beta and transA are not supported")
        weights, layer.scales = self.weights(node, 1)
        flat = weights if found.get("transB") else weights.T
        shape = layer.sources[0].shape
        if flat.ndim != 2 or flat.shape[1] != int(np.prod(shape)):
            raise self.fail(node, f"weights of shape {weights.shape} do not fit a map of {shape}")
        if max(shape[1:]) > 15:
            raise self.fail(node, "the map has more than 15 lines or columns")
        layer.weights = flat.reshape(len(flat), *shape)
        layer.kernel = shape[1:]
        layer.biases = self.biases(node, 2, [s * layer.sources[0].scale for s in layer.scales])
        layer.output.shape = (len(flat), 1, 1)

    def pool(self, node: object, layer: Layer) -> None:
        """Sets a layer's window and output shape from an ONNX pooling operator."""
        names = "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides".split()
        found = self.attributes(node, *names, "storage_order")
        source = layer.sources[0]
        layer.output.shape = source.shape
        if node.op_type == "GlobalAveragePool":
            layer.op, layer.kernel = "AveragePool", source.shape[1:]
        else:
            layer.kernel = tuple(found["kernel_shape"])
        if node.op_type == "MaxPool":
            same = (source.scale, source.zero) == (layer.output.scale, layer.output.zero)
            if not same or layer.relu:
                raise self.fail(node, "it changes the scale or the zero point, or Relu follows")
        elif any(found.get("pads", [])) and not found.get("count_include_pad"):
            raise self.fail(node, "padding that is not counted is not supported")
        self.window(node, found, layer)
        if node.op_type == "AveragePool" and found.get("ceil_mode"):
            raise self.fail(node, "ceil_mode is not supported")

    def add(self, node: object, layer: Layer) -> None:
        """Sets a layer's output shape from an ONNX addition of two feature maps."""
        if layer.sources[0].shape != layer.sources[1].shape:
            shapes = " and ".join(str(s.shape) for s in layer.sources)
            raise self.fail(node, f"the shapes {shapes} differ")
        layer.output.shape = layer.sources[0].shape

    def concat(self, node: object, layer: Layer) -> None:
        """Sets a layer's output shape from an ONNX concatenation of channels."""
        if self.attributes(node, "axis")["axis"] not in (1, -3):
            raise self.fail(node, "only channels (axis 1) are concatenated")
        for one in layer.sources:
            same = (one.scale, one.zero) == (layer.output.scale, layer.output.zero)
            if not same or layer.relu:
                raise self.fail(node, "it changes a scale or a zero point, or Relu follows")
            if one.shape[1:] != layer.sources[0].shape[1:]:
                raise self.fail(node, f"the shapes {one.shape} and others differ")
        channels = sum(one.shape[0] for one in layer.sources)
        layer.output.shape = (channels, *layer.sources[0].shape[1:])


GEMM = ("alpha", "beta", "transA", "transB")


def read(model: object) -> Network:
    """Returns the Network of an ONNX model in QDQ form."""
    return Reader(model).read()
