# SPDX-License-Identifier: Apache-2.0
"""Tests that clear_i erases all secrets in mae_gcm_stream, and abort_i all but the keys.

All signals of the model are looked through for pieces of what it worked on, before and after.
"""

import random
import re

import cocotb
import pytest
from cocotb.triggers import NextTimeStep, ReadOnly, RisingEdge

from tests.cipher import leaks
from tests.cipher.fips197 import round_keys
from tests.mode import gcm_oracle
from tests.mode.gcm.gcm_engine import Engine
from tests.support import bench

# Flags and counts that say nothing while there is no beat; they fall or rise by themselves. The
# polynomial 1 in place of a power of H.
IDLE = re.compile(
    r"((first|wide|odd_line|last_line)|\.gen_memory\.u_fifo\.(write|read|scrub)"
    r"|\.gen_hash_one\.u_hash\.(words_)?b)_q$"
)
# What goes on with zeros once it is empty, with Deep or Small; its secrets are looked for all the
# same.
ZEROS = re.compile(r"\.(gen_pipe\[\d+\]|gen_hash_deep|u_expand\.u_sub)\.")
# Lengths, no secrets, in a memory that is not cleared.
PUBLIC = re.compile(r"\.u_announce\.u_parts\.u_fifo\.")


def pieces(*numbers: int) -> set[int]:
    """Returns the 64-bit pieces of 128-bit numbers, to search registers for them."""
    return {piece for number in numbers for piece in leaks.pairs(number, 128)}


def key_pieces(key: bytes, lanes: int) -> set[int]:
    """Returns the 64-bit pieces of a key, its round keys and the powers of its hash key."""
    found = leaks.secret_words(key, [])
    for word in round_keys(key):
        found |= pieces(int.from_bytes(word, "big"))
    h = power = gcm_oracle.hash_key(key)
    for _ in range(3 * lanes):
        found |= pieces(power)
        power = gcm_oracle.multiply(power, h)
    return found


def message_pieces(message) -> set[int]:
    """Returns the 64-bit pieces of a GCM message's texts, keystream, mask and hash."""
    found = set()
    for text in (message.data, message.expected, message.aad):
        found |= pieces(*gcm_oracle.blocks(text))
    both = zip(gcm_oracle.blocks(message.data), gcm_oracle.blocks(message.expected), strict=True)
    found |= pieces(*(a ^ b for a, b in both))
    first = gcm_oracle.first_counter(message.key, message.iv)
    mask = gcm_oracle.encrypt_block(message.key, first)
    text, tag = gcm_oracle.encrypt(message.key, message.iv, message.aad, message.data)
    if message.decrypt:
        text, tag = message.data, message.tag
    found |= pieces(mask, int.from_bytes(tag, "big"), mask ^ int.from_bytes(tag, "big"))
    sums, total = gcm_oracle.hash_key(message.key), 0
    for word in [*gcm_oracle.blocks(message.aad), *gcm_oracle.blocks(text)]:
        total = gcm_oracle.multiply(total ^ word, sums)
        found |= pieces(total)
    return found - {0}


async def busy(engine: Engine, clocks: int) -> tuple[set[int], set[int]]:
    """Loads keys and runs long messages for some clocks; returns pieces of keys and of texts."""
    for bank in range(engine.banks):
        engine.key(bank, random.randbytes(engine.sizes[-1]))
    messages = []
    for number in range(12):
        iv = random.randbytes(12 if number % 3 else 20)
        aad, data = random.randbytes(4 * engine.row), random.randbytes(6 * engine.row)
        messages.append(
            engine.message(
                number % engine.banks, iv, aad, data, decrypt=bool(number & 2), tag_bytes=16
            )
        )
    for _ in range(clocks):
        await engine.tick()
    keys = set.union(*(key_pieces(engine.keys[bank], engine.lanes) for bank in range(engine.banks)))
    return keys, set.union(*map(message_pieces, messages))


async def stop(dut, port, active: int = 1) -> None:
    """Ends all inputs of mae_gcm_stream, pulses clear, abort or reset, and waits."""
    for name in ("key_valid", "msg_valid", "in_valid", "out_ready", "tag_ready"):
        getattr(dut, f"{name}_i").value = 0
    for name in ("key", "msg", "in_data"):
        getattr(dut, f"{name}_i").value = 0
    port.value = active
    await RisingEdge(dut.clk_i)
    port.value = 1 - active
    later = bench.parameters().get("Deep") or bench.parameters().get("Small")
    for _ in range(40 if later else 1):
        await RisingEdge(dut.clk_i)
    await ReadOnly()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def clear_takes_all(dut) -> None:
    """Two clocks after clear_i or reset no register of mae_gcm_stream holds a secret.

    Deep, Small: later, and its pipelines go on with zeros, nothing in them is of the messages.
    """
    engine = Engine(dut)
    later = engine.deep or engine.small
    await engine.reset()
    for number, clocks in enumerate((30, 47, 80, 95, 64, 90)):
        keys, texts = await busy(engine, clocks + 30 * later)  # its first rows come later
        await ReadOnly()
        assert len(leaks.leaks(dut, keys)) > 4 and len(leaks.leaks(dut, texts)) > 4
        await NextTimeStep()
        await (stop(dut, dut.rst_ni, 0) if number > 3 else stop(dut, dut.clear_i))
        left = leaks.leaks(dut, keys | texts)
        kept = [name for name in leaks.registers_left(dut) if not PUBLIC.search(name)]
        kept = [name for name in kept if not (later and ZEROS.search(name))]
        left += [name for name in kept if not IDLE.search(name)]
        assert not left, left
        await NextTimeStep()
        engine.wipe()
        engine.kept = False


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def abort_takes_messages(dut) -> None:
    """Two clocks after abort_i (Small: 40) mae_gcm_stream holds no message data, but its keys."""
    engine = Engine(dut)
    await engine.reset()
    for clocks in (47, 80, 95):
        keys, texts = await busy(engine, clocks)
        await stop(dut, dut.abort_i)
        left = leaks.leaks(dut, texts)
        assert not left, left
        assert len(leaks.leaks(dut, keys)) > 4
        await NextTimeStep()
        engine.wipe()
        engine.kept = False


@pytest.mark.parametrize("lanes, small", [(1, 0), (1, 1), (3, 1)])
@pytest.mark.full
def test_gcm_clear(lanes: int, small: int) -> None:
    """Builds mae_gcm_stream with registers, and for the fewest LUTs; runs this file's tests."""
    parameters = {"Lanes": lanes, "KeyBanks": 2 - small, "Small": small}
    bench.run("mae_gcm_stream", parameters=parameters, visible=True)


@pytest.mark.full
@pytest.mark.parametrize("one", [0, 1])
def test_gcm_clear_rom(one: int) -> None:
    """Builds mae_gcm_stream with S-boxes in ROMs, which have no clear; runs this file's tests."""
    parameters = {"Lanes": 1, "KeyBanks": 1, "Small": 1, "RomSboxes": 1, "OneMul": one}
    parameters["RegsPerRound"] = 1 + one
    bench.run("mae_gcm_stream", parameters=parameters, visible=True)


@pytest.mark.slow
def test_gcm_clear_deep() -> None:
    """Builds mae_gcm_stream with all pipeline registers and runs the test of clear_i."""
    parameters = {"Lanes": 1, "KeyBanks": 2, "RegsPerRound": 2, "Deep": 1, "MsgDepth": 16}
    bench.run("mae_gcm_stream", parameters=parameters, visible=True)
