# SPDX-License-Identifier: Apache-2.0
"""Drives mae_gcm_stream clock by clock and compares data, tags and clocks with OpenSSL's."""

import random
from dataclasses import dataclass, field

from cocotb.triggers import RisingEdge

from tests.mode import gcm_oracle
from tests.support import bench
from tests.support.stream import start

KEY_SIZES = (16, 24, 32)
ROUNDS = {16: 10, 24: 12, 32: 14}


@dataclass
class Message:
    """Holds a GCM message for mae_gcm_stream: key bank, IV, AAD, data, and the expected result.

    For decryption, data is the ciphertext.
    """

    bank: int
    key: bytes
    iv: bytes
    aad: bytes
    data: bytes
    decrypt: bool = False
    tamper: bool = False
    tag_bytes: int = 16
    odd: str = ""  # "short", "last": beats that do not agree with the announced lengths
    expected: bytes = b""
    tag: bytes = b""
    clocks: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.decrypt:
            plain = self.data
            self.data, self.tag = gcm_oracle.encrypt(self.key, self.iv, self.aad, plain)
            self.expected = plain
            if self.tamper and self.tag_bytes:
                bit = random.randrange(8 * self.tag_bytes)
                tag = bytearray(self.tag)
                tag[bit // 8] ^= 1 << bit % 8
                self.tag = bytes(tag)
            keep = self.tag_bytes
            self.tag = self.tag[:keep] + random.randbytes(16 - keep)
        else:
            self.expected, self.tag = gcm_oracle.encrypt(self.key, self.iv, self.aad, self.data)

    def beats(self, row: int) -> list[tuple[int, int, int]]:
        """Returns the message's input beats as (data, bytes, last)."""
        parts = [self.iv if len(self.iv) != 12 else b"", self.aad, self.data]
        out = []
        for part in parts:
            for at in range(0, len(part), row):
                piece = part[at : at + row]
                out.append([lanes(piece + random.randbytes(row - len(piece))), len(piece), 0])
        if out:
            out[-1][2] = 1
            if self.odd == "short":
                out[-1][1] -= 1
            elif self.odd == "last":
                out[0][2] ^= 1
        return [tuple(beat) for beat in out]

    def announcement(self) -> int:
        """Packs lengths, key bank, IV and tag of the message into gcm_msg_t."""
        word = self.bank << 1 | self.decrypt
        word = word << 96 | (int.from_bytes(self.iv, "big") if len(self.iv) == 12 else 0)
        for part in (self.iv, self.aad, self.data):
            word = word << 36 | len(part)
        tag = int.from_bytes(self.tag, "big") if self.decrypt else random.getrandbits(128)
        return (word << 5 | self.tag_bytes) << 128 | tag


def lanes(row: bytes) -> int:
    """Packs the bytes of a row into an integer, with block 0 in the lowest bits."""
    value = 0
    for i in range(0, len(row), 16):
        value |= int.from_bytes(row[i : i + 16], "big") << 8 * i
    return value


class Engine:
    """Drives mae_gcm_stream with queued keys and messages and checks everything it gives."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.lanes = bench.parameters().get("Lanes", 1)
        self.row = 16 * self.lanes
        self.banks = bench.parameters()["KeyBanks"]
        self.sizes = KEY_SIZES[: bench.parameters().get("MaxKeyLen", 2) + 1]
        if "KeyLen" in bench.parameters():  # the only one
            self.sizes = (KEY_SIZES[bench.parameters()["KeyLen"]],)
        self.deep = bool(bench.parameters().get("Deep", 0))
        self.regs = bench.parameters().get("RegsPerRound", 1)
        self.small = bool(bench.parameters().get("Small", 0))  # a clock more a message
        self.one = bool(bench.parameters().get("OneMul", 0))
        # A register before the pipelines.
        self.cut = bool(bench.parameters().get("RomSboxes", 0)) and self.regs > 1
        self.keys: dict[int, bytes] = {}
        self.stall_in = self.stall_out = self.stall_tag = self.stall_msg = 0.0
        self.clock = self.lost = self.done = 0
        self.log: list[tuple[str, int]] = []
        self.wipe()

    def wipe(self) -> None:
        """Drops all keys and messages queued for mae_gcm_stream, and all expected results."""
        self.plan: list = []  # ("key", bank, key) and messages, to be announced in order
        self.in_beats: list = []
        self.out_beats: list = []
        self.ends: list[Message] = []
        self.hold = 0  # clocks before the next beat is offered

    async def reset(self) -> None:
        """Resets mae_gcm_stream with idle inputs."""
        names = (
            "clear_i abort_i key_valid_i key_i msg_valid_i msg_i in_valid_i in_data_i in_bytes_i"
        )
        names += " in_last_i out_ready_i tag_ready_i"
        await start(self.dut, **{name: 0 for name in names.split()})

    def key(self, bank: int, key: bytes | None = None) -> None:
        """Queues a key load into a key bank of mae_gcm_stream."""
        key = key or random.randbytes(random.choice(self.sizes))
        self.keys[bank] = key
        self.plan.append((bank, key))

    def any_bank(self) -> int:
        """Returns a random key bank number of mae_gcm_stream."""
        return random.randrange(self.banks)

    def message(self, bank: int, iv: bytes, aad: bytes, data: bytes, **options) -> Message:
        """Queues a GCM message under the key last queued for a bank; returns the message."""
        message = Message(bank, self.keys[bank], iv, aad, data, **options)
        self.plan.append(message)
        return message

    def _begin(self, message: Message) -> None:
        """Queues the message's input beats, and the output beats and tag expected for it."""
        self.in_beats += [(message, beat) for beat in message.beats(self.row)]
        data = message.expected
        for at in range(0, len(data), self.row):
            piece = data[at : at + self.row]
            last = at + self.row >= len(data)
            word = lanes(piece + bytes(self.row - len(piece)))
            self.out_beats.append((message, (word, len(piece), int(last))))
        self.ends.append(message)

    def _announce(self) -> None:
        """Offers the next queued key or message to mae_gcm_stream."""
        dut = self.dut
        keys = [entry for entry in self.plan[:1] if isinstance(entry, tuple)]
        rest = self.plan[len(keys) :]
        if keys:
            bank, key = keys[0]
            head = bank << 2 | KEY_SIZES.index(len(key))
            dut.key_i.value = head << 256 | int.from_bytes(key.ljust(32, b"\0"), "big")
        dut.key_valid_i.value = bool(keys)
        self.offered = None
        if rest and isinstance(rest[0], Message) and random.random() >= self.stall_msg:
            if not keys or rest[0].bank == keys[0][0]:
                self.offered = rest[0]
                dut.msg_i.value = rest[0].announcement()
        dut.msg_valid_i.value = self.offered is not None
        self.key_offered = bool(keys)

    async def tick(self) -> None:
        """Runs one clock of mae_gcm_stream: offers keys, messages and beats, checks outputs."""
        dut = self.dut
        self._announce()
        beat = None
        # A beat once offered stays.
        if self.in_beats and self.hold == 0 and (self.kept or random.random() >= self.stall_in):
            beat = self.in_beats[0]
            dut.in_data_i.value, dut.in_bytes_i.value, dut.in_last_i.value = beat[1]
        self.hold = max(0, self.hold - 1)
        dut.in_valid_i.value = beat is not None
        out_ready = random.random() >= self.stall_out
        tag_ready = random.random() >= self.stall_tag
        dut.out_ready_i.value = out_ready
        dut.tag_ready_i.value = tag_ready
        await RisingEdge(dut.clk_i)
        self.clock += 1
        if self.key_offered and int(dut.key_ready_o.value):
            self.plan.pop(0)
            self.log.append(("key", self.clock))
        if self.offered is not None and int(dut.msg_ready_o.value):
            self.plan.remove(self.offered)
            self.offered.clocks["msg"] = self.clock
            self._begin(self.offered)
        self.kept = beat is not None and not int(dut.in_ready_o.value)
        if self.kept and out_ready:
            self.lost += 1
        elif beat is not None and not self.kept:
            self.in_beats.pop(0)
            beat[0].clocks.setdefault("first", self.clock)
            beat[0].clocks["last"] = self.clock
        if int(dut.out_valid_o.value) and out_ready:
            assert self.out_beats, "a beat too many"
            message, expected = self.out_beats.pop(0)
            message.clocks.setdefault("out", self.clock)
            found = tuple(int(getattr(dut, f"out_{n}_o").value) for n in ("data", "bytes", "last"))
            assert found == expected, f"{message}"
        if int(dut.tag_valid_o.value) and tag_ready:
            self._end(int(dut.tag_o.value))

    kept = False

    def _end(self, verdict: int) -> None:
        """Asserts mae_gcm_stream's tag and verdict of the oldest unfinished message."""
        assert self.ends, "a tag too many"
        message = self.ends.pop(0)
        message.clocks["tag"] = self.clock
        ok, tag = verdict >> 128, (verdict % gcm_oracle.BLOCK).to_bytes(16, "big")
        assert tag == (bytes(16) if message.decrypt else message.tag), f"{message}"
        assert ok == (not message.tamper and not message.odd), f"{message}"
        self.done += 1

    async def run(self, limit: int = 20000) -> None:
        """Runs mae_gcm_stream until all queued messages have ended."""
        clocks = 0
        while self.plan or self.in_beats or self.out_beats or self.ends:
            await self.tick()
            clocks += 1
            assert clocks < limit, f"stands still: {self.plan[:1]} {self.ends[:1]}"
        for _ in range(8):
            await self.tick()
