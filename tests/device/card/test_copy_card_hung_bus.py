# SPDX-License-Identifier: Apache-2.0
"""Tests that a wipe erases all data of mae_copy_card on a hung host bus, in a bounded time.

Some channels of the memory bus stand still, in each state of a job. The card has no keys, but its
DMA buffers hold data. It works again as soon as the bus does.
"""

import cocotb
import pytest
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles

from tests.device.card.test_copy_card import copies
from tests.device.card.test_hung_bus import STATES, bound, left, pages_held
from tests.device.card_host import Card, Job
from tests.support import bench


async def hang(card: Card, state: str, wait: int) -> list[Job]:
    """Brings the copy card into a named state and stops channels of its host bus there."""
    channels, events = STATES[state]
    done = copies(card, 14, 100)
    await card.run(done)
    jobs = copies(card, 20, 400) if "jobs" in events else []
    if state != "ciphering":
        card.memory.hung = frozenset(channels.split())
    if jobs:
        await card.submit(jobs)
        await ClockCycles(card.clk, wait)
    card.memory.hung = frozenset(channels.split())
    if "abort" in events:
        await card.write("ctrl", enable=1, abort=1)
        await ClockCycles(card.clk, 100)
        assert not (await card.fields("status"))["halted"], "the bus did not hang"
    return done + jobs


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(state=[state for state in STATES if state != "key"])
async def nothing_is_left(dut: SimHandleBase, state: str) -> None:
    """A wipe erases the copy card on a hung bus in time; it works when the bus works again."""
    card = await Card.begin(dut, 20 + list(STATES).index(state), latency=(5, 30), stall=0.1)
    in_use = False
    for round_ in range(2):
        jobs = await hang(card, state, 60 + 400 * round_)
        kinds = {"more": [job.data for job in jobs]}
        assert left(card, kinds), "the search finds nothing"
        assert (await card.fields("status"))["busy"] or "jobs" not in STATES[state][1]
        in_use |= bool(pages_held(dut))
        await card.write("ctrl", enable=1, wipe=1)
        await ClockCycles(card.clk, bound(card))
        if dut.m_axi_rvalid.value == 0:
            dut.m_axi_rdata.value = 0  # the memory's wires
            await ClockCycles(card.clk, 2)
        assert left(card, kinds) == [], round_
        assert pages_held(dut) == [], round_
        status = await card.fields("status")
        assert not status["wiping"] and not status["jobs"]
        assert await card.read("ctrl") == 0
        card.memory.hung = frozenset()
        for _ in range(100):
            await ClockCycles(card.clk, 50)
            if card.memory.idle() and not (await card.fields("status"))["busy"]:
                break
        else:
            raise AssertionError("bursts are left")
        card.clear_completions(card.sent)  # what the bus had seen may be an old one
        await card.enable()
        await card.run(copies(card, 14, 300))
    assert in_use or state != "writing", "no page was in use"


@pytest.mark.parametrize("crc", [1, pytest.param(0, marks=pytest.mark.full)])
def test_copy_card_hung_bus(crc: int) -> None:
    """Builds the smallest copy card with all signals visible and runs the wipe tests."""
    bench.run(
        "mae_copy_card",
        parameters={"Lanes": 1, "Contexts": 2, "Crc": crc},
        visible=True,
        optimize="-O0",
    )
