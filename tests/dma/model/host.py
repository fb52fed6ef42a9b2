# SPDX-License-Identifier: Apache-2.0
"""Models the host of mae_dma: fills the submission ring and reads the completion ring."""

import random

from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge

from tests.dma.rings import (
    COMPLETION_BYTES,
    DESC_BYTES,
    DST_LIST,
    SRC_LIST,
    Completion,
    Ctrl,
    Desc,
    DmaStatus,
    Status,
    entry,
    run_seed,
    split,
    written,
)
from tests.support import bench
from tests.support.axi_memory import AxiMemory
from tests.support.stream import start

BASE = 0x7_0000_0000
SUB, COMP, LISTS, DATA = BASE + 0x10000, BASE + 0x20000, BASE + 0x30000, BASE + 0x80000
MEMORY_BYTES = 1 << 22


class Host:
    """Models mae_dma's host: its memory, both rings, and the expected memory contents."""

    def __init__(
        self, dut: SimHandleBase, seed: int, sub_log2: int = 5, comp_log2: int = 5
    ) -> None:
        self.dut = dut
        self.random = random.Random(run_seed(seed))
        self.ctrl = Ctrl(sub_base=SUB, sub_log2=sub_log2, comp_base=COMP, comp_log2=comp_log2)
        self.memory: AxiMemory | None = None
        self.contexts = int(bench.parameters()["Contexts"])
        self.next_list, self.next_data = LISTS, DATA
        self.restart()

    def restart(self) -> None:
        """Clears both rings of the host model, so that mae_dma can be enabled again."""
        self.waiting: list[Desc] = []
        self.sent: list[Desc] = []
        self.completions: list[Completion] = []
        self.ctrl.sub_tail = self.ctrl.comp_head = 0
        self.ctrl.enable = 1
        if self.memory:
            self.memory.write(COMP, bytes(COMPLETION_BYTES << self.ctrl.comp_log2))

    @classmethod
    async def begin(
        cls,
        dut: SimHandleBase,
        seed: int = 1,
        sub_log2: int = 5,
        comp_log2: int = 5,
        **memory: object,
    ) -> "Host":
        """Resets mae_dma with a host model of random memory and enables the rings."""
        host = cls(dut, seed, sub_log2, comp_log2)
        await start(dut, clear_i=0, ctrl_i=0, irq_ack_i=0, r_valid_i=0, b_valid_i=0)
        host.memory = AxiMemory(
            dut, MEMORY_BYTES, base=BASE, seed=run_seed(seed), unique_ids=True, **memory
        )
        host.memory.data[:] = host.random.randbytes(MEMORY_BYTES)
        host.restart()
        host.memory.start()
        return host

    def status(self) -> DmaStatus:
        """Returns the fields of mae_dma's status output."""
        return DmaStatus.unpack(int(self.dut.status_o.value))

    def place(self, length: int, align: int = 1) -> int:
        """Allocates host memory at an aligned address, after a random gap."""
        addr = self.next_data + self.random.randrange(1, 200)
        addr = -(-addr // align) * align
        self.next_data = addr + length
        assert self.next_data < BASE + MEMORY_BYTES, "the test's memory is full"
        return addr

    def make_list(self, lengths: list[int]) -> tuple[int, list[tuple[int, int]]]:
        """Allocates buffers and writes a scatter-gather list of them; returns both addresses."""
        pieces = [(self.place(n), n) for n in lengths]
        return self.write_list(pieces), pieces

    def write_list(self, pieces: list[tuple[int, int]]) -> int:
        """Writes a scatter-gather list to host memory; returns its address."""
        addr = self.next_list + 16 * self.random.randrange(9)
        self.memory.write(addr, b"".join(entry(a, n) for a, n in pieces))
        self.next_list = addr + 16 * len(pieces)
        assert self.next_list < DATA
        return addr

    def job(self, context: int, length: int, parts: tuple[int, int] = (0, 0), **more: int) -> "Job":
        """Makes a copy job of random data for mae_dma; ``parts`` asks for scatter-gather lists."""
        return Job(self, context, length, parts, **more)

    def submit(self, *descs: Desc) -> None:
        """Queues descriptors in the host model, which writes them to the ring as room permits."""
        self.waiting.extend(descs)

    def turn(self) -> None:
        """Writes queued descriptors to the submission ring and reads new completions."""
        ctrl = self.ctrl
        head = self.status().sub_head
        size = 1 << ctrl.sub_log2
        while self.waiting and (len(self.sent) - head) % 65536 < size:
            desc = self.waiting.pop(0)
            self.memory.write(SUB + DESC_BYTES * (len(self.sent) % size), desc.pack())
            self.sent.append(desc)
        ctrl.sub_tail = len(self.sent) % 65536
        while True:
            taken = len(self.completions)
            at = COMP + COMPLETION_BYTES * (taken % (1 << ctrl.comp_log2))
            data = self.memory.read(at, COMPLETION_BYTES)
            if written(data) != 1 - (taken >> ctrl.comp_log2) % 2:
                break
            self.completions.append(Completion.unpack(data))
        ctrl.comp_head = len(self.completions) % 65536
        self.dut.ctrl_i.value = ctrl.pack()

    async def clocks(self, count: int, every: int = 1) -> None:
        """Runs a number of clocks, in which the host model serves the rings at intervals."""
        for i in range(count):
            if i % every == 0:
                self.turn()
            await RisingEdge(self.dut.clk_i)

    async def finish(self, limit: int = 60000, every: int = 10) -> dict[int, Completion]:
        """Runs until mae_dma has completed all descriptors; returns completions by cookie."""
        clocks = 0
        while self.waiting or len(self.completions) < len(self.sent):
            await self.clocks(every, every)
            clocks += every
            assert clocks < limit, f"hangs: {self.status()} {len(self.completions)} completed"
        return {c.cookie: c for c in self.completions}


class Job:
    """Holds a copy job for mae_dma: descriptor, data, source and destination buffers."""

    cookies = 0

    def __init__(
        self,
        host: Host,
        context: int,
        length: int,
        parts: tuple[int, int] = (0, 0),
        *,
        in_place: bool = False,
        align: int = 1,
        flags: int = 0,
    ) -> None:
        self.host = host
        Job.cookies += 1
        sides = []
        for count in parts:
            if count:
                lengths = split(host.random, length, count)
                addr, pieces = host.make_list(lengths)
            else:
                addr = host.place(length, align)
                pieces = [(addr, length)]
            sides.append((addr, pieces))
        if in_place:
            sides[1] = sides[0]
            parts = (parts[0], parts[0])
        (src, self.src), (dst, self.dst) = sides
        self.desc = Desc(
            cookie=Job.cookies,
            context=context,
            src=src,
            dst=dst,
            length=length,
            flags=flags | SRC_LIST * bool(parts[0]) | DST_LIST * bool(parts[1]),
            src_entries=parts[0],
            dst_entries=parts[1],
        )
        self.data = b"".join(host.memory.read(a, n) for a, n in self.src)

    def landed(self, image: bytearray) -> None:
        """Writes the job's data to its destinations in an image of the expected memory."""
        at = 0
        for addr, count in self.dst:
            image[addr - BASE : addr - BASE + count] = self.data[at : at + count]
            at += count

    def forget(self, image: bytearray) -> None:
        """Copies the real destination into the expected image, because the job has failed."""
        for addr, count in self.dst:
            image[addr - BASE : addr - BASE + count] = self.host.memory.read(addr, count)


def check_memory(
    host: Host, before: bytearray, jobs: list[Job], done: dict[int, Completion]
) -> None:
    """Asserts that completed DMA jobs wrote their destinations and nothing else changed."""
    image = before
    for job in jobs:
        got = done[job.desc.cookie]
        if got.status in (Status.OK, Status.BAD_TAG):
            assert got.bytes == sum(count for _, count in job.dst)
            job.landed(image)
        else:
            job.forget(image)
    for first, size in (
        (SUB, DESC_BYTES << host.ctrl.sub_log2),
        (COMP, COMPLETION_BYTES << host.ctrl.comp_log2),
    ):
        image[first - BASE : first - BASE + size] = host.memory.read(first, size)
    if image != host.memory.data:
        at = next(i for i, (a, b) in enumerate(zip(image, host.memory.data, strict=True)) if a != b)
        raise AssertionError(f"memory differs at {BASE + at:#x}")
