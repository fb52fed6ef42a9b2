# SPDX-License-Identifier: Apache-2.0
"""Tests mae_stream_card on a bus of fewer bits than the lanes take: jobs of all modes."""

import cocotb
import pytest

from tests.device.card_host import Card, load_keys, random_jobs
from tests.dma.rings import Status
from tests.support import bench
from tests.support.axi_memory import SLVERR


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(one_way=[False, True], stall=[0.0, 0.2])
async def every_mode_at_once(dut, one_way: bool, stall: float) -> None:
    """mae_stream_card on a narrow bus gives OpenSSL's output for mixed modes, keys and contexts."""
    card = await Card.begin(dut, 1, crossing=True, one_way=one_way, stall=stall)
    await load_keys(card)
    await card.run(random_jobs(card, 56, 800))


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def bus_errors(dut) -> None:
    """A refused part of a read or of a write ends its job on a narrow bus, no other."""
    card = await Card.begin(dut, 2, crossing=True)
    await load_keys(card)
    for read, status in ((True, Status.READ_SLVERR), (False, Status.WRITE_SLVERR)):
        job = card.job("ctr", False, card.random.randbytes(400), context=0, iv=bytes(16))
        at = (job.desc.src if read else job.dst[0][0]) + 200
        card.memory.fail(at, at + 1, SLVERR, read=read, write=not read)
        await card.submit([job])
        assert (await card.finish())[job.desc.cookie].status == status
        card.memory.mend()
        await card.run(random_jobs(card, 14, 300))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def no_clock_of_a_shared_bus_is_lost(dut) -> None:
    """A long job uses at least 95 % of the clocks of a bus that reads and writes share."""
    card = await Card.begin(dut, 3, crossing=True, one_way=True, latency=(10, 40))
    await load_keys(card)
    job = card.job("ctr", False, card.random.randbytes(40000), context=0, iv=bytes(16))
    card.memory.reset_statistics()
    await card.run([job])
    assert card.memory.statistics.used()[2] > 0.95


@pytest.mark.parametrize(("lanes", "width"), [(1, 64), pytest.param(2, 64, marks=pytest.mark.slow)])
@pytest.mark.full
def test_stream_card_narrow_bus(lanes: int, width: int) -> None:
    """Builds mae_stream_card with one and two lanes on 64 bits and runs this file's tests."""
    parameters = {"Lanes": lanes, "BusWidth": width, "Contexts": 8, "KeySlots": 16, "KeyBanks": 2}
    bench.run("mae_stream_card", parameters=parameters)
