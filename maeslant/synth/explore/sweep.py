# SPDX-License-Identifier: Apache-2.0
"""Synthesizes many designs in parallel, on this machine or on a Dask cluster.

Every point is synthesized in a process of its own (maeslant.synth.explore.worker); what is finished
is kept in build/reports at once, so an interruption loses only the points in work. A point that
fails does not stop the others.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import importlib
import os
import pathlib
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.integrations import cluster
from maeslant.synth import report
from maeslant.synth.explore import worker
from maeslant.synth.explore.points import Point

if TYPE_CHECKING:
    import distributed

WAKE_S = 0.5
LONELY_S = 60  # without any worker before a cluster is given up


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Holds the outcome of a synthesis: the report or an error."""

    point: Point
    report: dict[str, object] | None = None
    file: pathlib.Path | None = None
    error: str = ""
    older: bool = False  # of RTL that has changed since


class Watcher:
    """Defines callbacks on the progress of many syntheses; this base class does nothing.

    The command line's subclass draws a bar.
    """

    def started(self, point: Point) -> None:
        """Called when a design's synthesis starts on this machine; does nothing here."""

    def told(self, point: Point, text: str) -> None:
        """Called when a design's synthesis reaches a new step; does nothing here."""

    def finished(self, outcome: Outcome) -> None:
        """Called with a design's report or error when synthesis has ended; does nothing here."""

    def workers(self, count: int) -> None:
        """Called with the number of the Dask cluster's workers; does nothing here."""


def sweep(
    points: Sequence[Point],
    watcher: Watcher,
    *,
    jobs: int | None = None,
    address: str | None = None,
    function: str = worker.SYNTHESIZE,
    globs: tuple[str, ...] = worker.SOURCES,
) -> list[Outcome]:
    """Synthesizes designs here or on a Dask cluster; returns the Outcomes in order.

    ``jobs`` at once here (as many as there are cores), or on the cluster at ``address``, where
    ``globs`` are the files that must be the same. ``function``: MODULE:FUNCTION that synthesizes.
    KeyboardInterrupt ends everything that was started here; what was finished is kept.
    """
    done: dict[str, Outcome] = {}
    for point in points:
        with contextlib.suppress(MaeslantError):  # whoever synthesizes it says why
            if found := recall(point, function):
                done[point.key] = found
                watcher.finished(found)
    left = [point for point in points if point.key not in done]
    if left and address:
        outcomes = _clustered(left, watcher, address, function, globs)
    else:
        outcomes = _local(left, watcher, jobs or len(os.sched_getaffinity(0)), function)
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            done[outcome.point.key] = outcome
            watcher.finished(outcome)
    return [done[point.key] for point in points]


def recall(point: Point, function: str, older: bool = False) -> Outcome | None:
    """Returns the stored report of a design's synthesis as an Outcome; None if not stored.

    ``older``: one of RTL that has changed since, too, marked so.

    Raises MaeslantError for what could not be synthesized either, as without its library.
    """
    remembered = getattr(importlib.import_module(function.partition(":")[0]), "remembered", None)
    found = remembered(**point.call()) if remembered else None
    if found is None and older and remembered:
        found = remembered(**point.call(), older=True)
    return found and Outcome(point, found.as_dict(), found.file, older=found.older)


def _kept(point: Point, found: dict[str, object]) -> Outcome:
    """Stores a synthesis report received from a Dask worker; returns the Outcome."""
    name = found.pop("folder", None)
    file = report.REPORTS / str(name) / "report.json" if name else None
    mine = report.Report(**found)
    there = file and report.load(file)
    if file and (mine.power or not (there and there.sources == mine.sources)):
        mine.write(file)
    return Outcome(point, mine.as_dict(), file)


def _local(
    points: Sequence[Point], watcher: Watcher, jobs: int, function: str
) -> Iterator[Outcome]:
    """Synthesizes designs in parallel processes on this machine; yields each Outcome."""
    paths.check(report.REPORTS)  # once, and not for each point
    stop = threading.Event()

    def attempt(point: Point) -> Outcome:
        if stop.is_set():
            raise worker.Stopped
        watcher.started(point)
        try:
            tell = functools.partial(watcher.told, point)
            return _kept(point, worker.run(function, point.call(), tell, stop))
        except MaeslantError as error:
            return Outcome(point, error=str(error))

    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        left = {pool.submit(attempt, point) for point in points}
        while left:
            # Never without a limit: a signal that comes just before a wait begins does not end it.
            first = concurrent.futures.FIRST_COMPLETED
            finished, left = concurrent.futures.wait(left, WAKE_S, first)
            for future in finished:
                yield future.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _clustered(
    points: Sequence[Point],
    watcher: Watcher,
    address: str,
    function: str,
    globs: tuple[str, ...],
) -> Iterator[Outcome]:
    """Synthesizes designs on a Dask cluster; yields each Outcome as soon as it is known.

    Yields outcomes.
    """
    with cluster.connect(address, globs) as client:
        answers: queue.Queue = queue.Queue()
        futures: dict[object, Point] = {}
        try:
            for point in points:
                future = client.submit(
                    worker.run_remote,
                    function,
                    point.call(),
                    globs,
                    cluster.fingerprint(globs),
                    pure=False,
                )
                futures[future] = point
                future.add_done_callback(answers.put)
            for _ in points:
                future = _next(answers, client, address, watcher)
                yield _outcome(futures[future], future)
        finally:
            with contextlib.suppress(Exception):
                client.cancel(list(futures), force=True)


def _next(
    answers: queue.Queue, client: "distributed.Client", address: str, watcher: Watcher
) -> "distributed.Future":
    """Waits for the Dask cluster's next finished synthesis; raises MaeslantError if no workers."""
    seen = time.monotonic()
    while True:
        with contextlib.suppress(queue.Empty):
            return answers.get(timeout=1)
        if client.status != "running":
            raise MaeslantError(f"the scheduler at {address} is gone; finished points are kept")
        count = len(client.scheduler_info(n_workers=-1)["workers"])
        watcher.workers(count)
        if count:
            seen = time.monotonic()
        elif time.monotonic() - seen > LONELY_S:
            raise MaeslantError(
                f"all workers of {address} are gone; finished points are kept: start workers and "
                "run this again"
            )


def _outcome(point: Point, future: "distributed.Future") -> Outcome:
    """Converts the result received from a Dask worker to an Outcome (report or error)."""
    try:
        found = future.result()
    except Exception as error:
        return Outcome(point, error=f"on the cluster: {type(error).__name__}: {error}")
    if "error" in found:
        return Outcome(point, error=found["error"])
    return _kept(point, found["report"])
