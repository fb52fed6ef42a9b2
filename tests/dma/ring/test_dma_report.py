# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma with a client that reports tags: empty jobs, wrong tags, erasure of results.

The client is the test's: it takes every job, gives back every row, and reports when it likes.
"""

import dataclasses
from collections.abc import Callable

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from tests.dma.model.host import DATA, LISTS, Host, Job, check_memory
from tests.dma.rings import Completion, Desc, Status, pack_fields
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR

REPORTS, SINKS = 2, 1  # accept_t


@dataclasses.dataclass
class Plan:
    """Holds the status and tag that the client model shall report for a DMA job, and when."""

    sinks: bool = False
    status: Status | None = None  # reports that; None: no report
    tag: bytes = bytes(16)
    delay: int = 1  # clocks to the report
    rows: bool = True  # counted from the last row, else from acceptance
    hook: Callable[[], None] | None = None  # with the report


class Client(Host):
    """Models mae_dma's host and the client to which mae_dma gives jobs and rows.

    What a completion promises is looked at when the host sees it, and not later.
    """

    def restart(self) -> None:
        """Clears the host and client model of all submitted jobs."""
        super().restart()
        self.jobs: dict[int, tuple[Job, Plan]] = {}
        self.plain: dict[int, bytes] = {}  # what stands in a destination before it is overwritten
        self.reported = 0

    def plan(self, job: Job, plan: Plan) -> Job:
        """Submits a DMA job with the report planned for it, and sets the expected destination."""
        self.jobs[job.desc.cookie] = (job, plan)
        self.plain[job.desc.cookie] = job.data
        if plan.sinks:
            job.dst = []
        if plan.status == Status.BAD_TAG:
            job.data = bytes(len(job.data))
        self.submit(job.desc)
        return job

    def serve(self) -> None:
        """Starts the client model of mae_dma."""
        self.task = cocotb.start_soon(self.run())

    def stop(self) -> None:
        """Stops the client and the memory model of mae_dma."""
        self.task.cancel()
        self.memory.stop()

    async def run(self) -> None:
        """Serves mae_dma as its client: accepts jobs, returns rows, reports the planned tags."""
        dut, now = self.dut, 0
        due: list[tuple[int, int, Plan]] = []  # clock, context
        at_rows: dict[int, Plan] = {}
        while True:
            await FallingEdge(dut.clk_i)
            now += 1
            if int(dut.row_last_o.value) and int(dut.row_ctx_o.value) in at_rows:
                context = int(dut.row_ctx_o.value)
                due.append((now + at_rows[context].delay, context, at_rows.pop(context)))
            dut.cfg_ready_i.value = 0
            if int(dut.cfg_valid_o.value) and self.random.random() < 0.7:
                desc = Desc.unpack(int(dut.cfg_desc_o.value).to_bytes(64, "little"))
                plan = self.jobs[desc.cookie][1]
                dut.cfg_ready_i.value = 1
                dut.cfg_accept_i.value = REPORTS * (plan.status is not None) | SINKS * plan.sinks
                if plan.status is not None and plan.rows:
                    at_rows[desc.context] = plan
                elif plan.status is not None:
                    due.append((now + 1 + plan.delay, desc.context, plan))
            dut.report_valid_i.value = 0
            ready = [item for item in due if item[0] <= now]
            if ready:
                item = self.random.choice(ready)
                due.remove(item)
                _, context, plan = item
                if plan.hook:
                    plan.hook()
                tag = int.from_bytes(plan.tag, "little")
                dut.report_valid_i.value = 1
                dut.report_i.value = pack_fields([(context, 8), (plan.status, 8), (tag, 128)])
                self.reported += 1

    def turn(self) -> None:
        """Serves the rings; asserts status, tag and destination of each new completion."""
        seen = len(self.completions)
        super().turn()
        for done in self.completions[seen:]:
            job, plan = self.jobs[done.cookie]
            reported = plan.status == Status.OK and done.status == Status.OK
            assert done.tag == (plan.tag if reported else bytes(16))
            if done.status in (Status.OK, Status.BAD_TAG):
                assert done.status == (plan.status or Status.OK)
                assert self.found(job) == job.data[: sum(n for _, n in job.dst)]

    def found(self, job: Job) -> bytes:
        """Returns the bytes that are now in a DMA job's destination."""
        return b"".join(self.memory.read(addr, count) for addr, count in job.dst)

    def wrong(self, job: Job, **more: object) -> Job:
        """Submits a DMA job for which the client model reports a wrong tag."""
        return self.plan(job, Plan(status=Status.BAD_TAG, tag=self.random.randbytes(16), **more))


async def begin(dut, seed: int, **options: object) -> Client:
    """Resets mae_dma and starts the models of its host, memory and client."""
    for name in ("cfg_ready", "cfg_status", "cfg_accept", "report_valid", "report"):
        getattr(dut, f"{name}_i").value = 0
    host = await Client.begin(dut, seed, **options)
    host.serve()
    return host


def random_jobs(host: Client, count: int, largest: int = 3000) -> list[Job]:
    """Submits random DMA jobs: empty, unaligned, with lists, with right, wrong or no tags."""
    rng, jobs = host.random, []
    for _ in range(count):
        length = rng.choice((0, 0, 1, 16, 63, 64, rng.randrange(1, 600), largest))
        parts = rng.choice(((0, 0), (0, 0), (3, 0), (0, 4), (5, 7)))
        job = host.job(rng.randrange(host.contexts), length, parts, in_place=rng.random() < 0.1)
        plan = Plan(
            sinks=rng.random() < 0.2,
            status=rng.choice((None, Status.OK, Status.BAD_TAG, Status.BAD_TAG)),
            tag=rng.randbytes(16),
            delay=rng.choice((0, 1, rng.randrange(30), rng.randrange(600))),
            rows=rng.random() < 0.7,
        )
        jobs.append(host.plan(job, plan))
    return jobs


async def carry_out(host: Client, count: int) -> dict[int, Completion]:
    """Runs random jobs on mae_dma; asserts each status and every byte of memory."""
    jobs = random_jobs(host, count)
    before = bytearray(host.memory.data)
    done = await host.finish(every=1)
    for job in jobs:
        want = host.jobs[job.desc.cookie][1].status or Status.OK
        assert done[job.desc.cookie].status == want
    check_memory(host, before, jobs, done)
    return done


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def reports_of_all_kinds(dut) -> None:
    """Completions carry reported tags; mae_dma zeroes the destination if the tag is wrong."""
    for seed, options in enumerate(
        (
            {"latency": (1, 3), "shuffle": False},
            {"latency": (50, 300), "stall": 0.1},
            {"latency": (5, 60), "stall": 0.4, "one_way": True, "sub_log2": 2, "comp_log2": 1},
        )
    ):
        host = await begin(dut, seed, **options)
        await carry_out(host, 60)
        await host.clocks(400)
        assert not host.status().busy and host.memory.idle()
        host.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def errors_beside_a_wrong_tag(dut) -> None:
    """mae_dma reports bus and list errors rather than a wrong tag, and zeroes the destination."""
    host = await begin(dut, 10, sub_log2=6, comp_log2=6, latency=(5, 80))
    rng = host.random
    jobs, want, zeros = [], {}, []
    for i in range(48):
        kind = i % 6
        parts = (0, rng.choice((0, 3))) if kind < 4 else (0, 4)
        job = host.job(rng.randrange(host.contexts), rng.randrange(200, 3000), parts)
        host.next_data = -(-host.next_data // 4096) * 4096  # an error hits one transfer only
        host.next_list = -(-host.next_list // 128) * 128
        resp = rng.choice((SLVERR, DECERR))
        code = "SLVERR" if resp == SLVERR else "DECERR"
        addr, count = rng.choice([piece for piece in job.dst if piece[1]])
        at = addr + rng.randrange(count)
        where, how = (at, at + 1, resp), {"read": False}
        hook, status = None, Status.BAD_TAG
        if kind == 1:  # both times
            host.memory.fail(*where, **how)
            status = Status[f"WRITE_{code}"]
        elif kind == 2:  # only when it is overwritten
            hook, status = lambda a=where, b=how: host.memory.fail(*a, **b), Status[f"WRITE_{code}"]
        elif kind == 3:
            host.memory.fail(job.desc.src, job.desc.src + 1, resp, write=False)
            status = Status[f"READ_{code}"]
            zeros.append(job.dst)
        elif kind == 4:
            host.memory.fail(job.desc.dst, job.desc.dst + 1, resp)
            status = Status.LIST_FETCH
        elif kind == 5:  # the last piece is never written
            job.desc.length += rng.randrange(1, 30)
            status = Status.BAD_LENGTH
            zeros.append(job.dst[:-1])
        want[job.desc.cookie] = status
        jobs.append(host.wrong(job, hook=hook, delay=500 if hook else rng.randrange(100)))
    before = bytearray(host.memory.data)
    done = await host.finish(every=1)
    for job in jobs:
        assert done[job.desc.cookie].status == want[job.desc.cookie], job.desc
    check_memory(host, before, jobs, done)
    for addr, count in (piece for pieces in zeros for piece in pieces):
        assert host.memory.read(addr, count) == bytes(count)
    host.stop()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def error_before_it_is_overwritten(dut) -> None:
    """mae_dma reports a wrong tag, not an earlier write error, if zeroing the data succeeds."""
    host = await begin(dut, 20, latency=(5, 20))
    for parts in ((0, 0), (0, 3)):
        job = host.job(0, 1000, parts)
        addr = next(addr for addr, count in job.dst if count)
        host.memory.fail(addr, addr + 1, SLVERR)
        before = bytearray(host.memory.data)
        host.wrong(job, delay=600, hook=host.memory.mend)
        done = await host.finish(every=1)
        assert done[job.desc.cookie].status == Status.BAD_TAG
        check_memory(host, before, [job], done)
    host.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def abort_while_overwriting(dut) -> None:
    """An abort during zeroing leaves no unverified byte in a DMA job's destination."""
    host = await begin(dut, 30, latency=(10, 60))
    overwritten, length = 0, 500 * len(dut.w_strb_o)  # 1000 clocks to overwrite one
    for turn in range(4):
        host.next_list, host.next_data = LISTS, DATA
        jobs = [host.job(i % host.contexts, length, (0, i % 2 * 5)) for i in range(4)]
        before = bytearray(host.memory.data)
        untouched = {job.desc.cookie: host.found(job) for job in jobs}
        for job in jobs:
            host.wrong(job, delay=200)
        while host.reported < 1 + turn % 2:
            await host.clocks(1)
        await host.clocks(50 + 60 * turn)
        host.ctrl.abort = 1
        await host.clocks(1)
        host.ctrl.abort = 0
        while not host.status().halted:
            await host.clocks(10)
        await host.clocks(2)
        done = {c.cookie: c for c in host.completions}
        assert len(done) == host.status().sub_head
        assert all(c.status in (Status.ABORTED, Status.BAD_TAG) for c in done.values())
        assert any(c.status == Status.ABORTED for c in done.values())
        check_memory(host, before, [job for job in jobs if job.desc.cookie in done], done)
        for job in jobs:
            if job.desc.cookie in done and host.jobs[job.desc.cookie][1].status == Status.BAD_TAG:
                found = host.found(job)
                old = untouched[job.desc.cookie]
                assert found in (bytes(len(found)), old), "plaintext of a wrong tag"
                ended = done[job.desc.cookie].status == Status.ABORTED
                overwritten += ended and found != old
        host.ctrl.enable = 0
        await host.clocks(3)
        host.restart()
        await carry_out(host, 8)
        await host.clocks(400)
        host.ctrl.enable = 0
        await host.clocks(3)
        host.restart()
    assert overwritten, "no abort came while a destination was being overwritten"
    host.stop()


@pytest.mark.parametrize(
    "parameters",
    [{"DataWidth": 256, "Contexts": 6}, {"DataWidth": 1024, "Contexts": 1, "IdWidth": 10}],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma_report(parameters: dict) -> None:
    """Builds report_bench for several bus widths and contexts and runs this file's tests."""
    bench.run("report_bench", parameters=parameters, sources=["tests/dma/ring/report_bench.sv"])
