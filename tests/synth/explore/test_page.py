# SPDX-License-Identifier: Apache-2.0
"""Tests the page of `maeslant explore`: Pareto fronts, plots, links, display in a browser."""

import dataclasses
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from rich.console import Console

from maeslant import paths
from maeslant.build import pictures
from maeslant.errors import MaeslantError
from maeslant.synth import report
from maeslant.synth.explore import chart, command, plots, records
from maeslant.synth.explore.chart import Axis, Line, Mark, Plot
from maeslant.synth.explore.records import Record
from tests.synth.explore import standin
from tests.synth.explore.test_sweep import count, notebook, orders
from tests.synth.test_flow import library

__all__ = ["notebook"]
TABLE = """
lanes:
  title: Lanes & <more>
  build: lanes1
  parameters: {Lanes: [1, 2, 3]}
  targets: [nangate45, xc7]
  power: true
"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def run(folder: pathlib.Path, **given: object) -> tuple[bool, str, str]:
    """Runs `maeslant explore` with the replacement synthesis; returns success and output."""
    table = folder / "explore.yml"
    table.write_text(TABLE)
    out, err = io.StringIO(), io.StringIO()
    settings = {"targets": [], "quick": False, "address": None, "jobs": 2, "out": None}
    settings |= {
        "picture": None,
        "finished": False,
        "as_json": True,
        "file": table,
        "function": standin.NAME,
    } | given
    good = command.run(
        **settings, console=Console(file=out, width=200), err=Console(file=err, width=200)
    )
    return good, out.getvalue(), err.getvalue()


def test_command(notebook: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page and JSON of `maeslant explore` list each point with its report, and failures."""
    orders(notebook, fails=[3])
    with pytest.raises(MaeslantError, match="no point is finished"):
        run(notebook, finished=True)
    good, out, err = run(notebook)
    found = json.loads(out)
    assert not good and err.count("failed: lanes, N = 3") == 2
    assert len(found["points"]) == 4 and len(found["failed"]) == 2
    text = pathlib.Path(found["page"]).read_text()
    assert found["page"] == str(report.REPORTS / "explore.html")
    for point in found["points"]:
        assert (report.REPORTS / point["report"]).is_file()
        assert f'href="{point["report"]}"' in text
    assert "2 points failed" in text and "no 3 lanes today" in text
    assert "Lanes &amp; &lt;more&gt;" in text and "<more>" not in text
    assert not re.search(r'(src|href)="(https?:)?//', text) and "@import" not in text
    assert len(text) < 1_000_000
    good, out, _ = run(notebook, finished=True)
    lost = json.loads(out)
    assert good and lost["missing"] == 2 and count(notebook, "started") == 6
    assert lost["missing_points"] == ["lanes, N = 3, nangate45", "lanes, N = 3, xc7"]
    text = "2 more points are not synthesized yet: lanes, N = 3 (nangate45), lanes, N = 3 (xc7)"
    assert f"{text}\n" in run(notebook, finished=True, as_json=False)[1]
    monkeypatch.setattr(command, "NAMED", 1)
    text = "yet: lanes, N = 3 (nangate45) and 1 more; --json names them all"
    assert f"{text}\n" in run(notebook, finished=True, as_json=False)[1]
    assert "2 more points" in pathlib.Path(found["page"]).read_text()
    orders(notebook)
    (report.REPORTS / "pool.json").write_text(
        json.dumps([{"cards": n, "blocks_per_clock": 3.9 * n, "times_one": n} for n in (1, 2)])
    )
    good, out, _ = run(
        notebook, as_json=False, out=notebook / "other.html", picture=notebook / "a.svg"
    )
    assert good and "The page: " in out and "●" in out
    text = (notebook / "other.html").read_text()
    drawn = ElementTree.parse(notebook / "a.svg").getroot()
    assert drawn.tag.endswith("svg") and "Dong N=10" in "".join(drawn.itertext())
    assert "Many cards" in text and 'href="reports/lanes' in text
    assert 'href="reports/pool.json"' in text
    for head, body in re.findall(r"<thead>(.*?)</thead>\s*<tbody>(.*?)</tbody>", text, re.DOTALL):
        rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
        assert rows and {row.count("<td") for row in rows} == {len(re.findall(r"<th\b", head))}
    assert count(notebook, "started") == 8


def test_published(notebook: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A published page of `maeslant explore` links to published reports of all its points."""
    library("nangate45")
    monkeypatch.setattr(report, "PUBLISHED", notebook / "results" / "reports")
    monkeypatch.setattr(command.paths, "RESULTS", notebook / "results")
    orders(notebook)
    report.REPORTS.mkdir(exist_ok=True)
    pool = json.dumps([{"cards": 2, "blocks_per_clock": 7.8, "times_one": 2}])
    (report.REPORTS / "pool.json").write_text(pool)
    (notebook / "results").mkdir()
    good, out, _ = run(notebook, public=True)
    text = (notebook / "results" / "explore.html").read_text()
    assert good and (notebook / "results" / "explore.svg").is_file()
    links = [point["report"] for point in json.loads(out)["points"]] + ["reports/pool.json"]
    assert len(set(links)) == 7
    for link in links:
        assert link.startswith("reports/") and f'href="{link}"' in text
        assert (notebook / "results" / link).is_file()
    assert len(list(report.PUBLISHED.iterdir())) == 7
    with pytest.raises(MaeslantError, match="--publish takes the whole table"):
        run(notebook, public=True, quick=True)
    assert (notebook / "results" / "explore.html").read_text() == text


@pytest.mark.parametrize("row", [{}, {"times_one": 0}, {"times_one": None}, {"times_one": "2"}])
def test_a_pool_of_noise_is_none(row: dict, notebook: pathlib.Path) -> None:
    """`maeslant explore` ignores a damaged file of pool measurements."""
    report.REPORTS.mkdir(exist_ok=True)
    noise = json.dumps([{"cards": 2, "blocks_per_clock": 7.8} | row])
    (report.REPORTS / "pool.json").write_text(noise)
    assert (command._pool() or [None])[0] != report.REPORTS / "pool.json"


@pytest.mark.full
def test_whole_or_absent(notebook: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report page is written whole or not at all, and an unusable path is refused at once."""
    out = notebook / "page.html"
    run(notebook, out=out)
    before = out.read_text()

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(command.os, "replace", fails)
        with pytest.raises(KeyboardInterrupt):
            run(notebook, out=out)
    assert out.read_text() == before and not list(notebook.glob(".page.html*"))
    pipe = notebook / "pipe"
    os.mkfifo(pipe)
    for place in (notebook / "none" / "page.html", notebook, pipe):
        with pytest.raises(MaeslantError, match="no such folder|is a folder|no plain file"):
            run(notebook, out=place)
    with pytest.raises(MaeslantError, match="both the page and the picture"):
        run(notebook, out=out, picture=out)
    assert pipe.is_fifo()


def record(kge: float, gbps: float, target: str = "nangate45") -> Record:
    """Returns a design record with an area, a throughput and a technology."""
    return Record(f"{kge}", target, "pipeline", kge=kge, gbps=gbps)


def test_front() -> None:
    """records.front returns the designs that no design of at most their area outperforms."""
    some = [record(*pair) for pair in ((10, 5), (20, 5), (20, 9), (25, 9), (40, 10), (40, 9))]
    best = records.front(some, lambda r: r.kge, lambda r: r.gbps)
    assert [(r.kge, r.gbps) for r in best] == [(10, 5), (20, 9), (40, 10)]
    other = record(50, 1, "sky130")
    assert records.best([*some, other]) == {0, 2, 4, 6}


def test_figures() -> None:
    """Density and efficiency of design records equal those printed in Dong's Table 3."""
    paper = {r.lanes: r for r in records.others() if r.source == "Dong Table 3"}
    for lanes, density, per_watt in ((1, 856, 1977), (8, 990, 2292), (10, 983, 2377)):
        assert paper[lanes].density == pytest.approx(density, rel=0.01)
        assert paper[lanes].per_watt == pytest.approx(per_watt, rel=0.01)
    assert Record("", "", "pipeline", pj=64).per_watt == pytest.approx(2000)
    ours = Record("", "", "gcm", mw=10, gbps=100)
    assert ours.per_watt is None, "blocks that were not counted while the power was"
    assert dataclasses.replace(ours, source="someone").per_watt == pytest.approx(10000)
    values = {"Lanes": 3, "RegsPerRound": 2}
    assert records._function("mae_cipher_lanes", values, {}) == (3, 21)
    assert records._function("mae_cipher_iter", {"Units": 2}, {}) == (0.2, 10)
    assert records._function("mae_fifo", {}, {}) == (None, None)


def places(svg: str) -> dict[str, tuple[float, float]]:
    """Returns the position of each design's mark in a plot's SVG text."""
    found = {}
    mark = r'data-of="(\w+)"[^>]*>\s*<path transform="translate\(([\d.]+),([\d.]+)'
    for name, x, y in re.findall(mark, svg):
        found[name] = float(x), float(y)
    return found


PLOT = Plot(
    "a <b>",
    Axis("x, kGE", log=True, low=0.5, high=2000),
    Axis("y", low=-1, high=8),
    [
        *(Mark(10**n, 2 * n, "blue", label=f"point {n}", data=f"r{n}") for n in range(4)),
        Mark(10, 2.1, "red", "square", True, "beside it", "p0"),
    ],
    [Line([(1, 0), (1000, 6)], "green", stairs=True)],
    [("blue", "circle", False, "ours")],
)


def test_chart() -> None:
    """chart.render puts marks at their values, with labels, and is reproducible."""
    text = chart.render(PLOT, 400, 300)
    at = places(text)
    x, y = zip(*(at[f"r{n}"] for n in range(4)), strict=True)
    steps = [b - a for a, b in zip(x, x[1:], strict=False)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.2) and y[0] > y[1] > y[2] > y[3]
    assert "a &lt;b&gt;" in text and "x, kGE" in text and text.count('class="name"') == 5
    assert text == chart.render(PLOT, 400, 300), "the same bytes for the same figures"
    assert not re.search(r"[:\"]#[0-9a-f]{6}\b", text), "a colour outside the palette"
    assert [pictures.number(value) for value in (0, 0.12345, 12.345, 990.4, 123456)] == [
        "0", "0.123", "12.3", "990", "123,456",
    ]  # fmt: skip
    rows = chart.ranking("t", "x", PLOT.marks, width=400)
    assert rows.index("point 3") < rows.index("point 0")


@pytest.mark.parametrize("size", [(1100, 560), chart.PHONE])
def test_labels(size: tuple[int, int]) -> None:
    """pictures.labels places labels inside the picture and over no mark or other label."""
    marks = [(10 + n % 7, 10 + n // 7) for n in range(49)]
    names = [(x, y, f"core {x}, {y} of some length") for x, y in marks]
    with pictures.drawing(*size) as (figure, axes):
        for x, y in marks:
            pictures.dot(axes, x, y, "blue")
        stand = pictures.labels(figure, axes, names, marks, must=3)
        boxes = [text.get_window_extent() for text in axes.texts]
        area = figure.bbox
    assert [name for _, _, name in names[:3]] == stand[:3] and len(boxes) == len(stand)
    for index, box in enumerate(boxes):
        assert box.x0 >= 0 and box.x1 <= area.width and box.y0 >= 0 and box.y1 <= area.height
        assert not any(box.overlaps(other) for other in boxes[:index])


TICK = re.compile(
    r'<text style="font-size: ([\d.]+)px; text-anchor: middle; fill: var\(--dim\)" '
    r'x="([\d.]+)" y="([\d.]+)">([^<]+)<'
)
EM = 0.6  # of a character, in a wide font


def crowded(svg: str) -> list[tuple[str, str]]:
    """Returns the pairs of neighbouring tick labels below a plot that touch each other."""
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for size, x, y, text in TICK.findall(svg):
        rows.setdefault(y, []).append((float(x), EM * float(size) * len(text) / 2, text))
    return [
        (left[2], right[2])
        for row in rows.values()
        for left, right in itertools.pairwise(sorted(row))
        if right[0] - right[1] <= left[0] + left[1]
    ]


def test_ticks_of_the_published_page() -> None:
    """No two tick labels touch in a plot of the published page, for a screen or for a phone."""
    plots = re.findall(r"<svg .*?</svg>", (paths.RESULTS / "explore.html").read_text(), re.DOTALL)
    assert len(plots) > 8 and all(TICK.search(plot) for plot in plots)
    assert [pair for plot in plots for pair in crowded(plot)] == []


@pytest.mark.parametrize("high", [2.4, 4, 8, 30, 300])
def test_ticks_for_a_phone(high: float) -> None:
    """A phone's plot has two tick labels or more in any range of numbers, and they stand apart."""
    for low in (1000, 2500, 4500, 7000, 20000):
        axis = Axis("LUT", log=True, low=low, high=low * high)
        svg = chart.render(Plot("t", axis, Axis("y", log=True)), *chart.PHONE)
        assert len(TICK.findall(svg)) >= 2 and not crowded(svg), (low, high)


@pytest.mark.full
def test_what_a_stranger_sees(notebook: pathlib.Path) -> None:
    """The page of `maeslant explore` begins with an explanation and has plots for phones."""
    file = notebook / "page.html"
    run(notebook, out=file, picture=notebook / "a.svg")
    text = file.read_text()
    head = text[text.index("<header>") : text.index("</header>")]
    assert "AES" in head and "commit" not in head and "build" not in head
    assert "pipelines, AES-128" in text[: text.index('<section id="choose"')]
    wide, narrow = text.count('class="wide"'), text.count('class="narrow"')
    assert wide == narrow > 4
    for body in re.findall(r'<div class="narrow">(.*?)</svg>', text, re.DOTALL):
        assert float(re.search(r'viewBox="0 0 ([\d.]+)', body)[1]) <= 380
    ranking = text[text.index('<section id="rank"') :].split("</section>")[0]
    for stage in ("mapped", "silicon", "claimed"):
        assert f"{stage}: " in ranking and f"({stage})" in ranking
    for svg in ((notebook / "a.svg").read_text(), text[text.index('id="area0"') :]):
        smallest = "lanes1"  # of this table
        names = re.findall(r'class="name".*?</g>', svg, re.DOTALL)
        assert any(smallest in re.sub(r"<[^>]*>|\s+", " ", name) for name in names)


def test_one_style() -> None:
    """No Python module but pictures.py opens a plot or names a color."""
    for path in (paths.ROOT / "maeslant").glob("**/*.py"):
        text = path.read_text()
        if path.stem != "pictures":
            assert "pyplot" not in text and "rc_context" not in text, path
            assert not re.search(r"[\"']#[0-9a-fA-F]{6}", text), path


ACTIONS = """
<pre id="seen"></pre><script>
const seen = {};
const fire = (name) => document.querySelector(name).dispatchEvent(new Event("pointerenter"));
fire('.point[data-of="r2"]');
seen.tip = document.getElementById("tip").innerText;
const wishes = document.getElementById("wishes");
wishes.elements.gbps.value = 300;
wishes.dispatchEvent(new Event("input"));
seen.shown = [...document.querySelectorAll("tr[data-of^=r]:not(.gone)")].map((r) => r.id);
seen.answer = document.getElementById("answer").innerText;
document.querySelector('.point[data-of="p0"]').dispatchEvent(new Event("click"));
seen.pinned = document.querySelector("tr.pinned").id;
const heads = [...document.querySelectorAll("#points th")];
const head = heads.find((h) => h.innerText.startsWith("kGE"));
head.click(); head.click();
seen.sorted = [...document.querySelectorAll("tr[data-of^=r]")].map((r) => r.id);
document.querySelectorAll(".tabs button")[1].click();
seen.panels = [0, 1].map((n) => document.getElementById("area" + n).hidden);
document.getElementById("theme").click();
seen.theme = document.documentElement.dataset.theme;
document.getElementById("seen").textContent = JSON.stringify(seen);
</script></body>"""


def browse(file: pathlib.Path) -> tuple[str, str]:
    """Opens the page in headless Chromium; returns the resulting DOM and console output."""
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *(f"--user-data-dir={file.parent / 'profile'}", "--virtual-time-budget=2000"),
            *("--dump-dom", f"file://{file}"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(console)


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
def test_browser(notebook: pathlib.Path) -> None:
    """The page of `maeslant explore` works in Chromium: tips, filters, sorting, dark mode."""
    file = notebook / "page.html"
    run(notebook, out=file)
    text = file.read_text()
    file.write_text(text.replace("</body>", ACTIONS))
    dom, console = browse(file)
    assert not console
    seen = json.loads(re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)[1])
    assert all(text in seen["tip"] for text in ("lanes2", "320 Gbit/s", "250 kGE", "report.json"))
    # Wishes: 300 Gbit/s take two lanes; without a clock, on xc7, nobody knows.
    assert seen["shown"] == ["r2", "r4"] and "2 of 6 fit" in seen["answer"]
    assert seen["pinned"] == "p0" and seen["sorted"][:3] == ["r4", "r2", "r0"]
    assert seen["panels"] == [True, False] and seen["theme"] in ("light", "dark")
    file.write_text(text.replace('"use strict";', '"use strict"; nothing.there();'))
    assert "Uncaught ReferenceError" in browse(file)[1]


def test_kinds_of_lanes_are_apart() -> None:
    """Builds of several pipelines have a line each, also with the same S-box and registers."""
    made = [
        Record(f"{kind} {lanes}", "nangate45", "pipeline", lanes=lanes, mhz=mhz, sweeps=(kind,))
        for kind, mhz in (("lanes", 100), ("lanes_systolic", 200))
        for lanes in (1, 10)
    ]
    plot = plots.lanes(made, (), lambda record: record.mhz, "MHz", plots.Names(made, ()))
    assert [[*line.points] for line in plot.lines[:2]] == [
        [(1, 100), (10, 100)],
        [(1, 200), (10, 200)],
    ]
    assert ["fast" in plot.legend[0][3], "systolic" in plot.legend[1][3]] == [True, True]


def test_words_of_iterative_cores() -> None:
    """A core of one block at a time says how many clocks a block takes."""
    for clocks in (10, 337):
        core = Record("core", "xc7", "iterative", bits=128 / clocks)
        assert core.words.startswith(f"a block in {clocks} clocks, AES-128")
