# SPDX-License-Identifier: Apache-2.0
"""Tests sweeps of design points on a Dask cluster, with a killed worker and bad addresses."""

import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys

import distributed
import pytest

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.integrations import cluster
from maeslant.synth import report
from maeslant.synth.explore import sweep
from tests.synth.explore import dask, standin
from tests.synth.explore.test_sweep import Log, alive, notebook, orders, wait_for

__all__ = ["notebook"]
# Few, and of a kind that nobody edits while a test runs.
GLOBS = ("LICENSE",)


def notes(folder: pathlib.Path) -> list[dict[str, int]]:
    """Returns the notes that replaced syntheses wrote when they started."""
    return [json.loads(path.read_text()) for path in folder.glob("started-*")]


def test_worker_killed(notebook: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A sweep on three Dask workers completes every point although one worker is killed."""
    orders(notebook, holds=[5])
    points = [standin.point(lanes) for lanes in range(1, 10)]
    # The workers' reports are not here: what comes back comes as values.
    with dask.cluster(tmp_path, 3, {"MAESLANT_BUILD": str(tmp_path / "elsewhere")}) as (uri, made):
        pids = [process.pid for process in made]

        def kill() -> dict[str, int]:
            """Kills the Dask worker that synthesizes the five-lane point; returns its note."""
            try:
                note = wait_for(lambda: next((n for n in notes(notebook) if n["lanes"] == 5), None))
                made[pids.index(note["asked_by"])].kill()
                wait_for(lambda: not alive(note["pid"]))
            finally:
                orders(notebook)  # or the sweep would never end
            return note

        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            killing = thread.submit(kill)
            found = sweep.sweep(points, Log(), address=uri, function=standin.NAME, globs=GLOBS)
        killed = killing.result()
    assert [outcome.point for outcome in found] == points
    assert [outcome.error for outcome in found] == [""] * 9
    assert [o.report["area"]["kge"] for o in found] == [125.0 * n for n in range(1, 10)]
    for outcome in found:
        assert report.load(outcome.file).as_dict() == outcome.report
    first, second = (note["asked_by"] for note in notes(notebook) if note["lanes"] == 5)
    assert first != second and {first, second} <= set(pids)
    assert not (notebook / f"ended-5-{killed['pid']}").exists()
    # Another sweep needs no cluster for what is known.
    again = sweep.sweep(points, Log(), address="tcp://127.0.0.1:1", function=standin.NAME)
    assert again == found


def refused(uri: str, globs: tuple[str, ...] = GLOBS) -> str:
    """Returns the error message of cluster.connect for an unusable cluster."""
    with pytest.raises(MaeslantError) as error, cluster.connect(uri, globs):
        pass
    return str(error.value)


def test_unreachable() -> None:
    """cluster.connect reports an unreachable scheduler or a malformed address."""
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in refused("tcp://127.0.0.1:1")
    assert "no address of a scheduler" in refused("127.0.0.1")


def test_unfit(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """cluster.connect refuses a cluster without workers, with other sources or Python packages."""
    monkeypatch.setattr(cluster, "WORKERS_S", 0.2)
    with dask.cluster(tmp_path, 0) as (uri, _):
        assert "has no workers" in refused(uri)
        # A checkout of its own, in which a file differs.
        other = tmp_path / "other"
        shutil.copytree(
            paths.ROOT / "maeslant", other / "maeslant", ignore=shutil.ignore_patterns("*.pyc")
        )
        (other / "LICENSE").write_text("another")
        command = [sys.executable, "-m", "dask", "worker", uri, "--no-nanny", "--no-dashboard"]
        worker = subprocess.Popen(
            command, cwd=other, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        monkeypatch.setattr(cluster, "WORKERS_S", 20)
        try:
            text = refused(uri)
            assert "has other sources" in text and str(other) in text
            monkeypatch.setattr(distributed, "__version__", "1.0")
            real = distributed.Client.get_versions

            def older(self: distributed.Client, *rest: object, **more: object) -> dict:
                found = real(self, *rest, **more)
                found["client"]["packages"]["distributed"] = "1.0"
                return found

            monkeypatch.setattr(distributed.Client, "get_versions", older)
            assert "install the same requirements.lock" in refused(uri)
        finally:
            worker.kill()
            worker.wait()
