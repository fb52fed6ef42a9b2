# SPDX-License-Identifier: Apache-2.0
"""Tests mae_key_expand: round keys of FIPS 197 appendix A and of random keys, both directions."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.cipher import fips197
from tests.cipher.fips197 import ROUNDS
from tests.support import bench
from tests.support.stream import start

SIZES = (16, 24, 32)
# Appendix A: the key, and the last round key of its example.
APPENDIX_A = (
    ("2b7e151628aed2a6abf7158809cf4f3c", "d014f9a8c9ee2589e13f0cc8b6630ca6"),
    (
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "e98ba06f448c773c8ecc720401002202",
    ),
    (
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        "fe4890d1e6188d0b046df344706c631e",
    ),
)


async def begin(dut) -> tuple[int, ...]:
    """Resets mae_key_expand; returns the key lengths that the build supports."""
    fips197.check_against_openssl()
    await start(dut, clear_i=0, start_valid_i=0, dir_i=0, len_i=0, key_i=0)
    return SIZES[: bench.parameters().get("MaxKeyLen", 2) + 1]


async def expand(dut, key: int, size: int, backward: bool) -> list[bytes]:
    """Expands a key in mae_key_expand; asserts each round key's clock and returns them all."""
    dut.key_i.value = key
    dut.len_i.value = SIZES.index(size)
    dut.dir_i.value = int(backward)
    dut.start_valid_i.value = 1
    found = []
    steps = bench.parameters().get("StepClocks", 1)
    for clock in range(ROUNDS[size] * steps + 1):
        await Timer(1, "ns")
        i, early = divmod(clock, steps)
        assert int(dut.round_valid_o.value) == (not early)
        if early:
            assert int(dut.start_ready_o.value) == 0
            assert int(dut.last_o.value) == 0
            await RisingEdge(dut.clk_i)
            continue
        assert int(dut.start_ready_o.value) == (i == 0)
        assert int(dut.round_index_o.value) == (ROUNDS[size] - i if backward else i)
        assert int(dut.last_o.value) == (i == ROUNDS[size])
        found.append(int(dut.round_key_o.value).to_bytes(16, "big"))
        await RisingEdge(dut.clk_i)
        dut.key_i.value = random.getrandbits(256)  # taken in the first clock
    dut.start_valid_i.value = 0
    await Timer(1, "ns")
    assert int(dut.start_ready_o.value) == 1
    assert int(dut.round_valid_o.value) == 0
    return found


def padded(key: bytes) -> int:
    """Returns an AES key as a 256-bit integer, padded with zeros on the right."""
    return int.from_bytes(key.ljust(32, b"\0"), "big")


@cocotb.test(timeout_time=100, timeout_unit="us")
async def appendix_a(dut) -> None:
    """mae_key_expand gives the round keys of FIPS 197 appendix A."""
    sizes = await begin(dut)
    for text, last in APPENDIX_A[: len(sizes)]:
        key = bytes.fromhex(text)
        found = await expand(dut, padded(key), len(key), False)
        assert found == fips197.round_keys(key)
        assert found[-1].hex() == last


@cocotb.test(timeout_time=400, timeout_unit="us")
async def random_keys(dut) -> None:
    """mae_key_expand expands random keys of mixed lengths right, forward and backward."""
    sizes = await begin(dut)
    ends = []
    for _ in range(60):
        size = random.choice(sizes)
        key = random.randbytes(size)
        assert await expand(dut, padded(key), size, False) == fips197.round_keys(key)
        ends.append((key, int(dut.end_o.value)))
        if bench.parameters().get("Backward"):
            key, end = random.choice(ends)
            found = await expand(dut, end, len(key), True)
            assert found == fips197.round_keys(key)[::-1]
            assert int(dut.end_o.value) == padded(key)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def clear_stops_it(dut) -> None:
    """clear_i stops a key expansion in mae_key_expand; its outputs are zero a clock later."""
    sizes = await begin(dut)
    key = random.randbytes(sizes[-1])
    dut.key_i.value = padded(key)
    dut.len_i.value = len(sizes) - 1
    for clocks in (1, 4, 9):
        dut.start_valid_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.start_valid_i.value = 0
        for _ in range(clocks):
            await RisingEdge(dut.clk_i)
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await Timer(1, "ns")
        assert int(dut.round_valid_o.value) == 0
        assert int(dut.end_o.value) == 0
    assert await expand(dut, padded(key), len(key), False) == fips197.round_keys(key)


@pytest.mark.parametrize(
    "parameters",
    (
        {"Backward": 1},
        {"Backward": 1, "MaxKeyLen": 1, "Sbox": 1},
        {"MaxKeyLen": 0, "Sbox": 2},
        {"Backward": 1, "MaxKeyLen": 2, "Sbox": 3, "StepClocks": 2},
        {"MaxKeyLen": 0, "Sbox": 3, "StepClocks": 3},
    ),
    ids=str,
)
def test_key_expand(parameters: dict[str, int]) -> None:
    """Builds mae_key_expand for each key length and 1 to 3 clocks per round key; runs all tests."""
    bench.run("mae_key_expand", parameters=parameters)
