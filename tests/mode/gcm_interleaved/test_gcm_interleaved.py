# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_interleaved inside mae_dma_aes_client: GCM messages of many contexts at once.

Covers mae_gcm_row_router, mae_gcm_masks, mae_gcm_job_ends, mae_gcm_reports, mae_gcm_slot_powers,
mae_ghash_interleaved and mae_mode_side_blocks.
Messages of many contexts at once, cut into jobs, their rows mixed, beside jobs of other modes:
every row and tag is OpenSSL's (for IVs that it refuses, the text's).
"""

import dataclasses
import os
import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.dma.rings import FINAL, INIT, Desc, Status
from tests.mode import gcm_oracle
from tests.support import bench
from tests.support.stream import start

GCM, CTR = 8, 5
DECRYPT = 1
DATA, AAD, IV = 0, 1, 2
RAMP = 30  # clocks from the start of a job to its first row of output, and reserve


@dataclasses.dataclass
class Job:
    """Holds an AES job: descriptor, input data, expected output, tag and status."""

    desc: Desc
    data: bytes
    want: bytes | None  # what comes out; None: rows that sink
    tag: bytes = bytes(16)
    status: Status = Status.OK  # refusal, or the report's


class Host:
    """Models the DMA around mae_dma_aes_client: gives jobs and rows, takes rows and reports."""

    def __init__(self, dut, seed: int, stall: float) -> None:
        self.dut = dut
        self.random = random.Random(seed)
        self.stall = stall
        given = bench.parameters()
        self.lanes, self.contexts = int(given["Lanes"]), int(given["Contexts"])
        self.row_bytes = 16 * self.lanes
        self.keys: dict[int, bytes] = {}
        self.todo: list[list[Job]] = [[] for _ in range(self.contexts)]
        self.cookie = 0
        self.clocks = 0
        self.at: dict[tuple[str, int], int] = {}  # the clock of a job's event, by its cookie

    async def begin(self) -> None:
        """Resets mae_dma_aes_client and loads keys into all slots."""
        names = "clear_i write_valid_i write_i cfg_valid_i cfg_ctx_i cfg_desc_i row_valid_i"
        names += " row_ctx_i row_data_i row_bytes_i row_last_i row_ready_i"
        await start(self.dut, **dict.fromkeys(names.split(), 0))
        await self.rest()
        for slot, size in enumerate((16, 24, 32, 16)):
            await self.load(slot, self.random.randbytes(size))

    async def rest(self) -> None:
        """Waits until mae_dma_aes_client has erased its memories."""
        while int(self.dut.wiping_o.value):
            await RisingEdge(self.dut.clk_i)

    async def load(self, slot: int, key: bytes | None) -> None:
        """Loads a key into a key slot of mae_dma_aes_client, or erases the slot."""
        word = int.from_bytes((key or b"").ljust(32, b"\0"), "big")
        length = len(key or bytes(16)) // 8 - 2
        self.dut.write_i.value = ((slot << 1 | (key is None)) << 2 | length) << 256 | word
        self.dut.write_valid_i.value = 1
        await RisingEdge(self.dut.clk_i)
        while not int(self.dut.write_ready_o.value):
            await RisingEdge(self.dut.clk_i)
        self.dut.write_valid_i.value = 0
        self.keys[slot] = key or b""

    def job(self, context: int, data: bytes, want: bytes | None, **fields) -> Job:
        """Returns an AES job with a new cookie for a context."""
        self.cookie += 1
        extra = {name: fields.pop(name) for name in ("tag", "status") if name in fields}
        desc = Desc(self.cookie, context, 0, 0, len(data), **fields)
        return Job(desc, data, want, **extra)

    def cut(self, data: bytes, pieces: int, step: int = 16) -> list[bytes]:
        """Cuts data into pieces of whole blocks, the last piece of any length."""
        ends = sorted(
            self.random.randrange(len(data) // step + 1) * step for _ in range(pieces - 1)
        )
        return [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]

    def message(
        self, context: int, decrypt: bool, slot: int, sizes: tuple[int, int, int], **options
    ) -> list[Job]:
        """Returns the jobs of a random GCM message, with the output and tag expected by OpenSSL."""
        parts, tampered = options.get("parts", 1), options.get("tampered", False)
        tag_bytes = options.get("tag_bytes", 16)
        iv, aad, plain = (self.random.randbytes(n) for n in sizes)
        cipher, tag = gcm_oracle.encrypt(self.keys[slot], iv, aad, plain)
        given, want = (cipher, plain) if decrypt else (plain, cipher)
        base = {"op": GCM, "key_slot": slot}
        dir_flag = DECRYPT * decrypt
        jobs = []
        if len(iv) != 12:
            jobs.append(self.job(context, iv, None, flags=INIT | dir_flag, phase=IV, **base))
        for piece in self.cut(aad, parts) if aad or options.get("empty") else []:
            jobs.append(self.job(context, piece, None, flags=dir_flag, phase=AAD, **base))
        at = 0
        for piece in self.cut(given, parts) if given or not jobs or options.get("empty") else []:
            out = want[at : at + len(piece)]
            at += len(piece)
            jobs.append(self.job(context, piece, out, flags=dir_flag, **base))
        if jobs[0].desc.phase != IV:
            jobs[0].desc.flags |= INIT
            jobs[0].desc.nonce = iv
        if jobs[-1].desc.phase == IV:
            jobs.append(self.job(context, b"", b"", flags=dir_flag, **base))
        last = jobs[-1]
        last.desc.flags |= FINAL
        if decrypt:
            expected = bytearray(tag)
            if tampered:
                bit = self.random.choice(
                    (0, 8 * tag_bytes - 1, self.random.randrange(8 * tag_bytes))
                )
                expected[bit // 8] ^= 1 << bit % 8
                last.status = Status.BAD_TAG
            last.desc.iv = bytes(expected[:tag_bytes]) + self.random.randbytes(16 - tag_bytes)
            last.desc.tag_bytes = tag_bytes
        else:
            last.tag = tag
        return jobs

    def counter(self, context: int, slot: int, size: int) -> list[Job]:
        """Returns a job of plain CTR mode with its expected output."""
        iv, data = self.random.randbytes(16), self.random.randbytes(size)
        out = Cipher(algorithms.AES(self.keys[slot]), modes.CTR(iv)).encryptor().update(data)
        return [self.job(context, data, out, op=CTR, key_slot=slot, flags=INIT, iv=iv)]

    def ends_with_full_rows(self, data: bytes) -> bool:
        """Returns true if the data's last two rows have the full number of blocks."""
        return len(data) > self.row_bytes and -len(data) % self.row_bytes < 16

    async def run(self, limit: int = 40000, *, loose: bool = False) -> None:
        """Runs all jobs in `todo` on mae_dma_aes_client and asserts output, tag and status.

        loose: rows may come out as anything, and a job may be refused for its key.
        """
        dut, rng = self.dut, self.random
        rows: dict[int, list[tuple[bytes, bool]]] = {}  # by context, still to be given
        running: dict[int, Job] = {}
        out: dict[int, bytes] = {}
        open_ends: dict[int, set[str]] = {}
        offer: Job | None = None
        given: int | None = None
        end = self.clocks + limit
        while any(self.todo) or running or offer:
            # Inputs of this clock.
            if offer is None and rng.random() >= self.stall:
                idle = [c for c in range(self.contexts) if self.todo[c] and c not in running]
                if idle:
                    offer = self.todo[rng.choice(idle)][0]
            dut.cfg_valid_i.value = int(offer is not None)
            if offer:
                dut.cfg_ctx_i.value = offer.desc.context
                dut.cfg_desc_i.value = int.from_bytes(offer.desc.pack(), "little")
            if given is None and rng.random() >= self.stall:
                room = int(dut.client_room_o.value)
                ready = [c for c, r in rows.items() if r and room >> c & 1]
                given = rng.choice(ready) if ready else None
            dut.row_valid_i.value = int(given is not None)
            if given is not None:
                data, last = rows[given][0]
                junk = data + rng.randbytes(self.row_bytes - len(data))
                dut.row_ctx_i.value = given
                dut.row_data_i.value = int.from_bytes(junk, "little")
                dut.row_bytes_i.value = len(data)
                dut.row_last_i.value = int(last)
            take = rng.random() >= self.stall
            dut.row_ready_i.value = int(take)
            await RisingEdge(dut.clk_i)
            self.clocks += 1
            if offer:
                self.at.setdefault(("offered", offer.desc.cookie), self.clocks)
            assert self.clocks < end, f"hangs: {sorted(running)} {open_ends}"
            # What this clock did.
            if int(dut.report_valid_o.value):
                word = int(dut.report_o.value)
                context, status = word >> 136, Status(word >> 128 & 255)
                job = running[context]
                assert status == job.status, (job.desc, status)
                tag = (word & 2**128 - 1).to_bytes(16, "little")
                assert tag == (job.tag if status == Status.OK else bytes(16)), job.desc
                open_ends[context].remove("report")
                self.at["reported", job.desc.cookie] = self.clocks
            if take and int(dut.row_valid_o.value):
                context, last = int(dut.row_ctx_o.value), int(dut.row_last_o.value)
                count = int(dut.row_bytes_o.value)
                whole = int(dut.row_data_o.value).to_bytes(self.row_bytes, "little")
                job = running[context]
                if loose:
                    pass
                elif job.want is None or not job.data:
                    assert not any(whole)
                else:
                    out[context] += whole[:count]
                    assert not any(whole[count:])
                if last:
                    assert loose or job.want is None or out[context] == job.want, job.desc
                    open_ends[context].remove("rows")
                    self.at["out", job.desc.cookie] = self.clocks
            if given is not None and int(dut.row_ready_o.value):
                rows[given].pop(0)
                self.at["in", running[given].desc.cookie] = self.clocks
                given = None
            if offer and int(dut.cfg_ready_o.value):
                context = offer.desc.context
                status = Status(int(dut.cfg_status_o.value))
                self.todo[context].pop(0)
                if status == Status.OK:
                    self.at["taken", offer.desc.cookie] = self.clocks
                    accept = int(dut.cfg_accept_o.value)
                    assert accept == (2 | (offer.want is None) if offer.desc.op == GCM else 0)
                    step = self.row_bytes
                    pieces = [offer.data[i : i + step] for i in range(0, len(offer.data), step)]
                    pieces = pieces or [rng.randbytes(1)]  # how the DMA ends a job of no bytes
                    rows[context] = [(p, i == len(pieces) - 1) for i, p in enumerate(pieces)]
                    running[context], out[context] = offer, b""
                    open_ends[context] = {"rows"} | ({"report"} if offer.desc.op == GCM else set())
                else:
                    expected = Status.BAD_KEY if loose else offer.status
                    assert status == expected, (offer.desc, status)
                offer = None
            for context in [c for c, ends in open_ends.items() if not ends]:
                del open_ends[context], running[context]


async def host(dut, seed: int = 1, stall: float = 0.2) -> Host:
    """Resets mae_dma_aes_client, loads keys and returns the DMA model around it."""
    it = Host(dut, seed + int(os.environ.get("SEED", "0")), stall)
    await it.begin()
    return it


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def one_by_one(dut) -> None:
    """mae_gcm_interleaved gives OpenSSL's result for each kind of GCM message, one at a time."""
    it = await host(dut, stall=0)
    sizes = [
        (12, 0, 16),
        (12, 16, 0),
        (12, 0, 0),
        (12, 20, 50),
        (1, 0, 0),
        (7, 9, 40),
        (60, 13, 64),
        (16, 5, 1),
    ]
    sizes += [(12, 0, n) for n in (15, 17, it.row_bytes, it.row_bytes + 1, 5 * it.row_bytes - 3)]
    for decrypt in (False, True):
        for size in sizes:
            for slot in (0, 1, 2):
                it.todo[0] += it.message(0, decrypt, slot, size)
        it.todo[0] += it.message(0, decrypt, 2, (33, 100, 200), parts=3, empty=True)
    await it.run()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def mixed(dut) -> None:
    """mae_gcm_interleaved gives OpenSSL's results for messages of all contexts and CTR jobs."""
    for stall in (0.0, 0.3):
        it = await host(dut, 2, stall)
        rng = it.random
        for context in range(it.contexts):
            for _ in range(int(os.environ.get("MESSAGES", "6"))):
                if rng.random() < 0.2:
                    it.todo[context] += it.counter(context, rng.randrange(4), rng.randint(1, 300))
                    continue
                iv = 12 if rng.random() < 0.6 else rng.randint(1, 140)
                sizes = (
                    iv,
                    rng.choice((0, rng.randint(1, 100))),
                    rng.choice((0, rng.randint(1, 400))),
                )
                it.todo[context] += it.message(
                    context,
                    rng.random() < 0.5,
                    rng.randrange(4),
                    sizes,
                    parts=rng.randint(1, 3),
                    empty=rng.random() < 0.2,
                    tampered=rng.random() < 0.3,
                    tag_bytes=rng.choice((4, 8, 12, 13, 16)),
                )
        await it.run()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def counter_wraps(dut) -> None:
    """mae_gcm_interleaved's 32-bit counter wraps without a carry, in a row and between jobs."""
    it = await host(dut, 3, 0)
    h = gcm_oracle.hash_key(it.keys[0])
    for low in (2**32 - 1, 2**32 - 2, 2**32 - 2 * it.lanes - 2):
        iv = iv_of(h, it.random.randbytes(12) + low.to_bytes(4, "big"))
        plain = it.random.randbytes(16 * 40 + 5)
        cipher, tag = gcm_oracle.encrypt(it.keys[0], iv, b"", plain)
        it.todo[0] += [
            it.job(0, iv, None, op=GCM, flags=INIT, phase=IV),
            it.job(0, plain[:256], cipher[:256], op=GCM),
            it.job(0, plain[256:], cipher[256:], op=GCM, flags=FINAL, tag=tag),
        ]
    await it.run()


def iv_of(h: int, j0: bytes) -> bytes:
    """Returns the 16-byte IV for which GCM's first counter block is J0."""
    inverse, power = 1 << 127, h
    for _ in range(127):  # h to the power 2^128 - 2
        power = gcm_oracle.multiply(power, power)
        inverse = gcm_oracle.multiply(inverse, power)
    block = gcm_oracle.multiply(int.from_bytes(j0, "big"), inverse) ^ 128
    return gcm_oracle.multiply(block, inverse).to_bytes(16, "big")


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def refusals(dut) -> None:
    """mae_gcm_interleaved refuses illegal jobs; their message then continues right."""
    it = await host(dut, 4, 0)
    good = it.message(0, True, 1, (12, 30, 100))
    other = {"op": GCM, "key_slot": 1}
    bad = [
        (Status.BAD_OP, {"flags": INIT, "phase": 3}),
        (Status.BAD_OP, {"flags": INIT, "tweak_slot": 1}),
        (Status.BAD_OP, {"flags": 0, "phase": IV}),
        (Status.BAD_OP, {"flags": INIT | FINAL, "phase": IV}),
        (Status.BAD_OP, {"flags": INIT, "phase": IV, "nonce": bytes(11) + b"\1"}),
        (Status.BAD_OP, {"flags": 0, "nonce": b"\1" + bytes(11)}),
        (Status.BAD_OP, {"flags": INIT | FINAL, "tag_bytes": 16}),
        (Status.BAD_OP, {"flags": INIT, "iv": b"\1" + bytes(15)}),
        (Status.BAD_LENGTH, {"flags": INIT | FINAL | DECRYPT, "tag_bytes": 3}),
        (Status.BAD_LENGTH, {"flags": INIT | FINAL | DECRYPT, "tag_bytes": 17}),
        (Status.BAD_KEY, {"flags": INIT, "key_slot": 9}),
        (Status.BAD_KEY, {"flags": INIT, "key_slot": 200}),
        (Status.BAD_OP, {"op": CTR, "flags": INIT | FINAL}),
        (Status.BAD_OP, {"op": CTR, "flags": INIT, "phase": 1}),
        (Status.BAD_OP, {"op": CTR, "flags": INIT, "nonce": b"\1" + bytes(11)}),
    ]
    refused = [it.job(0, bytes(16), None, status=s, **{**other, **f}) for s, f in bad]
    none = it.job(0, b"", None, status=Status.BAD_LENGTH, flags=INIT, phase=IV, **other)
    unbegun = it.job(1, bytes(16), None, status=Status.BAD_OP, flags=FINAL, **other)
    it.todo[0] = [good[0], *refused, none, *good[1:]]
    it.todo[1] = [unbegun, *it.message(1, False, 1, (12, 0, 16))]
    again = it.job(1, bytes(16), None, status=Status.BAD_OP, flags=FINAL, **other)
    it.todo[1] += [again]  # the end of a message closes it
    await it.run()


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def key_goes_away(dut) -> None:
    """If a message's key is erased at any clock, mae_gcm_interleaved gives no tag."""
    it = await host(dut, 5, 0)
    for clocks in (*range(1, 60), 100, 200):
        decrypt = clocks % 2 == 1
        it.todo[0] = it.message(0, decrypt, 3, (12, 0, (clocks + 40) * it.row_bytes))
        job = it.todo[0][-1]
        job.status = Status.BAD_TAG if decrypt else Status.BAD_KEY
        runner = cocotb.start_soon(it.run(loose=True))
        for _ in range(clocks):
            await RisingEdge(dut.clk_i)
        await it.load(3, None)
        for _ in range(40):
            await RisingEdge(dut.clk_i)
        await it.load(3, it.random.randbytes(16))  # the message may wait for one
        await runner
    it.todo[0] = it.message(0, False, 3, (12, 10, 100))
    await it.run()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def key_changes_between_jobs(dut) -> None:
    """If a message's key changes between two jobs, mae_gcm_interleaved gives no tag."""
    it = await host(dut, 7, 0)
    for decrypt in (False, True):
        for change in ("write", "erase and write", "name another"):
            jobs = it.message(0, decrypt, 3, (12, 20, 100), parts=2)
            for job in jobs[:-1]:
                it.todo[0] = [job]
                await it.run(loose=True)
            if change == "name another":
                jobs[-1].desc.key_slot = 0
            if change == "erase and write":
                await it.load(3, None)
            if change != "name another":
                await it.load(3, it.random.randbytes(16))
            jobs[-1].status = Status.BAD_TAG if decrypt else Status.BAD_KEY
            it.todo[0] = [jobs[-1]]
            await it.run(loose=True)
        it.todo[0] = it.message(0, decrypt, 3, (12, 10, 100))
        await it.run()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def message_not_ended(dut) -> None:
    """mae_gcm_interleaved hashes a new message right though its context's last one has no end."""
    it = await host(dut, 8, 0)
    for size in (0, 5, 3 * it.row_bytes):
        for phase in (AAD, DATA):
            data = it.random.randbytes(size)
            want = data if phase == DATA else None
            fields = {"op": GCM, "key_slot": 1, "flags": INIT, "phase": phase, "nonce": bytes(12)}
            it.todo[0] = [it.job(0, data, want, **fields)]
            await it.run(loose=True)
            it.todo[0] = it.message(0, size == 5, 1, (12, 10, 100))
            await it.run()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def clocks(dut) -> None:
    """mae_gcm_interleaved takes the clocks of its header at a single message's start and end."""
    it = await host(dut, 6, 0)

    def took(job: Job, since: str, until: str) -> int:
        return it.at[until, job.desc.cookie] - it.at[since, job.desc.cookie]

    it.todo[0] += it.counter(0, 3, 16)
    await it.run()  # until the memories are erased
    for slot, rounds in enumerate((10, 12, 14)):
        it.todo[0] += it.message(0, False, slot, (12, 0, 16))
        await it.run()  # brings the key into a bank
        # A message behind its key's write waits for the powers of H, a later one does not.
        await it.load(slot, it.random.randbytes(4 * (rounds - 6)))
        waits, later = (it.message(0, False, slot, (12, 0, 16)) for _ in range(2))
        it.todo[0] += [*waits, *later]
        await it.run()
        powers = rounds + (5 if it.lanes == 1 else 2 * it.lanes + 2)
        # It is offered a clock after the write.
        assert took(waits[0], "offered", "taken") == powers - 1, took(waits[0], "offered", "taken")
        assert took(later[0], "offered", "taken") == 0
        for decrypt in (False, True):
            for size in (
                (12, 16, 0),
                (12, 0, 0),
                (12, 0, 16),
                (12, 0, 640),
                (12, 40, 50),
                (16, 0, 5),
            ):
                jobs = it.message(0, decrypt, slot, size)
                it.todo[0] += jobs
                await it.run()
                assert all(took(job, "offered", "taken") == 0 for job in jobs)
                joins = 2 * it.ends_with_full_rows(jobs[-1].data)  # of the two sums
                if jobs[-1].data and jobs[-1].want is not None:
                    assert took(jobs[-1], "out", "reported") == 5 + joins
                else:
                    assert took(jobs[-1], "in", "reported") == rounds + 11
        # Two ends at once.
        halves = [it.message(context, False, slot, (12, 32, 0), parts=2) for context in (0, 1)]
        for half in (0, 1):
            for context, jobs in enumerate(halves):
                it.todo[context].append(jobs[half])
            await it.run()
        reports = sorted(it.at["reported", jobs[1].desc.cookie] for jobs in halves)
        # As many masks are computed at a time as there are lanes.
        assert reports[1] - reports[0] == (rounds + 7 if it.lanes == 1 else 3)
    # A message alone takes a row every clock, in CTR with a partial last block, too.
    size = 200 * it.row_bytes
    for jobs in (
        it.message(0, False, 0, (12, 0, size)),
        it.message(0, True, 0, (12, 0, size)),
        it.counter(0, 0, size - 5),
    ):
        it.todo[0] += jobs
        await it.run()
        assert took(jobs[0], "taken", "out") <= 200 + RAMP, took(jobs[0], "taken", "out")


@pytest.mark.parametrize("small", [0, 1])
@pytest.mark.parametrize(
    "lanes, contexts", [(1, 3), (2, 8), pytest.param(4, 16, marks=pytest.mark.slow)]
)
def test_gcm_interleaved(lanes: int, contexts: int, small: int) -> None:
    """Builds mae_dma_aes_client for several lanes and contexts and runs this file's tests.

    small: with memories of one write port, and rounds in few LUTs.
    """
    parameters = {"Lanes": lanes, "Contexts": contexts, "KeySlots": 4, "Small": small}
    if small:
        parameters |= {"KeyBanks": 1, "Sbox": 5}
    bench.run("mae_dma_aes_client", parameters=parameters)
