# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_iter_unit with round keys that the test provides.

Tests mae_cipher_iter_unit alone.
"""

import cocotb
import pytest

from tests.cipher.fips197 import ROUNDS
from tests.cipher.lane import Lane
from tests.support import bench


@cocotb.test(timeout_time=200, timeout_unit="us")
async def random_traffic(dut) -> None:
    """mae_cipher_iter_unit accepts and answers random requests in the right clocks."""
    lane = Lane(dut, pipeline=False)
    for gap, flicker in ((0.0, 0.0), (0.3, 0.1), (0.8, 0.1)):
        await lane.reset()
        assert await lane.traffic(600, gap, flicker) > 0


@cocotb.test(timeout_time=50, timeout_unit="us")
async def next_block_with_the_answer(dut) -> None:
    """mae_cipher_iter_unit accepts a block in the clock of each answer: one per Nr clocks."""
    lane = Lane(dut, pipeline=False)
    await lane.reset()
    for bank in range(lane.banks):
        period = ROUNDS[len(lane.keys[bank])]
        for clock in range(4 * period):
            taken = await lane.step(lane.request(bank))
            assert taken == (clock % period == 0)
        await lane.traffic(0, 0, 0)


@cocotb.test(timeout_time=50, timeout_unit="us")
async def clear_empties(dut) -> None:
    """After clear_i in any round mae_cipher_iter_unit gives no answer and holds no data."""
    lane = Lane(dut, pipeline=False)
    await lane.reset()
    for clocks in range(10):
        assert await lane.step(lane.request(0))
        for _ in range(clocks):
            await lane.step()
        await lane.clear(1)


@pytest.mark.parametrize(
    "parameters",
    ({"KeyBanks": 3}, {"KeyBanks": 1, "Dirs": 2, "MaxKeyLen": 0, "Sbox": 2}),
    ids=str,
)
def test_cipher_iter_unit(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_iter_unit for several key lengths and directions; runs all tests."""
    bench.run("mae_cipher_iter_unit", parameters=parameters, visible=True)
