# SPDX-License-Identifier: Apache-2.0
"""Configures pytest: --first runs the first case of each test, --budget ends a run in time."""

import contextlib
import os
import pathlib
import signal
import time
from collections.abc import Iterator

import pytest

START = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options --first, --budget and --grace to pytest's command line."""
    parser.addoption(
        "--first",
        action="store_true",
        help="run the first case of each parametrized test only, and none that is marked full",
    )
    parser.addoption(
        "--budget",
        type=float,
        metavar="MINUTES",
        help="skip the tests that have not begun after so many minutes",
    )
    parser.addoption(
        "--grace",
        type=float,
        metavar="MINUTES",
        default=10,
        help="skip those that have not ended so many minutes after the budget, too",
    )


@pytest.hookimpl(trylast=True)  # after pytest has left out what is marked slow
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --first, deselects all but the first case of each test, and tests marked full."""
    if not config.getoption("--first"):
        return
    cases: dict[str, pytest.Item] = {}
    for item in items:
        if item.get_closest_marker("full") is None:
            cases.setdefault(item.nodeid.partition("[")[0], item)
    chosen = set(cases.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = cases.values()


def _processes(parent: int, depth: int = 0) -> Iterator[str]:
    """Yields the descendants of a process: seconds of a CPU that each has used, and its command."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            words = path.read_text().rpartition(")")[2].split()
            if int(words[1]) == parent:
                command = (path.parent / "cmdline").read_bytes().replace(b"\0", b" ")
                used = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
                yield f"{'  ' * depth}{used:.0f} s: {command[:200].decode(errors='replace')}"
                yield from _processes(int(path.parent.name), depth + 1)


@contextlib.contextmanager
def _until_grace_ends(config: pytest.Config) -> Iterator[None]:
    """With --budget, skips what has not ended a while after it, and says which processes ran."""
    minutes, grace = config.getoption("--budget"), config.getoption("--grace")
    if minutes is None:
        yield
        return

    stopped = False

    def stop(_signal: int, _frame: object) -> None:
        nonlocal stopped
        stopped = True
        under_way = "\n".join(_processes(os.getpid()))
        pytest.skip(f"not ended {grace:g} minutes after the budget of {minutes:g}:\n{under_way}")

    def left() -> float:
        return max(0.1, 60 * (minutes + grace) - (time.monotonic() - START))

    usual = signal.signal(signal.SIGALRM, stop)
    outer, _ = signal.setitimer(signal.ITIMER_REAL, left())  # a fixture asks for another
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left() if outer and not stopped else 0)
        signal.signal(signal.SIGALRM, usual)


@pytest.hookimpl(tryfirst=True)  # before fixtures build anything
def pytest_runtest_setup(item: pytest.Item) -> None:
    """With --budget, skips a test that begins after the budget's end."""
    minutes = item.config.getoption("--budget")
    if minutes is not None and time.monotonic() - START > 60 * minutes:
        pytest.skip(f"not begun within the budget of {minutes:g} minutes")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --budget, ends what a test waits for some minutes after it."""
    with _until_grace_ends(request.config):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """With --budget, ends a test that has not ended some minutes after it."""
    with _until_grace_ends(item.config):
        return (yield)
