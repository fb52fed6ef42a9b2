# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_pipe: interface of a block cipher, with one to three registers per round."""

import random

import cocotb
import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    begin,
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
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def shorter_keys_wait_for_longer_ones(dut) -> None:
    """An AES-128 block behind an AES-256 block waits in mae_cipher_pipe for four rounds."""
    cipher = await begin(dut)
    if cipher.banks < 2 or len(cipher.sizes) < 2:
        return
    longest = cipher.sizes[-1]
    await cipher.load(0, random.randbytes(16))
    await cipher.load(1, random.randbytes(longest))
    await cipher.idle(20 * cipher.key_clocks)
    first = await cipher.until_taken(0, cipher.request(0, 1))
    second = await cipher.until_taken(0, cipher.request(0, 0))
    assert second - first == cipher.rounds_clocks(longest) - cipher.rounds_clocks(16) + 1
    await cipher.drain()
    # The other way round nothing waits.
    first = await cipher.until_taken(0, cipher.request(0, 0))
    assert await cipher.until_taken(0, cipher.request(0, 1)) == first + 1
    await cipher.drain()


CONFIGURATIONS = (
    {},
    pytest.param(
        {"RegsPerRound": 2, "KeyBanks": 3, "MaxKeyLen": 1, "Sbox": 1}, marks=pytest.mark.slow
    ),
    {"RegsPerRound": 3, "KeyBanks": 1, "Dirs": 2, "MaxKeyLen": 0},
    pytest.param({"RegsPerRound": 3, "Dirs": 1, "Sbox": 1, "MaxKeyLen": 0}, marks=pytest.mark.slow),
    {"KeyBanks": 4, "Dirs": 1, "MaxKeyLen": 0, "Sbox": 2},
    {"RegsPerRound": 3, "KeyClocks": 3, "Sbox": 3, "Flush": 1, "CtxBits": 3, "MaxKeyLen": 1},
    pytest.param(
        {"RegsPerRound": 3, "KeyClocks": 2, "Sbox": 3, "Dirs": 2, "KeyBanks": 1},
        marks=pytest.mark.slow,
    ),
)


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_cipher_pipe(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_pipe in several configurations and runs this file's tests."""
    regs = parameters.get("RegsPerRound", 1)
    bench.run("mae_cipher_pipe", parameters=parameters, env={"CIPHER_LATENCY": f"{regs},1"})


def test_clear_leaves_nothing() -> None:
    """Two clocks after clear_i no signal of mae_cipher_pipe holds a secret."""
    bench.run(
        "mae_cipher_pipe",
        parameters={"MaxKeyLen": 0, "RegsPerRound": 3},
        env={"CIPHER_LATENCY": "3,1", "CIPHER_VISIBLE": "1"},
        test_filter="clear_leaves_nothing",
        visible=True,
    )


@pytest.mark.parametrize(
    "parameters",
    (
        {"MaxKeyLen": 1, "RegsPerRound": 2, "KeyClocks": 2, "Sbox": 3},
        pytest.param({"MaxKeyLen": 0, "RegsPerRound": 3, "KeyBanks": 1}, marks=pytest.mark.slow),
    ),
    ids=str,
)
def test_flush_leaves_nothing(parameters: dict[str, int]) -> None:
    """mae_cipher_pipe without resets of data holds no secret one latency after clear_i."""
    bench.run(
        "mae_cipher_pipe",
        parameters={**parameters, "Flush": 1},
        env={"CIPHER_LATENCY": f"{parameters['RegsPerRound']},1", "CIPHER_VISIBLE": "1"},
        test_filter="flush_leaves_nothing",
        visible=True,
    )
