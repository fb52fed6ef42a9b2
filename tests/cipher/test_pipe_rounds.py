# SPDX-License-Identifier: Apache-2.0
"""Tests mae_pipe_rounds with round keys that the test provides."""

import cocotb
import pytest

from tests.cipher.lane import Lane
from tests.support import bench


@cocotb.test(timeout_time=200, timeout_unit="us")
async def random_traffic(dut) -> None:
    """mae_pipe_rounds accepts and answers random requests in the right clocks and order."""
    lane = Lane(dut, pipeline=True)
    for gap, flicker in ((0.0, 0.0), (0.3, 0.1), (0.8, 0.1)):
        await lane.reset()
        assert await lane.traffic(250, gap, flicker) > 0


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_block_a_clock(dut) -> None:
    """mae_pipe_rounds accepts a block in every clock under one key, in mixed directions."""
    lane = Lane(dut, pipeline=True)
    await lane.reset()
    for bank in range(lane.banks):
        for _ in range(60):
            assert await lane.step(lane.request(bank))
        await lane.traffic(0, 0, 0)


@cocotb.test(timeout_time=50, timeout_unit="us", skip=bench.parameters().get("Flush", 0))
async def clear_empties(dut) -> None:
    """After clear_i a full mae_pipe_rounds gives no answer; its data is erased a clock later."""
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
    """Builds mae_pipe_rounds in four configurations and runs this file's tests."""
    bench.run("mae_pipe_rounds", parameters=parameters, visible=True)
