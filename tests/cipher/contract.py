# SPDX-License-Identifier: Apache-2.0
"""Checks what every block cipher module must do (interface of mae_aes_pkg), by cocotb tests.

Their test files import the coroutines; `CIPHER_LATENCY` (clocks a round, clocks beside the rounds)
and `CIPHER_KEY_CLOCKS` (those of a round key, if no parameter says it) come from there.
"""

import dataclasses
import itertools
import os
import random
import re
from collections import deque
from collections.abc import Callable

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge, Timer

from tests.cipher.fips197 import ROUNDS, openssl
from tests.cipher.leaks import PUBLIC, leaks, registers_left, secret_words, signals
from tests.support import bench
from tests.support.stream import start

SIZES = (16, 24, 32)
ENCRYPT, DECRYPT, BOTH = 1, 2, 3
REQ_BITS, RSP_BITS = 8 + 2 + 1 + 128, 8 + 128


@dataclasses.dataclass
class Request:
    """Holds a request to a block cipher: key bank, direction, block and context."""

    bank: int
    decrypt: bool
    block: bytes
    ctx: int = 0

    def packed(self) -> int:
        """Packs the request into the bits of cipher_req_t."""
        head = (self.ctx << 3) | (self.bank << 1) | int(self.decrypt)
        return (head << 128) | int.from_bytes(self.block, "big")


class Contract:
    """Drives a block cipher clock by clock; asserts value, order and clock of each answer."""

    def __init__(self, dut: SimHandleBase) -> None:
        self.dut = dut
        parameters = bench.parameters()
        self.lanes = len(dut.req_valid_i)
        self.banks = int(parameters.get("KeyBanks", 1))
        one = "KeyLen" in parameters  # encryption alone, with keys of one length
        dirs = ENCRYPT if one else int(parameters.get("Dirs", BOTH))
        self.dirs = [d for d, bit in ((False, ENCRYPT), (True, DECRYPT)) if dirs & bit]
        self.sizes = SIZES[: int(parameters.get("MaxKeyLen", 2)) + 1]
        if one:
            self.sizes = (SIZES[int(parameters["KeyLen"])],)
        self.duplex = bool(parameters.get("Duplex", 0))
        self.per_round, self.beside = map(int, os.environ["CIPHER_LATENCY"].split(","))
        self.key_clocks = int(os.environ.get("CIPHER_KEY_CLOCKS", parameters.get("KeyClocks", 1)))
        self.per_reg = int(parameters.get("RoundsPerReg", 1))
        self.whole = self.per_reg > 1 or one  # encryption waits for all round keys
        self.pipelined = bool(self.beside) or self.whole
        self.ctx_mask = (1 << int(parameters.get("CtxBits", 8))) - 1
        self.clock = 0
        self.keys: dict[int, bytes] = {}
        self.offered: list[Request | None] = [None] * self.lanes
        self.offered_key: tuple[int, bytes] | None = None
        self.waiting: list[deque[tuple[Request, bytes, int]]] = [deque() for _ in range(self.lanes)]
        self.answers: list[tuple[int, int, bytes]] = []  # clock, lane, block
        self.ctx = itertools.cycle(range(256))

    async def reset(self) -> None:
        """Resets the block cipher with idle inputs."""
        await start(self.dut, clear_i=0, key_valid_i=0, key_i=0, req_valid_i=0, req_i=0)

    def rounds_clocks(self, size: int) -> int:
        """Returns the clocks for which a block under a key of this size keeps its key bank."""
        return ROUNDS[size] * self.per_round

    def latency(self, size: int) -> int:
        """Returns the clocks from a request to its answer for a key size."""
        return self.rounds_clocks(size) // self.per_reg + self.beside

    def dirs_of(self, lane: int) -> list[bool]:
        """Returns the directions that a lane of the cipher supports."""
        return [bool(lane % 2)] if self.duplex else self.dirs

    def drive(self) -> None:
        """Sets the cipher's inputs to the offered requests and key."""
        valid = req = 0
        for lane, request in enumerate(self.offered):
            if request is not None:
                valid |= 1 << lane
                req |= request.packed() << (REQ_BITS * lane)
        self.dut.req_valid_i.value = valid
        self.dut.req_i.value = req
        self.dut.key_valid_i.value = int(self.offered_key is not None)
        if self.offered_key is not None:
            bank, key = self.offered_key
            head = (bank << 2) | SIZES.index(len(key))
            self.dut.key_i.value = (head << 256) | int.from_bytes(key.ljust(32, b"\0"), "big")

    async def step(self) -> tuple[list[int], bool]:
        """Runs one clock of the cipher; returns the lanes that took a request, and if the key was.

        Lanes taken; whether the key was.
        """
        self.drive()
        await RisingEdge(self.dut.clk_i)
        self.clock += 1
        self._check_answers()
        ready, taken = int(self.dut.req_ready_o.value), []
        for lane, request in enumerate(self.offered):
            if request is not None and ready >> lane & 1:
                key = self.keys[request.bank]  # a bank without key is never ready
                result = openssl(key, request.block, request.decrypt)
                at = self.clock + self.latency(len(key))
                self.waiting[lane].append((request, result, at))
                self.offered[lane] = None
                taken.append(lane)
        key_taken = self.offered_key is not None and bool(int(self.dut.key_ready_o.value))
        if key_taken:
            bank, key = self.offered_key
            assert all(
                r.bank != bank for w in self.waiting for r, _, at in w if at > self.clock + 1
            )
            self.keys[bank] = key
            self.offered_key = None
        return taken, key_taken

    def _check_answers(self) -> None:
        valid, rsp = int(self.dut.rsp_valid_o.value), int(self.dut.rsp_o.value)
        for lane, waiting in enumerate(self.waiting):
            if not valid >> lane & 1:
                assert not waiting or waiting[0][2] > self.clock, f"lane {lane}: no answer"
                continue
            assert waiting, f"lane {lane}: an answer to nothing"
            request, result, at = waiting.popleft()
            word = rsp >> (RSP_BITS * lane)
            block = (word & (1 << 128) - 1).to_bytes(16, "big")
            assert (word >> 128 & 0xFF, block, self.clock) == (
                request.ctx & self.ctx_mask,
                result,
                at,
            )
            self.answers.append((self.clock, lane, block))

    async def idle(self, clocks: int) -> None:
        """Runs the cipher for some clocks without new requests."""
        for _ in range(clocks):
            await self.step()

    async def drain(self) -> None:
        """Runs the cipher until all requests are accepted and answered."""
        for _ in range(500):
            await self.step()
            if not any(self.waiting) and not any(self.offered) and self.offered_key is None:
                return
        raise AssertionError("does not drain")

    async def load(self, bank: int, key: bytes) -> int:
        """Loads a key into a key bank of the cipher; returns the clock of acceptance."""
        self.offered_key = (bank, key)
        for _ in range(500):
            if (await self.step())[1]:
                return self.clock
        raise AssertionError("key is not taken")

    async def until_taken(self, lane: int, request: Request) -> int:
        """Offers a request until the cipher accepts it; returns that clock."""
        self.offered[lane] = request
        for _ in range(500):
            if lane in (await self.step())[0]:
                return self.clock
        raise AssertionError("request is not taken")

    def request(self, lane: int, bank: int, decrypt: bool | None = None) -> Request:
        """Returns a request with a random block for a lane and key bank."""
        if decrypt is None:
            decrypt = random.choice(self.dirs_of(lane))
        return Request(bank, decrypt, random.randbytes(16), next(self.ctx))

    async def traffic(
        self, clocks: int, gap: float, make: Callable[[int], Request], key_gap: float = 1.0
    ) -> int:
        """Sends random requests and keys to the cipher; returns the number of accepted blocks."""
        blocks = 0
        for _ in range(clocks):
            for lane in range(self.lanes):
                if self.offered[lane] is None and random.random() >= gap:
                    self.offered[lane] = make(lane)
            if self.offered_key is None and random.random() >= key_gap:
                size = random.choice(self.sizes)
                self.offered_key = (random.randrange(self.banks), random.randbytes(size))
            blocks += len((await self.step())[0])
        return blocks


async def begin(dut: SimHandleBase) -> Contract:
    """Resets a block cipher; returns a driver that checks its answers."""
    cipher = Contract(dut)
    await cipher.reset()
    return cipher


@cocotb.test(timeout_time=100, timeout_unit="us")
async def known_answers(dut) -> None:
    """The cipher gives FIPS 197's appendix C answers for all key lengths, lanes and banks."""
    cipher = await begin(dut)
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    answers = {
        16: "69c4e0d86a7b0430d8cdb78070b4c55a",
        24: "dda97ca4864cdfe06eaf70a0ec0d7191",
        32: "8ea2b7ca516745bfeafc49904b496089",
    }
    for size, bank in itertools.product(cipher.sizes, range(cipher.banks)):
        await cipher.load(bank, bytes(range(size)))
        coded = bytes.fromhex(answers[size])
        for lane in range(cipher.lanes):
            for decrypt in cipher.dirs_of(lane):
                block, result = (coded, plain) if decrypt else (plain, coded)
                await cipher.until_taken(lane, Request(bank, decrypt, block))
                await cipher.drain()
                assert cipher.answers[-1][1:] == (lane, result)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def random_traffic(dut) -> None:
    """The cipher's answers equal OpenSSL's for random blocks, pauses and key changes."""
    cipher = await begin(dut)
    for bank in range(cipher.banks):
        await cipher.load(bank, random.randbytes(random.choice(cipher.sizes)))
    for gap, key_gap in ((0.0, 1.0), (0.0, 0.95), (0.7, 0.9), (0.3, 0.0)):
        await cipher.traffic(
            600, gap, lambda lane: cipher.request(lane, random.randrange(cipher.banks)), key_gap
        )
    await cipher.drain()
    assert len(cipher.answers) > 80 * cipher.lanes / cipher.key_clocks


@cocotb.test(timeout_time=200, timeout_unit="us")
async def throughput(dut) -> None:
    """The cipher takes a block per clock and lane, or per Nr clocks if it is iterative."""
    cipher = await begin(dut)
    for size in cipher.sizes:
        await cipher.load(0, random.randbytes(size))
        await cipher.idle(20 * cipher.key_clocks)
        every = 1 if cipher.pipelined else cipher.rounds_clocks(size)
        blocks = await cipher.traffic(10 * every + 30, 0.0, lambda lane: cipher.request(lane, 0))
        assert blocks == cipher.lanes * -(-(10 * every + 30) // every)
        cipher.offered = [None] * cipher.lanes
        await cipher.drain()


@cocotb.test(timeout_time=100, timeout_unit="us")
async def chained_blocks_leave_no_bubble(dut) -> None:
    """An iterative cipher takes a block that depends on its answer in the answer's own clock."""
    cipher = await begin(dut)
    lane = 0
    for size in cipher.sizes:
        for decrypt in cipher.dirs_of(lane):
            key, block = random.randbytes(size), random.randbytes(16)
            await cipher.load(0, key)
            await cipher.idle(20 * cipher.key_clocks)
            dut.req_valid_i.value = 1 << lane
            clocks = []
            for clock in range(8 * ROUNDS[size] + 1):
                dut.req_i.value = Request(0, decrypt, block).packed() << (REQ_BITS * lane)
                await Timer(2, "ns")
                if int(dut.rsp_valid_o.value) >> lane & 1:
                    answer = int(dut.rsp_o.value) >> (RSP_BITS * lane) & (1 << 128) - 1
                    block = openssl(key, block, decrypt)
                    assert answer == int.from_bytes(block, "big")
                    dut.req_i.value = Request(0, decrypt, block).packed() << (REQ_BITS * lane)
                    assert int(dut.req_ready_o.value) >> lane & 1
                    clocks.append(clock)
                await RisingEdge(dut.clk_i)
            dut.req_valid_i.value = 0
            assert clocks == [ROUNDS[size] * n for n in range(1, 9)]
            await Timer(200, "ns")
            await RisingEdge(dut.clk_i)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def key_timing(dut) -> None:
    """After a key load, encryption may start a clock later, decryption and a new key after Nr.

    With KeyClocks clocks for a round key, Nr * KeyClocks. With two rounds a register or aligned
    rounds encryption waits as decryption does. CIPHER_EARLY: the core is one clock earlier with
    decryption, and takes the next key at once.
    """
    early = bool(os.environ.get("CIPHER_EARLY"))
    cipher = await begin(dut)
    for size, lane in itertools.product(cipher.sizes, range(min(cipher.lanes, 2))):
        for decrypt in cipher.dirs_of(lane):
            taken = await cipher.load(0, random.randbytes(size))
            used = await cipher.until_taken(lane, cipher.request(lane, 0, decrypt))
            whole = decrypt or cipher.whole
            wait = ROUNDS[size] * cipher.key_clocks + 1 - early if whole else 1
            assert used - taken == wait
            await cipher.drain()
            await cipher.idle(20 * cipher.key_clocks)
        first = await cipher.load(0, random.randbytes(size))
        second = await cipher.load(cipher.banks - 1, random.randbytes(size))
        assert second - first == (1 if early else ROUNDS[size] * cipher.key_clocks + 1)
        await cipher.idle(20 * cipher.key_clocks)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def key_waits_for_its_blocks(dut) -> None:
    """A cipher's key bank takes a new key only when its blocks have used their last round key."""
    cipher = await begin(dut)
    for size in cipher.sizes:
        for bank in range(cipher.banks):
            await cipher.load(bank, random.randbytes(size))
        await cipher.idle(20 * cipher.key_clocks)
        used = await cipher.until_taken(0, cipher.request(0, 0))
        cipher.offered_key = (0, random.randbytes(size))
        blocks = 0
        for _ in range(cipher.rounds_clocks(size)):
            if cipher.banks > 1:
                for lane in range(1, cipher.lanes):
                    if cipher.offered[lane] is None:
                        cipher.offered[lane] = cipher.request(lane, 1)
            lanes, key_taken = await cipher.step()
            blocks += len(lanes)
        assert key_taken and cipher.clock - used == cipher.rounds_clocks(size)
        if cipher.banks > 1 and cipher.pipelined:
            assert blocks == (cipher.lanes - 1) * cipher.rounds_clocks(size)
        cipher.offered = [None] * cipher.lanes
        await cipher.drain()


@cocotb.test(timeout_time=100, timeout_unit="us")
async def unloaded_banks_wait(dut) -> None:
    """The cipher accepts no request for a bank without a key or a direction that is not built."""
    cipher = await begin(dut)
    for bank, decrypt in itertools.product(range(4), cipher.dirs):
        cipher.offered = [Request(bank, decrypt, bytes(16))] * cipher.lanes
        if cipher.duplex:
            cipher.offered = [
                r if lane % 2 == decrypt else None for lane, r in enumerate(cipher.offered)
            ]
        for _ in range(3):
            assert await cipher.step() == ([], False)
    cipher.offered = [None] * cipher.lanes
    await cipher.load(0, bytes(cipher.sizes[0]))
    await cipher.idle(20 * cipher.key_clocks)
    if cipher.banks < 4:
        cipher.offered = [cipher.request(lane, 3) for lane in range(cipher.lanes)]
        for _ in range(3):
            assert await cipher.step() == ([], False)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def clear_unloads(dut) -> None:
    """clear_i during work drops all answers and keys; the cipher works under a new key."""
    cipher = await begin(dut)
    for clocks in (0, 1, 5, 11, 30):
        for bank in range(cipher.banks):
            await cipher.load(bank, random.randbytes(random.choice(cipher.sizes)))
        await cipher.traffic(
            clocks, 0.3, lambda lane: cipher.request(lane, random.randrange(cipher.banks))
        )
        cipher.offered = [cipher.request(lane, 0) for lane in range(cipher.lanes)]
        dut.clear_i.value = 1
        assert (await cipher.step())[0] == []
        dut.clear_i.value = 0
        cipher.waiting = [deque() for _ in range(cipher.lanes)]
        cipher.keys = {}
        for bank in range(cipher.banks):
            cipher.offered = [cipher.request(lane, bank) for lane in range(cipher.lanes)]
            for _ in range(3 if bank else 60):
                assert await cipher.step() == ([], False)
        cipher.offered = [None] * cipher.lanes
        await cipher.load(0, random.randbytes(cipher.sizes[0]))
        await cipher.until_taken(0, cipher.request(0, 0))
        await cipher.drain()


@cocotb.test(timeout_time=100, timeout_unit="us", skip=not os.environ.get("CIPHER_VISIBLE"))
async def clear_leaves_nothing(dut) -> None:
    """Two clocks after clear_i, and in reset, no signal of the cipher holds part of a secret."""
    cipher = await begin(dut)
    for by_reset, clocks in ((False, 1), (False, 7), (False, 60), (True, 7)):
        secrets: set[int] = set()
        blocks: list[tuple[bytes, Request]] = []

        def make(lane: int, blocks: list[tuple[bytes, Request]] = blocks) -> Request:
            request = cipher.request(lane, random.randrange(cipher.banks))
            blocks.append((cipher.keys[request.bank], request))
            return request

        for bank in range(cipher.banks):
            await cipher.load(bank, random.randbytes(random.choice(cipher.sizes)))
        await cipher.traffic(clocks, 0.3, make)
        for key, request in blocks:
            secrets |= secret_words(key, [(request.block, request.decrypt)])
        for key in cipher.keys.values():
            secrets |= secret_words(key, [])
        assert leaks(dut, secrets), "the search finds what is there"
        cipher.offered, cipher.offered_key = [None] * cipher.lanes, None
        cipher.drive()
        dut.req_i.value = 0
        dut.key_i.value = 0
        (dut.rst_ni if by_reset else dut.clear_i).value = int(not by_reset)
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await RisingEdge(dut.clk_i)
        await RisingEdge(dut.clk_i)  # here the values of the clock before are read
        assert leaks(dut, secrets) == []
        assert registers_left(dut) == []
        dut.rst_ni.value = 1
        cipher.waiting = [deque() for _ in range(cipher.lanes)]
        cipher.keys = {}
        await cipher.idle(3)
    assert sum(1 for _ in signals(dut)) > 50


@cocotb.test(timeout_time=100, timeout_unit="us", skip=not os.environ.get("CIPHER_VISIBLE"))
async def flush_leaves_nothing(dut) -> None:
    """A latency and a clock after clear_i no register of the cipher depends on earlier data.

    CIPHER_FLUSH: so many clocks later, and after reset, where a memory is erased a word a clock.
    Whatever keys and blocks there were, every register then has the same value; meanwhile data
    without valid stand on the request port. A reset may be over before there is a clock edge.
    """
    cipher = await begin(dut)
    left: list[dict[str, int]] = []
    during: list[dict[str, int]] = []

    def registers() -> dict[str, int]:
        names = {s._path: s for s in signals(dut) if re.search(r"_q(\[\d+\])*$", s._name)}
        public = re.compile(PUBLIC.pattern.removesuffix("$") + r"(\[\d+\])*$")
        return {p: int(s.value) for p, s in names.items() if not public.search(s._name)}

    ways = (("clear", 0), ("clear", 40), ("reset", 25), ("no edge", 25), ("clear", 100))
    for way, clocks in ways:
        secrets: set[int] = set()
        for bank in range(cipher.banks):
            await cipher.load(bank, random.randbytes(random.choice(cipher.sizes)))
        await cipher.traffic(
            clocks, 0.3, lambda lane: cipher.request(lane, random.randrange(cipher.banks))
        )
        for lane in range(cipher.lanes):
            request = cipher.request(lane, 0, cipher.dirs[0])
            secrets |= secret_words(cipher.keys[0], [(request.block, request.decrypt)])
            await cipher.until_taken(lane, request)
        during.append(registers())
        assert leaks(dut, secrets), "the search finds what is there"
        cipher.offered, cipher.offered_key = [None] * cipher.lanes, None
        cipher.drive()
        dut.req_i.value = random.getrandbits(len(dut.req_i))
        dut.key_i.value = 0
        if way == "no edge":
            await Timer(1, "ns")
            dut.rst_ni.value = 0
            await Timer(1, "ns")
            dut.rst_ni.value = 1
        else:
            (dut.rst_ni if way == "reset" else dut.clear_i).value = int(way == "clear")
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        erasure = int(os.environ.get("CIPHER_FLUSH", 0))
        dut.rst_ni.value = int(way != "reset" or erasure > 0)
        for _ in range(cipher.latency(cipher.sizes[-1]) + erasure):
            await RisingEdge(dut.clk_i)
        assert leaks(dut, secrets) == []
        left.append(registers())
        dut.rst_ni.value = 1
        cipher.waiting = [deque() for _ in range(cipher.lanes)]
        cipher.keys = {}
        await cipher.idle(3)
    assert all(found == left[0] for found in left)
    changed = [path for path in left[0] if during[0][path] != during[1][path]]
    assert len(changed) > 4 * cipher.lanes, "the search sees the registers"
