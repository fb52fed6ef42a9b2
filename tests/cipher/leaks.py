# SPDX-License-Identifier: Apache-2.0
"""Look for secrets in every signal of a model (built with ``visible``)."""

import re
from collections.abc import Iterator

from cocotb.handle import (
    ArrayObject,
    HierarchyArrayObject,
    HierarchyObject,
    SimHandleBase,
    ValueObjectBase,
)

from tests.cipher.fips197 import round_keys, states

# Registers that may keep a value: who and when, but no key and no data.
PUBLIC = re.compile(r"(tag|ctx|bank|dir|len|timer|inverse|backward|phase|constants)_q$")


def signals(handle: SimHandleBase) -> Iterator[SimHandleBase]:
    """Every signal below a handle."""
    if isinstance(handle, (HierarchyObject, HierarchyArrayObject, ArrayObject)):
        for child in handle:
            yield from signals(child)
    elif isinstance(handle, ValueObjectBase):
        yield handle


def pairs(value: int, bits: int) -> Iterator[int]:
    """All 64-bit pieces at multiples of 32 bits; a shorter value is no piece."""
    for at in range(0, bits - 63, 32):
        yield value >> at & (1 << 64) - 1


def secret_words(key: bytes, blocks: list[tuple[bytes, bool]]) -> set[int]:
    """Pieces of a key, its round keys, and all states of these blocks in their direction."""
    secrets = [key, *round_keys(key)]
    for block, decrypt in blocks:
        secrets += [block, *states(key, block, decrypt)]
    return {piece for s in secrets for piece in pairs(int.from_bytes(s, "big"), 8 * len(s))}


def leaks(dut: SimHandleBase, secrets: set[int]) -> list[str]:
    """Signals that hold a piece of a secret."""
    found = []
    for signal in signals(dut):
        try:
            bits, value = len(signal), int(signal.value)
        except (TypeError, ValueError):  # a constant, a real, a string
            continue
        if any(piece in secrets for piece in pairs(value, bits)):
            found.append(signal._path)
    return found


def registers_left(dut: SimHandleBase) -> list[str]:
    """Registers that are not 0, the public ones aside."""
    found = []
    for signal in signals(dut):
        name = re.sub(r"\[\d+\]$", "", re.sub(r"(\[\d+\])+$", "", signal._name))
        if name.endswith("_q") and not PUBLIC.search(name) and int(signal.value) != 0:
            found.append(signal._path)
    return found
