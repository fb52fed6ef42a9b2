# SPDX-License-Identifier: Apache-2.0
"""Tests the table of how many of Kumar et al.'s units a bus needs."""

import json

from maeslant.synth.page import units


def test_smallest_build_that_fills_a_bus(monkeypatch, tmp_path) -> None:
    """Names for each bus the smallest build that fills it, with its rate and LUTs."""
    figure = {"part": "units", "metric": units.UNIT_GBS}
    made = [figure | {"config": f"units{n}", "value": 0.4 * n} for n in (1, 2, 8)]
    made.append({"part": "units", "metric": "another", "config": "units1", "value": 1e9})
    monkeypatch.setattr(units, "FIGURES", tmp_path / "figures.json")
    assert not any(line.startswith("| 64") for line in units.lines({}))
    units.FIGURES.write_text(json.dumps({"figures": made}))
    rows = [line.strip("| ").split(" | ")[1:] for line in units.lines({2: 1234})[-4:]]
    assert rows == [
        ["0.8", "2", "`units2`", "0.80", "1,234"],
        ["3.2", "8", "`units8`", "3.20", "–"],
        ["6.4", "16", "–", "–", "–"],
        ["12.8", "32", "–", "–", "–"],
    ]
