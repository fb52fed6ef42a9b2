# SPDX-License-Identifier: Apache-2.0
"""Tests mae_block_card: requests of several queues against OpenSSL's AES-256-XTS, keys, errors.

Covers its parts mae_block_card_registers (registers, wipe), mae_block_key_commands (key commands),
mae_block_queues (rings, checks), mae_block_channel, mae_block_mover and mae_block_cipher (the data
path of a direction) and mae_block_bus, which have no life of their own.
"""

import cocotb
import pytest
from cocotb.triggers import ClockCycles

from tests.cipher.fips197 import round_keys
from tests.device import block_host as bh
from tests.device import oracle, secrets
from tests.device.block_host import (
    FLUSH,
    IRQ,
    PLAIN,
    READ,
    WRITE,
    BlockCard,
    Completion,
    Request,
    random_requests,
)
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR

BAD_SLOT, EQUAL_KEYS, BAD_AUX, BAD_COMMAND, FORCED = 4, 5, 6, 7, 8


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(near=[True, False])
async def random_data(dut, near: bool) -> None:
    """mae_block_card moves random requests as OpenSSL's XTS does, plain ones as they are."""
    memory = {"latency": (1, 3), "shuffle": False} if near else {"latency": (50, 300), "stall": 0.2}
    card = await BlockCard.begin(dut, 1 + near, **memory)
    for slot in (0, 3, card.slots - 1):
        assert await card.load(slot) == 0
    half = card.media_bytes // 512 // 2
    for _ in range(2):
        first = random_requests(card, 24, (0, half), 12)
        await card.run({0: first, 1: random_requests(card, 24, (half, 2 * half), 12)})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def says_what_it_is(dut) -> None:
    """mae_block_card's registers state its parameters; a key cannot be read back."""
    card = await BlockCard.begin(dut, 3, latency=(5, 20))
    parameters = bench.parameters()
    assert await card.read("id") == 0x4D414542
    caps = await card.fields("caps")
    assert caps == {"lanes": parameters["Lanes"], "key_slots": 5, "queues": 2, "units": 15}
    assert await card.read("capacity_lo") == card.media_bytes // 512
    await card.write_words("mek", card.random.randbytes(64))
    assert not any([await card.read("mek", i) for i in range(16)])
    await card.write("irq_enable", queue1=1)
    await card.run({0: [card.request(WRITE, 0, 1, flags=IRQ | PLAIN)]})
    await ClockCycles(dut.clk_i, 40)
    assert dut.irq_o.value == 0
    silent = card.request(WRITE, 0, 1, flags=PLAIN)
    await card.run({1: [silent]})
    await ClockCycles(dut.clk_i, 40)
    assert dut.irq_o.value == 0
    await card.run({1: [card.request(FLUSH, 0, 0, flags=IRQ)]})
    await ClockCycles(dut.clk_i, 40)
    assert dut.irq_o.value == 1
    await card.write("irq_status", queue1=1)
    await ClockCycles(dut.clk_i, 2)
    assert dut.irq_o.value == 0


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def keys_are_loaded_and_gone(dut) -> None:
    """Key commands of mae_block_card load, replace, refuse and erase as L.O.C.K. demands."""
    card = await BlockCard.begin(dut, 4, latency=(5, 20))
    first = card.random.randbytes(64)
    assert await card.load(1, first) == 0
    assert not secrets.find(dut.u_control, [first], 4)
    assert await card.read("key_valid") == 2
    assert await card.load(5) == BAD_SLOT
    assert await card.load(2, 2 * bytes(range(32))) == EQUAL_KEYS
    await card.write("aux", 1, 3)
    assert await card.load(2) == BAD_AUX
    await card.write("aux", 0, 3)
    await card.write("metd", 1, 4)
    assert await card.load(2) == BAD_SLOT
    await card.write("metd", 0, 4)
    assert await card.command(5) == BAD_COMMAND
    assert await card.command(0) == BAD_COMMAND
    assert await card.read("key_valid") == 2
    assert await card.load(0) == 0
    one = {"slot": 1, "unit_log2": 9, "unit": 7}
    await card.run({0: [card.request(WRITE, 8, 4, **one)]})
    assert await card.load(1) == 0  # replaced: what was written is not read back
    await card.run({0: [card.request(READ, 8, 4, **one)]})
    assert await card.unload(1) == 0
    assert await card.unload(1) == 0
    assert await card.read("key_valid") == 1
    found = secrets.find(dut, [first, *round_keys(first[:32]), *round_keys(first[32:])], 4)
    assert not found, found
    gone = [card.request(op, 8, 4, **one, status=bh.BAD_KEY) for op in (READ, WRITE)]
    before = bytes(card.media.data)
    await card.run({0: gone, 1: [card.request(READ, 16, 8, slot=0, unit_log2=12, unit=1)]})
    assert card.media.data == before, "a refused write has changed the media"
    keys = list(card.keys.values())
    assert await card.command(bh.ZEROIZE) == 0
    assert await card.read("key_valid") == 0
    found = secrets.find(dut, keys, 4)
    assert not found, found
    card.keys.clear()
    gone = [card.request(READ, 8, 4, slot=0, unit_log2=9, status=bh.BAD_KEY)]
    plain = [card.request(READ, 8, 4, flags=PLAIN)]
    await card.run({0: gone, 1: plain})


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def unload_waits_for_requests(dut) -> None:
    """A key that requests use is erased after them; those that come later are refused."""
    card = await BlockCard.begin(dut, 5, latency=(200, 300))
    assert await card.load(0) == 0
    assert await card.load(1) == 0
    fields = {"slot": 1, "unit_log2": 9}
    batch = [card.request(WRITE, 32 * i, 24, **fields, unit=100 * i) for i in range(10)]
    wants = {r.cookie: card.expect(r) for r in batch}
    await card.submit(0, batch)
    await ClockCycles(dut.clk_i, 900)
    assert await card.command(bh.UNLOAD, 1) == 0
    done = await card.finish(0)
    refused = [done[r.cookie].status == bh.BAD_KEY for r in batch]
    assert refused == sorted(refused), "a request after a refused one was accepted"
    assert not refused[0]
    for request, late in zip(batch, refused, strict=True):
        request.status = bh.BAD_KEY * late
        card.check(request, done[request.cookie], wants[request.cookie])
    assert any(refused), "the test is too slow"


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(hung=["r", "w b"])
async def unload_on_a_hung_bus(dut, hung: str) -> None:
    """A key whose requests a hung bus never ends is erased under them, and they fail."""
    card = await BlockCard.begin(dut, 12, latency=(20, 80), crossing=True)
    assert await card.load(1) == 0
    fields = {"slot": 1, "unit_log2": 12}
    batch = [card.request(i % 2, 64 * i, 16, **fields, unit=100 * i) for i in range(12)]
    await card.submit(0, batch)
    await ClockCycles(dut.clk_i, 250)
    card.memory.hung = card.media.hung = frozenset(hung.split())
    key = card.keys[1]
    assert await card.command(bh.UNLOAD, 1) == FORCED
    found = secrets.find(dut, [key, *round_keys(key[:32]), *round_keys(key[32:])], 4)
    assert not found, found
    card.memory.hung = card.media.hung = frozenset()
    done = await card.finish(0)
    assert {one.status for one in done.values()} <= {bh.OK, bh.BAD_KEY}
    assert bh.BAD_KEY in {one.status for one in done.values()}
    assert await card.load(1) == 0
    await card.run({0: random_requests(card, 8, (1024, 1536))})


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def bad_requests(dut) -> None:
    """A bad request or bus error fails only its own request of mae_block_card."""
    card = await BlockCard.begin(dut, 6, latency=(5, 60))
    assert await card.load(2) == 0
    good = {"slot": 2, "unit_log2": 12, "unit": 9}
    sectors = card.media_bytes // 512

    def bad(status: int, op: int = READ, sector: int = 0, count: int = 8, **fields: object):
        """Makes a request that must fail with a status."""
        made = card.request(op, sector, count, **{**good, **fields})
        made.status = status
        return made

    plain = {"slot": 0, "unit_log2": 0, "unit": 0, "flags": PLAIN | IRQ}
    wrong = [
        bad(bh.BAD_OP, op=3),
        bad(bh.BAD_OP, flags=IRQ | 2),
        bad(bh.BAD_OP, unit_log2=8),
        bad(bh.BAD_OP, unit_log2=13),
        bad(bh.BAD_OP, reserved=1),
        bad(bh.BAD_OP, **{**plain, "slot": 2}),
        bad(bh.BAD_OP, **{**plain, "unit": 1 << 127}),
        bad(bh.BAD_LENGTH, count=0),
        bad(bh.BAD_LENGTH, count=12),
        bad(bh.BAD_KEY, slot=1),
        bad(bh.BAD_KEY, slot=5),
        bad(bh.BAD_KEY, slot=255),
        bad(bh.BAD_RANGE, sector=sectors - 4),
        bad(bh.BAD_RANGE, op=WRITE, sector=sectors, **plain),
        bad(bh.BAD_RANGE, sector=(1 << 64) - 8),
    ]
    for addr in (bh.DATA + 32, (1 << 64) - 4096):
        wrong.append(bad(bh.BAD_ADDRESS))
        wrong[-1].addr = addr
    wrong.append(bad(bh.BAD_LENGTH))
    wrong[-1].sectors = 65537
    fine = [card.request(WRITE, 512 + 8 * i, 8, **good) for i in range(len(wrong))]
    mixed = [one for pair in zip(wrong, fine, strict=True) for one in pair]
    await card.run({0: mixed[:18], 1: mixed[18:]})
    # errors of both buses
    cases = []
    at = 1024
    for bus in (card.memory, card.media):
        for resp in (SLVERR, DECERR):
            for op in (READ, WRITE):
                for fields in (good, plain):
                    made = card.request(op, at, 24, **fields)
                    at += 24
                    reads = (op == READ) == (bus is card.media)
                    made.status = (bh.READ_SLVERR if reads else bh.WRITE_SLVERR) + (resp == DECERR)
                    where = made.addr if bus is card.memory else made.sector * 512
                    where += 512 * card.random.randrange(24)
                    bus.fail(where, where + 1, resp)
                    cases += [made, card.request(op, at, 8, **fields)]
                    at += 8
    await card.run({0: cases[::2], 1: cases[1::2]})


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def order_of_flush(dut) -> None:
    """A flush of mae_block_card completes after every write that was dispatched before it."""
    card = await BlockCard.begin(dut, 7, latency=(100, 300))
    for _ in range(3):
        writes = [card.request(WRITE, 64 * i, 16, flags=PLAIN | IRQ) for i in range(6)]
        others = [card.request(WRITE, 1024 + 64 * i, 16, flags=PLAIN) for i in range(6)]
        flush = card.request(FLUSH, 0, 0)
        late = card.request(READ, 2000, 1, flags=PLAIN)
        await card.submit(0, [*writes, flush, late])
        await card.submit(1, others)
        seen = []
        while len(seen) < 8:
            if (found := card.take(0)) is None:
                await ClockCycles(dut.clk_i, 5)
            else:
                seen.append(found.cookie)
        assert {w.cookie for w in writes} <= set(seen[: seen.index(flush.cookie)])
        await card.queue(0, "comp_head", card.taken[0])
        await card.finish(1)


async def answer(dut) -> None:
    """Answers one flush for the media, and leaves time for completions."""
    dut.flush_ready_i.value = 1
    await ClockCycles(dut.clk_i, 1)
    dut.flush_ready_i.value = 0
    await ClockCycles(dut.clk_i, 400)
    assert not dut.flush_valid_o.value


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def flush_waits_for_the_media(dut) -> None:
    """A flush of mae_block_card asks the media when all writes are there, and waits for it."""
    card = await BlockCard.begin(dut, 13, latency=(100, 300))
    for stop in (False, True):
        dut.flush_ready_i.value = 0
        writes = [card.request(WRITE, 64 * i, 16, flags=PLAIN | IRQ) for i in range(6)]
        want = {r.sector * 512: card.memory.read(r.addr, r.bytes) for r in writes}
        flushes = [card.request(FLUSH, 0, 0) for _ in range(3)]
        await card.submit(0, [*writes, flushes[0], flushes[1]])
        while not dut.flush_valid_o.value:
            await ClockCycles(dut.clk_i, 1)
        for at, data in want.items():
            assert card.media.read(at, len(data)) == data, "a write is not on the media"
        await card.submit(1, [flushes[2]])
        await ClockCycles(dut.clk_i, 500)
        assert dut.flush_valid_o.value
        assert {card.take(0).cookie for _ in writes} == {w.cookie for w in writes}
        assert card.take(0) is None, "a flush did not wait"
        assert card.take(1) is None, "a flush did not wait"
        if stop:
            await card.write("ctrl", wipe=1)
            await ClockCycles(dut.clk_i, 2)
            assert not dut.flush_valid_o.value
            break
        await answer(dut)  # one answer is for all flushes without a write between them
        done = [card.take(0), card.take(0), card.take(1)]
        assert [c.cookie for c in done] == [f.cookie for f in flushes]
        write, flush = card.request(WRITE, 7, 1, flags=PLAIN), card.request(FLUSH, 0, 0)
        await card.submit(0, [write, flush])
        await ClockCycles(dut.clk_i, 1000)
        assert card.take(0).cookie == write.cookie
        assert dut.flush_valid_o.value and card.take(0) is None, "a flush took an older answer"
        await answer(dut)
        assert card.take(0).cookie == flush.cookie
        for q in range(2):
            await card.queue(q, "comp_head", card.taken[q])


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def full_completion_ring(dut) -> None:
    """A queue whose completions nobody takes stands still; the other queue goes on."""
    card = await BlockCard.begin(dut, 8, latency=(5, 20))
    await card.disable()
    await card.set_queues(2)
    stuck = [card.request(WRITE, i, 1, flags=PLAIN) for i in range(8)]
    await card.submit(0, stuck[:4])
    await ClockCycles(dut.clk_i, 600)
    await card.submit(0, stuck[4:], more=4)  # the first completions stay in the ring
    for i in range(4):
        await card.run({1: [card.request(READ, 100 + i, 1, flags=PLAIN)]})
        await card.run({1: [card.request(WRITE, 100 + i, 1, flags=PLAIN)]})
    await ClockCycles(dut.clk_i, 600)
    assert sum(card.take(0) is not None for _ in range(4)) == 4
    assert card.take(0) is None
    await card.queue(0, "comp_head", 4)
    await card.finish(0)


def wipe_clocks() -> int:
    """Returns the clocks within which a wipe must have erased mae_block_card."""
    return 160 + 16 * int(bench.parameters()["Contexts"])


def tweaks(key: bytes, request: Request) -> list[bytes]:
    """Returns the tweaks of all blocks of a request's first data unit (IEEE 1619)."""
    number = request.unit.to_bytes(16, "little")
    value = int.from_bytes(oracle.crypt("ecb", False, key[32:], b"", number), "little")
    found = []
    for _ in range((1 << request.unit_log2) // 16):
        found.append(value.to_bytes(16, "little"))
        value = value << 1 & (1 << 128) - 1 ^ 0x87 * (value >> 127)
    return found


def pieces(card: BlockCard, requests: list[Request]) -> dict[str, list[bytes]]:
    """Returns all secrets of the loaded keys and of requests that have not begun, by kind."""
    halves = [key[at : at + 32] for key in card.keys.values() for at in (0, 32)]
    hidden = [r for r in requests if not r.flags & PLAIN]
    found = {
        "keys": halves,
        "round keys": [one for half in halves[::2] for one in round_keys(half)],
        "tweak keys' round keys": [one for half in halves[1::2] for one in round_keys(half)],
        "tweaks": [one for r in hidden for one in tweaks(card.keys[r.slot], r)],
        "plain": [],
        "plaintext": [],
        "ciphertext": [],
    }
    for request in requests:
        (moved,) = card.expect(request).values()
        if request.flags & PLAIN:
            found["plain"].append(moved)
        else:
            inward = request.op == WRITE
            found["ciphertext" if inward else "plaintext"].append(moved)
            source = card.crypt(request, inward, moved)
            found["plaintext" if inward else "ciphertext"].append(source)
    return found


def held(dut, values: list[bytes], size: int = 8) -> list[str]:
    """Returns the signals of mae_block_card that hold a piece of a secret, except write data."""
    buses = (dut.m_axi_wvalid, dut.m_axi_wdata), (dut.m_axi_mem_wvalid, dut.m_axi_mem_wdata)
    shown = [str(data.value) for valid, data in buses if valid.value == 1]
    return secrets.find(dut, values, size, " ".join(shown))


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(hung=["", "ar r aw w b", "r", "w", "b"])
async def wipe_in_mid_request(dut, hung: str) -> None:
    """A wipe erases mae_block_card in time, also on hung buses; it works when they do again."""
    card = await BlockCard.begin(dut, 9 + len(hung), latency=(20, 80), crossing=True)
    buses = card.memory, card.media
    assert await card.load(0) == 0
    assert await card.load(4) == 0
    fields = {"slot": 4, "unit_log2": 12}
    batch = [
        card.request(i % 2, 64 * i, 16, **({"flags": PLAIN} if i & 2 else {**fields, "unit": i}))
        for i in range(12)
    ]
    kinds = pieces(card, batch)
    every = [one for values in kinds.values() for one in values]
    await card.submit(0, batch[:6])
    await card.submit(1, batch[6:])
    await ClockCycles(dut.clk_i, 500)
    for bus in buses:
        bus.hung = frozenset(hung.split())
    await ClockCycles(dut.clk_i, 300)
    await card.write_words("mek", card.keys[0])
    assert held(dut, every), "the search finds nothing"
    if hung == "ar r aw w b":  # where all stood still at once
        assert all(held(dut, values) for values in kinds.values()), "the search misses a kind"
    await card.write("ctrl", wipe=1)
    await ClockCycles(dut.clk_i, wipe_clocks())
    for valid, data in (
        (dut.m_axi_rvalid, dut.m_axi_rdata),
        (dut.m_axi_mem_rvalid, dut.m_axi_mem_rdata),
    ):
        assert valid.value == 0
        data.value = 0  # the memory's wires
    await ClockCycles(dut.clk_i, 2)
    found = held(dut, kinds["keys"], 4) + held(dut, every)
    assert not found, found
    status = await card.fields("status")
    assert not status["wiping"] and status["busy"] == bool(hung)
    assert await card.read("key_valid") == 0
    gone = card.request(READ, 64, 8, **fields, status=bh.BAD_KEY)
    await card.enable()
    await card.submit(0, [gone])  # waits for the buses
    await ClockCycles(dut.clk_i, 50)
    images = [bytearray(bus.data) for bus in buses]
    taken = [bus.early for bus in buses]
    for bus in buses:
        bus.hung = frozenset()
    own = bh.RINGS + (bh.DESC_BYTES << bh.LOG2)  # the new request's completion
    for _ in range(200):
        await ClockCycles(dut.clk_i, 10)
        done = Completion.unpack(card.memory.read(own, bh.COMPLETION_BYTES))
        if done.cookie == gone.cookie:
            break
    assert (done.cookie, done.status) == (gone.cookie, bh.BAD_KEY)
    at = own - bh.BASE
    images[0][at : at + bh.COMPLETION_BYTES] = card.memory.read(own, bh.COMPLETION_BYTES)
    for bus, image, early in zip(buses, images, taken, strict=True):
        changed = {at // bus.bytes for at, old in enumerate(image) if old != bus.data[at]}
        assert len(changed) <= early + 1, "more than the bus had seen"
    card.keys.clear()
    await card.disable()
    await card.enable()
    assert await card.load(4) == 0
    await card.run({0: random_requests(card, 8, (0, 512)), 1: random_requests(card, 8, (512, 999))})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def reset_in_mid_request(dut) -> None:
    """A reset ends mae_block_card's requests, erases its keys at once and its data soon."""
    card = await BlockCard.begin(dut, 20, latency=(20, 80))
    assert await card.load(0) == 0
    fields = {"slot": 0, "unit_log2": 12, "unit": 5}
    batch = [card.request(i % 2, 64 * i, 40, **fields) for i in range(12)]
    wants = [data for r in batch for data in card.expect(r).values()]
    wants += [card.memory.read(r.addr, r.bytes) for r in batch]
    await card.submit(0, batch)
    await ClockCycles(dut.clk_i, 400)
    assert secrets.find(dut, wants, 8), "the search finds nothing"
    dut.rst_ni.value = 0
    card.memory.stop()
    card.media.stop()
    await ClockCycles(dut.clk_i, 2)
    for port in ("m_axi_", "m_axi_mem_"):
        for channel in ("ar", "aw", "w"):
            assert getattr(dut, f"{port}{channel}valid").value == 0
    found = secrets.find(dut, [card.keys[0][:32], card.keys[0][32:]], 4)
    assert not found, found
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 10)
    while (await card.fields("status"))["wiping"]:
        pass
    buses = [dut.m_axi_rdata, dut.m_axi_mem_rdata]
    found = secrets.find(dut, wants, 8, " ".join(str(bus.value) for bus in buses))
    assert not found, found


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(cipher=[True, False])
async def both_directions_at_once(dut, cipher: bool) -> None:
    """mae_block_card reads and writes at the rate of both buses at the same time."""
    card = await BlockCard.begin(dut, 22, latency=(5, 20))
    assert await card.load(0) == 0
    fields = {"slot": 0, "unit_log2": 12, "unit": 1} if cipher else {"flags": PLAIN}
    reads = [card.request(READ, 64 * i, 32, **fields) for i in range(8)]
    writes = [card.request(WRITE, 64 * i + 32, 32, **fields) for i in range(8)]
    card.media.reset_statistics()
    await card.run({0: reads, 1: writes})
    read, write, _ = card.media.statistics.used()
    dut._log.info(f"share of the media's bus: reads {read:.3f}, writes {write:.3f}")
    assert min(read, write) > 0.9


@pytest.mark.parametrize("lanes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_block_card(lanes: int) -> None:
    """Builds mae_block_card with few contexts and keys, and runs this file's tests."""
    parameters = {"Lanes": lanes, "Contexts": 8 * lanes, "MediaKeys": 5, "MediaLog2": 20}
    parameters["KeyWait"] = 20000
    # Run much longer than built: it is worth the compiler's time.
    bench.run("mae_block_card", parameters=parameters, visible=True, optimize="-O1")
