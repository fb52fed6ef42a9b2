# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_sg_walker: segments from scatter-gather lists, bad lists, aborts.

Tests mae_dma_sg_walker.
"""

import dataclasses
import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.dma.rings import SEGMENT_END, Status, entry, pack_fields, run_seed, split
from tests.support import bench
from tests.support.stream import start

END = object()  # in a list of segments: the job's early end


@dataclasses.dataclass
class Job:
    """Holds a job for mae_dma_sg_walker: address, length, list entries and what came out."""

    addr: int
    length: int
    entries: list[tuple[int, int, int]] | None = None  # addr, length, reserved
    keeps: bool = False  # through an abort
    bad_block: int | None = None  # address / 64 of a block that cannot be read
    segments: list = dataclasses.field(default_factory=list)
    status: Status | None = None

    def expected(self) -> tuple[list, Status]:
        """Returns the segments and the status that mae_dma_sg_walker must give for the job."""
        entries = [(self.addr, self.length, 0)] if self.entries is None else self.entries
        rest, out = self.length, []
        for i, (addr, length, reserved) in enumerate(entries):
            status = Status.OK
            if self.bad_block == (self.addr >> 4) + i >> 2:
                status = Status.LIST_FETCH
            elif reserved:
                status = Status.BAD_OP
            elif length > rest or (i == len(entries) - 1 and length != rest):
                status = Status.BAD_LENGTH
            if not self.length:
                return [END], status
            if status != Status.OK:
                return out + [END] * (rest > 0), status
            while length:
                piece = min(length, SEGMENT_END - addr % SEGMENT_END)
                rest -= piece
                out.append((addr % 2**64, piece, int(rest == 0)))
                addr, length = addr + piece, length - piece
        return out, Status.OK


class Bench:
    """Models the memory with lists and the DMA engine behind mae_dma_sg_walker."""

    def __init__(self, dut, rng: random.Random, latency=(1, 40), stall=0.3, drain=0.3) -> None:
        self.dut, self.rng, self.latency, self.stall, self.drain = dut, rng, latency, stall, drain
        self.contexts = len(dut.seg_ready_i)
        self.beat_bytes = len(dut.r_data_i) // 8
        self.memory: dict[int, bytes] = {}  # by address / 16
        self.bad_blocks: set[int] = set()
        self.jobs: dict[int, Job] = {}  # running, by context
        self.done: list[Job] = []
        self.todo: list[tuple[int, Job]] = []
        self.queues = [0] * self.contexts
        self.reads: list[list] = []  # [time, tag, block, beat, failing beat]
        self.clock = 0
        self.pushes = 0

    def put(self, job: Job) -> None:
        """Writes the job's scatter-gather list to the modelled memory."""
        for i, item in enumerate(job.entries or []):
            self.memory[(job.addr >> 4) + i] = entry(*item)
        if job.bad_block is not None:
            self.bad_blocks.add(job.bad_block)

    async def run(self, limit: int = 100000) -> None:
        """Runs clocks until mae_dma_sg_walker has ended all jobs."""
        while self.todo or self.jobs:
            await self.step()
            assert self.clock < limit, f"jobs hang: {self.jobs}"
        assert not self.reads

    async def step(self) -> None:
        """Runs one clock of mae_dma_sg_walker: checks its outputs, then sets the next inputs."""
        dut, rng = self.dut, self.rng
        await RisingEdge(dut.clk_i)
        self.clock += 1
        ctx = int(dut.seg_ctx_o.value)
        if int(dut.seg_valid_o.value) or int(dut.seg_abort_o.value):
            assert self.queues[ctx] < 2, "a push without room"
            self.queues[ctx] += 1
            self.pushes += 1
            segment = END
            if int(dut.seg_valid_o.value):
                segment = tuple(
                    int(getattr(dut, f"seg_{name}_o").value) for name in ("addr", "bytes", "last")
                )
            self.jobs[ctx].segments.append(segment)
        if int(dut.ar_valid_o.value) and self.ar_ready:
            word = int(dut.ar_o.value)
            tag, block = word >> 58, word & (1 << 58) - 1
            assert all(tag != read[1] for read in self.reads), "a tag used twice"
            fails = rng.randrange(64 // self.beat_bytes)  # where, if it does
            due = self.clock + rng.randint(*self.latency)
            self.reads.append([due, tag, block, 0, fails])
        if int(dut.done_valid_o.value):
            job = self.jobs.pop(int(dut.done_ctx_o.value))
            job.status = Status(int(dut.done_status_o.value))
            self.done.append(job)
        self.drive()

    def drive(self) -> None:
        """Sets all inputs of mae_dma_sg_walker for the next clock."""
        dut, rng = self.dut, self.rng
        for ctx, count in enumerate(self.queues):
            if count and rng.random() < self.drain:
                self.queues[ctx] -= 1
        dut.seg_ready_i.value = sum(1 << c for c, count in enumerate(self.queues) if count < 2)
        self.ar_ready = rng.random() >= self.stall
        dut.ar_ready_i.value = int(self.ar_ready)
        dut.r_valid_i.value = 0
        due = [read for read in self.reads if read[0] <= self.clock]
        if due and rng.random() >= self.stall:
            read = rng.choice(due)
            _, tag, block, beat, _ = read
            first = (block << 2) + beat * self.beat_bytes // 16
            words = [
                self.memory.get(first + i) or rng.randbytes(16)
                for i in range(self.beat_bytes // 16)
            ]
            dut.r_valid_i.value = 1
            dut.r_tag_i.value = tag
            dut.r_beat_i.value = beat
            dut.r_data_i.value = int.from_bytes(b"".join(words), "little")
            last = beat == 64 // self.beat_bytes - 1
            # An error in one beat is enough.
            dut.r_error_i.value = int(block in self.bad_blocks and beat == read[4])
            dut.r_last_i.value = int(last)
            read[3] += 1
            if last:
                self.reads.remove(read)
        dut.job_valid_i.value = 0
        ready = [item for item in self.todo if item[0] not in self.jobs]
        if ready:
            ctx, job = ready[0]
            self.todo.remove(ready[0])
            self.jobs[ctx] = job
            dut.job_valid_i.value = 1
            dut.job_ctx_i.value = ctx
            dut.job_i.value = pack_fields(
                [
                    (int(job.keeps), 1),
                    (int(job.entries is not None), 1),
                    (len(job.entries or []), 16),
                    (job.addr, 64),
                    (job.length, 32),
                ]
            )


async def begin(dut, rng: random.Random, **options) -> Bench:
    """Resets mae_dma_sg_walker with idle inputs; returns the model around it."""
    names = "job_valid_i job_ctx_i job_i abort_i seg_ready_i ar_ready_i r_valid_i r_tag_i r_beat_i"
    names += " r_data_i r_error_i r_last_i"
    await start(dut, **{name: 0 for name in names.split()})
    tester = Bench(dut, rng, **options)
    tester.drive()
    return tester


def random_job(rng: random.Random, place: int, spoil: float = 0.0) -> Job:
    """Returns a random job for mae_dma_sg_walker, illegal with probability ``spoil``."""
    length = rng.choice((1, 16, 64, 100, 4096, 12000, 30000)) + rng.randrange(64)
    if rng.random() < 0.3:
        return Job(rng.getrandbits(48), rng.choice((0, length, length)))
    lengths = split(rng, length, rng.choice((1, 2, 3, 4, 5, 8, 9, 30)))
    entries = [(rng.getrandbits(40), n, 0) for n in lengths]
    addr = place + 16 * rng.randrange(8)
    job = Job(addr, length, entries)
    if rng.random() < spoil:
        at = rng.randrange(len(entries))
        kind = rng.randrange(5)
        if kind == 0:
            job.length += rng.randrange(1, 100)
        elif kind == 1:
            job.length = max(1, length - rng.randrange(1, 100))
        elif kind == 2:
            job.bad_block = (addr >> 4) + at >> 2
        elif kind == 3:
            entries[at] = (*entries[at][:2], 1 << rng.randrange(32))
        else:
            entries.append((0, 1, 0))
    return job


async def many(dut, seed: int, spoil: float, **options) -> Bench:
    """Runs 150 random jobs on mae_dma_sg_walker; asserts segments and status of each."""
    rng = random.Random(run_seed(seed))
    tester = await begin(dut, rng, **options)
    for i in range(150):
        job = random_job(rng, 0x10000 + 4096 * i, spoil)
        tester.put(job)
        tester.todo.append((rng.randrange(tester.contexts), job))
    await tester.run()
    for job in tester.done:
        assert (job.segments, job.status) == job.expected(), job
    assert len(tester.done) == 150
    return tester


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def good_jobs(dut) -> None:
    """mae_dma_sg_walker gives the right segments for jobs with and without a list."""
    for seed, options in enumerate(
        ({}, {"latency": (50, 300), "stall": 0, "drain": 0.9}, {"latency": (1, 1), "drain": 0.05})
    ):
        tester = await many(dut, seed, 0.0, **options)
        assert all(job.status == Status.OK for job in tester.done)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def bad_jobs(dut) -> None:
    """A scatter-gather list that is illegal or unreadable ends only its own job."""
    seen = set()
    for seed, options in enumerate(({}, {"latency": (50, 300), "drain": 0.9})):
        tester = await many(dut, 10 + seed, 0.5, **options)
        seen |= {job.status for job in tester.done}
    assert seen == {Status.OK, Status.BAD_LENGTH, Status.LIST_FETCH, Status.BAD_OP}


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def abort_ends_all(dut) -> None:
    """An abort soon ends all jobs of mae_dma_sg_walker; later jobs run right."""
    rng = random.Random(run_seed(5))
    tester = await begin(dut, rng, latency=(50, 300))
    aborted = 0
    for i in range(4):
        jobs = [random_job(rng, 0x10000 + 4096 * n) for n in range(tester.contexts)]
        for ctx, job in enumerate(jobs):
            # A job of no bytes may be in flight too.
            job.length += 2**31 if job.entries is None and job.length else 0
            tester.put(job)
            tester.todo.append((ctx, job))
        tester.done = []
        for _ in range(tester.contexts + 150 * i):
            await tester.step()
        dut.abort_i.value = 1
        limit = tester.clock + 1500
        while tester.jobs or tester.todo:
            await tester.step()
            assert tester.clock < limit
        dut.abort_i.value = 0
        for job in tester.done:
            segments, status = job.expected()
            if job.status == Status.ABORTED:
                aborted += 1
                ended = [s for s in job.segments if s is not END]
                assert ended == segments[: len(ended)]
                assert job.segments[-1:] == [END] or job.segments[-1][2] == 1
            else:
                assert (job.segments, job.status) == (segments, status)
        fresh = [random_job(rng, 0x80000 + 4096 * n) for n in range(tester.contexts)]
        tester.done = []
        for ctx, job in enumerate(fresh):
            tester.put(job)
            tester.todo.append((ctx, job))
        await tester.run(tester.clock + 20000)
        assert all((job.segments, job.status) == job.expected() for job in tester.done)
    assert aborted


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def abort_leaves_what_keeps_on(dut) -> None:
    """A job marked to survive aborts still gets all segments from mae_dma_sg_walker."""
    rng = random.Random(run_seed(6))
    tester = await begin(dut, rng, latency=(5, 60))
    for i in range(3 * tester.contexts):
        job = random_job(rng, 0x10000 + 4096 * i)
        job.keeps = i % 3 != 0
        tester.put(job)
        tester.todo.append((i % tester.contexts, job))
    for _ in range(60):
        await tester.step()
    dut.abort_i.value = 1
    await tester.run(tester.clock + 40000)
    dut.abort_i.value = 0
    kept = [job for job in tester.done if job.keeps]
    assert all((job.segments, job.status) == job.expected() for job in kept)
    assert len(kept) == 2 * tester.contexts
    assert any(job.status == Status.ABORTED for job in tester.done)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def lists_cost_no_clocks(dut) -> None:
    """mae_dma_sg_walker gives a segment every second clock and reads lists ahead of use."""
    rng = random.Random(run_seed(7))
    tester = await begin(dut, rng, latency=(1, 1), stall=0, drain=1)
    job = Job(0, 2**20)  # 256 segments
    tester.todo.append((0, job))
    await tester.run()
    assert tester.clock <= 2 * 256 + 10, tester.clock
    # Pages of 4 KiB, a mover that needs 64 clocks for each, latencies of 50 to 300 clocks.
    tester = await begin(dut, rng, latency=(50, 300), stall=0, drain=1 / 64)
    job = Job(0x1000, 64 * 4096, [(0x100000 + 8192 * i, 4096, 0) for i in range(64)])
    tester.put(job)
    tester.todo.append((0, job))
    starved = 0
    while tester.todo or tester.jobs:
        await tester.step()
        starved += bool(job.segments) and 0 in tester.jobs and tester.queues[0] == 0
    assert job.status == Status.OK
    assert starved < 64 * 64 * 0.1, starved


@pytest.mark.parametrize(
    "parameters",
    [
        {"Contexts": 8, "BeatWidth": 512},
        {"Contexts": 1, "BeatWidth": 128},
        {"Contexts": 7, "BeatWidth": 256},
    ],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma_sg_walker(parameters: dict) -> None:
    """Builds mae_dma_sg_walker for several contexts and bus widths; runs this file's tests."""
    bench.run("mae_dma_sg_walker", parameters=parameters)
