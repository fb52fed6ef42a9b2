# SPDX-License-Identifier: Apache-2.0
"""Tests mae_peripheral_small by its registers: ECB, CBC and CTR against OpenSSL, two jobs at once.

Covers mae_peripheral_small_core and mae_peripheral_window, which are all of it.
"""

import itertools
import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiResp

from tests.cipher.fips197 import round_keys
from tests.device import oracle, peripheral_host, secrets
from tests.device.peripheral_host import (
    BAD_KEY,
    BAD_LENGTH,
    BAD_OP,
    BUSY,
    OVERFLOW,
    PERIOD_NS,
    UNDERFLOW,
    Peripheral,
)
from tests.support import bench

SECOND = 0x100  # the second job's registers above those of the first
JOB_REGISTERS = (
    "ctrl status irq_enable irq_status length iv data_in data_out".split()
)  # of regs/mae_small_window.rdl


class Second(Peripheral):
    """Drives the second job of a small peripheral with two jobs, by the bus of the first one."""

    def __init__(self, first: Peripheral) -> None:
        self.dut, self.bus = first.dut, first.bus
        self.layout = {
            name: (offset + SECOND * (name in JOB_REGISTERS), stride, fields)
            for name, (offset, stride, fields) in first.layout.items()
        }


def built_modes() -> tuple[str, ...]:
    """Returns the modes of the built peripheral."""
    return ("ecb", "cbc", "ctr") if bench.parameters()["Chain"] else ("ecb",)


async def begin(dut) -> list[Peripheral]:
    """Resets the peripheral; returns a driver for each of its jobs."""
    first = await peripheral_host.begin(dut)
    return [first, Second(first)] if bench.parameters()["Duplex"] else [first]


def lengths(mode: str) -> tuple[int, ...]:
    """Returns message lengths that a mode allows."""
    return (5, 16, 17, 63, 80) if mode == "ctr" else (16, 32, 80)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def says_what_it_is(dut) -> None:
    """The capability registers state the parameters; addresses without a register give SLVERR."""
    windows = await begin(dut)
    p, duplex = windows[0], bench.parameters()["Duplex"]
    assert await p.read("id") == 0x4D414550
    caps = await p.fields("caps")
    assert (caps["key_slots"], caps["contexts"], caps["lanes"]) == (1, 1 + duplex, 0)
    features = await p.fields("features")
    assert [features[f"aes{bits}"] for bits in (128, 192, 256)] == [1, 1, 1]
    assert (features["encrypt"], features["decrypt"], features["memory"]) == (1, 1, 0)
    assert await p.read("modes") == (0x23 if bench.parameters()["Chain"] else 1)
    bad = [0x14, 0x34, 0x6C + 4 + 0x30, 0xD0, 0x200, 0xFFC, 0x100, 0x140]
    for offset in bad + ([] if duplex else [0x120, 0x180]):
        assert (await p.read_at(offset))[1] == AxiResp.SLVERR, hex(offset)
        assert await p.write_at(offset, 0) == AxiResp.SLVERR, hex(offset)
    await p.write_words("key", random.randbytes(32))
    for i in range(8):
        assert await p.read("key", i) == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def fips197_examples(dut) -> None:
    """Each job gives the AES examples of FIPS 197 appendix C in both directions."""
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    for p in await begin(dut):
        for size, cipher in (
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
            (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ):
            key = bytes(range(size))
            assert await p.crypt("ecb", False, key, bytes(16), plain) == bytes.fromhex(cipher)
            assert await p.crypt("ecb", True, key, bytes(16), bytes.fromhex(cipher)) == plain


@cocotb.test(timeout_time=500, timeout_unit="us")
async def modes(dut) -> None:
    """The output equals OpenSSL's in each mode, direction, key length and length."""
    for p in await begin(dut):
        for mode in built_modes():
            for size in (16, 24, 32):
                for decrypt in (False, True):
                    for length in lengths(mode):
                        key, iv = random.randbytes(size), random.randbytes(16)
                        data = random.randbytes(length)
                        got = await p.crypt(mode, decrypt, key, iv, data)
                        assert got == oracle.crypt(mode, decrypt, key, iv, data), (mode, length)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def message_in_several_jobs(dut) -> None:
    """A message sent as four jobs gives OpenSSL's output for the whole."""
    for p in await begin(dut):
        key, iv = random.randbytes(16), random.randbytes(16)
        await p.load_key(0, key)
        for mode in built_modes():
            for decrypt in (False, True):
                cuts = (16, 48, 32, 21 if mode == "ctr" else 16)
                data = random.randbytes(sum(cuts))
                got, at = b"", 0
                for i, cut in enumerate(cuts):
                    await p.start(mode, decrypt, cut, iv if i == 0 else None)
                    got += await p.move(data[at : at + cut], ahead=1 + i % 2)
                    at += cut
                assert got == oracle.crypt(mode, decrypt, key, iv, data), (mode, decrypt)
        assert await p.error() == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def writes_behind_the_start(dut) -> None:
    """Writes of mode, length and IV after a job's start do not change that job."""
    for p in await begin(dut):
        mode = built_modes()[-1]
        key, iv, data = random.randbytes(16), random.randbytes(16), random.randbytes(32)
        await p.load_key(0, key)
        above = SECOND if isinstance(p, Second) else 0
        for offset in range(0x70, 0x80, 4):
            await p.write_words("iv", iv)
            await p.write("length", 32)
            ctrl = p.pack("ctrl", mode=oracle.CODES[mode], init=1, start=1)
            other = p.pack("ctrl", mode=1, decrypt=1, key_slot=1)
            writes = [(0x20, ctrl), (offset, 0x12345678), (0x30, 16), (0x20, other)]
            behind = [p.bus.init_write(above + at, w.to_bytes(4, "little")) for at, w in writes]
            for write in behind:
                await write.wait()
            assert await p.move(data) == oracle.crypt(mode, False, key, iv, data), hex(offset)
        assert await p.error() == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def misuse(dut) -> None:
    """Each misuse is refused with its error code; the next job runs right."""
    for p in await begin(dut):
        key, iv = random.randbytes(16), random.randbytes(16)

        async def refused(code: int, mode="ecb", length=16, p=p, **how) -> None:
            await p.start(mode, False, length, None, **how)
            status = await p.fields("status")
            assert (status["error"], status["busy"], status["room"]) == (code, 0, 0)
            assert await p.error() == code
            assert await p.error() == 0

        assert await p.erase_key(0) == 0
        await refused(BAD_KEY)
        assert await p.load_key(0, key) == 0
        assert await p.read("key_valid") == 1
        await refused(BAD_KEY, key_slot=1)
        await refused(BAD_LENGTH, length=0)
        await refused(BAD_LENGTH, length=17)
        for mode in oracle.MODES:
            if mode not in built_modes():
                await refused(BAD_OP, mode=mode)
        assert await p.key_command(slot=1, len=0) == BAD_KEY
        assert await p.key_command(slot=0, len=3) == BAD_KEY
        assert await p.key_command(slot=1, op=1) == BAD_KEY
        assert await p.read("key_valid") == 1, "a refused command changed the key"
        await p.put(bytes(16))
        assert await p.error() == OVERFLOW
        assert await p.get() == bytes(16)
        assert await p.error() == UNDERFLOW
        data = random.randbytes(64)
        await p.start("ecb", False, 64, iv)
        await p.start("ecb", True, 16, None)
        assert await p.error() == BUSY
        await p.put(data[:16])
        await p.put(data[16:32])
        assert await p.field("status.room") == 0
        await p.put(random.randbytes(16))  # a third block has no room
        assert await p.error() == OVERFLOW
        assert await p.load_key(0, random.randbytes(16)) == BUSY, "a job's key changed"
        got = await p.get() + await p.get()
        assert await p.get() == bytes(16), "an answer that is not there is 0"
        assert await p.error() == UNDERFLOW
        got += await p.move(data[32:])
        assert got == oracle.crypt("ecb", False, key, iv, data)
        assert await p.field("status.busy") == 0


async def both(first: tuple, second: tuple) -> tuple[bytes, bytes]:
    """Runs a job of each window at once, block by block in turn; returns both outputs."""
    outputs = [b"", b""]
    sides = []
    for p, mode, decrypt, iv, data in (first, second):
        await p.start(mode, decrypt, len(data), iv)
        sides.append((p, [data[at : at + 16] for at in range(0, len(data), 16)], len(data)))
    for i in range(max(len(blocks) for _, blocks, _ in sides) + 1):
        for p, blocks, _ in sides:
            if i < len(blocks):
                await p.put(blocks[i])
        for side, (p, blocks, _) in enumerate(sides):
            if 0 < i <= len(blocks):
                outputs[side] += await p.get()
    return tuple(output[:length] for output, (*_, length) in zip(outputs, sides, strict=True))


@cocotb.test(timeout_time=500, timeout_unit="us")
async def both_at_once(dut) -> None:
    """Two jobs of different modes, directions and lengths under one key both equal OpenSSL's."""
    windows = await begin(dut)
    if len(windows) == 1:
        return
    for _ in range(40):
        key = random.randbytes(random.choice((16, 24, 32)))
        assert await windows[0].load_key(0, key) == 0
        jobs = []
        for p in windows:
            mode = random.choice(built_modes())
            data = random.randbytes(random.choice(lengths(mode)))
            jobs.append((p, mode, random.random() < 0.5, random.randbytes(16), data))
        got = await both(*jobs)
        for output, (p, mode, decrypt, iv, data) in zip(got, jobs, strict=True):
            assert output == oracle.crypt(mode, decrypt, key, iv, data), (mode, decrypt)
            assert await p.error() == 0
            assert await p.field("status.busy") == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def key_change_between(dut) -> None:
    """A key command is refused while either job runs, and the key changes after both have ended."""
    windows = await begin(dut)
    if len(windows) == 1:
        return
    old, new = random.randbytes(32), random.randbytes(16)
    for running, other in (windows, windows[::-1]):
        assert await other.load_key(0, old) == 0
        data = random.randbytes(32)
        await running.start("ecb", True, 32, None)
        assert await other.load_key(0, new) == BUSY
        assert await other.erase_key(0) == BUSY
        assert await running.move(data) == oracle.crypt("ecb", True, old, bytes(16), data)
        jobs = [(p, "ecb", p is other, None, data) for p in windows]
        assert await other.load_key(0, new) == 0
        for output, job in zip(await both(*jobs), jobs, strict=True):
            assert output == oracle.crypt("ecb", job[2], new, bytes(16), data)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def key_writes_behind_a_command(dut) -> None:
    """A key command keeps the key that it was given, whatever is written while it waits."""
    p = (await begin(dut))[0]
    base, command = p.layout["key"][0], p.layout["key_cmd"][0]
    for first in range(4):
        short, late, waited = random.randbytes(16), random.randbytes(16), 0
        assert await p.load_key(0, random.randbytes(32)) == 0
        writes = [(base + at, short[at : at + 4]) for at in range(0, 16, 4)]
        writes.append((command, p.pack("key_cmd", len=0, go=1).to_bytes(4, "little")))
        order = [4 * (i % 4) for i in range(first, first + 4)]
        writes += [(base + at, late[at : at + 4]) for at in order]
        for write in [p.bus.init_write(*write) for write in writes]:
            await write.wait()
            waited += int(dut.u_core.pending_q.value)
        assert waited or not bench.parameters()["Duplex"], "no key waits for the one before it"
        while (status := await p.fields("key_status"))["busy"]:
            pass
        assert status["error"] == 0
        data = random.randbytes(16)
        await p.start("ecb", False, 16, None)
        assert await p.move(data) == oracle.crypt("ecb", False, short, bytes(16), data), first
        await p.erase_key(0)  # empties the window


@cocotb.test(timeout_time=500, timeout_unit="us")
async def at_the_same_time(dut) -> None:
    """A block of each direction written at once takes no longer than one alone."""
    windows = await begin(dut)
    if len(windows) == 1:
        return
    await windows[0].load_key(0, random.randbytes(16))
    await ClockCycles(dut.clk_i, 20)
    taken = {}
    for directions in ((0, 1), (0, 0)):
        for p, decrypt in zip(windows, directions, strict=True):
            await p.start("ecb", bool(decrypt), 16, None)
            for i in range(3):
                await p.write("data_in", 1, i)
        started = get_sim_time("ns")
        writes = [p.bus.init_write(p.layout["data_in"][0] + 12, bytes(4)) for p in windows]
        for write in writes:
            await write.wait()
        while int(dut.u_core.locked.value):
            await ClockCycles(dut.clk_i, 1)
        taken[directions] = (get_sim_time("ns") - started) / PERIOD_NS
        for p in windows:
            await p.get()
    dut._log.info(f"clocks of two blocks, by directions: {taken}")
    assert taken[0, 1] <= 20, "the two directions wait for each other"
    assert taken[0, 0] >= taken[0, 1] + 5, "this test does not see waits"


@cocotb.test(timeout_time=500, timeout_unit="us")
async def interrupts(dut) -> None:
    """irq_o follows the enabled causes of each job; a write of 1 clears done and error."""
    for p in await begin(dut):
        await p.load_key(0, random.randbytes(16))
        await p.write("irq_enable", done=1)
        await p.write("irq_status", done=1)
        await p.start("ecb", False, 16, None)
        assert dut.irq_o.value == 0
        await p.put(bytes(16))
        await ClockCycles(dut.clk_i, 30)
        assert dut.irq_o.value == 1
        await p.write("irq_status", done=1)
        assert dut.irq_o.value == 0
        await p.write("irq_enable", out_valid=1)
        assert dut.irq_o.value == 1
        await p.get()
        assert dut.irq_o.value == 0
        await p.write("irq_enable", in_ready=1, error=1)
        await p.start("ecb", False, 16, None)
        await ClockCycles(dut.clk_i, 2)
        assert dut.irq_o.value == 1
        await p.put(bytes(16))
        await p.get()
        assert dut.irq_o.value == 0
        await p.get()
        assert dut.irq_o.value == 1
        assert await p.error() == UNDERFLOW
        assert dut.irq_o.value == 0
        await p.write("irq_enable", 0)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def wipe(dut) -> None:
    """A wipe at any clock of a job erases key, chain value and data from all registers."""
    windows = await begin(dut)
    mode = built_modes()[min(1, len(built_modes()) - 1)]
    for delay in range(0, 32, 2):
        p = random.choice(windows)
        key, iv, data = random.randbytes(32), random.randbytes(16), random.randbytes(48)
        answer = await p.crypt(mode, False, key, iv, data)
        for window in windows:
            decrypt = window is not windows[0]
            await window.start(mode, decrypt, 48, iv)
            await window.put(data[:16])
        await p.write_words("data_in", data[16:28])
        await p.write_words("key", key)
        held = [key, iv, data, answer, *round_keys(key)]
        assert secrets.find(dut, held), "the search finds nothing"
        await ClockCycles(dut.clk_i, delay)
        await p.write("ctrl", wipe=1)
        await ClockCycles(dut.clk_i, 3)
        assert secrets.find(dut, held) == [], delay
        for window in windows:
            status = await window.fields("status")
            assert (status["busy"], status["answers"], status["room"]) == (0, 0, 0), delay
            await window.start("ecb", False, 16, None)
            assert await window.error() == BAD_KEY
        assert await p.read("key_valid") == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def wipe_on_a_hung_bus(dut) -> None:
    """A wipe erases all on a bus that takes no response, except for a word that it shows."""
    windows = await begin(dut)
    bus = windows[0].bus
    responses = bus.read_if.r_channel, bus.write_if.b_channel
    mode = built_modes()[min(1, len(built_modes()) - 1)]
    for state, p in itertools.product(("idle", "ciphering", "answers"), windows):
        key, iv, data = random.randbytes(32), random.randbytes(16), random.randbytes(48)
        assert await p.load_key(0, key) == 0
        answer = oracle.crypt(mode, True, key, iv, data)
        if state != "idle":
            await p.start(mode, True, 48, iv)
            await p.put(data[:16])
        if state == "answers":
            await p.put(data[16:32])
            await ClockCycles(dut.clk_i, 40)
        for channel in responses:
            channel.pause = True
        reads = [cocotb.start_soon(p.read("data_out", i)) for i in range(2)]
        writes = [cocotb.start_soon(p.write("key", int.from_bytes(key[20:24], "little"), 5))]
        await ClockCycles(dut.clk_i, 20)
        held = [key, data, answer, *round_keys(key)]
        assert secrets.find(dut, held), "the search finds nothing"
        writes.append(cocotb.start_soon(p.write("ctrl", wipe=1)))
        await ClockCycles(dut.clk_i, 10)
        shown = str(dut.s_axil_rdata.value) if dut.s_axil_rvalid.value == 1 else ""
        assert secrets.find(dut, held, shown=shown) == [], state
        for channel in responses:
            channel.pause = False
        for task in (*reads, *writes):
            await task
        assert await p.read("key_valid") == 0
        await p.write("irq_status", error=1)
        assert await p.crypt(mode, True, key, iv, data) == answer


@cocotb.test(timeout_time=500, timeout_unit="us")
async def reset_at_any_clock(dut) -> None:
    """A reset at any clock of a job, for one clock, erases all; the next message is right."""
    windows = await begin(dut)
    mode = built_modes()[min(1, len(built_modes()) - 1)]
    for delay in range(0, 32, 2):
        key, iv, data = random.randbytes(32), random.randbytes(16), random.randbytes(48)
        assert await windows[0].load_key(0, key) == 0
        for decrypt, p in enumerate(windows):
            await p.start(mode, bool(decrypt), 48, iv)
            await p.put(data[:16])
        await p.write_words("key", key)
        await p.write("data_in", int.from_bytes(data[16:20], "little"))
        for p in windows:  # the last word on the bus is no secret
            await p.write("irq_enable", done=1, error=1)
        results = [oracle.crypt(mode, bool(i), key, iv, data[:16]) for i in range(len(windows))]
        held = [key, iv, data, *results, *round_keys(key)]
        assert secrets.find(dut, held), "the search finds nothing"
        await ClockCycles(dut.clk_i, delay)
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 1)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)
        assert secrets.find(dut, held) == [], delay
        assert await windows[0].read("key_valid") == 0
        for p in windows:
            for name in ("irq_enable", "irq_status", "length", "ctrl"):
                assert await p.read(name) == 0, (name, delay)
            status = await p.fields("status")
            assert (status["busy"], status["answers"], status["error"]) == (0, 0, 0), delay
            answer = oracle.crypt(mode, False, key, iv, data)
            assert await p.crypt(mode, False, key, iv, data) == answer


@cocotb.test(timeout_time=500, timeout_unit="us")
async def reads_of_nothing_end(dut) -> None:
    """A read of an output block that cannot come gives 0 and an error, and the job goes on."""
    for p in await begin(dut):
        key, data = random.randbytes(16), random.randbytes(32)
        assert await p.load_key(0, key) == 0
        await p.start("ecb", False, 32, None)
        await p.write_words("data_in", data[:12])  # three words of four
        started = get_sim_time("ns")
        assert await p.read("data_out", 0) == 0
        assert (get_sim_time("ns") - started) / PERIOD_NS <= 10, "held the bus"
        assert await p.error() == UNDERFLOW
        await p.write("data_in", int.from_bytes(data[12:16], "little"), 3)
        got = await p.get() + await p.move(data[16:])
        assert got == oracle.crypt("ecb", False, key, bytes(16), data)
        assert await p.error() == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def erased_key(dut) -> None:
    """Erasing the key leaves nothing of it in any register."""
    p = (await begin(dut))[0]
    key = random.randbytes(32)
    await p.crypt("ecb", True, key, bytes(16), bytes(16))
    held = [key, *round_keys(key)]
    assert secrets.find(dut, held), "the search finds nothing"
    assert await p.erase_key(0) == 0
    assert secrets.find(dut, held) == []


PARAMETERS = {"Duplex": 0, "Chain": 1, "Dirs": 3, "MaxKeyLen": 2, "Sbox": 5}


def test_peripheral_small() -> None:
    """Builds mae_peripheral_small as the build `peripheral_small` and runs this file's tests."""
    bench.run("mae_peripheral_small", parameters=PARAMETERS, visible=True)


@pytest.mark.full
def test_peripheral_duplex() -> None:
    """Builds mae_peripheral_small as the build `peripheral_duplex` and runs this file's tests."""
    bench.run("mae_peripheral_small", parameters=PARAMETERS | {"Duplex": 1}, visible=True)


@pytest.mark.slow
def test_peripheral_ecb() -> None:
    """Builds mae_peripheral_small without CBC and CTR and runs this file's tests."""
    bench.run("mae_peripheral_small", parameters=PARAMETERS | {"Chain": 0}, visible=True)
