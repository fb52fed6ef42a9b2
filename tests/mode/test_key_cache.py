# SPDX-License-Identifier: Apache-2.0
"""Tests mae_key_cache: which key slots it loads into the cipher's key banks, and when."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.mode import engine
from tests.support import bench
from tests.support.stream import start

LOAD = 12  # clocks a cipher may need to let its last block go


class Cache:
    """Drives mae_key_cache and models the cipher that takes its keys."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.slots = int(bench.parameters()["KeySlots"])
        self.banks = int(bench.parameters()["KeyBanks"])
        self.held: dict[int, tuple[int, bytes]] = {}  # bank -> what the cipher got
        self.loads: list[tuple[int, int, int]] = []  # clock, bank, key as number
        self.clock = 0

    async def start(self) -> None:
        await start(
            self.dut,
            clear_i=0,
            write_valid_i=0,
            write_i=0,
            demand_i=0,
            look_slot_i=0,
            key_ready_i=0,
        )

    def write_word(self, slot: int, key: bytes | None) -> int:
        length = 0 if key is None else engine.LENGTHS.index(len(key))
        text = int.from_bytes((key or b"").ljust(32, b"\0"), "big")
        return ((slot << 1 | (key is None)) << 2 | length) << 256 | text

    async def write(self, slot: int, key: bytes | None) -> None:
        self.dut.write_i.value = self.write_word(slot, key)
        self.dut.write_valid_i.value = 1
        await self.step()
        while not self.write_ready:
            await self.step()
        self.dut.write_valid_i.value = 0

    def demand(
        self, want: int, urgent: int | None = None, used: int = 0, waits: int | None = None
    ) -> None:
        """Sets the key slots that the mode engine wants, and those for which rows wait."""
        waits = want if waits is None else waits
        word = (urgent is not None) << 74 | (urgent or 0) << 68 | want << 4 | used
        self.dut.demand_i.value = waits << 75 | word

    def resident(self) -> dict[int, tuple[int, bool, bool]]:
        """Returns the usable key banks with slot and directions that mae_key_cache reports."""
        word = int(self.dut.keys_o.value)
        out = {}
        for b in range(4):
            bank = word >> (9 * b) & 0x1FF
            if bank & 0x80:
                out[b] = (bank & 63, bool(bank & 0x40), bool(bank & 0x100))
        return out

    async def step(self, clocks: int = 1, wait: int = 0) -> None:
        """Runs clocks of mae_key_cache, in which the cipher accepts offered keys after a delay."""
        for _ in range(clocks):
            await RisingEdge(self.dut.clk_i)
            self.clock += 1
            self.write_ready = bool(int(self.dut.write_ready_o.value))
            offered = int(self.dut.key_valid_o.value)
            if offered and int(self.dut.key_ready_i.value):
                word = int(self.dut.key_o.value)
                bank, length, key = word >> 258, word >> 256 & 3, word & (2**256 - 1)
                assert bank < self.banks
                assert bank not in self.resident(), "taken while the bank is named"
                raw = key.to_bytes(32, "big")[: engine.LENGTHS[length]]
                self.held[bank] = (self.clock, raw)
                self.loads.append((self.clock, bank, key))
                self.dut.key_ready_i.value = 0
                self.waited = 0
            elif offered:
                self.waited = getattr(self, "waited", 0) + 1
                self.dut.key_ready_i.value = int(self.waited > wait)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def loads(dut):
    """mae_key_cache loads wanted slots; decryption is possible Nr + 1 clocks after the load."""
    cache = Cache(dut)
    await cache.start()
    rng = random.Random(1)
    keys = [rng.randbytes(engine.LENGTHS[i % 3]) for i in range(cache.slots)]
    for slot, key in enumerate(keys):
        await cache.write(slot, key)
    await cache.step()
    assert int(dut.slot_valid_o.value) == 2**cache.slots - 1
    assert not cache.resident(), "nobody wants a key"
    for slot, key in enumerate(keys):
        dut.look_slot_i.value = slot
        await cache.step()
        shown = int(dut.look_key_o.value)
        assert shown == cache.write_word(slot, key) & (2**258 - 1), "bank 0, length, key"
    for slot, key in enumerate(keys):
        cache.demand(1 << slot)
        decrypt_at = None
        for _ in range(60):
            await cache.step(wait=LOAD)
            there = [b for b, bank in cache.resident().items() if bank[0] == slot]
            if there and cache.resident()[there[0]][1]:
                decrypt_at = cache.clock
                break
        assert cache.held[there[0]][1] == key
        # Sampled at the end of the first clock in which decryption is allowed.
        rounds = 6 + len(key) // 4
        assert decrypt_at == cache.held[there[0]][0] + rounds + 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def turns(dut):
    """If more slots are wanted than banks exist, mae_key_cache gives each slot a bank in turn."""
    cache = Cache(dut)
    await cache.start()
    rng = random.Random(2)
    for slot in range(cache.slots):
        await cache.write(slot, rng.randbytes(16))
    cache.demand(2**cache.slots - 1)
    since: dict[int, int] = {}
    seen = {slot: 0 for slot in range(cache.slots)}
    least = int(bench.parameters().get("MinResidence", 256))
    rounds = 3
    for _ in range(rounds * (least + 80) * max(1, -(-cache.slots // cache.banks))):
        await cache.step(wait=rng.randrange(LOAD))
        now = {bank[0] for bank in cache.resident().values()}
        for slot in now - since.keys():
            since[slot] = cache.clock
            seen[slot] += 1
        for slot in since.keys() - now:
            assert cache.clock - since.pop(slot) >= least
    assert min(seen.values()) >= (rounds if cache.slots > cache.banks else 1), seen


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def unwanted_first(dut):
    """mae_key_cache first replaces unwanted slots, the least recently used one before others."""
    cache = Cache(dut)
    await cache.start()
    if cache.banks < 2 or cache.slots < 3:
        return
    for slot in range(3):
        await cache.write(slot, bytes([slot]) * 16)
    cache.demand(0b011)
    await cache.step(40)
    assert {bank[0] for bank in cache.resident().values()} == {0, 1}
    for keep in (0, 1):  # ask that slot, then want the third
        bank = next(b for b, state in cache.resident().items() if state[0] == keep)
        cache.demand(0, used=1 << bank)
        await cache.step(3)
        cache.demand(0b100)
        await cache.step(30)
        slots = {bank[0] for bank in cache.resident().values()}
        assert keep in slots and 2 in slots
        cache.demand(0b011)
        await cache.step(400)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def without_rows(dut):
    """mae_key_cache gives the bank of a slot without waiting rows to a slot with rows."""
    cache = Cache(dut)
    await cache.start()
    if cache.slots <= cache.banks:
        return
    for slot in range(cache.banks + 1):
        await cache.write(slot, bytes([slot]) * 16)
    others, all_slots = 2**cache.banks - 1, 2 ** (cache.banks + 1) - 1
    cache.demand(others, waits=0)
    await cache.step(60 * cache.banks)
    assert {bank[0] for bank in cache.resident().values()} == set(range(cache.banks))
    for waits in (0, others):  # nobody gives way: without a row, and to a slot without one
        cache.demand(all_slots, waits=waits)
        await cache.step(40)
        assert {bank[0] for bank in cache.resident().values()} == set(range(cache.banks))
    begin = cache.clock
    cache.demand(all_slots, waits=1 << cache.banks)
    while cache.banks not in {bank[0] for bank in cache.resident().values()}:
        await cache.step()
    assert cache.clock - begin < 30, "without waiting for MinResidence"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def urgent(dut):
    """mae_key_cache loads an urgent slot before the minimum residence of others is over."""
    cache = Cache(dut)
    await cache.start()
    if cache.slots < cache.banks + 1:
        return
    for slot in range(cache.slots):
        await cache.write(slot, bytes([slot]) * 16)
    wanted = 2**cache.banks - 1
    cache.demand(wanted)
    await cache.step(40 * cache.banks)
    slot = cache.banks
    begin = cache.clock
    cache.demand(wanted | 1 << slot, urgent=slot)
    while slot not in {bank[0] for bank in cache.resident().values()}:
        await cache.step()
    assert cache.clock - begin < 90


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def rewritten(dut):
    """mae_key_cache drops a rewritten or erased slot from its bank in the next clock."""
    cache = Cache(dut)
    await cache.start()
    rng = random.Random(3)
    for i in range(20):
        key = rng.randbytes(engine.LENGTHS[i % 3])
        await cache.write(0, key)
        word = int(dut.keys_o.value)
        await cache.step()
        assert not cache.resident()
        assert int(dut.slot_valid_o.value) & 1
        cache.demand(1)
        await cache.step(40 + i)
        (bank,) = cache.resident()
        assert cache.held[bank][1] == key
        # The report comes in the clock of the write.
        dut.write_i.value = cache.write_word(0, None)
        dut.write_valid_i.value = 1
        cache.demand(0)
        await cache.step()
        word = int(dut.keys_o.value) >> 100
        assert word & 0x7F == 0x40, "changed, slot 0"
        dut.write_valid_i.value = 0
        await cache.step()
        assert not cache.resident() and not int(dut.slot_valid_o.value) & 1
        # An empty slot that is wanted holds zeros.
        cache.demand(1)
        await cache.step(40)
        (bank,) = cache.resident()
        assert cache.held[bank][1] == bytes(16)
        cache.demand(0)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def cleared(dut):
    """After clear_i mae_key_cache holds no slot, bank, offer or key."""
    cache = Cache(dut)
    await cache.start()
    for at in range(12):
        for slot in range(cache.slots):
            await cache.write(slot, b"\xff" * 32)
        cache.demand(2**cache.slots - 1)
        await cache.step(at, wait=3)
        dut.clear_i.value = 1
        cache.demand(0)
        await cache.step()
        dut.clear_i.value = 0
        dut.key_ready_i.value = 0
        await cache.step()
        assert not int(dut.slot_valid_o.value)
        assert not cache.resident()
        assert not int(dut.key_valid_o.value)
        assert all(not int(key.value) for key in dut.key_q)


@pytest.mark.parametrize(
    ("slots", "banks", "least"), [(16, 2, 256), (64, 4, 64), (1, 1, 32), (5, 1, 100), (3, 3, 256)]
)
def test_key_cache(slots, banks, least):
    """Builds mae_key_cache with extreme parameters and runs this file's tests."""
    bench.run(
        "mae_key_cache",
        parameters={"KeySlots": slots, "KeyBanks": banks, "MinResidence": least},
        visible=True,
    )
