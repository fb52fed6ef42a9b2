# SPDX-License-Identifier: Apache-2.0
"""Tests what long commands tell where there is no terminal: lines in a log, and not too many."""

import contextlib
import io

import pytest
from rich.console import Console
from typer.testing import CliRunner

from maeslant import progress
from maeslant.bench.measure import collect
from maeslant.cli import app
from maeslant.synth.explore import command, sweep


@pytest.fixture
def log() -> Console:
    """Returns a console that writes to a file, as standard error of a pipeline does."""
    return Console(file=io.StringIO(), force_terminal=False, width=40)


def lines(log: Console) -> list[str]:
    """Returns the lines that were printed."""
    return log.file.getvalue().splitlines()


def test_steps(log: Console) -> None:
    """Each step is a line, and one that only counts on is none."""
    with progress.steps("small128", log) as tell:
        for step in ("mapping", "simulating clock 1 of 90", "simulating clock 2 of 90", "[adding]"):
            tell(step)
    wanted = ["small128", "small128: mapping", "small128: simulating clock 1 of 90"]
    assert lines(log) == [*wanted, "small128: [adding]"]


def test_a_count_goes_on_after_a_while(log: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that only count on are printed again after a while."""
    now = iter([0.0, 30.0, 61.0, 62.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with progress.bar("attacking", 3000, log) as bar:
        for _ in range(3):
            bar.advance(1000)
    assert lines(log) == ["attacking: 0 of 3,000", "attacking: 2,000 of 3,000"]


def test_parts(log: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    """`maeslant measure` tells each part that begins, also if names differ in digits only."""
    parts = {name: [(list,)] for name in ("lanes1", "lanes10")}
    monkeypatch.setattr(collect, "jobs", lambda: parts)
    collect.all_figures(None, log)
    wanted = ["measuring: 0 of 2", "measuring lanes1: 0 of 2", "measuring lanes10: 1 of 2"]
    assert lines(log) == wanted


def test_attacks() -> None:
    """`maeslant attack` in a pipeline tells on standard error that it attacks."""
    result = CliRunner().invoke(app, ["attack", "--model", "reorder/operations", "--json"])
    assert "attacking: 0 of 1" in result.stderr and "attacking" not in result.stdout


def test_points(log: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    """`maeslant explore` tells which point begins, and which failed and why."""
    point = "a point"  # of which the log takes the name alone

    def failing(asked, watcher, **_how):
        watcher.started(point)
        watcher.finished(sweep.Outcome(point, error="no [such] cell"))
        return []

    monkeypatch.setattr(command.sweep, "sweep", failing)
    command._sweep([point], None, 1, "", log)
    wanted = ["a point: begins, 0 of 1 points done", "failed: a point: no [such] cell"]
    assert lines(log) == [*wanted, "1 of 1 points done"]


def test_a_terminal_has_no_such_lines() -> None:
    """On a terminal a bar or spinner is drawn instead."""
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with progress.bar("attacking", 2, console) as bar:
        bar.advance()
    with progress.steps("small128", console) as tell:
        tell("mapping")
    shown = console.file.getvalue()
    assert "attacking" in shown and "attacking: 0 of 2" not in shown


def test_a_log_that_cannot_be_written() -> None:
    """A line that the log does not take, as on a full disk, does not end the command."""
    full = open("/dev/full", "w")
    progress.Lines(Console(file=full)).say("building")
    with contextlib.suppress(OSError):
        full.close()
