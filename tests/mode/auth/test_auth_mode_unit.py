# SPDX-License-Identifier: Apache-2.0
"""Tests mae_auth_mode_unit: every mode against OpenSSL, wrong tags, clear, clocks per block.

Tests mae_auth_mode_unit before the iterative core, without a bus.

Covers mae_aes_core_mux, its way to the core.
"""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.device import oracle
from tests.device.messages import Message
from tests.support import bench
from tests.support.stream import start

AUTH = {"gcm": 1, "ccm": 2, "cmac": 3}
PHASES = {"data": 0, "aad": 1, "iv": 2}
FIELDS = {"iv": (256, 16), "hash": (128, 16), "aad_bytes": (64, 8), "data_bytes": (0, 8)}
INPUTS = (
    "clear_i key_valid_i key_slot_i key_erase_i key_len_i key_i job_valid_i auth_i phase_i final_i "
    "decrypt_i init_i mode_i slot_i length_i tag_bytes_i tag_i load_i state_i in_valid_i in_data_i "
    "in_bytes_i in_last_i"
)


class Unit:
    """Drives mae_auth_mode_unit as the registers of the AES peripheral do."""

    def __init__(self, dut, gaps: float) -> None:
        self.dut, self.gaps = dut, gaps
        self.clock = 0
        self.outs: list[tuple[int, bytes]] = []  # rows out with their clocks
        self.ends: list[tuple[int, int, int, bytes]] = []  # clock, bad_tag, bad_key, tag
        self.expected = b""

    @classmethod
    async def begin(cls, dut, gaps: float = 0.0) -> "Unit":
        """Resets mae_auth_mode_unit and starts to record its output."""
        await start(dut, **{name: 0 for name in INPUTS.split()})
        unit = cls(dut, gaps)
        cocotb.start_soon(unit.watch())
        await ClockCycles(dut.clk_i, 80)
        await FallingEdge(dut.clk_i)
        return unit

    async def watch(self) -> None:
        """Records output rows and ends of jobs of mae_auth_mode_unit with their clocks."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            self.clock += 1
            if dut.out_valid_o.value == 1:
                data = int(dut.out_data_o.value).to_bytes(16, "big")
                self.outs.append((self.clock, data[: int(dut.out_bytes_o.value)]))
            assert dut.tag_valid_o.value == 1 or dut.tag_o.value == 0
            if dut.done_o.value == 1:
                flags = int(dut.bad_tag_o.value), int(dut.bad_key_o.value)
                tag = int(dut.tag_o.value).to_bytes(16, "big")
                self.ends.append((self.clock, *flags, tag))

    async def load_key(self, slot: int, key: bytes = b"") -> int:
        """Loads a key into a slot of mae_auth_mode_unit, or erases the slot."""
        dut = self.dut
        dut.key_valid_i.value, dut.key_slot_i.value = 1, slot
        dut.key_erase_i.value, dut.key_len_i.value = int(not key), max(0, len(key) - 16) // 8
        dut.key_i.value = int.from_bytes(key.ljust(32, b"\0"), "big")
        await RisingEdge(dut.clk_i)
        while not int(dut.key_ready_o.value):
            await RisingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        dut.key_valid_i.value = 0
        return 0

    async def write_words(self, name: str, data: bytes) -> None:
        """Writes a field (IV, hash, lengths) of mae_auth_mode_unit's message state."""
        low, size = FIELDS[name]
        state = int(self.dut.state_o.value) & ~(((1 << 8 * size) - 1) << low)
        self.dut.state_i.value = state | int.from_bytes(data, "big") << low
        self.dut.load_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.load_i.value = 0

    async def words(self, name: str) -> bytes:
        """Returns a field of mae_auth_mode_unit's message state, or the tag of its last job."""
        if name == "tag":
            return self.ends[-1][3]
        low, size = FIELDS[name]
        return (int(self.dut.state_o.value) >> low & (1 << 8 * size) - 1).to_bytes(size, "big")

    async def expect(self, tag: bytes) -> None:
        """Sets the tag that mae_auth_mode_unit compares in the next job."""
        self.expected = tag

    async def error(self) -> int:
        """Returns bad_tag (bit 0) and bad_key (bit 1) of mae_auth_mode_unit's last job."""
        return self.ends[-1][1] | self.ends[-1][2] << 1

    async def job(self, auth: int, length: int, **fields: int) -> None:
        """Starts a job on mae_auth_mode_unit with the given mode, length and flags."""
        dut = self.dut
        values = {"phase": 0, "final": 0, "decrypt": 0, "init": 0, "mode": 0, "slot": 0, **fields}
        for name, value in values.items():
            getattr(dut, f"{name}_i").value = int(value)
        dut.auth_i.value, dut.length_i.value = auth, length
        dut.tag_bytes_i.value = len(self.expected)
        dut.tag_i.value = int.from_bytes(self.expected.ljust(16, b"\x5a"), "big")
        dut.job_valid_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.job_valid_i.value = 0

    async def put(self, data: bytes) -> None:
        """Sends a job's data to mae_auth_mode_unit as rows, with random gaps."""
        dut = self.dut
        for at in range(0, len(data), 16):
            row = data[at : at + 16]
            while random.random() < self.gaps:
                await FallingEdge(dut.clk_i)
            dut.in_valid_i.value, dut.in_bytes_i.value = 1, len(row)
            dut.in_last_i.value = int(at + 16 >= len(data))
            # What stands beyond the end does not matter.
            row += random.randbytes(16 - len(row))
            dut.in_data_i.value = int.from_bytes(row, "big")
            while True:
                await RisingEdge(dut.clk_i)
                taken = int(dut.in_ready_o.value)
                await FallingEdge(dut.clk_i)
                if taken:
                    break
            dut.in_valid_i.value = 0

    async def auth(self, mode: str, data: bytes, phase: str, **fields) -> bytes:
        """Runs a job on mae_auth_mode_unit to its end; returns the output data."""
        self.outs.clear()
        ends = len(self.ends)
        fields = {**fields, "slot": fields["key_slot"], "phase": PHASES[phase]}
        del fields["key_slot"]
        await self.job(AUTH[mode], len(data), **fields)
        await self.put(data)
        while len(self.ends) == ends:
            await FallingEdge(self.dut.clk_i)
        return b"".join(data for _, data in self.outs)


def some(mode: str, data_bytes: int, aad_bytes: int = 0, **options) -> Message:
    """Returns a GCM, CCM or CMAC message with random key, nonce, AAD and data."""
    key = random.randbytes(options.pop("size", random.choice((16, 24, 32))))
    nonce = random.randbytes(options.pop("nonce_bytes", 12))
    aad, data = random.randbytes(aad_bytes), random.randbytes(data_bytes)
    return Message(mode, key, nonce, aad, data, **options)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(gaps=[0.0, 0.6, 0.95])
async def messages(dut, gaps: float) -> None:
    """GCM, CCM and CMAC messages cut into jobs give OpenSSL's output on mae_auth_mode_unit."""
    unit = await Unit.begin(dut, gaps)
    for i in range(45):
        mode = ("gcm", "ccm", "cmac")[i % 3]
        message = some(
            mode,
            random.choice((0, 1, 15, 16, 17, 40, 64, 100)),
            random.choice((0, 0, 5, 16, 33, 64)),
            nonce_bytes=random.choice((12, 12, 1, 16, 31)) if mode == "gcm" else 11,
            decrypt=random.random() < 0.5,
            tag_bytes=random.choice((4, 12, 16)),
        )
        if random.random() < 0.7:
            message.cut()
        await message.run(unit, i)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def wrong_tags(dut) -> None:
    """mae_auth_mode_unit rejects a tag with any bit changed and does not show the right one."""
    unit = await Unit.begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        message = some(mode, 20, 7, decrypt=True)
        await unit.load_key(0, message.key)
        for bit in range(128):
            wrong = (int.from_bytes(message.tag, "big") ^ 1 << bit).to_bytes(16, "big")
            message.done = 0
            while not message.over:
                await message.step(unit, wrong)
            assert unit.ends[-1][1:] == (1, 0, bytes(16)), (mode, bit)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def plain_modes(dut) -> None:
    """CBC, CTR and OFB take one AES encryption (Nr clocks) per block in mae_auth_mode_unit."""
    unit = await Unit.begin(dut)
    for size, rounds in ((16, 10), (24, 12), (32, 14)):
        for mode in ("cbc", "ctr", "ofb"):
            key, iv, data = random.randbytes(size), random.randbytes(16), random.randbytes(160)
            await unit.load_key(2, key)
            await unit.write_words("iv", iv)
            unit.outs.clear()
            await unit.job(0, 160, init=1, mode=oracle.CODES[mode], slot=2)
            await unit.put(data)
            await ClockCycles(dut.clk_i, 80)
            await FallingEdge(dut.clk_i)
            assert b"".join(row for _, row in unit.outs) == oracle.crypt(mode, False, key, iv, data)
            clocks = [at for at, _ in unit.outs]
            assert clocks[-1] - clocks[0] == 9 * rounds, (mode, size)
            assert unit.ends[-1][0] == clocks[-1]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def clocks(dut) -> None:
    """mae_auth_mode_unit takes the stated clocks per block and tag of GCM, CCM and CMAC."""
    unit = await Unit.begin(dut)
    digits = 128 // bench.parameters()["Digit"]
    for size, rounds in ((16, 10), (24, 12), (32, 14)):
        for mode in ("gcm", "ccm", "cmac"):
            for decrypt in (False, True):
                message = some(mode, 16 * 40, size=size, decrypt=decrypt)
                await message.run(unit)
                if mode == "cmac":
                    continue
                at = [clock for clock, _ in unit.outs]
                each = (at[-1] - at[19]) / 20
                end = unit.ends[-1][0] - at[-1]
                dut._log.info(
                    f"{mode} AES-{8 * size} {'dec' if decrypt else 'enc'}: "
                    f"{each:.1f} clocks a block, tag {end} after the last"
                )
                if mode == "gcm":
                    assert each == max(rounds, digits + 1)
                    if digits < rounds:
                        assert end == (1 if decrypt else 2 * (digits + 1) + 1)
                else:
                    assert each == 2 * rounds
                    assert end == 2 * rounds + 6
        for phase, mode in (("aad", "gcm"), ("aad", "ccm"), ("data", "cmac")):
            message = some("gcm", 0, size=size)
            await unit.load_key(0, message.key)
            spans = []
            for blocks in (1, 20, 40):  # the first waits for the key
                began = unit.clock
                await unit.auth(mode, bytes(16 * blocks), phase, init=True, key_slot=0)
                spans.append(unit.ends[-1][0] - began)
            each = (spans[2] - spans[1]) / 20
            dut._log.info(f"{mode} AES-{8 * size} {phase}: {each:.1f} clocks a block")
            assert each == (digits + 1 if mode == "gcm" else rounds + 5)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def key_changes(dut) -> None:
    """If a job's key is replaced, mae_auth_mode_unit reports bad_key and gives no tag.

    Another key may change.
    """
    unit = await Unit.begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        message = some(mode, 32, size=16)
        span, clock = 1000, 0
        while clock < span + 4:
            other = clock % 3 == 2
            await unit.load_key(0, message.key)
            message.done, message.got = 0, b""
            while message.done < len(message.jobs) - 1:
                await message.step(unit)
            began = unit.clock

            async def disturb(after=clock, slot=int(other)) -> None:
                await ClockCycles(dut.clk_i, after + 2)
                await FallingEdge(dut.clk_i)
                await unit.load_key(slot, random.randbytes(16))

            task = cocotb.start_soon(disturb())
            await message.step(unit)
            await task
            end, *verdict = unit.ends[-1]
            if end <= began + clock + 2:
                span = min(span, end - began)
            if other or end <= began + clock + 2:
                assert verdict == [0, 0, message.tag], (mode, clock, span)
            else:
                assert verdict == [0, 1, bytes(16)], (mode, clock, span)
                assert await unit.words("hash") == bytes(16)
            clock += 1
        assert 40 < span < 400


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def clear(dut) -> None:
    """After clear_i in any clock of a job mae_auth_mode_unit runs the next message right."""
    unit = await Unit.begin(dut)
    for mode in ("gcm", "ccm", "cmac"):
        for clock in range(0, 100, 2):
            message = some(mode, 48, size=16)
            await unit.load_key(0, message.key)
            message.done = 0
            await unit.write_words("iv", message.iv or bytes(16))
            ends = len(unit.ends)
            fields = {"init": 1, "final": 1}
            data = message.jobs[-1][1]
            await unit.job(AUTH[mode], len(data), **fields)
            task = cocotb.start_soon(unit.put(data))
            await ClockCycles(dut.clk_i, clock + 1)
            await FallingEdge(dut.clk_i)
            task.cancel()
            dut.in_valid_i.value, dut.clear_i.value = 0, 1
            await FallingEdge(dut.clk_i)
            dut.clear_i.value = 0
            unit.outs.clear()
            await ClockCycles(dut.clk_i, 150)
            await FallingEdge(dut.clk_i)
            if clock > 40 and len(unit.ends) > ends:
                break  # it had ended
            assert len(unit.ends) == ends and not unit.outs, (mode, clock)
            assert dut.state_o.value == 0
            if clock % 10 == 0:
                await some(mode, 20, 3).run(unit, (mode, clock))


@pytest.mark.parametrize("digit", [16, pytest.param(2, marks=pytest.mark.slow)])
def test_auth_mode_unit(digit: int) -> None:
    """Builds auth_bench with a slow and a fast GHASH multiplier and runs this file's tests."""
    bench.run("auth_bench", sources=["tests/mode/auth/auth_bench.sv"], parameters={"Digit": digit})
