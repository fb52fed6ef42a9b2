# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sbox_rom: SubBytes and its double by ROMs with two registered read ports."""

import random
import subprocess
import sys

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from maeslant import paths
from tests.cipher import fips197
from tests.support import bench

# In a process of its own: a refusal ends the whole of Yosys.
YOSYS = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.argv[1:]:
    libyosys.run_pass(command, design)
"""


@cocotb.test(timeout_time=100, timeout_unit="us")
async def all_bytes(dut) -> None:
    """mae_sbox_rom gives FIPS 197's S-box of the bytes a clock before, and twice that."""
    fips197.check_against_openssl()
    count = len(dut.in_i) // 8
    places = [random.sample(range(256), 256) for _ in range(count)]
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    before = None
    for n in (*range(256), 0):
        row = bytes(place[n] for place in places)
        dut.in_i.value = int.from_bytes(row, "little")
        await Timer(1, "ns")
        if before is not None:
            once = bytes(fips197.SBOX[x] for x in before)
            twice = bytes(fips197.times(2, x) for x in once)
            assert int(dut.out_o.value).to_bytes(count, "little") == once
            assert int(dut.twice_o.value).to_bytes(count, "little") == twice
        await RisingEdge(dut.clk_i)
        before = row


@pytest.mark.parametrize("count", (16, 3, 1))
def test_sbox_rom(count: int) -> None:
    """Builds mae_sbox_rom for an even and for odd numbers of bytes and runs this file's tests."""
    bench.run("mae_sbox_rom", parameters={"Bytes": count})


@pytest.mark.parametrize(
    "synth, cell", (("synth_xilinx -family xc7 -noiopad", "RAMB18E1"), ("synth_ecp5", "DP16KD"))
)
def test_block_ram(synth: str, cell: str) -> None:
    """Yosys maps 16 bytes of mae_sbox_rom to 8 block RAMs and no other logic."""
    sbox = paths.RTL / "cipher" / "sbox"
    files = paths.rtl_packages_of([sbox / "mae_sbox_rom.sv"]) + [sbox / "mae_sbox_rom.sv"]
    commands = (
        f"read_slang -D SYNTHESIS -I {paths.RTL / 'prim'} {' '.join(map(str, files))} "
        "--top mae_sbox_rom -G Bytes=16",
        f"{synth} -top mae_sbox_rom",
        f"select -assert-count 8 t:{cell}",
        f"select -assert-none t:* t:{cell} t:BUFG %u %d",
    )
    done = subprocess.run(
        [sys.executable, "-c", YOSYS, *commands], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-1000:]
