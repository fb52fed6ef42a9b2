# SPDX-License-Identifier: Apache-2.0
"""Models a block card's host: registers, queues, requests, media; OpenSSL's XTS as the oracle."""

import dataclasses
import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles

from tests.device import oracle
from tests.device.registers import Registers
from tests.dma.rings import COMPLETION_BYTES, DESC_BYTES, written
from tests.support import bench
from tests.support.axi_memory import AxiMemory, axi_name

SECTOR = 512
READ, WRITE, FLUSH = 0, 1, 2
PLAIN, IRQ = 1, 16
LOAD, UNLOAD, ZEROIZE = 1, 2, 3
OK, DESC_FETCH, BAD_OP, BAD_LENGTH, BAD_KEY = 0, 1, 2, 4, 5
READ_SLVERR, READ_DECERR, WRITE_SLVERR, WRITE_DECERR = 7, 8, 9, 10
BAD_ADDRESS, BAD_RANGE = 32, 33
BASE = 0x12_3400_0000
QUEUE_STRIDE, RINGS = 0x1_0000, BASE + 0x1000
DATA = BASE + 0x4_0000
MEMORY_BYTES = 1 << 21
PERIOD_NS = 10
LOG2 = 6


@dataclasses.dataclass
class Request:
    """Holds the fields of a request, and the data that a read or write must move."""

    op: int
    sector: int = 0
    sectors: int = 0
    addr: int = 0
    flags: int = IRQ
    slot: int = 0
    unit_log2: int = 0
    unit: int = 0
    cookie: int = 0
    reserved: int = 0
    status: int = OK  # expected

    def pack(self) -> bytes:
        """Packs the request into the 64 bytes that mae_block_card reads."""
        return struct.pack(
            "<IBBBBIIQQ16s16s",
            self.cookie,
            self.op,
            self.flags,
            self.slot,
            self.unit_log2,
            self.sectors,
            self.reserved,
            self.sector,
            self.addr,
            self.unit.to_bytes(16, "little"),
            bytes(16),
        )

    @property
    def bytes(self) -> int:
        """Returns the number of bytes that the request moves."""
        return self.sectors * SECTOR


@dataclasses.dataclass(frozen=True)
class Completion:
    """Holds the fields of a block card's completion."""

    cookie: int
    status: int
    index: int
    bytes: int

    @classmethod
    def unpack(cls, data: bytes) -> "Completion":
        """Unpacks a completion from the 32 bytes that mae_block_card writes."""
        tag, cookie, status, context, index, count, phase = struct.unpack("<16sIBBHII", data)
        assert tag == bytes(16)
        assert context == 0
        assert phase < 2
        return cls(cookie, status, index, count)


class BlockCard(Registers):
    """Models the host of a block card and its media."""

    def __init__(self, dut: SimHandleBase, seed: int) -> None:
        super().__init__(dut, "mae_block_card", dut.clk_i, dut.rst_ni)
        self.dut, self.random = dut, random.Random(seed)
        self.queues = int(bench.parameters().get("Queues", 2))
        self.slots = int(bench.parameters().get("MediaKeys", 8))
        self.media_bytes = 1 << int(bench.parameters()["MediaLog2"])
        self.keys: dict[int, bytes] = {}
        self.sent, self.taken = [0] * self.queues, [0] * self.queues
        self.next_data, self.next_cookie = DATA, 1
        self.memory: AxiMemory
        self.media: AxiMemory

    @classmethod
    async def begin(cls, dut: SimHandleBase, seed: int = 1, **options: object) -> "BlockCard":
        """Resets the block card; returns its host model with random memory, media, queues."""
        card = cls(dut, seed)
        dut.rst_ni.value = 0
        dut.flush_ready_i.value = 1
        Clock(dut.clk_i, PERIOD_NS, unit="ns").start()
        options = {"latency": (20, 120), "seed": seed, **options}
        names = axi_name("m_axi_"), axi_name("m_axi_mem_")
        card.memory = AxiMemory(dut, MEMORY_BYTES, base=BASE, names=names[0], **options)
        card.media = AxiMemory(dut, card.media_bytes, names=names[1], **options)
        card.memory.data[:] = card.random.randbytes(MEMORY_BYTES)
        card.media.data[:] = card.random.randbytes(card.media_bytes)
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 4)
        card.memory.start()
        card.media.start()
        while (await card.fields("status"))["wiping"]:
            pass
        await card.set_queues()
        return card

    async def queue(self, index: int, name: str, value: int) -> None:
        """Writes a register of a queue."""
        offset = self.layout[f"rings.{name}"][0] + 0x40 * index
        await self.write_at(offset, value)

    async def set_queues(self, log2: int = LOG2) -> None:
        """Writes addresses and sizes of all rings, and enables the block card."""
        for q in range(self.queues):
            sub = RINGS + QUEUE_STRIDE * q
            comp = sub + (DESC_BYTES << LOG2)
            for name, value in (("sub_base", sub), ("comp_base", comp)):
                await self.queue(q, f"{name}_lo", value & 0xFFFFFFFF)
                await self.queue(q, f"{name}_hi", value >> 32)
            await self.queue(q, "sub_log2", log2)
            await self.queue(q, "comp_log2", log2)
        self.log2 = log2
        await self.enable()

    async def enable(self) -> None:
        """Clears all rings and enables the block card, starting at entry 0."""
        self.sent, self.taken = [0] * self.queues, [0] * self.queues
        for q in range(self.queues):
            comp = RINGS + QUEUE_STRIDE * q + (DESC_BYTES << LOG2)
            self.memory.write(comp, bytes(COMPLETION_BYTES << LOG2))
            await self.queue(q, "sub_tail", 0)
            await self.queue(q, "comp_head", 0)
        await self.write("ctrl", enable=1)

    async def disable(self) -> None:
        """Disables the block card and waits until its requests have ended."""
        await self.write("ctrl", enable=0)
        while (await self.fields("status"))["busy"]:
            pass

    # keys

    async def command(self, cmd: int, slot: int = 0) -> int:
        """Gives a L.O.C.K. command, waits, acknowledges; returns its error code."""
        assert (await self.fields("lock_ctrl"))["rdy"]
        await self.write("metd", slot)
        await self.write("lock_ctrl", cmd=cmd, exe=1)
        while not (state := await self.fields("lock_ctrl"))["dn"]:
            pass
        assert state["exe"]
        assert state["cmd"] == cmd
        await self.write("lock_ctrl", dn=1)
        assert await self.read("lock_ctrl") == 1 << 31
        return state["err"]

    async def load(self, slot: int, key: bytes | None = None) -> int:
        """Loads a media key, random by default, into a slot; returns the error code."""
        key = key or self.random.randbytes(64)
        await self.write_words("mek", key)
        error = await self.command(LOAD, slot)
        if not error:
            self.keys[slot] = key
        return error

    async def unload(self, slot: int) -> int:
        """Unloads a media key; returns the error code."""
        self.keys.pop(slot, None)
        return await self.command(UNLOAD, slot)

    # requests

    def place(self, length: int) -> int:
        """Allocates host memory for a request after a random gap."""
        at = self.next_data + 64 * self.random.randrange(5)
        if at + length > BASE + MEMORY_BYTES:
            at = DATA
        self.next_data = at + length
        return at

    def request(self, op: int, sector: int, sectors: int, **fields: object) -> Request:
        """Makes a request with a buffer of its own in host memory."""
        cookie, self.next_cookie = self.next_cookie, self.next_cookie + 1
        addr = self.place(sectors * SECTOR)
        return Request(op, sector, sectors, addr, cookie=cookie, **fields)

    def crypt(self, request: Request, decrypt: bool, data: bytes) -> bytes:
        """Encrypts or decrypts a request's data by OpenSSL, one data unit after the other."""
        if request.flags & PLAIN:
            return data
        key, size, out = self.keys[request.slot], 1 << request.unit_log2, b""
        for i in range(0, len(data), size):
            iv = ((request.unit + i // size) % (1 << 128)).to_bytes(16, "little")
            out += oracle.crypt("xts", decrypt, key[:32], iv, data[i : i + size], key[32:])
        return out

    async def submit(self, queue: int, requests: list[Request], more: int = 0) -> None:
        """Writes requests to the submission ring of a queue, and its doorbell.

        ``more``: read requests whose completions nobody has taken.
        """
        sub = RINGS + QUEUE_STRIDE * queue
        assert self.sent[queue] - self.taken[queue] + len(requests) <= (1 << self.log2) + more
        for request in requests:
            at = sub + DESC_BYTES * (self.sent[queue] % (1 << self.log2))
            self.memory.write(at, request.pack())
            self.sent[queue] += 1
        await self.queue(queue, "sub_tail", self.sent[queue] % 65536)

    def take(self, queue: int) -> Completion | None:
        """Takes the next completion of a queue, if there is one."""
        comp = RINGS + QUEUE_STRIDE * queue + (DESC_BYTES << LOG2)
        at = comp + COMPLETION_BYTES * (self.taken[queue] % (1 << self.log2))
        data = self.memory.read(at, COMPLETION_BYTES)
        if written(data) != 1 - (self.taken[queue] >> self.log2) % 2:
            return None
        self.taken[queue] += 1
        return Completion.unpack(data)

    async def finish(self, queue: int, clocks: int = 40000) -> dict[int, Completion]:
        """Waits for all completions of a queue; returns them by their cookie."""
        done = {}
        while self.taken[queue] < self.sent[queue]:
            found = self.take(queue)
            if found is None:
                await ClockCycles(self.dut.clk_i, 10)
                clocks -= 10
                assert clocks > 0, f"queue {queue}: {self.sent[queue] - self.taken[queue]} missing"
                continue
            done[found.cookie] = found
        await self.queue(queue, "comp_head", self.taken[queue] % 65536)
        return done

    def expect(self, request: Request) -> dict[str, object]:
        """Returns what memory and media hold after a request that runs alone."""
        at = request.sector * SECTOR
        if request.op == WRITE:
            data = self.memory.read(request.addr, request.bytes)
            return {"media": self.crypt(request, False, data)}
        if request.op == READ:
            data = bytes(self.media.data[at : at + request.bytes])
            return {"memory": self.crypt(request, True, data)}
        return {}

    def check(self, request: Request, done: Completion, want: dict[str, object]) -> None:
        """Compares a completion, and the data that its request has moved."""
        what = f"{request}: {done}"
        assert done.status == request.status, what
        assert done.bytes == (0 if request.status or request.op == FLUSH else request.bytes), what
        if request.status:
            return
        if "media" in want:
            at = request.sector * SECTOR
            assert self.media.data[at : at + request.bytes] == want["media"], what
        if "memory" in want:
            assert self.memory.read(request.addr, request.bytes) == want["memory"], what

    async def run(self, batches: dict[int, list[Request]]) -> None:
        """Runs requests, none of which touches another's data, in several queues; checks all."""
        good = [r for batch in batches.values() for r in batch if not r.status]
        wants = {r.cookie: self.expect(r) for r in good}
        for queue, batch in batches.items():
            await self.submit(queue, batch)
        tasks = {q: cocotb.start_soon(self.finish(q)) for q in batches}
        for queue, batch in batches.items():
            done = await tasks[queue]
            assert sorted(done) == sorted(r.cookie for r in batch)
            for request in batch:
                self.check(request, done[request.cookie], wants.get(request.cookie, {}))


def random_requests(card: BlockCard, count: int, region: tuple[int, int], most: int = 24):
    """Makes random reads and writes, plain or under a loaded key, of sectors of a region each."""
    rng, requests = card.random, []
    first, after = region
    size = (after - first) // count
    for i in range(count):
        start = first + i * size
        fields: dict[str, object] = {"flags": IRQ | PLAIN}
        sectors = rng.randint(1, min(most, size))
        if card.keys and rng.random() < 0.75:
            log2 = rng.randint(9, 12)
            unit = 1 << log2 - 9
            sectors = max(unit, sectors // unit * unit)
            fields = {"flags": IRQ, "slot": rng.choice(list(card.keys)), "unit_log2": log2}
            fields["unit"] = rng.choice((rng.randrange(1 << 40), rng.getrandbits(128), 2**64 - 3))
        if sectors > size:
            continue
        requests.append(card.request(rng.choice((READ, WRITE)), start, sectors, **fields))
    return requests
