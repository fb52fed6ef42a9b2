# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_min_area: interface of a block cipher, chained blocks, changes of direction.

Tests mae_cipher_min_area.
"""

import itertools
import random

import cocotb
import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    begin,
    chained_blocks_leave_no_bubble,
    clear_leaves_nothing,
    clear_unloads,
    flush_leaves_nothing,
    key_timing,
    key_waits_for_its_blocks,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.cipher.fips197 import ROUNDS
from tests.support import bench


@cocotb.test(timeout_time=400, timeout_unit="us")
async def first_blocks_at_every_clock(dut) -> None:
    """mae_cipher_min_area encrypts one clock after a key load, and decrypts after Nr clocks.

    Encryption begins anew wherever the key's own walk to its end stands.
    """
    cipher = await begin(dut)
    for size in cipher.sizes:
        for clocks, first in itertools.product(range(ROUNDS[size] + 2), cipher.dirs):
            taken = await cipher.load(0, random.randbytes(size))
            await cipher.idle(clocks)
            offered = cipher.clock
            used = await cipher.until_taken(0, cipher.request(0, 0, first))
            assert used == max(offered + 1, taken + ROUNDS[size] * first)
            for decrypt in cipher.dirs:
                after = await cipher.until_taken(0, cipher.request(0, 0, decrypt))
                assert after - used == ROUNDS[size]
                used = after
            await cipher.drain()


@cocotb.test(timeout_time=100, timeout_unit="us")
async def no_state_between_answers(dut) -> None:
    """mae_cipher_min_area's output is 0 except in the clock of an answer."""
    cipher = await begin(dut)
    await cipher.load(0, random.randbytes(16))
    for _ in range(60):
        if cipher.offered[0] is None:
            cipher.offered[0] = cipher.request(0, 0)
        await cipher.step()
        shown = int(dut.rsp_o.value) & (1 << 128) - 1
        assert bool(shown) == bool(int(dut.rsp_valid_o.value))


@cocotb.test(timeout_time=400, timeout_unit="us")
async def directions_turn(dut) -> None:
    """mae_cipher_min_area takes Nr clocks per block for any sequence of directions."""
    cipher = await begin(dut)
    for size in cipher.sizes:
        await cipher.load(0, random.randbytes(size))
        await cipher.idle(20)
        for pause in (0, 1, ROUNDS[size], 3 * ROUNDS[size]):
            before = None
            for _ in range(16):
                decrypt = random.choice(cipher.dirs)
                used = await cipher.until_taken(0, cipher.request(0, 0, decrypt))
                if pause == 0 and before is not None:
                    assert used - before == ROUNDS[size]
                before = used
                await cipher.idle(pause)
            await cipher.drain()


@pytest.mark.parametrize(
    "parameters",
    (
        {},
        {"Dirs": 1, "MaxKeyLen": 0},
        {"Dirs": 1, "MaxKeyLen": 0, "Fewest": 1, "CtxBits": 0},
        pytest.param({"Fewest": 1, "CtxBits": 3}, marks=pytest.mark.slow),
        pytest.param({"Dirs": 3, "MaxKeyLen": 0, "Sbox": 0}, marks=pytest.mark.slow),
        pytest.param({"Dirs": 2, "MaxKeyLen": 1, "Sbox": 1}, marks=pytest.mark.slow),
        pytest.param({"Dirs": 1, "MaxKeyLen": 2}, marks=pytest.mark.slow),
        pytest.param({"Dirs": 2, "MaxKeyLen": 2}, marks=pytest.mark.slow),
    ),
    ids=str,
)
def test_cipher_min_area(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_min_area in all configurations and runs this file's tests."""
    bench.run(
        "mae_cipher_min_area",
        parameters=parameters,
        env={"CIPHER_LATENCY": "1,0", "CIPHER_EARLY": "1"},
    )


@pytest.mark.parametrize(
    ("dirs", "fewest"),
    (
        pytest.param(1, 0, marks=pytest.mark.slow),
        (1, 1),
        (3, 0),
        pytest.param(3, 1, marks=pytest.mark.slow),
    ),
)
def test_clear_leaves_nothing(dirs: int, fewest: int) -> None:
    """Two clocks after clear_i no signal of mae_cipher_min_area holds a secret."""
    bench.run(
        "mae_cipher_min_area",
        parameters={"Dirs": dirs, "Fewest": fewest},
        env={"CIPHER_LATENCY": "1,0", "CIPHER_VISIBLE": "1"},
        test_filter="leaves_nothing",
        visible=True,
    )
