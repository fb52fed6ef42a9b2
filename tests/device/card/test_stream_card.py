# SPDX-License-Identifier: Apache-2.0
"""Tests mae_stream_card: all modes through the rings against OpenSSL, errors, wipes, bus use.

Covers its parts mae_card_control (registers, counters, interrupt), mae_key_write_merge (keys of the
registers) and mae_dma_aes_client (checks of descriptors, byte order), which have no life of their
own.
"""

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiResp

from tests.device import oracle, secrets
from tests.device.card_host import Card, load_keys, random_jobs
from tests.device.peripheral_host import BUSY
from tests.dma.rings import INIT, IRQ, Status
from tests.support import bench
from tests.support.axi_memory import DECERR, SLVERR


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def says_what_it_is(dut) -> None:
    """mae_stream_card's capability registers state its parameters; bad addresses give SLVERR."""
    card = await Card.begin(dut)
    parameters = bench.parameters()
    assert await card.read("id") == 0x4D414553
    caps, features = await card.fields("caps"), await card.fields("features")
    assert caps["lanes"] == parameters["Lanes"]
    assert caps["contexts"] == parameters["Contexts"]
    assert (caps["key_slots"], caps["key_banks"]) == (
        parameters["KeySlots"],
        parameters["KeyBanks"],
    )
    assert all(features[name] for name in ("aes128", "aes192", "aes256", "encrypt", "decrypt"))
    assert await card.read("modes") == oracle.mask("gcm")
    await card.write_words("key", card.random.randbytes(32))
    assert not any([await card.read("key", i) for i in range(8)])
    for offset in (0x30, 0xF0, 0x800):
        assert (await card.read_at(offset))[1] == AxiResp.SLVERR
        assert await card.write_at(offset, 0) == AxiResp.SLVERR


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(kind=[True, False])
async def every_mode_at_once(dut, kind: bool) -> None:
    """mae_stream_card gives OpenSSL's output for mixed modes, keys and contexts at once."""
    memory = {"latency": (1, 3), "shuffle": False} if kind else {"latency": (50, 300), "stall": 0.2}
    card = await Card.begin(dut, 2 + kind, **memory)
    await load_keys(card)
    await card.run(random_jobs(card, 14 * 6, 3000))
    await card.run(random_jobs(card, 14 * 6, 200))


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def message_in_several_jobs(dut) -> None:
    """The stream card encrypts and decrypts messages of three jobs each as OpenSSL does."""
    card = await Card.begin(dut, 3)
    await load_keys(card)
    rng, jobs = card.random, []
    for context in range(card.contexts):
        mode, decrypt = oracle.MODES[context % 7], bool(context // 7 % 2)
        slot = rng.choice((0, 2, 3, 5))
        tweak = {0: 3, 3: 0, 2: 5, 5: 2}[slot]
        cuts = [16 * rng.randrange(1, 9) for _ in range(3)]
        if mode in oracle.ANY_LENGTH:
            cuts[-1] += rng.randrange(16)
        iv, data = rng.randbytes(16), rng.randbytes(sum(cuts))
        keys = card.keys[slot], card.keys[tweak]
        answer, at = oracle.crypt(mode, decrypt, keys[0], iv, data, keys[1]), 0
        for i, cut in enumerate(cuts):
            piece = slice(at, at + cut)
            how = {"context": context, "slot": slot, "tweak_slot": tweak, "answer": answer[piece]}
            jobs.append(card.job(mode, decrypt, data[piece], iv=None if i else iv, **how))
            at += cut
    jobs = [job for i in range(3) for job in jobs[i::3]]
    await card.run(jobs)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def errors_in_completions(dut) -> None:
    """A refused descriptor or bus error fails only its own job of mae_stream_card."""
    card = await Card.begin(dut, 4)
    await load_keys(card)
    rng = card.random
    jobs = random_jobs(card, 56, 600)
    want = {}
    for i, job in enumerate(jobs):
        if i % 2:
            continue
        kind, desc = i // 2 % 9, job.desc
        if kind == 0:
            desc.op, status = rng.choice((7, 8, 255)), Status.BAD_OP
        elif kind == 1:
            desc.flags |= rng.choice((0x20, 0x40, 0x80))
            status = Status.BAD_OP
        elif kind == 2:
            desc.key_slot, status = rng.choice((6, 15, 16, 63, 255)), Status.BAD_KEY
        elif kind == 3:
            desc.op, desc.length, status = 0, 17, Status.BAD_LENGTH
        elif kind == 4:
            desc.length, status = 0, Status.BAD_LENGTH
        elif kind == 5:
            desc.context, status = card.contexts, Status.BAD_CONTEXT
            if card.contexts == 256:
                continue
        elif kind == 6:
            desc.op, desc.flags, desc.tweak_slot = 6, 2, rng.choice((9, desc.key_slot))
            desc.length, status = 16, Status.BAD_KEY
        elif kind == 7:
            desc.op, desc.length, status = 6, 15, Status.BAD_LENGTH
        else:
            addr = next(a for a, n in job.dst if n)
            resp = rng.choice((SLVERR, DECERR))
            card.memory.fail(addr, addr + 1, resp, read=False)
            status = Status.WRITE_SLVERR if resp == SLVERR else Status.WRITE_DECERR
            bursts = 128 * bench.parameters()["Lanes"] // 8
            for other in jobs:  # who shares the word fails too
                for a, n in other.dst:
                    if n and a // bursts <= addr // bursts <= (a + n - 1) // bursts:
                        want[other.desc.cookie] = status
        want[desc.cookie] = status
    await card.run(jobs, want)
    card.memory.mend()
    await card.run(random_jobs(card, 28, 300))


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def key_change_under_load(dut) -> None:
    """Loading and erasing other key slots does not disturb jobs of mae_stream_card."""
    card = await Card.begin(dut, 5)
    await load_keys(card)
    jobs = random_jobs(card, 56, 1000)
    image = {job.desc.cookie: job for job in jobs}
    await card.submit(jobs)
    for slot in (8, 9, 10, 8, 9):
        await card.load_key(slot, card.random.randbytes(32))
        await card.erase_key(slot)
    for cookie, completion in (await card.finish()).items():
        job = image[cookie]
        assert completion.status == Status.OK
        got = b"".join(card.memory.read(a, n) for a, n in job.dst)
        assert got == job.answer
    assert await card.read("key_valid") == 0x3F


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def interrupt(dut) -> None:
    """mae_stream_card raises irq_o after a flagged job completes; a write of 1 lowers it."""
    card = await Card.begin(dut, 6)
    await card.key(0, 16)
    await card.write("irq_enable", completion=1)
    for flagged in (0, 1, 0, 1):
        job = card.job("ctr", False, bytes(100), context=0, iv=bytes(16), flags=IRQ * flagged)
        await card.submit([job])
        for _ in range(2000):
            await ClockCycles(dut.clk_i, 1)
            if dut.irq_o.value == 1:
                break
        assert dut.irq_o.value == flagged
        await card.finish(limit=1)
        await card.write("irq_status", completion=1)
        await ClockCycles(dut.clk_i, 2)
        assert dut.irq_o.value == 0
    await card.write("irq_enable", completion=0)
    await card.submit([card.job("ecb", False, bytes(16), context=0, flags=IRQ)])
    await card.finish()
    await ClockCycles(dut.clk_i, 200)  # the write response has come by now
    assert dut.irq_o.value == 0 and (await card.fields("irq_status"))["completion"] == 1


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def abort_and_again(dut) -> None:
    """After an abort all jobs of mae_stream_card have completed, and new jobs run right."""
    card = await Card.begin(dut, 7)
    await load_keys(card)
    for wait in (100, 700):
        jobs = random_jobs(card, 56, 4000)
        await card.submit(jobs)
        await ClockCycles(dut.clk_i, wait)
        await card.write("ctrl", enable=1, abort=1)
        while not (await card.fields("status"))["halted"]:
            pass
        done = await card.read("comp_tail")
        assert done == await card.read("sub_head")
        card.sent = done
        statuses = {c.status for c in (await card.finish()).values()}
        assert Status.ABORTED in statuses and statuses <= {Status.OK, Status.ABORTED}
        await card.disable()
        card.next_data, card.next_list = card.place(0), card.next_list
        await card.enable()
        await card.run(random_jobs(card, 28, 300))
        await card.disable()
        await card.enable()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def counters(dut) -> None:
    """mae_stream_card's counters count jobs, blocks, beats and clocks, hold and clear."""
    card = await Card.begin(dut, 8)
    await card.key(0, 16)
    await card.write("ctrl", enable=1, count_clear=1)
    before = card.memory.statistics.read_beats, card.memory.statistics.write_beats
    data = card.random.randbytes(1000)
    await card.run(
        [card.job("ctr", False, data, context=i, iv=bytes(16), align=16) for i in range(3)]
    )
    await ClockCycles(dut.clk_i, 200)  # a job counts when its completion's response has come
    got = await card.counters()
    assert got["jobs"] == 3 and got["blocks"] == 3 * 63
    assert got["read_beats"] == card.memory.statistics.read_beats - before[0]
    assert got["write_beats"] == card.memory.statistics.write_beats - before[1]
    assert 0 < got["busy_clocks"] < got["clocks"]
    await card.run([card.job("ctr", False, data, context=0, iv=bytes(16))])
    assert await card.read("jobs.lo") == 3


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def wipe(dut) -> None:
    """A wipe leaves no key, H, keystream or data in any register of mae_stream_card."""
    card = await Card.begin(dut, 9)
    for _ in range(2):
        await load_keys(card)
        jobs = random_jobs(card, 42, 400)
        kinds = {"key": [*card.keys.values()], "data": [j.data + j.answer for j in jobs]}
        kinds["stream"] = [
            oracle.crypt("ofb", False, card.keys[j.desc.key_slot], j.desc.iv, bytes(64))
            for j in jobs
            if j.desc.op == oracle.CODES["ofb"]
        ]
        kinds["tweak"] = [
            oracle.crypt("ecb", False, card.keys[j.desc.tweak_slot], b"", j.desc.iv)
            for j in jobs
            if j.desc.op == oracle.CODES["xts"]
        ]
        await card.run(jobs)
        # A message of GCM that is left open.
        begun = card.job("gcm", False, card.random.randbytes(100), context=0, flags=INIT)
        begun.desc.op, begun.desc.nonce = 8, bytes(12)
        counter = (2).to_bytes(16, "big")
        begun.answer = oracle.crypt("ctr", False, card.keys[0], counter, begun.data, b"")
        await card.run([begun])
        kinds["data"].append(begun.data + begun.answer)
        kinds["hash key"] = [oracle.crypt("ecb", False, card.keys[0], b"", bytes(16))]
        await card.write_words("key", card.keys[0])
        for kind in ("key", "data", "hash key"):
            assert secrets.find(dut, kinds[kind], window=8), "the search finds nothing"
        await card.write("ctrl", enable=1, wipe=1)
        assert await card.key_command(slot=0) == BUSY, "a key is not taken meanwhile"
        while (await card.fields("status"))["wiping"]:
            pass
        assert await card.read("key_valid") == 0 and await card.read("ctrl") == 0
        card.memory.stop()
        dut.m_axi_rdata.value = 0  # the memory's wires
        await ClockCycles(dut.clk_i, 2)
        for kind, values in kinds.items():
            assert secrets.find(dut, values, window=4 if kind == "key" else 8) == [], kind
        card.memory.start()
        await card.enable()
        bad = card.job("ecb", False, bytes(16), context=0)
        await card.run([bad], {bad.desc.cookie: Status.BAD_KEY})


class Meter:
    """Counts the clocks in which mae_stream_card moves payload on its memory bus."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.read: list[int] = []  # the clocks that carried one
        self.written: list[int] = []
        self.task = cocotb.start_soon(self.run())

    async def run(self) -> None:
        """Records each clock with a payload beat on R or W, until cancelled."""
        dut, clock, bursts = self.dut, 0, []
        control = 1 << len(dut.m_axi_arid) - 1  # this bit of an ID tells rings from payload
        while True:
            await RisingEdge(dut.clk_i)
            clock += 1
            if dut.m_axi_rvalid.value == 1 and not int(dut.m_axi_rid.value) & control:
                self.read.append(clock)
            if dut.m_axi_awvalid.value == 1 and dut.m_axi_awready.value == 1:
                bursts.append(int(dut.m_axi_awid.value) & control)
            if dut.m_axi_wvalid.value == 1 and dut.m_axi_wready.value == 1:
                if not bursts[0]:
                    self.written.append(clock)
                if dut.m_axi_wlast.value == 1:
                    bursts.pop(0)

    def shares(self) -> tuple[int, float, float]:
        """Returns the run's length in clocks, and the parts of it with an AXI data beat."""
        span = max(self.read[-1], self.written[-1]) - min(self.read[0], self.written[0]) + 1
        count = len(self.written)
        low, high = count // 4, 3 * count // 4
        middle = (high - low) / (self.written[high] - self.written[low])
        return span, count / span, middle


async def measure(dut, mode: str, decrypt: bool, contexts: int, length: int) -> tuple[float, float]:
    """Runs equal jobs on the stream card; returns the share of clocks with an AXI data beat."""
    card = await Card.begin(dut, 10, latency=(50, 300))
    await card.key(0, 16)
    await card.key(1, 16)
    rng = card.random
    jobs = []
    for context in range(contexts):
        how = {"context": context, "iv": rng.randbytes(16), "tweak_slot": 1, "align": 64}
        jobs.append(card.job(mode, decrypt, rng.randbytes(length), **how))
    meter = Meter(dut)
    await card.run(jobs)
    meter.task.cancel()
    span, share, middle = meter.shares()
    lanes = bench.parameters()["Lanes"]
    dut._log.info(
        f"FIGURE {mode} {'decrypt' if decrypt else 'encrypt'} {contexts} x {length} B: {span} "
        f"clocks, {share * lanes:.3f} of {lanes} blocks a clock, {100 * share:.1f} % of the data "
        f"clocks, {100 * middle:.1f} % in the middle half"
    )
    return share, middle


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize((("mode", "decrypt"), [("ctr", False), ("ecb", False), ("cbc", True)]))
async def figure_parallel(dut, mode: str, decrypt: bool) -> None:
    """16 messages of 64 KB in a parallel mode use 95 % of mae_stream_card's bus clocks."""
    share, _ = await measure(dut, mode, decrypt, 16, 65536)
    assert share >= 0.95


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def figure_serial(dut) -> None:
    """11 CBC encryptions per lane at once use 95 % of mae_stream_card's bus clocks."""
    _, middle = await measure(dut, "cbc", False, 11 * bench.parameters()["Lanes"], 16384)
    assert middle >= 0.95


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def figure_one_message(dut) -> None:
    """A single CBC encryption takes 11 clocks per block on mae_stream_card."""
    _, middle = await measure(dut, "cbc", False, 1, 8192)
    assert 0.95 / 11 / bench.parameters()["Lanes"] <= middle <= 1 / 11


def build(lanes: int, contexts: int, **more: int) -> dict[str, int]:
    """Returns the parameters of a mae_stream_card with given lanes and contexts."""
    return {"Lanes": lanes, "Contexts": contexts, "KeySlots": 16, "KeyBanks": 4, **more}


# What makes stream4_fpga of stream4, beside the number of contexts.
SMALL = {"KeyBanks": 1, "Sbox": 5, "Small": 1}


@pytest.mark.parametrize("more", [{}, SMALL], ids=["stream", "fpga"])
@pytest.mark.parametrize("lanes", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_stream_card(lanes: int, more: dict[str, int]) -> None:
    """Builds mae_stream_card and runs this file's tests except bus use and wipe."""
    bench.run(
        "mae_stream_card",
        parameters=build(lanes, 15 * lanes if more else 16 * lanes, **more),
        test_filter="^(?!.*(figure_|wipe)).*$",
    )


@pytest.mark.full
@pytest.mark.parametrize("more", [{"KeyBanks": 2}, SMALL], ids=["stream", "fpga"])
def test_stream_card_wipe(more: dict[str, int]) -> None:
    """Builds the smallest mae_stream_card with all signals visible and runs the wipe test."""
    bench.run(
        "mae_stream_card",
        parameters=build(1, 2, **{"KeySlots": 6} | more),
        test_filter="wipe",
        visible=True,
        optimize="-O0",
    )


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, SMALL], ids=["stream", "fpga"])
def test_stream_card_figures(more: dict[str, int]) -> None:
    """Builds mae_stream_card with four lanes and runs the tests of bus use."""
    contexts = 60 if more else 64
    bench.run("mae_stream_card", parameters=build(4, contexts, **more), test_filter="figure_")
