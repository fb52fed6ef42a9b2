# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_multi_key with one bank: the tests of mae_gcm_stream, and the clocks of a change.

The tests of data, tags, aborts and erasure are those of test_gcm_stream and test_gcm_clear: from
outside it is a mae_gcm_stream that takes longer where the key changes. With a bank for each key it
is nothing else, and is tested in mae_guard_chunk_gcm and mae_guard_message_gcm.
"""

import random

import cocotb
import pytest

from tests.mode.gcm import test_gcm_clear as erasure
from tests.mode.gcm import test_gcm_stream as stream
from tests.mode.gcm.gcm_engine import ROUNDS, Engine
from tests.support import bench

aborts = stream.aborts
aborts_while_h_is_made = stream.aborts_while_h_is_made
abort_takes_messages = erasure.abort_takes_messages
clears = stream.clears
clear_takes_all = erasure.clear_takes_all
differential = stream.differential
ivs_in_a_row = stream.ivs_in_a_row
lengths_disagree = stream.lengths_disagree


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def key_changes(dut) -> None:
    """A message of another key begins the stated clocks after the verdict; of the same key, none.

    Keys that change while messages wait are used from then on; the other banks keep theirs.
    """
    engine = Engine(dut)
    await engine.reset()
    for size in engine.sizes:
        rounds = ROUNDS[size]
        for bank in range(engine.banks):
            engine.key(bank, random.randbytes(size))
        messages = []
        for number in range(30):
            bank = number // 3 % engine.banks
            iv, data = random.randbytes(12), random.randbytes(2 * engine.row)
            messages.append(engine.message(bank, iv, b"", data, decrypt=bool(number & 1)))
        await engine.run()
        for before, message in zip(messages, messages[1:], strict=False):
            if message.bank != before.bank:
                clocks = message.clocks["first"] - before.clocks["tag"]
                assert clocks <= rounds + 4 * engine.lanes + 3, clocks
    for _ in range(200):
        if random.random() < 0.3:
            engine.key(engine.any_bank())
        stream.add(engine, engine.any_bank())
    await engine.run()


@pytest.mark.parametrize("lanes, banks", [(1, 4), (4, 2)])
def test_gcm_multi_key(lanes: int, banks: int) -> None:
    """Builds mae_gcm_multi_key with one bank for all keys and runs this file's tests."""
    parameters = {"Lanes": lanes, "KeyBanks": banks, "Small": 1, "MsgDepth": 4}
    bench.run("mae_gcm_multi_key", parameters=parameters, visible=True)
