# SPDX-License-Identifier: Apache-2.0
"""Tests that clear_i and reset erase keys, keystream, chain values and text in mae_mode_engine."""

import random

import cocotb
import pytest

from tests.mode import engine
from tests.support import bench

# Every register and memory that holds such a thing, by the names in the RTL.
LANE = "u_engine.gen_lane[0]"
STORES = [
    f"{LANE}.u_serial.data_q",
    f"{LANE}.u_serial.result_q",
    f"{LANE}.u_serial.stolen_q",
    f"{LANE}.u_chain.gen_many.iv_q",
    f"{LANE}.u_chain.gen_many.serial_q",
    f"{LANE}.u_chain.gen_many.gen_parallel.parallel_q",
    "u_engine.gen_parallel.u_parallel.u_queue.store_q",
    "u_engine.gen_parallel.u_parallel.ask_block_q",
    "u_engine.gen_parallel.u_parallel.mask_q",
    "u_engine.gen_parallel.u_parallel.result_q",
    "u_cache.key_q",
]
SMALL_STORES = [
    f"{LANE}.u_serial.data_q",
    f"{LANE}.u_serial.result_q",
    f"{LANE}.u_serial.stolen_q",
    f"{LANE}.u_chain.gen_one.chain_q",
    "u_cache.key_q",
]


def content(dut, name):
    """Returns the words of a memory or register in the simulated mae_mode_bench."""
    handle = dut
    for part in name.split("."):
        part, _, index = part.partition("[")
        handle = getattr(handle, part)
        if index:
            handle = handle[int(index[:-1])]
    try:
        return [int(word.value) for word in handle]
    except TypeError:  # one word
        return [int(handle.value)]


def wide_names(handle):
    """Returns the names of all registers of 128 bits or more in a simulated module."""
    names = set()
    for child in handle:
        name = child._name
        if hasattr(child, "__iter__") and not hasattr(child, "value"):
            names |= wide_names(child)
        elif name.endswith("_q"):
            word = child[0] if not isinstance(child, cocotb.handle.LogicObject) else child
            if getattr(word, "__len__", lambda: 1)() >= 128:
                names.add(name)
    return names


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def leaves_nothing(dut):
    """All memories of mae_mode_engine hold data during work, and none after clear_i or reset."""
    tb = await engine.fresh(dut, bench.parameters())
    stores = SMALL_STORES if tb.contexts == 1 else STORES
    found = wide_names(dut.u_engine) | wide_names(dut.u_cache)
    listed = {name.split(".")[-1] for name in stores}
    assert found <= listed, f"not looked at: {found - listed}"
    for round_, by_reset in enumerate((False, True, False)):
        rng = random.Random(round_)
        keys = engine.Keys(4, rng, (16, 32))
        await tb.write_keys(keys)
        queues: dict[int, list[engine.Message]] = {}
        for i in range(24):
            mode = ("xts", "cbc", "ctr", "ofb")[i % 4]
            m = engine.message(rng, keys, mode, False, 9 * tb.row_bytes + 5, jobs=1 + i % 2)
            queues.setdefault(rng.randrange(tb.contexts), []).append(m)
        used = {name: False for name in stores}

        def look(clock, used=used):
            if clock % 16 == 0:
                for name in stores:
                    used[name] = used[name] or any(content(dut, name))

        await tb.run(queues, out_stall=0.2, hook=look, stop_at=tb.clocks + 1500)
        assert all(used.values()), f"never written: {used}"
        for name in ("cfg_valid", "row_valid", "out_ready"):
            getattr(dut, f"{name}_i").value = 0
        await (tb.reset() if by_reset else tb.clear())
        await cocotb.triggers.ClockCycles(dut.clk_i, 70)
        for name in stores:
            assert not any(content(dut, name)), name


@pytest.mark.parametrize("parameters", [engine.ONE, engine.SMALL], ids=["one", "small"])
@pytest.mark.full
def test_mode_clear(parameters):
    """Builds mae_mode_bench in its full and smallest size and runs the erasure test."""
    bench.run("mae_mode_bench", parameters=parameters, sources=[engine.SOURCE], visible=True)
