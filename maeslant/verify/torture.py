# SPDX-License-Identifier: Apache-2.0
"""Tests the memory arbiter: random jobs of one or two peripherals beside random CPU accesses.

``make torture``. The machine, the CPU and the model are sim/arbiter's: what the CPU reads and what
memory holds must be as if each job had been done at its start, by OpenSSL.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import pathlib
import re
import sys
import time

import cffi
from rich.console import Console
from rich.table import Table

from maeslant import paths
from maeslant.build import simulator
from maeslant.errors import MaeslantError

FOLDER = paths.ROOT / "sim" / "arbiter"
CHUNK = 50_000  # accesses of a machine
ROW_BITS = 9  # of its memory: small, so that accesses meet


class TortureError(MaeslantError):
    """Raised if the memory arbiter differs from the model in memory, registers or timing."""


@functools.cache
def _ffi() -> cffi.FFI:
    """Returns the CFFI declarations taken from sim/arbiter/mae_sim_arbiter.h."""
    ffi = cffi.FFI()
    text = (FOLDER / "mae_sim_arbiter.h").read_text()
    cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
    ffi.cdef(cdef.replace("MAE_SIM_API", ""))
    return ffi


def load(library: pathlib.Path | str) -> object:
    """Loads a simulator's library of memory arbiters."""
    return _ffi().dlopen(str(library))


@functools.cache
def _library(jobs: int) -> object:
    """Loads the memory arbiter's test library, built if out of date; returns the library."""
    sources = [FOLDER / "mae_arbiter_bench.sv", FOLDER / "mae_arbiter_bench.vlt"]
    name = "arbiter" if jobs == 1 else f"arbiter{jobs}"
    parameters, macros = {"RowBits": ROW_BITS, "Jobs": jobs}, {"ROW_BITS": ROW_BITS}
    return load(
        simulator.build_top(name, "mae_arbiter_bench", parameters, sources=sources, macros=macros)
    )


def chunk(seed: int, accesses: int, jobs: int = 1, loaded: object | None = None) -> dict:
    """Runs random CPU accesses on a simulated memory arbiter; returns counts of checked events.

    ``loaded``: another library than the one of the RTL.
    """
    text = _ffi().new("char[]", 65536)
    made = loaded or _library(jobs)
    status = made.mae_sim_arbiter_torture(seed, accesses, jobs, text, len(text))
    report = json.loads(_ffi().string(text).decode())
    if status:
        command = f"python -m maeslant.verify.torture --only {seed} --accesses {accesses}"
        command += f" --peripherals {jobs}"
        again = "" if loaded else f"; again: {command}"
        raise TortureError(f"{report['error']}\nclock {report['clock']}{again}")
    return report


def merge(reports: list[dict]) -> dict:
    """Returns the sums of the event counts of several runs of the memory arbiter's test."""
    total: dict = {"jobs": collections.Counter(), "holds": {}}
    for report in reports:
        for name, value in report.items():
            if name == "jobs":
                total["jobs"].update(value)
            elif name == "holds":
                for *key, count, longest, spare in value:
                    old = total["holds"].get(tuple(key), (0, 0, spare))
                    new = (old[0] + count, max(old[1], longest), min(old[2], spare))
                    total["holds"][tuple(key)] = new
            else:
                total[name] = total.get(name, 0) + value
    return total


def torture(accesses: int, seed: int, processes: int = 2, jobs: int = 1) -> dict:
    """Runs random CPU accesses on several memory arbiters in parallel; returns summed counts."""
    _library(jobs)
    sizes = [min(CHUNK, accesses - first) for first in range(0, accesses, CHUNK)]
    seeds = [1000 * seed + number for number in range(len(sizes))]
    if processes == 1:
        return merge([chunk(*work, jobs) for work in zip(seeds, sizes, strict=True)])
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        try:
            return merge(list(pool.map(chunk, seeds, sizes, [jobs] * len(sizes))))
        except MaeslantError:
            pool.shutdown(cancel_futures=True)
            raise


def show(total: dict, jobs: int, seconds: float) -> None:
    """Prints the memory arbiter's event counts and the CPU's longest waits."""
    console = Console(width=None if sys.stdout.isatty() else 100)
    table = Table("job", "times", title=f"jobs, {jobs} peripheral{'s' * (jobs > 1)}")
    for name, count in sorted(total["jobs"].items()):
        table.add_row(name, str(count))
    console.print(table)
    table = Table("mode", "direction", "out of turn", "access", title="accesses that were held")
    for title in ("times", "longest", "under its bound"):
        table.add_column(title, justify="right")
    for (mode, decrypt, express, kind), numbers in sorted(total["holds"].items()):
        direction = "decrypt" if decrypt else "encrypt"
        table.add_row(mode, direction, "yes" if express else "no", kind, *map(str, numbers))
    console.print(table)
    counts = {name: value for name, value in total.items() if isinstance(value, int)}
    print(", ".join(f"{value} {name.replace('_', ' ')}" for name, value in counts.items()))
    print(f"memory was the model's at every end of a job and at every read; {seconds:.0f} s")


def main() -> int:
    """Tests the memory arbiter by random CPU accesses, prints counts; returns 0 on success."""
    parser = argparse.ArgumentParser(prog="python -m maeslant.verify.torture", description=__doc__)
    parser.add_argument("--accesses", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--peripherals", type=int, choices=(1, 2), help="default: one, then two")
    parser.add_argument("--only", type=int, help="run only the machine of this seed")
    arguments = parser.parse_args()
    for jobs in (arguments.peripherals,) if arguments.peripherals else (1, 2):
        began = time.monotonic()
        try:
            if arguments.only is not None:
                total = merge([chunk(arguments.only, arguments.accesses, jobs)])
            else:
                total = torture(arguments.accesses, arguments.seed, arguments.processes, jobs)
        except MaeslantError as error:
            print(error, file=sys.stderr)
            return 1
        show(total, jobs, time.monotonic() - began)
    return 0


if __name__ == "__main__":
    sys.exit(main())
