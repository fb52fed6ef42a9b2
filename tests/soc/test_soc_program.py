# SPDX-License-Identifier: Apache-2.0
"""Tests mae_soc by its ports alone: it runs the boards' self-test from its memory's image."""

import pathlib
import re

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from maeslant import paths
from maeslant.build import firmware
from tests.support import bench

SOURCE = paths.ROOT / "boards" / "soc_self_test.c"
CASES = ("GCM encrypt", "GCM decrypt", "GCM refuse", "CBC encrypt")


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def runs_a_program(dut) -> None:
    """The CPU computes with the peripheral, prints published results, finishes with code 0."""
    Clock(dut.clk_i, 10, "ns").start()
    dut.console_ready_i.value = 1
    dut.rst_ni.value = 0
    for _ in range(5):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    text = ""
    while not int(dut.finish_valid_o.value):
        await FallingEdge(dut.clk_i)
        assert not int(dut.trap_o.value)
        if int(dut.console_valid_o.value):
            text += chr(int(dut.console_data_o.value))
    lines = text.splitlines()
    for case, line in zip((*CASES, ""), lines, strict=True):
        assert re.fullmatch(rf"{case} ok, [1-9]\d* clocks" if case else "ok", line), text
    assert int(dut.finish_code_o.value) == 0


def image() -> pathlib.Path:
    """Compiles the program if out of date; returns its memory's image, for $readmemh."""
    made = firmware.OUT / "soc_self_test.hex"
    firmware.write_image(SOURCE, made)
    return made


def test_soc_program() -> None:
    """The system runs its program, and so does a netlist that has it in its block RAM."""
    bench.run("mae_soc", parameters={"Image": f'"{image()}"'})
