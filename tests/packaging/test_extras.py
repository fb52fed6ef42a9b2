# SPDX-License-Identifier: Apache-2.0
"""Tests the optional dependencies (extras) of pyproject.toml, the lock file and `make setup`."""

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
    """Imports a Python file of tools/packaging as a module."""
    file = paths.ROOT / "tools" / "packaging" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(text: str) -> set[str]:
    """Returns the package names in a list of pinned requirements."""
    found = re.findall(r"(?m)^([A-Za-z0-9._-]+)==", text)
    return {name.lower().replace("_", "-") for name in found}


def test_extras_are_those_of_the_package() -> None:
    """extras.py and the Makefile name exactly the extras of pyproject.toml."""
    assert extras.EXTRAS.keys() == PROJECT["optional-dependencies"].keys()
    makefile = (paths.ROOT / "Makefile").read_text()
    targets = re.search(r"(?m)^EXTRAS := (.*)$", makefile)[1].split()
    assert set(targets) == PROJECT["optional-dependencies"].keys()


def test_every_module_of_an_extra_is_installed_with_it() -> None:
    """Each Python module that extras.py expects of an extra is installed here."""
    for name, (_, modules) in extras.EXTRAS.items():
        extras.need_modules(modules)
        assert name in extras.how_to_get(name)


def test_a_missing_module_is_one_line(monkeypatch) -> None:
    """The error about a missing Python module names the command that installs its extra."""
    monkeypatch.setattr(extras, "is_there", lambda name: name != "ziglang")
    with pytest.raises(extras.MissingExtra, match="ziglang is not installed: make setup-soc$"):
        extras.need_modules(["elftools", "ziglang"])
    monkeypatch.setattr(paths, "INSTALLED", True)
    assert "pip install 'maeslant[soc]'" in str(extras.missing("elftools.elf"))
    assert extras.missing("nothing_of_ours") is None


def test_command_without_its_extra() -> None:
    """`maeslant soc run` without pyelftools fails with the command that installs it."""
    code = "import sys; sys.modules['elftools'] = None; from maeslant.cli import main; "
    code += "sys.argv = ['maeslant', 'soc', 'run']; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "make setup-soc" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_lock_has_hashes_for_all_that_is_asked_for() -> None:
    """The lock file pins each package of pyproject.toml, with hashes."""
    asked = {*PROJECT["dependencies"]}
    for group in PROJECT["optional-dependencies"].values():
        asked.update(re.split(r"[\[;]", name)[0] for name in group)
    assert asked - {"maeslant"} <= names(LOCK)
    entries = LOCK.split("# groups: ")[1:]
    assert len(entries) == len(re.findall(r"(?m)^\S+==", LOCK))
    for entry in entries:
        assert entry.splitlines()[0].split() and "--hash=sha256:" in entry, entry


def test_set_up_takes_a_group_alone() -> None:
    """setup.chosen returns a group's packages together with those of the group `run`."""
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
    """lock.packages reads the lock file and finds all its packages with hashes."""
    found = tool("lock").packages(LOCK)
    assert len(found) == len(names(LOCK)) and all("--hash" in lines for lines in found.values())
