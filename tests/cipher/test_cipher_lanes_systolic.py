# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_lanes_systolic: block cipher, and when keys and clear reach each lane."""

import random

import cocotb
import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    begin,
    flush_leaves_nothing,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.cipher.fips197 import ROUNDS
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def keys_pass_from_lane_to_lane(dut) -> None:
    """Each lane takes blocks a clock after the lane before it; a key waits for the last lane."""
    cipher = await begin(dut)
    size = cipher.sizes[0]
    for _ in range(2):
        offered = cipher.clock + 1
        taken = await cipher.load(0, random.randbytes(size))
        assert taken - offered == ROUNDS[size] * cipher.per_round + cipher.lanes + 2
        cipher.offered = [cipher.request(lane, 0) for lane in range(cipher.lanes)]
        first: dict[int, int] = {}
        while len(first) < cipher.lanes:
            for lane in (await cipher.step())[0]:
                first[lane] = cipher.clock - taken
        wait = ROUNDS[size] * cipher.key_clocks + 2
        assert first == {lane: wait + lane for lane in range(cipher.lanes)}
        # At full load, the next key comes when the last lane's last block has left.
        await cipher.traffic(50, 0.0, lambda lane: cipher.request(lane, 0))
        cipher.offered = [cipher.request(lane, 0) for lane in range(cipher.lanes)]


@cocotb.test(timeout_time=100, timeout_unit="us")
async def clear_passes_from_lane_to_lane(dut) -> None:
    """Lane i works on for i + 2 clocks after clear_i, correctly, and takes and returns no more."""
    cipher = await begin(dut)
    for clocks in (0, 5, 40):
        key = random.randbytes(cipher.sizes[0])
        await cipher.load(0, key)
        await cipher.idle(20 * cipher.key_clocks)
        await cipher.traffic(clocks, 0.3, lambda lane: cipher.request(lane, 0))
        dut.clear_i.value = 1
        for clock in range(cipher.lanes + 2 + 2 * cipher.latency(len(key))):
            cipher.offered = [cipher.request(lane, 0) for lane in range(cipher.lanes)]
            for lane in (await cipher.step())[0]:
                assert clock < lane + 2
            dut.clear_i.value = 0
            for lane in range(cipher.lanes):
                if clock == lane + 2:  # the clock of the clear itself still shows an answer
                    cipher.waiting[lane].clear()
        cipher.offered = [None] * cipher.lanes


CONFIGURATIONS = (
    {"Lanes": 3, "KeyLen": 0, "Sbox": 3, "RegsPerRound": 3, "KeyClocks": 3, "CtxBits": 0},
    {"Lanes": 1, "KeyLen": 2, "Sbox": 1, "RegsPerRound": 1, "KeyClocks": 1, "CtxBits": 8},
    pytest.param(
        {"Lanes": 12, "KeyLen": 1, "Sbox": 0, "RegsPerRound": 2, "KeyClocks": 2, "CtxBits": 3},
        marks=pytest.mark.slow,
    ),
)


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_cipher_lanes_systolic(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_lanes_systolic for several numbers of lanes and runs this file's tests."""
    latency = f"{parameters['RegsPerRound']},2"
    bench.run("mae_cipher_lanes_systolic", parameters=parameters, env={"CIPHER_LATENCY": latency})


def test_flush() -> None:
    """The lanes' copies of round keys and all data are erased in time after clear and reset."""
    bench.run(
        "mae_cipher_lanes_systolic",
        parameters=CONFIGURATIONS[0],
        env={"CIPHER_LATENCY": "3,2", "CIPHER_VISIBLE": "1", "CIPHER_FLUSH": "5"},
        test_filter="flush_leaves_nothing",
        visible=True,
    )
