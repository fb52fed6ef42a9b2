# SPDX-License-Identifier: Apache-2.0
"""Tests that unsupported ONNX networks are refused with clear errors, and the memory layout."""

import pathlib

import numpy as np
import onnx
import pytest
from onnx import helper
from rich.console import Console
from typer.testing import CliRunner

from maeslant import cli
from maeslant.errors import MaeslantError
from maeslant.nn import compiler, graph, inference, integer, networks
from maeslant.nn.commands import Shape
from maeslant.protected.network import digits as trained
from maeslant.protected.network import layers
from tests.nn.small import NETWORKS
from tests.nn.small import image as small_image

SHAPE = Shape(8, 2)


def replaced(model: object, op: str, **changes: object) -> object:
    """Changes type or attributes of the first operator of a kind in an ONNX model."""
    node = next(n for n in model.graph.node if n.op_type == op)
    node.op_type = changes.pop("op_type", op)
    for name, value in changes.items():
        for old in [a for a in node.attribute if a.name == name]:
            node.attribute.remove(old)
        node.attribute.append(helper.make_attribute(name, value))
    return model


@pytest.mark.parametrize(
    "network,op,changes,message",
    [
        ("pooled", "Relu", {"op_type": "Tanh"}, "operator Tanh .*not supported"),
        ("pooled", "Conv", {"dilations": [2, 2]}, "operator Conv .*dilations"),
        ("pooled", "Conv", {"strides": [16, 1]}, "operator Conv .*at most 15"),
        ("pooled", "Conv", {"auto_pad": "SAME_UPPER"}, "operator Conv .*auto_pad"),
        ("pooled", "MaxPool", {"pads": [0, 0, 16, 0]}, "operator MaxPool .*at most 15"),
        ("pooled", "Gemm", {"alpha": 2.0}, "operator Gemm .*alpha"),
        ("pooled", "Gemm", {"gamma": 2.0}, "operator Gemm .*gamma"),
        ("joined", "Concat", {"axis": 2}, "operator Concat .*axis 1"),
    ],
)
def test_unsupported(network: str, op: str, changes: dict, message: str) -> None:
    """graph.read refuses an unsupported operator or attribute and names it."""
    model = replaced(NETWORKS[network](), op, **changes)
    with pytest.raises(MaeslantError, match=message):
        graph.read(model)


def test_scales() -> None:
    """The compiler refuses scales that the kernel cannot represent and names the operator."""
    network = graph.read(NETWORKS["residual"]())
    layer = next(x for x in network.layers if x.op == "Add")
    layer.sources[0].scale *= 1000
    with pytest.raises(MaeslantError, match="operator Add .*ratio"):
        compiler.compile_network(network, SHAPE, 1 << 20)


def test_damaged(tmp_path: pathlib.Path) -> None:
    """graph.load names the file in its error if it is damaged, empty or missing."""
    file, raw = tmp_path / "net.onnx", NETWORKS["pooled"]().SerializeToString()
    for data in (raw[: len(raw) // 2], b"", b"no model at all", raw[:40] + b"\xff" * 40):
        file.write_bytes(data)
        with pytest.raises(MaeslantError, match="net.onnx"):
            graph.load(file)
    with pytest.raises(MaeslantError, match="no such file"):
        graph.load(tmp_path / "missing.onnx")
    onnx.save(NETWORKS["pooled"](), file)
    assert graph.read(graph.load(file)).layers


def test_sizes() -> None:
    """Networks that exceed device memory and inputs of wrong shape or type are refused."""
    network = graph.read(NETWORKS["pooled"]())
    with pytest.raises(MaeslantError, match="bytes of device memory"):
        compiler.compile_network(network, SHAPE, 4096)
    plan = compiler.compile_network(network, SHAPE, 1 << 20)
    good = np.zeros((3, 11, 9), np.float32)
    assert plan.quantise(good).shape == plan.quantise(good[None]).shape == good.shape
    with pytest.raises(MaeslantError, match="shape"):
        plan.quantise(good[:, :, 1:])
    for kind in (np.uint8, np.int32, np.complex64):
        with pytest.raises(MaeslantError, match=np.dtype(kind).name):
            plan.quantise(good.astype(kind))
    with pytest.raises(MaeslantError, match="finite"):
        plan.quantise(np.full_like(good, np.nan))


def test_layout() -> None:
    """Tensors do not overlap in device memory, except a concatenation and its sources."""
    plan = compiler.compile_network(graph.read(NETWORKS["joined"]()), SHAPE, 1 << 20)
    used = [(plan.parameters[0], len(plan.parameters[1]))]
    used += [(plan.commands[0], len(plan.commands[1]))]
    spans = sorted((p.address, p.planes * p.size) for p in plan.places.values())
    outer = [s for s in spans if not any(o != s and o[0] <= s[0] < sum(o) for o in spans)]
    used = sorted(used + outer)
    assert all(sum(a) <= b[0] for a, b in zip(used, used[1:], strict=False))
    assert sum(used[-1]) == plan.end and all(p.address % 64 == 0 for p in plan.places.values())


def test_options(tmp_path: pathlib.Path) -> None:
    """`maeslant infer` refuses illegal options, unknown networks and bad inputs."""

    def bad(*words: object) -> str:
        result = CliRunner().invoke(cli.app, ["infer", *map(str, words)])
        assert result.exit_code != 0
        return str(result.exception) + result.output

    text = tmp_path / "text.npy"
    text.write_text("1 2 3")
    file = tmp_path / "net.onnx"
    onnx.save(NETWORKS["pooled"](), file)
    assert "no network 'vgg'" in bad("--network", "vgg")
    assert "not both" in bad("--network", "resnet18", "--model", file)
    assert "not both" in bad("--input", text)
    assert "text.npy is no .npy file" in bad("--model", file, "--input", text)
    np.save(text, np.zeros((3, 4)))
    assert "shape" in bad("--model", file, "--input", text)
    assert "no such file" in bad("--model", tmp_path / "missing.onnx")
    assert "--both or --unprotected" in bad("--both", "--unprotected", "--model", file)
    assert "for networks" in bad("--both")


def test_networks() -> None:
    """networks.make gives ResNet-18 the same in each run, with 1.814 G multiply-accumulates."""
    model = networks.make("resnet18")
    assert model.SerializeToString() == networks.make("resnet18").SerializeToString()
    plan = compiler.compile_network(graph.read(model), inference.SHAPE, inference.MEMORY)
    assert plan.multiplications() == 1_814_073_344


@pytest.mark.parametrize("name", NETWORKS)
def test_integer_reference(name: str) -> None:
    """The integer reference equals the onnx package's evaluator where all scales are exact."""
    model = NETWORKS[name]()
    network = graph.read(model)
    plan = compiler.compile_network(network, SHAPE, 1 << 20)
    image = plan.quantise(small_image(network.input.shape))
    found, wanted = integer.maps(network, image), inference.evaluated(model, plan, image)
    assert all((found[one] == wanted[one]).all() for one in wanted)


def test_digits() -> None:
    """The network of the digits, read from ONNX, gives the trained network's labels and maps."""
    model = networks.digits()
    network = graph.read(model)
    plan = compiler.compile_network(network, SHAPE, 1 << 20)
    pixels, _ = trained.held_out()
    labels = trained.labels(trained.load(), pixels)
    ties = 0
    for image, label in zip(pixels, labels, strict=True):
        found = integer.maps(network, image.transpose(2, 0, 1))[network.output.name].reshape(-1)
        assert found.argmax() == label
        wanted = layers.run(trained.load(), image).reshape(-1)
        assert np.abs(found.astype(int) - wanted).max() <= 1  # ties: to even here, there upwards
        ties += int((found != wanted).sum())
    assert ties < 20
    one = plan.quantise(networks.image("digits", ()))
    assert (one == pixels[0].transpose(2, 0, 1)).all()
    steps = inference.evaluated(model, plan, one)[network.output.name].astype(int)
    assert np.abs(steps - integer.maps(network, one)[network.output.name]).max() <= 1


def test_unlike_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """inference.infer reports the feature map in which the two cards' bytes differ."""

    def fake(plan: compiler.Plan, _image: object, is_protected: bool, *_: object) -> inference.Run:
        sizes = {x.output.name: plan.places[x.output.name] for x in plan.network.layers}
        maps = {name: bytes(place.planes * place.size) for name, place in sizes.items()}
        name = min(maps)
        if is_protected:
            maps[name] = maps[name][:-1] + b"\x01"  # behind the last pixel or channel
        return inference.Run(maps[plan.network.output.name], maps, 10 + is_protected, 5, 1.0)

    monkeypatch.setattr(inference, "run_card", fake)
    found = inference.infer(NETWORKS["joined"](), None, [True, False], True, Console(quiet=True))
    assert not found["same_bytes"] and not found["equal"] and len(found["unlike_bytes"]) == 1
    assert found["overhead_percent"] == 10


@pytest.mark.slow
def test_both_cards() -> None:
    """A small network's maps equal the reference's on the plain and on the protected card."""
    found = inference.infer(NETWORKS["joined"](), None, [True, False], True, Console(quiet=True))
    assert found["equal"] and found["same_bytes"] and found["bytes_compared"] > 3000
    assert found["cards"]["nn"]["clocks"] < found["cards"]["nn_protected"]["clocks"]


@pytest.mark.slow
@pytest.mark.parametrize("name", networks.NAMES)
def test_whole_network(name: str) -> None:
    """All feature maps of a whole network equal the reference's on both simulated cards."""
    found = inference.infer(networks.make(name), None, [True, False], True, Console(quiet=True))
    assert found["equal"] and found["same_bytes"]
    assert found["onnx_greatest_difference"] <= (name == "digits")
    for card in found["cards"].values():
        assert card["values_compared"] > 2_000 and card["kernel_clocks"] < 2_000_000
