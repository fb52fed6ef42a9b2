# SPDX-License-Identifier: Apache-2.0
"""Compiles a network to a command list of the array kernel and lays it out in device memory.

Parameters, commands, input, then every feature map at an address of its own. A map of a
concatenation is the maps of its sources, one after the other: their channels stand where their
planes are, with gaps behind each source's last channel.
"""

import dataclasses
import fractions

import numpy as np

from maeslant.errors import MaeslantError
from maeslant.nn import integer
from maeslant.nn.commands import (
    GRANULE,
    MAX_SIZE,
    OP_MAC,
    OP_MAX,
    Command,
    Shape,
    scale_word,
)
from maeslant.nn.graph import Layer, Network, Scale, Tensor

FOLD = 4  # an input of at most so many channels is laid out by kernel columns
CHUNK = 64  # alignment of maps and sections


@dataclasses.dataclass
class Place:
    """Describes where a tensor lies in device memory; ``lanes``: its channels' places in planes."""

    tensor: Tensor
    lanes: np.ndarray
    planes: int
    size: int  # bytes of a plane
    address: int = -1


@dataclasses.dataclass
class Fold:
    """Describes an input layout for few channels: each pixel holds a kernel line's columns."""

    kernel: int
    stride: int
    pad: int
    width: int  # of the convolution's result


@dataclasses.dataclass
class Plan:
    """Holds a compiled network's layout in device memory: parameters, commands, feature maps."""

    shape: Shape
    network: Network
    parameters: tuple[int, bytes]
    commands: tuple[int, bytes]
    list: list[Command]
    places: dict[str, Place]
    fold: Fold | None
    end: int

    @property
    def input_address(self) -> int:
        """Returns the device address of the network's input."""
        return self.places[self.network.input.name].address

    def quantise(self, values: np.ndarray) -> np.ndarray:
        """Returns an input as int8: scales floating-point values, keeps int8 values."""
        tensor = self.network.input
        if values.shape == (1, *tensor.shape):
            values = values[0]
        if values.shape != tensor.shape:
            raise MaeslantError(
                f"the input has the shape {values.shape}, the network takes {tensor.shape}"
            )
        if values.dtype in (np.int8, np.uint8):
            if (values.dtype == np.uint8) != tensor.unsigned:
                wanted = "uint8" if tensor.unsigned else "int8"
                raise MaeslantError(f"the input is {values.dtype}, the network takes {wanted}")
            return (values.astype(np.int16) - 128 * tensor.unsigned).astype(np.int8)
        if values.dtype.kind != "f" or not np.isfinite(values).all():
            raise MaeslantError(f"the input is {values.dtype}, not finite floating point or int8")
        scale = np.float32(float(tensor.scale))
        steps = np.rint(values.astype(np.float32) / scale).astype(np.float64) + tensor.zero
        return np.clip(steps, -128, 127).astype(np.int8)

    def pack_input(self, values: np.ndarray) -> bytes:
        """Returns an int8 input as bytes in the layout that the compiled network reads."""
        if self.fold is None:
            return self.shape.pack_map(values)
        fold, zero = self.fold, self.network.input.zero
        reach = fold.stride * (fold.width - 1) + fold.kernel
        wide = np.full((*values.shape[:2], max(reach, fold.pad + values.shape[2])), zero, np.int8)
        wide[:, :, fold.pad : fold.pad + values.shape[2]] = values
        last = fold.stride * (fold.width - 1) + 1
        parts = [wide[:, :, x : x + last : fold.stride] for x in range(fold.kernel)]
        return self.shape.pack_map(np.concatenate(parts))

    def unpack(self, name: str, data: bytes) -> np.ndarray:
        """Returns a named feature map (channel, line, column) from the bytes of its planes."""
        place = self.places[name]
        return self.shape.unpack_map(data, *place.tensor.shape[1:])[place.lanes]

    def multiplications(self) -> int:
        """Returns the number of multiply-accumulates of the network's weighted layers."""
        layers = (layer for layer in self.network.layers if layer.weights is not None)
        return sum(
            layer.weights.size * layer.output.shape[1] * layer.output.shape[2] for layer in layers
        )


def scale_of(ratio: Scale, name: str) -> int:
    """Returns a ratio of scales, encoded as the nearest multiplier of 24 bits and a shift."""
    word = integer.multiplier_of(ratio)
    if word is None:
        raise MaeslantError(f"{name}: the scales' ratio {float(ratio):.3g} is out of range")
    return scale_word(*word)


class Compiler:
    """Compiles one int8 network to commands and a memory layout for an array kernel."""

    def __init__(self, network: Network, shape: Shape) -> None:
        self.network, self.shape = network, shape
        self.places: dict[str, Place] = {}
        self.sections: list[bytes] = []
        self.commands: list[Command] = []
        self.params = 0  # bytes of the sections so far
        self.fold = self.find_fold()

    def find_fold(self) -> Fold | None:
        """Returns a layout by kernel columns for the network's input; None if it gains nothing."""
        entry = self.network.input
        users = [x for x in self.network.layers if any(s is entry for s in x.sources)]
        if len(users) != 1 or users[0].op != "Conv" or entry.shape[0] > FOLD:
            return None
        layer = users[0]
        if layer.kernel[1] == 1 or self.network.output is entry:
            return None
        return Fold(layer.kernel[1], layer.stride[1], layer.pad[1], layer.output.shape[2])

    def place(self, tensor: Tensor) -> Place:
        """Returns the place of a tensor in device memory; creates it at the first call."""
        if tensor.name not in self.places:
            channels, height, width = tensor.shape
            if max(height, width, self.shape.planes(channels)) > MAX_SIZE or channels < 1:
                raise MaeslantError(f"{tensor.name}: a map of {tensor.shape} is too large")
            self.places[tensor.name] = Place(
                tensor,
                np.arange(channels),
                self.shape.planes(channels),
                self.shape.plane_bytes(height, width),
            )
        return self.places[tensor.name]

    def section(self, data: bytes) -> int:
        """Adds bytes to the network's parameters; returns their offset in the parameters."""
        address = self.params
        self.sections.append(data)
        self.params += len(data)
        return address

    def command(self, layer: Layer, op: int, source: Place, output: Place, **fields) -> None:
        """Adds the array kernel's command for a layer; its addresses are resolved later."""
        _, height, width = source.tensor.shape
        made = Command(
            op,
            height,
            width,
            *layer.output.shape[1:],
            fields.pop("sources", source.planes),
            output.planes,
            0,
            0,
            fields.pop("plane_in", source.size),
            output.size,
            kernel_y=layer.kernel[0],
            kernel_x=layer.kernel[1],
            stride_y=layer.stride[0],
            stride_x=layer.stride[1],
            pad_y=layer.pad[0],
            pad_x=layer.pad[1],
        )
        for name, value in fields.items():
            setattr(made, name, value)
        self.commands.append(made)
        self.wiring.append((made, layer))

    def weighted(self, layer: Layer) -> None:
        """Adds the command and parameters of a convolution or fully connected layer."""
        source, output = self.place(layer.sources[0]), self.place(layer.output)
        weights = layer.weights.astype(np.int64)
        ratios = [s * source.tensor.scale / output.tensor.scale for s in layer.scales]
        words = np.array([scale_of(ratio, layer.output.name) for ratio in ratios])
        biases = layer.biases - source.tensor.zero * weights.sum(axis=(1, 2, 3))
        if self.fold is not None and source.tensor is self.network.input:
            rows = layer.weights.transpose(0, 3, 1, 2)  # (output, column, input, line)
            spread = rows.reshape(len(rows), -1, layer.kernel[0], 1)
            planes = self.shape.planes(spread.shape[1])
            size = self.shape.plane_bytes(source.tensor.shape[1], self.fold.width)
            source.planes, source.size = planes, size
            change = {"kernel_x": 1, "stride_x": 1, "pad_x": 0, "width": self.fold.width}
        else:
            lanes = source.planes * self.shape.lanes
            spread = np.zeros((len(weights), lanes, *weights.shape[2:]), np.int8)
            spread[:, source.lanes] = layer.weights
            change = {}
        columns = min(self.shape.columns, 1 << (output.planes.bit_length() - 1))
        params = self.section(self.shape.pack_parameters(spread, biases, words, columns))
        zero = output.tensor.zero
        self.command(
            layer,
            OP_MAC,
            source,
            output,
            params=params,
            columns=columns,
            pad_value=source.tensor.zero,
            zero=zero,
            low=zero if layer.relu else -128,
            plane_in=source.size,
            sources=source.planes,
            **change,
        )

    def diagonal(self, layer: Layer, factors: list[int], word: int, bias: int) -> None:
        """Adds the command of a layer that combines equal channels of its sources by factors."""
        sources = [self.place(s) for s in layer.sources]
        source, output, lanes = sources[0], self.place(layer.output), self.shape.lanes
        for one in sources:
            if one.planes != source.planes or (one.lanes != source.lanes).any():
                raise MaeslantError(
                    f"{layer.op} ({layer.output.name}): the sources' channels stand differently "
                    "in memory: one of them is a concatenation of other channel counts"
                )
        output.lanes, output.planes = source.lanes, source.planes
        eye = np.eye(lanes, dtype=np.int8)
        step = np.concatenate([factor * eye for factor in factors], axis=1)
        whole = np.tile(step, (source.planes, 1))[:, :, None, None]
        whole = np.broadcast_to(whole, (*whole.shape[:2], *layer.kernel))
        filled = np.full(len(whole), bias), np.full(len(whole), word)
        params = self.section(self.shape.pack_parameters(whole, *filled, 1))
        zero = output.tensor.zero
        self.command(
            layer,
            OP_MAC,
            source,
            output,
            params=params,
            sources=len(sources),
            step_in=source.size,
            pad_value=source.tensor.zero,
            zero=zero,
            low=zero if layer.relu else -128,
        )

    def addition(self, layer: Layer) -> None:
        """Adds the command of a layer that adds two feature maps, weighted by their scales."""
        one, other = layer.sources
        factors = integer.addition_factors(layer)
        if factors is None:
            raise MaeslantError(
                f"operator Add ({layer.output.name}): the scales' ratio "
                f"{float(one.scale / other.scale):.6g} is no ratio of two numbers from 1 to 127"
            )
        word = scale_of(one.scale / factors[0] / layer.output.scale, layer.output.name)
        bias = -one.zero * factors[0] - other.zero * factors[1]
        self.diagonal(layer, factors, word, bias)

    def average(self, layer: Layer) -> None:
        """Adds the command of an average pooling layer: weights of 1, the pixel count in the scale.

        1 / count has 24 bits, so where the count is even and no power of two, a mean just between
        two steps may be rounded to the odd one.
        """
        (source,), count = layer.sources, layer.kernel[0] * layer.kernel[1]
        ratio = fractions.Fraction(source.scale, 1) / layer.output.scale / count
        self.diagonal(layer, [1], scale_of(ratio, layer.output.name), -source.zero * count)

    def maximum(self, layer: Layer) -> None:
        """Adds the command of a maximum pooling layer."""
        source, output = self.place(layer.sources[0]), self.place(layer.output)
        output.lanes, output.planes = source.lanes, source.planes
        self.command(layer, OP_MAX, source, output, sources=1, step_in=source.size, pad_value=-128)

    def join(self, layer: Layer) -> None:
        """Places a concatenation's sources side by side in memory; copies one placed elsewhere."""
        output, at = self.place(layer.output), 0
        lanes = []
        for one in layer.sources:
            if one.name in self.parents or one is self.network.input:
                copy = Tensor(f"{one.name}/{layer.output.name}", one.shape, one.scale, one.zero)
                self.diagonal(Layer("Copy", [one], copy), [1], scale_word(1, 0), -one.zero)
                one = copy
            place = self.place(one)
            self.parents[one.name] = (layer.output.name, at * place.size)
            lanes.append(place.lanes + at * self.shape.lanes)
            at += place.planes
        output.lanes, output.planes = np.concatenate(lanes), at

    def address(self, name: str) -> int:
        """Returns the device address of a tensor, inside its concatenation if it has one."""
        place = self.places[name]
        if place.address < 0 and name in self.parents:
            parent, offset = self.parents[name]
            place.address = self.address(parent) + offset
        elif place.address < 0:
            place.address, self.end = self.end, self.end + place.planes * place.size
        return place.address

    def compile(self, size: int) -> Plan:
        """Compiles the network to a Plan; raises MaeslantError if ``size`` bytes do not suffice."""
        self.wiring: list[tuple[Command, Layer]] = []
        self.parents: dict[str, tuple[str, int]] = {}
        self.place(self.network.input)
        for layer in self.network.layers:
            {"Add": self.addition, "AveragePool": self.average, "MaxPool": self.maximum}.get(
                layer.op, self.join if layer.op == "Concat" else self.weighted
            )(layer)
        if not self.commands:
            raise MaeslantError("the network has no layers")
        self.commands[-1].last = True
        commands_at = self.params
        self.end = commands_at + len(self.commands) * GRANULE
        for made, layer in self.wiring:
            made.source = self.address(layer.sources[0].name)
            if layer.op == "Add":
                made.plane_in = self.address(layer.sources[1].name) - made.source
            made.destination = self.address(layer.output.name)
        self.address(self.network.output.name)
        if self.end > size:
            raise MaeslantError(
                f"the network needs {self.end:,} bytes of device memory, the card has {size:,}"
            )
        return Plan(
            self.shape,
            self.network,
            (0, b"".join(self.sections)),
            (commands_at, b"".join(c.encode() for c in self.commands)),
            self.commands,
            self.places,
            self.fold,
            self.end,
        )


def compile_network(network: Network, shape: Shape, size: int) -> Plan:
    """Compiles a network for a card with ``size`` bytes of device memory; returns the Plan."""
    return Compiler(network, shape).compile(size)
