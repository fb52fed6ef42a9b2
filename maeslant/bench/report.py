# SPDX-License-Identifier: Apache-2.0
"""Measures AES in software and on the card, as in Kumar et al. and Fernando: `maeslant bench`.

Software is timed here, now; the card's clocks come out of simulation and are given as seconds at
a stated clock. One run gives both, so that their ratio means something on this CPU.
"""

import json
import secrets

from rich.console import Console
from rich.table import Table

from maeslant import progress
from maeslant.bench import published, software
from maeslant.bench.measure import cipher
from maeslant.bench.overhead.software import processor_name
from maeslant.build import configurations
from maeslant.driver.device import ENCRYPT, Device
from maeslant.errors import MaeslantError

CLOCK_MHZ = 200
DEVICE = "sim:stream?lanes=4&latency=50-300&order=shuffled&seed=1"
SIZES = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10]
SIZES += [1 << 20, 4 << 20, 16 << 20, 64 << 20]
QUICK_SIZES = [16, 1 << 10, 64 << 10, 1 << 20]
CIPHER = "aes-128-ecb"  # what Kumar and Fernando measured
# Kumar: nanoseconds a block of Tiny-AES (Figure 6), its accelerator (Figure 12), GB/s (Figure 13).
KUMAR_STEPS = {
    "KeyExpansion": 372,
    "AddRoundKey": 593,
    "MixColumns": 718,
    "SubAndShift": 482,
}
KUMAR_RATES = {"table": 0.083, "with": 1.5, "card": 1.650}
KUMAR_BYTES = 10**9  # "1 gigabyte"
KUMAR_CLOCKS = {"KeyExpansion": 50, "Rounds": 12}


def card_rates(sizes: list[int], advance) -> dict[int, dict[str, float]]:
    """Encrypts messages of each size on a simulated AES card; returns clocks and rates by size."""
    rates = {}
    with Device(DEVICE) as device:
        key = secrets.token_bytes(16)
        for size in sizes:
            device.reset_stats()
            device.crypt("ecb", ENCRYPT, key, None, bytes(size))
            clocks = device.stats()["core_clocks"]
            rates[size] = {"clocks": clocks, "rate": size / clocks * CLOCK_MHZ * 1e6}
            advance()
    return rates


def unit_clocks() -> dict[str, float]:
    """Returns the clocks that an iterative AES core takes for the key expansion and for a block."""
    found = {f.metric: f.value for f in cipher.figures("iter", configurations.get("iter"))}
    # Decryption starts with the last round key: it waits for the whole expansion, and the clock
    # in which the key is taken is the first of it.
    return {
        "KeyExpansion": found["AES-128 decrypt, wait for a new key"] + 1,
        "Rounds": found["AES-128 encrypt, clocks a block of one lane"],
    }


def extrapolated(sizes: list[dict]) -> dict[str, object]:
    """Returns the rates of 1 GB of data (Kumar's size), extrapolated from the smaller messages.

    The card's clocks grow from the second largest size to the largest as they would go on; software
    is as fast as for the largest size.
    """
    before, last = sizes[-2:]
    a_byte = (last["card_clocks"] - before["card_clocks"]) / (last["bytes"] - before["bytes"])
    clocks = round(last["card_clocks"] + a_byte * (KUMAR_BYTES - last["bytes"]))
    software_rates = {name: last[name] for name in ("openssl", "openssl_no_aes", "table")}
    rate = KUMAR_BYTES / clocks * CLOCK_MHZ * 1e6
    return {"bytes": KUMAR_BYTES, "card": rate, "card_clocks": clocks, **software_rates}


def collect(quick: bool, err: Console) -> dict[str, object]:
    """Measures AES on this CPU and on a simulated card for all message sizes; returns the rates."""
    sizes = QUICK_SIZES if quick else SIZES
    seconds = 1
    rows = []
    with progress.bar("timing", 4 * len(sizes) + 2, err) as bar:
        advance = bar.advance
        steps = software.table_steps(4 if quick else 64)
        advance()
        clocks = unit_clocks()
        advance()
        card = card_rates(sizes, advance)
        for size in sizes:
            row = {
                "bytes": size,
                "card": card[size]["rate"],
                "card_clocks": card[size]["clocks"],
            }
            row["openssl"] = software.openssl_rate(CIPHER, size, seconds, True)
            advance()
            row["openssl_no_aes"] = software.openssl_rate(CIPHER, size, seconds, False)
            advance()
            row["table"] = software.table_rate(size, 0.2 if quick else 1)
            advance()
            rows.append(row)
    return {
        "clock_mhz": CLOCK_MHZ,
        "cipher": CIPHER,
        "processor": processor_name(),
        "steps_ns": steps,
        "unit_clocks": clocks,
        "sizes": rows,
        "extrapolated": extrapolated(rows),
    }


def run(as_json: bool, quick: bool, console: Console, err: Console, publish: bool = False) -> None:
    """Measures AES on this CPU and on a simulated card, by message size; prints tables or JSON.

    ``publish`` writes the record, of all sizes, to results/bench.json.
    """
    if publish and quick:
        raise MaeslantError("--publish takes all sizes: no --quick")
    record = collect(quick, err)
    if publish:
        published.publish("bench", record)
    if as_json:
        print(json.dumps(record, indent=1))
        return
    if not console.is_terminal:
        console.width = 120
    console.print(steps_table(record))
    console.print(stages_table(record))
    console.print(rates_table(record))


def steps_table(record: dict) -> Table:
    """Returns a table of the times of AES steps in software (Figure 6 of Kumar et al.)."""
    steps = record["steps_ns"]
    table = Table("step", "ns/block here", "share", "ns/block Kumar", "share Kumar")
    table.title = "Table-based C AES-128 by step (Kumar, Figure 6)"
    total, total_p1 = sum(steps.values()), sum(KUMAR_STEPS.values())
    for name, value in steps.items():
        paper = KUMAR_STEPS[name]
        table.add_row(
            name,
            f"{value:.1f}",
            f"{100 * value / total:.0f} %",
            f"{paper}",
            f"{100 * paper / total_p1:.0f} %",
        )
    return table


def stages_table(record: dict) -> Table:
    """Returns a table of times of AES stages in hardware and software (Figure 12 of Kumar)."""
    steps = record["steps_ns"]
    rounds = sum(value for name, value in steps.items() if name != "KeyExpansion")
    nanoseconds = 1000 / record["clock_mhz"]
    table = Table("stage", "clocks", "clocks Kumar", "ns here", "table C ns here", "ratio")
    table.title = f"One iterative unit by stage at {record['clock_mhz']} MHz (Kumar, Figure 12)"
    for name, software_ns in (("KeyExpansion", steps["KeyExpansion"]), ("Rounds", rounds)):
        clocks = record["unit_clocks"][name]
        table.add_row(
            name,
            f"{clocks:.0f}",
            str(KUMAR_CLOCKS[name]),
            f"{clocks * nanoseconds:.1f}",
            f"{software_ns:.1f}",
            f"{software_ns / (clocks * nanoseconds):.1f}",
        )
    return table


def rates_table(record: dict) -> Table:
    """Returns a table of AES rates by message size, beside those of Kumar et al. and Fernando."""
    table = Table(
        "bytes",
        "card GB/s",
        "clocks",
        "OpenSSL",
        "no AES-NI",
        "table C",
        "card/OpenSSL",
    )
    table.title = (
        f"{record['cipher']}, one message: GB/s of the 4-lane card at {record['clock_mhz']} MHz "
        "beside one thread of this CPU (Kumar, Figure 13; Fernando)"
    )
    for row in (*record["sizes"], record["extrapolated"]):
        table.add_row(
            f"{row['bytes']:,}" + " (extrapolated)" * (row is record["extrapolated"]),
            f"{row['card'] / 1e9:.3f}",
            f"{row['card_clocks']:,}",
            f"{row['openssl'] / 1e9:.3f}",
            f"{row['openssl_no_aes'] / 1e9:.3f}",
            f"{row['table'] / 1e9:.3f}",
            f"{row['card'] / row['openssl']:.2f}",
        )
    table.caption = (
        f"Kumar had {KUMAR_RATES['card']} (its units), {KUMAR_RATES['with']} (AES-NI), "
        f"{KUMAR_RATES['table']} (Tiny-AES); Fernando 0.796 at peak, 0.459 with copies"
    )
    return table
