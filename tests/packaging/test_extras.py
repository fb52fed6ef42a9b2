# SPDX-License-Identifier: Apache-2.0
"""Tests pyproject's extras, the lock file and `make setup`: groups, pins and hashes."""

import importlib.util
import re
import subprocess
import sys
import tomllib
import types

import pytest

from maeslant import extras, paths

PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
LOCK = (paths.ROOT / "requirements.lock").read_text()


def tool(name: str) -> types.ModuleType:
    """Imports a Python module of tools/ by its name."""
    spec = importlib.util.spec_from_file_location(name, paths.ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(text: str) -> set[str]:
    """Returns the package names of a list of requirements."""
    found = re.findall(r"(?m)^([A-Za-z0-9._-]+)==", text)
    return {name.lower().replace("_", "-") for name in found}


def test_extras_are_those_of_the_package() -> None:
    """The doctor, the errors and the Makefile name exactly the extras of pyproject.toml."""
    assert extras.EXTRAS.keys() == PROJECT["optional-dependencies"].keys()
    makefile = (paths.ROOT / "Makefile").read_text()
    targets = re.search(r"(?m)^EXTRAS := (.*)$", makefile)[1].split()
    assert set(targets) == PROJECT["optional-dependencies"].keys()


def test_every_module_of_an_extra_is_installed_with_it() -> None:
    """Every Python module that an extra provides is installed in the test environment."""
    for name, (_, modules) in extras.EXTRAS.items():
        extras.need_modules(modules)
        assert name in extras.how_to_get(name)


def test_a_missing_module_is_one_line(monkeypatch) -> None:
    """The error about a missing Python module names the extra and the install command."""
    monkeypatch.setattr(extras, "is_there", lambda name: name != "ziglang")
    with pytest.raises(extras.MissingExtra, match="ziglang is not installed: make setup-soc$"):
        extras.need_modules(["elftools", "ziglang"])
    monkeypatch.setattr(paths, "INSTALLED", True)
    assert "pip install 'maeslant[soc]'" in str(extras.missing("elftools.elf"))
    assert extras.missing("nothing_of_ours") is None


def test_command_without_its_extra() -> None:
    """`maeslant soc run` without pyelftools gives an error without a traceback."""
    code = "import sys; sys.modules['elftools'] = None; from maeslant.cli import main; "
    code += "sys.argv = ['maeslant', 'soc', 'run']; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "make setup-soc" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_lock_has_hashes_for_all_that_is_asked_for() -> None:
    """Every package of pyproject.toml is pinned in the lock file with hashes and groups."""
    asked = {*PROJECT["dependencies"]}
    for group in PROJECT["optional-dependencies"].values():
        asked.update(name.split("[")[0] for name in group)
    assert asked - {"maeslant"} <= names(LOCK)
    entries = LOCK.split("# groups: ")[1:]
    assert len(entries) == len(re.findall(r"(?m)^\S+==", LOCK))
    for entry in entries:
        assert entry.splitlines()[0].split() and "--hash=sha256:" in entry, entry


def test_set_up_takes_a_group_alone() -> None:
    """tools/setup.py installs a single group of packages, which contains `run`."""
    setup = tool("setup")
    base = names(setup.chosen(LOCK, ["run"]))
    assert set(PROJECT["dependencies"]) <= base and not base & {
        "pyosys",
        "dask",
        "litex",
        "ziglang",
    }
    for group in PROJECT["optional-dependencies"]:
        assert base <= names(setup.chosen(LOCK, [group])), group
    with pytest.raises(SystemExit, match="no group synht; there are: .*synth"):
        setup.chosen(LOCK, ["synht"])


def test_lock_reads_its_own_file() -> None:
    """tools/lock.py reads its own lock file and keeps the pinned versions."""
    found = tool("lock").packages(LOCK)
    assert len(found) == len(names(LOCK)) and all("--hash" in lines for lines in found.values())
