# SPDX-License-Identifier: Apache-2.0
"""mae_pipe_rounds alone: round keys and readiness come from the test, not from a key memory."""

import cocotb
import pytest

from tests.cipher.lane import Lane
from tests.support import bench


@cocotb.test(timeout_time=200, timeout_unit="us")
async def random_traffic(dut) -> None:
    """Every answer in its clock and in order; readiness exactly as the header says."""
    lane = Lane(dut, pipeline=True)
    for gap, flicker in ((0.0, 0.0), (0.3, 0.1), (0.8, 0.1)):
        await lane.reset()
        assert await lane.traffic(250, gap, flicker) > 0


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_block_a_clock(dut) -> None:
    """Under one key, directions mixed, no clock is lost."""
    lane = Lane(dut, pipeline=True)
    await lane.reset()
    for bank in range(lane.banks):
        for _ in range(60):
            assert await lane.step(lane.request(bank))
        await lane.traffic(0, 0, 0)


@cocotb.test(timeout_time=50, timeout_unit="us", skip=bench.parameters().get("Flush", 0))
async def clear_empties(dut) -> None:
    """A full pipeline gives no answer after clear_i and holds no data a clock later."""
    lane = Lane(dut, pipeline=True)
    await lane.reset()
    for _ in range(60):
        assert await lane.step(lane.request(0))
    await lane.clear(2)


@pytest.mark.parametrize(
    "parameters",
    (
        {"KeyBanks": 3},
        {"KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 1, "RegsPerRound": 3},
        {"KeyBanks": 3, "RegsPerRound": 2, "Sbox": 3, "Flush": 1},
        {"KeyBanks": 3, "RoundsPerReg": 2},
        {"KeyBanks": 1, "RoundsPerReg": 2, "Dirs": 1, "MaxKeyLen": 0, "Flush": 1},
    ),
    ids=str,
)
def test_pipe_rounds(parameters: dict[str, int]) -> None:
    """A bank for each key length; deep, encryption only; bare registers; two rounds a register."""
    bench.run("mae_pipe_rounds", parameters=parameters, visible=True)
