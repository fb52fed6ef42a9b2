# SPDX-License-Identifier: Apache-2.0
"""Tests the authenticated modes of mae_peripheral over its registers: GCM, GMAC, CCM, CMAC.

Against OpenSSL, in both directions; messages cut into jobs and put aside for others; wrong tags;
misuse; keys that change and wipes under a job; clocks.
"""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time

from tests.device import secrets
from tests.device.messages import Message
from tests.device.peripheral_host import (
    BAD_KEY,
    BAD_LENGTH,
    BAD_OP,
    BAD_TAG,
    BUSY,
    PERIOD_NS,
    Peripheral,
    begin,
)
from tests.mode import gcm_oracle
from tests.support import bench

SIZES = (16, 24, 32)


def some(mode: str, data_bytes: int, aad_bytes: int = 0, **options) -> Message:
    """Makes a GCM, CCM or CMAC message with random key, nonce, AAD and data."""
    size = options.pop("size", random.choice(SIZES))
    nonce_bytes = options.pop("nonce_bytes", 12)
    parts = [random.randbytes(n) for n in (size, nonce_bytes, aad_bytes, data_bytes)]
    return Message(mode, *parts, **options)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def lengths(dut) -> None:
    """GCM, CCM and CMAC on mae_peripheral equal OpenSSL's for all key sizes and many lengths."""
    p = await begin(dut)
    pairs = [(0, 0), (0, 1), (1, 0), (15, 16), (16, 15), (20, 64), (33, 31), (16, 32), (48, 0)]
    for i, (aad_bytes, data_bytes) in enumerate(pairs):
        for mode in ("gcm", "ccm"):
            for decrypt in (False, True):
                what = mode, decrypt, aad_bytes, data_bytes
                message = some(mode, data_bytes, aad_bytes, decrypt=decrypt, size=SIZES[i % 3])
                await message.run(p, what)
    for size in SIZES:
        for length in (0, 1, 15, 16, 17, 32, 47):
            for decrypt in (False, True):
                await some("cmac", length, size=size, decrypt=decrypt).run(p, (size, length))


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def nonces(dut) -> None:
    """mae_peripheral accepts GCM IVs of any length and CCM nonces of each legal length."""
    p = await begin(dut)
    for i, nonce_bytes in enumerate((1, 8, 11, 13, 15, 16, 17, 32, 60, 64, 65, 100)):
        message = some("gcm", 20, i % 3, nonce_bytes=nonce_bytes, decrypt=bool(i % 2))
        await message.run(p, nonce_bytes)
    for nonce_bytes in range(7, 14):
        message = some("ccm", 20, 5, nonce_bytes=nonce_bytes, decrypt=bool(nonce_bytes % 2))
        await message.run(p, nonce_bytes)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def counter_wraps(dut) -> None:
    """mae_peripheral's GCM counter wraps in its last 32 bits, also between jobs."""
    p = await begin(dut)
    message = some("gcm", 80)
    # A nonce of 16 bytes would be hashed: write the counter block itself and compare with CTR.
    await p.load_key(0, message.key)
    block = random.randbytes(12) + b"\xff\xff\xff\xfd"
    await p.write_words("iv", block)
    data = random.randbytes(80)
    got = await p.auth("gcm", data[:32], init=True) + await p.auth("gcm", data[32:])
    counters = [block[:12] + (0xFFFFFFFD + n & 0xFFFFFFFF).to_bytes(4, "big") for n in range(1, 6)]
    stream = b"".join(
        gcm_oracle.encrypt_block(message.key, c).to_bytes(16, "big") for c in counters
    )
    assert got == bytes(a ^ b for a, b in zip(data, stream, strict=True))


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def long_aad(dut) -> None:
    """mae_peripheral authenticates long AAD right, in one job and in many."""
    p = await begin(dut)
    for mode in ("gcm", "ccm"):
        await some(mode, 17, 600).run(p)
        await some(mode, 17, 400, decrypt=True).cut().run(p)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def tags(dut) -> None:
    """mae_peripheral checks every tag length in all its bytes and rejects a wrong tag."""
    p = await begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        for tag_bytes in {"gcm": range(4, 17), "ccm": range(4, 17, 2), "cmac": range(1, 17)}[mode]:
            message = some(mode, 21, 3, decrypt=True, tag_bytes=tag_bytes)
            await message.run(p, tag_bytes)
            wrong = bytearray(message.tag)
            wrong[-1 if tag_bytes % 2 else 0] ^= 1 << random.randrange(8)
            message.done = 0
            while not message.over:
                await message.step(p, bytes(wrong))
            assert await p.words("tag") == bytes(16), "cleared by the start, not written after"
            assert await p.words("hash") == bytes(16)
            assert await p.error() == BAD_TAG, (mode, tag_bytes)
    for mode in ("gcm", "ccm", "cmac"):
        for bit in random.sample(range(128), 10):
            message = some(mode, 16, 16, decrypt=True)
            assert await p.load_key(0, message.key) == 0
            wrong = (int.from_bytes(message.tag, "big") ^ 1 << bit).to_bytes(16, "big")
            while not message.over:
                await message.step(p, wrong)
            status = await p.fields("irq_status")
            assert (status["done"], status["error"]) == (1, 1)
            assert await p.error() == BAD_TAG, (mode, bit)
            # CMAC's is the cipher's own last answer, which the engine's store still has.
            assert mode == "cmac" or secrets.find(dut, [message.tag]) == [], mode


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def interleaved(dut) -> None:
    """Four authenticated messages take turns on mae_peripheral by saving and restoring state."""
    p = await begin(dut)
    for _ in range(3):
        messages = [
            some(
                mode,
                random.randrange(80),
                random.randrange(60),
                decrypt=random.random() < 0.5,
                nonce_bytes=random.choice((12, 12, 20)) if mode == "gcm" else 13,
                key_slot=slot,
            ).cut()
            for slot, mode in enumerate(("gcm", "gcm", "ccm", "cmac"))
        ]
        for message in messages:
            assert await p.load_key(message.key_slot, message.key) == 0
        kept: dict[int, dict[str, bytes]] = {}
        left = list(messages)
        while left:
            message = random.choice(left)
            if message.key_slot in kept:
                await p.restore(kept[message.key_slot])
            await message.step(p)
            if message.over:
                await message.check(p, message.mode)
                left.remove(message)
            else:
                kept[message.key_slot] = await p.save()
            if random.random() < 0.2:
                await p.start("ofb", False, 16, random.randbytes(16))
                await p.move(bytes(16), ahead=1)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def plain_modes_between(dut) -> None:
    """A CTR job between two jobs of a GCM message does not change mae_peripheral's GCM state."""
    p = await begin(dut)
    message = some("gcm", 64, 20).cut()
    await p.load_key(0, message.key)
    while not message.over:
        await message.step(p)
        if not message.over:
            before = await p.save()
            await p.start("ctr", False, 40, None)
            await p.move(bytes(40))
            assert await p.save() == before
    await message.check(p)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def misuse(dut) -> None:
    """mae_peripheral refuses each illegal GCM, CCM or CMAC job with its error code."""
    p = await begin(dut)
    key = random.randbytes(16)

    async def refused(code: int, mode: str, length: int = 16, phase: str = "data", **fields):
        before = await p.save()
        await p.start_auth(mode, length, phase, **fields)
        status = await p.fields("status")
        assert (status["error"], status["busy"], status["room"]) == (code, 0, 0)
        assert await p.error() == code
        assert await p.save() == before

    await refused(BAD_KEY, "gcm", init=1)
    await p.load_key(0, key)
    await refused(BAD_KEY, "cmac", init=1, key_slot=1)
    await refused(BAD_OP, "ccm", phase="iv", init=1)
    await refused(BAD_OP, "cmac", phase="iv", init=1)
    await refused(BAD_OP, "gcm", phase="iv", init=1, final=1)
    await refused(BAD_OP, "gcm", phase="iv")
    await refused(BAD_LENGTH, "gcm", 0, phase="iv", init=1)
    await p.write("length", 16)
    for mode in (8, 9, 10):
        await p.write("ctrl", mode=mode, phase=3, init=1, start=1)
        assert await p.error() == BAD_OP
    await p.write("ctrl", mode=11, start=1)
    assert await p.error() == BAD_OP
    for tag_bytes in (0, 3, 17, 31):
        await p.write("tag_bytes", tag_bytes)
        await refused(BAD_LENGTH, "gcm", init=1, final=1, decrypt=1)
        await refused(BAD_LENGTH, "ccm", init=1, final=1, decrypt=1)
        if tag_bytes != 3:
            await refused(BAD_LENGTH, "cmac", init=1, final=1, decrypt=1)
    # After a partial block nothing of its phase may come, and no additional data after data.
    for mode, phase in (("gcm", "aad"), ("gcm", "data"), ("ccm", "aad"), ("cmac", "data")):
        await p.auth(mode, random.randbytes(17), phase, init=True)
        await refused(BAD_LENGTH, mode, 1, phase)
        assert await p.auth(mode, b"", phase) == b""
        assert await p.error() == 0
    await p.auth("gcm", random.randbytes(16), init=True)
    await refused(BAD_OP, "gcm", 16, "aad")
    await p.auth("cmac", random.randbytes(16), init=True)
    await refused(BAD_LENGTH, "cmac", 0, final=1)
    # The longest message.
    await p.restore({"data_bytes": (2**36 - 32 - 16).to_bytes(8, "little")})
    await refused(BAD_LENGTH, "gcm", 17)
    await p.auth("gcm", bytes(16))
    await refused(BAD_LENGTH, "gcm", 1)
    await p.restore({"data_bytes": (2**64 - 16).to_bytes(8, "little")})
    await refused(BAD_LENGTH, "ccm", 32)
    assert await p.error() == 0
    # While a job runs; it goes on undisturbed by what is written for the refused one.
    message = some("gcm", 32, size=16)
    await p.load_key(0, message.key)
    await p.write_words("iv", message.iv)
    await p.start_auth("gcm", 32, init=1, final=1)
    got = await p.move(message.jobs[0][1][:16], ahead=1)
    await p.start_auth("cmac", 5, phase="aad", init=1, decrypt=1, key_slot=3)
    assert await p.error() == BUSY
    got += await p.move(message.jobs[0][1][16:], ahead=1)
    await p.idle()
    message.got = got
    await message.check(p)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def key_changes_under_a_job(dut) -> None:
    """If a job's key is erased or replaced, mae_peripheral reports bad_key and gives no tag."""
    p = await begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        for decrypt in (False, True):
            for late in (0, 1, 2):
                message = some(mode, 48, 0, decrypt=decrypt)
                assert await p.load_key(0, message.key) == 0
                while len(message.jobs) - message.done > 1:
                    await message.step(p)
                await p.expect(message.tag)
                if message.iv:
                    await p.write_words("iv", message.iv)
                fields = {"init": message.done == 0, "final": 1, "decrypt": decrypt}
                await p.start_auth(mode, 48, **fields)
                data = message.jobs[-1][1]
                for at in range(late):
                    await p.put(data[16 * at : 16 * at + 16])
                    if mode != "cmac":
                        await p.get()
                if late == 1:
                    await p.load_key(0, message.key)
                else:
                    await p.erase_key(0)
                for at in range(late, 3):
                    await p.put(data[16 * at : 16 * at + 16])
                    if mode != "cmac":
                        assert await p.get() == bytes(16), "nothing under another key"
                await p.idle()
                assert await p.error() == BAD_KEY, (mode, decrypt, late)
                assert await p.words("tag") == bytes(16)
                assert await p.words("hash") == bytes(16)
                await some(mode, 20, 3).run(p)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def other_keys_may_change(dut) -> None:
    """Loading or erasing other keys does not disturb a GCM job on mae_peripheral."""
    p = await begin(dut)
    message = some("gcm", 48, key_slot=1)
    await p.load_key(1, message.key)
    await p.write_words("iv", message.iv)
    await p.start_auth("gcm", 48, init=1, final=1, key_slot=1)
    data = message.jobs[0][1]
    for at in range(0, 48, 16):
        await p.put(data[at : at + 16])
        message.got += await p.get()
        await (p.erase_key(0) if at else p.load_key(0, random.randbytes(32)))
    await p.idle()
    await message.check(p)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def wipe(dut) -> None:
    """A wipe at any point of a GCM, CCM or CMAC message erases all data in mae_peripheral."""
    p = await begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        for put in (0, 1, 2, 3):
            message = some(mode, 64, size=32)
            zero = gcm_oracle.encrypt_block(message.key, bytes(16)).to_bytes(16, "big")
            await p.load_key(0, message.key)
            await p.expect(message.tag)
            while len(message.jobs) - message.done > 1:
                await message.step(p)
            if message.iv:
                await p.write_words("iv", message.iv)
            data = message.jobs[-1][1]
            if put:
                await p.start_auth(mode, 64, init=message.done == 0, final=1)
            for at in range(put):
                await p.put(data[16 * at : 16 * at + 16])
            await ClockCycles(dut.clk_i, random.randrange(40))
            held = [message.key, data, message.tag, zero, message.want]
            if put and mode == "gcm":
                await ClockCycles(dut.clk_i, 60)
                assert secrets.find(dut, [zero]), "the search finds nothing"
            await p.write("ctrl", wipe=1)
            while await p.field("status.wiping"):
                pass
            assert await p.words("tag") + await p.words("hash") + await p.words("iv") == bytes(48)
            assert await p.words("aad_bytes", 2) + await p.words("data_bytes", 2) == bytes(16)
            status = await p.fields("status")
            assert (status["busy"], status["answers"], status["room"]) == (0, 0, 0)
            assert secrets.find(dut, held) == [], (mode, put)
            await some(mode, 30, 10).run(p)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def nothing_stays(dut) -> None:
    """At the end of a message mae_peripheral holds no H, tag mask or decrypted data."""
    p = await begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        message = some(mode, 32)
        await message.run(p)
        iv = message.iv or bytes(16)
        held = [
            gcm_oracle.encrypt_block(message.key, block).to_bytes(16, "big")
            for block in (bytes(16), iv)
        ]
        found = [path for path in secrets.find(dut, held) if "u_core.u_core" not in path]
        assert found == [], mode


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def interrupts(dut) -> None:
    """Authenticated jobs without output end with mae_peripheral's done interrupt."""
    p = await begin(dut)
    await p.load_key(0, random.randbytes(16))
    await p.write("irq_enable", done=1)
    for mode, phase, length in (("gcm", "aad", 0), ("gcm", "iv", 5), ("ccm", "data", 0)):
        assert dut.irq_o.value == 0
        await p.start_auth(mode, length, phase, init=1)
        if length:
            await ClockCycles(dut.clk_i, 100)
            assert dut.irq_o.value == 0
            await p.put(bytes(length))
        await ClockCycles(dut.clk_i, 60)
        assert dut.irq_o.value == 1
        await p.write("irq_status", done=1)


async def clocks_of(p: Peripheral, message: Message) -> tuple[float, float]:
    """Returns mae_peripheral's clocks per block of a message, and from last block to idle."""
    await p.load_key(0, message.key)
    while len(message.jobs) - message.done > 1:
        await message.step(p)
    if message.iv:
        await p.write_words("iv", message.iv)
    phase, data = message.jobs[-1]
    await p.start_auth(message.mode, len(data), phase, init=message.done == 0, final=1)
    started = get_sim_time("ns")
    if message.mode == "cmac":
        await p.feed(data)
    else:
        message.got = await p.move(data)
    moved = get_sim_time("ns")
    await p.idle()
    ended = get_sim_time("ns")
    await message.check(p)
    return (moved - started) / PERIOD_NS / (len(data) // 16), (ended - moved) / PERIOD_NS


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def clocks(dut) -> None:
    """mae_peripheral takes at most 40 clocks a block for GCM, CCM and CMAC, and 100 at the end."""
    p = await begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        for size in (16, 32):
            each, end = await clocks_of(p, some(mode, 16 * 24, size=size))
            dut._log.info(f"{mode} AES-{8 * size}: {each:.1f} clocks a block, end after {end:.0f}")
            assert each <= 40 and end <= 100


PARAMETERS = {"KeySlots": 4, "KeyBanks": 2, "Dirs": 3, "MaxKeyLen": 2, "Sbox": 0}


@pytest.mark.full
def test_peripheral_auth() -> None:
    """Builds mae_peripheral as the build `peripheral` and runs this file's tests."""
    bench.run("mae_peripheral", parameters=PARAMETERS, visible=True)


@pytest.mark.slow
def test_peripheral_auth_small() -> None:
    """Builds mae_peripheral in its smallest size and runs some of this file's tests."""
    parameters = {**PARAMETERS, "KeySlots": 2, "KeyBanks": 1, "Depth": 2, "Sbox": 2}
    bench.run(
        "mae_peripheral",
        parameters=parameters,
        visible=True,
        test_filter="nonces|long_aad|clocks|plain_modes_between",
    )
