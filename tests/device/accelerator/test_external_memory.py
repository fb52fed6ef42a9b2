# SPDX-License-Identifier: Apache-2.0
"""Tests mae_external_memory, its parts and mae_device_memory against a byte array.

Order of accesses on a memory that answers in any order, refusals, error responses, erasure, bursts.
Covers mae_external_memory_reads, mae_external_memory_writes, mae_axi_burst_merge.
"""

import collections
import dataclasses
import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.support.axi_memory import AxiMemory, axi_name
from tests.support.bench import run

ROW, PART = 64, 16
FULL = (1 << ROW) - 1
BITS = 12
GRANULES = 1 << BITS - 6


@dataclasses.dataclass
class Kernel:
    """Holds a request of the kernel."""

    granule: int
    part: int = 0
    writes: bool = False
    strobes: int = 0xFFFF
    data: bytes = bytes(ROW)  # of the row; of the part in its first bytes
    wide: bool = False
    refused: bool = False


class Bench:
    """Drives mae_external_memory, and compares it with a byte array at each accepted request."""

    def __init__(self, dut, **options) -> None:
        self.dut = dut
        self.bus = AxiMemory(dut, 1 << BITS, names=axi_name("m_axi_mem_"), crossing=True, **options)
        self.rows = [bytes(ROW)] * GRANULES
        self.write: tuple | None = None  # granule, strobes, data
        self.scrub: int | None = None
        self.read: int | None = None
        self.kernel: Kernel | None = None
        self.due: collections.deque = collections.deque()  # of the kernel: data, refused
        self.due_dma: collections.deque = collections.deque()  # granule, data
        self.seen: collections.Counter = collections.Counter()
        self.faults = self.wanted_faults = self.write_errors = self.read_errors = 0
        self.refused_write = False  # in the clock before
        self.errors = False  # the bus may answer with errors: data are not compared

    async def start(self) -> None:
        """Resets the module and waits until the memory is erased."""
        dut = self.dut
        names = "clear_i write_valid_i scrub_valid_i read_valid_i kernel_valid_i judge_fault_i"
        names += " kernel_wide_i kernel_row_i kernel_request_i"
        for name in names.split():
            getattr(dut, name).value = 0
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 3)
        self.bus.data[:] = b"\xa5" * len(self.bus.data)
        self.bus.start()
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await self.erased()

    async def erased(self) -> None:
        """Waits until the memory is not busy; checks that it holds zeros only."""
        while self.dut.busy_o.value:
            await self.step()
        assert not any(self.bus.data)
        self.rows = [bytes(ROW)] * GRANULES

    def _drive(self) -> None:
        dut, kernel = self.dut, self.kernel
        dut.write_valid_i.value = int(self.write is not None)
        if self.write:
            dut.write_granule_i.value = self.write[0]
            dut.write_strb_i.value = self.write[1]
            dut.write_data_i.value = int.from_bytes(self.write[2], "little")
        dut.scrub_valid_i.value = int(self.scrub is not None)
        dut.scrub_granule_i.value = self.scrub or 0
        dut.read_valid_i.value = int(self.read is not None)
        dut.read_granule_i.value = self.read or 0
        dut.kernel_valid_i.value = int(kernel is not None)
        if kernel:
            word = int(kernel.writes) << 32 | kernel.granule * ROW + kernel.part * PART
            word = word << 16 | kernel.strobes
            low = 0 if kernel.wide else int.from_bytes(kernel.data[:PART], "little")
            dut.kernel_request_i.value = word << 128 | low
            dut.kernel_wide_i.value = int(kernel.wide)
            dut.kernel_row_i.value = int.from_bytes(kernel.data, "little") if kernel.wide else 0
            dut.judge_fault_i.value = 1 << kernel.writes if kernel.refused else 0

    def _answers(self) -> None:
        dut = self.dut
        if dut.kernel_rvalid_o.value:
            data, refused, part = self.due.popleft()
            row = int(dut.kernel_row_o.value).to_bytes(ROW, "little")
            if not self.errors:
                assert row == data, f"{row.hex()} {data.hex()}"
                assert bool(dut.kernel_fault_o.value) >= refused
            same = row[PART * part :][:PART]
            assert int(dut.kernel_rdata_o.value) == int.from_bytes(same, "little")
            self.seen["kernel answers"] += 1
        assert dut.kernel_fault_o.value or not self.refused_write
        self.faults += bool(dut.kernel_fault_o.value)
        self.write_errors += bool(dut.write_error_o.value)
        self.read_errors += bool(dut.read_error_o.value)
        if dut.read_rvalid_o.value:
            _, data = self.due_dma.popleft()
            if not self.errors:
                assert int(dut.read_rdata_o.value) == int.from_bytes(data, "little")
            self.seen["dma answers"] += 1

    def _store(self, granule: int, strobes: int, data: bytes) -> None:
        old = self.rows[granule]
        self.rows[granule] = bytes(data[i] if strobes >> i & 1 else old[i] for i in range(ROW))

    async def step(self) -> None:
        """Lets one clock pass, and notes the requests that are accepted in it."""
        dut = self.dut
        self._drive()
        await Timer(1, "ns")
        self._answers()
        if self.read is not None and dut.read_ready_o.value:
            self.due_dma.append((self.read, self.rows[self.read]))
            self.read = None
            self.seen["read"] += 1
        kernel = self.kernel
        self.refused_write = False
        if kernel and dut.kernel_ready_o.value:
            self.kernel = None
            self.refused_write = kernel.refused and kernel.writes
            self.seen[f"kernel {kernel.writes} {kernel.refused}"] += 1
            self.wanted_faults += kernel.refused
            if not kernel.writes:
                data = bytes(ROW) if kernel.refused else self.rows[kernel.granule]
                self.due.append((data, kernel.refused, kernel.part))
        writers = 0
        if kernel and self.kernel is None and kernel.writes and not kernel.refused:
            writers += 1
            if kernel.wide:
                self._store(kernel.granule, FULL, kernel.data)
            else:
                at = PART * kernel.part
                row = bytes(at) + kernel.data[:PART] + bytes(ROW)
                self._store(kernel.granule, kernel.strobes << at, row[:ROW])
        if self.write and dut.write_ready_o.value:
            writers += 1
            self._store(*self.write)
            self.write = None
            self.seen["write"] += 1
        if self.scrub is not None and dut.scrub_ready_o.value:
            writers += 1
            self._store(self.scrub, FULL, bytes(ROW))
            self.scrub = None
            self.seen["scrub"] += 1
        assert writers <= 1
        await FallingEdge(dut.clk_i)

    async def drain(self) -> None:
        """Waits until no request, answer or write is left."""
        quiet = 0
        for _ in range(5000):
            waits = self.write or self.scrub is not None or self.read is not None or self.kernel
            waits = waits or self.due or self.due_dma or not self.bus.idle()
            quiet = 0 if waits else quiet + 1
            if quiet == 30:
                return
            await self.step()
        raise AssertionError("requests are left")


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def order(dut) -> None:
    """Every read of mae_external_memory sees the writes accepted before it, and no later one."""
    Clock(dut.clk_i, 10, "ns").start()
    seen: collections.Counter = collections.Counter()
    for seed in range(4):
        chooser = random.Random(seed)
        bench = Bench(
            dut, latency=(1, (5, 60, 150, 300)[seed]), stall=(0, 0.5)[seed % 2], seed=seed
        )
        await bench.start()
        share = 0.5
        for clock in range(6000):
            if clock % 250 == 0:
                share = chooser.choice((0.1, 0.6, 1.0))
                near, writes = chooser.randrange(GRANULES - 2), chooser.random()
            place = chooser.choice((near, near + 1, chooser.randrange(GRANULES)))
            # The DMA's region is locked: what it reads nobody writes meanwhile.
            read = {granule for granule, _ in bench.due_dma} | {bench.read}
            if bench.write is None and place not in read and chooser.random() < share / 2:
                strobes = chooser.choice((FULL, chooser.getrandbits(64), 1, 1 << 63))
                bench.write = place, strobes, chooser.randbytes(ROW)
            if bench.scrub is None and place not in read and chooser.random() < share / 8:
                bench.scrub = place
            if bench.kernel is None and place not in read and chooser.random() < share:
                bench.kernel = Kernel(
                    place,
                    chooser.randrange(4),
                    chooser.random() < writes,
                    chooser.choice((0xFFFF, chooser.getrandbits(16))),
                    chooser.randbytes(ROW),
                    chooser.random() < 0.5,
                    chooser.random() < 0.2,
                )
            written = {bench.scrub, bench.write and bench.write[0]}
            written.add(bench.kernel.granule if bench.kernel else None)
            if bench.read is None and place not in written and chooser.random() < share:
                bench.read = place
            await bench.step()
        await bench.drain()
        assert 0 < bench.faults <= bench.wanted_faults  # two may be told in one clock
        assert b"".join(bench.rows) == bench.bus.data
        seen += bench.seen
        assert not bench.write_errors + bench.read_errors and dut.kernel_settled_o.value
        bench.bus.stop()
    assert min(seen.values()) > 20 and len(seen) == 9, seen


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def bursts(dut) -> None:
    """mae_external_memory makes whole bursts of consecutive granules, at one granule a clock."""
    Clock(dut.clk_i, 10, "ns").start()
    bench = Bench(dut, latency=(40, 40), shuffle=False)
    await bench.start()
    assert {beats for _, beats in bench.bus.write_log} == {8} and len(bench.bus.write_log) == 8
    bench.bus.write_log.clear()
    clocks, at, got = 0, 0, 0
    while got < 3 * GRANULES:
        if bench.kernel is None and at < 3 * GRANULES:
            bench.kernel, at = Kernel(at % GRANULES, wide=True), at + 1
        await bench.step()
        clocks, got = clocks + 1, bench.seen["kernel answers"]
    assert {beats for _, beats in bench.bus.read_log} == {8}
    assert clocks < 3 * GRANULES + 80
    bench.bus.read_log.clear()
    for at in (0, 1, 2, 4, 6, 7, 8):  # two gaps and the end of a block
        bench.read = at
        while bench.read is not None:
            await bench.step()
    await bench.drain()
    places = [(address // ROW, beats) for address, beats in bench.bus.read_log]
    assert places == [(0, 3), (4, 1), (6, 2), (8, 1)], places
    for at in range(16):
        bench.write = at, FULL, bytes([at]) * ROW
        while bench.write is not None:
            await bench.step()
    await bench.drain()
    assert bench.bus.write_log == [(0, 8), (8 * ROW, 8)]


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def errors(dut) -> None:
    """An error response reaches the kernel or the DMA's error output, with zeros for data."""
    Clock(dut.clk_i, 10, "ns").start()
    bench = Bench(dut, latency=(5, 90))
    await bench.start()
    bench.errors = True
    bench.bus.fail(5 * ROW, 6 * ROW)
    bench.kernel = Kernel(5)
    await bench.drain()
    assert (bench.faults, bench.read_errors, bench.write_errors) == (1, 0, 0)
    bench.read = 5
    await bench.drain()
    assert (bench.faults, bench.read_errors, bench.write_errors) == (1, 1, 0)
    bench.write = 5, FULL, bytes(ROW)
    await bench.drain()
    assert (bench.faults, bench.read_errors, bench.write_errors) == (2, 1, 1)
    # A write of the kernel: it is not settled before its fault has been told.
    bench.kernel = Kernel(5, writes=True)
    while bench.kernel is not None:
        await bench.step()
    while not dut.kernel_settled_o.value:
        assert bench.faults == 2
        await bench.step()
    assert (bench.faults, bench.write_errors) == (3, 2)
    # Data of a read with an error are zero; a read of other data is not disturbed.
    bench.errors = False
    bench.bus.mend()
    bench.kernel = Kernel(6, writes=True, data=b"\x77" * ROW, wide=True)
    await bench.drain()
    bench.bus.fail(6 * ROW, 7 * ROW, write=False)
    seen = bench.rows[6]
    bench.rows[6] = bytes(ROW)
    bench.kernel = Kernel(6)
    await bench.drain()
    bench.rows[6] = seen
    bench.bus.mend()
    bench.kernel = Kernel(6)
    await bench.drain()
    assert (bench.faults, bench.write_errors) == (4, 2)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def erasure(dut) -> None:
    """A clear of mae_external_memory at any time leaves zeros, and the kernel reads zeros."""
    Clock(dut.clk_i, 10, "ns").start()
    for seed in range(12):
        chooser = random.Random(seed)
        bench = Bench(dut, latency=(1, 120), seed=seed)
        await bench.start()
        for _ in range(chooser.randrange(1, 200)):
            if bench.write is None:
                bench.write = chooser.randrange(GRANULES - 1), FULL, chooser.randbytes(ROW)
            if bench.kernel is None:
                writes = chooser.random() < 0.5
                bench.kernel = Kernel(chooser.randrange(GRANULES - 1), 1, writes, wide=True)
            if bench.read is None and chooser.random() < 0.1:
                bench.read = GRANULES - 1
            await bench.step()
        bench.write = bench.kernel = bench.read = None
        if seed % 3 == 2:
            bench.bus.fail(9 * ROW, 10 * ROW, read=False)
        dut.clear_i.value = 1
        await bench.step()
        bench.due = collections.deque((bytes(ROW), False, part) for _, _, part in bench.due)
        bench.due_dma.clear()
        for _ in range(3):
            await bench.step()
        dut.clear_i.value = 0
        for _ in range(500):  # as long as a part of it cannot be written, it goes on
            await bench.step()
        assert bool(dut.busy_o.value) == (seed % 3 == 2)
        bench.bus.mend()
        await bench.erased()
        assert not bench.due and not bench.write_errors
        bench.bus.stop()


def test_external_memory() -> None:
    """Builds mae_external_memory and runs this file's tests."""
    run("mae_external_memory", parameters={"MemoryBits": BITS})


@pytest.mark.full
def test_few_places() -> None:
    """Builds mae_external_memory with few bursts under way and runs the test of their order."""
    sizes = {"Reads": 2, "Writes": 2, "Rows": 8, "Beats": 4}
    run("mae_external_memory", parameters={"MemoryBits": BITS, **sizes}, test_filter="order")


def test_device_memory() -> None:
    """Builds mae_device_memory with the memory behind its port and runs this file's tests."""
    run("mae_device_memory", parameters={"Axi": 1, "MemoryBits": BITS})
