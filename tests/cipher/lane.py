# SPDX-License-Identifier: Apache-2.0
"""Drives one cipher lane with round keys of the test.

The lane is mae_cipher_iter_unit, mae_pipe_rounds or mae_pipe_rounds_rom. That one only encrypts.
"""

import random
from collections import deque

from cocotb.triggers import RisingEdge, Timer

from tests.cipher import fips197
from tests.cipher.fips197 import ROUNDS, openssl, round_keys
from tests.cipher.leaks import registers_left
from tests.support import bench
from tests.support.stream import start

SIZES = (16, 24, 32)
ENCRYPT, DECRYPT, BOTH = 1, 2, 3
Request = tuple[int, int, int, bytes]  # ctx, bank, decrypt, block


class Lane:
    """Drives a cipher lane and models its keys and the blocks inside."""

    def __init__(self, dut, pipeline: bool) -> None:
        self.dut = dut
        self.pipeline = pipeline
        values = bench.parameters()
        self.banks = int(values.get("KeyBanks", 1))
        self.rom = hasattr(dut, "first_key_i")
        dirs = ENCRYPT if self.rom else int(values.get("Dirs", BOTH))
        self.dirs = [d for d, bit in ((0, ENCRYPT), (1, DECRYPT)) if dirs & bit]
        self.sizes = SIZES[: int(values.get("MaxKeyLen", 2)) + 1]
        self.regs = int(values.get("RegsPerRound", 1))
        self.per_reg = int(values.get("RoundsPerReg", 1))
        self.flush = self.rom or bool(values.get("Flush", 0))
        self.keys: list[bytes] = []
        self.inside: deque[list] = deque()
        self.ready = [(1 << self.banks) - 1] * 2  # for encryption and for decryption

    async def reset(self) -> None:
        """Resets the cipher lane and sets the round keys of a random key in each bank."""
        fips197.check_against_openssl(2)
        decrypts = {} if self.rom else {"dec_ready_i": 0}
        await start(self.dut, clear_i=0, enc_ready_i=0, req_valid_i=0, req_i=0, **decrypts)
        first = random.randrange(len(self.sizes))
        order = self.sizes[first:] + self.sizes[:first]
        self.keys = [random.randbytes(order[b % len(order)]) for b in range(self.banks)]
        rounds = ROUNDS[self.sizes[-1]]
        for b, key in enumerate(self.keys):
            self.dut.len_i[b].value = SIZES.index(len(key))
            keys = [int.from_bytes(k, "big") for k in round_keys(key)]
            if self.rom:
                self.dut.first_key_i[b].value = keys[0]
            for i in range(0 if self.rom else rounds + 1):
                self.dut.keys_i[b][i].value = keys[i] if i < len(keys) else random.getrandbits(128)
            for r in range(rounds if self.pipeline else 0):
                spare = r >= len(keys) - 1
                self.dut.enc_keys_i[b][r].value = (
                    random.getrandbits(128) if spare else keys[len(keys) - 1 - r]
                )

    def latency(self, key: bytes) -> int:
        """Returns the clocks from request to answer in this lane for a key."""
        if self.per_reg > 1:
            return ROUNDS[len(key)] // self.per_reg
        return ROUNDS[len(key)] * self.regs + 1 if self.pipeline else ROUNDS[len(key)]

    def takes(self, bank: int, decrypt: int) -> bool:
        """Returns true if the cipher lane must accept a request for a bank in this clock."""
        if bank >= self.banks or not self.ready[decrypt] >> bank & 1:
            return False
        if self.pipeline:  # in two clocks nobody may be where this block would be
            return all(left < self.latency(self.keys[bank]) for left, *_ in self.inside)
        return all(left == 0 for left, *_ in self.inside)

    async def step(self, request: Request | None = None) -> bool:
        """Runs one clock of the cipher lane with or without a request; asserts the answer due."""
        dut = self.dut
        for block in self.inside:
            block[0] -= 1
        dut.enc_ready_i.value = self.ready[0]
        if not self.rom:
            dut.dec_ready_i.value = self.ready[1]
        dut.req_valid_i.value = request is not None
        ctx, bank, decrypt, block = request or (0, 0, self.dirs[0], bytes(16))
        head = ctx << 3 | bank << 1 | decrypt
        dut.req_i.value = head << 128 | int.from_bytes(block, "big")
        await RisingEdge(dut.clk_i)
        valid, rsp = int(dut.rsp_valid_o.value), int(dut.rsp_o.value)
        assert bool(valid) == bool(self.inside and self.inside[0][0] == 0)
        takes = self.takes(bank, decrypt)
        assert bool(int(dut.req_ready_o.value)) == takes
        taken = takes and request is not None
        assert int(dut.used_o.value) == taken << bank
        if valid:
            _, ctx_, answer = self.inside.popleft()
            assert rsp == ctx_ << 128 | int.from_bytes(answer, "big")
        else:
            assert self.flush or rsp & (1 << 128) - 1 == 0, "data where no block is"
        if taken:
            answer = openssl(self.keys[bank], block, bool(decrypt))
            self.inside.append([self.latency(self.keys[bank]), ctx, answer])
        return taken

    def request(self, bank: int | None = None, decrypt: int | None = None) -> Request:
        """Returns a random request as (context, bank, direction, block)."""
        bank = random.randrange(self.banks) if bank is None else bank
        decrypt = random.choice(self.dirs) if decrypt is None else decrypt
        return random.randrange(256), bank, decrypt, random.randbytes(16)

    async def traffic(self, clocks: int, gap: float, flicker: float) -> int:
        """Sends random requests while banks become ready and not ready; returns accepted blocks."""
        blocks = 0
        for _ in range(clocks):
            if random.random() < flicker:
                self.ready = [random.getrandbits(self.banks) for _ in range(2)]
            bank = random.randrange(4 if random.random() < 0.1 else self.banks)
            blocks += await self.step(self.request(bank) if random.random() >= gap else None)
        self.ready = [(1 << self.banks) - 1] * 2
        for _ in range(50):
            await self.step()
        assert not self.inside
        return blocks

    async def clear(self, clocks: int) -> None:
        """Pulses clear_i of the cipher lane; asserts that no answer and no data remain."""
        self.dut.req_valid_i.value = 0
        await Timer(1, "ns")
        assert registers_left(self.dut)
        self.dut.clear_i.value = 1
        await RisingEdge(self.dut.clk_i)
        self.dut.clear_i.value = 0
        self.inside.clear()
        await Timer(1, "ns")
        assert int(self.dut.rsp_valid_o.value) == 0
        for _ in range(clocks - 1):
            await RisingEdge(self.dut.clk_i)
        await Timer(1, "ns")
        assert registers_left(self.dut) == []
        for _ in range(60):
            await self.step()
