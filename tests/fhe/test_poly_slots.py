# SPDX-License-Identifier: Apache-2.0
"""Tests mae_poly_slots (memory of polynomials) against arrays, with all ports in use at once."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from tests.support import bench

SLOTS, WIDTH = 3, 16


def packed(values: list[int], width: int) -> int:
    """Packs a word for each port of mae_poly_slots into one integer."""
    return sum(value << width * i for i, value in enumerate(values))


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def random_accesses(dut) -> None:
    """A read of mae_poly_slots returns the word last written before its clock."""
    words, slots, width = (bench.parameters()[name] for name in ("Words", "Slots", "Width"))
    bits, slot_bits = words.bit_length() - 1, (slots - 1).bit_length()
    chooser = random.Random(6)
    Clock(dut.clk_i, 10, unit="ns").start()
    for name in ("read_i", "read_slot_i", "read_word_i", "write_i", "write_slot_i"):
        getattr(dut, name).value = 0
    dut.write_word_i.value, dut.write_data_i.value = 0, 0

    async def clear() -> None:
        dut.clear_i.value, dut.write_i.value = 1, 0
        for row in range(words // 2):
            dut.clear_row_i.value = row
            await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0

    def bank(word: int) -> tuple[int, int]:
        return (word >> bits - 1) ^ (word & 1), word >> 1

    await FallingEdge(dut.clk_i)
    await clear()
    memory = [[0] * words for _ in range(slots)]
    for number in range(3000):
        if number == 2000:
            await clear()
            memory = [[0] * words for _ in range(slots)]
        # No two reads of different words in one bank of a slot; the pair writes different banks.
        reads, used = [], {}
        for _ in range(4):
            slot, word = chooser.randrange(slots), chooser.randrange(words)
            where = (slot, bank(word)[0])
            on = chooser.random() < 0.8 and used.get(where, word) == word
            if on:
                used[where] = word
            reads.append((on, slot, word))
        first = chooser.randrange(words)
        second = chooser.choice([w for w in range(words) if bank(w)[0] != bank(first)[0]])
        slot, other = chooser.sample(range(slots), 2)
        writes = [
            (chooser.random() < 0.7, slot, w, chooser.randrange(1 << width))
            for w in (first, second)
        ]
        writes.append(
            (chooser.random() < 0.7, other, chooser.randrange(words), chooser.randrange(1 << width))
        )
        dut.read_i.value = packed([int(on) for on, _, _ in reads], 1)
        dut.read_slot_i.value = packed([slot for _, slot, _ in reads], slot_bits)
        dut.read_word_i.value = packed([word for _, _, word in reads], bits)
        dut.write_i.value = packed([int(on) for on, *_ in writes], 1)
        dut.write_slot_i.value = packed([slot for _, slot, _, _ in writes], slot_bits)
        dut.write_word_i.value = packed([word for _, _, word, _ in writes], bits)
        dut.write_data_i.value = packed([data for *_, data in writes], width)
        wanted = [memory[slot][word] if on else None for on, slot, word in reads]
        await FallingEdge(dut.clk_i)
        found = int(dut.read_data_o.value)
        for port, value in enumerate(wanted):
            if value is not None:
                assert found >> width * port & ((1 << width) - 1) == value, (number, port)
        for on, slot, word, data in writes:
            if on:
                memory[slot][word] = data


@pytest.mark.parametrize("words", [4, 32])
def test_poly_slots(words: int) -> None:
    """Builds mae_poly_slots with the fewest and with more words and runs this file's test."""
    bench.run("mae_poly_slots", parameters={"Slots": SLOTS, "Words": words, "Width": WIDTH})
