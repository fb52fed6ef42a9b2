# SPDX-License-Identifier: Apache-2.0
"""Estimates what placing and routing would take from standard-cell figures, out of reports alone.

Three changes at once: wires weigh twice what the library's wire-load model says, cells grow as
those of a routed AES do, and the clock has a skew. How much of all loads wires are is read from a
report whose power was computed with wires and without; other reports are taken to have the same
share, critical paths too, and delays to grow as loads do.
"""

from collections.abc import Iterable

from maeslant.synth.report import Report

# Cells of AES-128 in Nangate45, as mapped and as routed by OpenROAD-flow-scripts (nangate45/aes):
# 21,222 and 27,203 um2.
CELL_GROWTH = 27_203 / 21_222
SKEW_NS = 0.05
TITLE = "## What placing and routing would take"
HEADS = ("build", "MHz", "placed: MHz", "Gbit/s", "mm²", "Gbit/s/mm²", "pJ a block")


def wire_share(report: Report) -> float | None:
    """Returns the wires' share of a design's switched capacitance; None if unknown."""
    power = report.power or {}
    if not power.get("pj_without_wires") or not power.get("switching_mw"):
        return None
    switching_pj = power["pj_per_block"] * power["switching_mw"] / power["mw"]
    return (power["pj_per_block"] - power["pj_without_wires"]) / switching_pj


def stressed(report: Report, share: float) -> dict[str, float]:
    """Returns a report's clock, area and energy under longer wires, larger cells and clock skew."""
    found: dict[str, float] = {"mm2": report.area["um2"] / 1e6 * CELL_GROWTH}
    period = report.timing["period_ns"] * (1 + share) + SKEW_NS
    found["mhz"] = 1000 / period
    power = report.power or {}
    rate = (report.function or {}).get("blocks_per_clock") or power.get("blocks_per_clock")
    if rate:
        found["gbps"] = 0.128 * rate * found["mhz"]
        found["gbps_per_mm2"] = found["gbps"] / found["mm2"]
    if power.get("switching_mw"):
        own = power["pj_per_block"]
        found["pj"] = own * (1 + share * power["switching_mw"] / power["mw"])
    return found


def lines(reports: Iterable[tuple[str, Report | None]]) -> list[str]:
    """Returns a Markdown table of reports under longer wires, larger cells and clock skew."""
    asic = [(label, r) for label, r in reports if r and r.kind == "asic" and r.timing]
    shares = [share for _, report in asic if (share := wire_share(report)) is not None]
    if not shares:
        return []
    share = max(shares)
    found = ["", TITLE, "", SAYS.format(share=share, growth=CELL_GROWTH - 1, skew=SKEW_NS * 1000)]
    found += ["", "| " + " | ".join(HEADS) + " |", "|---|" + "---:|" * (len(HEADS) - 1)]
    for label, report in asic:
        made = stressed(report, share)
        forms = {"mhz": ",.0f", "gbps": ",.1f", "mm2": ".4f", "gbps_per_mm2": ",.0f", "pj": ".1f"}
        cells = [format(made[key], form) if key in made else "" for key, form in forms.items()]
        cells.insert(1, f"{report.placed['fmax_mhz']:,.0f}" if report.placed else "")
        found.append(f"| {label} | {' | '.join(cells)} |")
    return found


SAYS = (
    "An estimate, of the reports above alone; what was placed has its clock beside it. The "
    "estimate knows nothing of the ways across a large core. Wires weigh twice what the "
    "library's model says; they are {share:.0%} of the switched capacitance of the build whose "
    "power is published with wires and without, which is taken for every build and for critical "
    "paths, and delays are taken to grow as loads do. Cells grow by {growth:.0%}, as those of "
    "an AES-128 routed in this library by OpenROAD-flow-scripts. The clock has {skew:.0f} ps of "
    "skew. Not in it: the clock tree's energy, glitches, and a slow corner, which this library's "
    "file does not have."
)
