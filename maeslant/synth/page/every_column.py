# SPDX-License-Identifier: Apache-2.0
"""Computes from reports how far pipelines are from every column of Dong et al.'s N = 10 at once.

Each build is taken as many times as its clock needs for the paper's throughput; energy a block,
area and leakage of a pipeline stay as they are in its report. Slower clocks change no energy here.
"""

import math
from collections.abc import Iterable

from maeslant.synth.report import Report

TITLE = "## Dong et al., Table 3, N = 10: every column at once"
GBPS, MW, NS, MM2 = 1024, 430.9, 13.8, 1.042
BITS = 128
SAYS = (
    "Computed from the reports above: as many pipelines as a build's clock needs for the paper's "
    f"{GBPS:,} Gbit/s, each with the report's area, leakage and energy of a random block. The "
    "clock tree is estimated to take as much as the clock pins that it drives; the mW have it."
)
HEADS = ("", "pipelines", "mm²", "mW", "of which clock tree", "latency ns", "misses")


def scaled(made: Report) -> dict[str, float]:
    """Returns a build's pipelines, area, power and latency, scaled to the rate of Dong et al."""
    lanes, power = made.parameters["Lanes"], made.power
    mhz = made.timing["fmax_mhz"]
    pipelines = math.ceil(GBPS * 1000 / (BITS * mhz))
    rate = GBPS * 1000 / (BITS * lanes * power["clock_mhz"])  # share of the report's throughput
    tree = power["clock_pins_mw"] * rate
    moving = (power["mw"] - power["leakage_mw"]) * rate
    return {
        "pipelines": pipelines,
        "mm2": made.area["um2"] / 1e6 * pipelines / lanes,
        "mw": moving + tree + power["leakage_mw"] * pipelines / lanes,
        "tree": tree,
        "ns": power["latency_clocks"] * 1000 / mhz,
    }


def lines(reports: Iterable[tuple[str, Report | None]]) -> list[str]:
    """Returns a Markdown table of labelled reports beside Dong et al.; empty without reports."""
    known = [(label, scaled(made)) for label, made in reports if made and made.power]
    if not known:
        return []
    found = [TITLE, "", SAYS, "", f"| {' | '.join(HEADS)} |", "|---|" + "---:|" * 5 + "---|"]
    found.append(f"| Dong N=10 | 10 | {MM2:.3f} | {MW} | – | {NS} | |")
    for label, made in known:
        limits = (("mw", MW, "power"), ("ns", NS, "latency"), ("mm2", MM2, "area"))
        over = [f"{name} by {made[key] / limit - 1:.0%}" for key, limit, name in limits]
        misses = ", ".join(
            text for (key, limit, _), text in zip(limits, over, strict=True) if made[key] > limit
        )
        cells = f"{made['pipelines']} | {made['mm2']:.3f} | {made['mw']:.1f} | {made['tree']:.1f}"
        found.append(f"| {label} | {cells} | {made['ns']:.1f} | {misses or 'nothing'} |")
    return found
