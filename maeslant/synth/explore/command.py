# SPDX-License-Identifier: Apache-2.0
"""Runs `maeslant explore`: synthesizes the designs, prints a table and writes a web page."""

import contextlib
import dataclasses
import json
import os
import pathlib
from collections.abc import Sequence

import yaml
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from maeslant import paths, progress
from maeslant.build import pictures
from maeslant.errors import MaeslantError
from maeslant.synth import report
from maeslant.synth.explore import page, points, records, sweep, worker
from maeslant.synth.explore.points import Point
from maeslant.synth.explore.records import Record
from maeslant.synth.explore.sweep import Outcome
from maeslant.synth.flow import check_libraries, publish

PAGE = "explore.html"  # in build/reports, published in results/
PICTURE = "explore.svg"
NAMED = 5  # points without a report that are named, of all that --json names


class Bar(sweep.Watcher):
    """Shows the progress of `maeslant explore`: all designs, and each design in synthesis."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.total = total
        self.whole = progress.add_task("points", total=total, what="", count=f"0/{total}")
        self.lines: dict[str, int] = {}
        self.good = self.done = 0

    def started(self, point: Point) -> None:
        """Adds a line to the progress display for a design whose synthesis has started."""
        self.lines[point.key] = self.progress.add_task(str(point), total=None, what="", count="")

    def told(self, point: Point, text: str) -> None:
        """Shows the current synthesis step on a design's line of the progress display."""
        self.progress.update(self.lines[point.key], what=text)

    def finished(self, outcome: Outcome) -> None:
        """Advances the progress bar by one design; prints an error if the synthesis failed."""
        self.good += outcome.report is not None
        if outcome.point.key in self.lines:
            self.progress.remove_task(self.lines.pop(outcome.point.key))
        if outcome.error:
            self.progress.console.print(
                f"[red]failed:[/] {escape(f'{outcome.point}: {outcome.error}')}", highlight=False
            )
        self.done += 1
        self.progress.update(self.whole, advance=1, count=f"{self.done}/{self.total}")

    def workers(self, count: int) -> None:
        """Shows the number of the Dask cluster's workers beside the progress bar."""
        self.progress.update(self.whole, what=f"{count} workers")


class Log(sweep.Watcher):
    """Prints the progress of `maeslant explore` as plain lines, where there is no terminal."""

    def __init__(self, console: Console, total: int) -> None:
        self.lines = progress.Lines(console)
        self.total = total
        self.good = self.done = 0

    def started(self, point: Point) -> None:
        """Prints the design whose synthesis has started."""
        self.lines.say(f"{point}: begins, {self.done} of {self.total} points done")

    def finished(self, outcome: Outcome) -> None:
        """Prints an error if a synthesis failed, and now and then the number of designs done."""
        self.good += outcome.report is not None
        self.done += 1
        if outcome.error:
            self.lines.say(f"failed: {outcome.point}: {outcome.error}")
        self.lines.say(f"{self.done} of {self.total} points done")

    def workers(self, count: int) -> None:
        """Prints the number of the Dask cluster's workers."""
        self.lines.say(f"{count} workers")


def run(
    targets: Sequence[str],
    quick: bool,
    finished: bool,
    address: str | None,
    jobs: int | None,
    out: pathlib.Path | None,
    picture: pathlib.Path | None,
    as_json: bool,
    console: Console,
    err: Console,
    *,
    public: bool = False,
    file: pathlib.Path = points.FILE,
    function: str = worker.SYNTHESIZE,
) -> bool:
    """Synthesizes the designs of configs/explore.yml; prints a table and writes a web page.

    ``public``: with the reports and a picture in results/, where the repository shows them.
    """
    if public and (quick or targets):
        raise MaeslantError("--publish takes the whole table: leave --quick and --target out")
    if public:
        out, picture = out or paths.RESULTS / PAGE, picture or paths.RESULTS / PICTURE
    out = _writable(out)
    picture = picture and _writable(picture)
    if picture == out:
        raise MaeslantError(f"{out} cannot be both the page and the picture")
    targets = [os.path.abspath(t) if points.is_liberty(t) else t for t in targets]
    asked = points.load(file, targets, quick)
    if finished:
        with progress.steps("reading the reports", err):
            known = [sweep.recall(point, function, older=True) for point in asked]
        outcomes = [outcome for outcome in known if outcome]
        if not outcomes:
            raise MaeslantError("no point is finished yet; leave --finished out, or try --quick")
    else:
        outcomes = _sweep(asked, address, jobs, function, err)
    titles = {
        name: row.get("title", name) for name, row in yaml.safe_load(file.read_text()).items()
    }
    pool = _pool()
    if public:
        outcomes, pool = _published(outcomes, pool)
    tried = {outcome.point.key for outcome in outcomes}
    missing = [point for point in asked if point.key not in tried]
    paths.write(out, page.make(outcomes, titles, out, pool, len(missing)))
    if picture:
        paths.write(picture, page.picture(outcomes))
    done = [outcome for outcome in outcomes if outcome.report]
    ours = [records.of(outcome, out) for outcome in done]
    best = records.best(ours)
    if as_json:
        found = [r.figures() | {"front": i in best} for i, r in enumerate(ours)]
        failed = [{"point": str(o.point), "error": o.error} for o in outcomes if o.error]
        record = {"page": str(out), "points": found, "failed": failed}
        record["missing"] = len(missing)
        record["missing_points"] = [str(point) for point in missing]
        console.print_json(json.dumps(record), ensure_ascii=False)
    else:
        if not console.is_terminal:
            console.width = 140
        _show(ours, best, console)
        if missing:
            console.print(_unfinished(missing), highlight=False, markup=False, soft_wrap=True)
        console.print(f"The page: {out}", highlight=False, soft_wrap=True)
    return len(done) == len(outcomes)


def _sweep(
    asked: list[Point], address: str | None, jobs: int | None, function: str, err: Console
) -> list[Outcome]:
    """Synthesizes designs with a progress bar; returns Outcomes (reports and errors)."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("[green]{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[what]}"),
    )
    with contextlib.ExitStack() as stack:
        if err.is_terminal:
            shown = stack.enter_context(Progress(*columns, console=err, transient=True))
            watcher = Bar(shown, len(asked))
        else:
            watcher = Log(err, len(asked))
        try:
            return sweep.sweep(asked, watcher, jobs=jobs, address=address, function=function)
        except KeyboardInterrupt:
            good = f"{watcher.good} of {len(asked)} points"
            err.print(f"{good} are done and kept; run it again to go on")
            raise


def _writable(out: pathlib.Path | None) -> pathlib.Path:
    """Returns the absolute path for `maeslant explore`'s web page; raises if not writable."""
    if out is None:
        report.REPORTS.mkdir(parents=True, exist_ok=True)
        out = report.REPORTS / PAGE
    out = out.absolute()
    if not out.parent.is_dir():
        raise MaeslantError(f"{out.parent}: there is no such folder")
    if out.is_dir():
        raise MaeslantError(f"{out} is a folder; name a file")
    if out.exists() and not out.is_file():
        raise MaeslantError(f"{out} is no plain file")
    if not os.access(out.parent, os.W_OK):
        raise MaeslantError(f"{out.parent}: no permission to write there")
    return out


def _pool() -> tuple[pathlib.Path, list[dict]] | None:
    """Returns (file, rows) of measured figures of pools of AES cards; None if not measured."""
    for file in (report.REPORTS / page.POOL, report.PUBLISHED / page.POOL):
        try:
            found = json.loads(file.read_text())
            wanted = ("cards", "blocks_per_clock", "times_one")
            if all(row[name] > 0 for row in found for name in wanted):
                return file, sorted(found, key=lambda row: row["cards"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _published(
    outcomes: list[Outcome], pool: tuple[pathlib.Path, list[dict]] | None
) -> tuple[list[Outcome], tuple[pathlib.Path, list[dict]] | None]:
    """Copies synthesis reports and pool figures to results/reports; returns them, paths updated."""
    check_libraries()
    found = []
    for outcome in outcomes:
        if outcome.report and not outcome.older:
            made = publish(report.Report(**outcome.report), **outcome.point.call())
            outcome = dataclasses.replace(outcome, report=made.as_dict(), file=made.file)
        found.append(outcome)
    if pool:
        file, rows = pool
        pool = report.PUBLISHED / page.POOL, rows
        paths.write(pool[0], file.read_text())
    return found, pool


def _unfinished(missing: list[Point]) -> str:
    """Returns a sentence with the number of designs without a report, and the first ones' names."""
    first = ", ".join(f"{point.label} ({points.short(point.target)})" for point in missing[:NAMED])
    left = len(missing) - NAMED
    more = f" and {left} more; --json names them all" if left > 0 else ""
    return f"{len(missing)} more points are not synthesized yet: {first}{more}"


def _show(ours: list[Record], best: set[int], console: Console) -> None:
    """Prints a table of synthesized designs with area, clock rate and throughput."""
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("core")
    table.add_column("technology")
    for name, *_ in page.COLUMNS:
        table.add_column(name, justify="right")
    table.add_column("front")
    for index, record in enumerate(ours):
        cells = [value(record) for _, value, _ in page.COLUMNS]
        table.add_row(
            record.label,
            record.target,
            *("" if cell is None else pictures.number(float(cell)) for cell in cells),
            "●" if index in best else "",
        )
    console.print(table)
    console.print(
        "Front: nothing smaller in that technology is faster. Left out: placed wires, clock tree; "
        "power by zero-delay simulation, which shows no glitches.",
        highlight=False,
    )
