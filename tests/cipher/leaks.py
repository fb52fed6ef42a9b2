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
PUBLIC = re.compile(r"(tag|ctx|bank|dir|len|timer|inverse|backward|phase|constants)_q$")


def signals(handle: SimHandleBase) -> Iterator[SimHandleBase]:
    """Lists every signal of a simulated module and of the modules inside."""
    if isinstance(handle, (HierarchyObject, HierarchyArrayObject, ArrayObject)):
        for child in handle:
            yield from signals(child)
    elif isinstance(handle, ValueObjectBase):
        yield handle


def pairs(value: int, bits: int) -> Iterator[int]:
    """Splits a value into 64-bit pieces at multiples of 32 bits, to search signals for secrets."""
    for at in range(0, bits - 63, 32):
        yield value >> at & (1 << 64) - 1


def secret_words(key: bytes, blocks: list[tuple[bytes, bool]]) -> set[int]:
    """Returns 64-bit pieces of a key, its round keys and the cipher states of blocks."""
    secrets = [key, *round_keys(key)]
    for block, decrypt in blocks:
        secrets += [block, *states(key, block, decrypt)]
    return {piece for s in secrets for piece in pairs(int.from_bytes(s, "big"), 8 * len(s))}


def leaks(dut: SimHandleBase, secrets: set[int]) -> list[str]:
    """Lists the signals of a simulated cipher that hold a piece of a secret."""
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
    """Lists the registers of a cipher that are not 0 after an erasure, except public ones."""
    found = []
    for signal in signals(dut):
        name = re.sub(r"\[\d+\]$", "", re.sub(r"(\[\d+\])+$", "", signal._name))
        if name.endswith("_q") and not PUBLIC.search(name) and int(signal.value) != 0:
            found.append(signal._path)
    return found
