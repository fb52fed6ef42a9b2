# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_read_engine: reads of segment lists, packing into rows, turns of contexts."""

import collections
import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge

from tests.dma.model.jobs import ABORT, Land, Mover, Segment
from tests.dma.rings import Status
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR, AxiMemory
from tests.support.stream import start


class Client:
    """Models the user of mae_dma_read_engine, who accepts rows with random stalls."""

    def __init__(self, dut, *, stall: float = 0.0, closed: float = 0.0) -> None:
        self.dut = dut
        self.stall = stall
        self.closed = closed
        self.contexts = bench.parameters()["Contexts"]
        self.width = bench.parameters()["DataWidth"] // 8
        self.parts: dict[int, bytearray] = collections.defaultdict(bytearray)
        self.jobs: dict[int, list[bytes]] = collections.defaultdict(list)
        self.order: list[int] = []
        self.beyond = [0] * self.contexts  # rows since the context's room fell
        self.room = (1 << self.contexts) - 1
        dut.row_ready_i.value = 0
        dut.client_room_i.value = self.room
        dut.writer_room_i.value = self.room

    async def run(self) -> None:
        """Accepts rows from the read engine with stalls and opens or closes contexts at random."""
        dut, everyone = self.dut, (1 << self.contexts) - 1
        masks = [everyone, everyone]
        while True:
            await FallingEdge(dut.clk_i)
            ready = random.random() >= self.stall
            dut.row_ready_i.value = int(ready)
            if ready and int(dut.row_valid_o.value):
                self.take()
            if self.closed and random.random() < 0.2:
                masks[random.randrange(2)] = sum(
                    (random.random() >= self.closed) << ctx for ctx in range(self.contexts)
                )
                dut.client_room_i.value, dut.writer_room_i.value = masks
                self.room = masks[0] & masks[1]
                self.beyond = [0] * self.contexts

    def take(self) -> None:
        """Checks a row from the read engine, and appends its bytes to the context's data."""
        dut = self.dut
        ctx, count = int(dut.row_ctx_o.value), int(dut.row_bytes_o.value)
        last = int(dut.row_last_o.value)
        assert 1 <= count <= self.width and (last or count == self.width)
        data = int(dut.row_data_o.value).to_bytes(self.width, "little")
        self.parts[ctx] += data[:count]
        self.order.append(ctx)
        if not self.room >> ctx & 1:
            self.beyond[ctx] += 1
            assert self.beyond[ctx] <= 2, "more than two rows where there is no room"
        if last:
            self.jobs[ctx].append(bytes(self.parts.pop(ctx)))


async def begin(dut, size: int, *, memory_stall: float = 0.0, **options):
    """Resets mae_dma_read_engine and starts the memory model, the driver and the user model."""
    names = {k: options.pop(k) for k in ("stall", "closed") if k in options}
    memory = AxiMemory(dut, size, unique_ids=True, stall=memory_stall, **options)
    memory.data[:] = random.randbytes(size)
    mover = Mover(dut, stall=memory_stall)
    client = Client(dut, **names)
    await start(dut)
    memory.start()
    mover.start()
    cocotb.start_soon(client.run())
    return memory, mover, client


def beats(segments: list[Segment], width: int) -> int:
    """Returns the number of bus words that must be read for a segment list."""
    return sum((addr + count - 1) // width - addr // width + 1 for addr, count in segments)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def packs_any_list(dut) -> None:
    """The read engine packs any segment list into full rows and reads each bus word once."""
    memory, mover, client = await begin(
        dut, 1 << 18, latency=(1, 60), memory_stall=0.2, stall=0.2, closed=0.5
    )
    land = Land(0, 1 << 18, random.Random(random.random()))
    lists: dict[int, list[list[Segment]]] = collections.defaultdict(list)
    for _ in range(40):
        ctx = random.randrange(client.contexts)
        lists[ctx].append(land.scatter(random.choice((1, 64, 65, 700, 3000)), 300))

    async def context(ctx: int) -> None:
        for number, segments in enumerate(lists[ctx]):
            mover.push(ctx, segments)
            assert (await mover.end(ctx))["status"] == Status.OK
            expected = b"".join(memory.read(addr, count) for addr, count in segments)
            assert len(client.jobs[ctx]) == number + 1, "done only after the last row"
            assert client.jobs[ctx][number] == expected

    for task in [cocotb.start_soon(context(ctx)) for ctx in lists]:
        await task
    width = client.width
    wanted = {
        word
        for segments in sum(lists.values(), [])
        for addr, count in segments
        for word in range(addr // width, (addr + count - 1) // width + 1)
    }
    read = {addr // width + i for addr, count in memory.read_log for i in range(count)}
    assert read == wanted
    assert all(addr % width == 0 for addr, _ in memory.read_log)
    asked = sum(count for _, count in memory.read_log)
    assert asked == sum(beats(segments, width) for segments in sum(lists.values(), []))


@cocotb.test(timeout_time=200, timeout_unit="us")
async def serves_all_contexts(dut) -> None:
    """The read engine serves contexts in turn; one whose rows are not accepted delays no other."""
    memory, mover, client = await begin(dut, 1 << 18, latency=(1, 30))
    contexts = min(client.contexts, 8)
    if contexts < 3:
        return
    dut.client_room_i.value = 0
    length = 64 * client.width
    for ctx in range(contexts):
        mover.push(ctx, [(ctx * length, length)])
    await ClockCycles(dut.clk_i, 1500)
    assert memory.idle() and not client.order
    dut.client_room_i.value = client.room & ~1  # context 0 has no room at the client
    dut.writer_room_i.value = client.room & ~2  # context 1 has none at the writer
    for ctx in range(2, contexts):
        assert (await mover.end(ctx))["status"] == Status.OK
    assert client.order.count(0) == client.order.count(1) == 0
    for turn in range(8):
        served = client.order[turn * (contexts - 2) : (turn + 1) * (contexts - 2)]
        assert sorted(served) == list(range(2, contexts)), "contexts with rows take turns"
    dut.client_room_i.value = dut.writer_room_i.value = client.room
    for ctx in range(2):
        assert (await mover.end(ctx))["status"] == Status.OK
    for ctx in range(contexts):
        assert client.jobs[ctx] == [memory.read(ctx * length, length)]


@cocotb.test(timeout_time=200, timeout_unit="us")
async def blocked_contexts_leave_each_share(dut) -> None:
    """The read engine serves contexts by their own pages while half of the others are blocked."""
    memory, mover, client = await begin(dut, 1 << 19, latency=(1, 30))
    held = client.contexts // 2
    dut.client_room_i.value = client.room & ~((1 << held) - 1)
    long, short = 96 * client.width, 16 * client.width
    for ctx in range(held):
        mover.push(ctx, [(ctx * long, long)])
    await ClockCycles(dut.clk_i, 3000)
    assert memory.idle() and not client.order
    for ctx in range(held, client.contexts):
        mover.push(ctx, [(held * long + ctx * short, short)])
    await ClockCycles(dut.clk_i, 600 + 40 * (client.contexts - held))
    for ctx in range(held, client.contexts):
        assert client.jobs[ctx] == [memory.read(held * long + ctx * short, short)], ctx
        assert (await mover.end(ctx))["status"] == Status.OK
    dut.client_room_i.value = client.room
    for ctx in range(held):
        assert (await mover.end(ctx))["status"] == Status.OK
        assert client.jobs[ctx] == [memory.read(ctx * long, long)]


@cocotb.test(timeout_time=200, timeout_unit="us")
async def lists_end_early(dut) -> None:
    """A read job whose list is cut short ends with a partial row or zero byte; the next works."""
    memory, mover, client = await begin(dut, 1 << 16, latency=(1, 40), closed=0.3)
    width = client.width
    for segments in ([], [(5, width)], [(7, 1)], [(1, 3 * width), (9, width - 1)], [(0, 2000)]):
        mover.push(0, [*segments, ABORT])
        mover.push(0, [])
        assert (await mover.end(0))["status"] == Status.OK
        expected = b"".join(memory.read(addr, count) for addr, count in segments)
        if len(expected) % width == 0:
            expected += bytes(1)
        assert client.jobs[0].pop() == expected
        mover.push(0, [(11, 100), (300, 1)])
        assert (await mover.end(0))["status"] == Status.OK
        assert client.jobs[0].pop() == memory.read(11, 100) + memory.read(300, 1)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def reports_the_first_error(dut) -> None:
    """A read job reports its first bus error and still delivers all its bytes."""
    memory, mover, client = await begin(dut, 1 << 16, latency=(1, 20), shuffle=False)
    memory.fail(0x1000, 0x1001, SLVERR)
    memory.fail(0x3000, 0x3001, DECERR)
    for segments, status in (
        ([(0, 100)], Status.OK),
        ([(0, 100), (0xFFE, 10), (0x2FFE, 10)], Status.READ_SLVERR),
        ([(0x2FFE, 10), (0xFFE, 10)], Status.READ_DECERR),
        ([(0xFF0, 16), (0x2000, 4096)], Status.OK),
        ([(1 << 40, 10000)], Status.READ_DECERR),
        ([(0, 1)], Status.OK),
    ):
        mover.push(0, segments)
        assert (await mover.end(0))["status"] == status
        assert len(client.jobs[0].pop()) == sum(count for _, count in segments)
    await ClockCycles(dut.clk_i, 5)
    assert memory.idle()


@pytest.mark.parametrize(
    ("width", "contexts", "rows", "beats_", "ids"),
    [(128, 2, 4, 2, 4), (512, 64, 32, 8, 8), (1024, 7, 64, 32, 3)],
)
def test_read(width: int, contexts: int, rows: int, beats_: int, ids: int) -> None:
    """Builds mae_dma_read_engine with extreme and usual parameters and runs this file's tests."""
    bench.run(
        "mae_dma_read_engine",
        parameters={
            "DataWidth": width,
            "Contexts": contexts,
            "RowsPerContext": rows,
            "BurstBeats": beats_,
            "IdWidth": ids,
        },
    )
