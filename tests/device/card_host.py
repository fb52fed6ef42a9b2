# SPDX-License-Identifier: Apache-2.0
"""Models a stream card's host: registers, rings, memory, AES jobs with OpenSSL's results."""

import dataclasses
import random

from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles

from tests.device import oracle
from tests.device.registers import Registers
from tests.dma.rings import (
    COMPLETION_BYTES,
    DESC_BYTES,
    DST_LIST,
    INIT,
    SRC_LIST,
    Completion,
    Desc,
    Status,
    entry,
    written,
)
from tests.support import bench
from tests.support.axi_memory import AxiMemory, axi_name

DECRYPT = 1
COPY = 7
BASE = 0x12_3400_0000
SUB, COMP, LISTS, DATA = BASE + 0x4000, BASE + 0xC000, BASE + 0x10000, BASE + 0x40000
MEMORY_BYTES = 1 << 22
PERIOD_NS = 10


@dataclasses.dataclass
class Job:
    """Holds an AES job of the stream card: descriptor, data, destinations, expected output."""

    desc: Desc
    data: bytes
    dst: list[tuple[int, int]]
    answer: bytes | None


class Card(Registers):
    """Models the host of a stream card: registers, rings, memory and AES jobs."""

    def __init__(self, dut: SimHandleBase, seed: int, log2: int, clock: str, reset: str) -> None:
        super().__init__(dut, "mae_stream_card", getattr(dut, clock), getattr(dut, reset))
        self.dut = dut
        self.clk = getattr(dut, clock)
        self.random = random.Random(seed)
        self.log2 = log2
        self.contexts = int(bench.parameters().get("Contexts", 64))
        self.keys: dict[int, bytes] = {}
        self.next_list, self.next_data, self.next_cookie = LISTS, DATA, 1
        self.sent = self.taken = 0
        self.memory: AxiMemory

    @classmethod
    async def begin(
        cls,
        dut: SimHandleBase,
        seed: int = 1,
        *,
        log2: int = 7,
        clock: str = "clk_i",
        reset: str = "rst_ni",
        start_clock: bool = True,
        **memory: object,
    ) -> "Card":
        """Resets the stream card; returns a host model with random memory and started rings."""
        card = cls(dut, seed, log2, clock, reset)
        getattr(dut, reset).value = 0
        if start_clock:
            dut.rst_ni.value = 0
            Clock(dut.clk_i, PERIOD_NS, unit="ns").start()
        options = {"latency": (20, 120), "seed": seed, **memory}
        card.memory = AxiMemory(
            dut, MEMORY_BYTES, base=BASE, names=axi_name("m_axi_"), clock=clock, **options
        )
        card.memory.data[:] = card.random.randbytes(MEMORY_BYTES)
        await ClockCycles(card.clk, 4)
        dut.rst_ni.value = 1
        getattr(dut, reset).value = 1
        await ClockCycles(card.clk, 10)
        card.memory.start()
        await card.set_rings()
        return card

    async def set_rings(self) -> None:
        """Writes addresses and sizes of both rings to the stream card and enables it."""
        await self.write("sub_base_lo", SUB & 0xFFFFFFFF)
        await self.write("sub_base_hi", SUB >> 32)
        await self.write("comp_base_lo", COMP & 0xFFFFFFFF)
        await self.write("comp_base_hi", COMP >> 32)
        await self.write("sub_log2", self.log2)
        await self.write("comp_log2", self.log2)
        await self.enable()

    async def enable(self) -> None:
        """Clears both rings and enables the stream card, starting at entry 0."""
        self.sent = self.taken = 0
        self.clear_completions(0)
        await self.write("sub_tail", 0)
        await self.write("comp_head", 0)
        await self.write("ctrl", enable=1)

    async def disable(self) -> None:
        """Disables the stream card and waits until its jobs have ended."""
        await self.write("ctrl", enable=0)
        while (await self.fields("status"))["busy"]:
            pass

    async def key(self, slot: int, size: int) -> bytes:
        """Loads a random key into a key slot of the stream card."""
        self.keys[slot] = self.random.randbytes(size)
        assert await self.load_key(slot, self.keys[slot]) == 0
        return self.keys[slot]

    def place(self, length: int, align: int = 0) -> int:
        """Allocates host memory after a random gap, at the given or any alignment."""
        at = self.next_data + 1 + self.random.randrange(40)
        if align:
            at = -(-at // align) * align
        self.next_data = at + length
        assert self.next_data < BASE + MEMORY_BYTES, "the test's memory is full"
        return at

    def side(self, length: int, parts: int, align: int) -> tuple[int, list[tuple[int, int]]]:
        """Allocates a job's source or destination as one buffer or a scatter-gather list."""
        if not parts:
            at = self.place(length, align)
            return at, [(at, length)]
        cuts = sorted(self.random.choices(range(length + 1), k=parts - 1))
        sizes = [b - a for a, b in zip([0, *cuts], [*cuts, length], strict=True)]
        pieces = [(self.place(size, align), size) for size in sizes]
        self.random.shuffle(pieces)  # the list's order is the data's
        at = self.next_list
        self.memory.write(at, b"".join(entry(a, n) for a, n in pieces))
        self.next_list += 16 * len(pieces)
        assert self.next_list < DATA
        return at, pieces

    def job(
        self,
        mode: str,
        decrypt: bool,
        data: bytes,
        *,
        context: int,
        iv: bytes | None = None,
        slot: int = 0,
        tweak_slot: int = 0,
        parts: tuple[int, int] = (0, 0),
        in_place: bool = False,
        align: int = 0,
        flags: int = 0,
        answer: bytes | None = None,
    ) -> Job:
        """Makes an AES job of data in host memory, with the output expected by OpenSSL."""
        src, pieces = self.side(len(data), parts[0], align)
        at = 0
        for addr, count in pieces:
            self.memory.write(addr, data[at : at + count])
            at += count
        if in_place:
            dst, dst_pieces, parts = src, pieces, (parts[0], parts[0])
        else:
            dst, dst_pieces = self.side(len(data), parts[1], align)
        if answer is None and mode in oracle.MODES and slot in self.keys:
            tweak = self.keys.get(tweak_slot, b"")
            answer = oracle.crypt(mode, decrypt, self.keys[slot], iv or bytes(16), data, tweak)
        desc = Desc(
            cookie=self.next_cookie,
            context=context,
            src=src,
            dst=dst,
            length=len(data),
            op=oracle.CODES[mode] if mode in oracle.MODES else COPY,
            flags=flags
            | DECRYPT * decrypt
            | INIT * (iv is not None)
            | SRC_LIST * bool(parts[0])
            | DST_LIST * bool(parts[1]),
            key_slot=slot,
            tweak_slot=tweak_slot,
            src_entries=parts[0],
            dst_entries=parts[1],
            iv=iv or bytes(16),
        )
        self.next_cookie += 1
        return Job(desc, data, dst_pieces, answer)

    async def submit(self, jobs: list[Job]) -> None:
        """Writes descriptors to the submission ring and the new tail to the stream card."""
        assert self.sent - self.taken + len(jobs) <= 1 << self.log2
        for job in jobs:
            at = SUB + DESC_BYTES * (self.sent % (1 << self.log2))
            self.memory.write(at, job.desc.pack())
            self.sent += 1
        await self.write("sub_tail", self.sent % 65536)

    async def finish(self, limit: int = 100000) -> dict[int, Completion]:
        """Waits until the stream card has completed all jobs; returns completions by cookie."""
        found: dict[int, Completion] = {}
        waited = 0
        while self.taken < self.sent:
            at = COMP + COMPLETION_BYTES * (self.taken % (1 << self.log2))
            data = self.memory.read(at, COMPLETION_BYTES)
            if written(data) != 1 - (self.taken >> self.log2) % 2:
                await ClockCycles(self.clk, 20)
                waited += 20
                assert waited < limit, f"hangs with {self.sent - self.taken} of {self.sent} open"
                continue
            completion = Completion.unpack(data)
            assert completion.cookie not in found
            found[completion.cookie] = completion
            self.taken += 1
        await self.write("comp_head", self.taken % 65536)
        return found

    async def run(self, jobs: list[Job], want: dict[int, Status] | None = None) -> None:
        """Runs AES jobs on the stream card; asserts each status and all of host memory."""
        image = bytearray(self.memory.data)
        done: dict[int, Completion] = {}
        lot = 1 << self.log2
        for first in range(0, len(jobs), lot):
            await self.submit(jobs[first : first + lot])
            done |= await self.finish()
        for job in jobs:
            got, cookie = done[job.desc.cookie], job.desc.cookie
            status = (want or {}).get(cookie, Status.OK)
            assert got.status == status, (job.desc, got)
            assert got.context == job.desc.context
            at = 0
            for addr, count in job.dst:
                place = slice(addr - BASE, addr - BASE + count)
                if status == Status.OK:
                    assert got.bytes == job.desc.length
                    image[place] = job.answer[at : at + count]
                else:
                    image[place] = self.memory.data[place]
                at += count
        self.forget_rings(image)
        if image != self.memory.data:
            pairs = zip(image, self.memory.data, strict=True)
            at = BASE + next(i for i, (a, b) in enumerate(pairs) if a != b)
            raise AssertionError(f"memory differs at {at:#x}: {whose(jobs, at)}")

    def clear_completions(self, first: int) -> None:
        """Clears the completion ring from an entry on to its end."""
        at = COMP + COMPLETION_BYTES * first
        self.memory.write(at, bytes(COMP + (COMPLETION_BYTES << self.log2) - at))

    def forget_rings(self, image: bytearray) -> None:
        """Copies both rings into an image of host memory, so that a comparison ignores them."""
        rings = ((SUB, DESC_BYTES << self.log2), (COMP, COMPLETION_BYTES << self.log2))
        for first, size in rings:
            place = slice(first - BASE, first - BASE + size)
            image[place] = self.memory.data[place]

    async def counters(self) -> dict[str, int]:
        """Takes a snapshot of the stream card's counters and returns their values."""
        await self.write("ctrl", (await self.read("ctrl")) | self.pack("ctrl", snapshot=1))
        names = ("clocks", "busy_clocks", "jobs", "blocks", "read_beats", "write_beats")
        return {n: await self.read(f"{n}.lo") + (await self.read(f"{n}.hi") << 32) for n in names}


def whose(jobs: list[Job], at: int) -> str:
    """Returns a text that names the job to whose destination an address belongs."""
    for job in jobs:
        if any(addr <= at < addr + count for addr, count in job.dst):
            return f"destination of {job.desc}"
    return "nobody's destination"


def random_jobs(card: Card, count: int, largest: int) -> list[Job]:
    """Makes random AES jobs of all modes, lengths and alignments, with lists and in place."""
    rng, jobs = card.random, []
    for i in range(count):
        mode, decrypt = oracle.MODES[i % 7], bool(i // 7 % 2)
        slots = [s for s, key in card.keys.items() if len(key) in oracle.key_sizes(mode)]
        slot = rng.choice(slots)
        same = [s for s in slots if s != slot and len(card.keys[s]) == len(card.keys[slot])]
        tweak = rng.choice(same)  # OpenSSL refuses XTS with two equal keys
        length = rng.choice((16, 32, 64, 80, 256, rng.randrange(1, 40) * 16, largest // 16 * 16))
        if mode in oracle.ANY_LENGTH:
            length += rng.choice((0, 1, 7, 15))
        jobs.append(
            card.job(
                mode,
                decrypt,
                rng.randbytes(length),
                context=rng.randrange(card.contexts),
                iv=rng.randbytes(16),
                slot=slot,
                tweak_slot=tweak,
                parts=rng.choice(((0, 0), (0, 0), (3, 0), (0, 4), (5, 5))),
                in_place=rng.random() < 0.2,
            )
        )
    return jobs


async def load_keys(card: Card) -> None:
    """Loads two keys of each length into the stream card, more than it has key banks."""
    for slot, size in enumerate((16, 24, 32, 16, 24, 32)):
        await card.key(slot, size)
    assert await card.read("key_valid") == 0x3F
