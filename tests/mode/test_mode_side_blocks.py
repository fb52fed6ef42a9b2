# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_side_blocks: it lets mae_mode_engine encrypt each requested block once.

The test plays the mode engine: it accepts at random, and answers in any order.
"""

import random

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from tests.support import bench
from tests.support.stream import start

ECB = 0  # mae_mode_pkg::Ecb
REQUESTS = 300


def fields(cfg: int) -> tuple[int, int, int, int, int]:
    """Unpacks mode, direction, init, serial and key slot from the bits of mode_cfg_t."""
    flags = cfg >> 140
    return flags >> 3, flags >> 2 & 1, flags >> 1 & 1, flags & 1, cfg >> 134 & 63


async def encrypt_blocks(dut, ready: float, answers: float) -> None:
    """Requests random blocks of mae_mode_side_blocks; models the engine and checks each answer."""
    random.seed(7)
    blocks, first = (bench.parameters()[name] for name in ("Blocks", "FirstCtx"))
    quiet = ("clear_i", "ask_valid_i", "cfg_ready_i", "room_i", "row_ready_i", "answer_taken_i")
    await start(dut, out_ctx_i=0, **dict.fromkeys(quiet, 0))
    asked: dict[int, int] = {}  # number of the block to its key slot
    configured: dict[int, int] = {}  # context to its key slot
    inside: dict[int, int] = {}  # context to the number of its block
    done, most = 0, 0
    while done < REQUESTS:
        free = [n for n in range(256) if n not in asked]
        number = random.choice(free)
        slot = random.randrange(64)
        answer = random.choice(list(inside)) if inside and random.random() < answers else None
        dut.ask_valid_i.value = asks = random.random() < 0.9
        dut.ask_slot_i.value, dut.ask_id_i.value = slot, number
        dut.cfg_ready_i.value = cfg_ready = random.random() < ready
        dut.row_ready_i.value = row_ready = random.random() < ready
        dut.room_i.value = room = random.getrandbits(blocks)
        dut.out_ctx_i.value = random.randrange(first) if answer is None else answer
        dut.answer_taken_i.value = taken = answer is not None and random.random() < ready
        await ReadOnly()
        assert dut.answer_is_o.value == (answer is not None)
        if answer is not None:
            assert int(dut.answer_id_o.value) == inside[answer]
        if dut.cfg_valid_o.value == 1 and cfg_ready:
            mode, *rest, of = fields(int(dut.cfg_o.value))
            context = int(dut.cfg_ctx_o.value)
            assert (mode, rest) == (ECB, [0, 1, 0]), "encryption of one block"
            assert context in range(first, first + blocks) and context not in configured
            configured[context] = of
        if dut.row_valid_o.value == 1:
            context, of = int(dut.row_ctx_o.value), int(dut.row_id_o.value)
            assert room >> context - first & 1, "a row without room in the engine"
            if row_ready:
                assert asked[of] == configured[context] and context not in inside
                inside[context] = of
        if asks and dut.ask_ready_o.value == 1:
            asked[number] = slot
        if taken:
            del asked[inside.pop(answer)], configured[answer]
            done += 1
        most = max(most, len(inside))
        await RisingEdge(dut.clk_i)
    assert most == blocks, "all blocks at once"


@cocotb.test()
async def slow_engine(dut) -> None:
    """mae_mode_side_blocks encrypts each block once if the engine is seldom ready."""
    await encrypt_blocks(dut, 0.3, 0.2)


@cocotb.test()
async def fast_engine(dut) -> None:
    """mae_mode_side_blocks encrypts each block once if the engine is always ready."""
    await encrypt_blocks(dut, 1.0, 0.3)


@pytest.mark.parametrize("blocks", [4, 1])
def test_mode_side_blocks(blocks: int) -> None:
    """Builds mae_mode_side_blocks for several numbers of blocks and runs this file's tests."""
    bench.run("mae_mode_side_blocks", parameters={"Blocks": blocks, "FirstCtx": 16})
