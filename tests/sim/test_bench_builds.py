# SPDX-License-Identifier: Apache-2.0
"""Tests when cocotb_bench builds the simulator of a test bench again."""

import os
import pathlib
import re
import shutil

import cocotb
import pytest
from cocotb.triggers import Timer

from maeslant import paths
from maeslant.build import cocotb_bench

SOURCE = "module given(output logic [7:0] value_o);\n  assign value_o = 8'd{};\nendmodule\n"


@cocotb.test(timeout_time=1, timeout_unit="us")
async def gives_the_value(dut) -> None:
    """The simulated module puts out the value that its source has."""
    await Timer(1, "ns")
    assert int(dut.value_o.value) == int(os.environ["MAESLANT_WANTED"])


def test_built_again_when_changed(tmp_path: pathlib.Path) -> None:
    """A bench is built again when its source has changed, and not otherwise."""
    source = tmp_path / "given.sv"

    def run(wanted: int) -> None:
        cocotb_bench.simulate(
            "given", __name__, sources=[source], env={"MAESLANT_WANTED": str(wanted)}
        )

    before = set((paths.BUILD / "bench").glob("given-*"))
    source.write_text(SOURCE.format(1))
    run(1)
    (folder,) = set((paths.BUILD / "bench").glob("given-*")) - before
    try:
        made = (folder / "given").stat().st_mtime_ns
        run(1)
        assert (folder / "given").stat().st_mtime_ns == made
        source.write_text(SOURCE.format(2))
        with pytest.raises(cocotb_bench.SimulationError, match="1 of 1 failed"):
            run(1)
        run(2)
        # The simulator seems newer than what it is made of: the clock was set back meanwhile.
        later = (folder / "given").stat().st_mtime + 3600
        os.utime(folder / "given", (later, later))
        source.write_text(SOURCE.format(3))
        # And the source seems to be the one that Verilator read: changed in the same second.
        times, now = folder / "Vtop__verFiles.dat", source.stat()
        stamps = [now.st_size, now.st_ino, int(now.st_ctime), 0, int(now.st_mtime), 0]
        line = rf'S [\s\d]* ("[^"]*") ("{source}")'
        new, count = re.subn(line, rf"S {' '.join(map(str, stamps))} \1 \2", times.read_text())
        assert count == 1
        times.write_text(new)
        run(3)
        (folder / "given").unlink()
        run(3)
        source.write_text(SOURCE.format("z2"))
        with pytest.raises(cocotb_bench.SimulationError, match="given does not build"):
            run(3)
    finally:
        shutil.rmtree(folder)
