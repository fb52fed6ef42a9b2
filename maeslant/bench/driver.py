# SPDX-License-Identifier: Apache-2.0
"""Measures the C driver's own time for a job, beside memcpy, for `maeslant bench --driver`.

The device is ``null:``, which completes every job at once and moves no data: what is timed is the
library alone, without a bus and without the card.
"""

import json
import pathlib
import subprocess

from rich.console import Console
from rich.table import Table

from maeslant.bench.overhead.software import processor_name
from maeslant.build import c_driver
from maeslant.errors import MaeslantError

SOURCE = pathlib.Path(__file__).with_name("driver_jobs.c")
ROUNDS, QUICK_ROUNDS = 2000, 20
MODES = {"ctr": "CTR", "xts": "XTS"}


def collect(quick: bool) -> dict[str, object]:
    """Times jobs of the C driver and memcpy by a C program; returns the nanoseconds by name."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    command = [str(c_driver.build_program(SOURCE)), str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MaeslantError(f"driver_jobs failed: {done.stderr.strip()}")
    lines = (line.split() for line in done.stdout.splitlines())
    times = {name: float(value) for name, value in lines}
    return {"processor": processor_name(), "rounds": rounds, "nanoseconds": times}


def jobs_table(record: dict) -> Table:
    """Returns a table of the C driver's nanoseconds for a job, submitted alone or 256 at once."""
    times = record["nanoseconds"]
    table = Table("job of 1,024 bytes", "ns, mae_submit", "ns, mae_submit_many")
    table.title = (
        f"The driver's time for a job on null:, without bus and card; {record['processor']}"
    )
    for name, words in MODES.items():
        table.add_row(words, f"{times[name + '_single']:.0f}", f"{times[name + '_many']:.0f}")
    return table


def copies_table(record: dict) -> Table:
    """Returns a table of memcpy's nanoseconds by size, and of a driver's job as multiples of it."""
    times = record["nanoseconds"]
    table = Table("bytes", "ns, memcpy", "a CTR job / memcpy")
    table.title = "The same machine's memcpy of a message"
    for name, value in times.items():
        if name.startswith("copy_"):
            size = int(name.removeprefix("copy_"))
            table.add_row(f"{size:,}", f"{value:.1f}", f"{times['ctr_many'] / value:.2g}")
    return table


def run(as_json: bool, quick: bool, console: Console) -> None:
    """Times the C driver's jobs and memcpy; prints the nanoseconds as tables or as JSON."""
    record = collect(quick)
    if as_json:
        print(json.dumps(record, indent=1))
        return
    console.print(jobs_table(record))
    console.print(copies_table(record))
