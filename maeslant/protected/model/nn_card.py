# SPDX-License-Identifier: Apache-2.0
"""Models the protected card with a neural-network kernel in place of the simple one.

A run is one step, by the integer reference. Registers: 0 control (1 starts), 4 status, 8 runs,
16 list of commands, 24 clocks of the last run (as mae_kernel_int8_nn takes them), 64 to 127 free.
"""

import numpy as np

from maeslant.protected.model.card import CONTROL, RUNS, SCRATCH, SPACE, STATUS, Kernel
from maeslant.protected.model.constants import Op
from maeslant.protected.model.device import Device
from maeslant.protected.network import clocks, layers, memory

LIST, CLOCKS = 0x10, 0x18
ANSWER = 2  # clocks of a read of the card's memory
MOST_COMMANDS = 1 << 16


class FaultError(Exception):
    """Raised if the model of the neural-network kernel stops with a fault."""


class NnKernel(Kernel):
    """Models the neural-network kernel with its registers; a run takes one step."""

    def clear(self) -> None:
        """Clears the registers and state of the neural-network kernel model."""
        super().clear()
        self.clocks = 0

    def legal(self, op: int, offset: int, width: int) -> bool:
        """Returns true if the neural-network kernel has a register of this offset and width."""
        if offset in (CONTROL, STATUS, RUNS):
            return super().legal(op, offset, width)
        if offset == CLOCKS:
            return width == 8 and op == Op.READ
        inside = SCRATCH <= offset and offset + width <= SPACE
        return inside or LIST <= offset and offset + width <= LIST + 8

    def read(self, offset: int, width: int) -> int:
        """Returns the value of a register of the neural-network kernel model."""
        return self.clocks if offset == CLOCKS else super().read(offset, width)

    def step(self) -> bool:
        """Runs all commands of the neural-network kernel model; returns false if it is idle."""
        if not self.busy:
            return False
        self.busy = False
        try:
            self.clocks = self._run(super().read(LIST, 8))
            self.runs += 1
            self.monitor.append(("run", b""))
        except FaultError:
            self.fault = True
            self.monitor.append(("fault",))
        return True

    def _take(self, address: int, size: int) -> bytes:
        if not self.memory.allowed(address, size, write=False):
            raise FaultError
        return bytes(self.memory.data[address : address + size])

    def _run(self, at: int) -> int:
        """Runs the kernel model's command list at address ``at``; returns its clock cycles."""
        commands = []
        while not commands or not commands[-1].last:
            if len(commands) == MOST_COMMANDS:
                raise FaultError
            commands.append(memory.Command.decode(self._take(at, memory.COMMAND.size)))
            at += memory.COMMAND.size
            self._layer(commands[-1])
        return clocks.run(commands, ANSWER)

    def _layer(self, command: memory.Command) -> None:
        shape = (command.height, command.width, command.in_channels)
        size = memory.map_bytes(*shape)
        source = memory.unpack_map(self._take(command.source, size), *shape)
        layer = self._of(command)
        data = memory.pack_map(layer.run(source))
        if not self.memory.allowed(command.destination, len(data), write=True):
            raise FaultError
        self.memory.data[command.destination : command.destination + len(data)] = data

    def _of(self, command: memory.Command) -> layers.Layer:
        """Returns the network layer that a command of the neural-network kernel describes."""
        if command.op == memory.OP_POOL:
            return layers.Pool(relu=command.relu)
        if command.op not in (memory.OP_CONV, memory.OP_FULL):
            raise FaultError
        made, taps = command.out_channels, command.kernel**2 * command.in_channels
        groups = memory.rows(made)
        each = 4 * memory.LANES + taps * memory.LANES
        data = self._take(command.params, groups * each)
        biases, weights = [], []
        for group in range(groups):
            part = data[group * each : (group + 1) * each]
            biases.append(np.frombuffer(part[: 4 * memory.LANES], "<i4"))
            pieces = np.frombuffer(part[4 * memory.LANES :], np.int8)
            shape = (command.kernel, command.kernel, command.in_channels, memory.LANES)
            weights.append(pieces.reshape(shape).transpose(3, 0, 1, 2))
        return layers.Convolution(
            np.concatenate(weights)[:made],
            np.concatenate(biases)[:made].astype(np.int32),
            command.multiplier,
            command.shift,
            command.relu,
            command.pad,
        )


class NnDevice(Device):
    """Models the protected card with the neural-network kernel, as reference for the RTL."""

    make_kernel = NnKernel
