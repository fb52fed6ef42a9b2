# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_lanes: interface of a block cipher with 1 to 16 lanes, chained messages."""

import os
import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    Request,
    begin,
    clear_unloads,
    flush_leaves_nothing,
    key_timing,
    key_waits_for_its_blocks,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.support import bench

VISIBLE = bool(os.environ.get("CIPHER_VISIBLE"))


@cocotb.test(timeout_time=100, timeout_unit="us")
async def chained_messages_fill_the_lanes(dut) -> None:
    """Latency + 1 chained messages per lane keep every lane of mae_cipher_lanes busy.

    The answer of clock t goes back in clock t + 1 here, so a lane holds latency + 1 messages and
    still takes a block every clock.
    """
    cipher = await begin(dut)
    await cipher.load(0, random.randbytes(16))
    await cipher.idle(20 * cipher.key_clocks)
    decrypt = cipher.dirs[-1]
    messages = cipher.latency(16) + 1
    clocks = 6 * messages
    blocks = 0
    for clock in range(clocks):
        for lane in range(cipher.lanes):
            block = random.randbytes(16)
            if clock >= messages:
                at, of, block = cipher.answers[-cipher.lanes + lane]
                assert (at, of) == (cipher.clock, lane)
            cipher.offered[lane] = Request(0, decrypt, block, clock % messages)
        blocks += len((await cipher.step())[0])
    assert blocks == cipher.lanes * clocks


@cocotb.test(
    timeout_time=100, timeout_unit="us", skip=not bench.parameters().get("GateIdle") or not VISIBLE
)
async def idle_lanes_have_no_clock(dut) -> None:
    """The clock of a lane of mae_cipher_lanes runs while a block is in it, and stops after that.

    The clocks of other lanes do not run, that of the keys does.
    """
    cipher = await begin(dut)
    clocks = [*(dut.gen_lane[lane].lane_clk for lane in range(cipher.lanes)), dut.key_clk]
    edges = [0] * len(clocks)

    async def count(at: int) -> None:
        while True:
            await RisingEdge(clocks[at])
            edges[at] += 1

    for at in range(len(clocks)):
        cocotb.start_soon(count(at))
    await cipher.load(0, random.randbytes(16))
    stay = cipher.latency(16) + 25
    await cipher.idle(stay + 20 * cipher.key_clocks)
    for lane in range(cipher.lanes):
        edges[:] = [0] * len(clocks)
        await cipher.idle(20)
        assert edges == [0] * len(clocks)
        await cipher.until_taken(lane, cipher.request(lane, 0, cipher.dirs[0]))
        await cipher.idle(stay)
        *lanes, keys = edges
        assert [bool(number) for number in lanes] == [n == lane for n in range(cipher.lanes)]
        assert cipher.latency(16) < edges[lane] < stay and cipher.latency(16) < keys < stay
    await cipher.drain()


CONFIGURATIONS = (
    pytest.param({"Lanes": 2, "KeyBanks": 3, "MaxKeyLen": 1}, marks=pytest.mark.slow),
    {"Lanes": 4},  # the stream card's
    pytest.param({"Lanes": 8, "KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 0}, marks=pytest.mark.slow),
    pytest.param({"Lanes": 16, "KeyBanks": 2, "Dirs": 1, "MaxKeyLen": 0}, marks=pytest.mark.slow),
    pytest.param(  # Dong's
        {"Lanes": 10, "KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 0}, marks=pytest.mark.slow
    ),
    {"Lanes": 2, "KeyBanks": 3, "RoundsPerReg": 2},
    pytest.param(  # a lane of lanes10_onehot; its S-boxes take Verilator minutes
        {"Lanes": 1, "KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 0, "Sbox": 4, "RoundsPerReg": 2}
        | {"Flush": 1},
        marks=pytest.mark.slow,
    ),
    {"Lanes": 2, "KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 0, "Sbox": 3}  # as in lanes10_fast
    | {"RegsPerRound": 3, "KeyClocks": 3, "Flush": 1, "CtxBits": 0},
    {"Lanes": 2, "GateIdle": 1},
    pytest.param(
        {"Lanes": 2, "KeyBanks": 3, "RoundsPerReg": 2, "GateIdle": 1}, marks=pytest.mark.slow
    ),
)
# As lanes1_gated, but for its S-boxes.
GATED = {"Lanes": 2, "KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 0, "RegsPerRound": 3, "KeyClocks": 3}
GATED |= {"Flush": 1, "CtxBits": 0, "GateIdle": 1}


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_cipher_lanes(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_lanes for several numbers of lanes and runs this file's tests."""
    beside = 0 if parameters.get("RoundsPerReg") else 1
    latency = f"{parameters.get('RegsPerRound', 1)},{beside}"
    bench.run("mae_cipher_lanes", parameters=parameters, env={"CIPHER_LATENCY": latency})


@pytest.mark.parametrize("name", ["idle_lanes_have_no_clock", "flush_leaves_nothing"])
def test_gated_lanes(name: str) -> None:
    """Lanes of mae_cipher_lanes with clocks that stop: they do stop, and leave nothing behind."""
    bench.run(
        "mae_cipher_lanes",
        parameters=GATED,
        env={"CIPHER_LATENCY": "3,1", "CIPHER_VISIBLE": "1"},
        test_filter=name,
        visible=True,
    )
