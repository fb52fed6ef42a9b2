# SPDX-License-Identifier: Apache-2.0
"""Measures latency and throughput of an AES cipher core in simulation (cocotb).

Every answer is compared with the `cryptography` package while it is counted. Figures are
written as JSON lines to the file named by MAESLANT_FIGURES.
"""

import json
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

REQ_BITS, RSP_BITS = (
    139,
    136,
)  # cipher_req_t: ctx 8, bank 2, dir 1, block 128; cipher_rsp_t
KEY_LENGTHS = {128: 0, 192: 1, 256: 2}
PARAMETERS = json.loads(os.environ.get("MAESLANT_PARAMETERS", "{}"))
LANES = int(PARAMETERS.get("Lanes", PARAMETERS.get("Units", 1)))
KEYS = json.loads(os.environ.get("MAESLANT_KEYS", "[128]"))
DIRS = json.loads(os.environ.get("MAESLANT_DIRS", "[0]"))
DUPLEX = bool(PARAMETERS.get("Duplex"))  # lane 0 encrypts, lane 1 decrypts
BANKS = int(PARAMETERS.get("KeyBanks", 1))


def note(metric: str, value: float, **details: object) -> None:
    """Appends a measured value as a JSON line to the file that $MAESLANT_FIGURES names."""
    with open(os.environ["MAESLANT_FIGURES"], "a") as file:
        file.write(json.dumps({"metric": metric, "value": value, **details}) + "\n")


class Driver:
    """Drives keys and blocks into a simulated AES core at full rate; checks the core's results."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.random = random.Random(1)
        self.clock = 0
        self.keys: dict[int, bytes] = {}
        self.key_offer: tuple[int, bytes, int] | None = None
        self.key_taken = 0
        self.left = [0] * LANES
        self.dirs = [0] * LANES
        self.bank = 0
        self.offer: list[bytes | None] = [None] * LANES
        self.word = [0] * LANES
        self.expected: list[list[bytes]] = [[] for _ in range(LANES)]
        self.taken: list[int] = []
        self.answers: list[list[int]] = [[] for _ in range(LANES)]

    async def start(self) -> None:
        """Starts the AES core's clock and releases the core's reset."""
        dut = self.dut
        Clock(dut.clk_i, 2, unit="ns").start()
        dut.rst_ni.value = 0
        for name in ("clear_i", "key_valid_i", "key_i", "req_valid_i", "req_i"):
            getattr(dut, name).value = 0
        for _ in range(4):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await RisingEdge(dut.clk_i)

    def offer_key(self, bits: int, bank: int = 0) -> None:
        """Offers a random AES key of ``bits`` bits to the AES core from the next clock on."""
        key = self.random.randbytes(bits // 8)
        self.key_offer = (bank, key, KEY_LENGTHS[bits])

    def offer_blocks(self, blocks: int, dirs: list[int], bank: int = 0, lanes: int = LANES) -> None:
        """Offers random blocks to lanes of the AES core from the next clock on."""
        self.left = [blocks] * lanes + [0] * (LANES - lanes)
        self.dirs, self.bank = dirs, bank
        self.taken, self.answers = [], [[] for _ in range(LANES)]

    def drive(self) -> int:
        """Sets the AES core's inputs for a clock; returns a mask of lanes that offer a block."""
        if self.key_offer:
            bank, key, length = self.key_offer
            padded = int.from_bytes(key.ljust(32, b"\0"), "big")
            self.dut.key_i.value = (bank << 258) | (length << 256) | padded
        self.dut.key_valid_i.value = int(self.key_offer is not None)
        valid = 0
        for lane in range(LANES):
            if self.left[lane] and self.offer[lane] is None:
                block = self.random.randbytes(16)
                self.offer[lane] = block
                self.left[lane] -= 1
                head = (lane << 3) | (self.bank << 1) | self.dirs[lane]
                self.word[lane] = (head << 128) | int.from_bytes(block, "big")
            if self.offer[lane] is not None:
                valid |= 1 << lane
        if valid:
            self.dut.req_i.value = sum(w << (REQ_BITS * i) for i, w in enumerate(self.word))
        self.dut.req_valid_i.value = valid
        return valid

    def answer(self, lane: int) -> bytes:
        """Returns the AES result that the core must give for the block offered on a lane."""
        cipher = Cipher(algorithms.AES(self.keys[self.bank]), modes.ECB())
        context = cipher.decryptor() if self.dirs[lane] else cipher.encryptor()
        return context.update(self.offer[lane])

    async def step(self) -> None:
        """Simulates one clock cycle of the AES core and checks the blocks that the core returns."""
        valid = self.drive()
        await ReadOnly()
        took = valid & int(self.dut.req_ready_o.value) if valid else 0
        answered = int(self.dut.rsp_valid_o.value)
        rsp = int(self.dut.rsp_o.value) if answered else 0
        for lane in range(LANES):
            if took >> lane & 1:
                self.taken.append(self.clock)
                self.expected[lane].append(self.answer(lane))
                self.offer[lane] = None
            if answered >> lane & 1:
                block = (rsp >> (RSP_BITS * lane)) & ((1 << 128) - 1)
                assert block.to_bytes(16, "big") == self.expected[lane].pop(0), "wrong block"
                self.answers[lane].append(self.clock)
        if self.key_offer and int(self.dut.key_ready_o.value):
            self.keys[self.key_offer[0]] = self.key_offer[1]
            self.key_offer, self.key_taken = None, self.clock
        await RisingEdge(self.dut.clk_i)
        self.clock += 1

    async def until_taken(self) -> None:
        """Simulates the AES core until the core has accepted all offered blocks and keys."""
        while any(self.left) or any(self.offer) or self.key_offer:
            await self.step()

    async def until_answered(self) -> None:
        """Simulates the AES core until the core has returned the results of all accepted blocks."""
        await self.until_taken()
        while any(self.expected):
            await self.step()

    def span(self) -> int:
        """Returns the number of clocks from the AES core's first to its last accepted block."""
        return self.taken[-1] - self.taken[0] + 1


def steady(times: list[int]) -> float:
    """Returns the average number of clock cycles between successive results of an AES core."""
    return (times[-1] - times[0]) / (len(times) - 1)


async def one_direction(drive: Driver, bits: int, direction: int) -> None:
    """Measures an AES core's latency and rate for one key size, encrypting or decrypting data."""
    name = ("encrypt", "decrypt")[direction]
    lanes = 1 if DUPLEX else LANES
    dirs = [0, 1] if DUPLEX else [direction] * LANES
    offset = direction if DUPLEX else 0
    drive.offer_key(bits)
    await drive.until_taken()
    drive.offer_blocks(4, dirs, lanes=lanes)
    await drive.until_answered()
    wait = drive.taken[0] - drive.key_taken - 1
    note(f"{name}, wait for a new key", wait, bits=bits, kind=f"wait_{name}")
    drive.offer_key(bits)
    await drive.until_taken()
    rounds = bits // 32 + 6
    while drive.clock < drive.key_taken + rounds + 1:
        await drive.step()
    drive.offer_blocks(64, dirs, lanes=lanes)
    await drive.until_answered()
    early = drive.taken[0] - drive.key_taken - rounds - 1
    note(
        f"{name}, wait for a key that came Nr + 1 clocks earlier",
        early,
        bits=bits,
        kind="early",
    )
    times = drive.answers[offset]
    note(f"{name}, latency", times[0] - drive.taken[0], bits=bits, kind="latency")
    each = (times[-1] - times[0]) / (len(times) - 1)
    note(f"{name}, clocks a block of one lane", each, bits=bits, kind="block")
    drive.offer_blocks(64, dirs, lanes=lanes)  # now that the key has reached all lanes
    await drive.until_answered()
    note(f"{name}, blocks a clock", 64 * lanes / drive.span(), bits=bits, kind="rate")


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def figures(dut) -> None:
    """Measures an AES core's latency, throughput and key-change waiting time, by key size."""
    drive = Driver(dut)
    await drive.start()
    for bits in KEYS:
        for direction in [0] if DUPLEX else DIRS:
            await one_direction(drive, bits, direction)
        if DUPLEX:
            drive.offer_blocks(64, [0, 1])
            await drive.until_answered()
            for lane, name in enumerate(("encrypt", "decrypt")):
                times = drive.answers[lane]
                each = (times[-1] - times[0]) / (len(times) - 1)
                note(
                    f"both at once, {name}, clocks a block",
                    each,
                    bits=bits,
                    kind="block",
                )


@cocotb.test(timeout_time=2, timeout_unit="ms", skip=BANKS < 2)
async def key_change(dut) -> None:
    """Measures the clock cycles that an AES core loses if blocks alternate between two keys."""
    drive = Driver(dut)
    await drive.start()
    bits, blocks, changes = KEYS[0], 48, 8
    drive.offer_key(bits, 0)
    await drive.until_taken()
    taken: list[int] = []
    for change in range(changes + 1):
        bank = change % 2
        drive.offer_blocks(blocks, [DIRS[0]] * LANES, bank)
        for _ in range(20):  # the other bank's blocks have left the pipeline by then
            await drive.step()
        drive.offer_key(bits, 1 - bank)
        await drive.until_taken()
        taken += drive.taken
    lost = (taken[-1] - taken[0] + 1 - (changes + 1) * blocks) / changes
    note("clocks lost at a key change", lost, bits=bits, kind="change")
