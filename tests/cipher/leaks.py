# SPDX-License-Identifier: Apache-2.0
"""Searches every signal of a simulated cipher (built with ``visible``) for secrets."""

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
PUBLIC = re.compile(r"(tag|ctx|bank|dir|len|timer|inverse|backward|phase|constants|left)_q$")
# Registers that Fewest = 1 stores inverted: erased they are all ones.
INVERTED = re.compile(r"(stored|window_reg|store_reg)_q$")


def signals(handle: SimHandleBase) -> Iterator[SimHandleBase]:
    """Yields each signal of a simulated module and its submodules."""
    if isinstance(handle, (HierarchyObject, HierarchyArrayObject, ArrayObject)):
        for child in handle:
            yield from signals(child)
    elif isinstance(handle, ValueObjectBase):
        yield handle


def pairs(value: int, bits: int) -> Iterator[int]:
    """Yields the 64-bit pieces of a value at multiples of 32 bits."""
    for at in range(0, bits - 63, 32):
        yield value >> at & (1 << 64) - 1


def secret_words(key: bytes, blocks: list[tuple[bytes, bool]]) -> set[int]:
    """Returns the 64-bit pieces of a key, its round keys and all AES states of blocks."""
    secrets = [key, *round_keys(key)]
    for block, decrypt in blocks:
        secrets += [block, *states(key, block, decrypt)]
    return {piece for s in secrets for piece in pairs(int.from_bytes(s, "big"), 8 * len(s))}


def leaks(dut: SimHandleBase, secrets: set[int]) -> list[str]:
    """Returns the signals of a simulated cipher that hold a 64-bit piece of a secret."""
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
    """Returns the registers of a simulated module that are not 0, except those in PUBLIC."""
    found = []
    for signal in signals(dut):
        name = re.sub(r"\[\d+\]$", "", re.sub(r"(\[\d+\])+$", "", signal._name))
        if not name.endswith("_q") or PUBLIC.search(name):
            continue
        value = int(signal.value)
        ones = INVERTED.search(name) and value == (1 << len(signal)) - 1
        if value and not ones:
            found.append(signal._path)
    return found
