# SPDX-License-Identifier: Apache-2.0
"""Tests mae_block_key_commands in the block card: what a command reads stays as it was given."""

import cocotb
from cocotb.triggers import ClockCycles

from tests.device import block_host as bh
from tests.device.block_host import READ, WRITE, BlockCard
from tests.support import bench


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def commands_keep_their_fields(dut) -> None:
    """Whatever is written during a key command changes no field of it: neither slot nor key."""
    card = await BlockCard.begin(dut, 12, latency=(200, 300))
    assert await card.load(1) == 0
    fields = {"slot": 1, "unit_log2": 9}
    batch = [card.request(WRITE, 32 * i, 24, **fields, unit=100 * i) for i in range(4)]
    await card.submit(0, batch)
    await ClockCycles(dut.clk_i, 900)
    key = card.random.randbytes(64)
    await card.write_words("mek", key)
    await card.write("metd", 1)
    await card.write("lock_ctrl", cmd=bh.LOAD, exe=1)
    await card.write("lock_ctrl", cmd=bh.ZEROIZE, exe=1)
    await card.write("metd", 2)
    await card.write("aux", 1, 0)
    await card.write_words("mek", card.random.randbytes(64))
    assert not (await card.fields("lock_ctrl"))["dn"], "the command has not waited"
    while not (state := await card.fields("lock_ctrl"))["dn"]:
        pass
    assert (state["cmd"], state["err"]) == (bh.LOAD, 0)
    await card.write("lock_ctrl", dn=1)
    assert await card.read("lock_ctrl") == 1 << 31, "a second command has begun"
    assert await card.read("key_valid") == 1 << 1
    assert await card.read("metd") == 1
    await card.finish(0)
    card.keys[1] = key
    await card.run({0: [card.request(WRITE, 8, 4, **fields, unit=7)]})
    await card.run({1: [card.request(READ, 8, 4, **fields, unit=7)]})
    assert await card.load(2) == 0, "a field was changed"


def test_block_key_commands() -> None:
    """Builds mae_block_card with one lane, and runs this file's test."""
    parameters = {"Lanes": 1, "Contexts": 8, "MediaKeys": 5, "MediaLog2": 20, "KeyWait": 20000}
    bench.run("mae_block_card", parameters=parameters, visible=True, optimize="-O1")
