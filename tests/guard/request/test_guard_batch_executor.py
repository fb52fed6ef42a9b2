# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_batch_executor with random batches on all queues against a model.

Covers mae_guard_batch_executor and, in it, mae_guard_wait_conditions.
"""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from maeslant.protected.model import wire
from maeslant.protected.model.constants import KERNEL, Kind, Op, Status
from tests.device import secrets
from tests.support.bench import run

QUEUES = 3
INPUTS = """clear_i halt_i place_i taken_i body_valid_i body_index_i body_i start_i blocks_i words_i
 reg_rdata_i reg_error_i runs_i kernel_fault_i answer_ready_i answered_valid_i answered_i
 words_queue_i words_row_i""".split()


class Batch:
    """Holds a batch in the test's model: its operations, position, read data and WAIT verdicts."""

    def __init__(self, number: int, epoch: int, operations: list[wire.Operation]) -> None:
        self.number, self.epoch, self.operations = number, epoch, operations
        self.at, self.data, self.seen = 0, [], set()


class Batches:
    """Drives mae_guard_batch_executor and models its register port, answers and kernel runs."""

    def __init__(self, dut, seed: int) -> None:
        self.dut, self.random = dut, random.Random(seed)
        self.next = [1] * QUEUES
        self.outcomes: list[dict[int, bool]] = [{} for _ in range(QUEUES)]
        self.batches: list[Batch | None] = [None] * QUEUES
        self.waiting: list[tuple[int, int, int, bool]] = []  # answers on their way: due, …
        self.runs, self.fault = 0, False
        self.access: tuple[int, bool] | None = None
        self.clocks = self.accesses = 0
        self.ended: dict[int, int] = {}
        self.ready, self.error, self.taking = 0.5, False, 0
        self.failed: tuple[int, int] | None = None

    async def begin(self) -> None:
        """Starts the clock, resets the batch executor and clears its memories."""
        dut = self.dut
        Clock(dut.clk_i, 10, "ns").start()
        for name in INPUTS:
            getattr(dut, name).value = 0
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 2)
        dut.rst_ni.value = 1
        await self.walk()

    async def walk(self) -> None:
        """Waits until the batch executor's memories are cleared."""
        await FallingEdge(self.dut.clk_i)
        while self.dut.busy_o.value:
            await FallingEdge(self.dut.clk_i)

    def verdict(self, operation: wire.Operation) -> str:
        """Returns the model's verdict on a WAIT operation: pass, hold, fail or after."""
        if operation.offset == KERNEL:
            if self.runs >= operation.data:
                return "pass"
            return "after" if self.fault else "hold"
        queue, number = operation.offset, operation.data
        if number >= self.next[queue]:
            return "hold"
        if number + 64 < self.next[queue]:
            return "fail"
        if number not in self.outcomes[queue]:
            return "hold"
        return "pass" if self.outcomes[queue][number] else "fail"

    def look(self) -> None:
        """Records the present verdict on the WAIT operation at which each modelled batch stands."""
        for batch in self.batches:
            if batch and batch.at < len(batch.operations):
                operation = batch.operations[batch.at]
                if operation.op == Op.WAIT:
                    batch.seen.add(self.verdict(operation))

    def past_waits(self, batch: Batch) -> None:
        """Moves a modelled batch beyond its WAIT operations that may have passed by now."""
        while batch.at < len(batch.operations) and batch.operations[batch.at].op == Op.WAIT:
            self.look()
            if "pass" not in batch.seen:
                return
            batch.at, batch.seen = batch.at + 1, set()

    async def tick(self, **inputs: int) -> None:
        """Runs one clock: sets the batch executor's inputs, checks its accesses and answers."""
        dut, r = self.dut, self.random
        self.clocks += 1
        for name in ("taken_i", "body_valid_i", "start_i"):
            getattr(dut, name).value = 0
        for name, value in inputs.items():
            getattr(dut, name).value = value
        due = [entry for entry in self.waiting if entry[0] <= self.clocks][:1]
        dut.answered_valid_i.value = len(due)
        if due:
            self.waiting.remove(due[0])
            _, queue, number, passed = due[0]
            dut.answered_i.value = (queue << 96 | r.randrange(1 << 32) << 64 | number) << 1 | passed
        data, error = self.access or (r.randrange(1 << 64), True)
        self.access = None
        dut.reg_rdata_i.value, dut.reg_error_i.value = data, int(error)
        dut.runs_i.value, dut.kernel_fault_i.value = self.runs, int(self.fault)
        dut.answer_ready_i.value = int(r.random() < self.ready)
        await Timer(1, "ns")
        self.look()
        if dut.reg_valid_o.value:
            self.accesses += 1
            queue = int(dut.reg_queue_o.value)
            batch = self.batches[queue]
            self.past_waits(batch)
            operation = batch.operations[batch.at]
            write = bool(dut.reg_write_o.value)
            assert operation.op == (Op.WRITE if write else Op.READ)
            assert operation.offset == int(dut.reg_offset_o.value)
            assert operation.log2_width == int(dut.reg_log2_width_o.value)
            batch.at, batch.seen = batch.at + 1, set()
            value = r.randrange(1 << 64)
            if write:
                assert operation.data == int(dut.reg_wdata_o.value)
            else:
                batch.data.append(value & (1 << (8 << operation.log2_width)) - 1)
            self.access = value, self.error and r.random() < 0.05
            if self.access[1]:
                self.failed = queue, batch.number
        answer = None
        if dut.answer_valid_o.value and dut.answer_ready_i.value:
            answer = int(dut.answer_o.value)
        await FallingEdge(dut.clk_i)
        if due:
            self.outcomes[queue_of(due[0])][due[0][2]] = due[0][3]
        if "taken_i" in inputs:
            self.next[self.taking] += 1
        if answer is not None:
            await self.check(answer)

    async def check(self, answer: int) -> None:
        """Compares the batch executor's answer to a batch, and the words read, with the model."""
        dut = self.dut
        answer >>= 128
        words_done, words = answer & 127, answer >> 7 & 127
        value, executed = answer >> 14 & (1 << 64) - 1, answer >> 78 & 0xFFFF
        status, kind = answer >> 94 & 0xFFFF, answer >> 110 & 0xFF
        number, epoch = answer >> 118 & (1 << 64) - 1, answer >> 182 & (1 << 32) - 1
        queue = answer >> 214
        batch = self.batches[queue]
        assert (kind, number, epoch) == (Kind.BATCH, batch.number, batch.epoch)
        self.past_waits(batch)
        if batch.at == len(batch.operations):
            assert (status, value) == (Status.OK, 0)
        else:
            wanted = {Status.WAIT: "fail", Status.AFTER: "after"}[status]
            assert wanted in batch.seen, batch.seen
            assert value == batch.at
        assert executed == batch.at
        assert words == sum(operation.op == Op.READ for operation in batch.operations)
        assert words_done == len(batch.data)
        got, kept, self.ready = [], self.ready, 0.0  # no other answer meanwhile
        for row in range((words_done + 1) // 2):
            dut.words_queue_i.value, dut.words_row_i.value = queue, row
            await self.tick()
            both = int(dut.words_o.value)
            got += [both >> 64, both & (1 << 64) - 1]
        self.ready = kept
        assert got[:words_done] == batch.data
        self.batches[queue] = None
        self.ended[status] = self.ended.get(status, 0) + 1
        passed = status == Status.OK
        self.waiting.append((self.clocks + self.random.randrange(60), queue, number, passed))

    def operation(self, queue: int, number: int) -> wire.Operation:
        """Makes a random batch operation, mostly legal."""
        r = self.random
        if r.random() < 0.8:
            width = r.choice((2, 3))
            offset = r.randrange(1 << 32) & -(1 << width)
            if r.random() < 0.5:
                return wire.Operation(Op.READ, width, offset)
            return wire.Operation(Op.WRITE, width, offset, r.randrange(1 << (8 << width)))
        if r.random() < 0.3:
            return wire.wait_runs(max(0, self.runs + r.randrange(-3, 3)))
        # For what comes later only to a lower queue, so that nothing waits in a circle.
        other = r.randrange(QUEUES)
        back = r.choice((0, 1, 2, 3, 5, 20, 62, 63, 64, 65, 66, 70))
        wanted = max(1, self.next[other] - back)
        if other >= queue:
            wanted = min(wanted, max(self.outcomes[other], default=1))
        if other > queue and wanted not in self.outcomes[other]:
            return wire.wait_runs(0)
        return wire.wait(other, min(wanted, number - 1) if other == queue else wanted)

    async def request(self, queue: int, operations: list[wire.Operation] | None) -> None:
        """Sends a batch to the batch executor, or announces a request that is no batch."""
        r = self.random
        number, epoch = self.next[queue], r.randrange(1 << 32)
        self.dut.place_i.value = queue << 96 | epoch << 64 | number
        self.taking = queue
        await self.tick(taken_i=1)
        if operations is None:
            due = self.clocks + r.randrange(30)
            self.waiting.append((due, queue, number, r.random() < 0.8))
            return
        for index, operation in enumerate(operations):
            row = int.from_bytes(operation.pack())
            await self.tick(body_valid_i=1, body_index_i=index, body_i=row)
        reads = sum(operation.op == Op.READ for operation in operations)
        self.batches[queue] = Batch(number, epoch, operations)
        await self.tick(start_i=1, blocks_i=len(operations), words_i=reads)


def queue_of(entry: tuple[int, int, int, bool]) -> int:
    """Returns the queue field of an answer that is still on its way."""
    return entry[1]


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def traffic(dut) -> None:
    """Random batches on all queues give the register accesses and answers of the test's model."""
    bench = Batches(dut, 1)
    await bench.begin()
    r = bench.random
    for turn in range(20000):
        queue = r.randrange(QUEUES)
        if bench.batches[queue] is None and not any(w[1] == queue for w in bench.waiting):
            number = bench.next[queue]
            count = r.choice((1, 1, 2, 3, 8, 64))
            operations = [bench.operation(queue, number) for _ in range(count)]
            operations = [op for op in operations if op.op != Op.WAIT or op.data or op.offset > 64]
            await bench.request(queue, None if r.random() < 0.3 or not operations else operations)
        else:
            await bench.tick()
        if r.random() < 0.05:
            bench.runs += not bench.fault
        bench.fault = turn % 1000 > 800
    bench.fault, bench.runs = True, bench.runs + 10
    for _ in range(3000):  # what waits for numbers that nobody spent gets them
        await bench.tick()
        if not any(bench.batches):
            break
        for queue in range(QUEUES):
            if not bench.batches[queue] and not any(w[1] == queue for w in bench.waiting):
                await bench.request(queue, None)
    assert not any(bench.batches)
    assert min(bench.ended[s] for s in (Status.OK, Status.WAIT, Status.AFTER)) > 10, bench.ended


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def an_operation_a_clock(dut) -> None:
    """The batch executor runs an operation per clock, and two clocks each while a batch waits."""
    bench = Batches(dut, 2)
    await bench.begin()
    bench.ready = 1.0
    writes = [wire.write(8 * n, n, 8) for n in range(64)]
    for waiting in (False, True):
        if waiting:
            await bench.request(1, [wire.wait(2, 5)])
        await bench.request(0, writes)
        start, count = bench.clocks, bench.accesses
        while bench.batches[0]:
            await bench.tick()
        assert bench.accesses - count == 64
        assert bench.clocks - start <= (2 + 128 if waiting else 2 + 64)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def errors(dut) -> None:
    """A register bus error stops the batch executor, which names the batch that caused it."""
    for seed in range(15):
        bench = Batches(dut, seed)
        if seed == 0:
            await bench.begin()
        bench.ready = 1.0
        for queue in range(QUEUES):
            reads = [wire.read(8 * n) for n in range(60)]
            await bench.request(queue, [wire.wait_runs(1), *reads])
        bench.error, bench.runs = True, 1
        while not bench.failed:
            await bench.tick()
        count = bench.accesses
        for _ in range(20):
            await bench.tick()
            assert dut.fatal_valid_o.value and not dut.answer_valid_o.value
        fatal = int(dut.fatal_o.value)
        assert (fatal >> 64 & 0xFF, fatal & (1 << 64) - 1) == bench.failed
        assert bench.accesses == count
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await bench.walk()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def cleared(dut) -> None:
    """A clear of the batch executor erases all operations, read data and outcomes of batches."""
    bench = Batches(dut, 3)
    await bench.begin()
    values = [bench.random.randrange(1 << 64) for _ in range(12)]
    await bench.request(0, [wire.write(64, value, 8) for value in values])
    await bench.request(1, [wire.read(64, 8)] * 20)
    for _ in range(20):
        await bench.tick()
    held = [value.to_bytes(8) for value in values]
    held += [value.to_bytes(8) for batch in bench.batches if batch for value in batch.data]
    dut.halt_i.value = 1
    await FallingEdge(dut.clk_i)
    for name in INPUTS:
        getattr(dut, name).value = 0
    dut.halt_i.value = dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await bench.walk()
    await FallingEdge(dut.clk_i)
    assert secrets.find(dut, held, 4) == []
    assert not dut.answer_valid_o.value and not dut.reg_valid_o.value


def test_guard_batch_executor() -> None:
    """Builds mae_guard_batch_executor for three queues and runs this file's tests on it."""
    run("mae_guard_batch_executor", parameters={"Queues": QUEUES}, visible=True)
