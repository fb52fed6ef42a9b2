# SPDX-License-Identifier: Apache-2.0
"""Tests the assertion macros of mae_assert.svh: each fires, and slang and Yosys read them."""

import subprocess
import sys

import cocotb
import pyslang
import pytest
from cocotb.triggers import ClockCycles

from maeslant import paths
from maeslant.build.cocotb_bench import SimulationError
from tests.support import bench
from tests.support.stream import start

WRAPPER = "tests/prim/broken_stream.sv"


@cocotb.test(timeout_time=10, timeout_unit="us")
async def run_a_while(dut) -> None:
    """Runs broken_stream long enough for each of its faults to occur."""
    await start(dut, ready_i=0)
    await ClockCycles(dut.clk_i, 10)
    dut.ready_i.value = 1
    await ClockCycles(dut.clk_i, 40)


def test_rules_kept() -> None:
    """No assertion of mae_assert.svh fires while broken_stream keeps the handshake rules."""
    bench.run("broken_stream", sources=[WRAPPER])


@pytest.mark.parametrize(
    ("fault", "name"), [(1, "StreamHolds"), (2, "StreamHolds"), (3, "ClockSmall")]
)
def test_fires(fault: int, name: str) -> None:
    """An assertion of mae_assert.svh ends the simulation and names the broken rule."""
    with pytest.raises(SimulationError, match=f"Error: .*broken_stream.*{name}"):
        bench.run("broken_stream", sources=[WRAPPER], parameters={"Fault": fault})


def test_illegal_parameter() -> None:
    """MAE_PARAM ends the simulation of a module with an illegal parameter value."""
    with pytest.raises(SimulationError, match="illegal parameter: FaultLegal"):
        bench.run("broken_stream", sources=[WRAPPER], parameters={"Fault": 4})


@pytest.mark.parametrize("defines", [[], ["-DSYNTHESIS=1"]], ids=["simulation", "synthesis"])
def test_slang_reads(defines: list[str]) -> None:
    """The slang front end compiles every macro of mae_assert.svh."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    options = ["slang", "-I", str(paths.RTL / "prim"), *defines]
    assert driver.parseCommandLine(" ".join([*options, str(paths.ROOT / WRAPPER)]))
    assert driver.processOptions() and driver.parseAllSources()
    assert driver.runFullCompilation()


@pytest.mark.parametrize("option", ["", "--no-synthesis-define"], ids=["synthesis", "formal"])
def test_yosys_reads(option: str) -> None:
    """Yosys reads mae_assert.svh: nothing for synthesis, check cells for formal proofs."""
    script = (
        "import sys; from pyosys import libyosys as ys; design = ys.Design();"
        "[ys.run_pass(line, design) for line in sys.argv[1:]]"
    )
    read = f"read_slang {option} -I {paths.RTL / 'prim'} --top broken_stream {paths.ROOT / WRAPPER}"
    count = "0" if not option else "2"
    subprocess.run(
        [sys.executable, "-c", script, read, f"select -assert-count {count} t:$check"],
        check=True,
        capture_output=True,
    )
