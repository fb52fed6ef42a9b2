# SPDX-License-Identifier: Apache-2.0
"""The tables' reports outlive the build folder, until what they depend on changes."""

import pytest

from maeslant.errors import MaeslantError
from maeslant.explore import points
from maeslant.synth import flow, liberty, report, tables, yosys
from tests.synth.test_flow import library


@pytest.fixture
def small(monkeypatch, tmp_path) -> None:
    """One table of one small point, written elsewhere."""
    library("nangate45")
    monkeypatch.setattr(report, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(report, "PUBLISHED", tmp_path / "published")
    for name, file in (("PAGE", "synthesis.md"), ("DATA", "synthesis.json"), ("README", "README")):
        monkeypatch.setattr(tables, name, tmp_path / file)
    tables.README.write_text(f"before\n{tables.BEGIN}old\n{tables.END}\nafter\n")
    use(monkeypatch, {"Kind": 1}, {})


def use(monkeypatch, parameters: dict, options: dict) -> None:
    """The point that the first table has."""
    row = tables.Ours("mae_sbox_tower", parameters=parameters, options=options)
    page = (tables.Table("S-boxes", "One.", ("kge", "fmax_mhz"), (row,)),)
    monkeypatch.setattr(tables, "tables", lambda: page)
    monkeypatch.setattr(tables, "headlines", lambda: (tables.Ours("mae_sbox_tower", label="ours"),))


def test_reports_are_kept(small, monkeypatch, tmp_path) -> None:
    """What was synthesized once is in the table without the build folder and without a tool."""
    assert tables.make(compute=False) == [
        "`mae_sbox_tower` (Kind 1) for nangate45: not synthesized yet"
    ]
    assert tables.make(compute=True) == []
    page = tables.PAGE.read_text()
    assert "| `mae_sbox_tower` (Kind 1) | nangate45 | 0." in page
    assert "(published/mae_sbox_tower-nangate45-Kind1.json)" in page
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    monkeypatch.setattr(yosys, "run", None)
    assert tables.make(compute=True) == []
    assert tables.PAGE.read_text() == page


def test_a_changed_point_is_not_taken(small, monkeypatch, tmp_path) -> None:
    """Other parameters, another way, power that is asked for, a file of noise: all are missing."""
    assert tables.make(compute=True) == []
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    changes = [({"Kind": 2}, {}), ({"Kind": 1}, {"period_ns": 3}), ({"Kind": 1}, {"power": True})]
    for parameters, options in changes:
        use(monkeypatch, parameters, options)
        assert len(tables.make(compute=False)) == 1
    use(monkeypatch, {"Kind": 1}, {})
    assert tables.make(compute=False) == []
    (file,) = report.PUBLISHED.glob("*.json")
    good = file.read_text()
    for bad in ('{"reports": 1}', good.replace('"sources": "', '"sources": "0'), good[:-9]):
        file.write_text(bad)
        assert len(tables.make(compute=False)) == 1
    file.write_text(good)
    assert tables.make(compute=False) == []


def test_published_with_power(small, monkeypatch, tmp_path) -> None:
    """A report with power replaces one without, and is not replaced by one."""
    assert tables.make(compute=True) == []
    (file,) = report.PUBLISHED.glob("*.json")
    assert report.load(file).power is None
    bare = flow.remembered("mae_sbox_tower", "nangate45", {"Kind": 1})
    use(monkeypatch, {"Kind": 1}, {"power": True})
    assert tables.make(compute=True) == []
    assert report.load(file).power["mw"] > 0
    flow.publish(bare, "mae_sbox_tower", "nangate45", {"Kind": 1})
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    assert tables.make(compute=False) == []
    monkeypatch.setattr(flow, "MODEL", flow.MODEL + 1)
    assert len(tables.make(compute=False)) == 1, "power of another model is none"


def test_readme_has_the_headlines(small) -> None:
    """The README's own table is replaced, the rest stays; what is not finished is left out."""
    tables.make(compute=True)
    readme = tables.README.read_text()
    assert readme.startswith(f"before\n{tables.BEGIN}| build | command | kGE ")
    assert readme.endswith(f"{tables.END}\nafter\n")
    assert "old" not in readme and "ours" not in readme
    flow.synthesize("mae_sbox_tower", "nangate45")
    tables.make(compute=False)
    row = "| ours | `maeslant synth mae_sbox_tower` | 0."
    assert row in tables.README.read_text()


def test_differences() -> None:
    """More of each figure that both have, zeros too; or how much of it the other is."""
    whole, part = tables.Ours("stream4", "xc7"), tables.Ours("copy4", "xc7")

    def made(**area: float) -> report.Report:
        words = dict.fromkeys(
            ("name", "top", "target", "kind", "sources", "commit", "left_out"), ""
        )
        words |= {"parameters": {}, "recipe": {}, "tools": {}}
        return report.Report(**words, area=area, timing=None)

    done = {
        repr(whole): made(lut=125, ff=80, bram=4.5, dsp=6),
        repr(part): made(lut=100, ff=20, bram=0, dsp=6),
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
    """Tables whose points cannot be told are not written."""
    tables.make(compute=True)
    before = {path: path.read_text() for path in (tables.PAGE, tables.DATA, tables.README)}
    monkeypatch.setenv(liberty.FOLDER, str(tmp_path / "none"))
    with pytest.raises(MaeslantError, match="no nangate45_typ.lib"):
        tables.make(compute=False)
    assert before == {path: path.read_text() for path in before}


def test_published_reports_are_of_points() -> None:
    """docs/reports has nothing that neither a table nor the explorer asks for."""
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
