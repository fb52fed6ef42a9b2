# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_dma: chunks both ways, responses between them, and one engine for both ways.

Inside it: mae_guard_dma_h2d, mae_guard_dma_d2h, mae_guard_shared_gcm, mae_guard_chunk_gcm.
The bytes, the verdicts and tags against OpenSSL, errors, answers between chunks, the end of a
session, clocks. What clear_i leaves behind is in test_guard_chunk_gcm and test_dma_blocks.
"""

import dataclasses
import itertools
import json
import os
import pathlib
import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.guard.chunks import GRANULE, HOST, SIZE, TAG, Bench
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR

LENGTHS = (1, 15, 16, 17, 63, 64, 65, 128, 500, 1024, 1025, 4096, 9999)
HALF = SIZE // 2


def places(lengths: list[int], first: int) -> list[tuple[int, int]]:
    """Returns separate granule-aligned addresses for chunks of given lengths, in random order."""
    found = []
    for length in lengths:
        found.append((first, length))
        first += -(-length // GRANULE) * GRANULE + GRANULE * random.randrange(3)
    random.shuffle(found)
    return found


async def h2d(tests: Bench, lengths: list[int], *, spoil: float, reload: float) -> None:
    """Sends chunks to the device, some with a wrong tag; checks the verdicts and the plaintext."""
    expected = []
    for at, length in places(lengths, 0):
        if random.random() < reload:
            await tests.ended("in", len(expected))
            await tests.load("in", random.randrange(2))
        chunk = tests.chunk("in", at, length)
        text = random.randbytes(length)
        tag = bytearray(tests.put(chunk, text))
        good = random.random() >= spoil
        if not good:
            tag[random.randrange(TAG)] ^= 1 << random.randrange(8)
        expected.append((good, at, text))
        await tests.move(chunk, bytes(tag))
    await tests.ended("in", len(expected))
    for (_, error, ok, tag), (good, at, text) in zip(tests.ends["in"], expected, strict=True):
        assert not error and ok == good and tag == bytes(TAG)
        assert tests.device.data[at : at + len(text)] == text


async def d2h(tests: Bench, lengths: list[int], *, reload: float) -> None:
    """Sends chunks from device to host; checks ciphertext and tags against OpenSSL."""
    expected = []
    for at, length in places(lengths, HALF):
        if random.random() < reload:
            await tests.ended("out", len(expected))
            await tests.load("out", random.randrange(2))
        chunk = tests.chunk("out", at, length)
        expected.append((at, *chunk.seal(bytes(tests.device.data[at : at + length]))))
        await tests.move(chunk)
    await tests.ended("out", len(expected))
    for (_, error, ok, tag), (at, sealed, right) in zip(tests.ends["out"], expected, strict=True):
        assert not error and ok and tag == right
        assert tests.host.read(HOST + at, len(sealed)) == sealed


async def answers(tests: Bench, count: int, gap: float, error: int | None = None) -> None:
    """Writes responses through the guard's host port and checks their bytes and their ends."""
    dut, at, done, expected = tests.dut, HOST + SIZE - 0x10000, [], []

    async def watch() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            if int(dut.ans_done_valid_o.value):
                done.append(int(dut.ans_done_error_o.value))
                if not done[-1]:  # all of it is there by then
                    place, data = expected[len(done) - 1]
                    assert tests.host.read(place, len(data)) == data

    task = cocotb.start_soon(watch())
    for number in range(count):
        beats = [random.randbytes(GRANULE) for _ in range(random.choice((1, 2, 9, 9)))]
        strobes = [(1 << 64) - 1] * len(beats)
        strobes[0] = strobes[0] << 16 & (1 << 64) - 1
        if number == error:
            tests.host.fail(at + 64 * len(beats) - 1, at + 64 * len(beats))
        expected.append((at + 16, b"".join(beats)[16:]))
        words = [int.from_bytes(beat, "little") for beat in beats]
        await tests.answer(at, list(zip(words, strobes, strict=True)), gap)
        at += 64 * random.choice((9, 16))
    while len(done) < count:
        await FallingEdge(dut.clk_i)
    assert done == [int(number == error) for number in range(count)]
    task.cancel()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def takes_turns(dut) -> None:
    """With one engine neither direction waits for more than two chunks of the other one."""
    tests = Bench(dut, latency=(0, 3))
    await tests.begin()
    tasks = [
        cocotb.start_soon(h2d(tests, [2048] * 20, spoil=0, reload=0)),
        cocotb.start_soon(d2h(tests, [2048] * 20, reload=0)),
    ]
    for task in tasks:
        await task
    ends = sorted((now, way) for way in tests.ends for now, *_ in tests.ends[way])
    runs = [len(list(run)) for _, run in itertools.groupby(way for _, way in ends)]
    assert max(runs[:-1]) <= 2 and runs[-1] <= 4, runs
    tests.stop()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def moves_chunks(dut) -> None:
    """The guard's DMA moves chunks both ways while responses pass, with right bytes and tags."""
    for stall, latency in ((0.0, (0, 3)), (0.3, (5, 90)), (0.0, (50, 300))):
        tests = Bench(dut, stall=stall, latency=latency, seed=random.getrandbits(32))
        await tests.begin()
        lengths = [*LENGTHS, *(random.randint(1, 3000) for _ in range(15))]
        tasks = [
            cocotb.start_soon(h2d(tests, lengths, spoil=0.3, reload=0.0)),
            cocotb.start_soon(d2h(tests, lengths, reload=0.0)),
            cocotb.start_soon(answers(tests, 25, stall)),
        ]
        for task in tasks:
            await task
        tests.ends = {"in": [], "out": []}
        await h2d(tests, lengths[:8], spoil=0.0, reload=0.5)
        await d2h(tests, lengths[:8], reload=0.5)
        await tests.rest()
        assert tests.host.idle() and not tests.faults
        tests.stop()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def binds_every_field(dut) -> None:
    """The guard's DMA rejects a chunk if any field of its AAD, IV or key differs."""
    tests = Bench(dut, latency=(0, 3))
    await tests.begin()
    chunk, text = tests.chunk("in", 4096, 100), random.randbytes(100)
    chunk.place = dataclasses.replace(chunk.place, base=0, total=4196, index=7)
    tag, place = tests.put(chunk, text), chunk.place
    others = [
        dataclasses.replace(chunk, queue=chunk.queue ^ 1),
        dataclasses.replace(chunk, epoch=chunk.epoch ^ 2),
        dataclasses.replace(chunk, epoch=chunk.epoch ^ 1),
        dataclasses.replace(chunk, sequence=chunk.sequence ^ 1 << 63),
        dataclasses.replace(chunk, sequence=chunk.sequence ^ 1),
        *(
            dataclasses.replace(chunk, place=dataclasses.replace(place, **field))
            for field in (
                {"address": 8192},
                {"length": 101},
                {"length": 99},
                {"index": 6},
                {"index": 0},
                {"base": 64},
                {"total": 4197},
                {"host": HOST + 64},
            )
        ),
    ]
    await tests.move(chunk, tag)
    for other in others:
        await tests.move(other, tag)
    await tests.move(dataclasses.replace(chunk, place=dataclasses.replace(place, after=9)), tag)
    await tests.ended("in", len(others) + 2)
    verdicts = [ok for _, _, ok, _ in tests.ends["in"]]
    assert verdicts == [1, *[0] * len(others), 1]
    tests.stop()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def tells_bus_errors(dut) -> None:
    """A bus error fails only the chunk or response of the guard's DMA that it hits."""
    tests = Bench(dut, latency=(0, 200))
    await tests.begin()
    for way, first in (("in", 0), ("out", HALF)):
        wrong = []
        for at, length in places([random.choice(LENGTHS) for _ in range(20)], first):
            chunk, tag = tests.chunk(way, at, length), bytes(TAG)
            if way == "in":
                tag = tests.put(chunk, random.randbytes(length))
            wrong.append(random.random() < 0.4)
            if wrong[-1]:
                last = HOST + at + length
                tests.host.fail(last - 1, last, random.choice((SLVERR, DECERR)))
            await tests.move(chunk, tag)
        await tests.ended(way, len(wrong))
        assert [bool(error) for _, error, _, _ in tests.ends[way]] == wrong
        assert [bool(ok) for _, _, ok, _ in tests.ends[way]] == [not bad for bad in wrong]
    await answers(tests, 8, 0.0, error=3)
    tests.stop()


async def end_session(tests: Bench, after: int) -> None:
    """Halts the guard's DMA, drains its bursts with zero data, then resets and clears it."""
    dut = tests.dut
    await ClockCycles(dut.clk_i, after)
    await FallingEdge(dut.clk_i)
    dut.halt_i.value = 1
    shown = {name: int(getattr(dut, f"{name}_valid_o").value) for name in ("ar", "aw", "w")}
    asked = len(tests.host.read_log), len(tests.host.write_log)
    owed = 0
    while True:
        await Timer(2, "ns")
        if int(dut.w_valid_o.value) and int(dut.w_ready_i.value):
            whole = bool(int(dut.w_strb_o.value))
            assert not whole or (shown["w"] and owed == 0), "what is owed is zeros"
            assert whole or int(dut.w_data_o.value) == 0
            owed += 1
        if int(dut.quiet_o.value):
            break
        await FallingEdge(dut.clk_i)
    assert len(tests.host.read_log) - asked[0] <= shown["ar"]
    assert len(tests.host.write_log) - asked[1] <= shown["aw"]
    await FallingEdge(dut.clk_i)
    for name in ("in_valid_i", "out_valid_i", "ans_aw_valid_i", "ans_w_valid_i", "key_valid_i"):
        getattr(dut, name).value = 0
    dut.mover_rst_ni.value = 0
    dut.clear_i.value = 1
    await ClockCycles(dut.clk_i, 4)
    await FallingEdge(dut.clk_i)
    dut.mover_rst_ni.value = 1
    await ClockCycles(dut.clk_i, 64)
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    while int(dut.clearing_o.value):
        await FallingEdge(dut.clk_i)
    assert int(dut.quiet_o.value)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def ends_and_begins_anew(dut) -> None:
    """After a halt at any moment the guard's DMA drains its bursts, is cleared and works again."""
    for after in (1, 10, 25, 33, 47, 60, 100, 150, 220, 300):
        tests = Bench(dut, latency=(0, 120), stall=0.2, seed=after)
        await tests.begin()
        tasks = []
        for way, first in (("in", 0), ("out", HALF)):
            for number in range(2):
                at = first + 8192 * number
                chunk, tag, text = tests.chunk(way, at, 5000), bytes(TAG), random.randbytes(5000)
                if way == "in":
                    tag = tests.put(chunk, text)
                else:
                    tests.device.data[at : at + 5000] = text
                tasks.append(cocotb.start_soon(tests.move(chunk, tag)))
                await ClockCycles(dut.clk_i, 3)
        beats = [(random.getrandbits(512), (1 << 64) - 1)] * 9
        tasks.append(cocotb.start_soon(tests.answer(HOST + SIZE - 4160, beats)))
        await end_session(tests, after)
        for task in tasks:
            task.cancel()
        tests.stop()
        dut.halt_i.value = 0
        again = Bench(dut, latency=(0, 20), seed=after + 1)
        again.host.start()
        again.device.start()
        again.tasks = [cocotb.start_soon(again._watch())]
        for way in ("in", "out"):
            for bank in range(2):
                await again.load(way, bank)
        await h2d(again, [64, 100, 5000], spoil=0.0, reload=0.0)
        await d2h(again, [64, 100, 5000], reload=0.0)
        await answers(again, 3, 0.0)
        again.stop()


async def alone(tests: Bench, way: str, length: int) -> int:
    """Returns the clocks that the guard's DMA needs for one chunk on an idle bus."""
    chunk, tag = tests.chunk(way, 0, length), bytes(TAG)
    if way == "in":
        tag = tests.put(chunk, random.randbytes(length))
    count = len(tests.ends[way])
    await FallingEdge(tests.dut.clk_i)
    await tests.move(chunk, tag)
    await tests.ended(way, count + 1)
    assert tests.ends[way][-1][2]
    await ClockCycles(tests.dut.clk_i, 20)
    return tests.ends[way][-1][0] - tests.started[way][-1]


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def measures(dut) -> None:
    """Measures latency and throughput of the guard's DMA, against figures without GCM."""
    path = pathlib.Path(os.environ["FIGURES"])
    plain = json.loads(path.read_text()) if path.exists() else {}
    found: dict[str, float] = {}
    tests = Bench(dut, latency=(0, 0), shuffle=False)
    await tests.begin()
    for way in ("in", "out"):
        for length in (64, 256, 1024, 4096, 65536, SIZE):
            clocks = await alone(tests, way, length)
            more = clocks - plain[f"{way} {length}"]
            found[f"{way} {length}: clocks"], found[f"{way} {length}: more"] = clocks, more
            assert more <= 30
    tests.stop()
    for kib, ways in ((64, ("in", "out")), (16, ("in",))):
        for latency in ((50, 50), (300, 300), (50, 300)):
            for way in ways:
                tests = Bench(dut, latency=latency)
                await tests.begin()
                await FallingEdge(dut.clk_i)
                count = 2048 // kib
                for number in range(count):
                    await tests.move(tests.chunk(way, number * kib * 1024 % SIZE, kib * 1024))
                await tests.ended(way, count)
                ends = [now for now, _, _, _ in tests.ends[way]]
                lost = (ends[-1] - ends[1]) / (count - 2) - 16 * kib
                found[f"{way} {kib} KiB at {latency}: lost a chunk"] = lost
                assert lost <= 5  # single stalls of the memory model included
                tests.stop()
    path.with_name("card.json").write_text(json.dumps(found, indent=1))


def run(test_filter: str, **parameters: int) -> None:
    """Builds mae_guard_dma and runs the simulation tests whose names match a filter."""
    bench.run("mae_guard_dma", parameters=parameters, test_filter=test_filter)


TESTS = ["moves_chunks", "binds_every", "tells_bus", "ends_and"]


@pytest.mark.parametrize("test", TESTS)
def test_moves(test: str) -> None:
    """Runs one functional test of mae_guard_dma."""
    run(test)


@pytest.mark.full
@pytest.mark.parametrize("small, shared, rom", [(1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 0)])
@pytest.mark.parametrize("test", TESTS)
def test_moves_engines(test: str, small: int, shared: int, rom: int) -> None:
    """Runs one functional test of mae_guard_dma with few LUTs, and with one engine."""
    run(test, Small=small, Shared=shared, RomSboxes=rom)


def test_turns() -> None:
    """Runs the test of turns on mae_guard_dma with one engine."""
    run("takes_turns", Small=1, Shared=1)


@pytest.mark.slow
def test_figures(tmp_path: pathlib.Path) -> None:
    """Measures DMA blocks without GCM, then the guard's DMA with GCM, and compares the clocks."""
    figures = tmp_path / "figures.json"
    parameters = {"Jobs": 2, "PullRows": 1024, "PushRows": 64}
    bench.run(
        "mae_block_bench",
        module="tests.dma.block.test_dma_blocks",
        parameters=parameters,
        sources=["tests/dma/block/mae_block_bench.sv"],
        test_filter="measures",
        env={"FIGURES": str(figures)},
    )
    bench.run("mae_guard_dma", test_filter="measures$", env={"FIGURES": str(figures)})
