# SPDX-License-Identifier: Apache-2.0
"""Configures pytest: --first runs the first case of each test, --budget ends a run in time."""

import time

import pytest

START = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options --first and --budget to pytest's command line."""
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


@pytest.hookimpl(tryfirst=True)  # before fixtures build anything
def pytest_runtest_setup(item: pytest.Item) -> None:
    """With --budget, skips a test that begins after the budget's end."""
    minutes = item.config.getoption("--budget")
    if minutes is not None and time.monotonic() - START > 60 * minutes:
        pytest.skip(f"not begun within the budget of {minutes:g} minutes")
