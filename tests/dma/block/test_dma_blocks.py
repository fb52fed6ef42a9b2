# SPDX-License-Identifier: Apache-2.0
"""Tests the DMA engines between host and device memory (mae_dma_host_*, mae_dma_device_*).

Tests mae_dma_host_read to mae_dma_device_write and mae_dma_device_read to mae_dma_host_write.
"""

import json
import os
import pathlib
import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.device import secrets
from tests.dma.model.granules import GRANULE, DeviceMemory
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR, AxiMemory
from tests.support.stream import start

HOST = 0xFFFF_FFFF_0000 << 12
LENGTHS = (1, 15, 63, 64, 65, 127, 128, 500, 512, 513, 1000, 4095, 4096, 4097, 9999)

Job = tuple[int, int, int]  # host address, device address, bytes


class Bench:
    """Connects mae_block_bench to models of host and device memory and of its job ports."""

    def __init__(self, dut, size: int, *, stall: float = 0.0, device_latency: int = 2, **host):
        self.dut, self.stall = dut, stall
        self.host = AxiMemory(dut, size, base=HOST, stall=stall, unique_ids=True, **host)
        self.device = DeviceMemory(dut, size, stall=stall, latency=device_latency)
        self.host.data[:] = random.randbytes(size)
        self.device.data[:] = random.randbytes(size)
        self.expect_host, self.expect_device = bytearray(self.host.data), bytearray(size)
        self.expect_device[:] = self.device.data
        self.ends: dict[str, list[tuple[int, int]]] = {"pulled": [], "stored": [], "pushed": []}
        self.now = 0
        self.given: dict[str, list[int]] = {"in": [], "out": []}

    async def begin(self) -> None:
        """Resets mae_block_bench and starts the memory models."""
        dut = self.dut
        await start(dut, clear_i=0, in_valid_i=0, out_valid_i=0)
        self.host.start()
        self.device.start()
        self._watch = cocotb.start_soon(self._ends())

    def end(self) -> None:
        """Asserts that host and device memory have the expected contents; stops the models."""
        assert self.host.idle()
        assert self.host.data == self.expect_host
        assert self.device.data == self.expect_device
        for model in (self.host, self.device):
            model.stop()
        self._watch.cancel()

    async def _ends(self) -> None:
        dut = self.dut
        signals = [
            ("pulled", dut.pulled_o, dut.pull_error_o),
            ("stored", dut.stored_o, None),
            ("pushed", dut.pushed_o, dut.push_error_o),
        ]
        while True:
            await FallingEdge(dut.clk_i)
            self.now += 1
            await Timer(1, "ns")  # behind what the memories drive
            if int(dut.w_valid_o.value):  # the bus shows nothing beyond the end of a job
                data = int(dut.w_data_o.value).to_bytes(64, "little")
                strobes = int(dut.w_strb_o.value)
                assert not any(byte for i, byte in enumerate(data) if not strobes >> i & 1)
            for name, valid, error in signals:
                if int(valid.value):
                    self.ends[name].append((self.now, 0 if error is None else int(error.value)))

    async def give(self, way: str, jobs: list[Job], gap: float = 0.0) -> None:
        """Submits jobs to mae_block_bench in one direction; records the expected memory."""
        dut = self.dut
        valid, ready = getattr(dut, f"{way}_valid_i"), getattr(dut, f"{way}_ready_o")
        await FallingEdge(dut.clk_i)
        for host, device, count in jobs:
            while gap and random.random() < gap:
                await FallingEdge(dut.clk_i)
            getattr(dut, f"{way}_host_i").value = host
            getattr(dut, f"{way}_granule_i").value = device // GRANULE
            getattr(dut, f"{way}_bytes_i").value = count
            valid.value = 1
            while True:
                await Timer(2, "ns")
                taken = int(ready.value)
                if taken:
                    self.given[way].append(self.now)
                await FallingEdge(dut.clk_i)
                if taken:
                    break
            valid.value = 0
            at = host - HOST
            if way == "in":
                self.expect_device[device : device + count] = self.host.data[at : at + count]
            else:
                self.expect_host[at : at + count] = self.device.data[device : device + count]

    async def ended(self, name: str, count: int) -> None:
        """Waits until mae_block_bench has reported a number of ended jobs."""
        while len(self.ends[name]) < count:
            await FallingEdge(self.dut.clk_i)


def split(lengths: list[int], first: int, gaps: bool = True) -> list[Job]:
    """Makes copy jobs of given lengths between separate places in host and device memory."""
    jobs, at = [], first
    for count in lengths:
        jobs.append((HOST + at, at, count))
        at += -(-count // GRANULE) * GRANULE + GRANULE * (random.randrange(3) if gaps else 0)
    random.shuffle(jobs)
    return jobs


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def moves_exact_bytes(dut) -> None:
    """The DMA between host and device memory copies each length both ways, to the byte."""
    for stall, latency, device_latency in (
        (0.0, (0, 3), 2),
        (0.3, (5, 90), 4),
        (0.0, (50, 300), 2),
    ):
        tests = Bench(dut, 1 << 18, stall=stall, latency=latency, device_latency=device_latency)
        await tests.begin()
        lengths = [*LENGTHS, *(random.randint(1, 3000) for _ in range(15))]
        h2d, d2h = split(lengths, 0), split(lengths, 1 << 17)
        tasks = [
            cocotb.start_soon(tests.give("in", h2d, stall)),
            cocotb.start_soon(tests.give("out", d2h, stall)),
        ]
        for task in tasks:
            await task
        for name in tests.ends:
            await tests.ended(name, len(lengths))
            assert not any(error for _, error in tests.ends[name])
        await ClockCycles(dut.clk_i, 10)
        tests.end()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def tells_errors_in_order(dut) -> None:
    """The DMA between host and device memory reports for each job exactly its own bus errors."""
    tests = Bench(dut, 1 << 18, latency=(0, 250))
    await tests.begin()
    for way, name, first in (("in", "pulled", 0), ("out", "pushed", 1 << 17)):
        jobs = split([random.choice(LENGTHS) for _ in range(40)], first)
        wrong = [random.random() < 0.4 for _ in jobs]
        for (host, _, count), bad in zip(jobs, wrong, strict=True):
            if bad:
                tests.host.fail(host + count - 1, host + count, random.choice((SLVERR, DECERR)))
        await tests.give(way, jobs)
        await tests.ended(name, len(jobs))
        assert [bool(error) for _, error in tests.ends[name]] == wrong
    tests.host.stop()
    tests.device.stop()
    tests._watch.cancel()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def keeps_the_bus_busy(dut) -> None:
    """The DMA between host and device memory uses 95 % of the data clocks despite latency."""
    for lengths, latency in (([1 << 18], (300, 300)), ([1 << 16] * 4, (50, 300))):
        for way, name in (("in", "stored"), ("out", "pushed")):
            tests = Bench(dut, 1 << 18, latency=latency)
            await tests.begin()
            await tests.give(way, split(lengths, 0, gaps=False))
            await tests.ended(name, len(lengths))
            stat = tests.host.statistics
            read, write, _ = stat.used()
            span = stat.span() - sum(lengths) // GRANULE
            clocks = tests.ends[name][-1][0] - tests.given[way][0]
            dut._log.info(
                f"{way}: {len(lengths)} jobs of {lengths[0]}: {clocks} clocks, "
                f"{span} lost on the bus"
            )
            assert (read if way == "in" else write) >= 0.95
            tests.end()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def erases_its_rows(dut) -> None:
    """clear_i erases the row buffers of the DMA between host and device; new jobs then work."""
    tests = Bench(dut, 1 << 14, latency=(5, 5))
    await tests.begin()
    await tests.give("in", [(HOST, 0, 8192)])
    await tests.give("out", [(HOST + 8192, 8192, 8192)])
    await ClockCycles(dut.clk_i, 60)
    tests.host.stop()
    tests.device.stop()
    tests._watch.cancel()
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    dut.clear_i.value = 1
    await ClockCycles(dut.clk_i, 3)
    dut.clear_i.value = 0
    await FallingEdge(dut.clk_i)
    clocks = 0
    while int(dut.clearing_o.value):
        clocks += 1
        await FallingEdge(dut.clk_i)
    assert clocks <= bench.parameters()["PullRows"] + 2
    dut.r_data_i.value = 0
    dut.rd_rdata_i.value = 0
    await ClockCycles(dut.clk_i, 2)
    kept = [bytes(tests.host.data), bytes(tests.device.data)]
    assert secrets.find(dut, kept, 8) == []


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def measures(dut) -> None:
    """Measures the clocks of single DMA jobs on memories that answer at once, for each length."""
    figures = {}
    tests = Bench(dut, 1 << 18, latency=(0, 0), shuffle=False)
    await tests.begin()
    for way, name in (("in", "stored"), ("out", "pushed")):
        for length in (64, 256, 1024, 4096, 65536, 1 << 18):
            await tests.give(way, [(HOST, 0, length)])
            await tests.ended(name, len(tests.given[way]))
            figures[f"{way} {length}"] = tests.ends[name][-1][0] - tests.given[way][-1]
            await ClockCycles(dut.clk_i, 20)
    dut._log.info(f"{figures}")
    assert figures["in 64"] <= 15 and figures["out 64"] <= 25
    if "FIGURES" in os.environ:
        pathlib.Path(os.environ["FIGURES"]).write_text(json.dumps(figures))
    tests.end()


@pytest.mark.parametrize("jobs", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_blocks(jobs: int) -> None:
    """Builds mae_block_bench for two or four jobs at once and runs all tests but the erasure."""
    parameters = {"Jobs": jobs, "PullRows": 1024, "PushRows": 64}
    source = "tests/dma/block/mae_block_bench.sv"
    bench.run(
        "mae_block_bench",
        parameters=parameters,
        sources=[source],
        test_filter="moves|tells|keeps|measures",
    )


def test_erased() -> None:
    """Builds mae_block_bench with all signals visible and runs the erasure test."""
    parameters = {"Jobs": 2, "PullRows": 64, "PushRows": 32}
    source = "tests/dma/block/mae_block_bench.sv"
    bench.run(
        "mae_block_bench",
        parameters=parameters,
        sources=[source],
        test_filter="erases",
        visible=True,
    )
