# SPDX-License-Identifier: Apache-2.0
"""Tests that `make test` runs one case of each test, and CI all cases within its budget."""

import pathlib
import subprocess
import sys

import pytest

from maeslant import paths

# The options of pyproject.toml without its -q: twice it would hide the names.
ALL = ("-o", "addopts=--import-mode=importlib -m 'not slow'")


FILES = (  # tests marked full are in the last one
    "tests/tools/test_check_layers.py",
    "tests/bus/test_axi_cdc.py",
    "tests/integrations/test_peripheral.py",
)


def collected(*words: str) -> list[str]:
    """Returns the names of the tests that pytest would run with given options."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *ALL, *words]
    done = subprocess.run(
        [*command, *FILES],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_first_case_of_every_test() -> None:
    """`pytest --first` runs one case of each test, except of those marked full."""
    every, first, full = collected(), collected("--first"), collected("-m", "full and not slow")
    names = [name.partition("[")[0] for name in first]
    assert len(every) > len(first) == len(set(names))
    left_out = {name.partition("[")[0] for name in full}
    assert set(names) == {name.partition("[")[0] for name in every} - left_out
    assert left_out


def test_continuous_integration_runs_all() -> None:
    """CI runs `make test-full`, which runs all cases of all tests."""
    makefile = (paths.ROOT / "Makefile").read_text()
    commands = (paths.ROOT / ".ci" / "run").read_text().splitlines()
    assert any(line.startswith("make test-full BUDGET=") for line in commands)
    assert "--first" not in makefile.partition("test-full:")[2].partition("\n\n")[0]


def run_within(minutes: str) -> str:
    """Runs one short test file within a budget of minutes; returns pytest's last line."""
    command = [sys.executable, "-m", "pytest", "-q", *ALL, "--budget", minutes, FILES[0]]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_budget() -> None:
    """`pytest --budget` skips the tests that begin after it, and no others."""
    late, early = run_within("0"), run_within("10")
    assert "skipped" in late and "passed" not in late
    assert "passed" in early and "skipped" not in early


@pytest.mark.full
def test_budget_of_what_hangs(tmp_path: pathlib.Path) -> None:
    """A test or fixture that has not ended after the budget and grace is skipped; others run."""
    (tmp_path / "conftest.py").symlink_to(paths.ROOT / "tests" / "conftest.py")
    (tmp_path / "test_it.py").write_text(
        "import subprocess, pytest\n"
        "@pytest.fixture\n"
        "def inner(): pass\n"
        "@pytest.fixture\n"
        "def hung(request):\n"
        "    request.getfixturevalue('inner')\n"
        "    subprocess.run(['sleep', '600'])\n"
        "def test_quick(): pass\n"
        "def test_hung(hung): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "--budget", "0.1", "--grace", "0.05"]
    done = subprocess.run([*command, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].startswith("1 passed, 1 skipped"), done.stdout
    assert "not ended 0.05 minutes after the budget of 0.1" in done.stdout
    assert "s: sleep 600" in done.stdout
