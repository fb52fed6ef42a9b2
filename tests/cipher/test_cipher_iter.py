# SPDX-License-Identifier: Apache-2.0
"""mae_cipher_iter: the contract, back-to-back chaining, and both directions at once."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    REQ_BITS,
    RSP_BITS,
    Request,
    begin,
    clear_leaves_nothing,
    clear_unloads,
    key_timing,
    key_waits_for_its_blocks,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.cipher.fips197 import ROUNDS, openssl
from tests.support import bench


@cocotb.test(timeout_time=100, timeout_unit="us")
async def chained_blocks_leave_no_bubble(dut) -> None:
    """An answer goes back in as a request in its own clock: Nr clocks a block, as CBC needs."""
    cipher = await begin(dut)
    lane = 0
    for size in cipher.sizes:
        for decrypt in cipher.dirs_of(lane):
            key, block = random.randbytes(size), random.randbytes(16)
            await cipher.load(0, key)
            await cipher.idle(20)
            dut.req_valid_i.value = 1 << lane
            clocks = []
            for clock in range(8 * ROUNDS[size] + 1):
                dut.req_i.value = Request(0, decrypt, block).packed() << (REQ_BITS * lane)
                await Timer(2, "ns")
                if int(dut.rsp_valid_o.value) >> lane & 1:
                    answer = int(dut.rsp_o.value) >> (RSP_BITS * lane) & (1 << 128) - 1
                    block = openssl(key, block, decrypt)
                    assert answer == int.from_bytes(block, "big")
                    dut.req_i.value = Request(0, decrypt, block).packed() << (REQ_BITS * lane)
                    assert int(dut.req_ready_o.value) >> lane & 1
                    clocks.append(clock)
                await RisingEdge(dut.clk_i)
            dut.req_valid_i.value = 0
            assert clocks == [ROUNDS[size] * n for n in range(1, 9)]
            await Timer(200, "ns")
            await RisingEdge(dut.clk_i)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def both_directions_at_once(dut) -> None:
    """Duplex: one key memory feeds an encryption and a decryption every Nr clocks each."""
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
    {"Units": 2, "KeyBanks": 1, "Duplex": 1},  # P3
    {"Units": 3, "KeyBanks": 4, "Sbox": 1},
    {"Units": 1, "KeyBanks": 1, "Dirs": 1, "MaxKeyLen": 0, "Sbox": 2},  # P1's unit
    {"Units": 1, "KeyBanks": 3, "Dirs": 2, "MaxKeyLen": 1, "Sbox": 2},
)


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_cipher_iter(parameters: dict[str, int]) -> None:
    """Every configuration in one go."""
    bench.run("mae_cipher_iter", parameters=parameters, env={"CIPHER_LATENCY": "1,0"})


def test_clear_leaves_nothing() -> None:
    """Every register and wire of a model with all its signals in view."""
    bench.run(
        "mae_cipher_iter",
        parameters={"Units": 2, "KeyBanks": 2, "Duplex": 1},
        env={"CIPHER_LATENCY": "1,0", "CIPHER_VISIBLE": "1"},
        test_filter="clear_leaves_nothing",
        visible=True,
    )
