# SPDX-License-Identifier: Apache-2.0
"""Makes encrypted chunks with tags by OpenSSL, to test the guard's DMA (mae_guard_dma)."""

import dataclasses
import random

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, FallingEdge, Timer
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.protected.model import wire
from maeslant.protected.model.constants import Class, Flag
from tests.dma.model.granules import GRANULE, DeviceMemory
from tests.support.axi_memory import AxiMemory
from tests.support.stream import start

HOST = 0xFFFF_FFFF_0000 << 12
SIZE = 1 << 18
CLASSES = {"in": Class.DMA_IN, "out": Class.DMA_OUT}
KEY, MASK, TAG = 32, 12, 16  # bytes


@dataclasses.dataclass
class Chunk:
    """Holds the address fields, key and IV mask of a chunk that the guard's DMA transfers."""

    way: str
    queue: int
    epoch: int
    sequence: int
    place: wire.Transfer
    key: bytes
    mask: bytes

    def seal(self, text: bytes) -> tuple[bytes, bytes]:
        """Encrypts data as this chunk by AES-GCM of `cryptography`; returns ciphertext and tag."""
        cls = CLASSES[self.way]
        mine = bytes([cls, self.queue, 0, 0]) + self.sequence.to_bytes(8, "big")
        iv = bytes(a ^ b for a, b in zip(self.mask, mine, strict=True))
        aad = self.place.aad(cls, self.queue, self.epoch, self.sequence)
        sealed = AESGCM(self.key).encrypt(iv, text, aad)
        return sealed[:-TAG], sealed[-TAG:]

    def pack(self, tag: bytes = bytes(TAG)) -> int:
        """Packs the chunk's address fields and tag into the bits of the RTL's chunk_t."""
        p, flags = self.place, self.place.flags
        fields = (
            (self.queue, 8),
            (self.epoch, 32),
            (self.sequence, 64),
            (int(bool(flags & Flag.FIRST)), 1),
            (int(bool(flags & Flag.LAST)), 1),
            (p.address, 64),
            (p.length, 32),
            (p.index, 32),
            (p.base, 64),
            (p.total, 64),
            (p.host, 64),
            (int.from_bytes(tag, "big"), 8 * TAG),
        )
        word = 0
        for value, width in fields:
            word = word << width | value
        return word


class Bench:
    """Connects mae_guard_dma to host and device memory models and records each chunk's end."""

    def __init__(self, dut: SimHandleBase, *, stall: float = 0.0, seed: int = 1, **host) -> None:
        self.dut, self.random = dut, random.Random(seed)
        self.host = AxiMemory(
            dut, SIZE, base=HOST, stall=stall, unique_ids=True, crossing=True, **host
        )
        self.device = DeviceMemory(dut, SIZE, stall=stall)
        self.host.data[:] = self.random.randbytes(SIZE)
        self.device.data[:] = self.random.randbytes(SIZE)
        self.keys: dict[tuple[str, int], tuple[bytes, bytes]] = {}
        self.ends: dict[str, list[tuple[int, int, int, bytes]]] = {"in": [], "out": []}
        self.started: dict[str, list[int]] = {"in": [], "out": []}
        self.faults = self.now = 0
        self.sequence = 1
        self.tasks: list = []

    async def begin(self) -> None:
        """Resets mae_guard_dma, starts the memory models and loads a key into every bank."""
        names = "halt_i clear_i key_valid_i in_valid_i out_valid_i ans_aw_valid_i ans_w_valid_i"
        await start(self.dut, mover_rst_ni=0, **dict.fromkeys(names.split(), 0))
        self.dut.mover_rst_ni.value = 1
        self.host.start()
        self.device.start()
        self.tasks = [cocotb.start_soon(self._watch())]
        for way in CLASSES:
            for bank in range(2):
                await self.load(way, bank)

    def stop(self) -> None:
        """Stops the memory models and the recording of chunk ends around mae_guard_dma."""
        for model in (self.host, self.device):
            model.stop()
        for task in self.tasks:
            task.cancel()

    async def load(self, way: str, bank: int) -> None:
        """Loads a random AES key and IV mask into a key bank of the guard's DMA, for one way."""
        dut = self.dut
        key, mask = self.random.randbytes(KEY), self.random.randbytes(MASK)
        await FallingEdge(dut.clk_i)
        dut.key_out_i.value, dut.key_bank_i.value = int(way == "out"), bank
        dut.key_i.value = int.from_bytes(key + mask, "big")
        await self.shake(dut.key_valid_i, dut.key_ready_o)
        dut.key_i.value = 0
        self.keys[way, bank] = (key, mask)

    async def shake(self, valid, ready) -> int:  # noqa: ANN001 - handles
        """Holds a valid signal until the RTL is ready; returns the clock of the handshake."""
        valid.value = 1
        while True:
            await Timer(2, "ns")
            taken, now = int(ready.value), self.now
            await FallingEdge(self.dut.clk_i)
            if taken:
                valid.value = 0
                return now

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            self.now += 1
            await Timer(1, "ns")  # behind what the memories drive
            for way, valid, end in (
                ("in", dut.in_moved_o, dut.in_end_o),
                ("out", dut.out_moved_o, dut.out_end_o),
            ):
                if int(valid.value):
                    word = int(end.value)
                    tag = (word & ((1 << 8 * TAG) - 1)).to_bytes(TAG, "big")
                    self.ends[way].append((self.now, word >> 129, word >> 128 & 1, tag))
            self.faults += int(dut.beat_fault_o.value)

    def chunk(self, way: str, at: int, length: int, *, device: int | None = None) -> Chunk:
        """Makes a chunk with random fields at given addresses of host and device memory."""
        generator, address = self.random, at if device is None else device
        before = GRANULE * generator.choice((0, 0, 1, 5))
        after = generator.choice((0, 0, 1, 1000)) if length % GRANULE == 0 else 0
        base = max(address - before, 0)
        index = 0 if base == address else generator.randrange(1, 1 << 32)
        total = address + length + after - base
        place = wire.Transfer(address, length, index, base, total, HOST + at)
        epoch = generator.randrange(1 << 16)
        self.sequence += generator.choice((1, 1, 1 << 40))
        key, mask = self.keys[way, epoch & 1]
        return Chunk(way, generator.randrange(64), epoch, self.sequence, place, key, mask)

    async def move(self, chunk: Chunk, tag: bytes = bytes(TAG)) -> None:
        """Starts the transfer of a chunk by the guard's DMA."""
        dut = self.dut
        getattr(dut, f"{chunk.way}_i").value = chunk.pack(tag)
        valid, ready = (getattr(dut, f"{chunk.way}_{w}") for w in ("valid_i", "ready_o"))
        self.started[chunk.way].append(await self.shake(valid, ready))

    async def ended(self, way: str, count: int) -> None:
        """Waits until the guard's DMA has finished a number of chunks in one direction."""
        while len(self.ends[way]) < count:
            await FallingEdge(self.dut.clk_i)

    def put(self, chunk: Chunk, text: bytes) -> bytes:
        """Encrypts data as a chunk into the host memory model; returns the tag."""
        sealed, tag = chunk.seal(text)
        self.host.write(chunk.place.host, sealed)
        return tag

    async def answer(self, address: int, beats: list[tuple[int, int]], gap: float = 0.0) -> None:
        """Sends a response burst to the response port of mae_guard_dma, with random gaps."""
        dut = self.dut
        dut.ans_aw_address_i.value, dut.ans_aw_beats_i.value = address, len(beats)
        await self.shake(dut.ans_aw_valid_i, dut.ans_aw_ready_o)
        for data, strobe in beats:
            while gap and self.random.random() < gap:
                await FallingEdge(dut.clk_i)
            dut.ans_w_data_i.value, dut.ans_w_strb_i.value = data, strobe
            await self.shake(dut.ans_w_valid_i, dut.ans_w_ready_o)

    async def rest(self) -> None:
        """Waits until mae_guard_dma reports that its host bus is idle."""
        while not int(self.dut.quiet_o.value):
            await FallingEdge(self.dut.clk_i)
        await ClockCycles(self.dut.clk_i, 5)
