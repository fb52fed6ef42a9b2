# SPDX-License-Identifier: Apache-2.0
"""Tests mae_round with mae_sub_bytes: one AES round per clock, as FIPS 197 defines it."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.cipher import fips197
from tests.support import bench
from tests.support.stream import start


@cocotb.test(timeout_time=200, timeout_unit="us")
async def equals_the_definition(dut) -> None:
    """mae_round computes random AES rounds, middle and last ones, as FIPS 197 defines them."""
    fips197.check_against_openssl()
    parameters = bench.parameters()
    regs, dirs = parameters.get("Regs", 0), parameters.get("Dirs", 3)
    await start(dut, valid_i=0, dir_i=0, last_i=0, key_i=0, state_i=0)
    steps: list[tuple[bytes, bool] | None] = [None] * (regs + 1)
    for _ in range(300):
        new = None
        if random.random() < 0.8:
            new = (
                random.randbytes(16),
                random.choice([d for d in (False, True) if dirs >> d & 1]),
            )
        steps = [new, *steps[:-1]]
        key, last = random.randbytes(16), random.random() < 0.3
        dut.valid_i.value = sum((s is not None) << i for i, s in enumerate(steps))
        dut.dir_i.value = sum((s is not None and s[1]) << i for i, s in enumerate(steps))
        dut.state_i.value = int.from_bytes(new[0], "big") if new else 0
        dut.key_i.value = int.from_bytes(key, "big")
        dut.last_i.value = int(last)
        await Timer(1, "ns")
        if steps[-1] is not None:
            state, decrypt = steps[-1]
            step = fips197.decrypt_round if decrypt else fips197.encrypt_round
            found = int(dut.state_o.value).to_bytes(16, "big")
            assert found == step(state, key, last)
        await RisingEdge(dut.clk_i)


@pytest.mark.parametrize(
    "parameters",
    (
        {"Regs": 0},
        {"Regs": 1, "Dirs": 2},
        {"Regs": 2, "Dirs": 3, "Sbox": 2},
        {"Regs": 1, "Sbox": 3},
        {"Regs": 0, "Dirs": 1, "Sbox": 4},
    ),
    ids=str,
)
def test_round(parameters: dict[str, int]) -> None:
    """Builds mae_round for each number of registers and direction and runs this file's test."""
    bench.run("mae_round", parameters=parameters)
