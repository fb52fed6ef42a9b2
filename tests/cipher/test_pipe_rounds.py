# SPDX-License-Identifier: Apache-2.0
"""Tests mae_pipe_rounds and mae_pipe_rounds_rom with round keys that the test provides."""

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.cipher import fips197
from tests.cipher.lane import Lane
from tests.cipher.leaks import leaks, pairs
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


@cocotb.test(timeout_time=50, timeout_unit="us", skip=bench.parameters().get("Flush", 1))
async def clear_empties(dut) -> None:
    """After clear_i a full mae_pipe_rounds gives no answer; its data is erased a clock later."""
    lane = Lane(dut, pipeline=True)
    await lane.reset()
    for _ in range(60):
        assert await lane.step(lane.request(0))
    await lane.clear(2)


@cocotb.test(timeout_time=50, timeout_unit="us", skip=not bench.parameters().get("Flush", 1))
async def clear_shifts_out(dut) -> None:
    """With Flush = 1, and with ROMs, all data have left the clocks of a block after clear_i."""
    lane = Lane(dut, pipeline=True)
    for port, active in ((dut.clear_i, 1), (dut.rst_ni, 0)):
        await lane.reset()
        secrets = set()
        for _ in range(60):
            _, bank, decrypt, block = request = lane.request()
            if await lane.step(request):
                secrets |= pieces(lane.keys[bank], block, bool(decrypt))
        dut.req_valid_i.value = 0
        dut.req_i.value = 0
        await Timer(1, "ns")
        assert len(leaks(dut, secrets)) > 10
        port.value = active
        await RisingEdge(dut.clk_i)
        port.value = 1 - active
        lane.inside.clear()
        await Timer(1, "ns")
        assert int(dut.rsp_valid_o.value) == 0
        for _ in range(lane.latency(max(lane.keys, key=len))):
            await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        assert leaks(dut, secrets) == []


def pieces(key: bytes, block: bytes, decrypt: bool) -> set[int]:
    """Returns 64-bit pieces of the AES states of a block, of their SubBytes and of twice those."""
    states = fips197.states(key, block, decrypt)
    once = [bytes(fips197.SBOX[x] for x in state) for state in states]
    twice = [bytes(fips197.times(2, x) for x in state) for state in once]
    whole = [int.from_bytes(s, "big") for s in (*states, *once, *twice)]
    return {piece for s in whole for piece in pairs(s, 128)}


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
    """Builds mae_pipe_rounds in five configurations and runs this file's tests."""
    bench.run("mae_pipe_rounds", parameters={"Flush": 0} | parameters, visible=True)


@pytest.mark.parametrize(
    "parameters",
    (
        {"KeyBanks": 3},
        {"KeyBanks": 1, "MaxKeyLen": 0, "CtxBits": 8},
        {"KeyBanks": 2, "RegsPerRound": 2},
    ),
    ids=str,
)
def test_pipe_rounds_rom(parameters: dict[str, int]) -> None:
    """Builds mae_pipe_rounds_rom in three configurations and runs this file's tests."""
    bench.run("mae_pipe_rounds_rom", parameters=parameters, visible=True)
