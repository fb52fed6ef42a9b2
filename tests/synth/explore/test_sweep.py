# SPDX-License-Identifier: Apache-2.0
"""Tests sweeps of design points with a replacement synthesis: parallel, cached, interrupted."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from maeslant import paths
from maeslant.synth import report
from maeslant.synth.explore import sweep
from tests.synth.explore import standin


class Log(sweep.Watcher):
    """Records the progress messages and outcomes of a sweep."""

    def __init__(self) -> None:
        self.told_texts: list[str] = []
        self.outcomes: list[sweep.Outcome] = []

    def told(self, point: object, text: str) -> None:
        self.told_texts.append(text)

    def finished(self, outcome: sweep.Outcome) -> None:
        self.outcomes.append(outcome)


@pytest.fixture
def notebook(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Returns a folder for notes of the replacement synthesis and for its reports."""
    monkeypatch.setenv("STANDIN", str(tmp_path))
    monkeypatch.setattr(report, "REPORTS", tmp_path / "reports")
    (tmp_path / "orders.json").write_text("{}")
    return tmp_path


def orders(notebook: pathlib.Path, **given: object) -> None:
    """Tells the replacement synthesis which points shall wait or fail."""
    part = notebook / "orders.part"
    part.write_text(json.dumps(given))
    part.replace(notebook / "orders.json")


def count(notebook: pathlib.Path, what: str) -> int:
    """Returns the number of notes of a kind that the replacement synthesis has written."""
    return len(list(notebook.glob(f"{what}-*")))


def wait_for(condition: Callable[[], object], seconds: float = 180) -> object:
    """Waits until a condition is true and returns its value; fails after some minutes."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    return found


def alive(pid: int) -> bool:
    """Returns true if a process exists and is not a zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


def test_all_and_again(notebook: pathlib.Path) -> None:
    """sweep.sweep gives each point a report; a second sweep starts no synthesis."""
    points = [standin.point(lanes) for lanes in (3, 1, 2)]
    log = Log()
    found = sweep.sweep(points, log, function=standin.NAME)
    assert [outcome.point for outcome in found] == points
    assert [outcome.report["area"]["kge"] for outcome in found] == [375.0, 125.0, 250.0]
    assert log.told_texts == ["thinking"] * 3 and len(log.outcomes) == 3
    for outcome in found:
        assert report.load(outcome.file).as_dict() == outcome.report
    again = sweep.sweep(points, Log(), function=standin.NAME)
    assert again == found and count(notebook, "started") == 3


def test_failures(notebook: pathlib.Path) -> None:
    """A sweep reports a failed point and completes the others; the next sweep tries it again."""
    orders(notebook, fails=[1], breaks=[2], dies=[4])
    points = [standin.point(lanes) for lanes in range(1, 6)]
    found = sweep.sweep(points, Log(), function=standin.NAME, jobs=5)
    errors = [outcome.error for outcome in found]
    assert errors[0] == "no 1 lanes today"
    assert errors[1] == "ZeroDivisionError: a fault of the flow"
    assert errors[3].startswith("the synthesis ended with status 3")
    assert not errors[2] and not errors[4]
    assert len(list(report.REPORTS.iterdir())) == 2
    orders(notebook)
    assert all(outcome.report for outcome in sweep.sweep(points, Log(), function=standin.NAME))
    assert count(notebook, "started") == 5 + 3


SCRIPT = """
import signal, sys
from maeslant.synth.explore import sweep
from tests.synth.explore import standin
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored below a shell's background job
points = [standin.point(lanes) for lanes in range(1, 7)]
try:
    sweep.sweep(points, sweep.Watcher(), function=standin.NAME, jobs=2)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted(notebook: pathlib.Path, number: int) -> None:
    """An interrupted sweep keeps finished points, ends its processes and can be resumed."""
    orders(notebook, holds=[3, 4, 5, 6])
    environment = os.environ | {"MAESLANT_BUILD": str(notebook)}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=paths.ROOT, env=environment)
    try:
        wait_for(lambda: len(list(report.REPORTS.glob("*/report.json"))) == 2)
        wait_for(lambda: count(notebook, "started") == 4)
        process.send_signal(number)
        assert process.wait(180) == (130 if number == signal.SIGINT else -number)
    finally:
        process.kill()
    notes = [json.loads(path.read_text()) for path in notebook.glob("started-*")]
    wait_for(lambda: not any(alive(note["pid"]) for note in notes))
    assert len(list(report.REPORTS.glob("*/report.json"))) == 2
    orders(notebook)
    before = count(notebook, "started")
    points = [standin.point(lanes) for lanes in range(1, 7)]
    found = sweep.sweep(points, Log(), function=standin.NAME)
    assert all(outcome.report for outcome in found)
    assert count(notebook, "started") - before == 4
