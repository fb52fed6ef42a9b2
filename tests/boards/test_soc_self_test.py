# SPDX-License-Identifier: Apache-2.0
"""Tests the PicoRV32 system on the ULX3S with soc_self_test.c: its lines, LEDs, what it notices."""

import re

import cocotb
from cocotb.triggers import FallingEdge

from maeslant import paths
from maeslant.build import firmware
from tests.boards.ulx3s import BAUD, RIGHT, WRONG, finish, published, start
from tests.support import bench
from tests.vectors import nist

SOURCE = paths.ROOT / "boards" / "soc_self_test.c"
CASES = ("GCM encrypt", "GCM decrypt", "GCM refuse", "CBC encrypt")


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def finds_the_peripheral_right(dut) -> None:
    """The program prints that all is right, twice: the reset button starts it again."""
    for _ in range(2):
        lines, leds = await finish(dut, await start(dut))
        for case, line in zip((*CASES, ""), lines, strict=True):
            assert re.fullmatch(rf"{case} ok, [1-9]\d* clocks" if case else "ok", line), line
        assert leds == RIGHT


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def notices_a_stuck_bit(dut) -> None:
    """A bit of the cipher's state that is always 1 makes the program fail."""
    receiver = await start(dut)
    core = dut.u_soc.u_fabric.gen_peripheral[0].u_peripheral.u_core
    state = core.gen_iter.u_cipher.gen_unit[0].u_unit.state_q

    async def hold() -> None:
        while True:
            await FallingEdge(dut.clk_25mhz)
            state.value = int(state.value) | 1

    cocotb.start_soon(hold())
    lines, leds = await finish(dut, receiver)
    assert lines[0].startswith("GCM encrypt failed, ")
    assert (lines[-1], leds) == ("failed", WRONG)


def test_vectors() -> None:
    """The vectors in the program are those of CAVP that its header names."""
    (file,) = (path for path in nist.files("cbc") if path.stem == "CBCMMT128")
    cbc = next(vector for vector in nist.parse(file) if vector.encrypt and vector.count == 3)
    parts = (cbc.key, cbc.iv, cbc.plaintext, cbc.ciphertext)
    found = "".join(re.findall(r'"([0-9a-f]+)"', SOURCE.read_text()))
    assert found == published(51, 20) + b"".join(parts).hex()


def test_ulx3s_soc() -> None:
    """Builds the top of the ULX3S with the PicoRV32 system and runs this file's tests."""
    image = firmware.OUT / "soc_self_test.hex"
    firmware.write_image(SOURCE, image)
    sources = ["tests/boards/soc_self_test.vlt", "boards/uart_tx.v", "boards/ulx3s/ulx3s_soc.sv"]
    bench.run("ulx3s_soc", sources=sources, parameters={"Baud": BAUD, "Image": f'"{image}"'})
