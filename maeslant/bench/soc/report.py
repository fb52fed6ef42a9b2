# SPDX-License-Identifier: Apache-2.0
"""Prints and draws the AES measurements of the PicoRV32 system (Kale's Figure 7)."""

import json
import pathlib

from rich import box
from rich.console import Console
from rich.table import Table

from maeslant import paths
from maeslant.bench.published import publish
from maeslant.bench.soc import bench, curve

PICTURE = paths.BUILD / "reports" / "soc.svg"
PUBLISHED = paths.RESULTS / "soc.svg"
# Kale, Figure 7: clocks and instructions. Its ten blocks with ten keys took as long each as one.
KALE_SOFTWARE = {"key": (5945, 1411), "encrypt": (31492, 6849), "decrypt": (277476, 64608)}
KALE_PERIPHERAL = {"encrypt": (1132, 809), "decrypt": (1111, 811)}
KALE_PERIPHERAL |= {"encrypt_ten": (1112, 814), "decrypt_ten": (1112, 940)}
TITLES = {
    "key": "key expansion / load",
    "encrypt": "encrypt a block",
    "decrypt": "decrypt a block",
    "encrypt_ten": "encrypt, 10 blocks and keys",
    "decrypt_ten": "decrypt, 10 blocks and keys",
}
NOTES = """\
AES-128. Ten blocks: a tenth of the whole, key expansion or load included; Kale's peripheral gets
its key with each block. Clocks are the CPU's, from the call to its return, and by the arbiter to
the end of the interrupt; the driver's own work is in all of them. Every result equals OpenSSL's."""


def run(as_json: bool, picture: pathlib.Path, console: Console, err: Console) -> None:
    """Measures AES on the simulated PicoRV32 system; prints tables, or JSON, and draws a plot.

    With the published picture goes the published record, results/soc.json.
    """
    record = bench.collect(err)
    curve.draw(record, {"software": KALE_SOFTWARE, "peripheral": KALE_PERIPHERAL}, picture)
    if picture == PUBLISHED:
        publish("soc", record)
    if as_json:
        papers = {"software": KALE_SOFTWARE, "peripheral": KALE_PERIPHERAL}
        print(json.dumps(record | {"paper": papers, "picture": str(picture)}, indent=1))
        return
    if not console.is_terminal:
        console.width = 120
    console.print(blocks_table(record))
    console.print(lengths_table(record))
    console.print(meanwhile_table(record))
    console.print(at_once_line(record), highlight=False)
    console.print(duplex_table(record))
    console.print(two_table(record))
    console.print(NOTES, highlight=False)
    console.print(f"The curve of clocks a block over length: {picture}", highlight=False)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    return table


def _pair(cost: dict[str, int] | tuple[int, int] | None, share: int = 1) -> str:
    """Returns the CPU's cost of an AES job as the text "clocks / instructions"."""
    if cost is None:
        return ""
    clocks, instructions = cost.values() if isinstance(cost, dict) else cost
    return f"{clocks / share:,.0f} / {instructions / share:,.0f}"


def blocks_table(record: dict) -> Table:
    """Returns a table of the costs of AES on one and on ten blocks, beside Kale's Figure 7."""
    table = _table(
        "Clocks / instructions on the PicoRV32",
        "",
        "software",
        "AXI4-Lite",
        "arbiter",
        "Kale software",
        "Kale peripheral",
    )
    for name, costs in record["blocks"].items():
        share = 10 if name.endswith("_ten") else 1
        ours = [_pair(costs.get(way), share) for way in bench.WAYS]
        paper = [_pair(KALE_SOFTWARE.get(name)), _pair(KALE_PERIPHERAL.get(name))]
        table.add_row(TITLES[name], *ours, *paper)
    return table


def _rows(record: dict) -> dict[tuple[str, str, str, bool], dict[int, dict]]:
    """Groups a record's messages on the PicoRV32 system; returns them by table row and length."""
    found: dict[tuple[str, str, str, bool], dict[int, dict]] = {}
    for row in record["lengths"]:
        key = (row["way"], row["mode"], row["direction"], row["key_each"])
        found.setdefault(key, {})[row["bytes"]] = row
    return found


def _size(count: int) -> str:
    return f"{count} B" if count < 1024 else f"{count // 1024} KB"


def _names(key: tuple[str, str, str, bool]) -> str:
    way, mode, direction, key_each = key
    titles = {"software": "software", "registers": "AXI4-Lite", "arbiter": "arbiter"}
    keys = ", key a block" if key_each else ""
    return f"{titles[way]} {mode.upper()} {direction}{keys}"


def lengths_table(record: dict) -> Table:
    """Returns a table of the PicoRV32 system's clocks a block over message length."""
    table = _table("Clocks a block over the length of a message", "", *map(_size, bench.LENGTHS))
    for key, rows in _rows(record).items():
        cells = (rows.get(length) for length in bench.LENGTHS)
        table.add_row(_names(key), *(f"{c['clocks_per_block']:,.1f}" if c else "" for c in cells))
    return table


def meanwhile_table(record: dict) -> Table:
    """Returns a table of the CPU's work beside the peripheral's memory jobs."""
    table = _table(
        "4 KB by the arbiter: the CPU adds up words of other memory until the interrupt",
        "",
        "clocks",
        "instructions",
        "words added",
    )
    for key, rows in _rows(record).items():
        row = rows.get(4096)
        if key[0] == "arbiter" and row:
            counts = (row["clocks"], row["instructions"], row["words_summed"])
            table.add_row(_names(key), *(f"{count:,}" for count in counts))
    return table


def duplex_table(record: dict) -> Table:
    """Returns a table of the clocks of encryption and decryption, one by one and at once.

    Kale's Figure 7 has a block each way one by one: its peripheral can do both at once.
    """
    table = _table(
        "Two jobs at once under one key, AXI4-Lite: clocks a block each way",
        "",
        "encrypt alone",
        "decrypt alone",
        "both at once",
        "saved",
        "Kale, encrypt + decrypt",
    )
    for row in record["duplex"]:
        blocks = row["bytes"] // 16
        one_way = [row[name]["clocks"] for name in bench.DIRECTIONS]
        cells = [f"{clocks / blocks:,.1f}" for clocks in (*one_way, row["both"]["clocks"])]
        cells.append(f"{1 - row['both']['clocks'] / sum(one_way):.0%}")
        paper = sum(KALE_PERIPHERAL[name][0] for name in bench.DIRECTIONS)
        cells.append(f"{paper:,}" if row["mode"] == "ecb" and blocks == 1 else "")
        table.add_row(f"{row['mode'].upper()}, {_size(row['bytes'])}", *cells)
    return table


def two_table(record: dict) -> Table:
    """Returns a table of two memory jobs' clocks: by turns on one peripheral, at once on two."""
    table = _table(
        f"Two messages of {_size(bench.TWO_BYTES)} in memory, encrypted: clocks of both",
        "",
        "one peripheral, by turns",
        "two, at once",
        "saved",
    )
    for row in record["two"].values():
        first, second = (mode.upper() for mode in row["modes"])
        title = f"{first}, then {second} of its result" if row["chained"] else f"{first}, {second}"
        saved = 1 - row["at_once"] / row["by_turns"]
        table.add_row(title, f"{row['by_turns']:,}", f"{row['at_once']:,}", f"{saved:.0%}")
    return table


def at_once_line(record: dict) -> str:
    """Returns a sentence on the clocks of a program that reads a memory job's result at once."""
    row = record["at_once"][0]
    return (
        f"A program that starts a job of {row['bytes']:,} bytes (ECB) and adds up its destination "
        f"at once takes {row['at_once']:,} clocks\nfor both; the job alone, polled, takes "
        f"{row['job_alone']:,}. No word is read before it is there: the arbiter sees to it."
    )
