# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_ring_manager: ring wrap-around, bad descriptors, order, interrupts, aborts.

With it mae_dma_descriptor_feed, mae_dma_descriptor_fetch, mae_dma_descriptor_hold and
mae_dma_completion_writer. The client, the walkers and the movers are played by the test: what they
report is random.
"""

import cocotb
import pytest

from tests.dma.ring.ring_model import Ring, random_desc
from tests.dma.rings import IRQ, Status
from tests.support import bench
from tests.support.stream import start

INPUTS = """ctrl_i irq_ack_i cfg_ready_i cfg_status_i cfg_accept_i
report_valid_i report_i scrub_ready_i done_valid_i done_ctx_i done_status_i
done_bytes_i ar_ready_i r_valid_i r_tag_i r_beat_i r_data_i r_error_i r_last_i aw_ready_i w_ready_i
b_valid_i b_tag_i b_error_i""".split()


async def begin(dut, seed: int, **options) -> Ring:
    """Resets and enables mae_dma_ring_manager; returns the model around it."""
    await start(dut, **{name: 0 for name in INPUTS})
    ring = Ring(dut, seed, **options)
    ring.ctrl.enable = 1
    return ring


def fill(ring: Ring, count: int, spoil: float = 0.0) -> None:
    """Queues random descriptors in the model of the ring manager's host."""
    first = len(ring.sent)
    ring.todo += [
        random_desc(ring.rng, 0x1000 + first + i, ring.contexts, spoil) for i in range(count)
    ]


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def others_complete_beside_an_overwriting(dut) -> None:
    """In mae_dma_ring_manager jobs that wait to be zeroed do not hold back other contexts."""
    ring = await begin(dut, 3, sub_log2=5, comp_log2=5)
    ring.hold_scrubs = True
    fill(ring, 32)
    for _ in range(6000):
        await ring.step()
    held = [job for job in ring.running.values() if job.wrong and not job.waiting]
    assert held or ring.contexts == 1
    # A context runs one job at a time: behind a held one its later ones wait.
    assert all(job.wrong for job in ring.running.values())
    ended = ring.results.keys() - {job.desc.cookie for job in ring.running.values()}
    assert ended <= {entry.cookie for entry in ring.completions}
    ring.hold_scrubs = False
    await ring.run()
    ring.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def good_and_bad(dut) -> None:
    """mae_dma_ring_manager completes good and bad descriptors in rings of 1 to 32 entries."""
    scrubbed = 0
    for seed, options in enumerate(
        (
            {"sub_log2": 0, "comp_log2": 0},
            {"sub_log2": 2, "comp_log2": 3},
            {"sub_log2": 5, "comp_log2": 1, "stall": 0},
            {"sub_log2": 4, "comp_log2": 5, "latency": (50, 300), "stall": 0},
        )
    ):
        ring = await begin(dut, seed, **options)
        fill(ring, 120, spoil=0.5)
        await ring.run()
        ring.check()
        while ring.status().comp_tail != len(ring.completions):  # the last responses
            await ring.step()
        for _ in range(3):
            await ring.step()
        assert not ring.status().busy and not ring.status().jobs
        scrubbed += ring.scrubbed
    assert scrubbed


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def one_context_in_order(dut) -> None:
    """mae_dma_ring_manager holds a descriptor while its context is busy; others overtake it."""
    ring = await begin(dut, 3, sub_log2=6, comp_log2=6, stall=0)
    ring.job_clocks = (50, 200)
    fill(ring, 40)
    for desc, _ in ring.todo:
        desc.context = 0 if ring.rng.random() < 0.5 else desc.context
    await ring.run()
    ring.check()
    assert (ring.overtaken > 0) == (ring.contexts > 1)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def many_in_flight(dut) -> None:
    """mae_dma_ring_manager fetches descriptors ahead and runs one job in each context at once."""
    ring = await begin(dut, 4, sub_log2=7, comp_log2=7, latency=(300, 300), stall=0)
    ring.job_clocks = (400, 400)
    ring.host_stall = 0
    count = 16 + 2 * min(ring.contexts, 56)
    fill(ring, count)
    for i, (desc, _) in enumerate(ring.todo):
        desc.context = i % ring.contexts
    jobs = 0
    while len(ring.completions) < count:
        await ring.step()
        jobs = max(jobs, ring.status().jobs)
        assert ring.clock < 40000 + count * 1000
    ring.check()
    assert ring.read_ahead >= min(8, bench.parameters()["Prefetch"])
    assert jobs == min(ring.contexts, count)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def interrupt_after_the_entry(dut) -> None:
    """mae_dma_ring_manager raises the interrupt only after the flagged job's completion."""
    ring = await begin(dut, 5, sub_log2=6, comp_log2=6, latency=(1, 60))
    fill(ring, 60)
    for i, (desc, _) in enumerate(ring.todo):
        desc.flags = IRQ if i % 7 == 3 else 0
        desc.context = 0
    seen = 0
    while ring.todo or len(ring.completions) < 60 or ring.status().busy:
        await ring.step()
        tail = ring.status().comp_tail
        answered = sum(1 for i in range(60) if i in ring.answered)
        assert all(i in ring.answered for i in range(tail))
        flagged = sum(1 for desc, _ in ring.sent[:tail] if desc.flags & IRQ)
        dut.irq_ack_i.value = 0
        if int(dut.irq_o.value):
            assert flagged > seen or ring.acknowledged
            if not ring.acknowledged:
                seen = flagged
            dut.irq_ack_i.value = 1
            ring.acknowledged = True
        else:
            ring.acknowledged = False
            assert flagged - seen <= 1, (flagged, seen, answered)
        assert ring.clock < 40000
    assert seen >= 8
    # A masked line stays low, the state shows it.
    dut.irq_ack_i.value = 0
    ring.ctrl.irq_enable = 0
    fill(ring, 1)
    ring.todo[0][0].flags = IRQ
    await ring.run()
    while ring.status().busy:
        await ring.step()
    await ring.step()
    assert not int(dut.irq_o.value) and ring.status().irq_pending


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def unwritable_ring(dut) -> None:
    """If a completion cannot be written, mae_dma_ring_manager sets ring_error and stops."""
    ring = await begin(dut, 6, sub_log2=4, comp_log2=6)
    ring.write_errors = {5}
    fill(ring, 60)
    for _ in range(3000):
        await ring.step()
    status = ring.status()
    assert status.ring_error and not status.busy
    assert len(ring.completions) < 60
    ring.ctrl.enable = 0
    for _ in range(5):
        await ring.step()
    ring.clear()
    ring.write_errors = set()
    ring.ctrl.enable, ring.ctrl.sub_tail, ring.ctrl.comp_head = 1, 0, 0
    fill(ring, 30, 0.3)
    await ring.run()
    ring.check()
    assert not ring.status().ring_error


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def disable_and_again(dut) -> None:
    """If disabled, mae_dma_ring_manager ends the started jobs and starts no further one."""
    ring = await begin(dut, 7, sub_log2=5, comp_log2=5, latency=(1, 100))
    for turn in range(5):
        fill(ring, 60, 0.2)
        for _ in range(20 + 150 * turn):
            await ring.step()
        ring.ctrl.enable = 0
        end = ring.clock + 5000
        await ring.step()
        await ring.step()
        while ring.status().busy or len(ring.completions) < ring.status().comp_tail:
            await ring.step()
            assert ring.clock < end, ring.status()
        head = ring.status().sub_head
        del ring.sent[head:]
        assert len(ring.completions) == head == ring.status().comp_tail
        ring.check()
        ring.clear()
        ring.ctrl.sub_tail = ring.ctrl.comp_head = 0
        ring.ctrl.enable = 1


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def abort_completes_all_fetched(dut) -> None:
    """After an abort mae_dma_ring_manager completes all fetched jobs, running ones as aborted."""
    ring = await begin(dut, 8, sub_log2=5, comp_log2=3, latency=(1, 100))
    found = 0
    for turn in range(6):
        fill(ring, 60 + 40 * turn, 0.2)
        for _ in range(20 + 120 * turn):
            await ring.step()
        ring.todo = []
        ring.ctrl.abort = 1
        await ring.step()
        ring.ctrl.abort = 0
        await ring.step()
        await ring.step()
        assert int(dut.abort_o.value)
        head = ring.status().sub_head  # those from here on are handed over too late
        in_flight = {job.desc.cookie for job in ring.running.values()}
        end = ring.clock + 5000
        while not ring.status().halted:
            await ring.step()
            assert ring.clock < end
        status = ring.status()
        assert not status.busy and not status.jobs and status.comp_tail == status.sub_head
        while len(ring.completions) < status.comp_tail:
            await ring.step()
        found += len(in_flight)
        for completion in ring.completions:
            if completion.cookie in in_flight:
                assert completion.status == Status.ABORTED
        unstarted = [c for c in ring.completions if c.index >= head]
        assert all(c.status in (Status.ABORTED, Status.DESC_FETCH) for c in unstarted)
        assert sorted(c.index for c in ring.completions) == list(range(status.sub_head))
        for _ in range(20):
            await ring.step()
        assert ring.status().halted
        ring.ctrl.enable = 0
        for _ in range(3):
            await ring.step()
        assert not ring.status().halted
        ring.clear()
        ring.ctrl.sub_tail = ring.ctrl.comp_head = 0
        ring.ctrl.enable = 1
        fill(ring, 20, 0.2)
        await ring.run()
        ring.check()
        while ring.status().busy:
            await ring.step()
        ring.ctrl.enable = 0
        for _ in range(3):
            await ring.step()
        ring.clear()
        ring.ctrl.sub_tail = ring.ctrl.comp_head = 0
        ring.ctrl.enable = 1
    assert found


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def abort_keeps_an_offer(dut) -> None:
    """A job that mae_dma_ring_manager offers stays offered in an abort, and is then aborted."""
    ring = await begin(dut, 9)
    ring.hold_client = True
    fill(ring, 3)
    for _ in range(200):
        await ring.step()
    ring.ctrl.abort = 1
    await ring.step()
    ring.ctrl.abort = 0
    for _ in range(30):
        await ring.step()
        assert int(dut.cfg_valid_o.value)
    ring.hold_client = False
    for _ in range(500):
        await ring.step()
    assert ring.status().halted
    assert [c.status for c in ring.completions] == [Status.ABORTED] * 3
    assert len(ring.offered) == 1


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def reset_at_any_time(dut) -> None:
    """After a reset at any moment mae_dma_ring_manager runs new jobs as from power-up."""
    for turn in range(5):
        ring = await begin(dut, 20 + turn, sub_log2=4, comp_log2=4)
        fill(ring, 40, 0.3)
        for _ in range(60 * turn + 7):
            await ring.step()
    ring = await begin(dut, 30)
    fill(ring, 40, 0.3)
    await ring.run()
    ring.check()


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataWidth": 512, "BeatWidth": 512, "Contexts": 64, "Prefetch": 64},
        {"DataWidth": 128, "BeatWidth": 128, "Contexts": 1, "Prefetch": 2},
        {"DataWidth": 256, "BeatWidth": 256, "Contexts": 3, "Prefetch": 4},
        {"DataWidth": 1024, "BeatWidth": 512, "Contexts": 5, "Prefetch": 8},
    ],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma_ring_manager(parameters: dict) -> None:
    """Builds mae_dma_ring_manager for several sizes and runs this file's tests."""
    bench.run("mae_dma_ring_manager", parameters=parameters)
