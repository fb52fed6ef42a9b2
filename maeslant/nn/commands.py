# SPDX-License-Identifier: Apache-2.0
"""Encodes the array kernel's commands, feature maps and weights (rtl/nn/mae_nn_pkg.sv)."""

import dataclasses
import struct

import numpy as np

GRANULE = 64  # bytes
OP_MAC, OP_MAX = 1, 2
FLAG_LAST = 1
MAX_KERNEL, MAX_STRIDE, MAX_PAD, MAX_SIZE = 15, 15, 15, 4095
MAX_SHIFT = 62
COMMAND = struct.Struct("<9B3b6H6Ib15x")


@dataclasses.dataclass(frozen=True)
class Shape:
    """Describes the shape of an array kernel: its parameters Lanes and Columns."""

    lanes: int = 32
    columns: int = 2

    def planes(self, channels: int) -> int:
        """Returns the number of memory planes that a feature map of that many channels takes."""
        return -(-channels // self.lanes)

    def plane_bytes(self, height: int, width: int) -> int:
        """Returns the bytes that one plane of a feature map takes in the card's memory."""
        return -(-height * width * self.lanes // GRANULE) * GRANULE

    def pack_map(self, values: np.ndarray) -> bytes:
        """Returns a feature map (channel, line, column) as bytes of planes, padded with zeros."""
        channels, height, width = values.shape
        spare = -channels % self.lanes
        padded = np.pad(values, ((0, spare), (0, 0), (0, 0))).astype(np.int8)
        planes = padded.reshape(-1, self.lanes, height, width).transpose(0, 2, 3, 1)
        flat = planes.reshape(len(planes), -1)
        size = self.plane_bytes(height, width)
        return np.pad(flat, ((0, 0), (0, size - flat.shape[1]))).tobytes()

    def unpack_map(self, data: bytes, height: int, width: int) -> np.ndarray:
        """Returns a feature map from the bytes of its planes, with the channels of padding."""
        planes = np.frombuffer(data, np.int8).reshape(-1, self.plane_bytes(height, width))
        pixels = planes[:, : height * width * self.lanes]
        maps = pixels.reshape(-1, height, width, self.lanes).transpose(0, 3, 1, 2)
        return maps.reshape(-1, height, width)

    def pack_parameters(
        self, weights: np.ndarray, biases: np.ndarray, scales: np.ndarray, columns: int
    ) -> bytes:
        """Returns a layer's parameters as bytes, by steps: biases, scales, tiles of weights.

        Weights are (output, input, line, column); inputs are channels of the source planes that a
        step reads. Missing channels become zeros.
        """
        wide = self.lanes * columns
        more, less = -len(weights) % wide, -weights.shape[1] % self.lanes
        whole = np.pad(weights, ((0, more), (0, less), (0, 0), (0, 0))).astype(np.int8)
        steps, sources = len(whole) // wide, whole.shape[1] // self.lanes
        tiles = whole.reshape(steps, wide, sources, self.lanes, *whole.shape[2:])
        tiles = tiles.transpose(0, 2, 4, 5, 1, 3).reshape(steps, -1)
        words = np.stack([np.pad(biases, (0, more)), np.pad(scales, (0, more))])
        words = words.reshape(2, steps, columns, self.lanes).transpose(1, 2, 0, 3)
        words = words.reshape(steps, -1).astype(np.uint32).astype("<u4").view(np.int8)
        return np.concatenate([words, tiles], axis=1).tobytes()


def scale_word(multiplier: int, shift: int) -> int:
    """Returns a scale of multiplier / 2^shift, encoded as a word for the array kernel."""
    assert 0 <= multiplier < 1 << 24 and 0 <= shift <= MAX_SHIFT
    return shift << 24 | multiplier


@dataclasses.dataclass
class Command:
    """Describes a command of the array kernel; addresses and strides are in bytes."""

    op: int
    height: int
    width: int
    height_out: int
    width_out: int
    sources: int
    planes_out: int
    source: int
    destination: int
    plane_in: int
    plane_out: int
    params: int = 0
    step_in: int = 0
    kernel_y: int = 1
    kernel_x: int = 1
    stride_y: int = 1
    stride_x: int = 1
    pad_y: int = 0
    pad_x: int = 0
    pad_value: int = 0
    zero: int = 0
    low: int = -128
    high: int = 127
    columns: int = 1
    last: bool = False

    def encode(self) -> bytes:
        """Returns a command of the array kernel, packed into 64 bytes."""
        strides = (n & 0xFFFFFFFF for n in (self.plane_in, self.step_in, self.plane_out))
        return COMMAND.pack(
            self.op,
            FLAG_LAST * self.last,
            self.columns,
            self.kernel_y,
            self.kernel_x,
            self.stride_y,
            self.stride_x,
            self.pad_y,
            self.pad_x,
            self.pad_value,
            self.zero,
            self.low,
            self.height,
            self.width,
            self.height_out,
            self.width_out,
            self.sources,
            self.planes_out,
            self.source,
            self.destination,
            self.params,
            *strides,
            self.high,
        )
