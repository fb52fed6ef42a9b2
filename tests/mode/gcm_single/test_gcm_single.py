# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_single: a whole GCM message per clock, with OpenSSL's data, tags and verdicts.

Every answer must come Nr + 6 clocks after its message, and none besides.
"""

import random

import cocotb
import pytest
from cocotb.triggers import NextTimeStep, ReadOnly, RisingEdge

from tests.cipher import leaks
from tests.mode.gcm_single import single_word
from tests.support import bench
from tests.support.stream import start

ROUNDS = (10, 12, 14)


class Engine:
    """Sends messages to mae_gcm_single and compares each answer with OpenSSL's."""

    def __init__(self, dut) -> None:
        self.dut = dut
        longest = bench.parameters()["MaxKeyLen"]
        self.sizes = single_word.KEY_SIZES[: longest + 1]
        self.latency = ROUNDS[longest] + 6
        self.due: list[tuple[int, single_word.Word]] = []
        self.clock = self.answers = 0

    async def reset(self) -> None:
        """Resets mae_gcm_single with idle inputs."""
        await start(self.dut, clear_i=0, req_valid_i=0, key_i=0, msg_i=0)

    async def tick(self, word: single_word.Word | None = None) -> None:
        """Runs one clock of mae_gcm_single with or without a message; checks the answer due."""
        dut = self.dut
        dut.req_valid_i.value = word is not None
        if word is not None:
            dut.key_i.value, dut.msg_i.value = word.own_key(), word.msg()
            self.due.append((self.clock + self.latency, word))
        else:
            dut.key_i.value, dut.msg_i.value = random.getrandbits(355), random.getrandbits(536)
        await RisingEdge(dut.clk_i)
        self.clock += 1
        await ReadOnly()
        found = int(dut.rsp_o.value)
        if self.due and self.due[0][0] == self.clock:
            expected = self.due.pop(0)[1]
            assert int(dut.rsp_valid_o.value), "no answer"
            assert found == expected.answer(), f"{expected} {found:x}"
            self.answers += 1
        else:
            assert not int(dut.rsp_valid_o.value), "an answer that is not due"
            assert found == 0
        await NextTimeStep()

    async def run(self, words, gaps: float = 0.0) -> None:
        """Sends messages to mae_gcm_single, with random gaps, and waits for the last answer."""
        for word in words:
            while random.random() < gaps:
                await self.tick()
            await self.tick(word)
        for _ in range(self.latency + 2):
            await self.tick()
        assert not self.due

    def key(self) -> bytes:
        """Returns a random key of a length that this build supports."""
        return random.randbytes(random.choice(self.sizes))


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def any_words(dut) -> None:
    """mae_gcm_single gives OpenSSL's results for random messages, each under its own key."""
    engine = Engine(dut)
    await engine.reset()
    for gaps in (0.0, 0.5):
        words = [single_word.any_word(engine.key(), random.randbytes(12)) for _ in range(700)]
        await engine.run(words, gaps)
    assert engine.answers == 1400


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def all_lengths(dut) -> None:
    """mae_gcm_single gives OpenSSL's results for every pair of AAD and data lengths."""
    engine = Engine(dut)
    await engine.reset()
    words = []
    for aad in range(33):
        for data in range(17):
            make = single_word.opened if (aad + data) % 2 else single_word.sealed
            parts = random.randbytes(12), random.randbytes(aad), random.randbytes(data)
            words.append(make(engine.key(), *parts))
    await engine.run(words)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def every_bit(dut) -> None:
    """mae_gcm_single rejects a message with any bit of tag, AAD or data changed."""
    engine = Engine(dut)
    await engine.reset()
    key, iv = engine.key(), random.randbytes(12)
    aad, data = random.randbytes(32), random.randbytes(16)
    words = []
    for name, bits in (("tag", 128), ("aad", 256), ("data", 128)):
        for bit in range(bits):
            word = single_word.opened(key, iv, aad, data)
            old = getattr(word, name)
            new = (int.from_bytes(old, "big") ^ 1 << bit).to_bytes(len(old), "big")
            setattr(word, name, new)
            word.wanted = (False, b"", b"")
            words.append(word)
    for size in range(1, 17):  # the last bit that counts of a short tag, and the whole tag
        word = single_word.opened(key, iv, aad, data, size)
        words.append(word)
        wrong = single_word.opened(key, iv, aad, data, size)
        wrong.tag = wrong.tag[:-1] + bytes([wrong.tag[-1] ^ 1])
        wrong.wanted = (False, b"", b"")
        words.append(wrong)
    none = single_word.opened(key, iv, aad, data)
    none.tag, none.wanted = b"", (False, b"", b"")
    words.append(none)
    random.shuffle(words)
    await engine.run(words)


@cocotb.test(timeout_time=30, timeout_unit="ms")
async def cavp(dut) -> None:
    """mae_gcm_single passes NIST's CAVP vectors of at most one block."""
    engine = Engine(dut)
    await engine.reset()
    words = list(single_word.vectors(max(engine.sizes)))
    refused = sum(not word.wanted[0] for word in words)
    cocotb.log.info("%d vectors, %d of them refused", len(words), refused)
    assert len(words) > 900 * len(engine.sizes) and refused > 100
    await engine.run(words)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def clear(dut) -> None:
    """After clear_i at any clock mae_gcm_single gives no old answer; later messages are right.

    The registers inside are looked at in test_per_block_key_rounds.py and test_gcm_single_tag.py.
    """
    engine = Engine(dut)
    await engine.reset()
    for _ in range(12):
        for _ in range(random.randrange(1, 30)):
            word = single_word.any_word(engine.key(), random.randbytes(12))
            await engine.tick(word if random.random() < 0.8 else None)
        dut.clear_i.value = 1
        word = single_word.any_word(engine.key(), random.randbytes(12))
        dut.req_valid_i.value, dut.key_i.value, dut.msg_i.value = 1, word.own_key(), word.msg()
        await RisingEdge(dut.clk_i)
        engine.due.clear()
        dut.clear_i.value = dut.req_valid_i.value = 0
        await ReadOnly()
        assert int(dut.rsp_o.value) == int(dut.rsp_valid_o.value) == 0
        assert not leaks.registers_left(dut)
        await NextTimeStep()
    await engine.run([single_word.any_word(engine.key(), random.randbytes(12)) for _ in range(20)])


@pytest.mark.parametrize("longest", [0, 2])
def test_gcm_single(longest: int) -> None:
    """Builds mae_gcm_single for 128-bit keys and for all keys and runs this file's tests."""
    bench.run("mae_gcm_single", parameters={"MaxKeyLen": longest})
