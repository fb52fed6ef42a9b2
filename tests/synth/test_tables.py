# SPDX-License-Identifier: Apache-2.0
"""Tests the tables of synthesis results: reports are kept until their inputs change."""

import gzip

import pytest

from maeslant.errors import MaeslantError
from maeslant.synth import flow, liberty, report, tables, yosys
from maeslant.synth.explore import points
from tests.synth.test_flow import library


@pytest.fixture
def small(monkeypatch, tmp_path) -> None:
    """Defines one small table of synthesis results, written to a test folder."""
    library("nangate45")
    monkeypatch.setattr(report, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(report, "PUBLISHED", tmp_path / "published")
    monkeypatch.setattr(tables.paths, "RESULTS", tmp_path / "results")
    use(monkeypatch, {"Kind": 1}, {})


def made(compute: bool) -> list[str]:
    """Writes the pages of result tables; returns those that are not current."""
    return tables.make(compute, public=True)[1]


def page() -> str:
    """Returns the text of the page of result tables."""
    return (tables.paths.RESULTS / tables.PAGE).read_text()


def use(monkeypatch, parameters: dict, options: dict) -> None:
    """Returns the synthesis of the first row of a result table with given settings."""
    row = tables.Ours("mae_sbox_tower", parameters=parameters, options=options)
    one = (tables.Table("S-boxes", "One.", ("kge", "fmax_mhz"), (row,)),)
    monkeypatch.setattr(tables, "tables", lambda: one)
    monkeypatch.setattr(tables, "headlines", lambda: (tables.Ours("mae_sbox_tower", label="ours"),))


def test_reports_are_kept(small, monkeypatch, tmp_path) -> None:
    """A published synthesis report fills a result table without a tool."""
    assert made(False) == ["`mae_sbox_tower` (Kind 1) for nangate45: not synthesized yet"]
    assert made(True) == []
    before = page()
    assert "| `mae_sbox_tower` (Kind 1) | nangate45 | 0." in before
    assert "(../published/mae_sbox_tower-nangate45-Kind1.json)" in before
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    monkeypatch.setattr(yosys, "run", None)
    assert made(True) == []
    assert page() == before


def test_a_changed_point_is_not_taken(small, monkeypatch, tmp_path) -> None:
    """A synthesis report of other parameters, flow or power setting is not used."""
    assert made(True) == []
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    changes = [({"Kind": 2}, {}), ({"Kind": 1}, {"period_ns": 3}), ({"Kind": 1}, {"power": True})]
    for parameters, options in changes:
        use(monkeypatch, parameters, options)
        assert len(made(False)) == 1
    use(monkeypatch, {"Kind": 1}, {})
    assert made(False) == []
    (file,) = report.PUBLISHED.glob("*.json")
    good = file.read_text()
    for bad in ('{"reports": 1}', good[:-9]):
        file.write_text(bad)
        assert len(made(False)) == 1
    file.write_text(good)
    assert made(False) == []


def test_a_row_of_older_rtl_stays_and_says_so(small, monkeypatch, tmp_path) -> None:
    """A result table's row of older RTL stays and says so, until a new synthesis."""
    assert made(True) == []
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    (file,) = report.PUBLISHED.glob("*.json")
    figures = page().split("| `mae_sbox_tower` (Kind 1) | ")[1].split(" | [")[0]
    file.write_text(old := file.read_text().replace('"sources": "', '"sources": "0'))
    (line,) = made(False)
    assert "of an older RTL" in line
    row = page().split("| `mae_sbox_tower` (Kind 1) | ")[1].split("\n")[0]
    assert row.startswith(figures) and row.endswith(", **older RTL** |")
    assert file.read_text() == old, "what was not made again is not published again"
    assert made(True) == []
    assert page().count("older RTL**") == 0 and file.read_text() != old


def test_the_name_of_the_library_is_no_matter(small, monkeypatch, tmp_path) -> None:
    """A synthesis report is found by the Liberty file's contents, whatever its name."""
    assert made(True) == []
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    before = page()
    text = library("nangate45").path.read_bytes()
    folder = tmp_path / "pdk"
    folder.mkdir()
    monkeypatch.setenv(liberty.FOLDER, str(folder))
    for name, content in (("", text), (".gz", gzip.compress(text))):
        place = folder / f"nangate45_typ.lib{name}"
        place.write_bytes(content)
        assert made(False) == [] and page() == before
        place.unlink()


def test_the_repository_is_written_by_publish_alone(small) -> None:
    """Without `publish` the result tables are written under build/ only."""
    files, missing = tables.make(compute=True)
    assert missing == []
    assert not tables.paths.RESULTS.exists() and not report.PUBLISHED.exists()
    assert all(file.parent == report.REPORTS for file in files)


def test_published_with_power(small, monkeypatch, tmp_path) -> None:
    """A synthesis report with power replaces one without power, and not the reverse."""
    assert made(True) == []
    (file,) = report.PUBLISHED.glob("*.json")
    assert report.load(file).power is None
    bare = flow.remembered("mae_sbox_tower", "nangate45", {"Kind": 1})
    use(monkeypatch, {"Kind": 1}, {"power": True})
    assert made(True) == []
    assert report.load(file).power["mw"] > 0
    flow.publish(bare, "mae_sbox_tower", "nangate45", {"Kind": 1})
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    assert made(False) == []
    monkeypatch.setattr(flow, "MODEL", flow.MODEL + 1)
    assert len(made(False)) == 1, "power of another model is none"


def test_summary(small) -> None:
    """The summary of synthesis results starts with the main ones and leaves out incomplete ones."""
    made(True)
    assert "## Summary\n\n| build | command | kGE " in page() and "ours" not in page()
    flow.synthesize("mae_sbox_tower", "nangate45")
    made(False)
    assert "| ours | `maeslant synth mae_sbox_tower` | 0." in page()


def test_differences() -> None:
    """The table of differences shows ratios of figures that both syntheses have."""
    whole, part = tables.Ours("stream4", "xc7"), tables.Ours("copy4", "xc7")

    def of(**area: float) -> report.Report:
        words = dict.fromkeys(
            ("name", "top", "target", "kind", "sources", "commit", "left_out"), ""
        )
        words |= {"parameters": {}, "recipe": {}, "tools": {}}
        return report.Report(**words, area=area, timing=None)

    done = {
        repr(whole): of(lut=125, ff=80, bram=4.5, dsp=6),
        repr(part): of(lut=100, ff=20, bram=0, dsp=6),
    }
    more = tables._record(tables.Difference(whole, part, "more"), done)
    assert more["label"] == "more (+25% LUT)"
    assert more["figures"] == {"lut": 25, "ff": 60, "bram": 4.5, "dsp": 0}
    share = tables._record(tables.Difference(whole, part, "share", share=True), done)
    assert share["label"] == "share (80% of the LUT, 25% of the FF)"
    assert share["figures"] == {"lut_share": 0.8, "ff_share": 0.25}
    done[repr(whole)] = None
    assert not tables._record(tables.Difference(whole, part, "none"), done)["figures"]


def test_without_a_library_nothing_is_lost(small, monkeypatch, tmp_path) -> None:
    """Result tables whose designs need a missing library are not written."""
    made(True)
    written = (tables.paths.RESULTS / tables.PAGE, tables.paths.RESULTS / tables.DATA)
    before = {path: path.read_text() for path in written}
    monkeypatch.setenv(liberty.FOLDER, str(tmp_path / "none"))
    with pytest.raises(MaeslantError, match="no nangate45_typ.lib"):
        made(False)
    assert before == {path: path.read_text() for path in before}


def test_published_reports_are_of_points() -> None:
    """results/reports holds only reports that a table or the explorer uses."""
    library("nangate45")
    calls = [point.call() for point in points.load()]
    for ours in (ours for table in tables.tables() for ours in tables._points(table.rows)):
        parameters = ours.parameters or None
        calls.append({"name": ours.name, "target": ours.target, "parameters": parameters})
        calls[-1] |= ours.options
    known = {"pool.json"}
    for call in calls:
        call.pop("power", None)
        known.add(flow.point(**call).published.name)
    assert {path.name for path in report.PUBLISHED.glob("*")} <= known
