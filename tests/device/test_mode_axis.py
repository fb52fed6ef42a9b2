# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_axis: all modes over AXI4-Stream against OpenSSL, and messages to be refused.

Every mode with every key size in both directions; random lengths, keys and pauses on all sides; no
clock lost in the parallel modes; a key that changes while messages use it; a clear at any time.
What a build lacks (key lengths, key slots, decryption) is refused, or left out.
"""

import random
from dataclasses import dataclass, field

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from tests.device.oracle import CODES
from tests.mode.engine import ANY_LENGTH, LENGTHS, MODES, crypt
from tests.support import bench
from tests.support.axi import pauses
from tests.support.stream import start

PARAMETERS = bench.parameters()
SLOTS = 8
KEYS = (16, 24, 32, 16, 24, 32)  # bytes of the keys in the first slots
ENCRYPT = 1  # DirsEncrypt of mae_aes_pkg
UNIT = {"Iterative": 1, "Lanes": 1, "Messages": 1, "KeySlots": 1, "KeyBanks": 1}  # as units1
UNIT |= {"Dirs": ENCRYPT, "MaxKeyLen": 0}


def lengths() -> tuple[int, ...]:
    """Returns the key lengths of the tested mae_mode_axis, in bytes."""
    return tuple(LENGTHS[: bench.parameters().get("MaxKeyLen", 2) + 1])


@dataclass
class Message:
    """Holds a message for mae_mode_axis: command, data, expected output, refused or not."""

    mode: str
    decrypt: bool
    slot: int
    tweak_slot: int
    iv: bytes
    data: bytes
    want: bytes = b""
    op: int | None = None
    refused: bool = False
    whole: bool = False  # refused before any data
    keeps: list[int] = field(default_factory=list)  # of each beat, where they are not the data's

    @property
    def part(self) -> bool:
        """Returns true if the message is in XTS mode and its length is no multiple of 16 bytes."""
        return self.mode == "xts" and len(self.data) % 16 != 0

    def command(self) -> bytes:
        """Packs the message's 32-byte command for s_axis_cmd."""
        op = CODES[self.mode] if self.op is None else self.op
        flags = self.decrypt | self.part << 1 | random.randrange(64) << 2
        return bytes([op, flags, self.slot, self.tweak_slot]) + random.randbytes(12) + self.iv


class Core:
    """Connects mae_mode_axis to models of its four AXI4-Streams."""

    def __init__(self, dut) -> None:
        self.dut = dut
        parameters = bench.parameters()
        self.row = 16 * parameters["Lanes"]
        self.slots = min(SLOTS, parameters.get("KeySlots", SLOTS))
        self.encrypts_only = parameters.get("Dirs") == ENCRYPT

        def model(kind, prefix):
            return kind(AxiStreamBus.from_prefix(dut, prefix), dut.clk_i, dut.rst_ni, False)

        self.key_source = model(AxiStreamSource, "s_axis_key")
        self.commands = model(AxiStreamSource, "s_axis_cmd")
        self.source = model(AxiStreamSource, "s_axis")
        self.sink = model(AxiStreamSink, "m_axis")
        self.keys: dict[int, bytes] = {}

    def offer_key(self, slot: int, size: int | None = None, erase: bool = False) -> None:
        """Sends a random key for a key slot of mae_mode_axis, or its erasure, without waiting."""
        key = random.randbytes(size or random.choice(lengths()))
        head = bytes([LENGTHS.index(len(key)), slot, erase])
        padding = random.randbytes(32 - len(key))
        self.key_source.send_nowait(key + padding + head + random.randbytes(5))
        if erase:
            self.keys.pop(slot, None)
        elif slot < self.slots:
            self.keys[slot] = key

    async def fill(self, sizes: tuple[int, ...] = KEYS) -> None:
        """Writes random keys of given sizes to the first key slots, as many as there are."""
        for slot, size in enumerate(sizes[: self.slots]):
            await self.key(slot, min(size, max(lengths())))

    async def key(self, slot: int, size: int | None = None, erase: bool = False) -> None:
        """Writes a random key to a key slot of mae_mode_axis, or erases the slot, and waits."""
        self.offer_key(slot, size, erase)
        await self.key_source.wait()

    def pause(self, share: float) -> None:
        """Sets random pauses on all AXI4-Streams of mae_mode_axis."""
        for number, model in enumerate((self.commands, self.source, self.sink)):
            model.clear_pause_generator()
            model.pause = False
            if share:
                model.set_pause_generator(pauses(share, number))

    def message(self, mode: str, decrypt: bool, size: int, slot: int | None = None) -> Message:
        """Makes a random message of about ``size`` bytes, with OpenSSL's output for it."""
        slots = [s for s, key in self.keys.items() if mode != "xts" or len(key) != 24]
        slot = random.choice(slots) if slot is None else slot
        key = self.keys[slot]
        others = [s for s in slots if s != slot and len(self.keys[s]) == len(key)]
        if mode == "xts" and not others:
            return self.message("ctr", decrypt, size, slot)
        tweak_slot = random.choice(others) if others else slot
        if mode == "xts":
            size = max(size, 16)
        elif mode not in ANY_LENGTH:
            size = max(16, size // 16 * 16)
        data, iv = random.randbytes(size), random.randbytes(16)
        want = crypt(mode, decrypt, key, self.keys[tweak_slot], iv, data)
        lacks = decrypt and self.encrypts_only and mode in ("ecb", "cbc", "pcbc", "xts")
        return Message(mode, decrypt, slot, tweak_slot, iv, data, want, refused=lacks, whole=lacks)

    def any_message(self) -> Message:
        """Makes a message of random mode, direction and length, with OpenSSL's output for it."""
        size = random.choice((1, 16, self.row, 4 * self.row, random.randrange(1, 6 * self.row)))
        return self.message(random.choice(MODES), random.random() < 0.5, size)

    def send(self, message: Message) -> None:
        """Sends a message's command and data frame to mae_mode_axis."""
        self.commands.send_nowait(AxiStreamFrame(message.command()))
        beats = -(-len(message.data) // self.row)
        data = message.data + random.randbytes(beats * self.row - len(message.data))
        keeps = [(1 << min(self.row, len(message.data) - at * self.row)) - 1 for at in range(beats)]
        keep = [k >> i & 1 for k in message.keeps or keeps for i in range(self.row)]
        self.source.send_nowait(AxiStreamFrame(data, tkeep=keep))

    async def check(self, message: Message) -> None:
        """Receives mae_mode_axis's output frame for a message; asserts its data and error flag."""
        frame = await self.sink.recv(compact=False)
        kept = bytes(b for b, k in zip(frame.tdata, frame.tkeep, strict=True) if k)
        users = frame.tuser if isinstance(frame.tuser, list) else [frame.tuser]
        assert users[-1] == message.refused and not any(users[: -self.row]), message
        if message.whole:
            assert kept == bytes(1), message
        elif message.refused:
            good = message.want
            assert kept[: len(good)] == good and len(kept) - len(good) in range(17), message
        else:
            assert kept == message.want, message

    async def exchange(self, messages: list[Message]) -> None:
        """Sends messages to mae_mode_axis and then checks their outputs in order."""
        for message in messages:
            self.send(message)
        for message in messages:
            await self.check(message)


async def begin(dut, sizes: tuple[int, ...] = KEYS) -> Core:
    """Resets mae_mode_axis and writes keys into slots; returns its driver."""
    await start(dut, clear_i=0)
    core = Core(dut)
    await ClockCycles(dut.clk_i, 2)
    await core.fill(sizes)
    return core


async def clock_period(dut) -> int:
    """Returns the clock period in steps of the simulator."""
    await RisingEdge(dut.clk_i)
    before = get_sim_time()
    await RisingEdge(dut.clk_i)
    return get_sim_time() - before


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def every_mode(dut) -> None:
    """mae_mode_axis gives OpenSSL's output in each mode, direction, key size and length."""
    core = await begin(dut)
    messages = []
    for mode in MODES:
        for decrypt in (False, True):
            for slot in range(min(3, core.slots)):
                if mode == "xts" and slot == 1:
                    continue
                for size in (1, 16, core.row, core.row + 13, 3 * core.row + 17):
                    messages.append(core.message(mode, decrypt, size, slot))
    assert {m.mode for m in messages} == set(MODES) - ({"xts"} if core.slots == 1 else set())
    await core.exchange(messages)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def any_messages(dut) -> None:
    """mae_mode_axis gives OpenSSL's output for random messages with pauses and key changes."""
    core = await begin(dut)
    for share in (0.0, 0.3, 0.6):
        core.pause(share)
        for _ in range(4):
            await core.key(random.randrange(core.slots))
            await core.exchange([core.any_message() for _ in range(20)])


@cocotb.test(skip=PARAMETERS.get("Messages", 0) < 16, timeout_time=1, timeout_unit="ms")
async def no_lost_clock(dut) -> None:
    """mae_mode_axis passes successive messages of parallel modes without a lost clock."""
    core = await begin(dut, (16, 16))
    for mode, decrypt in (("ctr", False), ("ecb", True), ("cbc", True), ("cfb", True)):
        await core.exchange([core.message(mode, decrypt, core.row, 0)])  # the key is in a bank
        counts = [20] + [2, 3, 5, 4, 8, 2, 6, 3]
        messages = [core.message(mode, decrypt, beats * core.row, 0) for beats in counts]
        core.source.pause = True
        for message in messages:
            core.send(message)
        await ClockCycles(dut.clk_i, 60)
        await RisingEdge(dut.clk_i)
        core.source.pause = False
        while not int(dut.s_axis_tvalid.value):
            await FallingEdge(dut.clk_i)
        for _ in range(sum(counts)):
            assert int(dut.s_axis_tvalid.value) and int(dut.s_axis_tready.value), "a clock was lost"
            await FallingEdge(dut.clk_i)
        for message in messages:
            await core.check(message)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def waiting_result(dut) -> None:
    """mae_mode_axis loses no row of a long message whose result is taken 1,000 clocks late."""
    core = await begin(dut, (16,))
    for mode, decrypt in (("ecb", False), ("ctr", False), ("cbc", True), ("cbc", False)):
        message = core.message(mode, decrypt, 80 * core.row, 0)
        core.sink.pause = True
        core.send(message)
        await ClockCycles(dut.clk_i, 1000)
        core.sink.pause = False
        await core.check(message)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def clocks_a_block(dut) -> None:
    """CBC encryption in mae_mode_axis takes the cipher's latency per block, or one clock more."""
    core = await begin(dut, (16, 24, 32))
    period = await clock_period(dut)
    for slot, key in core.keys.items():
        rounds = len(key) // 4 + 6
        message = core.message("cbc", False, 33 * core.row, slot)
        core.send(message)
        frame = await core.sink.recv()
        assert bytes(frame.tdata) == message.want
        blocks = 32 * core.row // 16  # from the end of the first row to that of the last
        clocks = (frame.sim_time_end - frame.sim_time_start) / period / blocks
        assert rounds <= clocks <= rounds + 1, clocks


@cocotb.test(skip=not PARAMETERS.get("Iterative"), timeout_time=1, timeout_unit="ms")
async def units(dut) -> None:
    """Each iterative unit of mae_mode_axis takes a block in one cipher latency."""
    core = await begin(dut, (16, 24, 32))
    period = await clock_period(dut)
    for slot, key in core.keys.items():
        rounds = len(key) // 4 + 6
        for mode, decrypt in (("ctr", False), ("ecb", not core.encrypts_only)):
            message = core.message(mode, decrypt, 33 * core.row, slot)
            core.send(message)
            frame = await core.sink.recv()
            assert bytes(frame.tdata) == message.want
            clocks = (frame.sim_time_end - frame.sim_time_start) / period / 32
            assert rounds <= clocks <= rounds + 1, clocks


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def refused(dut) -> None:
    """mae_mode_axis refuses wrong commands and frames; messages before and after are right."""
    core = await begin(dut)
    row = core.row

    def wrong(kind: str) -> Message:
        mode = {"steal": "xts", "short": "xts"}.get(kind, random.choice(MODES[:6]))
        slot = random.choice([s for s in (0, 2, 3, 5) if s in core.keys])
        m = core.message(mode, random.random() < 0.5, 3 * row, slot)
        m.refused = True
        if kind == "op":
            m.op, m.whole = random.choice((7, 8, 16, 255)), True
        elif kind == "slot":
            empty = [s for s in range(SLOTS + 1) if s not in core.keys]
            m.slot, m.whole = random.choice((*empty, 64 + m.slot, 255)), True
        elif kind == "same":
            m.op, m.tweak_slot, m.whole = CODES["xts"], m.slot, True
        elif kind == "part":  # whole blocks are needed
            m = core.message(random.choice(("ecb", "cbc", "pcbc")), False, 3 * row)
            m.refused, m.data, m.want = True, m.data[:-5], m.want[:-16]
        elif kind == "short":
            m.data, m.want = m.data[:7], b""
        elif kind == "cut":  # the second beat is not full
            m.keeps = [(1 << row) - 1, (1 << row - 3) - 1, (1 << row) - 1]
            m.want = m.want[: 2 * row - 16]
        elif kind == "hole":
            m.keeps = [(1 << row) - 1, (1 << row) - 1, (1 << row) - 1 & ~2]
            m.want = m.want[: 2 * row]
        elif kind == "none":
            m.keeps = [(1 << row) - 1, (1 << row) - 1, 0]
            m.want = m.want[: 2 * row]
        return m

    for share in (0.0, 0.4):
        core.pause(share)
        kinds = ["op", "slot", "same", "part", "cut", "hole", "none"]
        messages = []
        for kind in [*kinds, *(["short"] if core.slots > 1 else [])] * 6:
            messages += [wrong(kind), core.any_message()]
        await core.exchange(messages)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def keys_change(dut) -> None:
    """mae_mode_axis writes a key slot only after messages that use it; erased slots are refused."""
    core = await begin(dut)
    for _ in range(20):
        core.pause(random.choice((0.0, 0.5)))
        slot = random.randrange(min(6, core.slots))
        messages = [core.message("ctr", False, 8 * core.row, slot) for _ in range(3)]
        for message in messages:
            core.send(message)
        while not core.commands.empty() or not core.commands.idle():
            await RisingEdge(core.dut.clk_i)
        erase = random.random() < 0.3
        await core.key(slot, erase=erase)
        after = messages[0] if erase else core.message("ctr", True, 3 * core.row, slot)
        if erase:
            iv, data = bytes(16), bytes(40)
            after = Message("ctr", False, slot, slot, iv, data, refused=True, whole=True)
        core.send(after)
        for message in (*messages, after):
            await core.check(message)
        await core.key(slot)
        await core.key(200)  # no slot: taken, and ignored


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def command_behind_key(dut) -> None:
    """A command of mae_mode_axis behind a waiting key for its slot runs under the new key."""
    core = await begin(dut)
    for _ in range(20):
        slot = random.randrange(min(6, core.slots))
        first = core.message("ctr", False, 8 * core.row, slot)
        core.send(first)  # as long as it is in progress, its key stays
        while not core.commands.empty() or not core.commands.idle():
            await RisingEdge(dut.clk_i)
        core.offer_key(slot)
        while not int(dut.s_axis_key_tvalid.value):
            await FallingEdge(dut.clk_i)
        after = core.message("ctr", True, 3 * core.row, slot)
        core.send(after)
        await core.check(first)
        await core.check(after)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def clears(dut) -> None:
    """After clear_i mae_mode_axis has dropped its frame and keys and runs new messages right."""
    core = await begin(dut)
    for clocks in range(0, 60, 3):
        message = core.message(random.choice(MODES), False, 6 * core.row)
        core.send(message)
        core.pause(random.choice((0.0, 0.5)))
        while not int(dut.under_way_q.value):
            await RisingEdge(dut.clk_i)
        await ClockCycles(dut.clk_i, clocks)
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        core.pause(0.0)
        await core.source.wait()
        await ClockCycles(dut.clk_i, 20)
        assert core.sink.count() <= 1
        if not core.sink.empty():  # the whole of it, or as much as came, refused
            frame = core.sink.recv_nowait(compact=False)
            assert frame.tuser[-1] == (bytes(frame.tdata[: len(message.data)]) != message.want)
        gone = Message("ctr", False, 0, 0, bytes(16), bytes(9), refused=True, whole=True)
        await core.exchange([gone])
        await core.fill()
        await core.exchange([core.any_message() for _ in range(3)])


@pytest.mark.parametrize(
    "options",
    [
        {"Lanes": 1, "Messages": 16},
        {"Lanes": 1, "Messages": 2, "Iterative": 1},
        pytest.param({"Lanes": 4, "Messages": 4, "Iterative": 1}, marks=pytest.mark.slow),
        pytest.param({"Lanes": 4, "Messages": 16}, marks=pytest.mark.slow),
        pytest.param({"Lanes": 2, "Messages": 1, "KeyBanks": 1}, marks=pytest.mark.slow),
        pytest.param({"Lanes": 4, "Messages": 1, "Iterative": 1}, marks=pytest.mark.slow),
        pytest.param(UNIT, marks=pytest.mark.full),
        pytest.param(UNIT | {"Lanes": 2, "KeySlots": 4}, marks=pytest.mark.slow),
    ],
)
def test_mode_axis(options: dict[str, int]) -> None:
    """Builds mae_mode_axis with one and several lanes and an iterative cipher; runs all tests."""
    bench.run("mae_mode_axis", parameters={"KeySlots": SLOTS} | options)
