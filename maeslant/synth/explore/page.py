# SPDX-License-Identifier: Apache-2.0
"""Writes the web page of `maeslant explore`, an HTML file that compares designs."""

import html
import json
import os
import pathlib
from collections.abc import Callable, Sequence

from maeslant.build import pictures
from maeslant.synth.explore import chart, plots, records
from maeslant.synth.explore.chart import Mark
from maeslant.synth.explore.records import Record
from maeslant.synth.explore.sweep import Outcome

HERE = pathlib.Path(__file__).parent
TECHNOLOGIES = {  # what their names mean
    "nangate45": "standard cells of 45 nm (Nangate45)",
    "sky130": "standard cells of 130 nm (SkyWater)",
    "ihp": "standard cells of 130 nm (IHP)",
    "xc7": "LUTs of a Xilinx 7 series FPGA (xc7)",
    "ecp5": "a Lattice ECP5 FPGA (ecp5)",
    "gw5a": "a Gowin GW5A FPGA (gw5a)",
    "gatemate": "a Cologne Chip GateMate FPGA (gatemate)",
}
POOL = "pool.json"  # beside the reports
MAIN = "nangate45"  # the technology of the papers' and the open designs' figures
LEFT_OUT = (
    "Standard cells are mapped and timed, not placed; the list below says what each technology's "
    "figures leave out, and pads, test logic and all process corners but the library's are "
    "missing everywhere. Power comes from a zero-delay simulation of the mapped netlist, which "
    "shows no glitches. Papers' figures are as their authors report them, of other libraries and "
    "tools, some after layout: near, not the same."
)
LINE_RATES = (10, 25, 40, 100, 200, 400, 800, 1600)  # Ethernet, Gbit/s
# Columns of the table: title, figure, whether a number.
COLUMNS: tuple[tuple[str, Callable[[Record], object], bool], ...] = (
    ("kGE", lambda r: r.kge, True),
    ("mm²", lambda r: r.mm2, True),
    ("LUTs", lambda r: r.lut, True),
    ("FFs", lambda r: r.ff, True),
    ("MHz", lambda r: r.mhz, True),
    ("Gbit/s", lambda r: r.gbps, True),
    ("latency, ns", lambda r: r.latency_ns, True),
    ("pJ a block", lambda r: r.pj, True),
    ("Gbit/s /mm²", lambda r: r.density, True),
    ("Gbit/s /W", lambda r: r.per_watt, True),
)
# Tiles: what, of which record, unit, whether less is better, what the papers reach.
TILES: tuple[tuple[str, Callable[[Record], float | None], str, bool, str], ...] = (
    ("Highest throughput", lambda r: r.gbps, "Gbit/s", False, "Dong et al., ten pipelines: 1,024"),
    (
        "Area efficiency",
        lambda r: r.density,
        "Gbit/s/mm²",
        False,
        "Dong et al., eight pipelines: 990",
    ),
    (
        "Energy efficiency",
        lambda r: r.per_watt,
        "Gbit/s/W",
        False,
        "Dong et al., nine pipelines: 2,459",
    ),
    ("Fastest clock", lambda r: r.mhz, "MHz", False, "Dong et al., one pipeline: 870"),
    ("Shortest latency", lambda r: r.latency_ns, "ns", True, "Dong et al., one pipeline: 12.6"),
    ("Smallest core", lambda r: r.kge, "kGE", True, "Jean et al., a bit a clock, 130 nm: 1.56"),
)


def make(
    outcomes: Sequence[Outcome],
    titles: dict[str, str],
    page: pathlib.Path,
    pool: tuple[pathlib.Path, list[dict]] | None = None,
    missing: int = 0,
) -> str:
    """Returns the HTML text of the web page that compares synthesized designs.

    ``titles``: of the sweeps; ``pool``: the file of the device pool's figures and its rows;
    ``missing``: how many points of the table have not been tried.
    """
    ours = [records.of(outcome, page) for outcome in outcomes if outcome.report]
    failed = [outcome for outcome in outcomes if not outcome.report]
    others = records.others()
    best = records.best(ours)
    names = plots.Names(ours, others)
    data = {f"r{i}": r.figures() | {"front": i in best} for i, r in enumerate(ours)}
    data |= {f"p{i}": r.figures() for i, r in enumerate(others)}
    sections = [
        ("choose", "Choose a core", _choose(ours)),
        ("area", "Area against throughput", _area(ours, others, names)),
        ("lanes", "Over the number of pipelines", _lanes(ours, others, names)),
        ("rounds", "What an S-box and a register cost", _choices(ours, names)),
        ("latency", "Latency", _latency(ours, others, names)),
        ("flow", "Beside open designs", _same_flow(ours, others, names)),
        ("rank", "Throughput beside everybody", _ranking(ours, others, names)),
        ("pool", "Many cards behind one call", _pool(*pool, page) if pool else ""),
        ("points", "Every point", _table(ours, best, titles) + _failed(failed)),
        ("peers", "Related work", _peers(others)),
        ("how", "How this was measured", _how(ours)),
    ]
    sections = [section for section in sections if section[2]]
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in sections)
    body = "".join(
        f'<section id="{key}"><h2>{title}</h2>{text}</section>' for key, title, text in sections
    )
    more = f" {missing} more points of configs/explore.yml are not finished." if missing else ""
    targets = ", ".join(TECHNOLOGIES.get(name, html.escape(name)) for name in _targets(ours))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Maeslant: choose an AES core</title>
<style>{pictures.colours()}{_read("page.css")}{pictures.CSS}</style>
</head>
<body>
<header><div><h1>Choose an AES core</h1>
<p>Maeslant is open hardware for AES, the cipher of networks and disks: from a core that takes
hundreds of clocks a block to one that encrypts ten blocks a clock. This page shows the area, clock
rate, throughput and energy of {len(ours)} of its configurations, in {targets}, beside what others
have published. Name what you need under <a href="#choose">Choose a core</a>, or look at the plots:
point at a mark for its figures, click it for its row.</p></div>
<button id="theme" type="button" title="light or dark">◐</button></header>
<nav>{links}</nav>
{_tiles(ours)}
<p class="note">Before layout: no placed wires, no clock tree; power by zero-delay simulation,
without glitches.{more} <a href="#how">What is left out.</a></p>
{body}
<div id="tip" role="status"></div>
<script type="application/json" id="records">{_json(data)}</script>
<script>{_read("page.js")}</script>
</body>
</html>
"""


def _targets(ours: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(record.target for record in ours))


def picture(outcomes: Sequence[Outcome]) -> str:
    """Returns SVG text of a plot of area over throughput in the main technology."""
    ours = [records.of(outcome, HERE) for outcome in outcomes if outcome.report]
    plot = plots.area(ours, records.others(), MAIN, lambda record: "")
    with pictures.drawing(760, 470) as (figure, axes):
        chart.draw(figure, axes, plot)
        return pictures.svg(figure, plot.title, alone=True)


def _read(name: str) -> str:
    return (HERE / name).read_text()


def _json(data: object) -> str:
    """Returns data as JSON text that can be embedded safely in an HTML script element."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _panel(svg: str, title: str = "", more: str = "") -> str:
    head = f"<h3>{title}</h3>" if title else ""
    return f'<div class="panel"{more}>{head}{svg}</div>'


def _tiles(ours: Sequence[Record]) -> str:
    """Returns HTML boxes for the head of the page, each with the best design of a kind."""
    same = [record for record in ours if record.target == MAIN]
    tiles = []
    for what, value, unit, less, peer in TILES:
        known = [record for record in same if value(record)]
        if known:
            winner = (min if less else max)(known, key=value)
            name = f"r{ours.index(winner)}"
            tiles.append(
                f'<div class="tile"><div class="what">{what}</div>'
                f'<div class="value">{pictures.number(value(winner))} <small>{unit}</small></div>'
                f'<div class="who">{html.escape(winner.words)}</div>'
                f'<div class="peer"><a href="#{name}">{html.escape(winner.label)}</a></div>'
                f'<div class="peer">best of others: {peer}</div></div>'
            )
    text = f"Best figure of each kind in {MAIN}; each is of another core or another mapping."
    note = f'<p class="note">{text}</p>' if tiles else ""
    return f'<div class="tiles">{"".join(tiles)}</div>{note}'


def _choose(ours: Sequence[Record]) -> str:
    targets = dict.fromkeys(record.target for record in ours)
    options = "".join(f"<option>{html.escape(target)}</option>" for target in targets)
    rates = "".join(f'<option value="{rate}">{rate} Gbit/s</option>' for rate in LINE_RATES)
    return f"""<form class="choose panel" id="wishes" data-count="{len(ours)}">
<label>technology<select name="target"><option value="">any</option>{options}</select></label>
<label>line rate<select id="rate"><option value="">any</option>{rates}</select></label>
<label>at least, Gbit/s<input name="gbps" type="number" min="0" step="any"></label>
<label>at most, kGE or LUTs<input name="area" type="number" min="0" step="any"></label>
<label>direction<select name="directions"><option value="">any</option>
<option value="encrypts">encryption</option><option value="decrypts">decryption</option>
<option value="both">both</option></select></label>
<label>key bits<select name="keys"><option value="">any</option><option>128</option>
<option>192</option><option>256</option></select></label>
<button type="reset">show all</button>
</form><div id="answer"></div>
<p class="note">What does not fit is dimmed in the plots and left out of the
<a href="#points">table</a>.</p>"""


def _area(ours: Sequence[Record], others: Sequence[Record], names: plots.Names) -> str:
    targets = dict.fromkeys(r.target for r in ours if r.area and (r.gbps or r.bits))
    targets = sorted(targets, key=lambda target: target != MAIN)
    tabs, panels = [], []
    for at, target in enumerate(targets):
        selected = "true" if at == 0 else "false"
        tabs.append(
            f'<button type="button" role="tab" aria-selected="{selected}" '
            f'aria-controls="area{at}">{html.escape(target)}</button>'
        )
        svg = chart.shown(plots.area(ours, others, target, names), 1100, 560)
        panels.append(_panel(svg, more=f' id="area{at}"' + (" hidden" if at else "")))
    text = (
        "Every core of a technology; upwards and to the left is better. On the Pareto front "
        "nothing smaller is faster; its cores are named as far as there is room. "
        "xc7 counts LUTs without a clock."
    )
    return f'<p class="note">{text}</p><div class="tabs">{"".join(tabs)}</div>' + "".join(panels)


def _lanes(ours: Sequence[Record], others: Sequence[Record], names: plots.Names) -> str:
    same = [
        r
        for r in ours
        if r.target == MAIN
        and r.family == "pipeline"
        and "lanes" in r.sweeps
        or r.target == MAIN
        and any(sweep.startswith("lanes") for sweep in r.sweeps)
    ]
    if not same:
        return ""
    shown = (
        (lambda r: r.gbps, "throughput, Gbit/s"),
        (lambda r: r.density, "area efficiency, Gbit/s/mm²"),
        (lambda r: r.per_watt, "energy efficiency, Gbit/s/W"),
        (lambda r: r.mhz, "clock, MHz"),
    )
    panels = [
        _panel(chart.shown(plots.lanes(same, others, value, title, names), 540, 380))
        for value, title in shown
        if any(value(r) for r in same)
    ]
    text = (
        "Dong et al.'s Table 3, N = 1 to 10, is synthesized too, with another 45 nm library and "
        "other tools. It does not say what its power counts; ours counts no clock tree."
    )
    return f'<p class="note">{text}</p><div class="row">{"".join(panels)}</div>'


def _choices(ours: Sequence[Record], names: plots.Names) -> str:
    same = [r for r in ours if r.target == MAIN and "pipelines" in r.sweeps]
    if len({r.regs for r in same}) < 2:
        return ""
    shown = (
        (lambda r: r.density, "area efficiency, Gbit/s/mm²"),
        (lambda r: r.per_watt, "energy efficiency, Gbit/s/W"),
    )
    panels = [
        _panel(chart.shown(plots.choices(same, value, title, names), 540, 360))
        for value, title in shown
        if any(value(r) for r in same)
    ]
    return (
        '<p class="note">One AES-128 encryption pipeline by S-box and registers a round.</p>'
        f'<div class="row">{"".join(panels)}</div>'
    )


def _latency(ours: Sequence[Record], others: Sequence[Record], names: plots.Names) -> str:
    same = [r for r in ours if r.target == MAIN]
    if not any(r.latency_ns for r in same):
        return ""
    svg = chart.shown(plots.latency(same, others, names), 1100, 440)
    return '<p class="note">From a block to its answer; downwards is better.</p>' + _panel(svg)


def _same_flow(ours: Sequence[Record], others: Sequence[Record], names: plots.Names) -> str:
    panels = []
    for target in ("nangate45", "xc7", "ecp5"):
        if any(r.target == target and r.area and r.bits for r in ours):
            plot = plots.same_flow(ours, others, target, names)
            panels.append(_panel(chart.shown(plot, 540, 430), target))
    text = (
        "Clocks are left out here: bits a clock are exact for everybody. Open designs went through "
        "Yosys with its own scripts, flattened and without block RAM; ours with what this flow "
        'adds. They differ in what they do: see <a href="#peers">the list</a>.'
    )
    return f'<p class="note">{text}</p><div class="row">{"".join(panels)}</div>' if panels else ""


def _ranking(ours: Sequence[Record], others: Sequence[Record], names: plots.Names) -> str:
    marks = []
    for target in _targets(ours):
        for family in plots.OURS:
            known = [r for r in ours if (r.target, r.family) == (target, family) and r.gbps]
            if known:
                winner = max(known, key=lambda r: r.gbps)
                marks.append((winner, f"ours: {winner.label}, {target}"))
    paper = max((r for r in others if r.source == plots.TABLE3), key=lambda r: r.gbps)
    rest = [r for r in others if r.gbps and r.source != plots.TABLE3]
    marks += [(r, f"{r.label}, {r.target}") for r in (paper, *rest)]
    drawn = [
        Mark(r.gbps, 0, *plots.STAGES[r.stage][:3], f"{label} ({r.stage})", names(r))
        for r, label in marks
    ]
    there = {record.stage for record, _ in marks}
    entries = [entry for stage, entry in plots.STAGES.items() if stage in there]
    svg = chart.both(
        chart.ranking("Throughput", "throughput, Gbit/s", drawn, entries, 1000),
        chart.ranking("Throughput", "throughput, Gbit/s", drawn, entries, chart.PHONE[0]),
    )
    text = (
        "The fastest of ours of each kind beside what others report. A mapped figure is a tool's "
        "estimate for cells without wires, not of a chip: compare it with silicon by order of "
        "magnitude only."
    )
    return f'<p class="note">{text}</p>' + _panel(svg)


def _pool(file: pathlib.Path, rows: list[dict], page: pathlib.Path) -> str:
    if not rows:
        return ""
    where = os.path.relpath(file, page.parent)
    build = rows[0].get("build")
    cards = f"simulated {html.escape(str(build))} cards" if build else "simulated cards"
    text = (
        f"The device pool of Fernando et al.: one message divided over {cards}, put in order. "
        f'From <a href="{html.escape(where, quote=True)}">{POOL}</a>, by <code>maeslant measure '
        "pool</code>."
    )
    return f'<p class="note">{text}</p>' + _panel(chart.shown(plots.pool(rows), 1100, 420))


def _cell(value: object) -> str:
    if value is None:
        return "<td></td>"
    return f'<td class="n" data-v="{value}">{pictures.number(float(value))}</td>'


def _table(ours: Sequence[Record], best: set[int], titles: dict[str, str]) -> str:
    heads = '<th data-sort="t">core</th><th data-sort="t">technology</th><th data-sort="t">front'
    heads += "</th>" + "".join(f'<th class="n" data-sort="n">{name}</th>' for name, *_ in COLUMNS)
    heads += "<th>report</th><th>tools</th>"
    tools = list(dict.fromkeys(record.tools for record in ours))
    rows = []
    for index, record in enumerate(ours):
        name = html.escape(record.label)
        why = "; ".join(titles.get(sweep, sweep) for sweep in record.sweeps)
        front = '<span class="front">● front</span>' if index in best else ""
        link = ""
        if record.report:
            where = html.escape(record.report, quote=True)
            link = f'<a href="{where}" title="{where}"><code>{record.fingerprint}</code></a>'
            link += f" of an older RTL ({html.escape(record.commit)})" if record.older else ""
        rows.append(
            f'<tr id="r{index}" data-of="r{index}">'
            f'<td data-v="{name}" title="{html.escape(why, quote=True)}">{name}</td>'
            f'<td data-v="{record.target}">{html.escape(record.target)}</td>'
            f'<td data-v="{0 if index in best else 1}">{front}</td>'
            + "".join(_cell(value(record)) for _, value, _ in COLUMNS)
            + f"<td>{link}</td><td>[{tools.index(record.tools) + 1}]</td></tr>"
        )
    text = (
        "A click on a heading sorts. Front: nothing smaller in that technology is faster. A "
        "report has the configuration, the critical path and the fingerprint of its sources; one "
        "of an older RTL was made before that changed, at the commit beside it."
    )
    return (
        f'<p class="note">{text}</p><div class="wrap"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        '<p class="note">Tools: '
        + "; ".join(f"[{n}] {html.escape(text)}" for n, text in enumerate(tools, 1))
        + ".</p>"
    )


def _failed(failed: Sequence[Outcome]) -> str:
    if not failed:
        return ""
    rows = "".join(
        f"<tr><td>{html.escape(str(outcome.point))}</td><td>{html.escape(outcome.error)}</td></tr>"
        for outcome in failed
    )
    return f"<p>{len(failed)} points failed:</p><table>{rows}</table>"


def _peers(others: Sequence[Record]) -> str:
    heads = ("design", "technology", "does")
    figures = ("kGE", "LUTs", "bits a clock", "MHz", "Gbit/s", "latency, ns", "mW")
    rows = []
    for index, r in enumerate(others):
        values = (r.kge, r.lut, r.bits, r.mhz, r.gbps, r.latency_ns, r.mw)
        cells = "".join(_cell(value) for value in values)
        rows.append(
            f'<tr id="p{index}" data-of="p{index}"><td>{html.escape(r.label)}</td>'
            f"<td>{html.escape(r.target)}</td><td>{html.escape(r.does)}</td>{cells}"
            f"<td>{html.escape(r.source)} ({r.basis})</td></tr>"
        )
    head = "".join(f"<th>{name}</th>" for name in heads)
    head += "".join(f'<th class="n">{name}</th>' for name in figures) + "<th>source (basis)</th>"
    return (
        '<p class="note">From configs/related_work.yml; titles and venues: docs/references.md.</p>'
        f'<div class="wrap"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _how(ours: Sequence[Record]) -> str:
    said = dict.fromkeys((record.target, record.left_out) for record in ours)
    rows = "".join(
        f"<li><b>{html.escape(target)}</b>: left out: {html.escape(text)}</li>"
        for target, text in said
    )
    commits = ", ".join(sorted({record.commit for record in ours})) or "none"
    return (
        f"<p>{LEFT_OUT}</p><ul>{rows}</ul>"
        "<p>Throughput is that of AES-128 blocks: bits a clock, counted in simulation where the "
        "build is a named one and after its RTL's header elsewhere, times the clock of the "
        "critical path. kGE are areas over that of the library's two-input NAND. Again: "
        "<code>maeslant explore</code>; one point: <code>maeslant synth NAME --target "
        f"TARGET</code>. Commits of the RTL: {html.escape(commits)}.</p>"
    )
