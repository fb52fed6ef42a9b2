# SPDX-License-Identifier: Apache-2.0
"""Tests that `make test` runs one case of each test, and that CI runs all cases."""

import subprocess
import sys

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
    assert "make test-full" in (paths.ROOT / ".ci" / "run").read_text().splitlines()
    assert "--first" not in makefile.partition("test-full:")[2].partition("\n\n")[0]
