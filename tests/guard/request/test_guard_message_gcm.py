# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_message_gcm: requests and responses against AES-GCM of `cryptography`."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.device import secrets
from tests.support import bench

REQUEST, RESPONSE, VERSION = 1, 2, 1


def opening_clocks(blocks: int) -> int:
    """Returns the clocks in which mae_guard_message_gcm opens a request of some blocks."""
    return 16 * blocks + 49 if bench.parameters()["Small"] else blocks + 23


class Messages:
    """Drives mae_guard_message_gcm, serves its row reads and holds the keys that it has loaded."""

    def __init__(self, dut, seed: int) -> None:
        self.dut = dut
        self.random = random.Random(seed)
        self.open_rows: list[bytes] = []
        self.seal_rows: list[bytes] = []
        self.keys = {}

    async def begin(self) -> None:
        """Resets mae_guard_message_gcm and loads its four keys."""
        dut = self.dut
        Clock(dut.clk_i, 10, "ns").start()
        for name in ("clear_i", "key_valid_i", "open_valid_i", "seal_valid_i", "sealed_ready_i"):
            getattr(dut, name).value = 0
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 2)
        dut.rst_ni.value = 1
        cocotb.start_soon(self._serve())
        await FallingEdge(dut.clk_i)
        await self.load()

    async def load(self) -> None:
        """Loads random keys and IV masks into all key banks of mae_guard_message_gcm."""
        for bank in range(4):
            self.keys[bank] = self.random.randbytes(32), self.random.randbytes(12)
            self.dut.key_bank_i.value = bank
            self.dut.key_i.value = int.from_bytes(b"".join(self.keys[bank]))
            self.dut.key_valid_i.value = 1
            while True:
                ready = self.dut.key_ready_o.value
                await FallingEdge(self.dut.clk_i)
                if ready:
                    break
        self.dut.key_valid_i.value = 0

    async def _serve(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_i)
            row = int(self.dut.row_o.value)
            for rows, port in ((self.open_rows, "open_row_i"), (self.seal_rows, "seal_row_i")):
                data = rows[row] if row < len(rows) else bytes(16)
                getattr(self.dut, port).value = int.from_bytes(data)

    def place(self) -> tuple[int, int, int]:
        """Returns a random queue, epoch and sequence number of a message."""
        r = self.random
        return r.randrange(64), r.randrange(1 << 16), r.choice((1, 2**64 - 1, r.randrange(1 << 64)))

    def set_place(self, place: tuple[int, int, int]) -> None:
        """Sets the queue, epoch and sequence number that mae_guard_message_gcm shall expect."""
        queue, epoch, sequence = place
        self.dut.place_i.value = (queue << 96) | (epoch << 64) | sequence

    def seal(self, number: int, kind: int, place: tuple[int, int, int], body: bytes) -> bytes:
        """Encrypts a message by `cryptography` with the header and IV of the protocol."""
        queue, epoch, sequence = place
        key, mask = self.keys[2 * (number == RESPONSE) + epoch % 2]
        header = bytes([VERSION, number, queue, kind])
        header += epoch.to_bytes(4) + sequence.to_bytes(8)
        iv = bytes([number, queue, 0, 0]) + sequence.to_bytes(8)
        iv = bytes(a ^ b for a, b in zip(iv, mask, strict=True))
        return header + AESGCM(key).encrypt(iv, body, header)

    async def open(self, place: tuple[int, int, int], message: bytes) -> tuple[bool, int, bytes]:
        """Lets mae_guard_message_gcm decrypt a request; returns verdict, kind and body."""
        dut = self.dut
        self.open_rows = [message[at : at + 16] for at in range(0, len(message), 16)]
        self.set_place(place)
        dut.open_blocks_i.value = len(self.open_rows) - 2
        dut.open_valid_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.open_valid_i.value = 0
        body = b""
        for self.clocks in range(1, 2000):
            if dut.body_valid_o.value:
                assert int(dut.body_index_o.value) == len(body) // 16
                body += int(dut.body_o.value).to_bytes(16)
            if dut.opened_o.value:
                result = bool(dut.opened_ok_o.value), int(dut.opened_kind_o.value), body
                await FallingEdge(dut.clk_i)
                return result
            assert not dut.opened_ok_o.value
            await FallingEdge(dut.clk_i)
        raise AssertionError("no verdict")

    async def respond(self, kind: int, place: tuple[int, int, int], body: bytes, stall: float):
        """Lets mae_guard_message_gcm encrypt a response; returns its rows."""
        dut = self.dut
        self.seal_rows = [body[at : at + 16].ljust(16, b"\xdd") for at in range(0, len(body), 16)]
        self.set_place(place)
        dut.seal_kind_i.value, dut.seal_bytes_i.value = kind, len(body)
        dut.seal_valid_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.seal_valid_i.value = 0
        rows, last = [], False
        for self.clocks in range(1, 3000):
            ready = self.random.random() >= stall
            dut.sealed_ready_i.value = int(ready)
            if ready and dut.sealed_valid_o.value:
                rows.append(int(dut.sealed_o.value).to_bytes(16))
                last = bool(dut.sealed_last_o.value)
            await FallingEdge(dut.clk_i)
            if last:
                break
        dut.sealed_ready_i.value = 0
        assert dut.idle_o.value
        return rows


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def requests(dut) -> None:
    """mae_guard_message_gcm opens a request in the stated clocks and rejects any changed bit."""
    m = Messages(dut, 1)
    await m.begin()
    for blocks in (1, 2, 4, 5, 64, *(m.random.randrange(1, 65) for _ in range(10))):
        place, kind, body = m.place(), m.random.randrange(256), m.random.randbytes(16 * blocks)
        message = m.seal(REQUEST, kind, place, body)
        assert await m.open(place, message) == (True, kind, body)
        assert m.clocks == opening_clocks(blocks), (blocks, m.clocks)
        for _ in range(20):
            spoiled = bytearray(message)
            spoiled[m.random.randrange(len(message))] ^= 1 << m.random.randrange(8)
            ok, _, _ = await m.open(place, bytes(spoiled))
            assert not ok
        for at in range(16):  # each byte of the header
            spoiled = bytearray(message)
            spoiled[at] ^= 1 << m.random.randrange(8)
            assert not (await m.open(place, bytes(spoiled)))[0], at
        queue, epoch, sequence = place
        others = [(queue ^ 1, epoch, sequence), (queue, epoch ^ 2, sequence)]
        others += [(queue, epoch ^ 1, sequence), (queue, epoch, sequence ^ 1)]
        for other in others:
            assert not (await m.open(other, message))[0]
        assert not (await m.open(place, m.seal(RESPONSE, kind, place, body)))[0]
        if blocks > 1:
            assert not (await m.open(place, message[:-32] + message[-16:]))[0]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def responses(dut) -> None:
    """mae_guard_message_gcm encrypts responses of every length as `cryptography` does."""
    m = Messages(dut, 2)
    await m.begin()
    for length in (16, 24, 32, 40, 528, *(16 + 8 * m.random.randrange(65) for _ in range(10))):
        for stall in (0.0, 0.7):
            place, kind, body = m.place(), m.random.randrange(256), m.random.randbytes(length)
            rows = await m.respond(kind, place, body, stall)
            if not stall:
                assert m.clocks == opening_clocks(len(rows) - 2) + 1, (len(rows), m.clocks)
            wanted = m.seal(RESPONSE, kind, place, body)
            text = b"".join(rows[1:-1])
            assert rows[0] + text[:length] + rows[-1] == wanted
            assert not any(text[length:])
            request = m.seal(REQUEST, kind, place, body[:16])
            assert await m.open(place, request) == (True, kind, body[:16])


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def cleared(dut) -> None:
    """A clear of mae_guard_message_gcm at any time erases all keys, masks and plaintext."""
    m = Messages(dut, 3)
    await m.begin()
    for clocks in (1, 5, 20, 25, 30, 50):
        place, body = m.place(), m.random.randbytes(16 * 20)
        message = m.seal(REQUEST, 2, place, body)
        task = cocotb.start_soon(m.open(place, message))
        await ClockCycles(dut.clk_i, clocks)
        await FallingEdge(dut.clk_i)
        task.cancel()
        dut.open_valid_i.value = 0
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        dut.key_i.value = 0
        await ClockCycles(dut.clk_i, 2)
        await FallingEdge(dut.clk_i)
        held = [body, *(part for pair in m.keys.values() for part in pair)]
        assert secrets.find(dut, held, 4) == []
        assert dut.idle_o.value
        await m.load()


@pytest.mark.parametrize("small", [0, 1])
def test_guard_message_gcm(small: int) -> None:
    """Builds mae_guard_message_gcm for 64 blocks and runs this file's simulation tests on it."""
    bench.run("mae_guard_message_gcm", parameters={"Small": small}, visible=True)
