# SPDX-License-Identifier: Apache-2.0
"""Tests the pages of synthesis results: published reports are reused until inputs change."""

import dataclasses
import functools
import gzip
import json
import shutil

import pytest

from maeslant.errors import MaeslantError
from maeslant.synth import flow, liberty, report, yosys
from maeslant.synth.explore import points
from maeslant.synth.page import fits, netlists, tables
from maeslant.synth.report import SynthesisError
from tests.synth.test_flow import library


@pytest.fixture
def small(monkeypatch, tmp_path) -> None:
    """Replaces the synthesis tables by one with a single row, written to a test folder."""
    library("nangate45")
    monkeypatch.setattr(report, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(report, "PUBLISHED", tmp_path / "published")
    monkeypatch.setattr(tables.paths, "RESULTS", tmp_path / "results")
    use(monkeypatch, {"Kind": 1}, {})


def made(compute: bool) -> list[str]:
    """Writes the pages of synthesis results; returns the rows that are missing or outdated."""
    return tables.make(compute, public=True)[1]


def page() -> str:
    """Returns the text of the page with the tables of synthesis results."""
    return (tables.paths.RESULTS / tables.PAGE).read_text()


def use(monkeypatch, parameters: dict, options: dict) -> None:
    """Replaces the tables by one row: mae_sbox_tower with given parameters and options."""
    row = tables.Ours("mae_sbox_tower", parameters=parameters, options=options)
    one = (tables.Table("S-boxes", "One.", ("kge", "fmax_mhz"), (row,)),)
    monkeypatch.setattr(tables, "tables", lambda: one)
    monkeypatch.setattr(tables.placed, "ROWS", ())
    monkeypatch.setattr(tables, "headlines", lambda: (tables.Ours("mae_sbox_tower", label="ours"),))


def test_published_netlists_were_checked() -> None:
    """Each published report names the proof or the tests that its netlist passed."""
    made = {file.name: report.load(file) for file in report.PUBLISHED.glob("*-*.json")}
    assert len(made) > 100
    checks = {"proved", "simulated"}
    assert not [name for name, one in made.items() if checks.isdisjoint(one.netlist or {})]


def test_reports_are_kept(small, monkeypatch, tmp_path) -> None:
    """The synthesis table takes a row from a published report without running Yosys."""
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
    """The synthesis table ignores a report with other parameters, clock or power settings."""
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


def test_netlists_are_proved(small, monkeypatch, tmp_path) -> None:
    """A netlist of the tables that no check has seen is mapped again, proved, and its row says so.

    One of another mapping stays as published; one without a proof says what stands against it.
    """
    assert made(True) == [] and ", netlist proved" not in page()
    monkeypatch.setattr(report, "REPORTS", tmp_path / "again")
    (file,) = report.PUBLISHED.glob("*.json")
    before = file.read_text()
    with monkeypatch.context() as broken:
        broken.setattr(flow, "same_netlist", lambda _one, _other: False)
        (line,) = netlists.prove(public=True)
        assert line.startswith("`mae_sbox_tower` (Kind 1) for nangate45: mapped to another")
    assert file.read_text() == before
    for error in (report.SynthesisError, report.UnprovedError):
        assert "unproved" not in file.read_text(), "a difference or a failure of a tool is not kept"
        with monkeypatch.context() as broken:
            broken.setattr(flow.equivalence, "prove", functools.partial(fails, error))
            left = netlists.prove(public=True)
        assert left == ["`mae_sbox_tower` (Kind 1) for nangate45: unequal"]
    assert json.loads(file.read_text())["netlist"]["unproved"] == "unequal"
    assert made(False) == [] and ", netlist unproved" in page()
    assert netlists.prove(public=True) == [], "what has a record is not proved again"
    flow.prove(flow.remembered("mae_sbox_tower", "nangate45", {"Kind": 1}), "nangate45")
    assert made(False) == [] and ", netlist proved" in page()
    assert json.loads(file.read_text())["netlist"].keys() == {"proved", "commit"}


def fails(error: type[Exception], *_given: object) -> None:
    """Stands for a proof that fails with a given error."""
    raise error("unequal")


def test_a_row_of_older_rtl_stays_and_says_so(small, monkeypatch, tmp_path) -> None:
    """A row whose RTL has changed keeps its old figures and is marked "older RTL"."""
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
    """A report is found by the contents of the Liberty file, whatever the file's name."""
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


def test_another_library_is_told(small, monkeypatch, tmp_path) -> None:
    """A report of another Liberty file is not said to be of older RTL, and is not published."""
    assert made(True) == []
    before = page()
    text = library("nangate45").path.read_bytes()
    monkeypatch.setenv(liberty.FOLDER, str(tmp_path))
    (tmp_path / "nangate45_typ.lib").write_bytes(text + b"/* mine */")
    _, (line,) = tables.make(compute=False)
    assert "of another Liberty file" in line
    with pytest.raises(SynthesisError, match="leave --publish out"):
        tables.make(compute=False, public=True)
    assert page() == before


def test_the_repository_is_written_by_publish_alone(small) -> None:
    """tables.make writes results/ only with `public`, otherwise only build/."""
    files, missing = tables.make(compute=True)
    assert missing == []
    assert not tables.paths.RESULTS.exists() and not report.PUBLISHED.exists()
    assert all(file.parent == report.REPORTS for file in files)


def test_published_with_power(small, monkeypatch, tmp_path) -> None:
    """A published report with power replaces one without, but not the reverse."""
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


def test_a_placed_row_stays(small, monkeypatch) -> None:
    """A build mapped here again keeps the row of its published, placed netlist (--publish)."""
    row = tables.Ours("mae_sbox_tower", parameters={"Kind": 1})
    row_of = (row.name, row.target, row.parameters)
    assert made(True) == []
    (file,) = report.PUBLISHED.glob("*.json")
    public = report.load(file)
    public.placed = {
        "tool": "a placer",
        "model": 1,
        "core_um2": 100.0,
        "utilisation": 0.7,
        "wire_mm": 1.0,
        "unmended_ns": 1.1,
        "period_ns": 1.0,
        "fmax_mhz": 1000.0,
        "skew_ns": 0.0,
    }
    public.netlist = {"proved": {"points": 8}, "commit": "0000000"}
    public.write(file)
    monkeypatch.setattr(tables.placed, "ROWS", (dataclasses.replace(row, parameters={}),))
    assert made(False) == ["`mae_sbox_tower`, placed: not yet"]
    monkeypatch.setattr(tables.placed, "ROWS", (row,))
    for _ in range(2):  # the report that was made here has neither
        assert made(False) == []
        assert "| a placer |" in page() and "netlist proved" in page()
        assert report.load(file).placed == public.placed
    # Another Yosys maps the same sources differently: what was placed is not its netlist.
    (here,) = report.REPORTS.glob("*/report.json")
    other = report.load(here)
    other.area = other.area | {"um2": 1.0}
    other.write(here)
    assert flow.remembered(*row_of).placed is None and flow.publish(other, *row_of) == public
    public.sources = "0" + public.sources
    public.write(file)
    shutil.rmtree(report.REPORTS)
    assert "`mae_sbox_tower` (Kind 1), placed: of an older RTL" in made(False)[-1]
    assert "`mae_sbox_tower` (Kind 1) † |" in page()


def test_summary(small) -> None:
    """The page's summary shows the headline designs that have a synthesis result."""
    made(True)
    assert "## Summary\n\n| build | command | kGE " in page() and "ours" not in page()
    flow.synthesize("mae_sbox_tower", "nangate45")
    made(False)
    assert "| ours | `maeslant synth mae_sbox_tower` | 0." in page()


def test_differences() -> None:
    """The table of differences shows ratios of the figures that both reports have."""
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
    """If a Liberty file is missing, tables.make fails and leaves the pages unchanged."""
    made(True)
    written = (tables.paths.RESULTS / tables.PAGE, tables.paths.RESULTS / tables.DATA)
    before = {path: path.read_text() for path in written}
    monkeypatch.setenv(liberty.FOLDER, str(tmp_path / "none"))
    with pytest.raises(MaeslantError, match="no nangate45_typ.lib"):
        made(False)
    assert before == {path: path.read_text() for path in before}


def test_published_reports_are_of_points() -> None:
    """Each report in results/reports belongs to a table row or a design point."""
    library("nangate45")
    calls = [point.call() for point in points.load()]
    for ours in (ours for table in tables.tables() for ours in tables.points(table.rows)):
        parameters = ours.parameters or None
        calls.append({"name": ours.name, "target": ours.target, "parameters": parameters})
        calls[-1] |= ours.options
    known = {"pool.json"}
    for call in calls:
        call.pop("power", None)
        known.add(flow.point(**call).published.name)
    assert {path.name for path in report.PUBLISHED.glob("*")} <= known


def test_digest_is_of_the_begin(tmp_path) -> None:
    """A report names the RTL that its synthesis began with, though a file changes meanwhile."""
    file = tmp_path / "mine.sv"
    file.write_text("module mine(input logic a, output logic z); assign z = a; endmodule\n")
    begun = flow.point(str(file), "xc7")
    first = begun.digest
    file.write_text("module mine(input logic a, output logic z); assign z = ~a; endmodule\n")
    assert begun.digest == first != flow.point(str(file), "xc7").digest


def test_which_build_fits(small) -> None:
    """A build's line has area and clock for each part; the first row of a part counts."""

    def of(target: str, name: str = "iter128", **more: object) -> report.Report:
        words = dict.fromkeys(("top", "kind", "sources", "commit", "left_out"), "")
        words |= {"parameters": {}, "recipe": {}, "tools": {}, "timing": None} | more
        return report.Report(name=name, target=target, **words)

    reports = [
        of("ecp5", area={"lut": 5889, "bram": 0}, timing={"fmax_mhz": 112.4}),
        of("gw5a", area={"lut": 99, "bram": 2.5}, timing={"fmax_mhz": 50}, older=True),
        of("xc7", area={"lut": 2292, "bram": 0}),
        of("nangate45", area={"kge": 15.26}, timing={"fmax_mhz": 500}, placed={"fmax_mhz": 450}),
        of("nangate45", area={"kge": 99}, timing={"fmax_mhz": 999}),
        of("ecp5", "unknown", area={"lut": 1}),
    ]
    rows = [tables.Ours(made.name, made.target, options={"n": n}) for n, made in enumerate(reports)]
    *_, last = fits.lines(rows, lambda ours: reports[ours.options["n"]])
    cells = (
        "15.3 kGE, 450 MHz placed",
        "2,292",
        "5,889, 112 MHz",
        "99, 2.5 block RAM, 50 MHz †",
        "–",
    )
    assert last == f"| `iter128` | {' | '.join(cells)} |"
