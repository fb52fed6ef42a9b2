# SPDX-License-Identifier: Apache-2.0
"""The tables' reports outlive the build folder, until what they depend on changes."""

import json

import pytest

from maeslant.synth import report, tables, yosys
from tests.synth.test_flow import library


@pytest.fixture
def small(monkeypatch, tmp_path) -> None:
    """One table of one small point, written elsewhere."""
    library("nangate45")
    monkeypatch.setattr(report, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(tables, "PAGE", tmp_path / "synthesis.md")
    monkeypatch.setattr(tables, "DATA", tmp_path / "synthesis.json")
    use(monkeypatch, {"Kind": 1}, {})


def use(monkeypatch, parameters: dict, options: dict) -> None:
    """The point that the first table has."""
    row = tables.Ours("mae_sbox_tower", parameters=parameters, options=options)
    page = (tables.Table("S-boxes", "One.", ("kge", "fmax_mhz"), (row,)),)
    monkeypatch.setattr(tables, "tables", lambda: page)


def test_reports_are_kept(small, monkeypatch, tmp_path) -> None:
    """What was synthesized once is in the table without the build folder and without a tool."""
    assert tables.make(compute=False) == [
        "`mae_sbox_tower` (Kind 1) for nangate45: not synthesized yet"
    ]
    assert tables.make(compute=True) == []
    page = tables.PAGE.read_text()
    assert "| `mae_sbox_tower` (Kind 1) | nangate45 | 0." in page
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    monkeypatch.setattr(yosys, "run", None)
    assert tables.make(compute=True) == []
    assert tables.PAGE.read_text() == page


def test_a_changed_point_is_not_taken(small, monkeypatch, tmp_path) -> None:
    """Other parameters, another way, power that is asked for, a file of noise: all are missing."""
    assert tables.make(compute=True) == []
    kept = tables.DATA.read_text()
    monkeypatch.setattr(report, "REPORTS", tmp_path / "none")
    changes = [({"Kind": 2}, {}), ({"Kind": 1}, {"period_ns": 3}), ({"Kind": 1}, {"power": True})]
    for parameters, options in changes:
        tables.DATA.write_text(kept)
        use(monkeypatch, parameters, options)
        assert len(tables.make(compute=False)) == 1
    use(monkeypatch, {"Kind": 1}, {})
    tables.DATA.write_text(kept)
    assert tables.make(compute=False) == []
    tables.DATA.write_text(json.dumps({"reports": [{"noise": 1}]}))
    assert len(tables.make(compute=False)) == 1
