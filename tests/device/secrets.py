# SPDX-License-Identifier: Apache-2.0
"""Look for secrets in everything a simulated device remembers."""

from collections.abc import Iterable, Iterator

from cocotb.handle import (
    ArrayObject,
    HierarchyArrayObject,
    HierarchyObject,
    LogicArrayObject,
    PackedObject,
    SimHandleBase,
)

WINDOW = 4  # bytes that must match: registers hold words


def _signals(handle: SimHandleBase) -> Iterator[LogicArrayObject | PackedObject]:
    if isinstance(handle, (HierarchyObject, HierarchyArrayObject, ArrayObject)):
        for child in handle:
            yield from _signals(child)
    elif isinstance(handle, (LogicArrayObject, PackedObject)):
        yield handle


def _patterns(secrets: Iterable[bytes]) -> set[str]:
    """Every aligned word, in both byte orders, as bits."""
    found = set()
    for secret in secrets:
        for at in range(0, len(secret) - WINDOW + 1, WINDOW):
            part = secret[at : at + WINDOW]
            for data in (part, part[::-1]):
                found.add(f"{int.from_bytes(data, 'big'):0{8 * WINDOW}b}")
    return found


def find(dut: SimHandleBase, secrets: Iterable[bytes]) -> list[str]:
    """Paths of signals that hold a word of a secret, anywhere in them."""
    patterns = _patterns(secrets)
    found = []
    for signal in _signals(dut):
        if len(signal) < 8 * WINDOW:
            continue
        bits = str(signal.value)
        if any(pattern in bits for pattern in patterns):
            found.append(signal._path)
    return found
