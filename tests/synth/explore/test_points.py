# SPDX-License-Identifier: Apache-2.0
"""Tests the table of design points for `maeslant explore`: combinations, names, errors."""

import pathlib

import pytest

from maeslant.errors import MaeslantError
from maeslant.synth.explore import points
from maeslant.synth.page import related_work


@pytest.fixture
def table(tmp_path: pathlib.Path):
    """Returns a function that reads design points from a table given as text."""

    def load(text: str, **given: object) -> list[points.Point]:
        file = tmp_path / "explore.yml"
        file.write_text(text)
        return points.load(file, **given)

    return load


def test_the_projects() -> None:
    """The repository's table of design points has no point twice and covers all targets."""
    found = points.load()
    assert len({point.key for point in found}) == len(found)
    assert {"nangate45", "sky130", "ihp", "xc7", "ecp5"} <= {point.target for point in found}
    assert {point.values["Lanes"] for point in found if "Lanes" in point.values} >= set(
        range(1, 11)
    )
    assert 0 < len(points.load(quick=True)) < len(found)
    only = points.load(targets=["xc7"])
    assert only == [point for point in found if point.target == "xc7"]


def test_names(table) -> None:
    """A design point equal to a build has the build's name; others list their parameters."""
    found = table(
        "a: {build: lanes1, targets: [nangate45, xc7], quick: true,\n"
        "    parameters: {Lanes: [1, 3, 4], Sbox: [SboxTable]}}\n"
        "b: {builds: [lanes4, iter], targets: [nangate45], power: true, period_ns: [null, 2]}"
    )
    named = {(point.name, point.label, point.target) for point in found}
    assert ("lanes4", "lanes4", "nangate45") in named and ("lanes4", "lanes4", "xc7") in named
    assert ("lanes1", "lanes, N = 3", "xc7") in named
    assert ("iter", "iter, 2 ns asked for", "nangate45") in named
    twice = [point for point in found if point.label == "lanes4" and point.target == "nangate45"]
    assert len(twice) == 1 and twice[0].sweeps == ("a", "b") and twice[0].power
    assert "iter4" in {p.name for p in table("a: {builds: ['iter*'], targets: [xc7]}")}
    tied = table(
        "a: {build: pipe128, targets: [xc7], parameters:\n"
        "     [{RegsPerRound: 1}, {RegsPerRound: 2, Sbox: [SboxTable, SboxTower]}]}"
    )
    assert [(p.values["RegsPerRound"], p.values["Sbox"]) for p in tied] == [(1, 0), (2, 0), (2, 1)]
    three = next(point for point in found if point.label == "lanes, N = 3")
    assert three.call()["parameters"] == {"Lanes": 3} and three.values["Sbox"] == 0


def test_liberty(table) -> None:
    """A Liberty file as target replaces the standard-cell targets of the table."""
    text = "a: {builds: [iter, iter128], targets: [sky130, nangate45, ecp5]}"
    found = table(text, targets=["/some/cells.lib.gz"])
    assert [point.target for point in found] == ["/some/cells.lib.gz"] * 2
    assert points.short(found[0].target) == "cells.lib.gz"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: {builds: [nobody], targets: [xc7]}", "nobody"),
        ("a: {build: iter, targets: [xc7], parameters: {Speed: [1]}}", "no parameter Speed"),
        ("a: {builds: [iter]}", "lacks its targets"),
        ("a: {targets: [xc7]}", "either builds or a build"),
        ("a: {builds: [iter], targets: [xc7], lanes: 2}", "unknown lanes"),
        ("a: {builds: ['x*'], targets: [xc7]}", "no build is named as"),
        ("a: [", "explore.yml"),
        ("7", "no table"),
    ],
)
def test_wrong(table, text: str, why: str) -> None:
    """points.load reports each error in a table of design points."""
    with pytest.raises(MaeslantError, match=why):
        table(text)
    with pytest.raises(MaeslantError, match="no point with ihp; its targets: xc7"):
        table("a: {builds: [iter], targets: [xc7]}", targets=["ihp"])


def test_peers() -> None:
    """The rows of Dong's Table 3 in configs/related_work.yml agree with each other."""
    rows = [design for design in related_work.designs() if design["source"] == "Dong Table 3"]
    assert [row["lanes"] for row in rows] == list(range(1, 11))
    for row in rows:
        assert row["gbps"] == pytest.approx(0.128 * row["lanes"] * row["fmax_mhz"], rel=0.002)
        assert row["latency_ns"] == pytest.approx(11_000 / row["fmax_mhz"], rel=0.01)
    assert {"paper", "open", "sold", "gpu", "software"} == {
        d["kind"] for d in related_work.designs()
    }
