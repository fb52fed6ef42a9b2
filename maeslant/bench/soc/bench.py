# SPDX-License-Identifier: Apache-2.0
"""Runs the AES measurements on the simulated PicoRV32 system for `maeslant soc run`.

AES runs in software, over AXI4-Lite by the driver, and by memory jobs through the arbiter. Every
result is compared with OpenSSL's.
"""

import random
import struct
from collections.abc import Callable

from rich.console import Console

from maeslant import progress
from maeslant.bench.soc import jobs, oracle
from maeslant.bench.soc.jobs import DECRYPT, ENCRYPT, Job, Runner
from maeslant.build import firmware, simulator
from maeslant.errors import MaeslantError

LENGTHS = tuple(16 << shift for shift in range(0, 13, 2))
SOFTWARE_LENGTHS = tuple(length for length in LENGTHS if length <= 1024)  # each block is as dear
MODES = ("ecb", "cbc", "ctr")
KEY_BYTES = 16  # as in the paper
TEN = 160
DUPLEX_BUILD = "soc_duplex"
DUPLEX_LENGTHS = (16, 1024, 4096)
TWO_BUILD = "soc_two"
TWO_BYTES = 4096
# Two memory jobs at once: their modes, and if the second one reads what the first one writes.
PAIRS = (("ctr", "ctr", False), ("cbc", "cbc", False), ("ctr", "cbc", True), ("ctr", "cmac", True))
WORK = (0, 8192)  # what the CPU adds up meanwhile: the program itself
WAYS = {"software": jobs.SOFTWARE, "registers": jobs.REGISTERS, "arbiter": jobs.INTERRUPT}
DIRECTIONS = {"encrypt": ENCRYPT, "decrypt": DECRYPT}


class Bench:
    """Runs AES jobs with random data on a simulated PicoRV32 SoC and checks the results."""

    def __init__(self, seen: Callable[[int], None]) -> None:
        self.runner = Runner()
        self.duplex = Runner(DUPLEX_BUILD)
        self.two = Runner(TWO_BUILD)
        self.random = random.Random(1)
        self.seen = seen
        work = self.runner.system.read(*WORK)
        self.words = struct.unpack(f"<{len(work) // 4}I", work)

    def job(self, way: str, mode: str, direction: int, length: int, key_each: bool) -> Job:
        """Returns an AES job with random data and keys for the firmware of the PicoRV32 SoC."""
        count = max(2, length // 16) if key_each else 1
        return Job(
            WAYS[way],
            mode,
            direction,
            self.random.randbytes(length),
            [self.random.randbytes(KEY_BYTES) for _ in range(count)],
            key_each,
            iv=self.random.randbytes(16),
            work=WORK if way == "arbiter" else (0, 0),
        )

    def run(self, job: Job) -> Job:
        """Runs an AES job on the PicoRV32 SoC and checks the result; returns the finished job."""
        self.runner.run([job])
        self.check(job)
        if job.way == jobs.INTERRUPT and job.sum != self.sum(job.summed):
            raise MaeslantError(f"{job.mode}: the CPU's own sum is wrong")
        return job

    def check(self, job: Job) -> None:
        """Raises MaeslantError if an AES job of the PicoRV32 SoC failed or differs from OpenSSL."""
        what = f"{job.mode} of {len(job.data)} bytes"
        if job.error:
            raise MaeslantError(f"{what}: the driver's error {job.error}")
        text, tag = oracle.result(job) if job.kind == jobs.DATA else (b"", b"")
        if job.kind == jobs.DATA and (job.text != text or (tag and job.tag != tag)):
            raise MaeslantError(f"{what} differs from OpenSSL: the hardware or firmware is wrong")
        self.seen(1)

    def sum(self, count: int) -> int:
        """Returns the expected sum, modulo 2^32, of ``count`` words that the CPU adds up."""
        rounds, rest = divmod(count, len(self.words))
        return (rounds * sum(self.words) + sum(self.words[:rest])) % (1 << 32)


def _cost(job: Job) -> dict[str, int]:
    return {"clocks": job.clocks, "instructions": job.instructions}


def _blocks(bench: Bench) -> dict[str, dict[str, dict[str, int]]]:
    """Returns the clocks of AES for one and ten blocks on the PicoRV32 SoC (Figure 7 of Kale)."""
    rows: dict[str, dict[str, dict[str, int]]] = {"key": {}}
    for way in ("software", "registers"):
        key = bench.job(way, "ecb", ENCRYPT, 0, False)
        key.kind = jobs.KEY
        rows["key"][way] = _cost(bench.run(key))
    for name, length in (("", 16), ("_ten", TEN)):
        for direction, code in DIRECTIONS.items():
            row = rows[direction + name] = {}
            for way in WAYS:
                job = bench.job(way, "ecb", code, length, length == TEN)
                job.work = (0, 0)
                if way == "arbiter":
                    job.way = jobs.POLLED
                row[way] = _cost(bench.run(job))
    return rows


def _lengths(bench: Bench) -> list[dict[str, object]]:
    """Returns the clocks of AES messages on the PicoRV32 SoC, by length, mode and data path."""
    rows = []
    for way in WAYS:
        for mode in MODES if way != "software" else ("ecb",):
            for direction, code in DIRECTIONS.items():
                for key_each in (False, True) if way == "arbiter" else (False,):
                    for length in SOFTWARE_LENGTHS if way == "software" else LENGTHS:
                        job = bench.run(bench.job(way, mode, code, length, key_each))
                        row = {"way": way, "mode": mode, "direction": direction}
                        row |= {"key_each": key_each, "bytes": length, **_cost(job)}
                        row |= {"clocks_per_block": round(job.clocks * 16 / length, 2)}
                        if way == "arbiter":
                            row["words_summed"] = job.summed
                        rows.append(row)
    return rows


def _at_once(bench: Bench) -> list[dict[str, object]]:
    """Returns clocks of AES jobs in memory whose output the CPU reads before the job has ended."""
    rows = []
    for mode in MODES:
        for direction, code in DIRECTIONS.items():
            row: dict[str, object] = {"mode": mode, "direction": direction, "bytes": 4096}
            for name, way in (("at_once", jobs.GO_ON), ("job_alone", jobs.POLLED)):
                job = bench.job("arbiter", mode, code, 4096, False)
                job.way, job.work = way, (jobs.DESTINATION, 4096)
                bench.run(job)
                row[name] = job.clocks
                if way == jobs.GO_ON and job.sum != sum(struct.unpack("<1024I", job.text)) % 2**32:
                    raise MaeslantError(f"{mode}: the CPU read a block before it was written")
            rows.append(row)
    return rows


def _duplex(bench: Bench) -> list[dict[str, object]]:
    """Returns clocks of encryption and decryption on one peripheral: one by one, and at once."""
    rows = []
    for mode in MODES:
        for length in DUPLEX_LENGTHS:
            row: dict[str, object] = {"mode": mode, "bytes": length}
            pair = [bench.job("arbiter", mode, code, length, False) for code in DIRECTIONS.values()]
            pair[1].keys = pair[0].keys
            for job, area in zip(pair, (0, length), strict=True):
                job.work = (0, 0)
                job.source, job.destination = jobs.SOURCE + area, jobs.DESTINATION + area
            for name, job in zip(DIRECTIONS, pair, strict=True):
                job.way = jobs.DUPLEX
                bench.duplex.run([job])
                bench.check(job)
                row[name] = _cost(job)
            bench.duplex.run_both(*pair)
            for job in pair:
                bench.check(job)
            row["both"] = _cost(pair[0])
            rows.append(row)
    return rows


def _two(bench: Bench) -> dict[str, dict[str, object]]:
    """Returns clock cycles of two AES jobs in memory: one by one on one peripheral, at once on two.

    Once more the CPU adds up the last result meanwhile, to see that it reads nothing too early.
    """
    rows = {}
    for *modes, chained in PAIRS:
        pair = [bench.job("arbiter", mode, ENCRYPT, TWO_BYTES, False) for mode in modes]
        first, second = pair
        second.source += TWO_BYTES
        second.destination += TWO_BYTES
        if chained:
            second.source, second.laid_out = first.destination, False
        row: dict[str, object] = {"modes": modes, "chained": chained, "bytes": TWO_BYTES}
        for name in ("by_turns", "at_once", "added_up"):
            first.work = (second.destination, TWO_BYTES) if name == "added_up" else (0, 0)
            second.work = (0, 0)
            if name == "by_turns":
                for job in pair:
                    job.way = jobs.POLLED
                    bench.two.run([job])
                row[name] = first.clocks + second.clocks
            else:
                bench.two.run_two(*pair)
                row[name] = first.clocks
            if chained:
                second.data = first.text
                second.text = bench.two.system.read(second.destination, TWO_BYTES)
            if second.mode == "cmac":
                second.text = b""
            for job in pair:
                bench.check(job)
        words = struct.unpack(f"<{len(second.text) // 4}I", second.text)
        if second.text and first.sum != sum(words) % 2**32:
            raise MaeslantError(f"{modes}: the CPU read a block before it was written")
        rows["_".join(modes)] = row
    return rows


def collect(err: Console) -> dict[str, object]:
    """Builds the PicoRV32 SoC and runs all AES measurements on it; returns the record."""
    with err.status(f"making the system from its SystemVerilog ({simulator.ONCE})"):
        firmware.build(jobs.PROGRAM)
        Runner()
        Runner(DUPLEX_BUILD)
        Runner(TWO_BUILD)
    arbiter = len(MODES) * len(DIRECTIONS) * len(LENGTHS)
    total = 2 + 12 + len(SOFTWARE_LENGTHS) * 2 + 3 * arbiter + 4 * len(MODES)
    total += 4 * len(MODES) * len(DUPLEX_LENGTHS) + 6 * len(PAIRS)
    with progress.bar("running the firmware", total, err) as bar:
        bench = Bench(bar.advance)
        return {
            "key_bytes": KEY_BYTES,
            "blocks": _blocks(bench),
            "lengths": _lengths(bench),
            "at_once": _at_once(bench),
            "duplex": _duplex(bench),
            "two": _two(bench),
            "console": bench.runner.system.console.splitlines()[-1],
            "program_bytes": bench.runner.system.symbols["soc_zero_begin"],
        }
