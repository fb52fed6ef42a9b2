# SPDX-License-Identifier: Apache-2.0
"""Measures the GCM engine mae_gcm_stream clock by clock in simulation (cocotb).

Every beat and tag is compared with the `cryptography` package while clocks are counted. Figures are
written as JSON lines to the file named by MAESLANT_FIGURES.
"""

import dataclasses
import json
import os
import random
from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.bench.measure.benches.cipher_bench import note
from maeslant.build import cocotb_bench

KEY_BITS = (128, 192, 256)
LENGTH_BITS = 36  # gcm_length_t
# Messages of 0..20 beats, singly and in runs of short ones.
BEATS = (*range(21), *(1 for _ in range(40)), 2, 0, 3, 20, 0, 1, 20, *range(20, 0, -1))


@dataclasses.dataclass
class Message:
    """Holds a GCM message and the clock numbers at which the GCM engine processed it."""

    bank: int
    iv: bytes
    aad: bytes
    data: bytes
    sealed: bytes
    decrypt: bool
    clocks: dict[str, int] = dataclasses.field(default_factory=dict)

    def word(self) -> int:
        """Encodes the header of the GCM message as a gcm_msg_t for the engine's input."""
        word = (self.bank << 1 | self.decrypt) << 96 | int.from_bytes(self.iv, "big")
        for size in (12, len(self.aad), len(self.data)):
            word = word << LENGTH_BITS | size
        return (word << 5 | 16) << 128 | int.from_bytes(self.sealed[-16:], "big")

    def beats(self, row: int) -> list[tuple[int, int, int]]:
        """Returns a GCM message's bus beats of AAD and data: (bytes, byte count, 1 if last)."""
        text = self.sealed[:-16] if self.decrypt else self.data
        found = []
        for part in (self.aad, text):
            for at in range(0, len(part), row):
                piece = part[at : at + row]
                found.append([lanes(piece.ljust(row, b"\0")), len(piece), 0])
        if found:
            found[-1][2] = 1
        return [tuple(beat) for beat in found]


def lanes(row: bytes) -> int:
    """Returns bytes as an integer for the GCM engine's bus, the first block in the low bits."""
    blocks = [int.from_bytes(row[at : at + 16], "big") for at in range(0, len(row), 16)]
    return sum(block << 128 * i for i, block in enumerate(blocks))


class Engine:
    """Drives messages into the GCM engine mae_gcm_stream at full rate; checks its outputs."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.lanes = int(cocotb_bench.parameters()["Lanes"])
        self.row = 16 * self.lanes
        self.random = random.Random(1)
        self.clock = self.lost = self.first_out = self.last_out = 0
        self.regs = int(cocotb_bench.parameters().get("RegsPerRound", 1))
        self.hold = 0  # clocks before the first beat is offered
        self.keys: dict[int, bytes] = {}
        self.key_offer: tuple[int, bytes] | None = None
        self.key_clock = 0
        self.messages: list[Message] = []  # to be announced
        self.due: list[tuple[Message, tuple[int, int, int]]] = []  # beats to come
        self.out: list[int] = []  # rows to come out
        self.ends: list[Message] = []
        self.watch: Callable[[bool], None] | None = None  # sees every clock, its inputs set

    async def start(self) -> None:
        """Starts the GCM engine's clock and releases the engine's reset."""
        dut = self.dut
        Clock(dut.clk_i, 2, unit="ns").start()
        names = "clear_i abort_i key_valid_i key_i msg_valid_i msg_i in_valid_i in_data_i"
        for name in (*names.split(), "in_bytes_i", "in_last_i", "rst_ni"):
            getattr(dut, name).value = 0
        dut.out_ready_i.value = dut.tag_ready_i.value = 1
        for _ in range(4):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await RisingEdge(dut.clk_i)

    def key(self, bank: int, bits: int) -> None:
        """Offers a random key for one of the GCM engine's key slots from the next clock on."""
        self.keys[bank] = self.random.randbytes(bits // 8)
        self.key_offer = (bank, self.keys[bank])

    def message(self, bank: int, aad_beats: int, data_beats: int) -> Message:
        """Queues a random GCM message of a given length for the engine; returns the Message."""

        def part(beats: int) -> bytes:
            size = beats * self.row
            return self.random.randbytes(size - self.random.randrange(16) if beats else 0)

        aad, data, iv = part(aad_beats), part(data_beats), self.random.randbytes(12)
        sealed = AESGCM(self.keys[bank]).encrypt(iv, data, aad)
        decrypt = self.random.random() < 0.5
        message = Message(bank, iv, aad, data, sealed, decrypt)
        self.messages.append(message)
        return message

    async def step(self) -> None:
        """Simulates one clock cycle of the GCM engine: drives the inputs, checks the outputs."""
        dut = self.dut
        dut.key_valid_i.value = self.key_offer is not None
        if self.key_offer:
            bank, key = self.key_offer
            head = bank << 2 | len(key) // 8 - 2
            dut.key_i.value = head << 256 | int.from_bytes(key.ljust(32, b"\0"), "big")
        dut.msg_valid_i.value = bool(self.messages)
        if self.messages:
            dut.msg_i.value = self.messages[0].word()
        offered = bool(self.due) and self.hold == 0
        self.hold = max(0, self.hold - 1)
        dut.in_valid_i.value = offered
        if offered:
            dut.in_data_i.value, dut.in_bytes_i.value, dut.in_last_i.value = self.due[0][1]
        await ReadOnly()
        if self.watch:
            self.watch(offered)
        if self.key_offer and int(dut.key_ready_o.value):
            self.key_offer, self.key_clock = None, self.clock
        self._outputs()
        if offered:
            self._beat(bool(int(dut.in_ready_o.value)))
        if self.messages and int(dut.msg_ready_o.value):
            self._announced(self.messages.pop(0))
        await RisingEdge(dut.clk_i)
        self.clock += 1

    def _announced(self, message: Message) -> None:
        """Queues a GCM message's beats and expected results once the engine has the header."""
        message.clocks["announced"] = self.clock
        self.due += [(message, beat) for beat in message.beats(self.row)]
        out = message.data if message.decrypt else message.sealed[:-16]
        rows = [out[at : at + self.row] for at in range(0, len(out), self.row)]
        self.out += [lanes(piece.ljust(self.row, b"\0")) for piece in rows]
        self.ends.append(message)

    def _beat(self, taken: bool) -> None:
        """Records the clock if the GCM engine accepted the offered beat; else counts a lost one."""
        if not taken:
            self.lost += 1
            return
        message, _ = self.due.pop(0)
        message.clocks.setdefault("first", self.clock)
        message.clocks["last"] = self.clock

    def _outputs(self) -> None:
        """Compares the GCM engine's output beats and tags with the expected beats and tags."""
        dut = self.dut
        if int(dut.out_valid_o.value):
            assert int(dut.out_data_o.value) == self.out.pop(0), "wrong data"
            self.first_out = self.first_out or self.clock
            self.last_out = self.clock
        if int(dut.tag_valid_o.value):
            message = self.ends.pop(0)
            message.clocks["tag"] = self.clock
            tag = 0 if message.decrypt else int.from_bytes(message.sealed[-16:], "big")
            assert int(dut.tag_o.value) == 1 << 128 | tag, "wrong tag"

    async def run(self) -> None:
        """Simulates the GCM engine until all queued messages are finished."""
        limit = self.clock + 20000
        while self.key_offer or self.messages or self.due or self.out or self.ends:
            await self.step()
            assert self.clock < limit, "the engine stands still"
        for _ in range(4):
            await self.step()


async def between(engine: Engine, banks: list[int], rounds: int) -> int:
    """Returns the number of clocks that the GCM engine loses between two successive messages."""
    engine.lost, engine.hold = 0, rounds * engine.regs + 6  # the first one has no beats
    for number, beats in enumerate(BEATS):
        aad = engine.random.randrange(beats + 1) if beats else 0
        engine.message(banks[number % len(banks)], aad, beats - aad)
    await engine.run()
    return engine.lost


async def one_size(engine: Engine, bits: int) -> None:
    """Measures latency and throughput of the GCM engine for one AES key size."""
    rounds = bits // 32 + 6

    def record(kind: str, value: float) -> None:
        note(kind, value, bits=bits, kind=kind)

    # A beat may wait inside for its keystream: what counts is when it could go through.
    engine.key(0, bits)
    engine.message(0, 0, 3)
    engine.first_out = 0
    await engine.run()
    ready = engine.first_out - engine.key_clock
    message = engine.message(0, 0, 1)
    engine.first_out = 0
    await engine.run()
    first = engine.first_out - message.clocks["announced"]
    message = engine.message(0, 0, 1)
    engine.hold = rounds * engine.regs + 5
    await engine.run()
    latency = engine.last_out - message.clocks["last"]
    record("key", ready - latency)
    record("first", first - latency)
    record("latency", latency)
    for _ in range(5):
        engine.message(0, 0, 20)
    engine.first_out = 0
    await engine.run()
    record("rate", 100 * engine.lanes / (engine.last_out - engine.first_out + 1))
    longest = bubbles = 0
    for beats in (1, 2, 3, 20):
        for aad in (0, 1):
            message = engine.message(0, aad, beats)
            engine.hold = rounds * engine.regs + 5
            await engine.run()
            longest = max(longest, message.clocks["tag"] - message.clocks["last"])
            bubbles += message.clocks["last"] - message.clocks["first"] + 1 - beats - aad
    record("bubbles", bubbles)
    record("tag", longest)
    record("between", await between(engine, [0], rounds))
    if int(cocotb_bench.parameters()["KeyBanks"]) > 1:
        engine.key(1, bits)
        engine.message(1, 0, 0)
        await engine.run()
        record("other", await between(engine, [0, 1], rounds))


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def figures(dut) -> None:
    """Measures the GCM engine's latency and throughput by key size and with alternating keys."""
    engine = Engine(dut)
    await engine.start()
    sizes = [
        bits
        for bits in KEY_BITS
        if bits <= 128 + 64 * int(cocotb_bench.parameters().get("MaxKeyLen", 2))
    ]
    for bits in json.loads(os.environ.get("MAESLANT_KEYS", json.dumps(sizes))):
        await one_size(engine, bits)
    if len(sizes) > 1 and int(cocotb_bench.parameters()["KeyBanks"]) > 1:
        engine.key(0, sizes[0])
        engine.message(0, 0, 1)
        await engine.run()
        lost = await between(engine, [0, 1], 14) / (len(BEATS) - 1)
        note("mixed", lost, bits=sizes[-1], kind="mixed")
