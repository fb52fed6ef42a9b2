# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_iter: interface of a block cipher, chained blocks, both directions at once."""

import random

import cocotb
import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    begin,
    chained_blocks_leave_no_bubble,
    clear_leaves_nothing,
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
async def both_directions_at_once(dut) -> None:
    """A duplex mae_cipher_iter encrypts one block and decrypts another every Nr clocks."""
    cipher = await begin(dut)
    if not cipher.duplex:
        return
    for size in cipher.sizes:
        await cipher.load(0, random.randbytes(size))
        await cipher.idle(20)
        done = len(cipher.answers)
        await cipher.traffic(8 * ROUNDS[size], 0.0, lambda lane: cipher.request(lane, 0))
        cipher.offered = [None] * cipher.lanes
        await cipher.drain()
        lanes = [lane for _, lane, _ in cipher.answers[done:]]
        assert lanes.count(0) == lanes.count(1) == 8


CONFIGURATIONS = (
    {},  # the peripheral's
    {"Units": 2, "KeyBanks": 1, "Duplex": 1},  # Kale
    {"Units": 3, "KeyBanks": 4, "Sbox": 1},
    {"Units": 1, "KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 0, "Sbox": 2},  # Kumar's unit
    {"Units": 1, "KeyBanks": 3, "Dirs": 2, "MaxKeyLen": 1, "Sbox": 2},
)


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_cipher_iter(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_iter in each configuration and runs this file's tests."""
    bench.run("mae_cipher_iter", parameters=parameters, env={"CIPHER_LATENCY": "1,0"})


def test_clear_leaves_nothing() -> None:
    """Two clocks after clear_i no signal of mae_cipher_iter holds a secret."""
    bench.run(
        "mae_cipher_iter",
        parameters={"Units": 2, "KeyBanks": 2, "Duplex": 1},
        env={"CIPHER_LATENCY": "1,0", "CIPHER_VISIBLE": "1"},
        test_filter="clear_leaves_nothing",
        visible=True,
    )
