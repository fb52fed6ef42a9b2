# SPDX-License-Identifier: Apache-2.0
"""Tests how far builds are computed to be from every column of Dong et al.'s N = 10."""

from maeslant.synth.page import every_column
from maeslant.synth.report import Report


def report(mhz: float, mw: float, um2: float, latency: int) -> Report:
    """Makes a report of ten pipelines, a tenth of whose power is leakage."""
    power = {"clock_mhz": mhz, "mw": mw, "leakage_mw": mw / 10, "clock_pins_mw": 10.0}
    return Report(
        **dict.fromkeys(("name", "top", "target", "kind", "sources", "commit", "left_out"), "x"),
        **dict.fromkeys(("recipe", "tools", "function"), {}),
        parameters={"Lanes": 10},
        area={"um2": um2},
        timing={"fmax_mhz": mhz},
        power=power | {"latency_clocks": latency},
    )


def test_twice_the_pipelines() -> None:
    """Half of the clock takes twice the pipelines, and twice the power of ten of them."""
    found = every_column.scaled(report(400, 100, 5e5, 5))
    assert found["pipelines"] == 20 and found["mm2"] == 1.0
    assert found["mw"] == 2 * 90 + 2 * 10 + 2 * 10
    assert found["tree"] == 20 and found["ns"] == 12.5


def test_misses_are_named() -> None:
    """The table says in which columns a build misses the paper's, and by how much."""
    good, bad = report(800, 400, 1e6, 11), report(800, 800, 2.084e6, 12)
    rows = every_column.lines((("good", good), ("bad", bad), ("none", None)))[-2:]
    assert rows[0] == "| good | 10 | 1.000 | 410.0 | 10.0 | 13.8 | nothing |"
    assert rows[1].endswith("| power by 88%, latency by 9%, area by 100% |")
    assert every_column.lines((("none", None),)) == []
