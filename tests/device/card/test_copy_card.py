# SPDX-License-Identifier: Apache-2.0
"""Tests mae_copy_card: the stream card's registers and rings, a client that copies or sums."""

import cocotb
import pytest
from cocotb.triggers import ClockCycles

from tests.device.card_host import COPY, Card, Job
from tests.dma.rings import IRQ, Status
from tests.support import bench
from tests.support.crc32c import crc32c

BAD_KEY = 5


def copies(card: Card, count: int, largest: int) -> list[Job]:
    """Makes random copy jobs for mae_copy_card: any length and alignment, with or without lists."""
    rng, jobs = card.random, []
    for _ in range(count):
        data = rng.randbytes(rng.choice((1, 15, 16, 64, rng.randrange(1, 500), largest)))
        parts = rng.choice(((0, 0), (0, 0), (3, 0), (0, 4), (7, 5)))
        context = rng.randrange(card.contexts)
        jobs.append(card.job("copy", False, data, context=context, parts=parts, answer=data))
    return jobs


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def random_copies(dut) -> None:
    """mae_copy_card copies random jobs right; its counters and interrupt agree with them."""
    card = await Card.begin(dut, 1, stall=0.1)
    jobs = copies(card, 120, 4000)
    jobs[-1].desc.flags |= IRQ
    await card.write("irq_enable", completion=1)
    await card.run(jobs)
    await ClockCycles(dut.clk_i, 200)
    assert dut.irq_o.value == 1
    counted = await card.counters()
    assert counted["jobs"] == len(jobs)
    assert counted["blocks"] == sum(-(-job.desc.length // 16) for job in jobs)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def says_what_it_is(dut) -> None:
    """mae_copy_card reports that it has no cipher, and refuses keys and cipher jobs."""
    card = await Card.begin(dut, 2)
    caps, features = await card.fields("caps"), await card.fields("features")
    assert (caps["lanes"], caps["contexts"]) == (bench.parameters()["Lanes"], card.contexts)
    assert (caps["key_slots"], caps["key_banks"]) == (0, 0)
    assert not any(features.values())
    assert await card.read("modes") == 1 << COPY
    assert await card.load_key(0, bytes(16)) == BAD_KEY
    assert await card.read("key_valid") == 0
    jobs = copies(card, 8, 200)
    want = {}
    for op, job in enumerate(jobs):
        job.desc.op = op
        want[job.desc.cookie] = Status.OK if op == COPY else Status.BAD_OP
    await card.run(jobs, want)


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def tags_are_sums(dut) -> None:
    """A completion's tag is the CRC-32C of its job with Crc, else 0; a refused job has none."""
    card = await Card.begin(dut, 3, stall=0.1)
    sums = bool(bench.parameters()["Crc"])
    jobs = copies(card, 60, 3000)
    jobs[7].desc.op = 0
    await card.submit(jobs)
    done = await card.finish()
    for job in jobs:
        got, wanted = done[job.desc.cookie], bytes(16)
        if job.desc.op == COPY:
            assert got.status == Status.OK
            assert got.bytes == len(job.data)
            if sums:
                wanted = crc32c(job.data).to_bytes(16, "little")
        else:
            assert got.status == Status.BAD_OP
        assert got.tag == wanted


@pytest.mark.parametrize("crc", [1, 0])
def test_copy_card(crc: int) -> None:
    """Builds mae_copy_card in its smallest size and runs this file's tests."""
    bench.run("mae_copy_card", parameters={"Lanes": 1, "Contexts": 8, "Crc": crc})
