# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_write_engine: written bytes, AXI bursts, back-pressure, ends of jobs."""

import collections
import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.dma.model.jobs import ABORT, Land, Mover
from tests.dma.rings import Status
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR, AxiMemory
from tests.support.stream import start


class Client:
    """Models the user of mae_dma_write_engine, who sends rows of all contexts in turn."""

    def __init__(self, dut, *, stall: float = 0.0, asks: bool = True, away: int = 0) -> None:
        self.dut = dut
        self.stall = stall
        self.asks = asks
        self.away = away  # rows that lie at the client at most, reserved
        self.width = bench.parameters()["DataWidth"] // 8
        self.queues: dict[int, collections.deque] = {}
        self.inside: collections.deque = collections.deque()
        self.held = 0  # clocks in which a row was held back
        for name in ("row_valid", "row_ctx", "row_data", "row_bytes", "row_last"):
            getattr(dut, f"{name}_i").value = 0
        dut.reserve_valid_i.value = 0
        dut.reserve_ctx_i.value = 0

    def push(self, ctx: int, data: bytes) -> None:
        """Queues the data of a write job as rows."""
        queue = self.queues.setdefault(ctx, collections.deque())
        for at in range(0, len(data), self.width):
            queue.append((ctx, data[at : at + self.width], at + self.width >= len(data)))

    async def run(self) -> None:
        """Reserves room in the write engine for each queued row and then sends it."""
        dut = self.dut
        shown = False
        while True:
            await FallingEdge(dut.clk_i)
            room = int(dut.row_room_o.value) if self.asks else -1
            ready = [ctx for ctx in self.queues if room >> ctx & 1]
            dut.reserve_valid_i.value = 0
            if ready and len(self.inside) <= self.away and random.random() >= self.stall:
                ctx = random.choice(ready)
                self.inside.append(self.queues[ctx].popleft())
                if not self.queues[ctx]:
                    del self.queues[ctx]
                dut.reserve_valid_i.value = int(self.asks)
                dut.reserve_ctx_i.value = ctx
            if not shown:
                shown = bool(self.inside) and random.random() >= self.stall
                dut.row_valid_i.value = int(shown)
                if shown:
                    ctx, data, last = self.inside[0]
                    dut.row_ctx_i.value = ctx
                    dut.row_data_i.value = int.from_bytes(data, "little")
                    dut.row_bytes_i.value = len(data)
                    dut.row_last_i.value = int(last)
            await RisingEdge(dut.clk_i)
            if shown:
                if int(dut.row_ready_o.value):
                    self.inside.popleft()
                    shown = False
                else:
                    self.held += 1


async def begin(dut, size: int, *, memory_stall: float = 0.0, **options):
    """Resets mae_dma_write_engine and starts the memory model, the driver and the user model."""
    names = {k: options.pop(k) for k in ("stall", "asks", "away") if k in options}
    memory = AxiMemory(dut, size, unique_ids=True, stall=memory_stall, **options)
    memory.data[:] = random.randbytes(size)
    mover = Mover(dut, stall=memory_stall)
    client = Client(dut, **names)
    await start(dut)
    memory.start()
    mover.start()
    cocotb.start_soon(client.run())
    return memory, mover, client


async def copies(dut, jobs: int, **options) -> tuple[AxiMemory, Client]:
    """Writes random data to random segment lists in all contexts; asserts all of memory."""
    size = 1 << 18
    memory, mover, client = await begin(dut, size, **options)
    land = Land(0, size, random.Random(random.random()))
    work: dict[int, list] = collections.defaultdict(list)
    expected = bytearray(memory.data)
    for _ in range(jobs):
        data = random.randbytes(random.choice((1, 64, 65, 500, 3000)))
        work[random.randrange(bench.parameters()["Contexts"])].append(
            (land.scatter(len(data), random.choice((2, 300, 5000))), data)
        )

    async def context(ctx: int) -> None:
        for segments, data in work[ctx]:
            client.push(ctx, data)
            mover.push(ctx, segments)
            end = await mover.end(ctx)
            assert (end["status"], end["bytes"]) == (Status.OK, len(data))
            at = 0
            for addr, count in segments:
                assert memory.read(addr, count) == data[at : at + count], "done before written"
                expected[addr : addr + count] = data[at : at + count]
                at += count

    for task in [cocotb.start_soon(context(ctx)) for ctx in work]:
        await task
    assert memory.data == expected
    assert memory.idle()
    return memory, client


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def writes_any_list(dut) -> None:
    """The write engine writes exactly the bytes of each list and ends after all responses."""
    _, client = await copies(dut, 40, latency=(0, 60), memory_stall=0.2, stall=0.1, away=5)
    assert client.held == 0, "a client that has asked for room is not held back"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def holds_back_who_does_not_ask(dut) -> None:
    """The write engine delays rows for which no room was reserved, but loses none."""
    _, client = await copies(dut, 20, latency=(0, 30), memory_stall=0.5, asks=False)
    assert client.held > 0 or bench.parameters()["Contexts"] > 2


@cocotb.test(timeout_time=200, timeout_unit="us")
async def bursts_are_whole(dut) -> None:
    """The write engine writes aligned data in bursts of full length, many of them in flight."""
    memory, mover, client = await begin(dut, 1 << 18, latency=(100, 100))
    beats = bench.parameters()["BurstBeats"]
    bursts = 2 ** (bench.parameters()["IdWidth"] - 1) + 5
    length = beats * client.width * bursts
    client.push(0, random.randbytes(length))
    mover.push(0, [(0x1000, length)])
    assert (await mover.end(0))["bytes"] == length
    assert memory.write_log == [(0x1000 + i * beats * client.width, beats) for i in range(bursts)]
    assert memory.statistics.most_writes >= min(bursts - 5, 100 // beats // 2)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def rows_and_segments_may_differ(dut) -> None:
    """The write engine drops rows beyond the segments and leaves segments without rows alone."""
    memory, mover, client = await begin(dut, 1 << 16, latency=(1, 40))
    width = client.width
    expected = bytearray(memory.data)

    def write(addr: int, data: bytes) -> None:
        expected[addr : addr + len(data)] = data

    for length, pieces, aborts in (
        (5 * width + 3, (), True),
        (1, (), True),
        (5 * width + 3, (17,), True),
        (40 * width, (2 * width, 5), True),
        (40 * width, (2 * width, 5), False),
        (3, (2, 100, 7), False),
        (2 * width, (width, width, 4096, 1), False),
        (2 * width, (2 * width,), True),
        (width + 5, (7, 900), True),
    ):
        data = random.randbytes(length)
        segments = [(100 + 5000 * i, count) for i, count in enumerate(pieces)]
        client.push(0, data)
        mover.push(0, [*segments, ABORT] if aborts else segments)
        end = await mover.end(0)
        assert (end["status"], end["bytes"]) == (Status.OK, min(length, sum(pieces)))
        at = 0
        for addr, count in segments:
            write(addr, data[at : at + count])
            at += count
        data = random.randbytes(3 * width + 1)
        client.push(0, data)
        mover.push(0, [(30001, len(data))])
        assert (await mover.end(0))["bytes"] == len(data)
        write(30001, data)
    assert memory.data == expected


@cocotb.test(timeout_time=400, timeout_unit="us")
async def blocked_contexts_leave_each_share(dut) -> None:
    """The write engine serves contexts by their own pages while half of the others are blocked."""
    memory, mover, client = await begin(dut, 1 << 20, latency=(1, 30))
    contexts = bench.parameters()["Contexts"]
    held, stride = contexts // 2, 120 * client.width
    data = [
        random.randbytes(stride if ctx < held else 16 * client.width) for ctx in range(contexts)
    ]

    async def written(ctx: int) -> None:
        assert (await mover.end(ctx))["bytes"] == len(data[ctx])
        assert memory.read(stride * ctx, len(data[ctx])) == data[ctx]

    for ctx in range(held):
        client.push(ctx, data[ctx])  # without segments
    await ClockCycles(dut.clk_i, 120 * held)
    assert set(client.queues) == set(range(held)) and not memory.write_log
    for ctx in range(held, contexts):
        client.push(ctx, data[ctx])
        mover.push(ctx, [(stride * ctx, len(data[ctx]))])
    await ClockCycles(dut.clk_i, 600 + 40 * (contexts - held))
    assert set(client.queues) == set(range(held))
    for ctx in range(held, contexts):
        assert memory.read(stride * ctx, len(data[ctx])) == data[ctx], ctx
        await written(ctx)
    for ctx in range(held):
        mover.push(ctx, [(stride * ctx, len(data[ctx]))])
    for ctx in range(held):
        await written(ctx)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def reports_the_first_error(dut) -> None:
    """A write job reports its first bus error; later jobs write their bytes right."""
    memory, mover, client = await begin(dut, 1 << 16, latency=(1, 20), shuffle=False)
    memory.fail(0x1000, 0x1001, SLVERR)
    memory.fail(0x3000, 0x3001, DECERR)
    for segments, status in (
        ([(0, 100)], Status.OK),
        ([(0, 100), (0xFFE, 10), (0x2FFE, 10)], Status.WRITE_SLVERR),
        ([(0x2FFE, 10), (0xFFE, 10)], Status.WRITE_DECERR),
        ([(0xFF0, 16), (0x2000, 4096)], Status.OK),
        ([(1 << 40, 10000)], Status.WRITE_DECERR),
        ([(5, 1)], Status.OK),
    ):
        data = random.randbytes(sum(count for _, count in segments))
        client.push(0, data)
        mover.push(0, segments)
        end = await mover.end(0)
        assert (end["status"], end["bytes"]) == (status, len(data))
        if status == Status.OK:
            assert b"".join(memory.read(addr, count) for addr, count in segments) == data
    await ClockCycles(dut.clk_i, 5)
    assert memory.idle()


@pytest.mark.parametrize(
    ("width", "contexts", "rows", "beats", "ids"),
    [(128, 2, 12, 2, 2), (512, 64, 32, 8, 8), (1024, 7, 96, 32, 5)],
)
def test_write(width: int, contexts: int, rows: int, beats: int, ids: int) -> None:
    """Builds mae_dma_write_engine with extreme and usual parameters; runs this file's tests."""
    bench.run(
        "mae_dma_write_engine",
        parameters={
            "DataWidth": width,
            "Contexts": contexts,
            "RowsPerContext": rows,
            "BurstBeats": beats,
            "IdWidth": ids,
        },
    )
