# SPDX-License-Identifier: Apache-2.0
"""Runs the self-tests on tops of the ULX3S: reset button, serial line, LEDs 0 (right) and 1."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from tests.boards.serial_line import Receiver
from tests.vectors import gcm

BAUD = 3_125_000  # faster than the board's: fewer clocks
RIGHT, WRONG = 1, 2


async def start(dut) -> Receiver:
    """Presses the reset button; returns what listens to the serial line from then on."""
    Clock(dut.clk_25mhz, 40, "ns").start()
    dut.btn_pwr_n.value = 0
    await ClockCycles(dut.clk_25mhz, 5)
    receiver = Receiver(dut.ftdi_rxd, 10**9 // BAUD)
    cocotb.start_soon(receiver.listen())
    dut.btn_pwr_n.value = 1
    return receiver


async def finish(dut, receiver: Receiver) -> tuple[list[str], int]:
    """Waits until a LED shows the result; returns the lines that came, and the LEDs."""
    while not int(dut.led.value) & 3:
        await ClockCycles(dut.clk_25mhz, 500)
    text = receiver.bytes.decode()
    assert text.endswith("\r\n")
    return text.split("\r\n")[:-1], int(dut.led.value) & 3


def published(plain_bytes: int, aad_bytes: int) -> str:
    """Returns CAVP's first vector with these lengths, an IV of 12 and a tag of 16 bytes, as hex."""
    v = next(
        v
        for v in gcm.cavp()
        if v.name.startswith("gcmEncryptExtIV128 ")
        and (len(v.iv), len(v.tag)) == (12, 16)
        and (len(v.plaintext), len(v.aad)) == (plain_bytes, aad_bytes)
    )
    return b"".join((v.key, v.iv, v.aad, v.plaintext, v.ciphertext, v.tag)).hex()
