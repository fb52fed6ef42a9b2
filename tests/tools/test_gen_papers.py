# SPDX-License-Identifier: Apache-2.0
"""Tests tools/gen_papers.py, which compares published papers with this repository's figures."""

import pathlib

import pytest

from tools import gen_papers

PAGE = """# Measured

## One

| part | build | value |
|---|---|---:|
| gcm | gcm4 | 6 clocks |
| gcm | gcm4, deep | 13 clocks |
| dma | gcm4 | – |

## Two

| part | value |
|---|---|
| gcm | 7 clocks |
"""
REPORT = """{
    "area": {"lut": 7456, "note": "mapped"},
    "rates": [0.1, 0.40571],
    "sizes": [{"bytes": 1, "card": 2}, {"bytes": 16, "card": 1.5e9}]
}"""


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("page.md > One # gcm | gcm4 # value", "6 clocks"),
        ("page.md > One\n  # gcm | gcm4, …\n  # value", "13 clocks"),
        ("page.md > Two # gcm # value", "7 clocks"),
        ("page.md ~ gcm4, deep . (\\d+) clocks", "13"),
        ("report.json # area.lut", "7,456"),
        ("report.json # rates.1", "0.4057"),
        ("report.json # sizes.bytes=16.card / 1e9", "1.5"),
    ],
)
def test_value(tmp_path: pathlib.Path, reference: str, found: str) -> None:
    """gen_papers.value finds a table cell, a match in a page, or a value of a report."""
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "report.json").write_text(REPORT)
    assert gen_papers.value(reference, tmp_path) == (found, reference.split()[0])


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("page.md > One # gcm | gcm5 # value", "0 rows"),
        ("page.md > One # gcm | gcm4… # value", "2 rows"),
        ("page.md > Three # gcm # value", "0 rows"),
        ("page.md > Two # gcm # area", "0 rows"),
        ("page.md > One # dma # value", "no value"),
        ("page.md ~ (\\d+) clocks", "3 matches"),
        ("report.json # area.ff", "no ff"),
        ("report.json # rates.2", "no 2"),
        ("report.json # sizes.bytes=64.card", "no bytes=64"),
        ("report.json # area.note", "no number"),
    ],
)
def test_no_value(tmp_path: pathlib.Path, reference: str, said: str) -> None:
    """gen_papers.value reports a value that is missing or not unique."""
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "report.json").write_text(REPORT)
    with pytest.raises(gen_papers.MissingValue, match=said):
        gen_papers.value(reference, tmp_path)


def test_section() -> None:
    """gen_papers.section lists a paper's rows with commands and states; bad states are refused."""
    row = {"item": "Table 1", "paper": 11, "command": "make test; make prove", "state": "reached"}
    paper = {"name": "Dong 2021", "note": "Here.", "rows": [row | {"ours": "10"}]}
    text = gen_papers.section(paper)
    assert "VNU Journal" in text
    assert "| Table 1 | 11 | `make test`, `make prove` | **reached** | 10 |\n" in text
    paper["rows"][0]["state"] = "done"
    with pytest.raises(gen_papers.MissingValue, match="unknown state done"):
        gen_papers.section(paper)
