# SPDX-License-Identifier: Apache-2.0
"""Tests gcm_self_test on the ULX3S: its lines over the serial line, its LEDs, what it notices."""

import re

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from maeslant import paths
from tests.boards.ulx3s import BAUD, RIGHT, WRONG, finish, published, start
from tests.support import bench

ALL = (1 << 128) - 1
KINDS = ("encrypt", "decrypt", "refuse")
LINES = [f"{number} {kind} ok" for number in (1, 2, 3) for kind in KINDS] + ["ok"]
SOURCE = paths.ROOT / "boards" / "gcm_self_test.sv"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def finds_the_engine_right(dut) -> None:
    """All cases of all vectors are right, twice: the reset button starts the test again."""
    for _ in range(2):
        assert await finish(dut, await start(dut)) == (LINES, RIGHT)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def notices_a_wrong_hash(dut) -> None:
    """A bit of the engine's hash input that flips once makes one case and the whole test fail."""
    receiver = await start(dut)
    await RisingEdge(dut.u_test.u_gcm.hash_beat_valid_q)
    await FallingEdge(dut.clk_25mhz)
    data = dut.u_test.u_gcm.hash_data_q
    data.value = int(data.value) ^ 1 << 77
    lines = ["1 encrypt failed", *LINES[1:-1], "failed"]
    assert await finish(dut, receiver) == (lines, WRONG)


async def hold(dut, register, bits: int, value: int) -> None:
    """Holds some bits of a register of the engine at a value from now on."""
    while True:
        await FallingEdge(dut.clk_25mhz)
        register.value = int(register.value) & ~bits | value


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def notices_a_stuck_bit(dut) -> None:
    """A bit of the engine's output that is always 1 makes each case fail where it ought to be 0."""
    receiver = await start(dut)
    cocotb.start_soon(hold(dut, dut.u_test.u_gcm.out_data_o, 1, 1))
    lines = [*(f"1 {kind} failed" for kind in KINDS), *LINES[3:-1], "failed"]
    assert await finish(dut, receiver) == (lines, WRONG)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def notices_silence(dut) -> None:
    """An engine that hashes nothing gives no tag: all cases fail, and the test ends."""
    receiver = await start(dut)
    engine = dut.u_test.u_gcm
    cocotb.start_soon(hold(dut, engine.hash_beat_valid_q, 1, 0))
    cocotb.start_soon(hold(dut, engine.hash_data_q, ALL, 0))
    lines = [line.replace("ok", "failed") for line in LINES]
    assert await finish(dut, receiver) == (lines, WRONG)


def test_vectors() -> None:
    """The vectors in the RTL are those of CAVP that its header names."""
    vectors = published(51, 20) + published(32, 0) + published(0, 16)
    assert "".join(re.findall(r"'h([0-9a-f]+)", SOURCE.read_text())) == vectors


def test_ulx3s_gcm() -> None:
    """Builds the top of the ULX3S with the GCM self-test and runs this file's tests."""
    sources = ["tests/boards/gcm_self_test.vlt", "boards/uart_tx.v", "boards/gcm_self_test.sv"]
    sources += ["boards/ulx3s/ulx3s_gcm.sv"]
    bench.run("ulx3s_gcm", sources=sources, parameters={"Baud": BAUD})
