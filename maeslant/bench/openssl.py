# SPDX-License-Identifier: Apache-2.0
"""Compares OpenSSL on this processor with the card as its provider, for `maeslant bench --openssl`.

One message goes after the other under one key. The card's time is that of its simulated clocks at
200 MHz, for AES-128-GCM in the calls of TLS 1.3. What the provider and the driver take of the
processor is measured on ``null:``, which moves no data, for AES-128-CTR. PCI Express and the
operating system are in neither, so the sum is less than a real card would take.
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


def measure(provider: pathlib.Path, device: str, cipher: str, quick: bool) -> list[list[float]]:
    """Times messages of a cipher through OpenSSL's API; returns a row of numbers for each size."""
    program = c_driver.build_program(SOURCE, libraries=("crypto",))
    length = QUICK_NANOSECONDS if quick else NANOSECONDS
    env = os.environ | {"MAESLANT_DEVICE": device}
    env.setdefault("MAESLANT_SIM_PATH", str(paths.BUILD / "sim"))
    command = [str(program), str(provider.parent), str(length), cipher]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MaeslantError(f"evp_messages failed: {done.stderr.strip()}")
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def collect(quick: bool) -> dict[str, object]:
    """Times GCM messages in OpenSSL, the provider and the simulated card; returns a record."""
    provider = c_driver.build_provider()
    simulator.build(BUILD)
    card = measure(provider, f"sim:{BUILD}", "AES-128-GCM", quick)
    own = measure(provider, "null:", "AES-128-CTR", quick)
    return {
        "processor": processor_name(),
        "build": BUILD,
        "messages": [
            {"bytes": bytes_, "openssl_ns": theirs, "provider_ns": row[2], "card_clocks": clocks}
            for (bytes_, theirs, _, clocks), row in zip(card, own, strict=True)
        ],
    }


def table(record: dict) -> Table:
    """Returns a table of a GCM message's time in OpenSSL, the provider and the card, by size."""
    shown = Table("bytes", "us, OpenSSL", "us, provider", "us, card", "clocks", "both / OpenSSL")
    shown.title = (
        f"AES-128-GCM, one message after the other; {record['processor']}; "
        f"{record['build']}, simulated, at {MHZ} MHz, without PCI Express"
    )
    for row in record["messages"]:
        theirs, own = row["openssl_ns"] / 1000, row["provider_ns"] / 1000
        card = row["card_clocks"] / MHZ
        shown.add_row(
            f"{row['bytes']:,.0f}",
            f"{theirs:.2f}",
            f"{own:.2f}",
            f"{card:.2f}",
            f"{row['card_clocks']:,.0f}",
            f"{(own + card) / theirs:.2g}",
        )
    return shown


def run(as_json: bool, quick: bool, console: Console) -> None:
    """Times GCM messages in OpenSSL, provider and card; prints the comparison as table or JSON."""
    record = collect(quick)
    if as_json:
        print(json.dumps(record))
    else:
        console.print(table(record))
