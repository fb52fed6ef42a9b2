# SPDX-License-Identifier: Apache-2.0
"""Tests that a wipe erases mae_stream_card on a hung host bus: also a narrow one, and _async.

Some channels of the memory bus stand still, in each state of a job. Keys and data are erased in the
clocks that the header of mae_stream_card promises; the bus only keeps what AXI demands, and the
card works again as soon as the bus does.
"""

import cocotb
import pytest
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles

from tests.cipher.fips197 import round_keys
from tests.device import oracle, secrets
from tests.device.card.test_stream_card import SMALL
from tests.device.card.test_stream_card_async import begin as begin_async
from tests.device.card_host import BASE, COMP, Card, Job, load_keys, random_jobs
from tests.device.peripheral_host import BUSY
from tests.dma.rings import COMPLETION_BYTES, INIT, Status
from tests.support import bench

# Channels that stand still, and what happens before the wipe.
STATES = {
    "idle": ("ar r aw w b", ""),
    "key": ("ar r aw w b", "key"),
    "fetching": ("ar", "jobs"),
    "reading": ("r", "jobs"),
    "ciphering": ("ar r aw w b", "jobs"),
    "addressing": ("aw", "jobs"),
    "writing": ("w", "jobs"),
    "completing": ("b", "jobs"),
    "aborting": ("r", "jobs abort"),
    "aborting writes": ("w", "jobs abort"),
}


def bound(card: Card) -> int:
    """Returns the clocks within which a wipe must have erased the stream card."""
    more = 80 * hasattr(card.dut, "bus_clk_i")
    more += 2 ** len(card.dut.m_axi_arid) * ("BusWidth" in bench.parameters())
    return 160 + 16 * card.contexts + more


async def begin(dut: SimHandleBase, seed: int) -> Card:
    """Resets the stream card, with one or two clocks; returns its host model."""
    memory = {"latency": (5, 30), "stall": 0.1}
    if hasattr(dut, "bus_clk_i"):
        return await begin_async(dut, seed, 9100, 8000, **memory)
    return await Card.begin(dut, seed, crossing=True, **memory)


def open_message(card: Card) -> Job:
    """Makes the first job of a GCM message, which leaves the message unfinished in the card."""
    job = card.job("gcm", False, card.random.randbytes(100), context=0, flags=INIT)
    job.desc.op, job.desc.nonce = 8, bytes(12)
    job.answer = oracle.crypt("ctr", False, card.keys[0], (2).to_bytes(16, "big"), job.data, b"")
    return job


def pieces(card: Card, jobs: list[Job]) -> dict[str, list[bytes]]:
    """Returns all secrets of the given keys and jobs: keys, round keys, H, keystream, data."""
    keys = list(card.keys.values())
    ofb = [job.desc for job in jobs if job.desc.op == oracle.CODES["ofb"]]
    streams = [oracle.crypt("ofb", False, card.keys[d.key_slot], d.iv, bytes(64)) for d in ofb]
    hashes = [oracle.crypt("ecb", False, key, b"", bytes(16)) for key in keys]
    data = [job.data + job.answer for job in jobs]
    rounds = [one for key in keys for one in round_keys(key)]
    return {"key": keys, "more": [*data, *streams, *hashes, *rounds]}


def left(card: Card, kinds: dict[str, list[bytes]]) -> list[str]:
    """Returns the signals of the stream card that hold a piece of a secret, except bus data."""
    dut = card.dut
    shown = str(dut.m_axi_wdata.value) if dut.m_axi_wvalid.value == 1 else ""
    return [
        found
        for kind, values in kinds.items()
        for found in secrets.find(dut, values, 4 if kind == "key" else 8, shown)
    ]


def pages_held(dut: SimHandleBase) -> list[str]:
    """Returns the signals of the stream card that mark a page of a DMA buffer as in use."""
    own = [s for s in secrets.signals(dut) if ".u_pages." in s._path]
    free = [s for s in own if s._path.endswith(".free_q")]
    used = [s for s in own if s._path.rpartition(".")[2].startswith(("held_q", "lent_q", "any_q"))]
    assert len(free) == 2 and len(used) >= 6, "the search finds nothing"
    taken = [s._path for s in free if "0" in str(s.value)]
    return taken + [s._path for s in used if "1" in str(s.value)]


async def hang(card: Card, state: str, wait: int) -> list[Job]:
    """Brings the stream card into a named state and stops channels of its host bus there."""
    channels, events = STATES[state]
    await load_keys(card)
    done = random_jobs(card, 14, 100)
    await card.run(done)
    await card.run([open_message(card)])
    jobs = random_jobs(card, 20, 400) if "jobs" in events else []
    if state != "ciphering":
        card.memory.hung = frozenset(channels.split())
    if jobs:
        await card.submit(jobs)
        await ClockCycles(card.clk, wait)
    card.memory.hung = frozenset(channels.split())
    await card.write_words("key", card.keys[5])
    if "abort" in events:
        await card.write("ctrl", enable=1, abort=1)
        await ClockCycles(card.clk, 100)
        assert not (await card.fields("status"))["halted"], "the bus did not hang"
    if "key" in events:
        await card.write("key_cmd", slot=1, len=2, go=1)
    return done + jobs


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(state=list(STATES))
async def nothing_is_left(dut: SimHandleBase, state: str) -> None:
    """A wipe erases the stream card on a hung bus in time; it works when the bus works again."""
    card = await begin(dut, 20 + list(STATES).index(state))
    in_use = False
    for round_ in range(2):
        jobs = await hang(card, state, 60 + 400 * round_)
        kinds = pieces(card, jobs)
        assert left(card, kinds), "the search finds nothing"
        assert (await card.fields("status"))["busy"] or "jobs" not in STATES[state][1]
        in_use |= bool(pages_held(dut))
        await card.write("ctrl", enable=1, wipe=1)
        assert await card.key_command(slot=0) == BUSY, "a key is not taken meanwhile"
        await ClockCycles(card.clk, bound(card))
        if dut.m_axi_rvalid.value == 0:
            dut.m_axi_rdata.value = 0  # the memory's wires
            await ClockCycles(card.clk, 2)
        assert left(card, kinds) == [], round_
        assert pages_held(dut) == [], round_
        status = await card.fields("status")
        assert not status["wiping"] and not status["jobs"]
        assert await card.read("key_valid") == 0 and await card.read("ctrl") == 0
        bad = card.job("ecb", False, bytes(16), context=0)
        await card.enable()
        await card.submit([bad])  # waits for the bus
        await ClockCycles(card.clk, 50)
        image, taken = bytearray(card.memory.data), card.memory.early
        card.memory.hung = frozenset()
        for _ in range(100):
            await ClockCycles(card.clk, 50)
            if card.memory.idle() and not (await card.fields("status"))["busy"]:
                break
        else:
            raise AssertionError("bursts are left")
        own = slice(COMP - BASE, COMP - BASE + COMPLETION_BYTES)  # the new job's completion
        image[own] = card.memory.data[own]
        changed = [at for at, old in enumerate(image) if old != card.memory.data[at]]
        beat = card.memory.bytes
        assert len({(BASE + at) // beat for at in changed}) <= taken + 1, (
            "more than the bus had seen"
        )
        # What the bus had seen may be an old completion: in the ring's first round it looks new.
        card.clear_completions(card.sent)
        assert (await card.finish())[bad.desc.cookie].status == Status.BAD_KEY
        await load_keys(card)
        await card.run(random_jobs(card, 14, 300))
    assert in_use or state != "writing", "no page was in use"


@pytest.mark.parametrize(
    ("top", "bus"),
    [
        ("mae_stream_card", {}),
        pytest.param("mae_stream_card_async", {}, marks=pytest.mark.slow),
        pytest.param("mae_stream_card", {"BusWidth": 64}, marks=pytest.mark.slow),
        pytest.param("mae_stream_card", SMALL, marks=pytest.mark.slow),
    ],
    ids=["mae_stream_card", "mae_stream_card_async", "narrow_bus", "fpga"],
)
@pytest.mark.full
def test_hung_bus(top: str, bus: dict[str, object]) -> None:
    """Builds the smallest stream cards with all signals visible and runs the wipe tests."""
    bench.run(
        top,
        parameters={"Lanes": 1, "Contexts": 2, "KeySlots": 6, "KeyBanks": 2, **bus},
        visible=True,
        optimize="-O0",
    )


@pytest.mark.slow
def test_hung_bus_with_more_contexts() -> None:
    """Builds a stream card with 16 contexts and runs the wipe tests with their time limit."""
    bench.run(
        "mae_stream_card",
        parameters={"Lanes": 2, "Contexts": 16, "KeySlots": 6, "KeyBanks": 2},
        visible=True,
        optimize="-O0",
    )
