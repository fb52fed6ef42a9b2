# SPDX-License-Identifier: Apache-2.0
"""Tests mae_kernel_requant: int32 sums scaled and rounded to int8, against exact arithmetic."""

import random
from fractions import Fraction

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from tests.support import bench
from tests.support.stream import start

LANES, LATENCY = 16, 18


def reference(total: int, multiplier: int, shift: int, relu: bool) -> int:
    """Returns a sum times multiplier / 2^shift, rounded half up and limited to int8."""
    exact = Fraction(total * multiplier, 2**shift)
    nearest = (2 * exact + 1) // 2
    return max(0 if relu else -128, min(127, nearest))


async def once(dut, sums: list[int], multiplier: int, shift: int, relu: bool) -> list[int]:
    """Requantizes 16 sums in mae_kernel_requant; asserts the latency, returns the 16 bytes."""
    dut.multiplier_i.value, dut.shift_i.value, dut.relu_i.value = multiplier, shift, relu
    dut.sums_i.value = sum((s % 2**32) << (32 * i) for i, s in enumerate(sums))
    dut.sums_valid_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.sums_valid_i.value, dut.sums_i.value = 0, 0
    for _ in range(LATENCY - 1):
        await RisingEdge(dut.clk_i)
        assert not dut.row_valid_o.value
    await ClockCycles(dut.clk_i, 1 + random.randrange(3))
    assert dut.row_valid_o.value
    row = int(dut.row_o.value)
    dut.row_ready_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.row_ready_i.value = 0
    await RisingEdge(dut.clk_i)
    assert not dut.row_valid_o.value
    return [(row >> (8 * i) & 0xFF ^ 0x80) - 0x80 for i in range(LANES)]


async def begin(dut) -> None:
    """Resets mae_kernel_requant with idle inputs."""
    idle = dict(clear_i=0, multiplier_i=0, shift_i=0, relu_i=0, sums_valid_i=0, sums_i=0)
    await start(dut, **idle, load_i=0, load_row_i=0, row_ready_i=0)


def near(target: Fraction, multiplier: int) -> int:
    """Returns a 32-bit sum whose product with the multiplier is close to a target."""
    return max(-(2**31), min(2**31 - 1, round(target / multiplier)))


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def equals_arithmetic(dut) -> None:
    """mae_kernel_requant equals exact arithmetic for each shift, with ties and limits."""
    await begin(dut)
    ends = [-(2**31), 2**31 - 1, -1, 0, 1]
    for shift in range(48):
        for multiplier in (1, 2, 3, 2**15, 2**16 - 1, random.randrange(1, 2**16), 0):
            relu = random.random() < 0.3
            sums = [random.getrandbits(32) - 2**31, *random.sample(ends, 3)]
            while len(sums) < LANES:
                if not multiplier:
                    sums.append(random.choice(ends))
                    continue
                value = random.choice(
                    [-129, -128, -2, -1, 0, 1, 126, 127, random.randrange(-128, 128)]
                )
                at = near((value + Fraction(1, 2)) * 2**shift, multiplier)
                sums.append(max(-(2**31), min(2**31 - 1, at + random.choice([-1, 0, 0, 1]))))
            random.shuffle(sums)
            wanted = [reference(s, multiplier, shift, relu) for s in sums]
            assert await once(dut, sums, multiplier, shift, relu) == wanted, (
                sums,
                multiplier,
                shift,
            )


@cocotb.test(timeout_time=100, timeout_unit="us")
async def loads_and_clears(dut) -> None:
    """A row loaded into mae_kernel_requant appears a clock later; clear_i erases it."""
    await begin(dut)
    for wait in range(24):
        dut.load_i.value, dut.load_row_i.value = 1, 2**128 - 1 - wait
        await RisingEdge(dut.clk_i)
        dut.load_i.value = 0
        await RisingEdge(dut.clk_i)
        assert dut.row_valid_o.value and int(dut.row_o.value) == 2**128 - 1 - wait
        dut.row_ready_i.value = 1
        dut.sums_i.value, dut.sums_valid_i.value = 2**512 - 1, 1
        dut.multiplier_i.value = 0xFFFF
        await RisingEdge(dut.clk_i)
        dut.sums_valid_i.value, dut.row_ready_i.value = 0, 0
        await ClockCycles(dut.clk_i, wait + 1)
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        for _ in range(24):
            await RisingEdge(dut.clk_i)
            assert not dut.row_valid_o.value
            held = (dut.sums_q, dut.product_q, dut.row_q, dut.left_q)
            assert not any(int(register.value) for register in held)


def test_kernel_requant() -> None:
    """Builds mae_kernel_requant and runs this file's tests."""
    bench.run("mae_kernel_requant")
