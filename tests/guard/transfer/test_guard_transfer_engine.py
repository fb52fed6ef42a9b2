# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_transfer_engine: order of chunks, kernel runs, aborts, fatal errors.

With mae_guard_transfer_engine its parts: mae_guard_transfer_table, mae_guard_chunk_arming,
mae_guard_chunk_memory, mae_guard_chunk_queues, mae_guard_chunk_scheduler, mae_guard_inflight_fifo,
mae_guard_transfer_abort.
"""

import collections
import os
import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from maeslant.protected.model import wire
from maeslant.protected.model.constants import Cause, Kind, Status
from tests.guard.transfers import ANSWER, CHUNK, FATAL, PLACE, Chunk, Model, Requests, join, split
from tests.support.bench import run

NAMES = ("Queues", "Depth", "Regions", "MemoryBits", "ChunkBits", "KernelPorts")
# Queues that are no power of two, few regions, little memory, so that all meet.
SMALL = "3 4 5 13 12 2"
VALUES = os.environ.get("MAESLANT_TRANSFERS", SMALL)
QUEUES, DEPTH, REGIONS, MEMORY, CHUNK_BITS, PORTS = map(int, VALUES.split())
INPUTS = (
    "clear_i halt_i arm_valid_i arm_place_i arm_out_i arm_i arm_commit_i give_up_valid_i "
    "give_up_queue_i start_in_ready_i start_out_ready_i moved_in_valid_i moved_in_i "
    "moved_out_valid_i moved_out_i beat_fault_i answer_ready_i runs_i kernel_fault_i "
    "judge_write_i judge_address_i mem_ready_i"
).split()


class Bench:
    """Drives mae_guard_transfer_engine: chunk requests, DMA, kernel and memory, each clock."""

    def __init__(self, dut, seed: int, stall: float = 0.5) -> None:
        self.dut, self.random, self.stall = dut, random.Random(seed), stall
        self.seen: collections.Counter = collections.Counter()
        self.number = [0] * QUEUES
        self.renew()

    def renew(self) -> None:
        """Resets the bench's model of transfers to the state at a session's start."""
        self.model = Model(QUEUES, REGIONS, MEMORY, CHUNK_BITS)
        self.requests = Requests(self.model, self.random)
        self.asking: tuple | None = None  # (what, ...) of the requester
        self.commit_in = 0
        self.under: list[list[Chunk]] = [[], []]  # what the movers have
        self.judging = True
        self.answer_seen = False
        self.sent = {"in": False, "out": False}
        self.skips = self.kernel = True
        self.fatal: tuple[int, ...] | None = None
        self.spoiled: Chunk | None = None

    async def begin(self) -> None:
        """Starts the clock and resets mae_guard_transfer_engine."""
        Clock(self.dut.clk_i, 10, "ns").start()
        for name in INPUTS:
            getattr(self.dut, name).value = 0
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)
        await self.walk()

    async def walk(self) -> None:
        """Waits until mae_guard_transfer_engine has cleared its chunk memory."""
        while self.dut.busy_o.value:
            await FallingEdge(self.dut.clk_i)

    def chance(self, probability: float) -> bool:
        """Returns true with a given probability."""
        return self.random.random() < probability

    def _requester(self, new: bool) -> None:
        """Sends one request at a time to the transfer engine: a new chunk, or an abort."""
        dut, model = self.dut, self.model
        dut.arm_commit_i.value = 0
        if self.asking and self.asking[0] == "arm" and dut.arm_done_o.value:
            _, place, out, body = self.asking
            status, legal = Status(int(dut.arm_status_o.value)), self.legal
            assert status in legal, (status, legal, body)
            self.seen["unsure" if len(legal) > 1 else status.name] += 1
            dut.arm_valid_i.value = 0
            if status == Status.OK:
                self.asking = ("commit", place, out, body)
                self.commit_in = self.random.choice((0, 1, 5))
            else:
                self._give_up(place[0])
        elif self.asking and self.asking[0] == "commit":
            if self.commit_in:
                self.commit_in -= 1
                return
            model.arm(*self.asking[1:])
            dut.arm_commit_i.value = 1
            self.asking = None
        elif self.asking and self.asking[0] == "give" and dut.give_up_done_o.value:
            self.done = self.asking[1]
            dut.give_up_valid_i.value = 0
            self.asking = None
        elif self.asking is None and new and self.chance(0.1):
            queue = self.random.randrange(QUEUES)
            if self.skips and self.chance(0.06):
                self._give_up(queue)
            elif len(model.queues[queue]) < DEPTH:
                self.arm(queue, *self.requests.body(queue))

    def arm(self, queue: int, out: bool, body: wire.Transfer) -> None:
        """Offers a chunk request to the transfer engine at its arm port."""
        self.number[queue] += 1
        place = (queue, self.random.randrange(1 << 16), self.number[queue])
        self.dut.arm_valid_i.value = 1
        self.dut.arm_place_i.value = join(place, PLACE)
        self.dut.arm_out_i.value = int(out)
        self.dut.arm_i.value = int.from_bytes(body.pack())
        self.asking = ("arm", place, out, body)

    def _give_up(self, queue: int) -> None:
        self.dut.give_up_valid_i.value, self.dut.give_up_queue_i.value = 1, queue
        self.asking = ("give", queue)
        self.model.ask(queue)

    def _movers(self, way: int, spoil: str | None) -> None:
        """Accepts started chunks like the DMA of one direction and reports their ends in order."""
        dut, name = self.dut, ("in", "out")[way]
        valid, under = getattr(dut, f"start_{name}_valid_o"), self.under[way]
        if valid.value and not self.sent[name]:
            fields = split(int(getattr(dut, f"start_{name}_o").value), CHUNK)
            self.waiting = self.model.start(bool(way), fields)
            under.append(self.waiting)
            self.sent[name] = True
            self.seen[f"start {name} {fields[0]}"] += 1
        ready = len(under) - self.sent[name] < 2 and self.chance(self.stall)
        getattr(dut, f"start_{name}_ready_i").value = int(ready)
        moving = len(under) - self.sent[name]
        ends = moving and self.chance(0.2)
        getattr(dut, f"moved_{name}_valid_i").value = int(bool(ends))
        if ends:
            chunk = under.pop(0)
            bad = (1, 1, 0) if spoil == "beat" else (0, 0, 0)
            tag_ok = 1 if not way else self.random.randrange(2)  # out: says nothing
            good = (0, tag_ok, self.random.getrandbits(128))
            chunk.result = bad if spoil else good
            chunk.moved = True
            if spoil:
                self.spoiled = chunk
            getattr(dut, f"moved_{name}_i").value = join(chunk.result, (1, 1, 128))
        if ready and valid.value:
            self.sent[name] = False

    def _kernel(self) -> None:
        """Counts kernel runs and raises kernel faults at random, as transfer engine inputs."""
        model = self.model
        if model.fault:
            model.fault = not self.chance(0.03)
        elif self.kernel and self.chance(0.02):
            model.runs += 1
        elif self.kernel and self.chance(0.002):
            model.fault = True
        self.dut.runs_i.value, self.dut.kernel_fault_i.value = model.runs, int(model.fault)
        model.clock()

    async def clock(self, new: bool = True, spoil: str | None = None, way: int = 0) -> None:
        """Runs one clock of the transfer engine: checks its outputs, then sets its inputs."""
        dut, model = self.dut, self.model
        self.done: int | None = None
        self._requester(new)
        if dut.answer_valid_o.value and not self.answer_seen:
            status = model.answer(split(int(dut.answer_o.value), ANSWER))
            self.seen[f"answer {status.name}"] += 1
            self.answer_seen = True
        if self.done is not None:
            model.asked(self.done)
            self.seen["given up"] += 1
        if self.asking and self.asking[0] == "arm":  # judged a clock before it is told
            self.legal = model.statuses(self.asking[1][0], *self.asking[2:])
        if dut.fatal_valid_o.value:
            self.fatal = split(int(dut.fatal_o.value), FATAL)
        for each in (0, 1):
            self._movers(each, spoil if each == way else None)
        ready = self.chance(self.stall)
        dut.answer_ready_i.value = int(ready)
        if ready and dut.answer_valid_o.value:
            self.answer_seen = False
        ready = self.chance(0.7)
        dut.mem_ready_i.value = int(ready)
        if ready and dut.mem_valid_o.value:
            model.scrub(int(dut.mem_granule_o.value))
            self.seen["scrubbed"] += 1
        self._kernel()
        asked = [(self.chance(0.5), self._address()) for _ in range(PORTS)]
        dut.judge_write_i.value = sum(int(write) << i for i, (write, _) in enumerate(asked))
        dut.judge_address_i.value = sum(address << 64 * i for i, (_, address) in enumerate(asked))
        await Timer(1, "ns")
        for port, (write, address) in enumerate(asked):
            expected = model.fault_of(write, address)
            if expected is not None:
                assert dut.judge_fault_o.value[port] == expected, (write, address)
                self.seen[f"judged {expected}"] += 1
        await FallingEdge(dut.clk_i)

    def _address(self) -> int:
        return self.random.choice((self.random.randrange(1 << MEMORY), 1 << MEMORY, (1 << 64) - 1))

    async def drain(self) -> None:
        """Runs the transfer engine until all transfers have ended; aborts unfinished ones."""
        for _ in range(20000):
            await self.clock(new=False)
            for queue in range(QUEUES):
                if self.asking is None and self.model.open_of(queue):
                    self._give_up(queue)
            if self.asking is None and not any(self.model.queues) and not self.model.transfers:
                return
        raise AssertionError("something never ended")


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def traffic(dut) -> None:
    """The transfer engine handles random chunks, kernel runs and aborts as the card model does."""
    seen: collections.Counter = collections.Counter()
    for seed, stall in ((1, 0.5), (2, 0.9), (3, 0.1)):
        bench = Bench(dut, seed, stall)
        await bench.begin()
        for _ in range(8000):
            await bench.clock()
            assert bench.fatal is None
        bench.model.runs = 1 << 41  # whatever still waits
        await bench.drain()
        seen += bench.seen
    dut._log.info("%s", dict(seen))
    if VALUES == SMALL:  # where all meet
        for name in "OK RANGE ORDER REGION scrubbed".split():
            assert seen[name] > 30, (name, seen)
        for name in ("OK", "ABORTED", "AFTER"):
            assert seen[f"answer {name}"] > 15, seen
        assert min(seen["given up"], seen["judged True"], seen["judged False"]) > 100, seen
        assert seen["unsure"] < 0.1 * seen["OK"]
    starts = [seen[f"start {way} {q}"] for way in ("in", "out") for q in range(QUEUES)]
    assert min(starts) > max(starts) / 2, starts


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def fatal_ends(dut) -> None:
    """A fatal error ends all transfers of the transfer engine; after clear_i new ones run."""
    bench = Bench(dut, 4)
    await bench.begin()
    for attempt in range(24):
        spoil = ("tag", "beat", "beat out", "fault")[attempt % 4]
        way = int(spoil == "beat out")
        for _ in range(150):
            await bench.clock()
        for _ in range(3000):
            if bench.spoiled or (spoil == "fault" and any(bench.under)):
                break
            await bench.clock(spoil=None if spoil == "fault" else spoil.split()[0], way=way)
        if spoil == "fault":
            dut.beat_fault_i.value = 1
            await bench.clock(new=False)
            dut.beat_fault_i.value = 0
        for _ in range(60):
            if bench.fatal:
                break
            await bench.clock(new=False)
        cause, queue, number = bench.fatal
        assert cause == (Cause.CHUNK if spoil == "tag" else Cause.BEAT)
        if spoil != "fault":
            assert (queue, number) == bench.spoiled.place[::2]
        # Nothing more: no start, no answer, no scrub, even if nobody says halt.
        dut.answer_ready_i.value = dut.start_in_ready_i.value = dut.start_out_ready_i.value = 1
        dut.arm_valid_i.value = dut.give_up_valid_i.value = dut.arm_commit_i.value = 0
        dut.moved_in_valid_i.value = dut.moved_out_valid_i.value = 0
        await FallingEdge(dut.clk_i)
        for _ in range(20):
            for name in ("answer", "start_in", "start_out", "mem", "arm_done", "give_up_done"):
                flag = name.replace("_done", "") + ("_done_o" if "done" in name else "_valid_o")
                assert not getattr(dut, flag).value, name
            assert dut.fatal_valid_o.value
            await FallingEdge(dut.clk_i)
        dut.halt_i.value = 1
        await ClockCycles(dut.clk_i, 3)
        dut.clear_i.value = 1
        await ClockCycles(dut.clk_i, 8)
        await FallingEdge(dut.clk_i)
        for name in INPUTS:
            getattr(dut, name).value = 0
        await FallingEdge(dut.clk_i)
        assert not dut.fatal_valid_o.value
        assert int(dut.answer_o.value) == int(dut.start_in_o.value) == 0
        assert int(dut.start_out_o.value) == 0
        await bench.walk()
        bench.renew()
        bench.seen["fatal"] += 1


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def clocks(dut) -> None:
    """A chunk passes the transfer engine in the clocks that the module's header states."""
    bench = Bench(dut, 5)
    await bench.begin()
    for name in ("start_in_ready_i", "answer_ready_i", "mem_ready_i"):
        getattr(dut, name).value = 1

    async def until(name: str) -> int:
        count = 0
        while not getattr(dut, name).value:
            await FallingEdge(dut.clk_i)
            count += 1
            assert count < 50, name
        return count

    bench.arm(QUEUES - 1, False, wire.Transfer(0, 64, 0, 0, 64, 0))
    assert await until("arm_done_o") == 2
    dut.arm_valid_i.value, dut.arm_commit_i.value = 0, 1
    await FallingEdge(dut.clk_i)
    dut.arm_commit_i.value = 0
    assert 1 + await until("start_in_valid_o") == 4
    await ClockCycles(dut.clk_i, 5)
    await FallingEdge(dut.clk_i)
    dut.moved_in_valid_i.value, dut.moved_in_i.value = 1, join((0, 1, 0), (1, 1, 128))
    await FallingEdge(dut.clk_i)
    dut.moved_in_valid_i.value = 0
    assert 1 + await until("answer_valid_o") == 3
    fields = split(int(dut.answer_o.value), ANSWER)
    assert fields[3:7] == (Kind.H2D, Status.OK, 1, 64)
    dut.beat_fault_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.beat_fault_i.value = 0
    await until("fatal_valid_o")
    assert split(int(dut.fatal_o.value), FATAL) == (Cause.BEAT, 0, 0)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def store(dut) -> None:
    """mae_guard_chunk_memory returns a row one clock after the request and clears all rows."""
    generator, rows, width = random.Random(6), len(dut.rows_q), len(dut.write_data_i)
    Clock(dut.clk_i, 10, "ns").start()
    dut.rst_ni.value = dut.clear_i.value = dut.write_i.value = dut.read_row_i.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk_i)
        count = 0
        while dut.busy_o.value:
            count += 1
            await FallingEdge(dut.clk_i)
        assert rows - 2 <= count <= rows
        assert [int(dut.rows_q[i].value) for i in range(rows)] == [0] * rows
        kept = [0] * rows
        for _ in range(200):
            row, data = generator.randrange(rows), generator.getrandbits(width)
            write, read = generator.random() < 0.5, generator.randrange(rows)
            dut.write_i.value, dut.write_row_i.value = int(write), row
            dut.write_data_i.value, dut.read_row_i.value = data, read
            await FallingEdge(dut.clk_i)
            assert int(dut.read_data_o.value) == kept[read]
            kept[row] = data if write else kept[row]
        dut.write_i.value, dut.clear_i.value = 0, 1
        await ClockCycles(dut.clk_i, 2)
        dut.clear_i.value = 0


def _simulate(values: str) -> None:
    parameters = dict(zip(NAMES, map(int, values.split()), strict=True))
    tests = "traffic|fatal_ends|clocks"
    env = {"MAESLANT_TRANSFERS": values}
    run("mae_guard_transfer_engine", parameters=parameters, env=env, test_filter=tests)


def test_guard_chunk_memory() -> None:
    """Builds mae_guard_chunk_memory with 12 rows and runs its simulation test."""
    run("mae_guard_chunk_memory", parameters={"Rows": 12, "Width": 70}, test_filter="store")


def test_guard_transfer_engine() -> None:
    """Builds mae_guard_transfer_engine in a small size and runs this file's tests on it."""
    _simulate(SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("values", ["1 1 1 12 12 1", "8 8 8 14 13 2", "2 5 16 16 16 3"])
def test_guard_transfers_sizes(values: str) -> None:
    """Runs the tests of mae_guard_transfer_engine in its smallest, the card's and other sizes."""
    _simulate(values)
