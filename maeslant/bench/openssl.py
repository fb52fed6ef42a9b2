# SPDX-License-Identifier: Apache-2.0
"""Compares OpenSSL on this processor with the card as its provider, for `maeslant bench --openssl`.

What is compared is one AES-128-GCM message after the other under one key, in the calls of TLS 1.3.
The card's time is that of its simulated clocks at 200 MHz: without PCI Express, system calls and
the copies of the provider, so it is the least that a real card would take.
"""

import json
import os
import pathlib
import subprocess

from rich.console import Console
from rich.table import Table

from maeslant import paths
from maeslant.bench.overhead.software import processor_name
from maeslant.build import c_driver, simulator
from maeslant.errors import MaeslantError

SOURCE = pathlib.Path(__file__).with_name("evp_messages.c")
BUILD, MHZ = "stream4", 200
NANOSECONDS, QUICK_NANOSECONDS = 200_000_000, 1_000_000


def collect(quick: bool) -> dict[str, object]:
    """Runs the C program that times messages; returns nanoseconds and clocks by size."""
    provider = c_driver.build_provider()
    simulator.build(BUILD)
    program = c_driver.build_program(SOURCE, libraries=("crypto",))
    command = [str(program), str(provider.parent), str(QUICK_NANOSECONDS if quick else NANOSECONDS)]
    env = os.environ | {"MAESLANT_DEVICE": f"sim:{BUILD}"}
    env.setdefault("MAESLANT_SIM_PATH", str(paths.BUILD / "sim"))
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MaeslantError(f"evp_messages failed: {done.stderr.strip()}")
    rows = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    names = ("bytes", "nanoseconds", "clocks")
    return {
        "processor": processor_name(),
        "build": BUILD,
        "messages": [dict(zip(names, row, strict=True)) for row in rows],
    }


def table(record: dict) -> Table:
    """Builds the table of a message's time on the processor and on the card, by size."""
    shown = Table("bytes", "us, OpenSSL here", "us, card alone", "clocks", "card / OpenSSL")
    shown.title = (
        f"AES-128-GCM, one message after the other; {record['processor']}; "
        f"{record['build']}, simulated, at {MHZ} MHz"
    )
    for row in record["messages"]:
        ours, theirs = row["clocks"] / MHZ, row["nanoseconds"] / 1000
        shown.add_row(
            f"{row['bytes']:,.0f}",
            f"{theirs:.2f}",
            f"{ours:.2f}",
            f"{row['clocks']:,.0f}",
            f"{ours / theirs:.2g}",
        )
    return shown


def run(as_json: bool, quick: bool, console: Console) -> None:
    """Measures and prints the comparison."""
    record = collect(quick)
    if as_json:
        print(json.dumps(record))
    else:
        console.print(table(record))
