# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_serial: values, clocks, and that nothing is left behind a block."""

import os
import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.cipher.fips197 import openssl
from tests.support import bench
from tests.support.stream import start

FIRST, LAST, EVERY = 321, 336, 337  # clocks from a request to its answer's bytes, to the next one
FIPS197 = (  # appendix B, and C.1
    ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734"),
    ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"),
)
ANSWERS = ("3925841d02dc09fbdc118597196a0b32", "69c4e0d86a7b0430d8cdb78070b4c55a")


class Serial:
    """Drives the serial cipher a clock at a time; keeps what it answered."""

    def __init__(self, dut) -> None:
        self.dut, self.clock = dut, 0
        self.bytes: list[bytes] = []  # of the key and the block, still to be taken
        self.answered: list[tuple[int, int]] = []  # clock, byte

    async def reset(self) -> None:
        await start(self.dut, clear_i=0, req_valid_i=0, block_i=0, key_i=0)

    async def step(self) -> None:
        """Runs one clock; bytes of a request are given in the clocks behind it, else noise."""
        taken = bool(self.bytes)
        given = self.bytes.pop(0) if taken else random.randbytes(2)
        self.dut.key_i.value, self.dut.block_i.value = given
        await RisingEdge(self.dut.clk_i)
        self.clock += 1
        assert bool(int(self.dut.take_o.value)) == taken
        out = int(self.dut.rsp_o.value)
        if int(self.dut.rsp_valid_o.value):
            self.answered.append((self.clock, out))
        else:
            assert out == 0, "a byte of a state that is no answer"

    async def request(self, key: bytes, block: bytes) -> int:
        """Asks for a block as soon as the cipher is ready; returns the clock of the request."""
        self.dut.req_valid_i.value = 1
        while True:
            await self.step()
            if int(self.dut.req_ready_o.value):
                break
        self.dut.req_valid_i.value = 0
        self.bytes = [bytes(pair) for pair in zip(key, block, strict=True)]
        return self.clock

    async def encrypt(self, key: bytes, block: bytes) -> bytes:
        """Encrypts a block; asserts the clocks of its answer."""
        self.answered = []
        begun = await self.request(key, block)
        # The values of a clock are read at its end.
        for _ in range(EVERY - 1):
            await self.step()
        clocks = [clock - begun for clock, _ in self.answered]
        assert clocks == [*range(FIRST, LAST + 1)]
        return bytes(byte for _, byte in self.answered)


async def begin(dut) -> Serial:
    """Resets the cipher and returns its driver."""
    cipher = Serial(dut)
    await cipher.reset()
    return cipher


@cocotb.test(timeout_time=100, timeout_unit="us")
async def known_answers(dut) -> None:
    """The cipher gives FIPS 197's answers of appendices B and C.1."""
    cipher = await begin(dut)
    for (key, block), answer in zip(FIPS197, ANSWERS, strict=True):
        assert (await cipher.encrypt(bytes.fromhex(key), bytes.fromhex(block))).hex() == answer


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def random_blocks(dut) -> None:
    """Random blocks with a key each, one every 337 clocks, are OpenSSL's."""
    cipher = await begin(dut)
    before = None
    for i in range(60):
        key, block = random.randbytes(16), random.randbytes(16)
        assert await cipher.encrypt(key, block) == openssl(key, block, False)
        if before:
            assert cipher.clock - before == EVERY
        before = cipher.clock
        if i % 8 == 7:
            before = None
            for _ in range(random.randrange(40)):
                await cipher.step()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def clears(dut) -> None:
    """clear_i and reset in any phase end a block; the next is right and the wait is 16 clocks."""
    cipher = await begin(dut)
    for i in range(60):
        await cipher.request(random.randbytes(16), random.randbytes(16))
        for _ in range(random.randrange(EVERY - 1)):
            await cipher.step()
        signal, on, off = (dut.rst_ni, 0, 1) if i % 4 == 3 else (dut.clear_i, 1, 0)
        signal.value = on
        await RisingEdge(dut.clk_i)
        signal.value = off
        cipher.clock += 1
        cipher.answered, cipher.bytes = [], []
        for _ in range(15):
            await cipher.step()
            assert not int(dut.req_ready_o.value)
        key, block = random.randbytes(16), random.randbytes(16)
        assert await cipher.encrypt(key, block) == openssl(key, block, False)


@cocotb.test(timeout_time=2, timeout_unit="ms", skip=not os.environ.get("CIPHER_VISIBLE"))
async def nothing_is_left(dut) -> None:
    """State and key are zero behind a block's last byte, and 16 clocks after a clear or a reset."""
    cipher = await begin(dut)

    def held() -> int:
        return int(dut.state_q.value) | int(dut.rk_q.value)

    for how in ("end", "clear", "reset") * 6:
        await cipher.request(random.randbytes(16), random.randbytes(16))
        for _ in range(EVERY - 1 if how == "end" else random.randrange(1, EVERY - 1)):
            await cipher.step()
        if how != "end":
            (dut.clear_i if how == "clear" else dut.rst_ni).value = int(how == "clear")
            await RisingEdge(dut.clk_i)
            dut.clear_i.value = 0
            for _ in range(16):
                await RisingEdge(dut.clk_i)
        await Timer(1, unit="ns")
        assert held() == 0
        dut.rst_ni.value = 1
        cipher.bytes = []
        await cipher.step()


@pytest.mark.parametrize(
    "parameters",
    ({}, *(pytest.param({"Sbox": i}, marks=pytest.mark.slow) for i in (0, 1, 3, 4, 5))),
    ids=str,
)
def test_cipher_serial(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_serial with several S-boxes and runs this file's tests."""
    bench.run("mae_cipher_serial", parameters=parameters)


def test_nothing_is_left() -> None:
    """Builds mae_cipher_serial with all signals visible and looks for what a block leaves."""
    how = {"env": {"CIPHER_VISIBLE": "1"}, "test_filter": "nothing_is_left", "visible": True}
    bench.run("mae_cipher_serial", **how)
