# SPDX-License-Identifier: Apache-2.0
"""Tests mae_copy_card: the stream card's registers and rings with a copy client."""

import cocotb
from cocotb.triggers import ClockCycles

from tests.device.card_host import COPY, Card, Job
from tests.dma.rings import IRQ, Status
from tests.support import bench

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


def test_copy_card() -> None:
    """Builds mae_copy_card in its smallest size and runs this file's tests."""
    bench.run("mae_copy_card", parameters={"Lanes": 1, "Contexts": 8})
