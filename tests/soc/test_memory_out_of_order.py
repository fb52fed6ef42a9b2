# SPDX-License-Identifier: Apache-2.0
"""Tests mae_memory_out_of_order: CPU accesses during a memory job see the job's result.

Covers mae_memory_hazard_check and mae_memory_done_bits, which have no other user.
"""

import random

import cocotb

from tests.device import oracle, secrets
from tests.soc.system import System
from tests.support.bench import run

SOURCE, DESTINATION = 0x1000, 0x3000
DEPTH = 4  # blocks under way
ANY_ORDER = [("ecb", False), ("ecb", True), ("ctr", False), ("cbc", True), ("cfb", True)]
ANY_ORDER += [("xts", False), ("xts", True)]


def longest(mode: str, rounds: int, blocks: int) -> int:
    """Returns the most clocks for which mae_memory_arbiter may hold a CPU access in a job."""
    tweak = rounds + blocks // 128 + 22 if mode == "xts" else 0
    return (DEPTH + 2) * rounds + 24 + tweak


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def out_of_turn(dut) -> None:
    """CPU accesses during the SoC's memory job see memory as if the job had already ended."""
    system, generator = System(dut), random.Random(4)
    await system.open()
    for mode, decrypt in ANY_ORDER:
        for size, in_place in ((16, False), (16, True), (32, False), (32, True)):
            blocks = 300 if mode == "xts" and size == 16 else 64
            limit = longest(mode, 6 + size // 4, blocks)
            keys = generator.randbytes(size), generator.randbytes(size)
            iv, data = generator.randbytes(16), generator.randbytes(16 * blocks)
            await system.key(0, keys[0])
            await system.key(1, keys[1])
            await system.store(SOURCE, data)
            place = SOURCE if in_place else DESTINATION
            result = bytearray(oracle.crypt(mode, decrypt, keys[0], iv, data, keys[1]))
            source = result if in_place else bytearray(data)
            await system.start(mode, decrypt, SOURCE, place, len(data), iv)
            for _ in range(60):
                at = 4 * generator.randrange(4 * blocks)
                area, base = generator.choice(((result, place), (source, SOURCE)))
                if generator.random() < 0.5:
                    value = await system.access(base + at)
                    assert value == int.from_bytes(area[at : at + 4], "little"), (mode, decrypt, at)
                elif in_place and mode in ("cbc", "cfb"):
                    continue  # such a write waits for its turn
                else:
                    value, strobes = generator.randrange(1 << 32), generator.randrange(1, 16)
                    await system.access(base + at, value, strobes)
                    for i in range(4):
                        if strobes >> i & 1:
                            area[at + i] = value >> 8 * i & 255
                assert system.clocks <= limit, (mode, decrypt, size, in_place, system.clocks)
            await system.wait()
            assert await system.error() == 0
            assert await system.load(place, len(data)) == result, (mode, decrypt, in_place)
            assert await system.load(SOURCE, len(data)) == source, (mode, decrypt, in_place)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def in_turn(dut) -> None:
    """In chained modes the SoC holds back a CPU access to a job's data until the job ends."""
    system, generator, blocks = System(dut), random.Random(5), 32
    await system.open()
    await system.key(0, key := generator.randbytes(16))
    for mode, decrypt, place in (
        ("cbc", False, DESTINATION),
        ("pcbc", True, DESTINATION),
        ("ofb", False, SOURCE),
        ("ecb", False, SOURCE - 16),
    ):
        iv, data = generator.randbytes(16), generator.randbytes(16 * blocks)
        await system.store(SOURCE, data)
        result = oracle.crypt(mode, decrypt, key, iv, data)
        await system.start(mode, decrypt, SOURCE, place, len(data), iv)
        last = place + len(data) - 4
        await system.access(last, 0x55, 1)  # a byte of what the job writes last
        assert 10 * (blocks - 2) <= system.clocks <= 10 * (blocks + 2) + 24
        await system.wait()
        assert await system.load(place, len(data)) == result[:-4] + b"\x55" + result[-3:]
        assert await system.error() == 0


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def dropped(dut) -> None:
    """After a wipe or reset ends a memory job, the SoC's next job gives OpenSSL's output."""
    system, generator, blocks = System(dut), random.Random(6), 48
    await system.open()
    for by_reset in (False, True):
        key, data = generator.randbytes(16), generator.randbytes(16 * blocks)
        await system.key(0, key)
        await system.store(SOURCE, data)
        await system.start("ecb", False, SOURCE, DESTINATION, len(data))
        for block in (20, 30, 40):
            await system.access(DESTINATION + 16 * block, 0, 15)
        if by_reset:
            await system.reset()
        else:
            await system.write("ctrl", wipe=1)
            while (await system.fields("status"))["wiping"]:
                pass
        await system.store(DESTINATION, bytes(len(data)))  # nothing holds it any more
        await system.key(0, key)
        await system.start("ecb", False, SOURCE, DESTINATION, len(data))
        await system.wait()
        result = oracle.crypt("ecb", False, key, b"", data)
        assert await system.load(DESTINATION, len(data)) == result


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def nothing_stays(dut) -> None:
    """After a wipe during a memory job no SoC register outside the memory holds keys or data."""
    system, generator, blocks = System(dut), random.Random(7), 24
    await system.open()
    for wipe, mode in ((True, "cbc"), (True, "xts"), (False, "ctr"), (False, "keys")):
        keys = [generator.randbytes(16) for _ in range(blocks)]
        data, iv = generator.randbytes(16 * blocks), generator.randbytes(16)
        await system.key(0, keys[0])
        await system.key(1, keys[1])
        await system.store(SOURCE, data)
        await system.store(DESTINATION + len(data), b"".join(keys))
        await system.write("keys", DESTINATION + len(data))
        each = mode == "keys"
        mode = "ecb" if each else mode
        await system.start(mode, not each, SOURCE, DESTINATION, len(data), iv, key_each=int(each))
        if not each:
            await system.access(DESTINATION + 16 * 20)  # made out of turn, and shown from there
        await system.access(DESTINATION + 16 * 4)
        if wipe:
            await system.write("ctrl", wipe=1)
            while (await system.fields("status"))["wiping"]:
                pass
        else:
            await system.wait()
        result = await system.load(DESTINATION, len(data))
        await system.access(0)
        held = [data, result, *(keys if wipe or each else [])]
        found = [path for path in secrets.find(dut, held, 8) if "u_memory" not in path]
        if not wipe:  # the last keys, and what the cipher gave last, are the core's until the next
            of_core = ("u_peripheral", "from_core", "core_i", "single_i", "in_data_i")
            found = [path for path in found if not any(name in path for name in of_core)]
        assert found == [], (mode, wipe)


def test_memory_out_of_order() -> None:
    """Builds mae_soc_interconnect without a CPU and runs this file's tests."""
    run("mae_soc_interconnect", parameters={"RowBits": 11}, visible=True, optimize="-O1")
