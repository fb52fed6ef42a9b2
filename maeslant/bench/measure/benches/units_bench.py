# SPDX-License-Identifier: Apache-2.0
"""Measures the throughput of mae_mode_axis for one long ECB message in simulation (cocotb).

The result is compared with the `cryptography` package. Figures are written as JSON lines to the
file named by MAESLANT_FIGURES.
"""

import json
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

LANES = int(json.loads(os.environ["MAESLANT_PARAMETERS"])["Lanes"])
ROWS = 65
PERIOD_NS = 2
ECB = 0  # of mode_e


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_long_message(dut) -> None:
    """Measures the blocks a clock of mae_mode_axis while it encrypts one long message in ECB."""
    source = random.Random(1)
    Clock(dut.clk_i, PERIOD_NS, unit="ns").start()
    dut.clear_i.value = dut.rst_ni.value = 0

    def stream(kind: type, name: str) -> AxiStreamSource | AxiStreamSink:
        return kind(AxiStreamBus.from_prefix(dut, name), dut.clk_i, dut.rst_ni, False)

    keys, commands, rows = (
        stream(AxiStreamSource, f"s_axis{part}") for part in ("_key", "_cmd", "")
    )
    sink = stream(AxiStreamSink, "m_axis")
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    key, data = source.randbytes(16), source.randbytes(16 * LANES * ROWS)
    await keys.send(AxiStreamFrame(key.ljust(40, bytes(1))))
    await keys.wait()
    await commands.send(AxiStreamFrame(bytes([ECB]).ljust(32, bytes(1))))
    await rows.send(AxiStreamFrame(data))
    frame = await sink.recv()
    aes = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - the mode measured
    assert bytes(frame.tdata) == aes.update(data)
    clocks = (frame.sim_time_end - frame.sim_time_start) / (1000 * PERIOD_NS)
    rate = LANES * (ROWS - 1) / clocks
    with open(os.environ["MAESLANT_FIGURES"], "a") as file:
        file.write(json.dumps({"rate": rate}) + "\n")
