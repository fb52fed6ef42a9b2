# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma with the copy client: rings, lists, engines, mae_dma_axi_mux, bus use."""

import os
import pathlib

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.dma.model.host import COMP, DATA, LISTS, SUB, Host, Job, check_memory
from tests.dma.rings import COMPLETION_BYTES, IRQ, Status
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR


def random_jobs(host: Host, count: int, largest: int = 6000) -> list[Job]:
    """Makes random copy jobs for mae_dma: any size and alignment, with lists, some in place."""
    rng, jobs = host.random, []
    for _ in range(count):
        length = rng.choice((1, 2, 15, 16, 17, 63, 64, 65, rng.randrange(1, 600), largest))
        parts = rng.choice(((0, 0), (0, 0), (3, 0), (0, 4), (9, 7), (1, 1)))
        jobs.append(
            host.job(rng.randrange(host.contexts), length, parts, in_place=rng.random() < 0.2)
        )
    return jobs


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def random_copies(dut) -> None:
    """mae_dma copies random jobs on fast and slow memories and changes no other byte."""
    for seed, options in enumerate(
        (
            {"latency": (1, 3), "shuffle": False},
            {"latency": (50, 300), "stall": 0.1},
            {"latency": (5, 60), "stall": 0.4, "one_way": True, "sub_log2": 1, "comp_log2": 0},
        )
    ):
        host = await Host.begin(dut, seed, **options)
        jobs = random_jobs(host, 60)
        before = bytearray(host.memory.data)
        host.submit(*(job.desc for job in jobs))
        done = await host.finish()
        assert all(done[job.desc.cookie].status == Status.OK for job in jobs)
        check_memory(host, before, jobs, done)
        await host.clocks(400)
        assert not host.status().busy and host.memory.idle()
        host.memory.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def errors_find_their_transfer(dut) -> None:
    """A failed read, write, list or descriptor fails only the DMA job to which it belongs."""
    for seed in range(2):
        host = await Host.begin(dut, 10 + seed, sub_log2=6, comp_log2=6, latency=(5, 80))
        rng = host.random
        jobs, want = [], {}
        for i in range(56):
            job = host.job(
                rng.randrange(host.contexts), rng.randrange(1, 4000), (4 * (i % 2), 3 * (i % 3))
            )
            jobs.append(job)
            host.next_data = -(-host.next_data // 4096) * 4096  # an error hits one transfer only
            host.next_list = -(-host.next_list // 128) * 128
            want[job.desc.cookie] = Status.OK
            if i % 2 == 0:
                continue
            resp = rng.choice((SLVERR, DECERR))
            kind = rng.randrange(6)
            pieces = [p for p in (job.src, job.dst, job.src, job.dst, [], [])[kind] if p[1]]
            if pieces:
                addr, count = rng.choice(pieces)
                at = addr + rng.randrange(count)
                host.memory.fail(at, at + 1, resp, read=kind % 2 == 0, write=kind % 2 == 1)
                names = (
                    ("READ", "WRITE")[kind % 2] + "_" + ("SLVERR" if resp == SLVERR else "DECERR")
                )
                want[job.desc.cookie] = Status[names]
            elif kind == 4 and job.desc.src_entries:
                host.memory.fail(job.desc.src, job.desc.src + 1, resp)
                want[job.desc.cookie] = Status.LIST_FETCH
            elif kind == 5 and job.desc.dst_entries:
                host.memory.fail(job.desc.dst, job.desc.dst + 1, resp)
                want[job.desc.cookie] = Status.LIST_FETCH
        bad = len(jobs)
        lost = host.job(0, 100)
        jobs.append(lost)
        host.memory.fail(SUB + 64 * bad, SUB + 64 * bad + 64, SLVERR)
        before = bytearray(host.memory.data)
        host.submit(*(job.desc for job in jobs))
        done = await host.finish()
        assert done.pop(0).index == bad
        jobs.remove(lost)
        for job in jobs:
            assert done[job.desc.cookie].status == want[job.desc.cookie], job.desc
        check_memory(host, before, jobs, done)
        host.memory.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def bad_lists_and_ops(dut) -> None:
    """mae_dma refuses illegal descriptors and lists among good ones, each with its status."""
    host = await Host.begin(dut, 20, sub_log2=4, comp_log2=4, latency=(5, 100))
    rng = host.random
    jobs, want = [], {}
    for i in range(60):
        job = host.job(
            rng.randrange(host.contexts), rng.randrange(20, 3000), rng.choice(((3, 0), (0, 5)))
        )
        jobs.append(job)
        status = Status.OK
        if i % 2:
            kind = rng.randrange(5)
            if kind == 0:
                job.desc.length += rng.randrange(1, 20)
                status = Status.BAD_LENGTH
            elif kind == 1:
                job.desc.length -= rng.randrange(1, 20)
                status = Status.BAD_LENGTH
            elif kind == 2:
                job.desc.op = rng.randrange(1, 256)
                status = Status.BAD_OP
            elif kind == 3:
                job.desc.context = host.contexts
                status = Status.BAD_CONTEXT
            else:
                job.desc.length = 0
                status = Status.BAD_LENGTH
        want[job.desc.cookie] = status
    before = bytearray(host.memory.data)
    host.submit(*(job.desc for job in jobs))
    done = await host.finish()
    for job in jobs:
        assert done[job.desc.cookie].status == want[job.desc.cookie], job.desc
        assert done[job.desc.cookie].index == jobs.index(job)
    check_memory(host, before, jobs, done)
    host.memory.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def unwritable_completion(dut) -> None:
    """mae_dma reports a completion that it cannot write by ring_error; it works after a restart."""
    host = await Host.begin(dut, 30, latency=(5, 50))
    host.memory.fail(COMP + COMPLETION_BYTES * 8, COMP + COMPLETION_BYTES * 9, SLVERR)
    jobs = random_jobs(host, 24)
    host.submit(*(job.desc for job in jobs))
    for _ in range(200):
        await host.clocks(100)
        status = host.status()
        if status.ring_error and not status.busy:
            break
    assert status.ring_error and not status.busy and len(host.completions) == 8
    host.ctrl.enable = 0
    await host.clocks(5)
    host.memory.mend()
    host.restart()
    jobs = random_jobs(host, 12)
    before = bytearray(host.memory.data)
    host.submit(*(job.desc for job in jobs))
    check_memory(host, before, jobs, await host.finish())
    assert not host.status().ring_error
    host.memory.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def abort_and_again(dut) -> None:
    """After an abort mae_dma stops, has written only destinations, and runs new jobs."""
    host = await Host.begin(dut, 40, latency=(20, 150), stall=0.1)
    for turn in range(4):
        host.next_list, host.next_data = LISTS, DATA
        jobs = random_jobs(host, 24, largest=40000)
        before = bytearray(host.memory.data)
        host.submit(*(job.desc for job in jobs))
        await host.clocks(200 + 300 * turn)
        host.ctrl.abort = 1
        await host.clocks(1)
        host.ctrl.abort = 0
        for _ in range(60):
            await host.clocks(100)
            if host.status().halted:
                break
        assert host.status().halted
        await host.clocks(2)
        assert len(host.completions) == host.status().sub_head
        done = {c.cookie: c for c in host.completions}
        assert any(c.status == Status.ABORTED for c in host.completions)
        check_memory(host, before, [j for j in jobs if j.desc.cookie in done], done)
        host.ctrl.enable = 0
        await host.clocks(3)
        host.restart()
        jobs = random_jobs(host, 10)
        before = bytearray(host.memory.data)
        host.submit(*(job.desc for job in jobs))
        check_memory(host, before, jobs, await host.finish())
        await host.clocks(500)
        host.ctrl.enable = 0
        await host.clocks(3)
        host.restart()
    host.memory.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def clear_and_again(dut) -> None:
    """clear_i erases mae_dma's buffers in the stated clocks; the rings then continue."""
    host = await Host.begin(dut, 45, latency=(1, 20))
    for _ in range(2):
        jobs = random_jobs(host, 8)
        before = bytearray(host.memory.data)
        host.submit(*(job.desc for job in jobs))
        check_memory(host, before, jobs, await host.finish())
        await host.clocks(100)
        host.ctrl.enable = 0
        await host.clocks(3)
        dut.clear_i.value = 1
        await host.clocks(1)
        dut.clear_i.value = 0
        clocks = 0
        while clocks == 0 or int(dut.clearing_o.value):
            await host.clocks(1)
            clocks += 1
            assert clocks < 3000
        rows = bench.parameters().get("RowsPerContext", 32)
        assert clocks - 1 <= host.contexts * rows // 2 + 1
        host.restart()
    host.memory.stop()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def reset_and_again(dut) -> None:
    """After a reset at any moment mae_dma copies new jobs right."""
    for turn in range(4):
        host = await Host.begin(dut, 50 + turn, latency=(20, 150))
        jobs = random_jobs(host, 24)
        host.submit(*(job.desc for job in jobs))
        await host.clocks(150 * turn + 60)
        host.memory.stop()
    host = await Host.begin(dut, 60)
    jobs = random_jobs(host, 24)
    before = bytearray(host.memory.data)
    host.submit(*(job.desc for job in jobs))
    check_memory(host, before, jobs, await host.finish())
    host.memory.stop()


@cocotb.test(timeout_time=6, timeout_unit="ms")
async def errors_aborts_and_resets(dut) -> None:
    """mae_dma copies right again after bus errors, aborts and resets at random moments."""
    for turn in range(8):
        host = await Host.begin(dut, 100 + turn, latency=(50, 300), stall=0.1 * (turn % 3))
        rng = host.random
        for _ in range(2):
            jobs = random_jobs(host, 24, largest=rng.choice((3000, 400 * host.memory.bytes)))
            for job in jobs[::5]:
                addr, _ = rng.choice(job.src)
                host.memory.fail(addr, addr + 1, rng.choice((SLVERR, DECERR)), write=False)
                addr, _ = rng.choice(job.dst)
                host.memory.fail(addr, addr + 1, rng.choice((SLVERR, DECERR)), read=False)
            before = bytearray(host.memory.data)
            host.submit(*(job.desc for job in jobs))
            if turn % 2:
                await host.clocks(rng.randrange(100, 3000))
                host.ctrl.abort = 1
                await host.clocks(1)
                host.ctrl.abort = 0
                for _ in range(60):
                    await host.clocks(100)
                    if host.status().halted:
                        break
                assert host.status().halted
            else:
                await host.finish(limit=100000)
            await host.clocks(2)
            done = {c.cookie: c for c in host.completions}
            ended = [job for job in jobs if job.desc.cookie in done]
            assert any(done[job.desc.cookie].status != Status.OK for job in ended)
            check_memory(host, before, ended, done)
            host.ctrl.enable = 0
            await host.clocks(5)
            host.memory.mend()
            host.next_list, host.next_data = LISTS, DATA
            host.restart()
        host.submit(*(job.desc for job in random_jobs(host, 24, largest=300 * host.memory.bytes)))
        await host.clocks(rng.randrange(60, 2000))
        host.memory.stop()  # the next turn's reset finds bursts outstanding


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def interrupt_or_poll(dut) -> None:
    """When mae_dma raises the interrupt of a flagged job, its completion is in memory."""
    host = await Host.begin(dut, 70, latency=(20, 100))
    for i in range(6):
        job = host.job(i % host.contexts, 500, flags=IRQ * (i % 2))
        host.submit(job.desc)
        seen = False
        for _ in range(1500):
            await host.clocks(1)
            if int(dut.irq_o.value):
                host.turn()
                assert len(host.completions) == i + 1
                seen = True
                dut.irq_ack_i.value = 1
                await host.clocks(1)
                dut.irq_ack_i.value = 0
                await host.clocks(2)
                assert not int(dut.irq_o.value)
        assert len(host.completions) == i + 1 and seen == bool(i % 2)
    host.memory.stop()


class Meter:
    """Counts the clocks in which mae_dma moves payload data on its AXI ports."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.top = 1 << len(dut.ar_id_o) - 1
        self.beats = [0, 0]
        self.first: int | None = None
        self.last = 0
        self.clock = 0
        self.task = cocotb.start_soon(self.run())

    async def run(self) -> None:
        """Counts payload beats of mae_dma's R and W channels in each clock."""
        dut, bursts = self.dut, []
        while True:
            await RisingEdge(dut.clk_i)
            self.clock += 1
            payload = [int(dut.r_valid_i.value) and not int(dut.r_id_i.value) & self.top, False]
            if int(dut.aw_valid_o.value) and int(dut.aw_ready_i.value):
                bursts.append(int(dut.aw_id_o.value) & self.top)
            if int(dut.w_valid_o.value) and int(dut.w_ready_i.value):
                payload[1] = not bursts[0]
                if int(dut.w_last_o.value):
                    bursts.pop(0)
            for i in range(2):
                self.beats[i] += bool(payload[i])
            if any(payload):
                self.first = self.first or self.clock
                self.last = self.clock

    def figures(self, one_way: bool) -> tuple[int, float]:
        """Returns the clocks from first to last payload beat, and the share with payload."""
        clocks = self.last - self.first + 1
        return clocks, (sum(self.beats) / clocks) if one_way else (min(self.beats) / clocks)


async def measure(dut, length: int, count: int, one_way: bool, parts=(0, 0), align=1) -> float:
    """Copies equal jobs by mae_dma; returns the share of clocks in which the bus moves payload."""
    host = await Host.begin(dut, 80, sub_log2=9, comp_log2=9, latency=(50, 300), one_way=one_way)
    jobs = [host.job(i % host.contexts, length, parts, align=align) for i in range(count)]
    before = bytearray(host.memory.data)
    meter = Meter(dut)
    host.submit(*(job.desc for job in jobs))
    done = await host.finish(limit=200000)
    meter.task.cancel()
    check_memory(host, before, jobs, done)
    clocks, share = meter.figures(one_way)
    kind = "one-way" if one_way else "two-way"
    with open(os.environ["MAESLANT_FIGURES"], "a") as file:
        print(
            f"{kind} {count} x {length} B, lists {parts}, align {align}: {clocks} clocks, "
            f"{100 * share:.1f} % of the data clocks, {clocks / count:.1f} clocks a transfer, "
            f"{length * count / clocks:.1f} bytes a clock",
            file=file,
        )
    host.memory.stop()
    return share


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def figure_16_transfers(dut) -> None:
    """16 DMA jobs of 64 KB use 95 % of the bus clocks, on a two-way and on a one-way bus."""
    assert await measure(dut, 65536, 16, one_way=False, align=64) >= 0.95
    assert await measure(dut, 65536, 16, one_way=True, align=64) >= 0.95


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def figure_others(dut) -> None:
    """Unaligned, scatter-gather and short DMA jobs use at least the stated share of the bus."""
    assert await measure(dut, 65536, 16, one_way=False) >= 0.93
    assert await measure(dut, 65536, 16, one_way=False, parts=(16, 16)) >= 0.90
    await measure(dut, 65536, 1, one_way=False, align=64)
    assert await measure(dut, 1024, 256, one_way=False, align=64) >= 0.60
    await measure(dut, 256, 256, one_way=False, align=64)
    await measure(dut, 64, 256, one_way=False, align=64)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def deep_alone(dut) -> None:
    """One DMA job alone uses 90 % of the bus clocks if few contexts have deep buffers."""
    assert await measure(dut, 1 << 20, 1, one_way=False, align=64) >= 0.9


SOURCES = ["tests/dma/copy_bench.sv"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataWidth": 512, "Contexts": 64},
        {"DataWidth": 128, "Contexts": 1, "Prefetch": 2},
        {"DataWidth": 1024, "Contexts": 5, "IdWidth": 10},
        {"DataWidth": 256, "Contexts": 7, "RowsPerContext": 16, "BurstBeats": 4},
    ],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma(parameters: dict) -> None:
    """Builds copy_bench for several bus widths and contexts and runs the functional tests."""
    bench.run(
        "copy_bench",
        parameters=parameters,
        sources=SOURCES,
        test_filter="^(?!.*(figure_|deep_)).*$",
    )


@pytest.mark.parametrize(
    ("tests", "parameters"),
    [
        (".*figure_.*", {"DataWidth": 512, "Contexts": 64}),
        (
            ".*deep_.*",
            {"DataWidth": 512, "Contexts": 4, "RowsPerContext": 512},
        ),
    ],
    ids=["many", "few"],
)
@pytest.mark.full
def test_dma_figures(tests: str, parameters: dict, tmp_path: pathlib.Path) -> None:
    """Builds copy_bench with mae_dma at four lanes, measures bus use and prints the figures."""
    figures = tmp_path / "figures"
    bench.run(
        "copy_bench",
        parameters=parameters,
        sources=SOURCES,
        env={"MAESLANT_FIGURES": str(figures)},
        test_filter=tests,
    )
    print(figures.read_text())
