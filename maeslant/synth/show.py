# SPDX-License-Identifier: Apache-2.0
"""Prints synthesis reports for `maeslant synth`, as text or JSON."""

import json
import os
import pathlib
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from maeslant import progress
from maeslant.synth.report import Report, SynthesisError

STEPS = 24  # of a critical path, at most
ENERGIES = {  # of a report's power: what they are called, and of what
    "pj_per_block": ("energy", ""),
    "pj_without_wires": ("", ", wires weigh nothing"),
    "counter_pj": ("", ", consecutive counter blocks"),
    "counter_pj_without_wires": ("", ", these, and wires weigh nothing"),
}


def settings(given: list[str] | None) -> dict[str, object]:
    """Parses command-line words PARAMETER=VALUE; returns the RTL parameters by name."""
    found: dict[str, object] = {}
    for word in given or []:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise SynthesisError(f"{word!r} is not PARAMETER=VALUE")
        try:
            found[name] = int(value)
        except ValueError:
            found[name] = value
    return found


def show(
    report: Report,
    tests: dict[str, object] | None,
    proof: dict[str, object] | None,
    as_json: bool,
    console: Console,
) -> None:
    """Prints a synthesis report and how the netlist was simulated and proved."""
    if as_json:
        folder = str(report.folder) if report.folder else None
        checked = {"simulated": tests, "proved": proof}
        print(json.dumps(report.as_dict() | checked | {"folder": folder}, indent=1))
        return
    values = ", ".join(f"{name} {value}" for name, value in report.parameters.items())
    console.print(f"[bold]{report.name}[/] for {report.target}: {report.top} {values}")
    table = Table("figure", "value")
    for name, value in rows(report):
        table.add_row(name, value)
    console.print(table)
    path = (report.timing or {}).get("path", [])
    if path:
        console.print("critical path")
        for step in path[:STEPS]:
            console.print(f"  {step}", highlight=False, markup=False)
        if len(path) > STEPS:
            console.print(f"  ... {len(path) - STEPS} more")
    console.print(f"left out: {report.left_out}", highlight=False)
    if report.placed:
        console.print(f"placed, left out: {report.placed['left_out']}", highlight=False)
    if report.power:
        console.print(f"activity: {report.power['activity']}", highlight=False)
    if tests:
        console.print(f"tests passed on the netlist: {', '.join(tests['passed'])}")
        if tests["inside"]:
            names = ", ".join(tests["inside"])
            console.print(f"tests that look inside the module, and cannot run: {names}")
    if proof:
        console.print(
            f"proved equal to the RTL by {proof['by']}: {proof['outputs']:,} output bits, "
            f"{proof['registers']:,} registers, and {proof['constant']:,} that are constant",
            highlight=False,
        )
        if free := proof.get("undefined"):
            console.print(f"{free:,} compared values may depend on undefined bits of the RTL")
    file = near(report.folder / "report.json")
    console.print(f"{', '.join(report.tools.values())}; {file}", highlight=False, soft_wrap=True)


def near(path: pathlib.Path) -> str:
    """Returns a path's shorter form: absolute, or relative to the working folder."""
    return min(os.path.relpath(path), str(path), key=len)


def tables(
    compute: bool, public: bool, proved: bool, as_json: bool, console: Console, status: Console
) -> None:
    """Writes the synthesis tables' pages and prints which designs' reports are missing.

    ``proved``: proves netlists, too, and prints which have no proof.
    """
    from maeslant.synth.page import netlists
    from maeslant.synth.page import tables as made

    lines = []
    with progress.steps("tables", status) as tell:
        files, missing = made.make(compute, public, tell)
        if proved:
            lines = [f"netlist not proved: {line}" for line in netlists.prove(public, tell)]
            files, _ = made.make(False, public, tell)
    if as_json:
        print(files[1].read_text(), end="")
    for line in lines + [f"not current: {line}" for line in missing]:
        where = status if as_json else console
        where.print(line, highlight=False, markup=False)
    if as_json:
        return
    written = ", ".join(map(near, files))
    console.print(f"written: {written}", soft_wrap=True)
    if not public:
        console.print("--publish writes those of the repository, in results/.")


def renewed(
    part: str | None, public: bool, as_json: bool, console: Console, status: Console
) -> None:
    """Compares published reports' RTL with today's, if ``public`` renews them; prints each."""
    from maeslant.synth.renewal import renew

    found = []
    with progress.steps("renewing", status) as tell:
        for one in renew.renew(part, tell, publish=public):
            record = {"file": str(one.file), "equal": one.equal, "says": one.says}
            found.append(record | {"renewed": one.equal and public})
            if not as_json:
                line = f"{one.file.name}: {one.says}"
                console.print(line, highlight=False, markup=False, soft_wrap=True)
    if as_json:
        print(json.dumps(found, indent=1))
        return
    count = sum(one["equal"] for one in found)
    done = "renewed" if public else "can be renewed"
    console.print(f"{count} of {len(found)} reports of older RTL {done}")
    if count and not public:
        console.print("--publish renews them, in results/reports.")
    elif count:
        console.print("`maeslant synth --tables --finished --publish` writes the tables anew.")


def rows(report: Report) -> Iterator[tuple[str, str]]:
    """Yields a synthesis report's figures as (name, text) for a table."""
    area = report.area
    if report.kind == "asic":
        share = area["sequential_um2"] / area["um2"] if area["um2"] else 0
        yield "area", f"{area['um2']:,.0f} um2 = {area['kge']:,.2f} kGE, {share:.0%} of it state"
        yield "cells", f"{area['cells']:,}, of these {area['flip_flops']:,} hold state"
    else:
        names = {"lut": "LUT", "ff": "flip-flops", "bram": "block RAM", "dsp": "DSP", "mux": "MUX"}
        words = [f"{area[key]:,} {name}" for key, name in names.items() if area[key]]
        guess = " (Yosys estimate)" if report.kind == "xilinx" else ""
        yield "area", (", ".join(words) or "nothing") + guess
        if area["other"]:
            yield "beside", ", ".join(f"{n} {name}" for name, n in area["other"].items())
    timing = report.timing
    if timing:
        seeds = timing.get("seeds")
        of = f", median of {min(seeds.values())} to {max(seeds.values())}" if seeds else ""
        yield "clock", f"{timing['fmax_mhz']:,.1f} MHz ({timing['period_ns']:.3f} ns{of})"
    yield from _placed(report.placed)
    function = report.function
    if function:
        yield "blocks a clock", f"{function['blocks_per_clock']:g} (simulated)"
        if function.get("latency_clocks"):
            yield "latency", f"{function['latency_clocks']:g} clocks"
        if function.get("gbps"):
            yield "throughput", f"{function['gbps']:,.1f} Gbit/s"
            if report.kind == "asic":
                yield "density", f"{function['gbps'] / area['um2'] * 1e6:,.0f} Gbit/s/mm2"
    power = report.power
    if power:
        parts = ", ".join(
            f"{name} {power[f'{name}_mw']:.3g}" for name in ("internal", "switching", "leakage")
        )
        yield "power", f"{power['mw']:.4g} mW at {power['clock_mhz']:,.0f} MHz ({parts})"
        if power["pj_per_block"] is not None:
            for key, (name, of) in ENERGIES.items():
                if power.get(key):
                    pj = power[key]
                    yield name, f"{pj:.4g} pJ a block = {128e3 / pj:,.0f} Gbit/s/W{of}"


def _placed(placed: dict[str, object] | None) -> Iterator[tuple[str, str]]:
    """Yields the figures of a placed netlist as (name, text) for a table."""
    if placed:
        clock, before = (placed[name] for name in ("period_ns", "unmended_ns"))
        yield "placed: clock", f"{1000 / clock:,.1f} MHz ({clock:.3f} ns; unmended {before:.3f} ns)"
        width, height = placed["core_um"]
        yield "placed: core", f"{width:g} x {height:g} um, {placed['utilisation']:.0%} of it cells"
        tree = f"{placed['clock_buffers']} buffers, skew {placed['skew_ns']:.2f} ns"
        yield "placed: clock tree", f"{tree}, least hold slack {placed['hold_ns']:.3f} ns"
        yield "placed: wires", f"{placed['wire_mm']:,.1f} mm, {placed['wires']}"
        power = placed.get("power")
        if power:
            parts = ", ".join(
                f"{name} {power[f'{name}_mw']:.3g}"
                for name in ("internal", "switching", "clock", "leakage")
            )
            yield (
                "placed: power",
                f"{power['mw']:.4g} mW at {power['clock_mhz']:,.0f} MHz ({parts})",
            )
            if power["pj_per_block"]:
                quiet = f"{power['pj_without_glitches']:.4g} without glitches"
                yield "placed: energy", f"{power['pj_per_block']:.4g} pJ a block; {quiet}"
