# SPDX-License-Identifier: Apache-2.0
"""Tests networks in QOperator form: against onnx's own evaluator, and against sums by hand.

The evaluator has the standard's QLinearConv and QLinearMatMul; those of com.microsoft are here.
"""

import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from maeslant.errors import MaeslantError
from maeslant.nn import compiler, graph, integer
from maeslant.nn.commands import Shape
from maeslant.nn.inference import evaluated
from tests.nn.small import image

SHAPE = (3, 9, 10)
MICROSOFT = "com.microsoft"
STEP = np.float32(2**-4)


class Net:
    """Writes a network in QOperator form; scales are powers of two, so that all is exact."""

    def __init__(self, kind: type = np.int8) -> None:
        self.kind, self.rng = kind, np.random.default_rng(5)
        self.nodes, self.constants, self.scales = [], [], {}
        self.x = self.node("QuantizeLinear", "image", scale=(STEP, 3))

    def constant(self, value: np.ndarray) -> str:
        """Adds a constant and returns its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def pair(self, step: float, zero: int) -> list[str]:
        """Adds a scale and a zero point."""
        return [self.constant(np.float32(step)), self.constant(self.kind(zero))]

    def node(self, op: str, *inputs: str, scale: tuple = (), domain: str = "", **known) -> str:  # noqa: ANN003
        """Adds an operator, with the scale and the zero point of its output behind its inputs."""
        name = f"{op}{len(self.nodes)}"
        last = self.pair(*scale) if scale else []
        self.nodes.append(
            helper.make_node(op, [*inputs, *last], [name], name, domain=domain, **known)
        )
        self.scales[name] = last
        return name

    def read(self, name: str) -> list[str]:
        """Returns a tensor with its scale and zero point."""
        return [name, *self.scales[name]]

    def weights(self, *shape: int, each: bool = True, axis: int = 0) -> tuple[list[str], list[str]]:
        """Adds int8 weights with scales, and int32 biases."""
        values = self.rng.integers(-50, 50, shape, np.int8)
        count = shape[axis]
        steps = 2.0 ** self.rng.integers(-9, -7, count) if each else np.float64(2**-8)
        zeros = np.zeros(count if each else (), np.int8)
        parts = [self.constant(v) for v in (values, steps.astype(np.float32), zeros)]
        return parts, [self.constant(self.rng.integers(-900, 900, count, np.int32))]

    def conv(self, source: str, made: int, channels: int, size: int = 3, each: bool = True) -> str:
        """Adds a convolution."""
        weights, biases = self.weights(made, channels, size, size, each=each)
        last = self.pair(STEP, 2)  # even: onnx's evaluator adds it before it rounds ties
        name = self.node(
            "QLinearConv", *self.read(source), *weights, *last, *biases, pads=[size // 2] * 4
        )
        self.scales[name] = last
        return name

    def model(self, last: str, opset: int = 21) -> object:
        """Returns the ONNX model with a tensor as its output."""
        self.nodes.append(helper.make_node("DequantizeLinear", self.read(last), ["result"], "end"))
        entry = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, *SHAPE])
        end = helper.make_tensor_value_info("result", TensorProto.FLOAT, ["n", "m"])
        body = helper.make_graph(self.nodes, "net", [entry], [end], self.constants)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(body, opset_imports=opsets, ir_version=8)


def standard(kind: type) -> object:
    """Returns a network of the standard's operators on integers."""
    net = Net(kind)
    x = net.conv(net.conv(net.x, 6, 3), 5, 6, 1, each=False)
    pooled = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    net.scales[pooled] = net.scales[x]
    flat = net.node("Flatten", pooled)
    net.scales[flat] = net.scales[pooled]
    weights, _ = net.weights(5 * 4 * 5, 7, axis=1)
    last = net.pair(STEP, -2 if kind is np.int8 else 8)
    y = net.node("QLinearMatMul", *net.read(flat), *weights, *last)
    net.scales[y] = last
    return net.model(y)


def extended() -> object:
    """Returns a network of the operators of com.microsoft."""
    net = Net()

    def own(op: str, *inputs: str, end: list[str] | None = None, **known) -> str:  # noqa: ANN003
        last = [] if end else net.pair(STEP, 2)
        name = net.node(op, *inputs, *last, domain=MICROSOFT, **known)
        net.scales[name] = end or last
        return name

    x = net.conv(net.x, 4, 3)
    y = own("QLinearAdd", *net.read(x), *net.read(net.conv(x, 4, 4)))
    y = own("QLinearAveragePool", *net.read(y), kernel_shape=[2, 2], strides=[1, 2])
    last = net.scales[y]
    y = own("QLinearConcat", *last, *net.read(y), *net.read(y), end=last, axis=1)
    y = own("QLinearGlobalAveragePool", *net.read(own(
        "QLinearAveragePool", *net.read(y), kernel_shape=[1, 2], strides=[1, 1])))  # fmt: skip
    flat = net.node("Flatten", y)
    net.scales[flat] = net.scales[y]
    weights, biases = net.weights(5, 8)
    return net.model(own("QGemm", *net.read(flat), *weights, *biases, transB=1))


def real(x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """Dequantises values."""
    return (x.astype(np.float64) - zero) * scale


def whole(x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> tuple[np.ndarray]:
    """Quantises values."""
    return (np.clip(np.rint(x / scale) + zero, -128, 127).astype(np.int8),)


class QLinearAdd(OpRun):  # noqa: D101 - as onnxruntime documents it
    op_domain = MICROSOFT

    def _run(self, *x) -> tuple[np.ndarray]:  # noqa: ANN002
        return whole(real(*x[:3]) + real(*x[3:6]), *x[6:])


class QLinearConcat(OpRun):  # noqa: D101
    op_domain = MICROSOFT

    def _run(self, *x, axis: int = 1) -> tuple[np.ndarray]:  # noqa: ANN002
        parts = [real(*x[at : at + 3]) for at in range(2, len(x), 3)]
        return whole(np.concatenate(parts, axis), *x[:2])


class QLinearGlobalAveragePool(OpRun):  # noqa: D101
    op_domain = MICROSOFT

    def _run(self, *x, channels_last: int = 0) -> tuple[np.ndarray]:  # noqa: ANN002
        assert not channels_last
        return whole(real(*x[:3]).mean((2, 3), keepdims=True), *x[3:])


class QLinearAveragePool(OpRun):  # noqa: D101
    op_domain = MICROSOFT

    def _run(self, *x, kernel_shape: list[int], strides: list[int]) -> tuple[np.ndarray]:  # noqa: ANN002
        spots = np.lib.stride_tricks.sliding_window_view(real(*x[:3]), kernel_shape, (2, 3))
        return whole(spots[:, :, :: strides[0], :: strides[1]].mean((4, 5)), *x[3:])


class QGemm(OpRun):  # noqa: D101
    op_domain = MICROSOFT

    def _run(self, *x, transB: int = 0) -> tuple[np.ndarray]:  # noqa: ANN002, N803
        assert transB
        units = x[1] * x[4].astype(np.float64)
        return whole(real(*x[:3]) @ ((x[3] * x[4][:, None]).T.astype(float)) + x[6] * units, *x[7:])


OWN = [QLinearAdd, QLinearConcat, QLinearGlobalAveragePool, QLinearAveragePool, QGemm]
MODELS = {
    "standard": lambda: standard(np.int8),
    "unsigned": lambda: standard(np.uint8),
    "extended": extended,
}


def loaded(model: object, folder: pathlib.Path) -> object:
    """Returns a model as graph.load gives it."""
    onnx.save(model, folder / "net.onnx")
    return graph.load(folder / "net.onnx")


@pytest.mark.parametrize("name", MODELS)
def test_equals_the_evaluator(name: str, tmp_path: pathlib.Path) -> None:
    """Every map of a network in QOperator form equals that of an evaluator of that form."""
    model = MODELS[name]()
    network = graph.read(loaded(model, tmp_path))
    plan = compiler.compile_network(network, Shape(8, 2), 1 << 20)
    values = image(SHAPE)
    maps = integer.maps(network, plan.quantise(values))
    runner = ReferenceEvaluator(model, new_ops=OWN)
    wanted = runner.run(None, {"image": values[None]}, intermediate=True)
    for layer in network.layers:
        one = layer.output
        found = wanted[one.name].astype(np.int16) - 128 * one.unsigned
        assert (maps[one.name] == found.reshape(one.shape)).all(), one.name
        assert len(np.unique(found)) > 2 or found.size < 9, one.name
    assert len(network.layers) == {"extended": 8}.get(name, 4)


def test_old_opset(tmp_path: pathlib.Path) -> None:
    """A file of an opset that the evaluator lacks is evaluated as one that it has."""
    model = standard(np.int8)
    plan = compiler.compile_network(graph.read(loaded(model, tmp_path)), Shape(8, 2), 1 << 20)
    values = plan.quantise(image(SHAPE))
    wanted = evaluated(loaded(model, tmp_path), plan, values)
    model.opset_import[0].version = 13
    found = evaluated(loaded(model, tmp_path), plan, values)
    assert all((found[name] == wanted[name]).all() for name in wanted) and len(wanted) == 4


@pytest.mark.parametrize("op", ["QLinearSigmoid", "QLinearMul", "QAttention"])
def test_unsupported(op: str, tmp_path: pathlib.Path) -> None:
    """Operators on integers that are not supported are named."""
    message = f"operator {op} .*not supported"
    model = extended()
    node = next(n for n in model.graph.node if n.op_type == "QLinearAdd")
    node.op_type = op
    with pytest.raises(MaeslantError, match=message):
        graph.read(loaded(model, tmp_path))


def test_errors(tmp_path: pathlib.Path) -> None:
    """A scale that is no constant and an unknown order of axes are refused by name."""
    model = extended()
    node = next(n for n in model.graph.node if n.op_type == "QLinearAveragePool")
    node.attribute.append(helper.make_attribute("channels_last", 1))
    with pytest.raises(MaeslantError, match="operator QLinearAveragePool .*channels_last"):
        loaded(model, tmp_path)
    model = standard(np.int8)
    node = next(n for n in model.graph.node if n.op_type == "QLinearMatMul")
    node.input[1] = "image"
    with pytest.raises(MaeslantError, match="operator QLinearMatMul .*scale at input 1"):
        loaded(model, tmp_path)
