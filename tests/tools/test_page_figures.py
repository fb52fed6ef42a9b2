# SPDX-License-Identifier: Apache-2.0
"""Tests tools/page_figures.py, which puts measured figures into written pages."""

import functools
import io
import json
import operator
import pathlib

import pytest
import yaml

from maeslant import paths
from tools import gen_figures, page_figures

FIGURES = json.loads((paths.RESULTS / "figures.json").read_text())["figures"]


def changed(part: str, metric: str, value: float) -> list[dict]:
    """Returns the published figures with another value of some."""
    found = [
        figure | {"value": value}
        if (figure["part"], figure["metric"]) == (part, metric)
        else figure
        for figure in FIGURES
    ]
    assert found != FIGURES
    return found


def test_pages_hold_the_published_figures() -> None:
    """The card's guide and all checked sentences agree with results/figures.json."""
    assert page_figures.card_page(FIGURES) == page_figures.CARD.read_text()
    assert page_figures.stale_sentences(FIGURES) == []


@pytest.mark.parametrize(
    ("metric", "cell"),
    [
        ("GCM, one job of 16 KB alone", "12.3 %"),
        ("CTR, 16 transfers of 64 KB queued", "12.3 %"),
    ],
)
def test_card_tables_follow(metric: str, cell: str) -> None:
    """The table of the card's guide shows a changed share of a job."""
    text = page_figures.card_page(changed("dma", metric, 12.34))
    assert text != page_figures.CARD.read_text() and f"| {cell} |" in text


def test_messages_table_follows() -> None:
    """The table of the card's guide shows a changed rate of OpenSSL."""
    figures = changed("messages", "GCM, 256 B, OpenSSL on one core, one key", 7.777)
    assert "| 26.6 | 7.78 |" in page_figures.card_page(figures)


def test_xts_that_differs_from_ctr_is_refused() -> None:
    """page_figures.card_page refuses to say that XTS is equal to CTR when it is not."""
    with pytest.raises(ValueError, match="no longer equal"):
        page_figures.card_page(changed("dma", "XTS, one job of 64 KB alone", 50.0))


def test_every_checked_sentence_notices_a_change(tmp_path: pathlib.Path) -> None:
    """page_figures.stale_sentences names the page when any one figure of a sentence changes."""
    for page, sentences in yaml.safe_load(page_figures.SENTENCES.read_text()).items():
        for entry in sentences:
            source = tmp_path / "one.yml"
            source.write_text(yaml.safe_dump({page: [entry]}))
            assert page_figures.stale_sentences(FIGURES, source=source) == []
            for keys in entry.get("values", ()):
                record = json.loads((paths.RESULTS / entry["record"]).read_text())
                *way, last = keys
                row = functools.reduce(operator.getitem, way, record)
                row[last] = type(row[last])(-77)
                (tmp_path / entry["record"]).write_text(json.dumps(record))
                found = page_figures.stale_sentences(FIGURES, source=source, results=tmp_path)
                assert len(found) == 1 and found[0].startswith(f"{page} does not say: ")
            for part, _, metric, *_ in entry.get("figures", ()):
                found = page_figures.stale_sentences(changed(part, metric, 1.5), source=source)
                assert len(found) == 1 and found[0].startswith(f"{page} does not say: ")


def test_unknown_figures_and_marks_are_refused() -> None:
    """page_figures refuses a figure that is not published and a page without its marks."""
    with pytest.raises(ValueError, match="0 figures, not one: dma | stream4 | speed"):
        page_figures.Figures(FIGURES).value("dma", "stream4", "speed")
    with pytest.raises(ValueError, match="no marks of jobs"):
        page_figures.between("no table", "jobs", "")


def test_figures_of_one_part_do_not_replace_all(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """gen_figures.py refuses figures that lack a published part, and names it and --merge."""
    data = tmp_path / "figures.json"
    before = json.dumps({"tool": "T", "commit": "C", "figures": FIGURES})
    data.write_text(before)
    for name in ("PAGE", "BUILDS", "README"):
        monkeypatch.setattr(gen_figures, name, tmp_path / name)
    (tmp_path / "README").write_text((paths.ROOT / "README.md").read_text())
    monkeypatch.setattr(gen_figures, "DATA", data)
    given = json.dumps([figure for figure in FIGURES if figure["part"] == "dma"])
    monkeypatch.setattr("sys.stdin", io.StringIO(given))
    monkeypatch.setattr("sys.argv", ["gen_figures.py"])
    assert gen_figures.main() == 1
    said = capsys.readouterr().out
    assert "messages" in said and "--merge" in said and "dma" not in said
    assert data.read_text() == before and not (tmp_path / "PAGE").exists()
    for words, some in ((["--merge"], given), ([], json.dumps(FIGURES))):
        monkeypatch.setattr("sys.stdin", io.StringIO(some))
        monkeypatch.setattr("sys.argv", ["gen_figures.py", *words])
        assert gen_figures.main() == 0
        assert len(json.loads(data.read_text())["figures"]) == len(FIGURES)
