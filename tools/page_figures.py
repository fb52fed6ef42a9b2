# SPDX-License-Identifier: Apache-2.0
"""Puts measured figures into written pages: tables between marks, and sentences that are checked.

configs/page_figures.yml names for each page the sentences that hold figures. `{:.1f}` in a sentence
stands for the figure of results/figures.json whose part, build and metric are given beside it, or
for a value of another record of results/, by its keys.
tools/gen_figures.py calls this module.
"""

import functools
import json
import operator
import pathlib

import yaml

from maeslant import paths

SENTENCES = paths.ROOT / "configs" / "page_figures.yml"
CARD = paths.ROOT / "docs" / "guides" / "card.md"
# Blank lines, or the generator of the site takes the table for a part of the comment.
MARK = "<!-- {} begin: written by tools/gen_figures.py -->\n\n"
END = "\n<!-- {} end -->"
TWO_WAY = "stream4, two-way bus"
SIZES = (16, 64, 256, 1024, 1504, 4096, 16384, 65536)
# The keys of the XTS messages are pairs, so that the card holds half as many.
KEYS = {"CTR": 16, "XTS": 8, "GCM": 16}


class Figures:
    """Returns published figures by part, build and metric."""

    def __init__(self, figures: list[dict]) -> None:
        self._figures = figures

    def value(self, part: str, build: str, metric: str, unit: str = "") -> float:
        """Returns the published figure with these names; raises ValueError if not just one."""
        found = [
            figure["value"]
            for figure in self._figures
            if (figure["part"], figure["config"], figure["metric"]) == (part, build, metric)
            and figure["unit"].startswith(unit)
        ]
        if len(found) != 1:
            raise ValueError(f"{len(found)} figures, not one: {part} | {build} | {metric} {unit}")
        return found[0]


def jobs_table(figures: Figures) -> str:
    """Returns a Markdown table of the card's shares of data clocks, by mode and size of job."""

    def share(metric: str) -> str:
        return f"{figures.value('dma', TWO_WAY, metric):.1f} %"

    alone = {
        mode: [share(f"{mode}, one job of {size} KB alone") for size in ("16", "64", "1,024")]
        for mode in ("CTR", "XTS", "GCM")
    }
    if alone["XTS"] != alone["CTR"]:
        raise ValueError(f"XTS is no longer equal to CTR: {alone}")
    lines = ["| | one job of 16 KB | one of 64 KB | one of 1 MB | 16 of 64 KB at once |"]
    lines += ["|---|---:|---:|---:|---:|"]
    for mode, title, noun in (
        ("CTR", "CTR (XTS is equal)", "transfers"),
        ("GCM", "GCM", "messages"),
    ):
        cells = [title, *alone[mode], share(f"{mode}, 16 {noun} of 64 KB queued")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def messages_table(figures: Figures) -> str:
    """Returns a Markdown table of the rates of queued messages by size, beside OpenSSL's."""

    def value(metric: str, unit: str) -> float:
        return figures.value("messages", "stream4", metric, unit)

    def share(metric: str) -> str:
        found = value(metric, "%")
        return f"{found:.1f} %" if found < 10 else f"{found:.0f} %"

    lines = ["| bytes | CTR | XTS | GCM | GCM, card | GCM, OpenSSL |"]
    lines += ["|---:|---:|---:|---:|---:|---:|"]
    for size in SIZES:
        cells = [f"{size:,}"]
        for mode, keys in KEYS.items():
            name = f"{mode}, 64 of {size:,} B queued"
            cells.append(f"{share(f'{name}, one key')}; {share(f'{name}, {keys} keys by turns')}")
        card = value(f"GCM, 64 of {size:,} B queued, one key, at 200 MHz", "million")
        cells.append(f"{card:.1f}" if card >= 10 else f"{card:.2f}")
        cells.append(f"{value(f'GCM, {size:,} B, OpenSSL on one core, one key', 'million'):.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def between(text: str, name: str, table: str) -> str:
    """Returns a text with a table put between a name's marks; raises ValueError without marks."""
    begin, end = MARK.format(name), END.format(name)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"no marks of {name}")
    head, rest = text.split(begin)
    return head + begin + table + end + rest.split(end)[1]


def card_page(figures: list[dict]) -> str:
    """Returns docs/guides/card.md with its tables made from the measured figures."""
    known = Figures(figures)
    text = between(CARD.read_text(), "jobs", jobs_table(known))
    return between(text, "messages", messages_table(known))


def of_record(file: pathlib.Path, keys: list[list[str]]) -> list[object]:
    """Returns values of a published JSON record, each by the keys that lead to it."""
    record = json.loads(file.read_text())
    return [functools.reduce(operator.getitem, each, record) for each in keys]


def stale_sentences(
    figures: list[dict],
    root: pathlib.Path = paths.ROOT,
    source: pathlib.Path = SENTENCES,
    results: pathlib.Path = paths.RESULTS,
) -> list[str]:
    """Returns errors: sentences with the current figures that pages should hold but do not."""
    known, found = Figures(figures), []
    for page, sentences in yaml.safe_load(source.read_text()).items():
        text = " ".join((root / page).read_text().split())
        for entry in sentences:
            values = [known.value(*names) for names in entry.get("figures", ())]
            if "record" in entry:
                values = of_record(results / entry["record"], entry["values"])
            wanted = " ".join(entry["text"].format(*values).split())
            if wanted not in text:
                found.append(f"{page} does not say: {wanted}")
    return found
