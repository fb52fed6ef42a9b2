# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_lanes_aligned and mae_pipe_rounds_aligned: block cipher, keys, flushing."""

import random

import cocotb
import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    begin,
    clear_unloads,
    key_timing,
    key_waits_for_its_blocks,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.cipher.fips197 import ROUNDS
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def outputs_are_zero_without_an_answer(dut) -> None:
    """A pipeline that holds no block shows nothing of what its registers hold."""
    cipher = await begin(dut)
    size = cipher.sizes[0]
    await cipher.load(0, random.randbytes(size))
    await cipher.idle(20)
    for _ in range(3):
        await cipher.until_taken(0, cipher.request(0, 0))
        for _ in range(2 * ROUNDS[size]):
            await cipher.step()
            if not int(dut.rsp_valid_o.value):
                assert int(dut.rsp_o.value) == 0


CONFIGURATIONS = (
    {"Lanes": 2, "KeyLen": 0, "Sbox": 1, "CtxBits": 8},
    {"Lanes": 1, "KeyLen": 2, "Sbox": 1, "CtxBits": 3},
    pytest.param({"Lanes": 3, "KeyLen": 1, "Sbox": 0, "CtxBits": 0}, marks=pytest.mark.slow),
    pytest.param(  # a lane of lanes10_aligned; its S-boxes take Verilator minutes
        {"Lanes": 1, "KeyLen": 0, "Sbox": 4, "CtxBits": 0}, marks=pytest.mark.slow
    ),
)


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_cipher_lanes_aligned(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_lanes_aligned for several key lengths and runs this file's tests."""
    bench.run("mae_cipher_lanes_aligned", parameters=parameters, env={"CIPHER_LATENCY": "1,0"})
