# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_region_locks: locked and closed memory regions against sets of granules."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.support.bench import run

BITS, ENTRIES, PORTS, PENDING = 10, 3, 2, 2  # 16 granules
SIZE, TOP = 1 << BITS, 1 << 64


def pack(values: list[int], width: int) -> int:
    """Packs equally wide fields into one integer, the first in the lowest bits."""
    return sum(value << width * i for i, value in enumerate(values))


class Model:
    """Models the locked regions of device memory as sets of 64-byte granules."""

    def __init__(self) -> None:
        self.entries: list[tuple[bool, set[int]] | None] = [None] * ENTRIES
        self.closed = [False] * ENTRIES

    def refused(self, out: bool, base: int, length: int) -> bool:
        """Returns true if the model refuses to lock a region: illegal, overlapping or none free."""
        if not length or base % 64 or base + length > SIZE:
            return True
        granules = {byte // 64 for byte in range(base, base + length)}
        taken = [e for e in self.entries if e and e[1] & granules and not (out and e[0])]
        return bool(taken) or None not in self.entries

    def forbids(self, i: int, write: bool, address: int) -> bool:
        """Returns true if a closed entry of the model forbids a read or write at an address."""
        entry = self.entries[i]
        if not entry or not self.closed[i]:
            return False
        return address < SIZE and address // 64 in entry[1] and (write or not entry[0])


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def locks(dut) -> None:
    """mae_guard_region_locks accepts, frees and enforces regions as the model does."""
    generator, model = random.Random(1), Model()
    Clock(dut.clk_i, 10, "ns").start()
    for name in ("clear_i", "reserve_i", "release_i", "close_i", "write_i", "pending_i"):
        getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    seen = {"refused": 0, "locked": 0, "fault": 0, "loud": 0}

    def place() -> int:
        return generator.choice(
            (generator.randrange(SIZE), 64 * generator.randrange(17), SIZE - 64, SIZE, TOP - 64)
        )

    for _ in range(20000):
        out, base = generator.random() < 0.5, place()
        length = generator.choice(
            (0, 1, 64, 65, generator.randrange(300), SIZE - base % SIZE, TOP - base, TOP - 1)
        )
        length %= TOP
        try_lock = generator.random() < 0.5
        dut.reserve_i.value = int(try_lock)
        dut.out_i.value, dut.base_i.value, dut.bytes_i.value = out, base, length
        freed = [i for i, e in enumerate(model.entries) if e and generator.random() < 0.15]
        dut.release_i.value = sum(1 << i for i in freed)
        closed = [i for i, e in enumerate(model.entries) if e and generator.random() < 0.4]
        dut.close_i.value = sum(1 << i for i in closed)
        clear = generator.random() < 0.002
        dut.clear_i.value = int(clear)
        asked = [(generator.random() < 0.5, place()) for _ in range(PORTS)]
        dut.write_i.value = pack([write for write, _ in asked], 1)
        dut.address_i.value = pack([address for _, address in asked], 64)
        under_way = [
            (generator.random() < 0.5, generator.random() < 0.5, place()) for _ in range(PENDING)
        ]
        dut.pending_i.value = pack([valid for valid, _, _ in under_way], 1)
        dut.pending_write_i.value = pack([write for _, write, _ in under_way], 1)
        dut.pending_address_i.value = pack([address for _, _, address in under_way], 64)
        await Timer(1, "ns")
        refused = model.refused(out, base, length)
        assert bool(dut.refused_o.value) == refused, (out, base, length)
        for port, (write, address) in enumerate(asked):
            fault = address >= SIZE or any(model.forbids(i, write, address) for i in range(ENTRIES))
            assert dut.fault_o.value[port] == fault, (write, address)
            seen["fault"] += fault
        for i in range(ENTRIES):
            loud = any(v and model.forbids(i, w, a) for v, w, a in under_way)
            assert dut.quiet_o.value[i] == (model.closed[i] and not loud)
            seen["loud"] += loud
        free = model.entries.index(None) if None in model.entries else 0
        for i in closed:
            model.closed[i] = True
        for i in freed:
            model.entries[i], model.closed[i] = None, False
        if try_lock and not refused:
            assert int(dut.entry_o.value) == free
            model.entries[free] = (out, {byte // 64 for byte in range(base, base + length)})
        if clear:
            model = Model()
        seen["refused" if refused else "locked"] += try_lock
        await FallingEdge(dut.clk_i)
    assert min(seen.values()) > 500, seen


def test_guard_region_locks() -> None:
    """Builds mae_guard_region_locks with three entries and runs this file's test on it."""
    parameters = {"MemoryBits": BITS, "Entries": ENTRIES, "Ports": PORTS, "Pending": PENDING}
    run("mae_guard_region_locks", parameters=parameters)
