# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_luts4: interface of a block cipher, the wait for its round keys, erasure.

Tests mae_cipher_luts4, mae_sbox_luts4 and mae_lut4.
"""

import random

import cocotb
import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    begin,
    chained_blocks_leave_no_bubble,
    clear_unloads,
    flush_leaves_nothing,
    key_waits_for_its_blocks,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.cipher.test_cipher_min_area import no_state_between_answers  # noqa: F401 - the same
from tests.support import bench

FIRST_BLOCK = 42  # clocks from a key to the first block
ERASURE = 13  # clocks from a clear to a key
ENV = {"CIPHER_LATENCY": "1,0", "CIPHER_KEY_CLOCKS": "4", "CIPHER_FLUSH": "3"}
PARAMETERS = {"Dirs": 1, "MaxKeyLen": 0}


@cocotb.test(timeout_time=100, timeout_unit="us")
async def keys_take_their_time(dut) -> None:
    """mae_cipher_luts4 takes a block 42 clocks after a key, and a key 13 clocks after a clear."""
    cipher = await begin(dut)
    for _ in range(3):
        taken = await cipher.load(0, random.randbytes(16))
        assert await cipher.until_taken(0, cipher.request(0, 0)) - taken == FIRST_BLOCK
        again = await cipher.load(0, random.randbytes(16))
        assert await cipher.load(0, random.randbytes(16)) - again == FIRST_BLOCK
        await cipher.until_taken(0, cipher.request(0, 0))
        await cipher.drain()
        dut.clear_i.value = 1
        await cipher.step()
        cleared = cipher.clock
        dut.clear_i.value = 0
        cipher.keys = {}
        assert await cipher.load(0, random.randbytes(16)) - cleared == ERASURE
        await cipher.until_taken(0, cipher.request(0, 0))
        await cipher.drain()


@pytest.mark.parametrize("table", (0, 1))
def test_cipher_luts4(table: int) -> None:
    """Builds mae_cipher_luts4 with both kinds of S-box and runs this file's tests."""
    bench.run("mae_cipher_luts4", parameters=PARAMETERS | {"Table": table}, env=ENV)


def test_flush_leaves_nothing() -> None:
    """13 clocks after clear_i no register of mae_cipher_luts4 depends on keys and blocks."""
    bench.run(
        "mae_cipher_luts4",
        parameters=PARAMETERS,
        env=ENV | {"CIPHER_VISIBLE": "1"},
        test_filter="leaves_nothing",
        visible=True,
    )
