# SPDX-License-Identifier: Apache-2.0
"""Writes the table of placed netlists: the clock and the density that are left with wires."""

from collections.abc import Iterator

from maeslant.synth.flow import remembered
from maeslant.synth.page.rows import Ours
from maeslant.synth.report import Report

POWER = {"power": True}
PIPELINES = (
    Ours("lanes1_fast", options=POWER),
    Ours("lanes1_aligned", options=POWER | {"period_ns": 2.2, "abc": "small", "flatten": False}),
)
ROWS = (
    Ours("small128", options=POWER | {"period_ns": 2.0}),
    Ours("small128", options=POWER),
    *PIPELINES,
    Ours("lanes10_fast", options=POWER | {"abc": "density"}),
    Ours("lanes10_systolic", options=POWER | {"abc": "density"}),
)
SAYS = """Each wire is a spanning tree over its pins (nothing is routed), netlists are mended on
these wires, clocks go through trees of buffers, and what is behind a port has such a clock, too
([ADR 0034](../docs/adr/0034-placed-netlists.md)). Cells may lie close together: no room is kept for
wires. Power grid, reset tree and a slow corner are in none of these figures. "Mapped" is the clock
with the library's wire-load model, which weighs more than these wires in some netlists and less in
others. Energy is of random blocks, simulated event by event with the delays of the placed netlist:
clock tree and glitches are in it, a pulse shorter than a gate's delay is lost; what it would be if
nothing glitched stands beside it."""
HEADS = (
    "build",
    "command",
    "placer",
    "mapped ns",
    "placed, unmended ns",
    "placed and mended, clock tree in: ns",
    "MHz",
    "Gbit/s",
    "core mm²",
    "of it cells",
    "Gbit/s/mm² of core",
    "wire mm",
    "skew ns",
    "pJ a block, with glitches and clock tree",
    "… without glitches",
    "… of it the clock",
)


def _rows() -> Iterator[tuple[Ours, Report | None]]:
    """Yields each row with its stored report; None where nothing was placed."""
    for ours in ROWS:
        made = remembered(
            ours.name, ours.target, ours.parameters or None, **ours.options, placed=True, older=True
        )
        yield ours, made


def missing() -> list[str]:
    """Returns the rows that are not placed yet or of an older RTL, in words."""
    return [
        f"{ours.title}, placed: {f'of an older RTL, {made.commit}' if made else 'not yet'}"
        for ours, made in _rows()
        if made is None or made.older
    ]


def lines() -> Iterator[str]:
    """Yields the section's lines; none where nothing was placed."""
    cells = [(ours, made) for ours, made in _rows() if made]
    if cells:
        yield from ("", "### Placed, with wires and clock tree", "", SAYS, "")
        yield f"| {' | '.join(HEADS)} |"
        yield "|---|---|---|" + "---:|" * (len(HEADS) - 3)
        for ours, made in cells:
            label = ours.title + (" †" if made.older else "")
            yield f"| {label} | `{ours.command} --place` | {' | '.join(_figures(made))} |"
        if any(made.older for _, made in cells):
            yield from ("", "† Placed before its RTL last changed; the command renews it.")


def _figures(made: Report) -> Iterator[str]:
    """Yields the figures of a row."""
    placed, mm2 = made.placed, made.placed["core_um2"] / 1e6
    rate = (made.function or made.power or {}).get("blocks_per_clock")
    gbps = 0.128 * rate * placed["fmax_mhz"] if rate else None
    yield placed["tool"]
    yield f"{made.timing['period_ns']:.3f}"
    yield f"{placed['unmended_ns']:.3f}"
    yield f"{placed['period_ns']:.3f}"
    yield f"{placed['fmax_mhz']:,.0f}"
    yield f"{gbps:,.1f}" if gbps else "–"
    yield f"{mm2:.4f}"
    yield f"{placed['utilisation']:.0%}"
    yield f"{gbps / mm2:,.0f}" if gbps else "–"
    yield f"{placed['wire_mm']:,.0f}"
    yield f"{placed['skew_ns']:.2f}"
    power = placed.get("power")
    if power and power["pj_per_block"]:
        clock = power["clock_mw"] / power["mw"] * power["pj_per_block"]
        pj = power["pj_per_block"], power["pj_without_glitches"], clock
        yield from (f"{value:,.1f}" for value in pj)
    else:
        yield from "–––"
