# SPDX-License-Identifier: Apache-2.0
"""Makes random messages for mae_mode_bench, drives it and compares its output with OpenSSL."""

import dataclasses
import itertools
import pathlib
import random
from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, RisingEdge

from tests.device import oracle

SOURCE = pathlib.Path(__file__).with_name("mae_mode_bench.sv")
# The peripheral's; one lane; the same with a longer pipeline; a card's.
SMALL = {"Lanes": 1, "Contexts": 1, "Parallel": 0, "SlotRows": 2, "KeyBanks": 1, "Iter": 1}
SMALLEST = SMALL | {"Small": 1}  # on mae_cipher_min_area
ONE = {"Lanes": 1, "Contexts": 16}
DEEP = {"Lanes": 1, "Contexts": 32, "RegsPerRound": 3, "FlightRows": 64}
WIDE = {"Lanes": 4, "Contexts": 64}

MODES = oracle.MODES
LENGTHS = (16, 24, 32)
ANY_LENGTH = tuple(mode for mode in oracle.ANY_LENGTH if mode != "xts")


def crypt(mode: str, decrypt: bool, key: bytes, tweak_key: bytes, iv: bytes, data: bytes) -> bytes:
    """Encrypts or decrypts data by OpenSSL in any of the engine's modes."""
    return oracle.crypt(mode, decrypt, key, iv, data, tweak_key)


def xor(a: bytes, b: bytes) -> bytes:
    """Returns the XOR of two byte strings of equal length."""
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


@dataclasses.dataclass
class Message:
    """Holds a message for mae_mode_engine: mode, keys, IV, data and the jobs that carry it."""

    mode: str
    decrypt: bool
    key_slot: int
    tweak_slot: int
    iv: bytes
    data: bytes
    jobs: list[int]  # bytes of each job
    want: bytes
    lost: bool = False  # the key goes away: zeros are expected

    def pieces(self) -> list[tuple[bool, bool, bytes]]:
        """Returns the message's jobs as (first, XTS with stealing, data)."""
        out, at = [], 0
        for i, size in enumerate(self.jobs):
            out.append((i == 0, self.mode == "xts" and size % 16 != 0, self.data[at : at + size]))
            at += size
        return out


class Keys:
    """Holds the keys that the test has written to the key slots of mae_mode_bench."""

    def __init__(self, count: int, rng: random.Random, lengths: tuple[int, ...] = LENGTHS) -> None:
        self.keys = [rng.randbytes(lengths[i % len(lengths)]) for i in range(count)]

    def of_length(self, length: int) -> list[int]:
        return [i for i, key in enumerate(self.keys) if len(key) == length]


def message(
    rng: random.Random,
    keys: Keys,
    mode: str,
    decrypt: bool,
    size: int,
    key_slot: int | None = None,
    tweak_slot: int | None = None,
    jobs: int = 1,
    granule: int = 16,
) -> Message:
    """Returns a random message for mae_mode_engine of about ``size`` bytes in ``jobs`` jobs."""
    if key_slot is None:
        key_slot = rng.randrange(len(keys.keys))
        if mode == "xts":  # SP 800-38E knows two key lengths
            key_slot = rng.choice(keys.of_length(16) + keys.of_length(32))
    if tweak_slot is None:
        others = keys.of_length(len(keys.keys[key_slot]))
        tweak_slot = rng.choice([slot for slot in others if slot != key_slot] or others)
    if mode == "xts":
        size = max(size, 16)
    elif mode not in ANY_LENGTH:
        size = max(16, size // 16 * 16)
    iv, data = rng.randbytes(16), rng.randbytes(size)
    cuts = list(range(granule, size - (16 if mode == "xts" else 0), granule))
    cuts = sorted(rng.sample(cuts, min(jobs - 1, len(cuts))))
    sizes = [b - a for a, b in itertools.pairwise([0, *cuts, size])]
    want = crypt(mode, decrypt, keys.keys[key_slot], keys.keys[tweak_slot], iv, data)
    return Message(mode, decrypt, key_slot, tweak_slot, iv, data, sizes, want)


class Bench:
    """Drives all ports of mae_mode_bench: keys, job configurations, rows in, rows out."""

    def __init__(self, dut: SimHandleBase, lanes: int, contexts: int, seed: int = 1) -> None:
        self.dut, self.lanes, self.contexts = dut, lanes, contexts
        self.row_bytes = 16 * lanes
        self.rng = random.Random(seed)
        self.clocks = 0
        self.out: dict[int, list[tuple[bytes, bool, bool]]] = {}
        self.row_clocks: list[int] = []  # when rows were taken in
        self.out_clocks: list[tuple[int, int]] = []  # when blocks came out, and how many
        self.out_contexts: list[tuple[int, int]] = []  # when a row came out, and whose
        self.lost_clocks = 0  # row offered and not taken

    async def start(self) -> None:
        dut = self.dut
        for name in ("clear", "cfg_valid", "row_valid", "out_ready", "write_valid"):
            getattr(dut, f"{name}_i").value = 0
        for name in ("ctx", "mode", "dir", "init", "serial", "key_slot", "tweak_slot", "iv"):
            getattr(dut, f"cfg_{name}_i").value = 0
        for name in ("row_ctx", "row_data", "row_bytes", "row_last"):
            getattr(dut, f"{name}_i").value = 0
        dut.rst_ni.value = 0
        Clock(dut.clk_i, 10, unit="ns").start()
        await self.reset()

    async def reset(self) -> None:
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 3)
        self.dut.rst_ni.value = 1
        await RisingEdge(self.dut.clk_i)

    async def clear(self) -> None:
        """Pulses clear_i of mae_mode_bench for one clock."""
        self.dut.clear_i.value = 1
        await RisingEdge(self.dut.clk_i)
        self.dut.clear_i.value = 0
        await RisingEdge(self.dut.clk_i)

    async def write_key(self, slot: int, key: bytes | None) -> None:
        """Writes a key to a key slot of mae_mode_bench, or erases the slot."""
        dut = self.dut
        dut.write_valid_i.value = 1
        dut.write_slot_i.value = slot
        dut.write_erase_i.value = key is None
        dut.write_len_i.value = 0 if key is None else LENGTHS.index(len(key))
        dut.write_key_i.value = int.from_bytes((key or b"").ljust(32, b"\0"), "big")
        await RisingEdge(dut.clk_i)
        while not int(dut.write_ready_o.value):
            await RisingEdge(dut.clk_i)
        dut.write_valid_i.value = 0

    async def write_keys(self, keys: Keys) -> None:
        for slot, key in enumerate(keys.keys):
            await self.write_key(slot, key)

    def rows(self, data: bytes) -> list[tuple[int, int, int]]:
        """Splits data into input rows (value, bytes, last), padded with random bytes."""
        out = []
        for at in range(0, len(data), self.row_bytes):
            row = data[at : at + self.row_bytes]
            full = row + self.rng.randbytes(self.row_bytes - len(row))
            value = 0
            for i in range(self.lanes):
                value |= int.from_bytes(full[16 * i : 16 * i + 16], "big") << (128 * i)
            out.append((value, len(row), int(at + self.row_bytes >= len(data))))
        return out

    async def run(
        self,
        queues: dict[int, list[Message]],
        *,
        in_stall: float = 0.0,
        out_stall: float = 0.0,
        heed_room: int | None = 1,
        stop_at: int | None = None,
        in_turn: bool = False,
        gather: bool = False,
        first_init: bool = True,
        hook: Callable[[int], None] | None = None,
    ) -> None:
        """Runs all contexts' messages through mae_mode_bench and records the output rows.

        ``heed_room``: 1: two rows may be on their way when the driver sees that room fell, as the
        engine allows; 2: three; None: it does not look. ``in_turn``: contexts in turn, not at
        random. ``stop_at``: give up at that clock (for resets). ``gather``: no row before every
        context is configured. ``first_init``: whether a message's first job has cfg.init.
        ``hook`` is called each clock with its number.
        """
        dut, rng = self.dut, self.rng
        jobs = {
            ctx: [(m, *piece) for m in messages for piece in m.pieces()]
            for ctx, messages in queues.items()
        }
        self.out = {ctx: [] for ctx in queues}
        pending: dict[int, list[tuple[int, int, int]]] = {}  # rows of the contexts' running jobs
        begun: dict[int, int] = {}  # the clock of a context's last configuration
        waiting = sorted(queues)  # contexts that can be configured
        unfinished = sum(len(j) for j in jobs.values())
        configuring = None
        offered = None
        rooms = [0, 0]
        last_ctx = 0
        dut.cfg_valid_i.value = 0
        dut.row_valid_i.value = 0
        ready = 0
        dut.out_ready_i.value = 0
        while unfinished:
            await RisingEdge(dut.clk_i)
            self.clocks += 1
            if stop_at is not None and self.clocks >= stop_at:
                return
            if hook is not None:
                hook(self.clocks)
            # What happened at this edge.
            if ready and int(dut.out_valid_o.value):
                ctx, size = int(dut.out_ctx_o.value), int(dut.out_bytes_o.value)
                last = int(dut.out_last_o.value)
                value = int(dut.out_data_o.value)
                row = b"".join(
                    (value >> (128 * i) & (2**128 - 1)).to_bytes(16, "big")
                    for i in range(self.lanes)
                )
                assert not any(row[size:]), "bytes behind the end"
                self.out[ctx].append((row[:size], bool(last), bool(int(dut.out_key_lost_o.value))))
                self.out_clocks.append((self.clocks, -(-size // 16)))
                self.out_contexts.append((self.clocks, ctx))
                if last:
                    unfinished -= 1
                    if jobs[ctx]:
                        waiting.append(ctx)
            if configuring is not None and int(dut.cfg_ready_o.value):
                ctx, data = configuring
                pending[ctx] = self.rows(data)
                begun[ctx] = self.clocks
                configuring = None
                dut.cfg_valid_i.value = 0
            if offered is not None:
                if int(dut.row_ready_o.value):
                    self.row_clocks.append(self.clocks)
                    offered = None
                    dut.row_valid_i.value = 0
                else:
                    self.lost_clocks += 1
            # What is next.
            if configuring is None and waiting:
                ctx = waiting.pop(0)
                message, first, steal, data = jobs[ctx].pop(0)
                configuring = (ctx, data)
                dut.cfg_valid_i.value = 1
                dut.cfg_ctx_i.value = ctx
                dut.cfg_mode_i.value = oracle.CODES[message.mode]
                dut.cfg_dir_i.value = int(message.decrypt)
                dut.cfg_init_i.value = int(first and first_init)
                dut.cfg_serial_i.value = int(steal)
                dut.cfg_key_slot_i.value = message.key_slot
                dut.cfg_tweak_slot_i.value = message.tweak_slot
                dut.cfg_iv_i.value = int.from_bytes(message.iv, "big")
            if gather and configuring is None and not waiting:
                gather = False
            elif not gather and offered is None and pending and rng.random() >= in_stall:
                choice = None
                if heed_room is None:
                    choice = rng.choice(list(pending))
                else:
                    room = rooms[2 - heed_room]
                    able = [
                        ctx
                        for ctx in pending
                        if room >> ctx & 1 and self.clocks - begun[ctx] > heed_room
                    ]
                    if able and in_turn:
                        choice = min(able, key=lambda ctx: (ctx - last_ctx - 1) % self.contexts)
                    elif able:
                        choice = rng.choice(able)
                if choice is not None:
                    last_ctx = choice
                    offered = pending[choice].pop(0)
                    if not pending[choice]:
                        del pending[choice]
                    dut.row_valid_i.value = 1
                    dut.row_ctx_i.value = choice
                    dut.row_data_i.value = offered[0]
                    dut.row_bytes_i.value = offered[1]
                    dut.row_last_i.value = offered[2]
            rooms = [rooms[1], int(dut.room_o.value)]
            new_ready = int(rng.random() >= out_stall)
            if new_ready != ready:
                ready = new_ready
                dut.out_ready_i.value = ready
        dut.out_ready_i.value = 0
        dut.cfg_valid_i.value = 0

    def check(self, queues: dict[int, list[Message]]) -> None:
        """Asserts that the recorded output of each message equals OpenSSL's."""
        for ctx, messages in queues.items():
            rows = iter(self.out[ctx])
            for message in messages:
                got = b""
                for _, _, data in message.pieces():
                    job = b""
                    while len(job) < len(data):
                        row, last, lost = next(rows)
                        job += row
                        assert last == (len(job) >= len(data)), "last in the wrong row"
                        assert lost == message.lost
                    assert len(job) == len(data)
                    got += job
                label = f"context {ctx} {message.mode} decrypt={message.decrypt} {message.jobs}"
                assert got == (bytes(len(got)) if message.lost else message.want), label
            assert next(rows, None) is None


def blocks_per_clock(out_clocks: list[tuple[int, int]], skip: float = 0.2) -> float:
    """Returns the AES blocks per clock in the middle of a run of mae_mode_bench."""
    begin = out_clocks[int(len(out_clocks) * skip)][0]
    end = out_clocks[int(len(out_clocks) * (1 - skip))][0]
    return sum(n for clock, n in out_clocks if begin < clock <= end) / (end - begin)


def spread(out_clocks: list[tuple[int, int]]) -> set[int]:
    """Returns the set of distances, in clocks, between consecutive output rows."""
    return {b - a for (a, _), (b, _) in itertools.pairwise(out_clocks)}


async def fresh(dut: SimHandleBase, parameters: dict, seed: int = 1) -> Bench:
    """Resets mae_mode_bench; returns a driver for it."""
    bench = Bench(dut, int(parameters["Lanes"]), int(parameters["Contexts"]), seed)
    await bench.start()
    cocotb.log.info("%s", parameters)
    return bench
