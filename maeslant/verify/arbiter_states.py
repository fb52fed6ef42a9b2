# SPDX-License-Identifier: Apache-2.0
"""Explores every reachable state of the memory arbiter with small jobs: `make prove`.

The arbiter's own RTL with a memory of 8 rows and a toy in the peripheral's place (sim/states). For
each set of jobs every state is tried that can be reached by starting them one after the other, with
any accesses of the CPU (any row, read or write, at any clock, as many as it likes), any pauses of
the toy, a wipe and a reset at any clock. No read is stale, what memory holds at the end is right,
and every wait has an end, of which the longest is printed. Pairs of jobs run on two toys at once,
and the second one starts at any clock of the first.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import re
import sys
import time
from collections.abc import Sequence

import cffi
from rich.console import Console
from rich.table import Table

from maeslant import paths
from maeslant.build import simulator
from maeslant.build.generated.mae_peripheral import Mode
from maeslant.driver import device
from maeslant.errors import MaeslantError

FOLDER = paths.ROOT / "sim" / "states"
ROWS = 8
PLAIN = tuple(Mode[name.upper()] for name in device.MODES)
ECB, CBC, PCBC, CFB = Mode.ECB, Mode.CBC, Mode.PCBC, Mode.CFB
OFB, CTR, XTS = Mode.OFB, Mode.CTR, Mode.XTS
GCM = 7  # mode_e's Ctr32, the counter of GCM


class ProofError(MaeslantError):
    """Raised if the memory arbiter reaches an illegal state."""


@dataclasses.dataclass(frozen=True)
class Job:
    """Describes a job of a test peripheral at the memory arbiter: mode, addresses, length."""

    mode: int
    decrypt: bool
    source: int
    destination: int
    bytes: int
    init: bool = True
    moves: bool = True
    bad_tag: bool = False
    keys: int | None = None
    word: int = 0  # of a row, that the CPU reads and writes

    def __str__(self) -> str:
        name = "GCM" if self.mode == GCM else Mode(self.mode).name
        name += " decrypt" if self.decrypt else " encrypt"
        name += "" if self.init else ", goes on"
        name += ", wrong tag" if self.bad_tag else ""
        if not self.moves:
            return f"{name}, no output, {self.source}, {self.bytes} B"
        keys = "" if self.keys is None else f", keys {self.keys}"
        return f"{name}, {self.source} to {self.destination}, {self.bytes} B{keys}"


@functools.cache
def _ffi() -> cffi.FFI:
    """Returns the CFFI declarations taken from sim/states/mae_sim_states.h."""
    ffi = cffi.FFI()
    text = (FOLDER / "mae_sim_states.h").read_text()
    cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
    ffi.cdef(cdef.replace("MAE_SIM_API", ""))
    return ffi


@functools.cache
def _library(depth: int, toys: int) -> object:
    """Builds and loads the memory arbiter's model for given block and peripheral numbers."""
    names = ("mae_toy_peripheral.sv", "mae_arbiter_toy.sv", "mae_arbiter_toy.vlt")
    name = f"states{depth}" if toys == 1 else f"states{depth}_{toys}"
    parameters = {"Depth": depth, "Jobs": toys}
    sources = [FOLDER / source for source in names]
    library = simulator.build_top(name, "mae_arbiter_toy", parameters, sources=sources)
    return _ffi().dlopen(str(library))


def explore(
    jobs: Sequence[Job], accesses: int = 0, depth: int = 4, toys: int = 1, limit: int = 20_000_000
) -> dict[str, int]:
    """Visits all states that the memory arbiter reaches with given jobs; returns counts by name.

    ``accesses`` limits the CPU's accesses during a job; 0 means any number. With two ``toys`` there
    are two jobs, one for each.
    """
    assert toys == 1 or len(jobs) == toys
    given = _ffi().new("struct mae_states_job[]", len(jobs))
    for to, job in zip(given, jobs, strict=True):
        for name in ("mode", "decrypt", "init", "moves", "bad_tag", "source", "destination"):
            setattr(to, name, int(getattr(job, name)))
        to.plain = job.mode != GCM
        to.key_each = job.keys is not None
        to.keys = job.keys or 0
        to.bytes, to.word = job.bytes, job.word
    text = _ffi().new("char[]", 4096)
    run = _library(depth, toys).mae_sim_states_run
    status = run(given, len(jobs), toys, accesses, limit, text, len(text))
    report = json.loads(_ffi().string(text).decode())
    if status:
        raise ProofError(f"{report['error']} ({'; '.join(map(str, jobs))})")
    return report


@dataclasses.dataclass(frozen=True)
class Case:
    """Describes a state-space exploration of the memory arbiter: jobs, CPU accesses, depth."""

    jobs: tuple[Job, ...]
    accesses: int = 0
    depth: int = 4
    toys: int = 1

    def __str__(self) -> str:
        some = f" ({self.accesses} accesses)" if self.accesses else ""
        some += f" (Depth {self.depth})" if self.depth != 4 else ""
        return ("; " if self.toys == 1 else " beside ").join(map(str, self.jobs)) + some


def small() -> list[Case]:
    """Returns the short state-space explorations of the memory arbiter: two blocks per job."""
    apart, place = (0, 4), (0, 0)
    found = [
        Case((Job(mode, decrypt, *where, 32),))
        for mode in PLAIN
        for decrypt in (False, True)
        for where in (apart, place)
    ]
    found += [Case((Job(CBC, True, 2, 1, 32),)), Case((Job(CTR, False, 2, 1, 32),))]
    found += [Case((Job(CTR, False, 0, 4, 20, word=word),)) for word in (0, 1, 3)]
    found += [Case((Job(CFB, True, 4, 4, 20, word=word),)) for word in (0, 1)]
    found += [Case((Job(CTR, False, 6, 3, 32, init=False),))]
    found += [Case((Job(mode, mode == CBC, 0, 4, 32, keys=2),)) for mode in (ECB, CBC, CTR)]
    found += [Case((Job(CBC, False, 0, 0, 32, keys=6),))]
    for decrypt, bad in ((False, False), (True, False), (True, True)):
        for where in (apart, place, (2, 1)):
            found.append(Case((Job(GCM, decrypt, *where, 32, bad_tag=bad),)))
    found += [Case((Job(GCM, True, 0, 4, 20, bad_tag=True, word=1),))]
    found += [Case((Job(GCM, False, 0, 0, 32, moves=False),))]
    found += [Case((Job(CBC, True, 0, 4, 32), Job(ECB, False, 4, 4, 32)))]
    found += [Case((Job(CFB, True, 6, 2, 32), Job(GCM, True, 1, 0, 32, bad_tag=True)))]
    found += [Case((Job(CBC, True, 0, 4, 48),), 1), Case((Job(CFB, True, 4, 4, 64),), 2)]
    found += [Case((Job(ECB, False, 0, 4, 64),), 2), Case((Job(ECB, True, 0, 0, 112),), 1)]
    found += [Case((Job(ECB, False, 0, 0, 48, keys=4),), 1)]
    return found


def pairs() -> list[Case]:
    """Returns state-space explorations of two jobs, for all ways their memory areas overlap.

    A block each: what one reads or writes, the other one writes; keys; a result that is none until
    its tag is checked. Then a job of two blocks, whose second one can be made out of turn for the
    CPU while the other job needs it.
    """
    ecb, cbc, ctr = Job(ECB, False, 0, 2, 16), Job(CBC, True, 0, 2, 16), Job(CTR, False, 0, 2, 16)
    two_blocks = Job(ECB, False, 0, 2, 32)
    two = [
        (ecb, Job(CTR, False, 2, 0, 16)),
        (ctr, Job(CFB, True, 4, 2, 16)),
        (Job(ECB, False, 0, 0, 16), Job(CTR, False, 0, 0, 16)),
        (cbc, Job(ECB, False, 4, 0, 16)),
        (ecb, Job(CBC, True, 2, 4, 16)),
        (ecb, Job(CTR, False, 4, 6, 16)),
        (Job(CTR, False, 0, 2, 5), Job(CTR, False, 4, 2, 9)),
        (ecb, Job(CBC, False, 4, 5, 16, keys=2)),
        (Job(ECB, False, 0, 2, 16, keys=4), Job(CBC, True, 6, 4, 16)),
        (Job(GCM, True, 0, 2, 16, bad_tag=True), Job(ECB, False, 2, 4, 16)),
        (ecb, Job(GCM, True, 2, 4, 16)),
        (cbc, Job(GCM, False, 2, 2, 16, moves=False)),
        (two_blocks, Job(CTR, False, 3, 5, 16)),
        (two_blocks, Job(CTR, False, 5, 3, 16)),
    ]
    return [Case(jobs, 1, toys=2) for jobs in two]


def whole() -> list[Case]:
    """Returns the long state-space explorations of the memory arbiter: 3 or 4 blocks per job."""
    found = small() + pairs()
    for mode, decrypt in ((ECB, False), (CBC, True), (CFB, True), (XTS, True)):
        found.append(Case((Job(mode, decrypt, 0, 4, 48),)))
    found.append(Case((Job(CTR, False, 5, 2, 36, word=3),)))
    for mode, decrypt in ((ECB, True), (CBC, True), (CTR, False), (XTS, False), (CBC, False)):
        found.append(Case((Job(mode, decrypt, 2, 2, 64),)))
        found.append(Case((Job(mode, decrypt, 3, 1, 48),)))
        found.append(Case((Job(mode, decrypt, 0, 4, 64),), 2))
        found.append(Case((Job(mode, decrypt, 1, 0, 96),), 2))
        found.append(Case((Job(mode, decrypt, 0, 0, 128),), 2))
    found.append(Case((Job(CBC, True, 0, 4, 64),), 3))
    found.append(Case((Job(OFB, False, 0, 5, 48),)))
    found.append(Case((Job(ECB, False, 0, 0, 64, keys=4),)))
    found.append(Case((Job(CBC, True, 5, 2, 48, keys=5),)))
    for mode, decrypt in ((ECB, False), (CBC, True), (PCBC, False)):
        found.append(Case((Job(mode, decrypt, 2, 2, 64),), depth=2))
        found.append(Case((Job(mode, decrypt, 4, 1, 48),), depth=2))
    found.append(Case((Job(CTR, False, 0, 0, 48, keys=4),), depth=2))
    for bad in (False, True):
        found.append(Case((Job(GCM, True, 0, 4, 52, bad_tag=bad),)))
        found.append(Case((Job(GCM, True, 2, 0, 80, bad_tag=bad),), 3))
    return found


def prove(cases: Sequence[Case], processes: int = 2) -> list[dict[str, int]]:
    """Runs state-space explorations of the memory arbiter; returns a dict of counts for each."""
    for build in {(case.depth, case.toys) for case in cases}:
        _library(*build)
    works = [(case.jobs, case.accesses, case.depth, case.toys) for case in cases]
    if processes == 1:
        return [explore(*work) for work in works]
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        futures = [pool.submit(explore, *work) for work in works]
        try:
            return [future.result() for future in futures]
        except MaeslantError:
            pool.shutdown(cancel_futures=True)
            raise


def main() -> int:
    """Explores the memory arbiter's states, prints counts; returns 0 if no state is illegal."""
    parser = argparse.ArgumentParser(
        prog="python -m maeslant.verify.arbiter_states", description=__doc__
    )
    parser.add_argument(
        "--small", action="store_true", help="explore only the cases of `make test`"
    )
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    began = time.monotonic()
    cases = small() if arguments.small else whole()
    try:
        reports = prove(cases, arguments.processes)
    except MaeslantError as error:
        print(error, file=sys.stderr)
        return 1
    table = Table("jobs", title="every state of the memory arbiter with 8 rows")
    columns = ("states", "transitions", "read_wait", "write_wait", "source_wait", "job")
    for title in columns:
        table.add_column(title.replace("_", " "), justify="right")
    for case, report in zip(cases, reports, strict=True):
        table.add_row(str(case), *(str(report[name]) for name in columns))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    states = sum(report["states"] for report in reports)
    transitions = sum(report["transitions"] for report in reports)
    print(
        f"{len(cases)} sets of jobs, {states} states, {transitions} transitions: no read is stale, "
        f"every wait and every job ends; {time.monotonic() - began:.0f} s"
    )
    print("waits: clocks in which the toy goes on, 8 of them where the marks are being cleared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
