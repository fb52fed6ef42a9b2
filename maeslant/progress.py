# SPDX-License-Identifier: Apache-2.0
"""Shows how far a long command is: a bar or spinner on a terminal, plain lines in a log.

Without a terminal each step or part is a line. Lines that differ in numbers only, which count on,
are a minute apart.
"""

import contextlib
import re
import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

COUNTED = 60.0  # seconds between lines that only count on
NUMBER = re.compile(r"(?<!\S)\d[\d.,:]*(?!\S)")
COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
)


class Lines:
    """Prints what a command does as plain lines, for a console that is no terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.last, self.when = "", 0.0

    def say(self, text: str) -> None:
        """Prints a line, unless it only counts on from one that was printed a moment ago."""
        kind, now = NUMBER.sub("", text), time.monotonic()
        if kind == self.last and now - self.when < COUNTED:
            return
        self.last, self.when = kind, now
        # Not by the console: it ends the command where nobody reads what is only told by the way.
        with contextlib.suppress(OSError):
            print(text, file=self.console.file, flush=True)


class Steps:
    """Shows the current step of a job: called with the step's name."""

    def __init__(self, title: str, console: Console) -> None:
        self.title = title
        self.began = time.monotonic()
        self.lines = Lines(console)
        self.status = console.status(title) if console.is_terminal else None

    def __call__(self, step: str) -> None:
        """Shows a step that begins."""
        if self.status:
            self.status.update(f"{self.title}: {step} ({time.monotonic() - self.began:.0f} s)")
        else:
            self.lines.say(f"{self.title}: {step}")


@contextlib.contextmanager
def steps(title: str, console: Console) -> Iterator[Steps]:
    """Shows that a job is done until the context ends; yields a function that sets the step."""
    shown = Steps(title, console)
    if shown.status is None:
        shown.lines.say(title)
    with shown.status or contextlib.nullcontext():
        yield shown


class Bar:
    """Shows how many of a known number of items are done."""

    def __init__(self, title: str, total: int, console: Console) -> None:
        self.title, self.total, self.done = title, total, 0
        self.lines = Lines(console)
        self.shown = self.task = None
        if console.is_terminal:
            self.shown = Progress(*COLUMNS, console=console, transient=True)
            self.task = self.shown.add_task(title, total=total)

    def advance(self, count: int = 1) -> None:
        """Counts some more items that are done."""
        self.reach(self.done + count)

    def reach(self, count: int) -> None:
        """Sets the number of items that are done."""
        self.done = count
        self._show()

    def begin(self, part: str) -> None:
        """Names the item that begins."""
        self.title = part
        self._show()

    def _show(self) -> None:
        if self.shown:
            self.shown.update(self.task, completed=self.done, description=self.title)
        else:
            self.lines.say(f"{self.title}: {self.done:,} of {self.total:,}")


@contextlib.contextmanager
def bar(title: str, total: int, console: Console) -> Iterator[Bar]:
    """Shows a progress bar until the context ends; yields the bar."""
    shown = Bar(title, total, console)
    with shown.shown or contextlib.nullcontext():
        shown.reach(0)
        yield shown
