# SPDX-License-Identifier: Apache-2.0
"""Computes how many clock cycles the neural-network kernel takes if memory never stalls.

The memory answers a read ``answer`` clocks after it was taken (from 1), and the kernel may have at
least answer + 2 reads under way.
"""

from collections.abc import Iterator

from maeslant.protected.network import memory

# Each without the clocks of an answer.
COMMAND = 9  # from asking for a command to its layer's first read
NEXT = 3  # from a layer's last write to asking for the next command, or for the fence
FENCE = 3  # from there to done_o
SUMS = 20  # from an output row's last read to its write
MAXIMA = 3


def _steps(command: memory.Command) -> Iterator[list[bool]]:
    """Yields the kernel's clocks for each output pixel, true for those that read the input."""
    pad, kernel, height, width = command.pad, command.kernel, command.height, command.width
    if command.op == memory.OP_POOL:
        yield from [[True] * 4] * ((height // 2) * (width // 2))
        return
    inside = [True] * (memory.rows(command.in_channels) + command.in_channels)
    for line in range(-pad, height + pad + 1 - kernel):
        for column in range(-pad, width + pad + 1 - kernel):
            steps: list[bool] = []
            for y in range(line, line + kernel):
                for x in range(column, column + kernel):
                    steps += inside if 0 <= y < height and 0 <= x < width else [False]
            while not steps[-1]:
                steps.pop()
            yield steps


def layer(command: memory.Command, answer: int) -> int:
    """Returns the clocks that the kernel takes for a layer, from first read to last write."""
    pool = command.op == memory.OP_POOL
    end = answer + (MAXIMA if pool else SUMS)
    now, write = 0, -1  # this clock; that of the row before's write
    for _ in range(memory.rows(command.out_channels)):
        biases = [] if pool else [True] * 4
        for steps in _steps(command):
            for read in biases + steps[:-1]:
                now += 2 if read and now == write else 1  # a write goes before a read
            now = max(now, write + 1) + 1
            write = now - 1 + end
            biases = []
    return write


def run(commands: list[memory.Command], answer: int) -> int:
    """Returns the clocks that the kernel takes for a command list, from start_i to done_o."""
    each = [COMMAND + answer + layer(c, answer) + NEXT for c in commands]
    return 1 + sum(each) + FENCE + answer
