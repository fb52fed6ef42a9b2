# SPDX-License-Identifier: Apache-2.0
"""Tests mae_memory_block_mover: AES jobs in memory against OpenSSL, clocks per block."""

import itertools
import random

import cocotb
from cocotb.triggers import FallingEdge

from tests.device import oracle
from tests.soc.system import (
    BAD_ADDRESS,
    BAD_KEY,
    BAD_OP,
    BAD_TAG,
    PERIPHERAL,
    System,
)
from tests.support.bench import run

SOURCE, DESTINATION, KEYS = 0x1000, 0x3000, 0x6000
BLOCKS = 32


async def clocks_of(dut, started) -> int:
    """Returns the clocks from the SoC's start of a memory job to its interrupt."""
    clocks = 0
    await started
    while dut.irq_o.value != 1:
        await FallingEdge(dut.clk_i)
        clocks += 1
    return clocks


@cocotb.test(timeout_time=30, timeout_unit="ms")
async def plain(dut) -> None:
    """Memory jobs of unauthenticated modes equal OpenSSL's and meet a limit of clocks."""
    system, generator = System(dut), random.Random(1)
    await system.open()
    await system.write("irq_enable", done=1)
    for mode in oracle.MODES:
        for size in oracle.key_sizes(mode):
            for decrypt in (False, True):
                keys = generator.randbytes(size), generator.randbytes(size)
                iv, data = generator.randbytes(16), generator.randbytes(16 * BLOCKS)
                await system.key(0, keys[0])
                await system.key(1, keys[1])
                await system.store(SOURCE, data)
                start = system.start(mode, decrypt, SOURCE, DESTINATION, len(data), iv)
                clocks = await clocks_of(dut, start)
                assert await system.error() == 0
                found = await system.load(DESTINATION, len(data))
                assert found == oracle.crypt(mode, decrypt, keys[0], iv, data, keys[1])
                rounds = 6 + size // 4
                ready = (
                    rounds if decrypt and oracle.inverts(mode) else 0
                )  # round keys from the last on
                if mode == "xts":  # the tweak first; the second key may be loaded meanwhile
                    assert clocks <= rounds * (BLOCKS + 1) + 7 + 7 + ready, (mode, size, clocks)
                else:
                    assert clocks == rounds * BLOCKS + 7 + ready, (mode, size, clocks)


@cocotb.test(timeout_time=30, timeout_unit="ms")
async def key_each(dut) -> None:
    """Memory jobs with a key for each block equal OpenSSL's and meet a limit of clocks."""
    system, generator = System(dut), random.Random(2)
    await system.open()
    await system.write("irq_enable", done=1)
    for mode in ("ecb", "cbc", "ctr"):
        for size in (16, 24, 32):
            for decrypt in (False, True):
                stride = 16 if size == 16 else 32
                table = [generator.randbytes(size) for _ in range(BLOCKS)]
                iv, data = generator.randbytes(16), generator.randbytes(16 * BLOCKS)
                await system.store(SOURCE, data)
                await system.store(KEYS, b"".join(key.ljust(stride, b"\xee") for key in table))
                await system.write("keys", KEYS)
                await system.write("keys_len", {16: 0, 24: 1, 32: 2}[size])
                start = system.start(mode, decrypt, SOURCE, DESTINATION, len(data), iv, key_each=1)
                clocks = await clocks_of(dut, start)
                assert await system.error() == 0
                found = await system.load(DESTINATION, len(data))
                assert found == oracle.crypt_blocks(mode, decrypt, table, iv, data)
                rounds = 6 + size // 4
                ready = rounds if decrypt and oracle.inverts(mode) else 0
                assert clocks <= (rounds + 5) * BLOCKS + 7 + ready, (mode, size, clocks)
                assert clocks <= 20 * BLOCKS


@cocotb.test(timeout_time=30, timeout_unit="ms")
async def authenticated(dut) -> None:
    """GCM, CCM and CMAC memory jobs equal OpenSSL's; a wrong tag leaves a zeroed destination."""
    system, generator = System(dut), random.Random(3)
    await system.open()
    await system.key(0, key := generator.randbytes(16))
    for length, decrypt, wrong in itertools.product((0, 1, 16, 100), (False, True), (False, True)):
        if wrong and not decrypt:
            continue
        nonce, aad = generator.randbytes(12), generator.randbytes(21)
        text = generator.randbytes(length)
        sealed, tag = oracle.seal("gcm", key, nonce, aad, text)
        await system.store(SOURCE, aad)
        await system.start("gcm", decrypt, SOURCE, 0, len(aad), nonce + b"\0\0\0\1", phase=1)
        await system.wait()
        await system.store(SOURCE, sealed if decrypt else text)
        around = generator.randbytes(16 * 8)
        await system.store(DESTINATION, around)
        await system.write_words("tag", bytes(16) if wrong else tag)
        await system.start("gcm", decrypt, SOURCE, DESTINATION, length, final=1)
        found = await system.load(DESTINATION, len(around))  # held until the verdict
        await system.wait()
        assert await system.error() == (BAD_TAG if wrong else 0)
        wanted = bytes(length) if wrong else text if decrypt else sealed
        assert found == wanted + around[length:]
        if not decrypt:
            assert await system.load(PERIPHERAL + system.layout["tag"][0], 16) == tag
    data = generator.randbytes(50)
    await system.store(SOURCE, data)
    await system.start("cmac", False, SOURCE, 0, len(data), bytes(16), final=1)
    await system.wait()
    _, tag = oracle.seal("cmac", key, b"", b"", data)
    assert await system.load(PERIPHERAL + system.layout["tag"][0], 16) == tag


@cocotb.test(timeout_time=30, timeout_unit="ms")
async def refused(dut) -> None:
    """Memory jobs with illegal addresses, keys or modes end with an error code."""
    system, end = System(dut), 16 << 11
    await system.open()
    await system.key(0, bytes(16))
    await system.key(1, bytes(16))
    await system.store(DESTINATION, bytes(32))
    cases = [  # destination, length, error
        (DESTINATION + 4, 16, BAD_ADDRESS),
        (SOURCE + 16, 32, BAD_ADDRESS),  # over the second block before it is read
        (SOURCE + 16, 16, 0),
        (SOURCE - 16, 64, 0),
        (end - 16, 16, 0),
        (end - 16, 32, BAD_ADDRESS),
        (end, 16, BAD_ADDRESS),
        (0xFFFFFFF0, 32, BAD_ADDRESS),
    ]
    for destination, length, error in cases:
        await system.start("ecb", False, SOURCE, destination, length)
        await system.wait()
        assert await system.error() == error, (hex(destination), length)
    for source in (SOURCE + 8, end - 16):
        await system.start("ecb", False, source, 0, 32)
        await system.wait()
        assert await system.error() == BAD_ADDRESS
    await system.write("keys", DESTINATION)
    for fields, error in (
        ({}, BAD_ADDRESS),  # keys in the destination
        ({"tweak_slot": 0}, BAD_KEY),
        ({"tweak_slot": 9}, BAD_KEY),
        ({"mode": "xts"}, BAD_OP),
        ({"mode": "gcm", "final": 1}, BAD_OP),
    ):
        mode = fields.pop("mode", "ecb")
        await system.start(mode, False, SOURCE, DESTINATION, 32, bytes(16), key_each=1, **fields)
        await system.wait()
        assert await system.error() == error, (mode, fields)
    await system.start("gcm", True, SOURCE, DESTINATION, 32, bytes(16))  # no verdict
    assert await system.error() == BAD_OP
    await system.write("length", 16)
    await system.write("ctrl", mode=0, key_each=1, start=1)  # not in memory
    assert await system.error() == BAD_OP
    assert await system.load(DESTINATION, 32) == bytes(32)


def test_memory_block_mover() -> None:
    """Builds mae_soc_interconnect without a CPU and runs this file's tests."""
    run(
        "mae_soc_interconnect", parameters={"RowBits": 11}, visible=True, optimize="-O1"
    )  # as test_memory_out_of_order
