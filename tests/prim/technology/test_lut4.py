# SPDX-License-Identifier: Apache-2.0
"""Tests mae_lut4: functions of four bits by their tables, and that an ECP5 has one LUT for each."""

import pathlib
import random

import cocotb
import pytest
from cocotb.triggers import Timer

from maeslant.synth import flow
from maeslant.synth.fpga import flow as fpga
from tests.support import bench


@cocotb.test(timeout_time=10, timeout_unit="us")
async def all_values(dut) -> None:
    """mae_lut4 gives the table's bit for each of the 16 inputs, in each of its positions."""
    values, width = (int(bench.parameters()[name]) for name in ("Values", "Width"))
    for at in zip(*(random.sample(range(16), 16) for _ in range(width)), strict=True):
        places = [(n, i) for n in range(width) for i in range(4)]
        dut.in_i.value = sum((at[n] >> i & 1) << (width * i + n) for n, i in places)
        await Timer(1, "ns")
        assert int(dut.out_o.value) == sum((values >> x & 1) << n for n, x in enumerate(at))


@pytest.mark.parametrize("values", (0x7888, 0x1ED8))
def test_lut4(values: int) -> None:
    """Builds mae_lut4 for five functions and runs this file's tests."""
    bench.run("mae_lut4", parameters={"Values": values, "Width": 5})


def test_luts_are_kept(tmp_path: pathlib.Path) -> None:
    """Synthesis for an ECP5 gives the S-box of mae_lut4 the 67 LUTs that it was written with."""
    what = flow.point("mae_sbox_luts4", "ecp5")
    assert what.recipe["kept"] == [*fpga.PRESERVED_ECP5]
    area = fpga.map_core(what.design, "ecp5", tmp_path, what.recipe, lambda step: None)
    assert area["lut"] == 67
    assert "kept" not in flow.point("mae_sbox_low_depth", "ecp5").recipe
