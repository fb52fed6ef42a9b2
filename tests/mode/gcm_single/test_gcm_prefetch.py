# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_prefetch: OpenSSL's answer 4 clocks after each request, and message numbers.

Loads, erasures and requests of many streams against a model that knows keys and numbers only.
"""

import dataclasses
import random

import cocotb
import pytest
from cocotb.triggers import NextTimeStep, ReadOnly, RisingEdge

from tests.cipher import leaks
from tests.mode.gcm_single import single_word
from tests.support import bench
from tests.support.stream import start

LATENCY = 4
ROUNDS = (10, 12, 14)
LAST = (1 << 64) - 1


@dataclasses.dataclass
class Stream:
    """Holds the key, IV and next message number of a stream of mae_gcm_prefetch."""

    key: bytes
    iv: bytes
    decrypt: bool
    number: int

    def load(self) -> int:
        """Packs the stream's key, IV and number into the bits of gcm_beat_load_t."""
        word = self.decrypt << 2 | single_word.KEY_SIZES.index(len(self.key))
        word = word << 256 | single_word.number(self.key, 32)
        return (word << 96 | int.from_bytes(self.iv, "big")) << 64 | self.number

    def word(self) -> single_word.Word:
        """Returns a random message with the stream's key and next number."""
        iv = int.from_bytes(self.iv, "big") ^ self.number
        return single_word.any_word(self.key, iv.to_bytes(12, "big"), self.decrypt)


class Engine:
    """Drives mae_gcm_prefetch and models the numbers and answers of its streams."""

    def __init__(self, dut) -> None:
        self.dut = dut
        built = bench.parameters()
        self.count, self.ahead = built["Streams"], built["Ahead"]
        self.rounds = ROUNDS[built["MaxKeyLen"]]
        self.sizes = single_word.KEY_SIZES[: built["MaxKeyLen"] + 1]
        self.streams: dict[int, Stream] = {}
        self.due: list[single_word.Word | None] = [None] * (LATENCY - 1)
        self.answers = self.clock = 0
        self.loaded = False

    async def reset(self) -> None:
        """Resets mae_gcm_prefetch with idle inputs."""
        names = "clear_i load_valid_i load_stream_i load_i erase_valid_i erase_stream_i"
        names += " req_valid_i req_stream_i req_i"
        await start(self.dut, **{name: 0 for name in names.split()})

    def any_stream(self, number: int | None = None) -> Stream:
        """Returns a stream with random key and IV."""
        if number is None:
            number = random.choice((1, random.getrandbits(64), (1 << 32) - 3))
        key = random.randbytes(random.choice(self.sizes))
        return Stream(key, random.randbytes(12), random.random() < 0.5, number)

    async def tick(
        self,
        ask: int | None = None,
        load: tuple[int, Stream] | None = None,
        erase: int | None = None,
        clear: bool = False,
    ) -> bool:
        """Runs one clock with a request, load or erasure; returns true if it is accepted."""
        dut = self.dut
        dut.clear_i.value = clear
        dut.req_valid_i.value = ask is not None
        dut.load_valid_i.value = load is not None
        dut.erase_valid_i.value = erase is not None
        dut.req_i.value, dut.load_i.value = random.getrandbits(536), random.getrandbits(419)
        word = None
        if ask is not None:
            known = self.streams.get(ask)
            word = known.word() if known else single_word.any_word(bytes(16), bytes(12))
            dut.req_stream_i.value, dut.req_i.value = ask, word.msg()
        if load is not None:
            dut.load_stream_i.value, dut.load_i.value = load[0], load[1].load()
        if erase is not None:
            dut.erase_stream_i.value = erase
        await RisingEdge(dut.clk_i)
        taken = ask is not None and bool(int(dut.req_ready_o.value))
        self.loaded = load is not None and bool(int(dut.load_ready_o.value))
        if taken:
            assert not clear and ask != erase, "an erased stream answers"
            assert ask in self.streams, "a stream without a key answers"
            known = self.streams[ask]
            assert known.number <= LAST, "no number is left"
            assert int(dut.req_sequence_o.value) == known.number
            known.number += 1
        self.due.append(word if taken else None)
        if erase is not None:
            self.streams.pop(erase, None)
        if self.loaded:
            assert load[0] not in self.streams, "a live stream was loaded"
            if load[0] != erase:
                self.streams[load[0]] = load[1]
        if clear:
            self.streams.clear()
            self.due = [None] * LATENCY
        await self._answer()
        self.clock += 1
        return taken

    async def _answer(self) -> None:
        """Asserts that mae_gcm_prefetch gives exactly the answer due in this clock."""
        dut = self.dut
        await ReadOnly()
        wanted = self.due.pop(0)
        assert int(dut.rsp_valid_o.value) == (wanted is not None)
        assert int(dut.rsp_o.value) == (wanted.answer() if wanted else 0), f"{wanted}"
        self.answers += wanted is not None
        await NextTimeStep()

    async def load(self, index: int, stream: Stream) -> int:
        """Loads a stream into mae_gcm_prefetch; returns the clock in which it is accepted."""
        for _ in range(100):
            await self.tick(load=(index, stream))
            if self.loaded:
                return self.clock - 1
        raise AssertionError("the load is not taken")

    async def idle(self, clocks: int) -> None:
        """Runs mae_gcm_prefetch for some clocks without a request."""
        for _ in range(clocks):
            await self.tick()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def traffic(dut) -> None:
    """mae_gcm_prefetch gives OpenSSL's answers under random requests, loads and erasures."""
    engine = Engine(dut)
    await engine.reset()
    for number in range(4000):
        ask = load = erase = None
        if random.random() < (0.9 if number % 1000 < 500 else 0.2):
            ask = random.randrange(engine.count)
        if random.random() < 0.1:
            load = (random.randrange(engine.count), engine.any_stream())
        if random.random() < 0.004:
            erase = random.randrange(engine.count)
        await engine.tick(ask, load, erase)
    await engine.idle(LATENCY)
    assert engine.answers > 500, engine.answers


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def schedule(dut) -> None:
    """A loaded stream of mae_gcm_prefetch accepts requests after Nr + 4 clocks, one per clock."""
    engine = Engine(dut)
    await engine.reset()
    for size in engine.sizes:
        stream = engine.any_stream(1)
        stream.key = random.randbytes(size)
        loaded = await engine.load(0, stream)
        while not await engine.tick(ask=0):
            assert engine.clock < loaded + 50
        assert engine.clock - 1 - loaded == engine.rounds + 4
        await engine.tick(erase=0)
        await engine.idle(engine.rounds + 2)
    for index in range(engine.count):
        await engine.load(index, engine.any_stream())
    # All that is prepared, in consecutive clocks.
    await engine.idle(engine.rounds + 5 + engine.count * (engine.ahead + 1))
    order = [index for index in range(engine.count) for _ in range(engine.ahead)]
    random.shuffle(order)
    for index in order:
        assert await engine.tick(ask=index), "a prepared value is missing"
    # All streams by turns for ever, if together they have values enough.
    await engine.idle(engine.rounds + 5 + len(order))
    clocks = taken = 0
    for clocks in range(200):
        taken += await engine.tick(ask=clocks % engine.count)
    if len(order) >= engine.rounds + 3:
        assert taken == clocks + 1
    # One stream alone.
    await engine.idle(engine.rounds + 5 + len(order))
    taken = sum([await engine.tick(ask=0) for _ in range(200)])
    if engine.ahead >= engine.rounds + 3:
        assert taken == 200
    else:
        assert taken >= 200 * engine.ahead // (engine.rounds + 3)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def last_number(dut) -> None:
    """After message number 2^64 - 1 mae_gcm_prefetch accepts no more requests of the stream."""
    engine = Engine(dut)
    await engine.reset()
    await engine.load(0, engine.any_stream(LAST - 5))
    taken = sum([await engine.tick(ask=0) for _ in range(200)])
    assert taken == 6


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def refusals_spend(dut) -> None:
    """A message that mae_gcm_prefetch rejects, such as a replay, uses up a message number."""
    engine = Engine(dut)
    await engine.reset()
    stream = engine.any_stream(7)
    stream.decrypt = True
    await engine.load(0, stream)
    await engine.idle(engine.rounds + 30)
    for step in (0, -1, 0, 1, 0):
        number = stream.number + step
        iv = (int.from_bytes(stream.iv, "big") ^ number).to_bytes(12, "big")
        word = single_word.opened(stream.key, iv, b"header", b"payload")
        if step:
            word.wanted = (False, b"", b"")
        stream.word = lambda word=word: word
        while not await engine.tick(ask=0):
            pass
    await engine.idle(LATENCY)
    assert engine.answers == 5


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def erases(dut) -> None:
    """After a stream's erasure no register of mae_gcm_prefetch holds its key or powers of H."""
    engine = Engine(dut)
    await engine.reset()
    for clocks in (*range(30), 60):
        stream = engine.any_stream()
        await engine.load(0, stream)
        for _ in range(clocks):
            await engine.tick(ask=0 if random.random() < 0.3 else None)
        if clocks % 3:
            await engine.tick(erase=0)
        else:
            await engine.tick(clear=True)
        secrets = set(leaks.pairs(int.from_bytes(stream.key, "big"), 8 * len(stream.key)))
        await engine.tick()
        await ReadOnly()
        found = leaks.leaks(dut, secrets)
        assert not [path for path in found if "_q" in path], found
        assert not int(dut.powers_q.value) and not int(dut.waits.value)
        await NextTimeStep()
    await engine.idle(LATENCY)


BUILDS = [
    {"Streams": 5, "Ahead": 3, "MaxKeyLen": 2},
    pytest.param({"Streams": 1, "Ahead": 13, "MaxKeyLen": 0}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("build", BUILDS)
def test_gcm_prefetch(build: dict[str, int]) -> None:
    """Builds mae_gcm_prefetch with few and with many values per stream; runs this file's tests."""
    bench.run("mae_gcm_prefetch", parameters=build)
