# SPDX-License-Identifier: Apache-2.0
"""Rewrites an ONNX model in QOperator form (QLinearConv and the like) into QDQ form.

Each operator on integers becomes the floating-point operator between DequantizeLinear and
QuantizeLinear with the same scales and zero points, and keeps its name and its output's. Those of
the domain com.microsoft are as onnxruntime documents them. Operators on integers without scales of
their own (MaxPool, Flatten and the like) get those of the tensor that they read.
"""

import dataclasses

import numpy as np

from maeslant.errors import MaeslantError


@dataclasses.dataclass(frozen=True)
class Form:
    """Describes at which inputs an ONNX operator on integers has values, scales, zero points."""

    op: str  # on floating-point numbers
    maps: tuple[int, ...] = (0,)  # first places of the feature maps
    weights: int | None = None  # first place
    bias: int | None = None  # int32 in units of both scales
    output: int = 3  # place of the output's scale
    axis: int = 0  # of the weights' scales
    dropped: tuple[str, ...] = ()  # attributes that must be 0


FORMS = {
    "QLinearConv": Form("Conv", weights=3, bias=8, output=6),
    "QLinearMatMul": Form("MatMul", weights=3, output=6, axis=1),
    "QGemm": Form("Gemm", weights=3, bias=6, output=7, axis=1),
    "QLinearAdd": Form("Add", maps=(0, 3), output=6),
    "QLinearAveragePool": Form("AveragePool", dropped=("channels_last",)),
    "QLinearGlobalAveragePool": Form("GlobalAveragePool", dropped=("channels_last",)),
    "QLinearConcat": Form("Concat", output=0),  # maps from place 2 on
}
KEEPS = ("MaxPool", "Flatten", "Reshape", "Identity", "Dropout")
DOMAINS = ("", "ai.onnx", "com.microsoft")
OPSET = 19  # the first with which onnx evaluates DequantizeLinear; older ones mean the same here


class Converter:
    """Converts an ONNX model of operators on integers to QDQ form, operator by operator."""

    def __init__(self, model: object) -> None:
        from onnx import helper, numpy_helper

        self.helper, self.numpy = helper, numpy_helper
        self.model = model
        self.constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.nodes: list[object] = []
        self.scales: dict[str, list[str]] = {}  # of a quantised tensor: scale, zero point
        self.count = 0

    def fail(self, node: object, why: str) -> MaeslantError:
        """Returns a MaeslantError whose text names an ONNX operator and what is wrong with it."""
        return MaeslantError(f"operator {node.op_type} ({node.name or node.output[0]}): {why}")

    def add(self, op: str, inputs: list[str], output: str = "", **attributes: object) -> str:
        """Adds an operator to the converted ONNX model; returns its output's name."""
        self.count += 1
        output = output or f"qoperator_{op}_{self.count}"
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        self.nodes.append(self.helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def inputs(self, node: object, first: int, count: int = 3) -> list[str]:
        """Returns names of an ONNX operator's inputs; empty names for inputs that it lacks."""
        found = list(node.input[first : first + count])
        return found + [""] * (count - len(found))

    def real(self, node: object, first: int, **attributes: object) -> str:
        """Adds an input's dequantisation to the converted ONNX model; returns the new tensor."""
        inputs = self.inputs(node, first)
        if inputs[1] not in self.constants:
            raise self.fail(node, f"the scale at input {first + 1} is no constant")
        return self.add("DequantizeLinear", inputs, **attributes)

    def biases(self, node: object, form: Form) -> list[str]:
        """Adds the dequantisation of int32 biases to the converted ONNX model; returns its name."""
        if form.bias is None or len(node.input) <= form.bias or not node.input[form.bias]:
            return []
        data, weights = (self.constants[node.input[p + 1]] for p in (form.maps[0], form.weights))
        unit = np.asarray(data * weights, np.float32)
        unit = unit if unit.size > 1 else unit.reshape(())
        name = f"qoperator_unit_{self.count}"
        self.model.graph.initializer.append(self.numpy.from_array(unit, name))
        each = {"axis": 0} if unit.size > 1 else {}
        return [self.add("DequantizeLinear", [node.input[form.bias], name], **each)]

    def operator(self, node: object, form: Form) -> None:
        """Adds to the converted ONNX model the QDQ form of an operator on integers."""
        attributes = {a.name: self.helper.get_attribute_value(a) for a in node.attribute}
        for name in form.dropped:
            if attributes.pop(name, 0):
                raise self.fail(node, f"{name} is not supported")
        maps = range(2, len(node.input), 3) if form.op == "Concat" else form.maps
        inputs = [self.real(node, place) for place in maps]
        if form.weights is not None:
            scale = self.constants.get(node.input[form.weights + 1])
            axis = 0 if attributes.get("transB") else form.axis
            each = {"axis": axis} if scale is not None and scale.size > 1 else {}
            inputs.append(self.real(node, form.weights, **each))
        inputs += self.biases(node, form)
        made = self.add(form.op, inputs, **attributes)
        self.quantise(made, node.output[0], self.inputs(node, form.output, 2))

    def quantise(self, real: str, name: str, scales: list[str]) -> None:
        """Adds a tensor's quantisation to the converted ONNX model, under the original name."""
        self.scales[name] = scales
        self.add("QuantizeLinear", [real, *scales], name)

    def node(self, node: object) -> None:
        """Adds an operator to the converted ONNX model, in QDQ form if it computes on integers."""
        form = FORMS.get(node.op_type)
        if form is not None and node.domain in DOMAINS:
            self.operator(node, form)
        elif node.op_type in KEEPS and node.input[0] in self.scales:
            scales = self.scales[node.input[0]]
            real = self.add("DequantizeLinear", [node.input[0], *scales])
            attributes = {a.name: self.helper.get_attribute_value(a) for a in node.attribute}
            made = self.add(node.op_type, [real, *node.input[1:]], **attributes)
            self.quantise(made, node.output[0], scales)
        else:
            if node.op_type == "QuantizeLinear":
                self.scales[node.output[0]] = self.inputs(node, 1, 2)
            self.nodes.append(node)


def converted(model: object) -> object:
    """Returns an ONNX model in QDQ form, in a version that the onnx package evaluates."""
    result = type(model)()
    result.CopyFrom(model)
    writer = Converter(result)
    for node in model.graph.node:
        writer.node(node)
    del result.graph.node[:]
    result.graph.node.extend(writer.nodes)
    for opset in result.opset_import:
        if opset.domain in ("", "ai.onnx"):
            opset.version = max(opset.version, OPSET)
    return result
