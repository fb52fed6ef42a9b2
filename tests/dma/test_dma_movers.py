# SPDX-License-Identifier: Apache-2.0
"""Tests the DMA's read and write engine connected to each other: data, ends, bus use.

Tests mae_dma_read_engine and mae_dma_write_engine with a plain wire between them.
"""

import os
import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge

from tests.dma.model.jobs import ABORT, Land, Mover, Segment
from tests.dma.rings import Status
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR, AxiMemory
from tests.support.stream import start

LOOP = "tests/dma/mae_dma_movers_loop.sv"


class Bench:
    """Connects the DMA's read and write engine to a memory model and the expected contents."""

    def __init__(self, dut, size: int, *, stall: float = 0.0, base: int = 0, **memory) -> None:
        self.dut = dut
        self.memory = AxiMemory(
            dut,
            size,
            base=base,
            stall=stall,
            unique_ids=True,
            seed=random.getrandbits(32),
            **memory,
        )
        self.memory.data[:] = random.randbytes(size)
        self.expected = bytearray(self.memory.data)
        self.base = base
        self.read = Mover(dut, "src_", stall=stall, seed=3)
        self.write = Mover(dut, "dst_", stall=stall, seed=4)
        self.land = Land(base, base + size, random.Random(random.getrandbits(32)))
        self.held = 0

    async def begin(self) -> None:
        """Resets both DMA engines and starts the memory model and the segment drivers."""
        await start(self.dut)
        for model in (self.memory, self.read, self.write):
            model.start()

    def expect(self, src: list[Segment], dst: list[Segment]) -> int:
        """Copies a job's data in the image of the expected memory; returns its length."""
        data = b"".join(self.memory.read(addr, count) for addr, count in src)
        at = 0
        for addr, count in dst:
            piece = data[at : at + count]
            self.expected[addr - self.base : addr - self.base + len(piece)] = piece
            at += count
        return len(data)

    async def job(self, ctx: int, src: list[Segment], dst: list[Segment]) -> None:
        """Runs one copy job through both DMA engines; asserts status and length at the end."""
        length = self.expect(src, dst)
        self.read.push(ctx, src)
        self.write.push(ctx, dst)
        end = await self.read.end(ctx)
        assert end["status"] == Status.OK
        end = await self.write.end(ctx)
        assert (end["status"], end["bytes"]) == (Status.OK, length)

    async def run(self, jobs: dict[int, list[tuple[list[Segment], list[Segment]]]]) -> None:
        """Runs copy jobs, one at a time in each context, and then compares the memory."""

        async def context(ctx: int) -> None:
            for src, dst in jobs[ctx]:
                await self.job(ctx, src, dst)

        for task in [cocotb.start_soon(context(ctx)) for ctx in jobs]:
            await task
        self.compare()

    def compare(self) -> None:
        """Asserts that memory equals the expected image of all copy jobs."""
        if self.memory.data != self.expected:
            bad = [i for i, x in enumerate(self.expected) if self.memory.data[i] != x]
            raise AssertionError(f"{len(bad)} bytes differ, first {[hex(i) for i in bad[:8]]}")
        assert self.memory.idle()

    def end(self) -> None:
        """Stops the memory model and the segment drivers."""
        for model in (self.memory, self.read, self.write):
            model.stop()

    async def watch(self) -> None:
        """Counts the clocks in which the DMA's write engine does not accept an offered row."""
        while True:
            await FallingEdge(self.dut.clk_i)
            self.held += int(self.dut.held_o.value)


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def copies_any_lists(dut) -> None:
    """Both DMA engines copy lists of any alignment and length, in all contexts at once."""
    contexts = bench.parameters()["Contexts"]
    for stall, latency in ((0.0, (0, 3)), (0.3, (5, 60))):
        tests = Bench(dut, 1 << 19, stall=stall, latency=latency, base=0xFFFF_FFFF_0000 << 12)
        await tests.begin()
        jobs: dict[int, list] = {}
        for number in range(60):
            length = random.choice((1, 2, 63, 64, 65, random.randint(1, 300), 1000, 5000))
            if number % 3 == 0:
                src, dst = [(tests.land.take(length), length)], [(tests.land.take(length), length)]
            else:
                src = tests.land.scatter(length, random.choice((3, 70, 2000)))
                dst = src if number % 3 == 1 else tests.land.scatter(length, 500)
            jobs.setdefault(random.randrange(contexts), []).append((src, dst))
        await tests.run(jobs)
        tests.end()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def copies_every_alignment(dut) -> None:
    """Both DMA engines copy from each byte offset of a bus word to random offsets."""
    tests = Bench(dut, 1 << 17, latency=(0, 5))
    await tests.begin()
    width = tests.memory.bytes
    contexts = bench.parameters()["Contexts"]
    jobs: dict[int, list] = {}
    for offset in range(width):
        length = random.choice((1, width - 1, width, width + 1, 2 * width))
        src = tests.land.take(length, width) + offset
        tests.land.next += offset
        dst = tests.land.take(length, width) + random.randrange(width)
        tests.land.next += width
        jobs.setdefault(offset % contexts, []).append(([(src, length)], [(dst, length)]))
    await tests.run(jobs)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def lists_end_early(dut) -> None:
    """Both DMA engines end a job whose source or destination list is cut; the next works."""
    tests = Bench(dut, 1 << 17, latency=(5, 40), stall=0.1)
    await tests.begin()
    for ctx, (src_pieces, dst_pieces, longest) in enumerate(
        ((0, 3, 100), (2, 2, 64), (3, 0, 200), (0, 0, 1), (1, 4, 5000), (4, 1, 5000)) * 2
    ):
        ctx %= bench.parameters()["Contexts"]
        src = [(tests.land.take(longest), longest) for _ in range(src_pieces)]
        dst = [(tests.land.take(longest), longest) for _ in range(dst_pieces)]
        both = random.random() < 0.5 or src_pieces >= dst_pieces
        tests.read.push(ctx, [*src, ABORT] if src_pieces <= dst_pieces else src)
        tests.write.push(ctx, [*dst, ABORT] if both else dst)
        assert (await tests.read.end(ctx))["status"] == Status.OK
        end = await tests.write.end(ctx)
        count = src_pieces * longest
        count += src_pieces <= dst_pieces and count % tests.memory.bytes == 0  # the byte of zeros
        assert end["status"] == Status.OK
        assert end["bytes"] == min(count, dst_pieces * longest)
        data = b"".join(tests.memory.read(addr, longest) for addr, _ in src)
        data += bytes(count - len(data))
        for number, (addr, _) in enumerate(dst):
            piece = data[number * longest : (number + 1) * longest]
            tests.expected[addr - tests.base : addr - tests.base + len(piece)] = piece
        await tests.job(ctx, tests.land.scatter(777, 200), tests.land.scatter(777, 300))
    tests.compare()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def errors_end_their_job_alone(dut) -> None:
    """The DMA engines report each job's first bus error; other jobs copy right."""
    tests = Bench(dut, 1 << 18, latency=(5, 80))
    await tests.begin()
    contexts = bench.parameters()["Contexts"]
    resp = {0: SLVERR, 1: DECERR}
    read_code = {SLVERR: Status.READ_SLVERR, DECERR: Status.READ_DECERR}
    write_code = {SLVERR: Status.WRITE_SLVERR, DECERR: Status.WRITE_DECERR}

    async def one(number: int, ctx: int) -> None:
        length = 4000
        src, dst = tests.land.take(length, 4096), tests.land.take(length, 4096)
        bad = number % 4
        if bad < 2:
            code = resp[number // 4 % 2]
            at = (src if bad == 0 else dst) + random.randrange(length)
            tests.memory.fail(at, at + 1, code, read=bad == 0, write=bad == 1)
            tests.read.push(ctx, [(src, length)])
            tests.write.push(ctx, [(dst, length)])
            expected = read_code[code] if bad == 0 else Status.OK
            assert (await tests.read.end(ctx))["status"] == expected
            expected = write_code[code] if bad == 1 else Status.OK
            assert (await tests.write.end(ctx))["status"] == expected
            at = dst - tests.base  # what a failed job wrote is not defined
            tests.expected[at : at + length] = tests.memory.read(dst, length)
        else:
            await tests.job(ctx, [(src, length)], [(dst, length)])

    async def context(ctx: int) -> None:
        for number in range(ctx, 16, min(contexts, 4)):
            await one(number, ctx)

    for task in [cocotb.start_soon(context(ctx)) for ctx in range(min(contexts, 4))]:
        await task
    assert len(tests.memory._ranges) == 8
    # Outside all memory.
    tests.read.push(0, [(1 << 60, 100)])
    tests.write.push(0, [(1 << 50, 100)])
    assert (await tests.read.end(0))["status"] == Status.READ_DECERR
    assert (await tests.write.end(0))["status"] == Status.WRITE_DECERR
    tests.compare()


def size_of(bench_: Bench, jobs: int, length: int, offsets: bool) -> dict[int, list]:
    """Makes equal copy jobs, one per context, aligned or at random offsets."""
    work = {}
    for ctx in range(jobs):
        src = bench_.land.take(length + 64, 4096)
        dst = bench_.land.take(length + 64, 4096)
        if offsets:
            src, dst = src + random.randrange(64), dst + random.randrange(64)
        work[ctx] = [([(src, length)], [(dst, length)])]
    return work


async def transfers(dut, jobs: int, one_way: bool, offsets: bool) -> tuple[float, float, float]:
    """Copies 64 KB in several contexts; returns the shares of clocks with read and write data."""
    tests = Bench(dut, jobs * 0x22000 + 4096, one_way=one_way)
    await tests.begin()
    watch = cocotb.start_soon(tests.watch())
    await tests.run(size_of(tests, jobs, 1 << 16, offsets))
    watch.cancel()
    tests.end()
    read, write, busy = tests.memory.statistics.used()
    dut._log.info(
        f"{jobs} transfers, {'one way' if one_way else 'two ways'}, "
        f"{'any byte' if offsets else 'aligned'}: {tests.memory.statistics.span()} clocks, "
        f"read {read:.3f} write {write:.3f} bus {busy:.3f} of them; "
        f"at most {tests.memory.statistics.most_beats} beats asked for"
    )
    assert tests.held == 0, "the writer has room for every row that it let come"
    return read, write, busy


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def uses_the_data_clocks(dut) -> None:
    """16 DMA copies of 64 KB use 95 % of the read and write clocks, aligned or not."""
    for offsets in (False, True):
        read, write, _ = await transfers(dut, 16, False, offsets)
        assert read >= 0.95 and write >= 0.95
    _, _, busy = await transfers(dut, 16, True, True)
    assert busy >= 0.95


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def one_transfer_alone(dut) -> None:
    """One DMA copy of 64 KB alone uses at least the share LEAST of the bus clocks."""
    least = float(os.environ["LEAST"])
    for offsets in (False, True):
        read, write, _ = await transfers(dut, 1, False, offsets)
        assert read >= least and write >= least


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def newcomers_get_a_share(dut) -> None:
    """Short DMA copies beside four long ones end within a few memory latencies."""
    tests = Bench(dut, 1 << 20, latency=(50, 300))
    await tests.begin()
    long, short = 1024 * tests.memory.bytes, 32 * tests.memory.bytes
    ended: list[int] = []

    async def one(ctx: int, length: int) -> None:
        src, dst = tests.land.take(length, 4096), tests.land.take(length, 4096)
        await tests.job(ctx, [(src, length)], [(dst, length)])
        ended.append(ctx)

    hogs = [cocotb.start_soon(one(ctx, long)) for ctx in range(4)]
    await ClockCycles(dut.clk_i, 1000)
    assert not ended
    # Pages of their own alone: two round trips of reads, two of writes, and the bus's clocks.
    tasks = [cocotb.start_soon(one(ctx, short)) for ctx in range(4, 12)]
    await ClockCycles(dut.clk_i, 2200)
    assert sorted(ended) == list(range(4, 12)), "the short ones, and they alone"
    for task in (*tasks, *hogs):
        await task
    tests.compare()


def run(width: int, contexts: int, rows: int, beats: int, ids: int, **options: object) -> None:
    """Builds both DMA engines (mae_dma_movers_loop) and runs the tests that match a filter."""
    parameters = {
        "DataWidth": width,
        "Contexts": contexts,
        "RowsPerContext": rows,
        "BurstBeats": beats,
        "IdWidth": ids,
    }
    bench.run("mae_dma_movers_loop", parameters=parameters, sources=[LOOP], **options)


DEFAULT = (512, 64, 32, 8, 8)


@pytest.mark.parametrize(
    "parameters", [(128, 1, 16, 4, 3), DEFAULT, (1024, 3, 32, 8, 4), (256, 256, 16, 2, 9)]
)
def test_corners(parameters: tuple[int, ...]) -> None:
    """Builds both DMA engines with extreme and usual parameters; runs the functional tests."""
    run(*parameters, test_filter="copies|lists|errors")


@pytest.mark.full
def test_data_clocks() -> None:
    """Builds both DMA engines with default parameters and runs the tests of bus use."""
    filters = "uses_the_data_clocks|one_transfer|newcomers"
    run(*DEFAULT, test_filter=filters, env={"LEAST": "0.65"})
