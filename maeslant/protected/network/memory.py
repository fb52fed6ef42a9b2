# SPDX-License-Identifier: Apache-2.0
"""Lays out an int8 network in the card's memory: feature maps, parameters, commands.

The formats are rtl/kernel/mae_kernel_pkg.sv's.
:func:`place` lays a network and its images out; :class:`Plan` says which bytes go where, where the
kernel starts and where the results are.
"""

import dataclasses
import struct

import numpy as np

from maeslant.protected.network import layers

LANES = 16  # channels of a row, bytes of a row
COMMAND = struct.Struct("<BBBBHHBBHB3xIII36x")
OP_CONV, OP_FULL, OP_POOL = 1, 2, 3
FLAG_LAST, FLAG_RELU = 1, 2
ALIGN = 64  # where each part of a plan begins


def rows(channels: int) -> int:
    """Returns the number of 16-byte memory rows that a pixel with that many channels takes."""
    return -(-channels // LANES)


def map_bytes(height: int, width: int, channels: int) -> int:
    """Returns the number of bytes that a feature map takes in the card's memory."""
    return height * width * rows(channels) * LANES


def pack_map(values: np.ndarray) -> bytes:
    """Returns a feature map as bytes of the card's memory, each pixel padded to whole rows."""
    spare = -values.shape[2] % LANES
    return np.pad(values, ((0, 0), (0, 0), (0, spare))).astype(np.int8).tobytes()


def unpack_map(data: bytes, height: int, width: int, channels: int) -> np.ndarray:
    """Returns a feature map from bytes of the card's memory, without padding."""
    return np.frombuffer(data, np.int8).reshape(height, width, -1)[:, :, :channels]


def pack_parameters(layer: layers.Convolution) -> bytes:
    """Returns a layer's biases and weights as bytes, padded to full rows of channels."""
    spare = -len(layer.biases) % LANES
    biases = np.pad(layer.biases, (0, spare)).astype("<i4").reshape(-1, LANES)
    weights = np.pad(layer.weights, ((0, spare), (0, 0), (0, 0), (0, 0))).astype(np.int8)
    pieces = weights.reshape(len(biases), LANES, *weights.shape[1:]).transpose(0, 2, 3, 4, 1)
    return b"".join(b.tobytes() + w.tobytes() for b, w in zip(biases, pieces, strict=True))


@dataclasses.dataclass
class Command:
    """Describes a command of the neural-network kernel, which computes one layer."""

    op: int
    height: int
    width: int
    in_channels: int
    out_channels: int
    source: int
    destination: int
    kernel: int = 2
    pad: int = 0
    params: int = 0
    multiplier: int = 0
    shift: int = 0
    relu: bool = False
    last: bool = False

    def encode(self) -> bytes:
        """Returns the command of the neural-network kernel, packed into 64 bytes."""
        return COMMAND.pack(
            self.op,
            FLAG_LAST * self.last | FLAG_RELU * self.relu,
            self.height,
            self.width,
            self.in_channels,
            self.out_channels,
            self.kernel,
            self.pad,
            self.multiplier,
            self.shift,
            self.source,
            self.destination,
            self.params,
        )

    @classmethod
    def decode(cls, data: bytes) -> "Command":
        """Returns a command of the neural-network kernel, unpacked from 64 bytes."""
        op, flags, *values = COMMAND.unpack(data)
        height, width, made_of, makes, kernel, pad, multiplier, shift, *addresses = values
        source, destination, params = addresses
        return cls(
            op,
            height,
            width,
            made_of,
            makes,
            source,
            destination,
            kernel,
            pad,
            params,
            multiplier,
            shift,
            relu=bool(flags & FLAG_RELU),
            last=bool(flags & FLAG_LAST),
        )


def command(
    layer: layers.Layer, shape: tuple[int, int, int], source: int, destination: int, params: int = 0
) -> Command:
    """Returns the neural-network kernel's command for a layer with a given input shape."""
    height, width, channels = shape
    made = layer.shape(*shape)[2]
    if isinstance(layer, layers.Pool):
        return Command(OP_POOL, height, width, channels, made, source, destination, relu=layer.relu)
    if isinstance(layer, layers.Full):
        # The whole map is the channels of one pixel; that needs full rows, or one pixel.
        assert channels % LANES == 0 or height * width == 1
        height, width, channels = 1, 1, height * width * channels
    return Command(
        OP_FULL if isinstance(layer, layers.Full) else OP_CONV,
        height,
        width,
        channels,
        made,
        source,
        destination,
        layer.kernel,
        layer.pad,
        params,
        layer.multiplier,
        layer.shift,
        layer.relu,
    )


@dataclasses.dataclass(frozen=True)
class Plan:
    """Holds the layout of a network, its images and results in the card's memory.

    ``loads`` are the bytes that the card needs: (address, bytes). The results of the images follow
    each other, ``result_bytes`` for each.
    """

    parameters: tuple[int, bytes]
    images: tuple[int, bytes]
    commands: tuple[int, bytes]
    results: int
    result_bytes: int
    shape: tuple[int, int, int]  # of a result
    count: int
    end: int  # first address that is not used

    @property
    def loads(self) -> list[tuple[int, bytes]]:
        """Returns the (address, bytes) to load into the card before the kernel starts."""
        return [self.parameters, self.images, self.commands]

    @property
    def start(self) -> int:
        """Returns the device address of the network's command list."""
        return self.commands[0]

    def outputs(self, data: bytes) -> list[np.ndarray]:
        """Returns the network's output for each image, from result bytes read from the card."""
        parts = [data[i * self.result_bytes :][: self.result_bytes] for i in range(self.count)]
        return [unpack_map(part, *self.shape) for part in parts]

    def labels(self, data: bytes) -> list[int]:
        """Returns each image's label, the index of the greatest output, from result bytes."""
        return [int(output.reshape(-1).argmax()) for output in self.outputs(data)]


def place(network: list[layers.Layer], pixels: np.ndarray, base: int = 0) -> Plan:
    """Lays out a network and its images in the card's memory, from ``base`` on; returns the Plan.

    Parameters, images, commands, results, then two buffers that the layers of an image use in turn,
    as the next image's do.
    """

    def after(address: int, size: int) -> int:
        return -(-(address + size) // ALIGN) * ALIGN

    shapes = [pixels.shape[1:]]
    for layer in network:
        shapes.append(layer.shape(*shapes[-1]))
    packed = [pack_parameters(n) if isinstance(n, layers.Convolution) else b"" for n in network]
    image_bytes, result_bytes = map_bytes(*shapes[0]), map_bytes(*shapes[-1])
    images_at = after(base, sum(len(p) for p in packed))
    commands_at = after(images_at, len(pixels) * image_bytes)
    results_at = after(commands_at, len(pixels) * len(network) * COMMAND.size)
    buffers = [after(results_at, len(pixels) * result_bytes)]
    between = max((map_bytes(*shape) for shape in shapes[1:-1]), default=0)
    buffers += [after(buffers[0], between)]

    commands = []
    for image in range(len(pixels)):
        source, params = images_at + image * image_bytes, base
        for i, layer in enumerate(network):
            last = i == len(network) - 1
            destination = results_at + image * result_bytes if last else buffers[i % 2]
            used = params if packed[i] else 0
            commands.append(command(layer, shapes[i], source, destination, used))
            params += len(packed[i])
            source = destination
    commands[-1].last = True
    return Plan(
        parameters=(base, b"".join(packed)),
        images=(images_at, b"".join(pack_map(image) for image in pixels)),
        commands=(commands_at, b"".join(c.encode() for c in commands)),
        results=results_at,
        result_bytes=result_bytes,
        shape=shapes[-1],
        count=len(pixels),
        end=after(buffers[1], between),
    )
