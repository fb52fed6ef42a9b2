# SPDX-License-Identifier: Apache-2.0
"""Tests aes_uart on the top of each board: the serial line's commands and the self-test's LED."""

import os
import pathlib
import random
import re

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant import paths
from tests.boards.serial_line import Receiver
from tests.support import bench

# The core is tested with a faster line and a shorter wait than the boards have: fewer clocks.
QUICK = {"BAUD": 921_600, "IDLE_BITS": 13}
BIT = 10**9 // bench.parameters().get("BAUD", 115_200)  # ns
OWN = ("boards/aes_uart.v", "boards/uart_tx.v")
CORE = "clk_i 40 rst_ni 0 rx_i tx_o ok_o 1"  # aes_uart without a board, as BENCH in boards/board.mk


def benches() -> dict[str, list[str]]:
    """Reads what the bench has to know of each board from BENCH in the board's Makefile."""
    found = {"aes_uart": CORE.split()}
    for makefile in sorted((paths.ROOT / "boards").glob("*/Makefile")):
        (words,) = re.findall(r"^BENCH := (.*)$", makefile.read_text(), re.M)
        found[makefile.parent.name] = words.split()
    return found


BOARDS = benches()


class Host:
    """Models the computer at the other end of a board's serial line."""

    def __init__(self, dut) -> None:
        names = BOARDS[os.environ["MAESLANT_BOARD"]]
        self.dut = dut
        clock, period, reset, level, to_board, from_board, led, lit = names
        self.period, self.level, self.lit = int(period), int(level), int(lit)
        self.clock, self.reset = getattr(dut, clock), getattr(dut, reset)
        self.to_board, self.led = getattr(dut, to_board), getattr(dut, led)
        self.receiver = Receiver(getattr(dut, from_board), BIT)
        self.unit = dut if os.environ["MAESLANT_BOARD"] == "aes_uart" else dut.u_aes

    async def begin(self) -> None:
        """Presses the board's reset button, and listens to its serial line from then on."""
        cocotb.start_soon(Clock(self.clock, self.period, "ns").start())
        self.to_board.value = 1
        self.reset.value = self.level
        await ClockCycles(self.clock, 5)
        self.reset.value = 1 - self.level
        await ClockCycles(self.clock, 50)
        cocotb.start_soon(self.receiver.listen())

    async def ask(self, words: bytes) -> bytes:
        """Sends bytes to the board and returns its answer."""
        self.receiver.bytes.clear()
        for byte in words:
            for bit in (0, *(byte >> i & 1 for i in range(8)), 1):
                self.to_board.value = bit
                await Timer(BIT, "ns")
        await Timer(BIT * 190, "ns")  # longer than the longest answer
        return bytes(self.receiver.bytes)

    def nothing_stays(self) -> None:
        """Checks that no register of the board's core holds a key or a block."""
        walk = self.unit.u_cipher.u_walk
        for secret in (self.unit.bytes, self.unit.u_cipher.state_q, walk.window_q, walk.store_q):
            assert not int(secret.value), secret._path

    def self_test_is_right(self) -> bool:
        """Tells whether the LED shows that the self-test was right."""
        return (int(self.led.value) & 1) == self.lit


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def encrypts(dut) -> None:
    """A board gives OpenSSL's ciphertext over its serial line, and needs a key for it."""
    host = Host(dut)
    await host.begin()
    assert host.self_test_is_right()
    assert await host.ask(b"t") == b"y"
    assert await host.ask(b"e") == b"?", "the self-test's key is erased"
    host.nothing_stays()
    rng = random.Random(1)
    for _ in range(2):
        key, block = rng.randbytes(16), rng.randbytes(16)
        assert await host.ask(b"k" + key) == b"k"
        assert not int(host.unit.bytes.value), "the key is in the core alone"
        for _ in range(2):
            want = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)
            assert await host.ask(b"e" + block) == b"e" + want
            block = rng.randbytes(16)
    assert await host.ask(b"z") == b"?"
    assert await host.ask(b"x") == b"x"
    host.nothing_stays()
    assert await host.ask(b"e") == b"?"


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def half_a_command(dut) -> None:
    """A board drops a command whose bytes do not come, and takes the next one."""
    if "IDLE_BITS" not in bench.parameters():
        return
    host = Host(dut)
    await host.begin()
    assert await host.ask(b"k" + bytes(15)) == b""
    await Timer((1 << QUICK["IDLE_BITS"]) * host.period + BIT, "ns")
    assert await host.ask(b"t") == b"y"


@pytest.mark.parametrize("board", BOARDS)
def test_board(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds the top of each board with aes_uart and runs this file's tests."""
    monkeypatch.setenv("MAESLANT_BOARD", board)
    sources = dict.fromkeys([*pathlib.Path("boards").glob(f"*/{board}.v"), *OWN])
    parameters = QUICK if board == "aes_uart" else {}
    bench.run(board, sources=list(sources), parameters=parameters, visible=True)
