# SPDX-License-Identifier: Apache-2.0
"""Tests the estimate of what placing and routing takes from synthesis figures."""

import pytest

from maeslant.synth.page import sensitivity
from maeslant.synth.report import Report

POWER = {"mw": 10.0, "switching_mw": 5.0, "pj_per_block": 100.0, "blocks_per_clock": 2.0}


def made(**changes: object) -> Report:
    """Returns a report of a design of 1 mm2 at 1 GHz."""
    fields: dict[str, object] = dict.fromkeys(("name", "top", "sources", "commit", "left_out"), "")
    fields |= {"parameters": {}, "target": "nangate45", "kind": "asic", "recipe": {}, "tools": {}}
    fields |= {"area": {"um2": 1e6}, "timing": {"period_ns": 1.0, "fmax_mhz": 1000.0}}
    return Report(**fields | changes)


def test_share() -> None:
    """The wires' share is what they add to the switching energy; unknown without both figures."""
    known = made(power=POWER | {"pj_without_wires": 90.0})
    assert sensitivity.wire_share(known) == pytest.approx(0.2)  # 10 of 50 pJ
    assert sensitivity.wire_share(made(power=POWER)) is None
    assert sensitivity.wire_share(made()) is None


def test_stressed() -> None:
    """Wires that weigh twice, larger cells and a skew change all figures of a report."""
    found = sensitivity.stressed(made(power=POWER), 0.2)
    assert found["mhz"] == pytest.approx(1000 / 1.25)
    assert found["mm2"] == pytest.approx(1.2818, abs=1e-4)
    assert found["gbps"] == pytest.approx(0.256 * 800)
    assert found["gbps_per_mm2"] == pytest.approx(0.256 * 800 / 1.2818, rel=1e-4)
    assert found["pj"] == pytest.approx(110)


def test_lines() -> None:
    """The table has a line for each standard-cell report, under the greatest share known."""
    known = made(power=POWER | {"pj_without_wires": 90.0})
    reports = [
        ("`a`", known),
        ("`b`", made(placed={"fmax_mhz": 1234})),
        ("`c`", made(kind="ecp5")),
        ("`d`", None),
    ]
    lines = sensitivity.lines(reports)
    assert lines[1] == sensitivity.TITLE and "20% of the switched" in lines[3]
    assert lines[7:] == [
        "| `a` | 800 |  | 204.8 | 1.2818 | 160 | 110.0 |",
        "| `b` | 800 | 1,234 |  | 1.2818 |  |  |",
    ]
    assert sensitivity.lines(reports[1:]) == []
