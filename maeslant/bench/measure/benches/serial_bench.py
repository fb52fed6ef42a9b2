# SPDX-License-Identifier: Apache-2.0
"""Measures the clocks of the serial AES core in simulation (cocotb).

Every answer is compared with the `cryptography` package. Figures are written as JSON lines to the
file named by MAESLANT_FIGURES.
"""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant.bench.measure.benches.cipher_bench import note

BLOCKS = 20


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def figures(dut) -> None:
    """Encrypts blocks as fast as the serial core takes them; notes its latency and rate."""
    source = random.Random(1)
    Clock(dut.clk_i, 2, unit="ns").start()
    for name in ("rst_ni", "clear_i", "block_i", "key_i"):
        getattr(dut, name).value = 0
    dut.req_valid_i.value = 1
    for _ in range(2):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    clock, given, wanted, answer = 0, [], [], b""
    asked, answered = [], []
    while len(answered) < BLOCKS:
        dut.key_i.value, dut.block_i.value = given.pop(0) if given else (0, 0)
        await RisingEdge(dut.clk_i)
        clock += 1
        if int(dut.req_ready_o.value):
            asked.append(clock)
            key, block = source.randbytes(16), source.randbytes(16)
            given = list(zip(key, block, strict=True))
            made = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
            wanted.append(made.update(block))
        if int(dut.rsp_valid_o.value):
            answer += bytes([int(dut.rsp_o.value)])
        if len(answer) == 16:
            assert answer == wanted.pop(0)
            answered.append(clock)
            answer = b""
    latency = answered[0] - asked[0]
    assert all(end - begin == latency for begin, end in zip(asked, answered, strict=False))
    each = (answered[-1] - answered[0]) / (BLOCKS - 1)
    note("encrypt, latency", latency, bits=128, kind="latency")
    note("encrypt, clocks a block of one lane", each, bits=128, kind="block")
    note("encrypt, blocks a clock", 1 / each, bits=128, kind="rate")
