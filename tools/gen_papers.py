# SPDX-License-Identifier: Apache-2.0
"""Writes docs/papers.md, which sets each claim of five papers beside our result.

`--check` fails when the page does not match, when a row names a value that is not published, or
when a state is unknown. A file of configs/papers is a paper:
  name      heading of its entry in docs/references.md
  note      what a reader has to know before the rows
  rows      item     what of the paper: a table, a figure, a claim, a wish, a limit
            paper    what it says there
            command  ours; several are separated by "; "
            state    one of STATES
            ours     one line of result
Nothing that is measured is typed there. In double brackets stands
  PAGE > HEADING # CELLS # COLUMN  a cell of a table in a page: of the row that begins with CELLS
                                   (| between them; … at the end of one stands for its rest),
                                   under HEADING, which may be left out
  FILE.json # a.b                  a value of a JSON file, NAME=NUMBER names an entry of a list
  FILE.json # a.b / 1e9            the same, divided
  FILE ~ REGEX                     the group of the one match of a regular expression in a file
PAGES has short names of pages. A row links to all that it takes a value from.
"""

import collections
import json
import os
import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths
from maeslant.bench.measure.figures import number

SOURCE = paths.ROOT / "configs" / "papers"
PAGE = paths.ROOT / "docs" / "papers.md"
REFERENCES = paths.ROOT / "docs" / "references.md"
PAGES = {
    "Figures": "results/figures.md",
    "Synthesis": "results/synthesis.md",
    "Peripheral": "docs/guides/peripheral.md",
}
VALUE = re.compile(r"\[\[(.+?)\]\]", re.DOTALL)
STATES = {
    "reached": "ours is as good as the paper's, or does what it wished for",
    "not reached": "measured, and worse than the paper's or unfinished",
    "not built": "nothing here does it, or nothing published shows it",
    "other": "measured in something that cannot be compared",
    "picture": "an illustration, no figure to reach",
}
HEAD = """# What the papers have

Every table, figure, claim, wish and limit of the five papers that Maeslant began with, and what it
has beside each: the command that regenerates ours, and one line of result. Values are those of the
pages that a row links to, where commit and tools stand; tools/gen_papers.py reads them there for
the rows of `configs/papers`. [Reproduce a paper's table](guides/reproduce-a-table.md) says how long
the commands take.
"""


class MissingValue(Exception):
    """Raised if a row of docs/papers.md names a figure that is not published."""


def tables(text: str) -> list[tuple[str, list[str], list[list[str]]]]:
    """Returns the tables of a Markdown page: heading, column names and rows of each."""
    found: list[tuple[str, list[str], list[list[str]]]] = []
    heading, inside = "", False
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not inside:
            found.append((heading, cells, []))
            inside = True
        elif set("".join(cells)) - set("-: "):
            found[-1][2].append(cells)
    return found


def cell(text: str, heading: str, row: list[str], column: str) -> str:
    """Returns a cell of a published Markdown table, by row and column.

    A given cell that ends in … stands for every cell that begins with it.
    """

    def same(given: str, there: str) -> bool:
        return there.startswith(given[:-1]) if given.endswith("…") else there == given

    found = {
        cells[names.index(column)]
        for title, names, rows in tables(text)
        if title.startswith(heading) and column in names
        for cells in rows
        if len(cells) >= len(row) and all(map(same, row, cells))
    }
    if len(found) != 1:
        raise MissingValue(f"{len(found)} rows, not one, of {' | '.join(row)} with {column}")
    value = found.pop()
    if value in ("", "–"):
        raise MissingValue(f"{' | '.join(row)} has no {column}")
    return value


def entry(found: object, key: str, file: str) -> object:
    """Returns an entry of parsed JSON by name, position or "key=value"; raises MissingValue."""
    name, _, number_there = key.partition("=")
    if isinstance(found, list):
        fits = [e for e in found if number_there and str(e.get(name)) == number_there]
        fits = fits or ([found[int(key)]] if key.isdigit() and int(key) < len(found) else [])
    else:
        fits = [found[key]] if isinstance(found, dict) and key in found else []
    if len(fits) != 1:
        raise MissingValue(f"{file} has no {key}")
    return fits[0]


def value(reference: str, root: pathlib.Path = paths.ROOT) -> tuple[str, str]:
    """Returns the published value that a reference in configs/papers names, and its file."""
    words = " ".join(reference.split())
    if " ~ " in words:
        file, pattern = words.split(" ~ ", 1)
        file = PAGES.get(file, file)
        text = " ".join((root / file).read_text().split())
        matches = set(re.findall(pattern, text))
        if len(matches) != 1:
            raise MissingValue(f"{file}: {len(matches)} matches, not one, of {pattern}")
        return matches.pop(), file
    place, *rest = words.split(" # ")
    file, _, heading = place.partition(" > ")
    file = PAGES.get(file, file)
    if file.endswith(".json"):
        keys, _, divisor = rest[0].partition(" / ")
        found = json.loads((root / file).read_text())
        for key in keys.split("."):
            found = entry(found, key, file)
        if not isinstance(found, int | float):
            raise MissingValue(f"{file}: {keys} is no number")
        return number(found / float(divisor) if divisor else found), file
    row, column = rest
    try:
        return cell((root / file).read_text(), heading, row.split(" | "), column), file
    except MissingValue as missing:
        raise MissingValue(f"{file}: {missing}") from None


def filled(text: str) -> str:
    """Returns a text with its references to published values replaced by the values and links."""
    homes: dict[str, str] = {}

    def one(match: re.Match) -> str:
        found, file = value(match[1])
        homes[file] = os.path.relpath(paths.ROOT / file, PAGE.parent)
        return found

    text = VALUE.sub(one, " ".join(text.split()))
    links = [f"[{pathlib.PurePath(file).stem}]({home})" for file, home in homes.items()]
    return text + (f" ({', '.join(links)})" if links else "")


def work(name: str) -> str:
    """Returns authors, title and year of a paper from docs/references.md."""
    parts = REFERENCES.read_text().split(f"\n### {name}\n")
    if len(parts) != 2:
        raise MissingValue(f"docs/references.md has no entry {name}")
    return parts[1].strip().split("\n\n")[0]


def papers() -> list[dict]:
    """Returns the descriptions of the five papers in configs/papers."""
    found = [yaml.safe_load(file.read_text()) for file in SOURCE.glob("*.yml")]
    text = REFERENCES.read_text()
    return sorted(found, key=lambda paper: text.find(f"### {paper['name']}\n"))


def section(paper: dict) -> str:
    """Returns the Markdown section of one paper, with its table of results."""
    lines = [f"## {paper['name']}", "", work(paper["name"]), "", " ".join(paper["note"].split())]
    lines += [
        "",
        "| of the paper | it says | our command | state | ours |",
        "|---|---|---|---|---|",
    ]
    for row in paper["rows"]:
        if row["state"] not in STATES:
            raise MissingValue(f"{row['item']}: unknown state {row['state']}")
        state = row["state"] if row["state"] == "picture" else f"**{row['state']}**"
        commands = ", ".join(f"`{command}`" for command in row["command"].split("; "))
        cells = (row["item"], row["paper"], commands, state, filled(row["ours"]))
        lines.append("| " + " | ".join(" ".join(str(c).split()) for c in cells) + " |")
    return "\n".join(lines) + "\n"


def page(works: list[dict]) -> str:
    """Returns the text of the Markdown page docs/papers.md."""
    many = collections.Counter(row["state"] for paper in works for row in paper["rows"])
    lines = ["| state | rows | meaning |", "|---|---:|---|"]
    lines += [f"| {state} | {many[state]} | {meaning} |" for state, meaning in STATES.items()]
    return "\n".join([HEAD, "\n".join(lines), "", *map(section, works)])


def main() -> int:
    """Writes docs/papers.md, or checks with --check that it is current."""
    try:
        wanted = page(papers())
    except MissingValue as missing:
        print(f"configs/papers: {missing}")
        return 1
    if PAGE.exists() and PAGE.read_text() == wanted:
        return 0
    if "--check" in sys.argv:
        print("docs/papers.md does not match configs/papers and results: tools/gen_papers.py")
        return 1
    paths.write(PAGE, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
