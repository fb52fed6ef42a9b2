# SPDX-License-Identifier: Apache-2.0
"""Tests mae_key_registers: key commands become writes of key slots, or are refused."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from tests.support import bench
from tests.support.stream import start

NONE, BAD_KEY, BUSY = 0, 5, 34
KEY_BITS = 256


async def begin(dut) -> None:
    """Resets mae_key_registers with all inputs low."""
    names = "clear_i closed_i go_i slot_i len_i erase_i words_i write_ready_i"
    await start(dut, **{name: 0 for name in names.split()})
    await FallingEdge(dut.clk_i)


async def go(dut, slot: int, length: int, erase: int, words: int = 0) -> None:
    """Gives a key command to mae_key_registers in one clock."""
    dut.slot_i.value, dut.len_i.value, dut.erase_i.value = slot, length, erase
    dut.words_i.value = words
    dut.go_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.go_i.value = 0
    await Timer(1, "ns")  # so that what follows from go_i is seen without it


def fields(dut) -> tuple[int, int, int, int]:
    """Unpacks slot, erase flag, length and key from mae_key_registers' write port."""
    value = int(dut.write_o.value)
    key, rest = value & (1 << KEY_BITS) - 1, value >> KEY_BITS
    return rest >> 3, rest >> 2 & 1, rest & 3, key


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def closed(dut) -> None:
    """During a wipe mae_key_registers refuses a key command and clears the key words."""
    await begin(dut)
    dut.closed_i.value = 1
    dut.go_i.value = 1
    await Timer(1, "ns")
    assert dut.clear_o.value == 1
    await go(dut, 0, 0, 0, 1)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
        assert (dut.write_valid_o.value, dut.busy_o.value, dut.error_o.value) == (0, 0, BUSY)
    dut.closed_i.value = 0
    await go(dut, 0, 0, 0, 1)
    assert (dut.write_valid_o.value, dut.error_o.value) == (1, NONE)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def keys_arrive_in_byte_order(dut) -> None:
    """mae_key_registers writes the key with byte 0 of word 0 highest, and clears the words."""
    await begin(dut)
    longest = bench.parameters()["MaxKeyLen"]
    for wait in (0, 1, 5):
        for length in range(longest + 1):
            key, slot = random.randbytes(32), random.randrange(bench.parameters()["KeySlots"])
            await go(dut, slot, length, 0, int.from_bytes(key, "little"))
            for _ in range(wait):
                assert (dut.write_valid_o.value, dut.busy_o.value, dut.clear_o.value) == (1, 1, 0)
                await FallingEdge(dut.clk_i)
            assert fields(dut) == (slot, 0, length, int.from_bytes(key, "big"))
            dut.write_ready_i.value = 1
            await FallingEdge(dut.clk_i)
            assert (dut.write_valid_o.value, dut.busy_o.value, dut.error_o.value) == (0, 0, NONE)
            dut.write_ready_i.value = 0
            assert dut.clear_o.value == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def running_command_keeps_its_fields(dut) -> None:
    """mae_key_registers refuses a key command during another and keeps the other's fields."""
    await begin(dut)
    slots, longest = bench.parameters()["KeySlots"], bench.parameters()["MaxKeyLen"]
    for wait in range(6):
        first, second = random.randbytes(32), random.randbytes(32)
        slot, length = random.randrange(slots), random.randrange(longest + 1)
        await go(dut, slot, length, 0, int.from_bytes(first, "little"))
        for clock in range(wait + 1):
            if clock == wait:
                dut.write_ready_i.value = 1
            await go(dut, (slot + 1) % 64, 3 - length, 1, int.from_bytes(second, "little"))
            if clock < wait:
                assert fields(dut) == (slot, 0, length, int.from_bytes(first, "big"))
                assert dut.error_o.value == BUSY
        dut.write_ready_i.value = 0
        assert int(dut.write_o.value) == 0, "the copy of the key is gone"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def erase_shows_no_key(dut) -> None:
    """mae_key_registers puts out key 0 with an erase command, whatever its key words hold."""
    await begin(dut)
    await go(dut, 0, 3, 1, (1 << 256) - 1)
    assert dut.write_valid_o.value == 1
    slot, erase, _, key = fields(dut)
    assert (slot, erase, key) == (0, 1, 0)
    dut.write_ready_i.value = 1
    await FallingEdge(dut.clk_i)
    assert dut.error_o.value == NONE


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def refusals(dut) -> None:
    """mae_key_registers refuses a bad slot or length with its error code."""
    await begin(dut)
    slots, longest = bench.parameters()["KeySlots"], bench.parameters()["MaxKeyLen"]
    bad = [(0, length, 0) for length in range(longest + 1, 4)]
    bad += [(slot, 0, erase) for slot in range(slots, 64) for erase in (0, 1)]
    for slot, length, erase in bad:
        dut.go_i.value = 1
        dut.slot_i.value, dut.len_i.value, dut.erase_i.value = slot, length, erase
        await FallingEdge(dut.clk_i)
        assert dut.clear_o.value == 1, "the window empties whatever became of the command"
        dut.go_i.value = 0
        await FallingEdge(dut.clk_i)
        assert (dut.write_valid_o.value, dut.busy_o.value, dut.error_o.value) == (0, 0, BAD_KEY)
    await go(dut, 0, 0, 0)
    await go(dut, 0, 0, 0)
    assert (dut.error_o.value, dut.write_valid_o.value) == (BUSY, 1)
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    assert (dut.write_valid_o.value, dut.busy_o.value) == (0, 0)


@pytest.mark.parametrize(("slots", "longest"), [(1, 0), (4, 2), (64, 1)])
def test_key_registers(slots: int, longest: int) -> None:
    """Builds mae_key_registers for several slot counts and key lengths; runs this file's tests."""
    bench.run("mae_key_registers", parameters={"KeySlots": slots, "MaxKeyLen": longest})
