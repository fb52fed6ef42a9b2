# SPDX-License-Identifier: Apache-2.0
"""Searches all signals of a simulated device for pieces of secrets."""

from collections.abc import Iterable, Iterator

from cocotb.handle import (
    ArrayObject,
    HierarchyArrayObject,
    HierarchyObject,
    LogicArrayObject,
    PackedObject,
    SimHandleBase,
)


def signals(handle: SimHandleBase) -> Iterator[LogicArrayObject | PackedObject]:
    """Yields each signal of a simulated module and its submodules, arrays element by element."""
    if isinstance(handle, (HierarchyObject, HierarchyArrayObject, ArrayObject)):
        for child in handle:
            yield from signals(child)
    elif isinstance(handle, (LogicArrayObject, PackedObject)):
        yield handle


def _patterns(secrets: Iterable[bytes], window: int) -> set[str]:
    """Returns the bit strings of all aligned pieces of secrets, in both byte orders."""
    found = set()
    for secret in secrets:
        for at in range(0, len(secret) - window + 1, window):
            part = secret[at : at + window]
            for data in (part, part[::-1]):
                found.add(f"{int.from_bytes(data, 'big'):0{8 * window}b}")
    return found


def find(
    dut: SimHandleBase, secrets: Iterable[bytes], window: int = 4, shown: str = ""
) -> list[str]:
    """Returns the signals that hold ``window`` consecutive bytes of a secret at any position.

    Four bytes find what lies in registers of a word; much data needs eight, or chance finds it.
    ``shown``: the bits of what is on a bus at this moment, and so no secret.
    """
    patterns, size, found = _patterns(secrets, window), 8 * window, []
    patterns = {pattern for pattern in patterns if pattern not in shown}
    for signal in signals(dut):
        if len(signal) < size:
            continue
        bits = str(signal.value)
        if any(bits[i : i + size] in patterns for i in range(len(bits) - size + 1)):
            found.append(signal._path)
    return found
