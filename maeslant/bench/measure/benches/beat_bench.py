# SPDX-License-Identifier: Apache-2.0
"""Measures the GCM cores for 64-bit messages, mae_gcm_single and mae_gcm_prefetch (cocotb).

Every answer is compared with the `cryptography` package while clocks are counted. Figures are
written as JSON lines to the file named by MAESLANT_FIGURES.
"""

import random
from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.bench.measure.benches.cipher_bench import note
from maeslant.build import cocotb_bench

PARAMETERS = cocotb_bench.parameters()
AHEAD = "Streams" in PARAMETERS
STREAMS = int(PARAMETERS.get("Streams", 1))
VALUES = int(PARAMETERS.get("Ahead", 1))
KEY_BITS = tuple(128 + 64 * length for length in range(int(PARAMETERS.get("MaxKeyLen", 2)) + 1))
WORDS = 200


class Words:
    """Drives requests into a core for 64-bit GCM messages and checks the core's responses."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.random = random.Random(1)
        self.clock = 0
        self.asked: list[tuple[int, int]] = []  # clock of the request, and the answer
        self.latencies: set[int] = set()
        self.load_taken = False
        self.watch: Callable[[], None] | None = None  # sees every clock, its inputs set
        self.streams: list[list] = []  # key, iv, decrypt, next number

    async def start(self) -> None:
        """Starts the simulated GCM core's clock and releases its reset."""
        dut = self.dut
        Clock(dut.clk_i, 2, unit="ns").start()
        names = "clear_i req_valid_i rst_ni "
        names += "load_valid_i erase_valid_i erase_stream_i" if AHEAD else "key_i"
        for name in names.split():
            getattr(dut, name).value = 0
        for _ in range(4):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await RisingEdge(dut.clk_i)

    def word(self, key: bytes, iv: bytes, decrypt: bool) -> tuple[int, int]:
        """Returns a random GCM request with its tag, and the response that the core must give."""
        aad, data = self.random.randbytes(16), self.random.randbytes(8)
        sealed = AESGCM(key).encrypt(iv, data, aad)
        text, tag = sealed[:-16], sealed[-16:]

        def field(value: bytes, size: int) -> int:
            return int.from_bytes(value.ljust(size, b"\0"), "big")

        head = ((len(aad) << 256 | field(aad, 32)) << 5 | len(data)) << 128
        message = ((head | field(text if decrypt else data, 16)) << 5 | 16) << 128
        answer = (1 << 128 | field(data if decrypt else text, 16)) << 128
        return message | field(tag, 16), answer | (0 if decrypt else field(tag, 16))

    async def step(self) -> bool:
        """Simulates one clock of the GCM core; returns true if it accepted a request."""
        dut = self.dut
        await ReadOnly()
        if self.watch:
            self.watch()
        if int(dut.rsp_valid_o.value):
            clock, answer = self.asked.pop(0)
            assert int(dut.rsp_o.value) == answer, "wrong answer"
            self.latencies.add(self.clock - clock)
        if AHEAD:
            self.load_taken = bool(int(dut.load_ready_o.value))
        taken = bool(int(dut.req_valid_i.value)) and (not AHEAD or bool(int(dut.req_ready_o.value)))
        await RisingEdge(dut.clk_i)
        self.clock += 1
        return taken

    async def idle(self, clocks: int) -> None:
        """Simulates a number of clocks without a request to the GCM core."""
        self.dut.req_valid_i.value = 0
        for _ in range(clocks):
            await self.step()


@cocotb.test(timeout_time=2, timeout_unit="ms", skip=AHEAD)
async def own_keys(dut) -> None:
    """Measures rate and latency of mae_gcm_single if each message has a key of its own."""
    words = Words(dut)
    await words.start()
    for bits in KEY_BITS:
        words.latencies.clear()
        begin = words.clock
        for number in range(WORDS):
            key, iv = words.random.randbytes(bits // 8), words.random.randbytes(12)
            message, answer = words.word(key, iv, bool(number % 2))
            head = (number % 2) << 2 | bits // 64 - 2
            padded = int.from_bytes(key.ljust(32, b"\0"), "big")
            dut.key_i.value = (head << 256 | padded) << 96 | int.from_bytes(iv, "big")
            dut.msg_i.value, dut.req_valid_i.value = message, 1
            assert await words.step()
            words.asked.append((words.clock - 1, answer))
        span = words.clock - begin
        await words.idle(30)
        assert not words.asked
        note("rate", WORDS / span, bits=bits, kind="rate")
        note("verdict", max(words.latencies), bits=bits, kind="verdict")


async def load(words: Words, stream: int, bits: int) -> int:
    """Loads key and IV of a stream into mae_gcm_prefetch; returns the clock of acceptance there."""
    dut = words.dut
    key, iv = words.random.randbytes(bits // 8), words.random.randbytes(12)
    head = (stream % 2) << 2 | bits // 64 - 2
    padded = int.from_bytes(key.ljust(32, b"\0"), "big")
    dut.load_i.value = ((head << 256 | padded) << 96 | int.from_bytes(iv, "big")) << 64 | 1
    dut.load_stream_i.value, dut.load_valid_i.value, dut.req_valid_i.value = stream, 1, 0
    await words.step()
    while not words.load_taken:
        await words.step()
    dut.load_valid_i.value = 0
    words.streams.append([key, iv, bool(stream % 2), 1])
    return words.clock - 1


async def ask(words: Words, stream: int) -> bool:
    """Requests a stream's next message from mae_gcm_prefetch; returns true if it was accepted."""
    key, iv, decrypt, number = words.streams[stream]
    own = (int.from_bytes(iv, "big") ^ number).to_bytes(12, "big")
    message, answer = words.word(key, own, decrypt)
    words.dut.req_i.value, words.dut.req_stream_i.value = message, stream
    words.dut.req_valid_i.value = 1
    taken = await words.step()
    if taken:
        words.asked.append((words.clock - 1, answer))
        words.streams[stream][3] += 1
    return taken


@cocotb.test(timeout_time=2, timeout_unit="ms", skip=not AHEAD)
async def streams(dut) -> None:
    """Measures latency and rate of mae_gcm_prefetch while keys for all its streams are loaded."""
    words = Words(dut)
    await words.start()
    for bits in KEY_BITS:
        words.streams.clear()
        words.latencies.clear()
        loaded = await load(words, 0, bits)
        while not await ask(words, 0):
            pass
        note("load", words.clock - 1 - loaded, bits=bits, kind="load")
        for stream in range(1, STREAMS):
            await load(words, stream, bits)
        await words.idle(40 + STREAMS * VALUES)
        taken = sum([await ask(words, number % STREAMS) for number in range(WORDS)])
        note("prepared rate", taken / WORDS, bits=bits, kind="prepared")
        await words.idle(40 + STREAMS * VALUES)
        taken = sum([await ask(words, 0) for _ in range(WORDS)])
        note("alone", taken / WORDS, bits=bits, kind="alone")
        await words.idle(40)
        assert not words.asked
        note("verdict", max(words.latencies), bits=bits, kind="verdict")
        for stream in range(STREAMS):
            dut.erase_valid_i.value, dut.erase_stream_i.value = 1, stream
            await words.step()
        dut.erase_valid_i.value = 0
        await words.idle(40)
