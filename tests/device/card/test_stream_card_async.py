# SPDX-License-Identifier: Apache-2.0
"""Tests mae_stream_card_async: jobs at any ratio of its two clocks, interrupt, resets."""

import random

import cocotb
from cocotb.triggers import Timer

from tests.device.card_host import Card, load_keys, random_jobs
from tests.dma.rings import IRQ
from tests.support import bench
from tests.support.stream import start_clock


async def begin(dut, seed: int, core_ps: int, bus_ps: int, **memory: object) -> Card:
    """Starts both clocks of mae_stream_card_async and resets it; returns its host model."""
    random.seed(seed)
    dut.rst_ni.value = dut.bus_rst_ni.value = 0
    start_clock(dut.clk_i, core_ps)
    start_clock(dut.bus_clk_i, bus_ps)
    return await Card.begin(
        dut,
        seed,
        clock="bus_clk_i",
        reset="bus_rst_ni",
        start_clock=False,
        crossing=True,
        **memory,
    )


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(ratio=[1.0, 0.23, 0.97, 1.61, 4.7])
async def every_mode_at_once(dut, ratio: float) -> None:
    """mae_stream_card_async gives OpenSSL's output for mixed modes, keys and contexts."""
    card = await begin(dut, 1, round(8000 * ratio), 8000, latency=(10, 60), stall=0.1)
    await load_keys(card)
    await card.run(random_jobs(card, 56, 800))


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def interrupt(dut) -> None:
    """mae_stream_card_async raises its interrupt at the end of a job and lowers it on a write."""
    card = await begin(dut, 2, 5000, 8300)
    await card.key(0, 16)
    await card.write("irq_enable", completion=1)
    for _ in range(3):
        assert dut.irq_o.value == 0
        await card.submit([card.job("ctr", False, bytes(100), context=0, iv=bytes(16), flags=IRQ)])
        while dut.irq_o.value == 0:
            await Timer(10, "ns")
        await card.finish(limit=1)
        await card.write("irq_status", completion=1)
        await Timer(60, "ns")


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(side=["rst_ni", "bus_rst_ni"])
async def reset_of_either_side(dut, side: str) -> None:
    """After a reset of either clock domain mae_stream_card_async holds no key and runs new jobs."""
    card = await begin(dut, 3, 7000, 8000)
    await load_keys(card)
    await card.run(random_jobs(card, 14, 300))
    await card.disable()
    card.memory.stop()
    getattr(dut, side).value = 0
    await Timer(100, "ns")
    getattr(dut, side).value = 1
    await Timer(100, "ns")
    card.memory.start()
    assert await card.read("key_valid") == 0
    assert await card.read("sub_base_lo") == 0
    await card.set_rings()
    await load_keys(card)
    await card.run(random_jobs(card, 14, 300))


def test_stream_card_async() -> None:
    """Builds mae_stream_card_async with one lane and runs this file's tests."""
    parameters = {"Lanes": 1, "Contexts": 8, "KeySlots": 16, "KeyBanks": 2}
    bench.run("mae_stream_card_async", parameters=parameters)
