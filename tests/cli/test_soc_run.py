# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant soc run`: clocks per block against targets, errors, published record."""

import json
import pathlib
import re
import subprocess
import types

import pytest
from rich.console import Console

from maeslant import paths
from maeslant.bench.measure import messages_plot
from maeslant.bench.overhead import report as overhead
from maeslant.bench.soc import report as soc
from maeslant.cli import common

MAESLANT = str(paths.ROOT / ".venv" / "bin" / "maeslant")
AXIL_TARGET, ARBITER_TARGET = 200, 20  # clocks a block, of 4 KB and more


def run(*arguments: object) -> subprocess.CompletedProcess:
    """Runs `maeslant soc run`; returns the finished process."""
    command = [MAESLANT, "soc", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.full
def test_targets(tmp_path: pathlib.Path) -> None:
    """`maeslant soc run` measures clocks per block within their targets for long messages."""
    picture = tmp_path / "soc.svg"
    done = run("--json", "--picture", picture)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    long = [row for row in record["lengths"] if row["bytes"] >= 4096]
    cases = {
        (row["mode"], row["direction"], row["key_each"]) for row in long if row["way"] == "arbiter"
    }
    assert len(cases) == 12  # three modes, two directions, one key and many
    for row in long:
        target = ARBITER_TARGET if row["way"] == "arbiter" else AXIL_TARGET
        assert row["clocks_per_block"] <= target, row
        if row["way"] == "arbiter":
            assert row["instructions"] > 200 and row["words_summed"] * 40 > row["clocks"] / 2, row
    for name in ("encrypt", "decrypt"):
        costs = record["blocks"][name]
        assert costs["software"]["clocks"] > 10 * costs["registers"]["clocks"]
        assert costs["registers"]["clocks"] < record["paper"]["peripheral"][name][0]
    drawn = paths.RESULTS / "soc.svg"
    assert picture.read_bytes() == drawn.read_bytes(), (
        "results/soc.svg is stale: maeslant soc run --publish"
    )
    kept = json.loads((paths.RESULTS / "soc.json").read_text())
    assert kept.pop("commit")
    assert kept == {key: record[key] for key in record if key not in ("paper", "picture")}, (
        "results/soc.json is stale: maeslant soc run --publish"
    )
    # The guide's table is of the same figures.
    names = ("way", "mode", "direction", "key_each", "bytes")
    rows = {tuple(row[name] for name in names): row for row in record["lengths"]}
    text = (paths.ROOT / "docs" / "guides" / "peripheral.md").read_text()
    for title, way, mode, each in (
        (r"software [^|]*", "software", "ecb", False),
        ("AXI4-Lite, ECB[^|]*", "registers", "ecb", False),
        ("arbiter, CBC", "arbiter", "cbc", False),
        ("arbiter, CBC, a new key each block", "arbiter", "cbc", True),
    ):
        cells = re.search(rf"^\| {title} \|(.*)\|$", text, re.MULTILINE)[1].split("|")
        for cell, length in zip(cells, (16, 1024, 4096, 65536), strict=True):
            if not cell.strip():  # software is not run on so much
                assert (way, mode, "encrypt", each, length) not in rows
                continue
            found = rows[way, mode, "encrypt", each, length]["clocks_per_block"]
            stated = float(cell.replace(",", ""))
            assert abs(stated - found) <= (0.5 if found > 100 else 0.051), (title, length)


def test_errors(tmp_path: pathlib.Path) -> None:
    """`maeslant soc run --picture` reports a path that cannot be written."""
    for path in (tmp_path / "none" / "soc.svg", tmp_path / "soc.txt"):
        done = run("--picture", path)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr and str(tmp_path.name) in done.stderr.replace(
            "\n", ""
        )


@pytest.mark.parametrize("report", [soc, overhead, messages_plot], ids=["soc", "overhead", "bench"])
def test_pictures_are_published_on_demand(report: types.ModuleType) -> None:
    """A command draws into build/ unless --publish or --picture names another place."""
    path = common.drawn(None, False, report)
    assert path.is_relative_to(paths.BUILD)
    assert common.drawn(None, True, report).parent == paths.RESULTS
    assert not any(path.is_relative_to(paths.ROOT / name) for name in ("docs", "results"))


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("report", [soc, overhead], ids=["soc", "overhead"])
def test_records_are_published_on_demand(
    report: types.ModuleType, published: bool, monkeypatch, tmp_path, capsys
) -> None:
    """A measurement goes to results/ together with the published picture, and only then."""
    written = []
    measures, draws = (soc.bench, soc.curve) if report is soc else (overhead, overhead)
    monkeypatch.setattr(measures, "collect", lambda _err: {"blocks": {}})
    monkeypatch.setattr(draws, "draw", lambda *_given: None)
    monkeypatch.setattr(report, "publish", lambda name, _record: written.append(name))
    picture = report.PUBLISHED if published else tmp_path / "picture.svg"
    report.run(True, picture, Console(), Console(stderr=True))
    assert len(written) == published
    assert json.loads(capsys.readouterr().out)["picture"] == str(picture)
