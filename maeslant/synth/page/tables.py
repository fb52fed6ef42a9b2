# SPDX-License-Identifier: Apache-2.0
"""Writes results/synthesis.md, the tables of our synthesis results and published ones.

They are written under build/; ``--publish`` writes those of the repository. A row of an older RTL
stays, and says so. A table has rows of points and of related work (configs/related_work.yml), under
columns that are functions of one. A value that a paper gives only as a picture is marked as such.
The reports of points are published in results/reports; a point that they are up to date for is not
made again.
"""

import dataclasses
import json
import os
import pathlib
from collections.abc import Callable, Iterator

from maeslant import paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import report
from maeslant.synth.flow import check_libraries, publish, remembered, synthesize, why_older
from maeslant.synth.page import every_column, fits, idle, placed, related_work, sensitivity, units
from maeslant.synth.page.rows import Difference, Ours, Table
from maeslant.synth.report import Report

PAGE, DATA = "synthesis.md", "synthesis.json"
OLDER = "older RTL"
NONE = "–"

# Gbit/s per W: of random blocks, of counter blocks, and both where wires weigh nothing.
PER_WATT = {
    "gbps_per_w": "pj_per_block",
    "gbps_per_w_bare": "pj_without_wires",
    "gbps_per_w_counter": "counter_pj",
    "gbps_per_w_counter_bare": "counter_pj_without_wires",
}


def figures(made: Report | None) -> dict[str, float | None]:
    """Returns the figures of a Maeslant design by column of the synthesis tables."""
    if made is None:
        return {}
    area, timing = made.area, made.timing or {}
    power, function = made.power or {}, made.function or {}
    mhz, rate = timing.get("fmax_mhz"), function.get("blocks_per_clock")
    rate = rate or power.get("blocks_per_clock") or None
    gbps = 0.128 * rate * mhz if rate and mhz else None
    latency = function.get("latency_clocks") or power.get("latency_clocks")
    mm2 = area["um2"] / 1e6 if "um2" in area else None
    return {
        "fmax_mhz": mhz,
        "mm2": mm2,
        **{name: area.get(name) for name in ("kge", "lut", "bram", "dsp")},
        "ff": area.get("ff", area.get("flip_flops")),
        **{name: power.get(name) for name in ("mw", "idle_mw")},
        "pj": power.get("pj_per_block"),
        "gbps": gbps,
        "latency_ns": latency * 1000 / mhz if latency and mhz else None,
        **{name: 128e3 / power[key] if power.get(key) else None for name, key in PER_WATT.items()},
        "gbps_per_mm2": gbps / mm2 if gbps and mm2 else None,
        "clocks_per_block": 1 / rate if rate else None,
    }


def related_figures(design: dict[str, object]) -> dict[str, float | None]:
    """Returns the figures of a published design by column of the synthesis tables."""
    found = {key: value for key, value in design.items() if isinstance(value, int | float)}
    gbps, mm2, mw = found.get("gbps"), found.get("mm2"), found.get("mw")
    if found.get("blocks_per_clock"):
        found["clocks_per_block"] = 1 / found["blocks_per_clock"]
    if gbps and mm2:
        found.setdefault("gbps_per_mm2", gbps / mm2)
    if gbps and mw:
        found.setdefault("gbps_per_w", 1000 * gbps / mw)
    return found


COLUMNS: dict[str, tuple[str, str]] = {  # heading, format
    "fmax_mhz": ("MHz", ",.0f"),
    "mm2": ("mm²", ".3f"),
    "kge": ("kGE", ",.1f"),
    "lut": ("LUT", ",.0f"),
    "alm": ("ALM", ",.0f"),
    "ff": ("FF", ",.0f"),
    "bram": ("block RAM", "g"),
    "dsp": ("DSP", ".0f"),
    "mw": ("mW", ",.1f"),
    "idle_mw": ("mW idle", ",.1f"),
    "pj": ("pJ a block", ".1f"),
    "gbps": ("Gbit/s", ",.1f"),
    "latency_ns": ("latency ns", ".1f"),
    "gbps_per_w": ("Gbit/s/W", ",.0f"),
    "gbps_per_w_bare": ("without wires", ",.0f"),
    "gbps_per_w_counter": ("of counter blocks", ",.0f"),
    "gbps_per_w_counter_bare": ("without wires", ",.0f"),
    "gbps_per_mm2": ("Gbit/s/mm²", ",.0f"),
    "clocks_per_block": ("clocks a block", ".3g"),
}
DONG_COLUMNS = ("fmax_mhz", "mm2", "kge", "mw", "gbps", "latency_ns", "gbps_per_w", "gbps_per_mm2")
FPGA_COLUMNS = ("lut", "ff", "bram", "dsp")
CORE_COLUMNS = ("clocks_per_block", "kge", "lut", "fmax_mhz", "gbps")
# Table 3's two families, as their builds are meant to be mapped.
FAMILIES = (
    ("lanes10_fast", {"power": True, "abc": "density"}),
    ("lanes10_frugal", {"power": True, "abc": "small"}),
)
# For the least energy a block, in N = 10 alone; its clock is asked for, so that nothing is mended.
ONEHOT = Ours(
    "lanes10_onehot",
    options={"power": True, "abc": "small", "period_ns": 2.2},
    label="`lanes10_onehot`",
)
# What Ethernet asks for (Dong's Table 4), in Gbit/s.
LINE_RATES = (
    (100, "802.1AE, 802.3ba, bj, bm"),
    (200, "802.3cd, bs"),
    (400, "802.3bs"),
    (800, "802.3df"),
    (1600, "802.3dj"),
)


def _related(*names: str, target: str | None = None) -> tuple[dict, ...]:
    """Returns a technology's published designs whose names begin with given texts."""
    found = [p for p in related_work.designs() if str(p["name"]).startswith(names)]
    return tuple(p for p in found if target is None or p["target"] == target)


def _named(*names: str, **options: object) -> tuple[Ours, ...]:
    """Returns rows of the synthesis tables, one for each given build that is known."""
    return tuple(Ours(name, **options) for name in names if name in configurations.load())


def _lanes(base: str, number: int, options: dict[str, object]) -> Ours:
    """Returns the table row for a build with a given number of lanes."""
    known, label = configurations.load(), f"`{base}` (Lanes {number})"
    wanted = known[base]["parameters"] | {"Lanes": number}
    for name in (base, *known):
        if (known[name]["top"], known[name]["parameters"]) == (known[base]["top"], wanted):
            return Ours(name, options=options, label=label)
    return Ours(base, parameters={"Lanes": number}, options=options, label=label)


def _guarded(plain: str, wholes: tuple[str, ...]) -> Iterator[Ours | Difference]:
    for whole in wholes:
        yield Ours(whole, "xc7")
        yield Difference(Ours(whole, "xc7"), Ours(plain, "xc7"), "protection adds")


def tables() -> tuple[Table, ...]:
    """Returns all synthesis tables with their rows, without figures."""
    lanes = tuple(_lanes(base, n, options) for base, options in FAMILIES for n in range(1, 11))
    fpga = ("protected_fpga", "protected_fpga_shared", "protected_fpga_ram")
    guards = {"unprotected": ("protected", *fpga), "unprotected_small": ("protected_small",)}
    return (
        Table(
            "Dong et al., Table 3: N pipelines on one key expansion",
            "The paper's technology is another 45 nm library, with another flow.",
            DONG_COLUMNS,
            (*_related("Dong N="), *lanes, ONEHOT, *placed.PIPELINES),
        ),
        Table(
            "Dong et al., Gbit/s/W: of which blocks, and with what",
            "The paper says neither which blocks its power is for nor what it counts. Ours is of "
            "random blocks, and of consecutive counter blocks (SP 800-38A §6.5), which change few "
            "bits of the first two rounds; both as everywhere here, with the library's model of "
            "wires, and without. None of them counts a clock tree or glitches, and two rounds "
            "without a register between them have more of those than one.",
            tuple(PER_WATT),
            (*_related("Dong N=9"), ONEHOT, Ours("lanes10_frugal", options=dict(FAMILIES[1][1]))),
        ),
        idle.TABLE,
        Table(
            "Dong et al., Figure 8: AES-GCM with ten pipelines",
            "The paper proposes it, without figures. `gcm10`: mapped for 400 MHz.",
            ("fmax_mhz", "mm2", "kge", "gbps", "gbps_per_mm2"),
            (Ours("gcm10", options={"period_ns": 2.5, "abc": "speed"}), Ours("gcm4_deep")),
        ),
        Table(
            "Ghosh et al., Table 1: AES-GCM engines",
            "The paper's are fitted on Arria 10; ours are mapped, for Xilinx 7-series (a Yosys "
            "estimate, without a clock) and for Nangate45.",
            ("lut", "alm", "ff", "bram", "fmax_mhz", "gbps", "kge"),
            (
                *_related("Ghosh "),
                *_named("gcm4", "gcm4_fpga", "gcm4_fpga_ram", "gcm4_fpga256", target="xc7"),
                *_named("gcm4_deep", "gcm_single128", target="xc7"),
                *_named("gcm4_deep", "gcm_single128"),
            ),
        ),
        Table(
            "Ghosh et al., Table 2: what protection adds to a card",
            "The paper prints 52, 41 and 47 (that one is 357 - 305 = 52) thousand ALM, 16 to 20 %. "
            "Yosys estimate; the accelerators are small beside the paper's.",
            FPGA_COLUMNS,
            tuple(
                row
                for plain, wholes in guards.items()
                for row in (Ours(plain, "xc7"), *_guarded(plain, wholes))
            ),
        ),
        Table(
            "Fernando et al.: the I/O subsystem",
            "The paper says less than 10 % of the slices of its FPGA, at 199 MHz. `copy4` is the "
            "movers around a plain copy, `stream4` the same around four lanes; `_fpga`: few LUTs.",
            FPGA_COLUMNS,
            (
                *_named("copy4", "stream4", target="xc7"),
                Ours("stream4_fpga", "xc7", options={"flatten": False}),
                Ours("mae_dma_crc_client", "xc7"),
                Difference(Ours("stream4", "xc7"), Ours("copy4", "xc7"), "the ciphers take"),
                Difference(Ours("stream4", "xc7"), Ours("copy4", "xc7"), "the movers' share", True),
            ),
        ),
        Table(
            "Kale et al., Figure 4: the S-box, both directions",
            "The paper's figure is a picture; its S-box is the tower field.",
            ("lut", "kge", "fmax_mhz"),
            tuple(
                Ours("mae_sbox", target, {"Impl": name})
                for name in ("SboxTower", "SboxTable", "SboxBoolean")
                for target in ("xc7", "nangate45")
            ),
        ),
        Table(
            "Kale et al., Figure 8: the whole peripheral",
            "The paper's figure is a picture. All key sizes, both directions: `peripheral` has all "
            "modes, `peripheral_duplex` and `peripheral_small` ECB, CBC and CTR. The arbiter is "
            "beside the peripheral, with the mover of a job's blocks in it. Yosys estimate.",
            FPGA_COLUMNS,
            (
                *_named("peripheral", "peripheral_duplex", "peripheral_small", target="xc7"),
                *(
                    Ours("mae_peripheral_small", "xc7", values | {"Chain": 0}, {}, label)
                    for values, label in (
                        ({"Duplex": 1}, "`peripheral_duplex`, ECB only: what the paper's does"),
                        ({"Duplex": 0, "Sbox": "SboxBoolean"}, "`peripheral_small`, ECB only"),
                    )
                ),
                *_named("iter_both", target="xc7"),
                *(Ours("mae_memory_arbiter", "xc7", more) for more in ({}, {"Jobs": 2})),
            ),
        ),
        Table(
            "Kumar, Figure 15: units behind AXI-Stream",
            "The paper's number of units is not known. Ours: `mae_mode_axis` with N lanes of one "
            "iterative unit for one AES-128 key and one message; of the seven modes what takes "
            "encryption only. Its stream has 128 N bits. 7-series: a Yosys estimate. Nangate45: "
            "the smallest area for 200 MHz (8 units: for speed; 16: for speed and 8 ns), power at "
            "its clock.",
            ("lut", "ff", "bram", "dsp", "kge", "fmax_mhz", "gbps", "mw"),
            (
                *(Ours(f"units{n}", "xc7") for n in units.OPTIONS),
                *(Ours(f"units{n}", options=how) for n, how in units.OPTIONS.items()),
            ),
        ),
        Table(
            "Kumar: encrypted matrices (CKKS)",
            "The paper has no hardware for them. `mae_kernel_fhe` is three `mae_poly_engine`, each "
            "of 32 `mae_ntt_butterfly` with memories for polynomials, and a sequencer. Standard "
            "cells: one butterfly, 96 of which a kernel has; its memories, up to 32 polynomials "
            "in an engine, would be macros and are not counted.",
            ("kge", "lut", "ff", "bram", "dsp", "fmax_mhz"),
            (
                Ours("mae_ntt_butterfly"),
                Ours("mae_ntt_butterfly", "ecp5"),
                *(
                    Ours("mae_kernel_fhe", "xc7", values, {"flatten": False}, label)
                    for values, label in (
                        ({}, "`mae_kernel_fhe`, 4096 coefficients (`fhe`)"),
                        (
                            {"LogN": 13, "Width": 54},
                            "`mae_kernel_fhe`, 8192 coefficients (`fhe_large`)",
                        ),
                    )
                ),
            ),
        ),
        fits.DEVICES,
        Table(
            "Cores beside open ones",
            "The open designs were mapped by Yosys with its own scripts: flattened, no block RAM, "
            "without a period. `maeslant synth` tries ways of mapping, and mends paths.",
            CORE_COLUMNS,
            (
                *fits.FEWEST,
                *_named("small128", "iter128", options={"period_ns": 2}),
                *_named("small", "iter", options={"period_ns": 3}),
                *_named("pipe128", "gcm1", "gcm4_deep"),
                *_related("secworks", "OpenTitan", "freecores", "tiny_aes", target="nangate45"),
                *fits.SMALL,
                *_related("secworks", "OpenTitan", "freecores", "tiny_aes", target="ecp5"),
                *_named(*fits.CORES, target="xc7"),
                *_related("secworks", "OpenTitan", "freecores", "tiny_aes", target="xc7"),
            ),
        ),
    )


def headlines() -> tuple[Ours, ...]:
    """Returns the rows of the summary table of results/synthesis.md."""
    whole, small = "all key sizes, both directions, round keys on the fly", "AES-128 encryption"
    return (
        Ours("small128", options={"period_ns": 2}, label=f"`small128`: {small}, a round a clock"),
        Ours("small", options={"period_ns": 3}, label=f"`small`: {whole}"),
        Ours("lanes1_fast", options={"power": True}, label="`lanes1_fast`: an AES-128 pipeline"),
        Ours("lanes10_fast", options=dict(FAMILIES[0][1]), label="`lanes10_fast`: ten of them"),
        dataclasses.replace(ONEHOT, label="`lanes10_onehot`: least energy"),
        Ours("gcm4_deep", label="`gcm4_deep`: AES-GCM, 4 blocks a clock"),
        Ours("small128", "ecp5", label="`small128`"),
        Ours("small", "ecp5", label="`small`"),
        Ours(
            "gcm1_fpga_ram",
            "ecp5",
            label="`gcm1_fpga_ram`: AES-128-GCM, a block a clock but for one a message",
        ),
    )


def points(rows: tuple[object, ...]) -> list[Ours]:
    """Returns the designs whose reports the given table rows need."""
    found = []
    for row in rows:
        found += [row.whole, row.part] if isinstance(row, Difference) else []
        found += [row] if isinstance(row, Ours) else []
    return found


def make(
    compute: bool, public: bool = False, tell: Callable[[str], None] = lambda step: None
) -> tuple[list[pathlib.Path], list[str]]:
    """Writes the synthesis tables from stored reports or, with ``compute``, new syntheses.

    ``public``: those of the repository, with the reports that they link to. Gives the files that
    were written, and what is missing or not up to date. Raises MaeslantError, and writes nothing,
    without a library, and without the published reports' own if ``public``.
    """
    if public:
        check_libraries()
    done, missing = {}, []
    for ours in [ours for table in tables() for ours in points(table.rows)]:
        key = repr(ours)
        if key in done:
            continue
        given = (ours.name, ours.target, ours.parameters or None)
        done[key] = remembered(*given, **ours.options, older=not compute)
        try:
            if done[key] is None and compute:
                done[key] = synthesize(
                    *given,
                    **ours.options,
                    tell=lambda step, title=ours.title: tell(f"{title}, {step}"),
                )
        except MaeslantError as error:
            done[key] = remembered(*given, **ours.options, older=True)
            missing.append(f"{ours.title} for {ours.target}: {error}")
            continue
        if done[key] is None:
            missing.append(f"{ours.title} for {ours.target}: not synthesized yet")
        elif done[key].older:
            why = why_older(done[key])
            missing.append(f"{ours.title} for {ours.target}: {why}, {done[key].commit}")
        elif public:
            done[key] = publish(done[key], *given, **ours.options)
    folder = paths.RESULTS if public else report.REPORTS
    folder.mkdir(parents=True, exist_ok=True)
    page, record = folder / PAGE, folder / DATA
    lines, data = [HEAD, "", "## Summary", "", *_headlines(), ""], []
    mine = [ours for table in reversed(tables()) for ours in points(table.rows)]
    fitting = fits.lines(mine, lambda ours: done[repr(ours)])
    lines += ["## Which build fits which part", "", *fitting, ""]
    for table in tables():
        records = [_record(row, done, page) for row in table.rows]
        records = [record for record in records if record["figures"]]
        data.append({"title": table.title, "says": table.says, "rows": records})
        lines += [f"## {table.title}", "", table.says, "", *_markdown(table.columns, records), ""]
    rates = _line_rates(done)
    lines += ["## Dong et al., Table 4: which build for which line rate", "", *rates, ""]
    nearest = (*(_lanes(base, 10, options) for base, options in FAMILIES), ONEHOT)
    lines += [*every_column.lines((row.title, done.get(repr(row))) for row in nearest), ""]
    made = {n: figures(done.get(repr(Ours(f"units{n}", "xc7")))) for n in units.OPTIONS}
    fill = units.lines({n: found["lut"] for n, found in made.items() if found})
    lines += ["## Kumar: units against the throughput of a bus", "", *fill, ""]
    paths.write(page, "\n".join(lines).rstrip() + "\n")
    paths.write(record, json.dumps(data, indent=1) + "\n")
    return [page, record], missing + placed.missing()


HEAD = """# Synthesis

Written by `maeslant synth --tables --publish`, as results/synthesis.json, out of the reports in
results/reports; later runs take those of what has not changed. A row of an older RTL was
synthesized before its sources or the flow last changed, at the commit that it names: `maeslant
synth` of its build renews it. Where a second commit is named, the row was mapped at the first, and
what the mapper gets was shown to be equal at both (`--renew`): the first maps to these figures,
today's text perhaps to others. Nangate45 figures are after mapping and static timing, in the
typical corner: nothing is placed, wires weigh what the library's model says of their fan-out,
clocks are ideal. Power is from simulated switching without glitches. ECP5, GW5A and GateMate
figures are placed and routed, the median of the first five seeds that nextpnr can route, or of one.
7-series figures are Yosys estimates. Where a row says so, the module's own tests passed on the
mapped netlist (`--simulate`), or the netlist was proved equal by SAT (`--prove`), or is unproved:
its report says why. Rows not synthesized are left out. [References](../docs/references.md)."""


def _record(
    row: object, done: dict[str, Report | None], page: pathlib.Path = paths.RESULTS / PAGE
) -> dict[str, object]:
    """Returns label, technology, source and figures of a table row."""
    if isinstance(row, dict):
        source = f"{row['source']} ({row['basis']})"
        return {
            "label": row["name"],
            "technology": row["target"],
            "from": source,
            "figures": related_figures(row),
        }
    if isinstance(row, Difference):
        whole, part = figures(done[repr(row.whole)]), figures(done[repr(row.part)])
        known = [k for k, v in whole.items() if None not in (v, part.get(k))]
        if row.share:
            both = {k: part[k] / whole[k] for k in ("lut", "ff") if k in known and whole[k]}
            words = ", ".join(f"{v:.0%} of the {COLUMNS[k][0]}" for k, v in both.items())
            both = {f"{k}_share": v for k, v in both.items()}
        else:
            both = {k: whole[k] - part[k] for k in known}
            words = f"+{both['lut'] / part['lut']:.0%} LUT" if both.get("lut") else ""
        label, origin = row.label + (f" ({words})" if words else ""), "of both"
        return {"label": label, "technology": "", "from": origin, "figures": both}
    made = done[repr(row)]
    origin = ""
    if made:
        file = os.path.relpath(made.file, page.parent)
        origin = f"[{made.sources[:8]}]({file}), {made.commits}"
        origin += f", **{OLDER}**" * made.older + ", one run" * fits.one_run(made)
        how = [key for key in ("simulated", "proved", "unproved") if key in (made.netlist or {})]
        origin += f", netlist {' and '.join(how)}" if how else ""
    found = {k: v for k, v in figures(made).items() if v is not None}
    return {"label": row.title, "technology": row.target, "from": origin, "figures": found}


def _markdown(columns: tuple[str, ...], records: list[dict]) -> list[str]:
    """Converts table rows to lines of a Markdown table."""
    if not records:
        return ["Not synthesized yet."]
    heads = [COLUMNS[name][0] for name in columns]
    lines = ["| | technology | " + " | ".join(heads) + " | from |"]
    lines.append("|---|---|" + "---:|" * len(columns) + "---|")
    for record in records:
        cells = [
            NONE if record["figures"].get(name) is None else _text(name, record["figures"][name])
            for name in columns
        ]
        words = [record["label"], record["technology"], *cells, record["from"]]
        lines.append(f"| {' | '.join(words)} |")
    return lines


def _text(column: str, value: float) -> str:
    """Formats a number with the decimals of a column of the synthesis tables; returns the text."""
    return format(value, COLUMNS[column][1])


def _line_rates(done: dict[str, Report | None]) -> list[str]:
    """Returns a Markdown table of the smallest design for each Ethernet rate."""
    lines = [
        "| Gbit/s | standards | smallest that carries it | Gbit/s | mm² | mW |",
        "|---:|---|---|---:|---:|---:|",
    ]
    lanes = [ours for table in tables()[:1] for ours in points(table.rows) if ours.label]
    for rate, standards in LINE_RATES:
        fits = [(ours, figures(done[repr(ours)])) for ours in lanes if done[repr(ours)]]
        fits = [(ours, found) for ours, found in fits if (found["gbps"] or 0) >= rate]
        words = [f"{NONE} | {NONE} | {NONE} | {NONE}"]
        if fits:
            ours, found = min(fits, key=lambda fit: fit[1]["mm2"])
            words = [
                ours.title,
                *(_text(name, found[name] or 0) for name in ("gbps", "mm2", "mw")),
            ]
        lines.append(f"| {rate} | {standards} | {' | '.join(words)} |")
    return lines


def _headlines() -> list[str]:
    """Returns Markdown lines on the main results: a table and estimates for place and route."""
    columns = ("kge", "lut", "fmax_mhz", "gbps", "gbps_per_mm2", "pj")
    heads = [COLUMNS[name][0] for name in columns]
    lines = [f"| build | command | {' | '.join(heads)} |", "|---|---|" + "---:|" * len(columns)]
    reports = []
    for ours in headlines():
        made = remembered(ours.name, ours.target, **ours.options, older=True)
        reports.append((ours.label, made))
        found = figures(made)
        cells = ["" if found.get(c) is None else _text(c, found[c]) for c in columns]
        mark = " †" if made and made.older else ""
        if found:
            lines.append(f"| {ours.label}{mark} | `{ours.command}` | {' | '.join(cells)} |")
    if any(" † |" in line for line in lines):
        lines += ["", "† Synthesized before its RTL last changed; the command renews it."]
    return [*lines, *placed.lines(), *sensitivity.lines(reports)]
