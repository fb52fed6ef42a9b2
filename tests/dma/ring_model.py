# SPDX-License-Identifier: Apache-2.0
"""What stands around mae_dma_ring in its test: host, memory, client, walkers and movers."""

import random

from cocotb.triggers import RisingEdge

from tests.dma.rings import (
    DST_LIST,
    INIT,
    IRQ,
    SRC_LIST,
    Completion,
    Ctrl,
    Desc,
    DmaStatus,
    Status,
    run_seed,
)
from tests.support import bench

SUB, COMP = 0x1234_5678_9000, 0xFEDC_BA98_7640
REFUSED = {77: Status.BAD_OP, 78: Status.BAD_KEY, 79: Status.BAD_LENGTH}  # by op, by the client
PART_STATUS = (Status.LIST_FETCH, Status.BAD_LENGTH, Status.READ_DECERR, Status.WRITE_SLVERR)
BAD_KINDS = 12


class Ring:
    """Host, memory, client, walkers and movers around the ring, a clock at a time."""

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
        self.write_errors: set[int] = set()  # completion indices that cannot be written
        self.clear()

    def clear(self) -> None:
        """The state of a card that was enabled just now."""
        self.todo: list[tuple[Desc, bool]] = []  # to be submitted; unreadable?
        self.sent: list[tuple[Desc, bool]] = []
        self.blocks: dict[int, tuple[bytes, bool]] = {}
        self.reads: list[list] = []
        self.offered: list[Desc] = []  # to the client, in order
        self.starts: list[tuple] = []
        self.running: dict[int, tuple[Desc, list]] = {}  # context: descriptor, part statuses
        self.parts: list[list[tuple]] = [[], [], [], []]  # (time, context, status, bytes)
        self.results: dict[int, tuple] = {}  # by cookie: (status, bytes) from the parts
        self.addresses: list[tuple] = []
        self.data: list[tuple] = []
        self.writes: list[tuple] = []  # (time, tag, index)
        self.comp: dict[int, bytes] = {}  # by place in the ring
        self.written = 0  # completions addressed
        self.responded = -1
        self.answered: set[int] = set()
        self.completions: list[Completion] = []
        self.read_ahead = 0
        self.acknowledged = False
        self.ready = {"ar": 0, "aw": 0, "w": 0}
        self.answering, self.answer = False, Status.OK
        self.drive()

    def status(self) -> DmaStatus:
        """The status output."""
        return DmaStatus.unpack(int(self.dut.status_o.value))

    async def step(self) -> None:
        """One clock: sample, check, then drive the next clock's inputs."""
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
            self.data.append((int(dut.w_data_o.value), int(dut.w_strb_o.value)))
        if self.addresses and self.data:
            self.land(self.addresses.pop(0), self.data.pop(0))
        self.host()
        self.drive()

    def sample_client(self) -> None:
        """What the client and the walkers are given."""
        dut = self.dut
        if int(dut.job_valid_o.value):
            desc = self.starts.pop(0)
            src, dst = int(dut.job_src_o.value), int(dut.job_dst_o.value)
            assert int(dut.job_ctx_o.value) == desc.context
            for word, addr, is_list, entries in (
                (src, desc.src, desc.flags & SRC_LIST, desc.src_entries),
                (dst, desc.dst, desc.flags & DST_LIST, desc.dst_entries),
            ):
                assert word == (
                    (int(bool(is_list)) << 112) | entries << 96 | addr << 32 | desc.length
                )
            for i, part in enumerate(self.parts):
                bad = self.rng.random() < 0.1
                status = PART_STATUS[i] if bad else Status.OK
                count = self.rng.randrange(desc.length + 1)
                at = self.clock + self.rng.randint(*self.job_clocks)
                part.append((at, desc.context, status, count))
                self.running[desc.context][1].append(status)
                if i == 3:
                    self.results[desc.cookie] = (
                        next((s for s in self.running[desc.context][1] if s), Status.OK),
                        count,
                    )
        assert not self.starts, "the walkers start a clock after the client"
        # The client looks at what is offered, and answers in a later clock.
        answering, self.answering = self.answering, False
        if int(dut.cfg_valid_o.value):
            desc = Desc.unpack(int(dut.cfg_desc_o.value).to_bytes(64, "little"))
            assert int(dut.cfg_ctx_o.value) == desc.context
            assert desc.context not in self.running, "the context is in use"
            if not answering:
                self.answering = not self.hold_client and self.rng.random() >= self.stall
                self.answer = REFUSED.get(desc.op, Status.OK)
                return
            self.offered.append(desc)
            if REFUSED.get(desc.op, Status.OK) == Status.OK:
                self.running[desc.context] = (desc, [])
                self.starts.append(desc)

    def land(self, address: tuple, data: tuple) -> None:
        """A completion was written: into its own 16 bytes, and not over one still there."""
        tag, addr = address
        index, size = self.written, 1 << self.ctrl.comp_log2
        assert addr == COMP + 16 * (index % size)
        lane = addr % self.bus_bytes
        assert data[1] == 0xFFFF << lane
        assert (index - len(self.completions)) < size, "the completion ring is overrun"
        self.comp[index % size] = (data[0] >> 8 * lane & 2**128 - 1).to_bytes(16, "little")
        self.writes.append((self.clock + self.rng.randint(*self.latency), tag, index))
        self.written += 1

    def host(self) -> None:
        """Submits while enabled and the ring has room, takes completions by their phase."""
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
        """Whether the host submits one more now."""
        return (len(self.sent) - head) % 65536 < size and self.rng.random() < 0.7

    def drive(self) -> None:
        """Inputs of the next clock."""
        dut, rng = self.dut, self.rng
        dut.ctrl_i.value = self.ctrl.pack()
        for name in self.ready:
            self.ready[name] = int(rng.random() >= self.stall)
            getattr(dut, f"{name}_ready_i").value = self.ready[name]
        dut.cfg_ready_i.value = int(self.answering)
        dut.cfg_status_i.value = self.answer
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
        valid = contexts = statuses = 0
        for i, part in enumerate(self.parts):
            due = [item for item in part if item[0] <= self.clock]
            if not due:
                continue
            item = rng.choice(due)
            part.remove(item)
            valid |= 1 << i
            contexts |= item[1] << 8 * i
            statuses |= item[2] << 8 * i
            if i == 3:
                dut.done_bytes_i.value = item[3]
            if not any(p[1] == item[1] for q in self.parts for p in q):
                del self.running[item[1]]
        dut.done_valid_i.value = valid
        dut.done_ctx_i.value = contexts
        dut.done_status_i.value = statuses

    def drive_reads(self) -> None:
        """A beat of a descriptor that is due."""
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
        """Until all that was submitted is completed."""
        end = self.clock + limit
        while self.todo or len(self.completions) < len(self.sent):
            await self.step()
            assert self.clock < end, f"hangs: {self.status()} {len(self.completions)}"

    def check(self) -> None:
        """Every descriptor has its completion, with the right contents, in a possible order."""
        by_index = {c.index: c for c in self.completions}
        assert sorted(by_index) == list(range(len(self.sent)))
        offered = []
        for index, (desc, bad) in enumerate(self.sent):
            got = by_index[index]
            turn = self.completions.index(got) >> self.ctrl.comp_log2
            status, count = expected(desc, bad, self.contexts), 0
            if status == Status.OK:
                offered.append(desc)
                status, count = REFUSED.get(desc.op), 0
                if status is None:
                    status, count = self.results[desc.cookie]
            want = Completion(
                0 if bad else desc.cookie,
                status,
                0 if bad else desc.context,
                index,
                count,
                1 - turn % 2,
            )
            assert got == want, f"{desc} {bad}"
        assert self.offered == offered, "the ring's order"
        for context in range(self.contexts):
            order = [c.index for c in self.completions if c.context == context and c.bytes]
            assert order == sorted(order), "jobs of a context overtook each other"


def expected(desc: Desc, bad: bool, contexts: int) -> Status:
    """The verdict before the client sees it, from the rules."""
    if bad:
        return Status.DESC_FETCH
    if any(desc.reserved) or desc.flags & 0xE0:
        return Status.BAD_OP
    if desc.context >= contexts:
        return Status.BAD_CONTEXT
    if desc.length == 0:
        return Status.BAD_LENGTH
    for flag, entries in ((SRC_LIST, desc.src_entries), (DST_LIST, desc.dst_entries)):
        if desc.flags & flag and not entries:
            return Status.BAD_LENGTH
    for flag, addr in ((SRC_LIST, desc.src), (DST_LIST, desc.dst)):
        if desc.flags & flag and addr % 16:
            return Status.LIST_FETCH
    return Status.OK


def random_desc(rng: random.Random, cookie: int, contexts: int, spoil: float) -> tuple[Desc, bool]:
    """A descriptor, perhaps bad in one of the possible ways; whether its read fails."""
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
    )
    bad = False
    if rng.random() < spoil:
        kind = rng.randrange(BAD_KINDS)
        if kind == 0:
            bad = True
        elif kind == 1:
            desc.length = 0
        elif kind == 2:
            desc.context = rng.randrange(contexts, 256)
        elif kind == 3:
            desc.flags |= 1 << rng.randrange(5, 8)
        elif kind in (4, 5):
            spoiled = bytearray(15)
            spoiled[rng.randrange(15)] = 1 << rng.randrange(8)
            desc.reserved = bytes(spoiled)
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
