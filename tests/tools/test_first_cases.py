# SPDX-License-Identifier: Apache-2.0
"""Tests that `make test` runs one case of every test, and that CI runs all cases."""

import subprocess
import sys

from maeslant import paths

# The options of pyproject.toml without its -q: twice it would hide the names.
ALL = ("-o", "addopts=--import-mode=importlib -m 'not slow'")


def collected(*words: str) -> list[str]:
    """Returns the names of the tests that pytest would run in tests/tools and tests/bus."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *ALL, *words]
    done = subprocess.run(
        [*command, "tests/tools/test_check_layers.py", "tests/bus/test_axi_cdc.py"],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_first_case_of_every_test() -> None:
    """`make test` skips no test and runs no parametrized test twice."""
    every, first = collected(), collected("--first")
    names = [name.partition("[")[0] for name in first]
    assert len(every) > len(first) == len(set(names))
    assert set(names) == {name.partition("[")[0] for name in every}


def test_continuous_integration_runs_all() -> None:
    """Only `make test` uses --first; CI runs all cases."""
    makefile = (paths.ROOT / "Makefile").read_text()
    assert "make test-full" in (paths.ROOT / ".ci" / "run").read_text().splitlines()
    assert "--first" not in makefile.partition("test-full:")[2].partition("\n\n")[0]
