# SPDX-License-Identifier: Apache-2.0
"""Models everything around mae_dma_ring_manager: host, memory, client, walkers, engines."""

import dataclasses
import random
from itertools import pairwise

from cocotb.triggers import RisingEdge

from tests.dma.rings import (
    COMPLETION_BYTES,
    DST_LIST,
    FINAL,
    INIT,
    IRQ,
    SRC_LIST,
    Completion,
    Ctrl,
    Desc,
    DmaStatus,
    Status,
    pack_fields,
    run_seed,
)
from tests.support import bench

SUB, COMP = 0x1234_5678_9000, 0xFEDC_BA98_7640
REFUSED = {77: Status.BAD_OP, 78: Status.BAD_KEY, 79: Status.BAD_LENGTH}  # by op, by the client
PART_STATUS = (
    Status.LIST_FETCH,
    Status.BAD_LENGTH,
    Status.READ_DECERR,
    Status.WRITE_SLVERR,
    Status.BAD_TAG,
)
CLIENT = 4  # its part, behind the walkers' and the movers'
BAD_KINDS = 12


@dataclasses.dataclass
class Running:
    """Holds a job that runs in the ring manager: its descriptor and what has been reported."""

    desc: Desc
    reports: int
    sinks: int
    waiting: set[int] = dataclasses.field(default_factory=set)  # parts that have not reported
    statuses: list[Status] = dataclasses.field(default_factory=lambda: [Status.OK] * 5)
    tag: bytes = bytes(16)
    bytes: int = 0
    scrubbed: bool = False

    @property
    def wrong(self) -> bool:
        """Returns true if the ring manager must zero the job's destination (wrong tag)."""
        exists = self.desc.length and not self.sinks
        return bool(exists) and self.statuses[CLIENT] == Status.BAD_TAG

    def result(self) -> tuple[Status, int, bytes]:
        """Returns the completion that the ring manager must write: status, byte count, tag."""
        status = next((s for s in self.statuses if s), Status.OK)
        return status, self.bytes, self.tag if status == Status.OK else bytes(16)


class Ring:
    """Models host, memory, client, list walkers and DMA engines around the ring manager."""

    def __init__(self, dut, seed: int, sub_log2=3, comp_log2=3, latency=(1, 40), stall=0.3) -> None:
        self.dut, self.rng, self.latency, self.stall = (
            dut,
            random.Random(run_seed(seed)),
            latency,
            stall,
        )
        self.contexts = bench.parameters()["Contexts"]
        self.beat_bytes = len(dut.r_data_i) // 8
        self.bus_bytes = len(dut.w_strb_o)
        self.ctrl = Ctrl(
            sub_base=SUB, sub_log2=sub_log2, comp_base=COMP, comp_log2=comp_log2, irq_enable=1
        )
        self.job_clocks = (1, 60)
        self.hold_client = False
        self.clock = 0
        self.host_stall = 0.5
        self.overtaken = 0  # descriptors that were offered before an older one
        self.write_errors: set[int] = set()  # completion indices that cannot be written
        self.clear()

    def clear(self) -> None:
        """Clears the model: empty rings and no jobs, as after the ring manager is enabled."""
        self.todo: list[tuple[Desc, bool]] = []  # to be submitted; unreadable?
        self.sent: list[tuple[Desc, bool]] = []
        self.blocks: dict[int, tuple[bytes, bool]] = {}
        self.reads: list[list] = []
        self.offered: list[Desc] = []  # to the client, in order
        self.starts: list[Running] = []
        self.scrubs: list[Running] = []  # to be walked again
        self.running: dict[int, Running] = {}  # by context
        self.parts: list[list[tuple]] = [[], [], [], [], []]  # (time, context)
        self.results: dict[int, Running] = {}  # by cookie
        self.scrubbed = 0
        self.addresses: list[tuple] = []
        self.beats: list[tuple] = []  # of a burst that is not complete
        self.data: list[list[tuple]] = []
        self.writes: list[tuple] = []  # (time, tag, index)
        self.comp: dict[int, bytes] = {}  # by place in the ring
        self.written = 0  # completions addressed
        self.responded = -1
        self.answered: set[int] = set()
        self.completions: list[Completion] = []
        self.read_ahead = 0
        self.acknowledged = False
        self.ready = {"ar": 0, "aw": 0, "w": 0}
        self.answering, self.answer, self.accept = False, Status.OK, (0, 0)
        self.scrub_ready = 0
        self.hold_scrubs = False
        self.drive()

    def status(self) -> DmaStatus:
        """Returns the fields of the ring manager's status output."""
        return DmaStatus.unpack(int(self.dut.status_o.value))

    async def step(self) -> None:
        """Runs one clock of the ring manager: checks its outputs, then sets the next inputs."""
        dut = self.dut
        await RisingEdge(dut.clk_i)
        self.clock += 1
        self.sample_client()
        if self.ready["ar"] and int(dut.ar_valid_o.value):
            word = int(dut.ar_o.value)
            tag, block = word >> 58, word & (1 << 58) - 1
            assert all(tag != read[1] for read in self.reads)
            fails = self.rng.randrange(64 // self.beat_bytes)  # where, if it does
            due = self.clock + self.rng.randint(*self.latency)
            self.reads.append([due, tag, block, 0, fails])
            self.read_ahead = max(self.read_ahead, len(self.reads))
        if self.ready["aw"] and int(dut.aw_valid_o.value):
            self.addresses.append((int(dut.aw_tag_o.value), int(dut.aw_addr_o.value)))
        if self.ready["w"] and int(dut.w_valid_o.value):
            self.beats.append((int(dut.w_data_o.value), int(dut.w_strb_o.value)))
            if int(dut.w_last_o.value):
                self.data.append(self.beats)
                self.beats = []
        if self.addresses and self.data:
            self.land(self.addresses.pop(0), self.data.pop(0))
        self.host()
        self.drive()

    def sample_client(self) -> None:
        """Checks the jobs that the ring manager starts in walkers, client and zero fill."""
        dut = self.dut
        started = int(dut.job_valid_o.value)
        if started:
            job = (self.starts if started == 3 else self.scrubs).pop(0)
            assert int(dut.job_ctx_o.value) == job.desc.context
            self.start(job, started)
        assert not self.starts, "the walkers start a clock after the client"
        assert not self.scrubs, "the walker starts a clock after the scrubber"
        if int(dut.scrub_valid_o.value) and self.scrub_ready:
            job = self.running[int(dut.scrub_ctx_o.value)]
            assert job.wrong and not job.scrubbed and not job.waiting
            assert int(dut.scrub_bytes_o.value) == job.desc.length
            job.scrubbed = True
            self.scrubbed += 1
            self.scrubs.append(job)
        # The client looks at what is offered, and answers in a later clock.
        answering, self.answering = self.answering, False
        if int(dut.cfg_valid_o.value):
            desc = Desc.unpack(int(dut.cfg_desc_o.value).to_bytes(64, "little"))
            assert int(dut.cfg_ctx_o.value) == desc.context
            assert desc.context not in self.running, "the context is in use"
            if not answering:
                self.answering = not self.hold_client and self.rng.random() >= self.stall
                self.answer = REFUSED.get(desc.op, Status.OK)
                self.accept = self.rng.randrange(2), int(self.rng.random() < 0.3)
                return
            self.offered.append(desc)
            if REFUSED.get(desc.op, Status.OK) == Status.OK:
                self.running[desc.context] = Running(desc, *self.accept)
                self.starts.append(self.running[desc.context])

    def start(self, job: Running, started: int) -> None:
        """Asserts the ring manager's start of the list walkers and plans when each part reports."""
        dut, desc = self.dut, job.desc
        for side, word, addr, flag, entries in (
            (1, dut.job_src_o, desc.src, SRC_LIST, desc.src_entries),
            (2, dut.job_dst_o, desc.dst, DST_LIST, desc.dst_entries),
        ):
            if not started & side:
                continue
            if side == 2 and job.sinks:
                assert int(word.value) == 0
            else:
                is_list = int(bool(desc.flags & flag and desc.length))
                keeps = int(started != 3)  # an overwriting goes on through an abort
                want = [(keeps, 1), (is_list, 1), (entries, 16), (addr, 64), (desc.length, 32)]
                assert int(word.value) == pack_fields(want)
        parts = [0, 1, 2, 3] if started == 3 else [1, 3]
        if job.reports and started == 3:
            parts.append(CLIENT)
            job.tag = self.rng.randbytes(16)
        for i in parts:
            bad = self.rng.random() < (0.5 if i == CLIENT else 0.1)
            job.statuses[i] = PART_STATUS[i] if bad else Status.OK
            at = self.clock + self.rng.randint(*self.job_clocks)
            self.parts[i].append((at, desc.context))
        job.waiting = set(parts)
        job.bytes = self.rng.randrange(desc.length + 1)
        self.results[desc.cookie] = job

    def land(self, address: tuple, beats: list[tuple]) -> None:
        """Asserts place and size of a completion written by the ring manager, and stores it."""
        tag, addr = address
        index, size = self.written, 1 << self.ctrl.comp_log2
        assert addr == COMP + COMPLETION_BYTES * (index % size)
        assert len(beats) == max(1, COMPLETION_BYTES // self.bus_bytes)
        lane, count = addr % self.bus_bytes, min(COMPLETION_BYTES, self.bus_bytes)
        assert all(strobe == (1 << count) - 1 << lane for _, strobe in beats)
        words = [(data >> 8 * lane) % (1 << 8 * count) for data, _ in beats]
        assert (index - len(self.completions)) < size, "the completion ring is overrun"
        self.comp[index % size] = b"".join(word.to_bytes(count, "little") for word in words)
        self.writes.append((self.clock + self.rng.randint(*self.latency), tag, index))
        self.written += 1

    def host(self) -> None:
        """Submits queued descriptors and reads completions, as the ring manager's host."""
        rng, ctrl = self.rng, self.ctrl
        size = 1 << ctrl.sub_log2
        head = self.status().sub_head
        while ctrl.enable and self.todo and self.room(head, size):
            desc, bad = self.todo.pop(0)
            place = len(self.sent) % size
            self.blocks[(SUB >> 6) + place] = (desc.pack(), bad)
            self.sent.append((desc, bad))
        ctrl.sub_tail = len(self.sent) % 65536
        while rng.random() >= self.host_stall:
            taken = len(self.completions)
            place, turn = taken % (1 << ctrl.comp_log2), taken >> ctrl.comp_log2
            data = self.comp.get(place)
            if data is None or Completion.unpack(data).phase != 1 - turn % 2:
                break
            self.completions.append(Completion.unpack(data))
        ctrl.comp_head = len(self.completions) % 65536

    def room(self, head: int, size: int) -> bool:
        """Returns true if the submission ring has room and the host model chooses to submit."""
        return (len(self.sent) - head) % 65536 < size and self.rng.random() < 0.7

    def drive(self) -> None:
        """Sets all inputs of the ring manager for the next clock."""
        dut, rng = self.dut, self.rng
        dut.ctrl_i.value = self.ctrl.pack()
        for name in self.ready:
            self.ready[name] = int(rng.random() >= self.stall)
            getattr(dut, f"{name}_ready_i").value = self.ready[name]
        dut.cfg_ready_i.value = int(self.answering)
        dut.cfg_status_i.value = self.answer
        dut.cfg_accept_i.value = 2 * self.accept[0] + self.accept[1]
        self.scrub_ready = int(not self.hold_scrubs and rng.random() >= self.stall)
        dut.scrub_ready_i.value = self.scrub_ready
        self.drive_reads()
        dut.b_valid_i.value = 0
        due = [write for write in self.writes if write[0] <= self.clock]
        if due and rng.random() >= self.stall:
            write = rng.choice(due)
            self.writes.remove(write)
            self.answered.add(write[2])
            dut.b_valid_i.value = 1
            dut.b_tag_i.value = write[1]
            dut.b_error_i.value = int(write[2] in self.write_errors)
        self.drive_ends()

    def drive_ends(self) -> None:
        """Sends the due reports of walkers, engines and client to the ring manager."""
        dut, rng = self.dut, self.rng
        valid = contexts = statuses = 0
        dut.report_valid_i.value = 0
        for i, part in enumerate(self.parts):
            due = [item for item in part if item[0] <= self.clock]
            if not due:
                continue
            item = rng.choice(due)
            part.remove(item)
            context = item[1]
            job = self.running[context]
            status = job.statuses[i]
            if i == CLIENT:
                dut.report_valid_i.value = 1
                tag = int.from_bytes(job.tag, "little")
                dut.report_i.value = pack_fields([(context, 8), (status, 8), (tag, 128)])
            else:
                valid |= 1 << i
                contexts |= context << 8 * i
                statuses |= status << 8 * i
            if i == 3:
                dut.done_bytes_i.value = job.bytes
            job.waiting.remove(i)
            if not job.waiting and (job.scrubbed or not job.wrong):
                del self.running[context]
        dut.done_valid_i.value = valid
        dut.done_ctx_i.value = contexts
        dut.done_status_i.value = statuses

    def drive_reads(self) -> None:
        """Returns one due beat of a descriptor that the ring manager reads."""
        dut, rng = self.dut, self.rng
        dut.r_valid_i.value = 0
        due = [read for read in self.reads if read[0] <= self.clock]
        if not due or rng.random() < self.stall:
            return
        read = rng.choice(due)
        _, tag, block, beat, _ = read
        data, bad = self.blocks[block]
        last = beat == 64 // self.beat_bytes - 1
        dut.r_valid_i.value = 1
        dut.r_tag_i.value = tag
        dut.r_beat_i.value = beat
        data = data[beat * self.beat_bytes : (beat + 1) * self.beat_bytes]
        dut.r_data_i.value = int.from_bytes(data, "little")
        dut.r_error_i.value = int(bad and beat == read[4])
        dut.r_last_i.value = int(last)
        read[3] += 1
        if last:
            self.reads.remove(read)

    async def run(self, limit: int = 30000) -> None:
        """Runs clocks until the ring manager has completed all descriptors."""
        end = self.clock + limit
        while self.todo or len(self.completions) < len(self.sent):
            await self.step()
            assert self.clock < end, f"hangs: {self.status()} {len(self.completions)}"

    def check(self) -> None:
        """Asserts one right completion for each descriptor, in an order that is allowed."""
        by_index = {c.index: c for c in self.completions}
        assert sorted(by_index) == list(range(len(self.sent)))
        offered = []
        for index, (desc, bad) in enumerate(self.sent):
            got = by_index[index]
            turn = self.completions.index(got) >> self.ctrl.comp_log2
            status, count, tag = expected(desc, bad, self.contexts), 0, bytes(16)
            if status == Status.OK:
                offered.append(desc)
                status = REFUSED.get(desc.op)
                if status is None:
                    job = self.results[desc.cookie]
                    status, count, tag = job.result()
                    assert job.scrubbed == job.wrong
            want = Completion(
                0 if bad else desc.cookie,
                status,
                0 if bad else desc.context,
                index,
                count,
                1 - turn % 2,
                tag,
            )
            assert got == want, f"{desc} {bad}"
        given = {
            context: [d.cookie for d in self.offered if d.context == context]
            for context in range(self.contexts)
        }
        wanted = {
            context: [d.cookie for d in offered if d.context == context]
            for context in range(self.contexts)
        }
        assert given == wanted, "the ring's order in each context"
        self.overtaken += sum(a.cookie > b.cookie for a, b in pairwise(self.offered))
        for context in range(self.contexts):
            order = [c.index for c in self.completions if c.context == context and c.bytes]
            assert order == sorted(order), "jobs of a context overtook each other"


def expected(desc: Desc, bad: bool, contexts: int) -> Status:
    """Returns the status with which the ring manager must accept or refuse a descriptor."""
    if bad:
        return Status.DESC_FETCH
    if desc.record_high or desc.flags & 0xC0:
        return Status.BAD_OP
    if desc.context >= contexts:
        return Status.BAD_CONTEXT
    for flag, entries in ((SRC_LIST, desc.src_entries), (DST_LIST, desc.dst_entries)):
        if desc.flags & flag and not entries:
            return Status.BAD_LENGTH
    for flag, addr in ((SRC_LIST, desc.src), (DST_LIST, desc.dst)):
        if desc.flags & flag and addr % 16:
            return Status.LIST_FETCH
    return Status.OK


def random_desc(rng: random.Random, cookie: int, contexts: int, spoil: float) -> tuple[Desc, bool]:
    """Returns a random descriptor for the ring manager, illegal with probability ``spoil``."""
    flags = rng.choice((0, INIT | IRQ, SRC_LIST, DST_LIST, SRC_LIST | DST_LIST | IRQ))
    desc = Desc(
        cookie=cookie,
        context=rng.randrange(contexts),
        src=rng.getrandbits(64) & ~15,
        dst=rng.getrandbits(64) & ~15,
        length=rng.randrange(1, 2**32),
        flags=flags,
        key_slot=rng.randrange(256),
        tweak_slot=rng.randrange(256),
        src_entries=rng.randrange(1, 65536),
        dst_entries=rng.randrange(1, 65536),
        iv=rng.randbytes(16),
        phase=rng.randrange(256),
        tag_bytes=rng.randrange(256),
        nonce=rng.randbytes(12),
    )
    desc.flags |= FINAL * rng.randrange(2)
    if rng.random() < 0.1:
        desc.length = 0
    bad = False
    if rng.random() < spoil:
        kind = rng.randrange(BAD_KINDS)
        if kind == 0:
            bad = True
        elif kind in (1, 2):
            desc.context = rng.randrange(contexts, 256)
        elif kind == 3:
            desc.flags |= 1 << rng.randrange(6, 8)
        elif kind in (4, 5):
            desc.record_high = 1 << rng.randrange(8)
        elif kind == 6:
            desc.flags, desc.src_entries = SRC_LIST, 0
        elif kind == 7:
            desc.flags, desc.dst_entries = DST_LIST, 0
        elif kind == 8:
            desc.flags, desc.src = SRC_LIST, desc.src | rng.randrange(1, 16)
        elif kind == 9:
            desc.flags, desc.dst = DST_LIST, desc.dst | rng.randrange(1, 16)
        else:
            desc.op = rng.choice(tuple(REFUSED))
    return desc, bad
