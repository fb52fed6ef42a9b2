# SPDX-License-Identifier: Apache-2.0
"""Tests mae_peripheral by its registers: every mode against OpenSSL, misuse, wipes, clocks.

Covers mae_peripheral_core and mae_peripheral_job_check, which are all of it; their jobs in memory
are in tests/soc. Covers mae_aes_core, the joined engine, keys and cipher, here with the iterative
one; with lanes test_stream_card covers it.
"""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiResp

from tests.cipher.fips197 import round_keys
from tests.device import oracle, secrets
from tests.device.peripheral_host import (
    BAD_KEY,
    BAD_LENGTH,
    BAD_OP,
    BUSY,
    OVERFLOW,
    PERIOD_NS,
    UNDERFLOW,
    begin,
)
from tests.support import bench

BOUND = 420  # clocks of a wipe, as the header of mae_peripheral_core says


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def says_what_it_is(dut) -> None:
    """mae_peripheral's capability registers state its parameters; bad addresses give SLVERR."""
    p = await begin(dut)
    parameters = bench.parameters()
    assert await p.read("id") == 0x4D414550
    assert await p.fields("version") == {"minor": 1, "major": 1}
    caps = await p.fields("caps")
    assert caps["key_slots"] == parameters["KeySlots"]
    assert (caps["lanes"], caps["contexts"]) == (0, 1)
    features = await p.fields("features")
    assert (features["aes128"], features["aes192"], features["aes256"]) == (1, 1, 1)
    assert (features["encrypt"], features["decrypt"]) == (1, 1)
    auth = ("gcm", "ccm", "cmac") if parameters.get("Auth", 1) else ()
    assert await p.read("modes") == oracle.mask(*auth)
    for offset in (0x14, 0x34, 0xD4, 0xFFC):
        assert (await p.read_at(offset))[1] == AxiResp.SLVERR
        assert await p.write_at(offset, 0) == AxiResp.SLVERR
    await p.write_words("key", random.randbytes(32))
    for name, count in (("key", 8), ("data_in", 4)):
        for i in range(count):
            assert await p.read(name, i) == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def fips197_examples(dut) -> None:
    """mae_peripheral gives the AES examples of FIPS 197 appendix C in both directions."""
    p = await begin(dut)
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    for size, cipher in (
        (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (32, "8ea2b7ca516745bfeafc49904b496089"),
    ):
        key = bytes(range(size))
        assert await p.crypt("ecb", False, key, bytes(16), plain) == bytes.fromhex(cipher)
        assert await p.crypt("ecb", True, key, bytes(16), bytes.fromhex(cipher)) == plain


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(mode=list(oracle.MODES))
async def modes(dut, mode: str) -> None:
    """mae_peripheral's output equals OpenSSL's in each mode, direction, key length and length."""
    p = await begin(dut)
    for size in oracle.key_sizes(mode):
        for decrypt in (False, True):
            lengths = [16, 80]
            if mode in oracle.ANY_LENGTH:
                lengths += [17, 31, 63] + ([5] if mode != "xts" else [])
            for length in lengths:
                key, tweak = random.randbytes(size), random.randbytes(size)
                iv, data = random.randbytes(16), random.randbytes(length)
                tweak = tweak if mode == "xts" else b""
                got = await p.crypt(mode, decrypt, key, iv, data, tweak)
                assert got == oracle.crypt(mode, decrypt, key, iv, data, tweak), (size, length)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def message_in_several_jobs(dut) -> None:
    """A message sent to mae_peripheral as four jobs gives OpenSSL's output for the whole."""
    p = await begin(dut)
    key, tweak, iv = (random.randbytes(16) for _ in range(3))
    await p.load_key(0, key)
    await p.load_key(1, tweak)
    for mode in oracle.MODES:
        for decrypt in (False, True):
            cuts = (16, 48, 32, 21 if mode in oracle.ANY_LENGTH else 16)
            data = random.randbytes(sum(cuts))
            got, at = b"", 0
            for i, cut in enumerate(cuts):
                await p.start(mode, decrypt, cut, iv if i == 0 else None)
                await p.write_words("iv", random.randbytes(16))
                got += await p.move(data[at : at + cut], ahead=1 + (cut % 16 != 0))
                at += cut
            assert got == oracle.crypt(mode, decrypt, key, iv, data, tweak), (mode, decrypt)
    assert await p.error() == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def writes_behind_the_start(dut) -> None:
    """Writes to mae_peripheral's registers after a job's start do not change that job."""
    p = await begin(dut)
    key, iv, data = random.randbytes(16), random.randbytes(16), random.randbytes(37)
    await p.load_key(0, key)
    for offset in range(0x70, 0x80, 4):
        await p.write_words("iv", iv)
        await p.write("length", 37)
        ctrl = p.pack("ctrl", mode=oracle.CODES["ctr"], init=1, start=1)
        other = p.pack("ctrl", mode=oracle.CODES["ecb"], key_slot=1)
        writes = [(0x20, ctrl), (offset, 0x12345678), (0x30, 16), (0x20, other)]
        behind = [p.bus.init_write(at, word.to_bytes(4, "little")) for at, word in writes]
        for write in behind:
            await write.wait()
        assert await p.move(data) == oracle.crypt("ctr", False, key, iv, data), hex(offset)
    assert await p.error() == 0


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def blocks_ahead(dut) -> None:
    """mae_peripheral accepts as many blocks ahead of their processing as status.room says."""
    p = await begin(dut)
    depth = bench.parameters().get("Depth", 4)
    key, iv, data = random.randbytes(32), random.randbytes(16), random.randbytes(16 * 9)
    await p.load_key(0, key)
    await p.start("cbc", False, len(data), iv)
    for i in range(depth):
        assert await p.field("status.room") == depth - i
        await p.put(data[16 * i : 16 * i + 16])
    assert await p.field("status.room") == 0
    assert await p.field("status.in_ready") == 0
    await p.put(random.randbytes(16))
    assert await p.error() == OVERFLOW
    await ClockCycles(dut.clk_i, 20 * depth)
    status = await p.fields("status")
    assert (status["answers"], status["out_valid"], status["busy"]) == (depth, 1, 1)
    got = b"".join([await p.get() for _ in range(depth)])
    got += await p.move(data[16 * depth :], ahead=min(3, depth))
    assert got == oracle.crypt("cbc", False, key, iv, data)
    assert await p.field("status.busy") == 0
    assert await p.field("status.room") == 0, "no room without a job"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def unstrobed_block(dut) -> None:
    """A write to data_in[3] without byte strobes hands mae_peripheral no block."""
    p = await begin(dut)
    key, data = random.randbytes(16), random.randbytes(16)
    await p.load_key(0, key)
    await p.start("ecb", False, 16, None)
    room = await p.field("status.room")
    for i in range(4):
        await p.write("data_in", int.from_bytes(data[4 * i : 4 * i + 4], "little"), i % 3)
        port = p.bus.write_if
        address, word = (c._transaction_obj() for c in (port.aw_channel, port.w_channel))
        address.awaddr = p.layout["data_in"][0] + 12
        word.wdata, word.wstrb = random.getrandbits(32), 0
        await port.aw_channel.send(address)
        await port.w_channel.send(word)
        assert int((await port.b_channel.recv()).bresp) == AxiResp.OKAY
        await ClockCycles(dut.clk_i, 30)
        status = await p.fields("status")
        assert (status["busy"], status["answers"], status["error"]) == (1, 0, 0), i
        assert status["room"] == room, i
    assert await p.move(data) == oracle.crypt("ecb", False, key, bytes(16), data)
    assert await p.error() == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def key_commands_back_to_back(dut) -> None:
    """Writes two key commands in a row: the first one's slot alone gets the key before both.

    The second one is refused while the first one runs, longer if the cipher is taking its slot's
    old key for a job. Later it takes a key of zeros: the first one has emptied the key registers.
    """
    p = await begin(dut)
    data, errors = random.randbytes(16), []
    command = p.layout["key_cmd"][0]
    for wait in range(48):
        key, other, new = (random.randbytes(32) for _ in range(3))
        for slot, old in enumerate((key, other, other)):
            assert await p.load_key(slot, old) == 0
        await p.write_words("key", new)
        await p.start("xts", True, 16, bytes(16), key_slot=0, tweak_slot=1)
        await ClockCycles(dut.clk_i, wait)
        values = [p.pack("key_cmd", slot=slot, len=2, go=1) for slot in (1, 2)]
        first, second = (value.to_bytes(4, "little") for value in values)
        writes = [p.bus.init_write(command, first)]
        if wait % 4:
            await ClockCycles(dut.clk_i, wait % 4)
        writes.append(p.bus.init_write(command, second))
        for write in writes:
            await write.wait()
        while (status := await p.fields("key_status"))["busy"]:
            pass
        errors.append(status["error"])
        await p.move(data)  # of the job that lost its key
        await p.write("irq_status", error=1)
        for slot, held in ((1, new), (2, other if errors[-1] else bytes(32))):
            await p.start("ecb", False, 16, None, key_slot=slot)
            assert await p.move(data) == oracle.crypt("ecb", False, held, b"", data), (wait, slot)
    assert set(errors) == {0, BUSY}, "the second command always comes at the same time"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def misuse(dut) -> None:
    """mae_peripheral refuses each misuse with its error code; the next job runs right."""
    p = await begin(dut)
    slots = bench.parameters()["KeySlots"]
    key, iv = random.randbytes(16), random.randbytes(16)

    async def refused(code: int, mode="ecb", length=16, **how) -> None:
        await p.start(mode, False, length, iv, **how)
        status = await p.fields("status")
        assert (status["error"], status["busy"], status["room"]) == (code, 0, 0)
        assert (await p.fields("irq_status"))["error"] == 1
        assert await p.error() == code
        assert await p.error() == 0

    await refused(BAD_KEY)
    assert await p.load_key(0, key) == 0
    assert [await p.read("key_valid", i) for i in (0, 1)] == [1, 0]
    await refused(BAD_KEY, key_slot=1)
    await refused(BAD_KEY, key_slot=63)
    await refused(BAD_KEY, mode="xts", tweak_slot=1)
    await refused(BAD_KEY, mode="xts", tweak_slot=0)  # one key is not two
    await refused(BAD_LENGTH, length=0)
    await refused(BAD_LENGTH, length=17)
    await refused(BAD_LENGTH, mode="cbc", length=31)
    await refused(BAD_LENGTH, mode="pcbc", length=1)
    await refused(BAD_LENGTH, mode="ctr", length=0)
    await refused(BAD_LENGTH, mode="xts", length=15)
    await p.write("length", 16)
    for code in (7, 30, 31, *(() if bench.parameters().get("Auth", 1) else (8, 9, 10))):
        await p.write("ctrl", mode=code, start=1)
        assert await p.error() == BAD_OP
    # Key commands.
    assert await p.key_command(slot=slots, len=0) == BAD_KEY
    assert await p.key_command(slot=0, len=3) == BAD_KEY
    assert await p.key_command(slot=63, op=1) == BAD_KEY
    assert await p.read("key_valid") == 1, "a refused command changed a slot"
    assert await p.erase_key(0) == 0
    assert await p.read("key_valid") == 0
    await refused(BAD_KEY)
    # Data without a job.
    await p.put(bytes(16))
    assert await p.error() == OVERFLOW
    assert await p.get() == bytes(16)
    assert await p.error() == UNDERFLOW
    # A start during a job, and reading more than was written.
    data = random.randbytes(48)
    await p.load_key(0, key)
    await p.start("cbc", False, 48, iv)
    await p.start("ecb", False, 16, None)
    assert await p.error() == BUSY
    got = await p.move(data[:32])
    assert await p.get() == bytes(16), "an answer that is not there is 0"
    assert await p.error() == UNDERFLOW
    got += await p.move(data[32:], ahead=1)
    assert got == oracle.crypt("cbc", False, key, iv, data)
    # The first error stays until it is cleared.
    await p.start("ecb", False, 15, None)
    await p.start("ecb", False, 16, None, key_slot=2)
    assert await p.error() == BAD_LENGTH


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def waiting_read_ends(dut) -> None:
    """mae_peripheral ends a read of a missing output block with zero after 255 clocks."""
    p = await begin(dut)
    key, tweak, iv, data = (random.randbytes(n) for n in (16, 16, 16, 30))
    await p.load_key(0, key)
    await p.load_key(1, tweak)
    await p.start("xts", False, 30, iv)
    await p.put(data[:16])
    started = get_sim_time("ns")
    assert await p.read("data_out", 0) == 0
    clocks = (get_sim_time("ns") - started) / PERIOD_NS
    assert 255 <= clocks <= 270
    assert await p.error() == UNDERFLOW
    await p.put(data[16:])
    got = await p.get() + await p.get()
    assert got[:30] == oracle.crypt("xts", False, key, iv, data, tweak)
    assert got[30:] == bytes(2)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def interrupts(dut) -> None:
    """mae_peripheral's irq_o follows the enabled causes; a write of 1 clears done and error."""
    p = await begin(dut)
    await p.load_key(0, random.randbytes(16))
    assert dut.irq_o.value == 0
    await p.write("irq_enable", done=1)
    await p.start("ctr", False, 32, random.randbytes(16))
    await p.put(bytes(16))
    await p.get()
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
    await p.write("irq_enable", in_ready=1)
    assert dut.irq_o.value == 0
    await p.start("ctr", False, 16, None)
    await ClockCycles(dut.clk_i, 2)
    assert dut.irq_o.value == 1
    await p.put(bytes(16))
    assert dut.irq_o.value == 0
    await p.write("irq_enable", error=1)
    await p.start("ctr", False, 16, None)  # done already, so no error: starts
    await p.start("ctr", False, 16, None)
    assert dut.irq_o.value == 1
    assert await p.error() == BUSY
    assert dut.irq_o.value == 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(at=["idle", "running"])
async def wipe(dut, at: str) -> None:
    """The wipe bit erases keys, IV, keystream and data from all registers of mae_peripheral."""
    p = await begin(dut)
    for round_ in range(2):
        key, tweak, iv = (random.randbytes(32) for _ in range(3))
        iv, data = iv[:16], random.randbytes(64)
        answer = await p.crypt("cbc", False, key, iv, data)
        tail = await p.crypt("xts", True, key, iv, data[:50], tweak)
        assert tail == oracle.crypt("xts", True, key, iv, data[:50], tweak)
        stream = oracle.crypt("ofb", False, key, iv, bytes(64))
        await p.start("ofb", False, 64, iv)
        for i in range(2 if at == "running" else 0):
            await p.put(data[16 * i : 16 * i + 16])
        await p.write_words("key", key)
        await p.write_words("data_in", data[:12])
        kinds = {"key": key + tweak, "iv": iv, "data": data, "answer": answer, "stream": stream}
        held = [kind for kind, value in kinds.items() if secrets.find(dut, [value])]
        assert "key" in held and "iv" in held and "data" in held, "the search finds nothing"
        await p.write("ctrl", wipe=1)
        assert await p.key_command(slot=0) == BUSY, "a key is not taken meanwhile"
        while (await p.fields("status"))["wiping"]:
            pass
        status = await p.fields("status")
        assert (status["busy"], status["answers"], status["room"]) == (0, 0, 0)
        assert await p.read("key_valid") == 0
        await p.start("ecb", False, 16, None)
        assert await p.error() == BAD_KEY
        assert secrets.find(dut, kinds.values()) == [], round_


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(state=["idle", "key", "ciphering", "answers", "taken", "waiting"])
async def wipe_on_a_hung_bus(dut, state: str) -> None:
    """A wipe erases mae_peripheral on a hung bus, except for a word that the bus already shows."""
    p = await begin(dut)
    responses = p.bus.read_if.r_channel, p.bus.write_if.b_channel
    for round_ in range(2):
        key, iv, data = random.randbytes(32), random.randbytes(16), random.randbytes(64)
        await p.load_key(0, key)
        answer = oracle.crypt("cbc", True, key, iv, data)
        zero = oracle.crypt("ecb", False, key, iv, bytes(16))
        if state != "idle":
            await p.start("cbc", True, 64, iv)
            for at in range(0, 16 if state == "waiting" else 48, 16):
                await p.put(data[at : at + 16])
        if state == "answers":
            await ClockCycles(dut.clk_i, 100)
        if state in ("taken", "waiting"):
            assert await p.get() == answer[:16]
        words = [int.from_bytes(key[at : at + 4], "little") for at in range(0, 32, 4)]
        if state == "key":  # words that wait for each other
            responses[1].pause = True
            tasks = [cocotb.start_soon(p.write("key", word, i)) for i, word in enumerate(words)]
            await ClockCycles(dut.clk_i, 20)
            responses[1].pause = False
            for task in tasks:
                await task
        for channel in responses:
            channel.pause = True
        held = [key, iv, data, answer, zero, *round_keys(key)]
        reads = [
            cocotb.start_soon(p.read("data_out", i)) for i in range(0 if state == "taken" else 2)
        ]
        command = p.pack("key_cmd", go=1, slot=1, len=2)
        last = ("key_cmd", command) if state == "key" else ("key", words[5], 5)
        writes = [cocotb.start_soon(p.write(*last))]
        await ClockCycles(dut.clk_i, 20)
        assert secrets.find(dut, held), "the search finds nothing"
        writes.append(cocotb.start_soon(p.write("ctrl", wipe=1)))
        await ClockCycles(dut.clk_i, BOUND)
        shown = str(dut.s_axil_rdata.value) if dut.s_axil_rvalid.value == 1 else ""
        assert secrets.find(dut, held, shown=shown) == [], round_
        for channel in responses:
            channel.pause = False
        for task in (*reads, *writes):
            await task
        assert await p.read("key_valid") == 0 and not await p.field("status.wiping")
        await p.write("irq_status", error=1)
        answer = oracle.crypt("ctr", False, key, iv, data)
        assert await p.crypt("ctr", False, key, iv, data) == answer


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def wipe_at_any_clock(dut) -> None:
    """A wipe of mae_peripheral at any clock of a CBC job leaves no output block to read."""
    p = await begin(dut)
    for delay in range(20):
        key, iv, data = random.randbytes(16), random.randbytes(16), random.randbytes(16)
        await p.load_key(0, key)
        await p.start("cbc", False, 32, iv)
        await p.put(data)
        await ClockCycles(dut.clk_i, delay)
        await p.write("ctrl", wipe=1)
        while await p.field("status.wiping"):
            pass
        status = await p.fields("status")
        assert (status["busy"], status["answers"], status["room"]) == (0, 0, 0), delay
        assert await p.get() == bytes(16)
        assert await p.error() == UNDERFLOW


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def clocks_a_block(dut) -> None:
    """CBC and CTR on mae_peripheral take at most 100 clocks per block, with register accesses."""
    p = await begin(dut)
    for mode, size, ahead in (("cbc", 16, 1), ("cbc", 16, 2), ("cbc", 32, 2), ("ctr", 16, 2)):
        key, iv, data = random.randbytes(size), random.randbytes(16), random.randbytes(16 * 32)
        await p.load_key(0, key)
        await p.start(mode, False, len(data), iv)
        started = get_sim_time("ns")
        got = await p.move(data, ahead)
        clocks = (get_sim_time("ns") - started) / PERIOD_NS / 32
        assert got == oracle.crypt(mode, False, key, iv, data)
        dut._log.info(f"{mode} AES-{8 * size}, {ahead} ahead: {clocks:.1f} clocks a block")
        assert clocks <= 100


PARAMETERS = {"KeySlots": 4, "KeyBanks": 2, "Dirs": 3, "MaxKeyLen": 2, "Sbox": 0}


def test_peripheral() -> None:
    """Builds mae_peripheral as the build `peripheral` and runs this file's tests."""
    bench.run("mae_peripheral", parameters=PARAMETERS, visible=True)


@pytest.mark.slow
def test_peripheral_small() -> None:
    """Builds mae_peripheral in its smallest size and runs most of this file's tests."""
    parameters = {**PARAMETERS, "KeySlots": 2, "KeyBanks": 1, "Depth": 2, "Sbox": 2}
    bench.run(
        "mae_peripheral",
        parameters=parameters,
        visible=True,
        test_filter="modes|message_in|blocks_ahead|wipe$|hung|clocks",
    )


@pytest.mark.full
def test_peripheral_plain() -> None:
    """Builds mae_peripheral without authenticated modes and runs this file's tests for them."""
    bench.run(
        "mae_peripheral",
        parameters={**PARAMETERS, "Auth": 0},
        test_filter="says|modes|message_in|blocks_ahead|misuse|at_any|clocks",
    )
