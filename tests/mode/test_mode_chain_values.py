# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_chain_values: three writers per clock, readers see the newest value, wipe."""

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.cipher.leaks import signals
from tests.support import bench

READERS = ("par", "answer", "ask")


class Chain:
    """Drives mae_mode_chain_values and models the value of each context."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.parallel = bench.parameters()["Parallel"]
        self.held = [0] * bench.parameters()["Slots"]

    async def empty(self) -> None:
        """Erases all values of mae_mode_chain_values, one per clock."""
        idle = dict.fromkeys(("wipe_i", "iv_valid_i", "par_valid_i", "answer_valid_i"), 0)
        self.dut.clk_i.value = 0
        for name, value in idle.items():
            getattr(self.dut, name).value = value
        for slot in range(len(self.held)):
            self.dut.wipe_i.value = 1
            self.dut.wipe_slot_i.value = slot
            await self.clock()
        self.dut.wipe_i.value = 0
        self.held = [0] * len(self.held)

    async def clock(self) -> None:
        """Runs one clock of mae_mode_chain_values."""
        for level in (1, 0):
            await Timer(5, "ns")
            self.dut.clk_i.value = level
        await Timer(5, "ns")

    def check(self, reader: str, slot: int) -> None:
        """Asserts that a read port shows the newest chain value of a context."""
        wanted = self.held[slot] if reader != "par" or self.parallel else 0
        assert int(getattr(self.dut, f"{reader}_o").value) == wanted, (reader, slot)

    async def write(self, writes: dict[str, tuple[int, int]]) -> None:
        """Runs one clock of mae_mode_chain_values with given writes; asserts all read ports."""
        dut, slots = self.dut, len(self.held)
        for writer, port in (("iv", "iv_i"), ("par", "par_i"), ("answer", "answer_i")):
            slot, value = writes.get(writer, (random.randrange(slots), random.getrandbits(128)))
            getattr(dut, f"{writer}_valid_i").value = writer in writes
            getattr(dut, f"{writer}_slot_i").value = slot
            getattr(dut, port).value = value
        dut.ask_slot_i.value = random.randrange(slots)
        await Timer(1, "ns")
        for reader in READERS:
            self.check(reader, int(getattr(dut, f"{reader}_slot_i").value))
        await self.clock()
        for writer, (slot, value) in writes.items():
            if writer != "par" or self.parallel:
                self.held[slot] = value
        for writer in ("iv", "par", "answer"):
            getattr(dut, f"{writer}_valid_i").value = 0
        for slot in range(slots):
            for reader in READERS:
                getattr(dut, f"{reader}_slot_i").value = slot
            await Timer(1, "ns")
            for reader in READERS:
                self.check(reader, slot)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def newest_value_wins(dut) -> None:
    """All read ports of mae_mode_chain_values show the newest value under random writes."""
    chain = Chain(dut)
    await chain.empty()
    slots = len(chain.held)
    for _ in range(600):
        writers = random.sample(("iv", "par", "answer"), random.randrange(min(slots, 3) + 1))
        places = random.sample(range(slots), len(writers))
        await chain.write(
            {w: (s, random.getrandbits(128)) for w, s in zip(writers, places, strict=True)}
        )


@cocotb.test(timeout_time=200, timeout_unit="us")
async def wipe_leaves_nothing(dut) -> None:
    """After a wipe mae_mode_chain_values holds and shows only zeros."""
    chain = Chain(dut)
    for _ in range(3):
        await chain.empty()
        for writer in ("iv", "par", "answer"):
            for slot in range(len(chain.held)):
                await chain.write({writer: (slot, random.getrandbits(128))})
        await chain.empty()
        await chain.write({})
        stores = [s for block in dut if block._name.startswith("gen_") for s in values(block)]
        assert stores and not any(int(s.value) for s in stores)


def values(handle) -> list:
    """Returns all 128-bit registers of a simulated module and its submodules."""
    return [s for s in signals(handle) if "_q" in s._name and len(s) == 128]


@pytest.mark.parametrize(
    "parameters",
    ({"Slots": 5, "Parallel": 1}, {"Slots": 4, "Parallel": 0}, {"Slots": 1, "Parallel": 1}),
    ids=str,
)
def test_mode_chain_values(parameters: dict[str, int]) -> None:
    """Builds mae_mode_chain_values for several sizes and runs this file's tests."""
    bench.run("mae_mode_chain_values", parameters=parameters, visible=True)
