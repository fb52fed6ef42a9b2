# SPDX-License-Identifier: Apache-2.0
"""Holds how builds of Kumar et al.'s units are mapped; tells how many units fill a bus."""

import json
import math

from maeslant import paths

FIGURES = paths.RESULTS / "figures.json"
UNIT_GBS = "AES-128 ECB encrypt, one message, at 200 MHz"
# What a bus carries each way in bytes a clock, and how it is called. At 200 MHz.
BUSES = (
    (4, "64 bits that both ways share (Fernando)"),
    (16, "128 bits each way"),
    (32, "256 bits each way"),
    (64, "512 bits each way"),
)
CLOCK_GHZ = 0.2
# How the build with N units is mapped to standard cells, by N: for 200 MHz where it reaches them.
OPTIONS = {
    1: {"period_ns": 5, "power": True},
    2: {"period_ns": 5, "power": True},
    4: {"period_ns": 5, "power": True},
    8: {"period_ns": 5, "power": True, "abc": "speed"},
    16: {"period_ns": 8, "power": True, "abc": "speed"},
}
NONE = "–"


def rates() -> dict[int, float]:
    """Returns the measured GB/s at 200 MHz of builds with N AES cores, by N."""
    found = json.loads(FIGURES.read_text())["figures"] if FIGURES.exists() else []
    return {
        int(f["config"].removeprefix("units")): f["value"]
        for f in found
        if f["part"] == "units" and f["metric"] == UNIT_GBS
    }


def lines(luts: dict[int, float]) -> list[str]:
    """Returns a Markdown table of bus types: rate, and the smallest build that fills the bus."""
    known = rates()
    made = [
        "Units that fill a bus at 200 MHz, by `maeslant measure units1` to `units16`. Units by",
        "one: by the rate of one unit. A stream of N units has 128 N bits, a tenth of them used.",
        "",
        "| bus | GB/s each way | units by one | smallest build that fills it | GB/s | LUT |",
        "|---|---:|---:|---|---:|---:|",
    ]
    for width, name in BUSES if known else ():
        carries = width * CLOCK_GHZ
        fits = min((n for n, rate in known.items() if rate >= carries), default=None)
        one = math.ceil(carries / known[1])
        lut = f"{luts[fits]:,.0f}" if fits in luts else NONE
        rate = f"{known[fits]:.2f}" if fits else NONE
        build = f"`units{fits}`" if fits else NONE
        made.append(f"| {name} | {carries:.1f} | {one} | {build} | {rate} | {lut} |")
    return made
