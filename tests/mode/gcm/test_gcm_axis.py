# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_axis: messages over AXI4-Stream against OpenSSL; malformed frames.

Random lengths, keys and pauses on all sides; no clock lost; short, long and torn frames are refused
and do no harm to the messages after them; an abort in the middle of a frame.
"""

import random
from dataclasses import dataclass, field

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from tests.mode import gcm_oracle
from tests.support import bench
from tests.support.axi import pauses
from tests.support.stream import start

SIZES = (16, 24, 32)


@dataclass
class Message:
    """Holds a GCM message for mae_gcm_axis and its expected result; it may be malformed."""

    key: bytes
    bank: int
    iv: bytes
    aad: bytes
    data: bytes
    decrypt: bool = False
    tamper: bool = False
    spoil: str = ""
    tag: bytes = b""
    expected: bytes = b""
    beats: list[tuple[bytes, int]] = field(default_factory=list)  # with the bytes that are kept

    def build(self, row: int) -> None:
        """Builds the AXI4-Stream beats of the message, and the answer expected by OpenSSL."""
        if self.decrypt:
            self.expected = self.data
            self.data, self.tag = gcm_oracle.encrypt(self.key, self.iv, self.aad, self.data)
        else:
            self.expected, self.tag = gcm_oracle.encrypt(self.key, self.iv, self.aad, self.data)
        parts = [self.iv if len(self.iv) != 12 else b"", self.aad, self.data]
        for part in parts:
            pieces = [part[at : at + row] for at in range(0, len(part), row)]
            self.beats += [(p + random.randbytes(row - len(p)), (1 << len(p)) - 1) for p in pieces]
        self._spoil(row)

    def _spoil(self, row: int) -> None:
        """Makes the beats differ from the announced lengths; corrects the expected output."""
        sent = len(self.beats) * [1]
        kind = self.spoil
        if kind == "short":  # some last beats are missing
            keep = random.randrange(1, len(self.beats))
            self.beats, sent = self.beats[:keep], sent[:keep]
        elif kind == "long":
            self.beats += [(random.randbytes(row), (1 << row) - 1)] * random.randrange(1, 4)
        elif kind in ("less", "more", "hole"):
            at = random.randrange(len(self.beats)) if kind == "hole" else -1
            word, keep = self.beats[at]
            changed = {"less": keep >> 1, "more": keep << 1 | 1, "hole": keep & ~1}[kind]
            self.beats[at] = (word, changed & (1 << row) - 1)
        if kind:
            beats = -(-len(self.data) // row)
            before = sum(-(-len(part) // row) for part in (self._sent_iv(), self.aad))
            out = b""
            for number in range(beats):
                piece = self.expected[number * row : (number + 1) * row]
                at = before + number
                keep = self.beats[at][1] if at < len(self.beats) else 0
                out += bytes(b if keep >> i & 1 else 0 for i, b in enumerate(piece))
            self.expected = out

    def _sent_iv(self) -> bytes:
        """Returns the IV bytes that are sent as stream beats: none for a 12-byte IV."""
        return self.iv if len(self.iv) != 12 else b""

    @property
    def refused(self) -> bool:
        """Returns true if mae_gcm_axis must report the message as wrong (tuser)."""
        return self.tamper or bool(self.spoil)

    def command(self) -> bytes:
        """Packs the message's 64-byte command for s_axis_cmd."""
        tag = bytearray(self.tag if self.decrypt else random.randbytes(16))
        if self.tamper:
            bit = random.randrange(128)
            tag[bit // 8] ^= 1 << bit % 8
        head = len(self.aad).to_bytes(8, "little") + len(self.data).to_bytes(8, "little")
        size = random.choice((0, 12)) if len(self.iv) == 12 else len(self.iv)
        head += size.to_bytes(4, "little")
        head += bytes([self.bank, self.decrypt, random.choice((0, 16)), random.randrange(256)])
        iv = self.iv if len(self.iv) == 12 else random.randbytes(12)
        return head + iv + random.randbytes(12) + bytes(tag)


class Engine:
    """Connects mae_gcm_axis to models of its five AXI4-Streams."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.row = 16 * bench.parameters()["Lanes"]

        def model(kind, prefix):
            return kind(AxiStreamBus.from_prefix(dut, prefix), dut.clk_i, dut.rst_ni, False)

        self.key_source = model(AxiStreamSource, "s_axis_key")
        self.commands = model(AxiStreamSource, "s_axis_cmd")
        self.source = model(AxiStreamSource, "s_axis")
        self.sink = model(AxiStreamSink, "m_axis")
        self.tags = model(AxiStreamSink, "m_axis_tag")
        self.keys: dict[int, bytes] = {}

    async def key(self, bank: int) -> None:
        """Loads a random key into a key bank of mae_gcm_axis."""
        key = self.keys[bank] = random.randbytes(random.choice(SIZES))
        head = bytes([SIZES.index(len(key)), bank])
        await self.key_source.send(
            key + random.randbytes(32 - len(key)) + head + random.randbytes(6)
        )
        await self.key_source.wait()

    def pause(self, share: float) -> None:
        """Sets random pauses on all AXI4-Streams of mae_gcm_axis."""
        for number, model in enumerate((self.commands, self.source, self.sink, self.tags)):
            model.clear_pause_generator()
            model.pause = False
            if share:
                model.set_pause_generator(pauses(share, number))

    def any_message(self, **options) -> Message:
        """Returns a GCM message with random key bank, direction, IV, AAD and data."""
        row = self.row
        sizes = (0, random.randrange(1, 2 * row), row, 4 * row, random.randrange(1, 5 * row))
        aad, data = random.randbytes(random.choice(sizes)), random.randbytes(random.choice(sizes))
        iv = random.randbytes(random.choice((12, 12, 12, 1, 8, 16, 60)))
        bank = random.choice(list(self.keys))
        options.setdefault("decrypt", random.random() < 0.5)
        return Message(self.keys[bank], bank, iv, aad, data, **options)

    def send(self, message: Message) -> None:
        """Sends a message's command and data frame to mae_gcm_axis."""
        message.build(self.row)
        self.commands.send_nowait(AxiStreamFrame(message.command()))
        if message.beats:
            data = b"".join(word for word, _ in message.beats)
            keep = [k >> i & 1 for _, k in message.beats for i in range(self.row)]
            self.source.send_nowait(AxiStreamFrame(data, tkeep=keep))

    async def check(self, message: Message) -> None:
        """Receives a message's output from mae_gcm_axis; asserts data, tag and error flag."""
        if message.data:
            frame = await self.sink.recv(compact=False)
            kept = bytes(b for b, k in zip(frame.tdata, frame.tkeep, strict=True) if k)
            assert kept == message.expected, f"{message}"
            users = frame.tuser if isinstance(frame.tuser, list) else [frame.tuser]
            assert users[-1] == message.refused and not any(users[: -self.row])
        frame = await self.tags.recv(compact=False)
        user = frame.tuser[0] if isinstance(frame.tuser, list) else frame.tuser
        assert user == message.refused, f"{message}"
        tag = bytes(16) if message.decrypt or message.refused else message.tag
        assert bytes(frame.tdata) == tag

    async def exchange(self, messages: list[Message]) -> None:
        """Sends messages to mae_gcm_axis and then checks the output of each."""
        for message in messages:
            self.send(message)
        for message in messages:
            await self.check(message)


async def begin(dut) -> Engine:
    """Resets mae_gcm_axis and loads a key into each bank; returns its driver."""
    await start(dut, clear_i=0, abort_i=0)
    engine = Engine(dut)
    await ClockCycles(dut.clk_i, 2)
    for bank in range(2):
        await engine.key(bank)
    return engine


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def any_messages(dut) -> None:
    """Random GCM messages through mae_gcm_axis, with pauses and key changes, equal OpenSSL's."""
    engine = await begin(dut)
    for share in (0.0, 0.3, 0.6):
        engine.pause(share)
        await engine.key(random.randrange(2))
        messages = [engine.any_message() for _ in range(50)]
        for message in messages:
            message.tamper = message.decrypt and random.random() < 0.3
        await engine.exchange(messages)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def no_lost_clock(dut) -> None:
    """mae_gcm_axis accepts frames without a gap if their commands come early enough."""
    engine = await begin(dut)
    key = engine.keys[0]
    counts = [1] * 30 + [2, 3, 1, 5, 1, 8]
    messages = [
        Message(key, 0, random.randbytes(12), b"", random.randbytes(beats * engine.row - 3))
        for beats in counts
    ]
    engine.source.pause = True
    for message in messages:
        engine.send(message)
    await ClockCycles(dut.clk_i, 40)
    await RisingEdge(dut.clk_i)
    engine.source.pause = False
    while not int(dut.s_axis_tvalid.value):
        await FallingEdge(dut.clk_i)
    for _ in range(sum(counts)):
        assert int(dut.s_axis_tvalid.value) and int(dut.s_axis_tready.value), "a clock was lost"
        await FallingEdge(dut.clk_i)
    assert not int(dut.s_axis_tvalid.value)
    for message in messages:
        await engine.check(message)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def spoiled_frames(dut) -> None:
    """mae_gcm_axis reports frames that differ from their command; others give OpenSSL's output."""
    engine = await begin(dut)
    for share in (0.0, 0.4):
        engine.pause(share)
        messages = []
        for kind in ("short", "long", "less", "more", "hole") * 6:
            message = engine.any_message()
            message.data += random.randbytes(engine.row + 3)  # two beats or more, the last not full
            if len(message.data) % engine.row == 0:
                message.data = message.data[:-1]
            message.spoil = kind
            messages += [message, engine.any_message()]
        await engine.exchange(messages)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def aborts(dut) -> None:
    """After abort_i within a frame mae_gcm_axis drops the rest and runs the next message right."""
    engine = await begin(dut)
    for clocks in range(30):
        data = random.randbytes(20 * engine.row)
        engine.send(Message(engine.keys[0], 0, random.randbytes(12), b"", data))
        engine.pause(random.choice((0.0, 0.5)))
        while not int(dut.under_way_q.value):
            await RisingEdge(dut.clk_i)
        await ClockCycles(dut.clk_i, clocks)
        dut.abort_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.abort_i.value = 0
        engine.pause(0.0)
        await engine.source.wait()
        await ClockCycles(dut.clk_i, 15)
        assert engine.sink.count() <= 1 and engine.tags.count() <= 1
        if not engine.sink.empty():  # the whole of it, or as much as came, refused
            frame = engine.sink.recv_nowait(compact=False)
            assert frame.tuser[-1] == (len(frame.tdata) != len(data) or not frame.tkeep[-1])
        engine.tags.clear()
        await engine.exchange([engine.any_message()])


@pytest.mark.parametrize("lanes", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_gcm_axis(lanes: int) -> None:
    """Builds mae_gcm_axis with one lane and with several and runs this file's tests."""
    bench.run("mae_gcm_axis", parameters={"Lanes": lanes, "KeyBanks": 2})
