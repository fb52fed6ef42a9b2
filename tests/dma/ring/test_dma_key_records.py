# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_key_records: each descriptor leaves with a slot that holds its record's key."""

import dataclasses
import random

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from tests.dma.rings import FINAL, RECORD, Desc
from tests.support import bench
from tests.support.stream import start

CTR, GCM = 5, 8
NO_SLOT = 255
BASE, OTHER = 0x5000, 0x7000  # of two tables, / 64
RECORDS = 300
INPUTS = """start_i aborting_i table_i in_valid_i in_desc_i in_error_i in_index_i out_ready_i
accept_i refuse_i job_slot_i job_ctx_i report_i report_ctx_i finish_i finish_ctx_i ar_ready_i
r_valid_i r_tag_i r_beat_i r_data_i r_error_i r_last_i write_ready_i""".split()


def record(key: bytes, valid: bytes = b"MKEY") -> bytes:
    """Packs a key record."""
    return key.ljust(32, b"\0") + valid + len(key).to_bytes(4, "little") + bytes(24)


@dataclasses.dataclass
class Job:
    """Holds a descriptor on its way: what it names, the slot that it got, clocks to its end."""

    desc: Desc
    index: int
    key: bytes | None  # None: there is no such record
    plain: bool
    slot: int = NO_SLOT
    clocks: int = 0
    reported: bool = False


class Around:
    """Models what is around mae_dma_key_records: descriptors, memory, key slots and jobs."""

    def __init__(self, dut, seed: int) -> None:
        self.dut, self.rng = dut, random.Random(seed)
        p = bench.parameters()
        self.first, self.count, self.contexts = p["FirstSlot"], p["RecordSlots"], p["Contexts"]
        draw = self.rng.randbytes
        self.memory = {
            base + i: record(draw(self.rng.choice((16, 24, 32))))
            for base in (BASE, OTHER)
            for i in range(RECORDS)
        }
        self.base, self.command = BASE, 0
        self.unknown: set[int] = set()  # bad otherwise than by the valid word
        self.slots: dict[int, bytes] = {}
        self.reads: list[list[int]] = []  # clocks to the answer, tag, block
        self.todo: list[Desc] = []
        self.waiting: list[Job] = []
        self.left: list[Job] = []  # out of the module, not accepted
        self.running: dict[int, Job] = {}
        self.done: list[Job] = []
        self.index, self.clock, self.most_reads, self.latency = 0, 0, 0, (3, 60)
        self.messages: dict[int, int] = {}  # slots of unfinished messages, by context
        self.pending: dict[int, int] = {}  # their records, as queued
        self.stays = True
        self.forgetting = 0
        self.no_reads = False
        self.aborting = self.offering = self.hold_jobs = False

    def key_of(self, desc: Desc) -> bytes | None:
        """Returns the key that a descriptor names, None if there is no such."""
        number = desc.record_high << 8 | desc.key_slot
        found = self.memory.get(self.base + number, b"")
        if number >= RECORDS or number in self.unknown or found[32:36] != b"MKEY":
            return None
        return found[: int.from_bytes(found[36:40], "little")]

    def write(self, word: int) -> None:
        """Carries out a write to a key slot, which no running job may use."""
        key = (word & (1 << 256) - 1).to_bytes(32, "little")
        size, erase, slot = 16 + 8 * (word >> 256 & 3), word >> 258 & 1, word >> 259
        assert self.first <= slot < self.first + self.count
        users = [] if self.aborting else [*self.left, *self.running.values()]
        assert all(job.slot != slot for job in users), "in use"
        self.slots[slot] = b"" if erase else key[:size]

    def leave(self, word: int, index: int) -> None:
        """Checks a descriptor that leaves the module."""
        job, desc = self.waiting.pop(0), Desc.unpack(word.to_bytes(64, "little"))
        assert index == job.index and desc.cookie == job.desc.cookie, "order"
        job.slot = NO_SLOT
        if job.plain:
            wanted = job.desc.key_slot if job.desc.key_slot < self.first else NO_SLOT
            assert desc.key_slot == wanted and not desc.flags & RECORD
        elif not self.aborting:
            assert bool(desc.flags & RECORD) == (job.key is None), job
            assert not desc.record_high
            if job.key is None:
                assert desc.key_slot == NO_SLOT
        if not desc.flags & RECORD and not job.plain:
            job.slot = desc.key_slot
        before = self.messages.pop(job.desc.context, None)
        message = job.desc.op == GCM and job.slot != NO_SLOT
        if message and job.desc.flags & FINAL and before and self.stays:
            assert job.slot == before, "the message's slot has changed"
        if message and not job.desc.flags & FINAL:
            self.messages[job.desc.context] = job.slot
        self.left.append(job)

    async def step(self) -> None:
        """Advances one clock: drives random inputs, checks outputs."""
        dut, rng = self.dut, self.rng
        self.clock += 1
        dut.table_i.value = self.base << 35 | RECORDS << 18 | self.command
        dut.aborting_i.value = self.aborting
        self.offering = self.offering or (bool(self.todo) and rng.random() < 0.8)
        dut.in_valid_i.value = self.offering
        if self.offering:
            dut.in_desc_i.value = int.from_bytes(self.todo[0].pack(), "little")
            dut.in_index_i.value = self.index
        out_ready, ar_ready, write_ready = (rng.random() < 0.7 for _ in range(3))
        ar_ready = ar_ready and not self.no_reads
        dut.out_ready_i.value, dut.ar_ready_i.value = out_ready, ar_ready
        dut.write_ready_i.value = write_ready
        answer = next((read for read in self.reads if read[0] <= 0), None)
        dut.r_valid_i.value = answer is not None
        if answer:
            dut.r_tag_i.value, dut.r_last_i.value = answer[1], 1
            dut.r_data_i.value = int.from_bytes(self.memory.get(answer[2], bytes(64)), "little")
            dut.r_error_i.value = answer[2] not in self.memory
            self.reads.remove(answer)
        begins = next((j for j in self.left if j.desc.context not in self.running), None)
        refused = begins and (begins.key is None or self.aborting or rng.random() < 0.1)
        dut.accept_i.value, dut.refuse_i.value = bool(begins) and not refused, bool(refused)
        if begins:
            dut.job_slot_i.value, dut.job_ctx_i.value = begins.slot, begins.desc.context
        ends = [] if self.hold_jobs else [j for j in self.running.values() if j.clocks <= 0]
        reports = next((j for j in ends if j.desc.op == GCM and not j.reported), None)
        finishes = next((j for j in ends if j.desc.op != GCM or j.reported), None)
        dut.report_i.value, dut.finish_i.value = bool(reports), bool(finishes)
        dut.report_ctx_i.value = reports.desc.context if reports else 0
        dut.finish_ctx_i.value = finishes.desc.context if finishes else 0

        await ReadOnly()
        self.forgetting = int(dut.forgetting_o.value)
        taken = self.offering and int(dut.in_ready_o.value)
        leaves = out_ready and int(dut.out_valid_o.value)
        out = (int(dut.out_desc_o.value), int(dut.out_index_o.value)) if leaves else None
        ar = int(dut.ar_o.value) if ar_ready and int(dut.ar_valid_o.value) else None
        write = int(dut.write_o.value) if write_ready and int(dut.write_valid_o.value) else None
        if not int(dut.write_valid_o.value):
            assert int(dut.write_o.value) & (1 << 256) - 1 == 0, "a key stays"
        await RisingEdge(dut.clk_i)

        if begins:
            self.left.remove(begins)
            if refused:
                self.done.append(begins)
            else:
                begins.clocks = rng.randrange(2, 60)
                self.running[begins.desc.context] = begins
        if reports:
            reports.reported, reports.slot = True, NO_SLOT  # the slot may be replaced from now on
        if finishes:
            self.done.append(self.running.pop(finishes.desc.context))
        if write is not None:
            self.write(write)
        if out:
            self.leave(*out)
        if taken:
            desc = self.todo.pop(0)
            plain, self.offering = not desc.flags & RECORD, False
            key = b"" if plain else self.key_of(desc)
            self.waiting.append(Job(desc, self.index, key, plain))
            self.index = (self.index + 1) % 65536
        for read in self.reads:
            read[0] -= 1
        if ar is not None:
            self.reads.append([rng.randint(*self.latency), ar >> 58, ar & (1 << 58) - 1])
        self.most_reads = max(self.most_reads, len(self.reads))
        for job in [*self.left, *self.running.values()]:
            job.clocks -= 1
            if job.slot != NO_SLOT and not self.aborting:
                assert self.slots.get(job.slot) == job.key, (job, self.slots)

    async def run(self, most: int = 40000) -> None:
        """Steps until all descriptors have left and all jobs have ended."""
        limit = self.clock + most
        while self.todo or self.waiting or self.left or self.running:
            await self.step()
            assert self.clock < limit, "hangs"

    async def settle(self) -> None:
        """Steps until nothing is being forgotten."""
        for _ in range(2000):
            await self.step()
            if not self.forgetting:
                return
        raise AssertionError("forgetting never ends")

    def desc(self, number: int, context: int, op: int = CTR, flags: int = RECORD) -> Desc:
        """Makes a descriptor that names a record."""
        return Desc(self.rng.getrandbits(32), context, 0, 0, 16, op=op, flags=flags,
                    key_slot=number & 255, record_high=number >> 8)  # fmt: skip

    def fill(self, count: int, numbers: int = RECORDS) -> None:
        """Queues descriptors of random records, messages in two jobs and plain descriptors."""
        rng = self.rng
        for _ in range(count):
            number, context = rng.randrange(numbers), rng.randrange(self.contexts)
            kind, begun = rng.random(), self.pending.pop(context, None)
            if kind < 0.2:
                self.todo.append(self.desc(rng.choice((0, 3, self.first, 77)), context, flags=0))
            elif kind < 0.6 and begun is None:
                self.pending[context] = number
                self.todo.append(self.desc(number, context, GCM))
            elif kind < 0.6:
                self.todo.append(self.desc(begun, context, GCM, RECORD | FINAL))
            else:
                self.todo.append(self.desc(number, context))


async def begin(dut, seed: int) -> Around:
    """Resets mae_dma_key_records; returns the model around it with its table in force."""
    await start(dut, **{name: 0 for name in INPUTS})
    around = Around(dut, seed)
    for _ in range(6):
        await around.step()
    return around


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def right_keys(dut) -> None:
    """Jobs of few and of many records find their keys in their slots until they end."""
    for seed, numbers in enumerate((3, 12, RECORDS)):
        around = await begin(dut, seed)
        around.fill(150, numbers)
        await around.run()
        assert len(around.done) >= 150
        assert around.most_reads > 1 or numbers < RECORDS


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def bad_records(dut) -> None:
    """Records that are invalid, unreadable or beyond the table fail, others beside them do not."""
    around = await begin(dut, 5)
    for number in range(0, RECORDS, 3):
        around.memory[BASE + number] = record(bytes(16), b"MKEX")
    around.memory[BASE + 1] = record(bytes(16))[:-1] + b"\1"
    around.memory[BASE + 4] = record(bytes(20))
    del around.memory[BASE + 2]
    around.memory[BASE + RECORDS] = record(bytes(16))
    around.unknown = {1, 2, 4}
    around.fill(150)
    around.todo += [around.desc(number, 0) for number in (1, 2, 4, RECORDS, 65535)]
    await around.run()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def forgets(dut) -> None:
    """A forgotten record's key, or a table's, leaves no slot; the new one is read."""
    around = await begin(dut, 6)
    around.stays = False
    for number in (8, 9):
        around.memory[BASE + number] = record(bytes(16), b"MKEX")
    for turn in range(12):
        around.fill(30, 10)
        await around.run()
        everything, number = turn % 3 == 0, around.rng.randrange(8)
        old = [around.memory[BASE + i][:32] for i in (range(8) if everything else (number,))]
        for i in range(8) if everything else (number,):
            around.memory[BASE + i] = record(around.rng.randbytes(32))
        around.command = 1 << 17 | everything << 16 | number
        await around.step()
        around.command = 0
        await around.settle()
        held = [key.ljust(32, b"\0") for key in around.slots.values() if key]
        assert not set(held) & set(old), "a forgotten key is in a slot"


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def another_table(dut) -> None:
    """A table that changes while descriptors wait takes effect behind them."""
    around = await begin(dut, 7)
    around.stays = False
    for turn in range(6):
        around.fill(40)
        for _ in range(around.rng.randrange(20, 200)):
            await around.step()
        around.no_reads = True  # records of the old table are still to be read
        for _ in range(12):
            await around.step()
        around.base, around.no_reads = (OTHER if turn % 2 == 0 else BASE), False
        await around.run()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def aborts(dut) -> None:
    """An abort lets all descriptors leave at once; what comes after it is right again."""
    around = await begin(dut, 8)
    around.stays = False
    around.latency = (100, 300)
    for turn in range(6):
        around.fill(20)
        for _ in range(10 + 40 * turn):
            await around.step()
        around.aborting = True
        await around.run(2000)
        while not int(dut.quiet_o.value):
            await around.step()
        around.aborting = False
        dut.start_i.value = 1
        await around.step()
        dut.start_i.value = 0
        around.fill(20)
        await around.run()


def test_dma_key_records() -> None:
    """Builds mae_dma_key_records with few slots, and runs this file's tests."""
    bench.run(
        "mae_dma_key_records",
        parameters={"RecordSlots": 5, "FirstSlot": 6, "Contexts": 4, "Depth": 4, "KeptOp": GCM},
    )
