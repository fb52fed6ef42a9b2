# SPDX-License-Identifier: Apache-2.0
"""Tests the wheel: maeslant installed by pip works without a checkout."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from maeslant import __version__, paths

SKIPPED = shutil.ignore_patterns(".venv*", ".git", "__pycache__", ".pytest_cache", ".ruff_cache")


def skipped(folder: str, names: list[str]) -> set[str]:
    """Returns the entries of a folder that are not part of the sources."""
    return SKIPPED(folder, names) | ({"build"} if folder == str(paths.ROOT) else set())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Installs the package by pip into a folder; returns the folder."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(paths.ROOT, folder / "source", ignore=skipped)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    command += ["--no-index", "--target", str(folder / "site"), str(folder / "source")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(folder / "source")
    return folder / "site"


def maeslant(site: pathlib.Path, *words: str, **more: str) -> subprocess.CompletedProcess:
    """Runs the installed `maeslant` outside the checkout; returns the finished process."""
    environment = {k: v for k, v in os.environ.items() if k != "MAESLANT_BUILD"}
    environment |= {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(site.parent / "cache")} | more
    return subprocess.run(
        [sys.executable, "-m", "maeslant.cli", *words],
        cwd=site,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_the_installed_one(site: pathlib.Path) -> None:
    """The installed `maeslant` prints its version and lists RTL files of its own package."""
    assert maeslant(site, "--version").stdout == f"maeslant {__version__}\n"
    found = json.loads(maeslant(site, "files", "stream4", "--json").stdout)
    assert pathlib.Path(found["root"]) == site / "maeslant" / "_tree"
    assert all(pathlib.Path(path).is_relative_to(site) for path in found["files"])
    script = (site / "bin" / "maeslant").read_text()
    assert "from maeslant.cli import main" in script


def test_all_that_is_tracked_in_its_folders_is_there(site: pathlib.Path) -> None:
    """The wheel contains every file of the source folders, unchanged."""
    tracked = ("configs", "driver", "formal", "rtl", "sim")
    for folder in tracked:
        for path in sorted((paths.ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = site / "maeslant" / "_tree" / path.relative_to(paths.ROOT)
                assert copy.read_bytes() == path.read_bytes()
    for path in sorted((paths.ROOT / "maeslant").rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            assert (site / path.relative_to(paths.ROOT)).is_file(), path


def test_driver_is_built_in_the_users_cache(site: pathlib.Path) -> None:
    """The installed `maeslant devices` builds the driver in the user's cache, nowhere else."""
    before = {p for p in site.rglob("*") if p.suffix != ".pyc" and p.name != "__pycache__"}
    done = maeslant(site, "devices", "--json")
    assert done.returncode == 0, done.stderr
    assert (site.parent / "cache" / "maeslant" / "driver" / "libmaeslant.so").is_file()
    after = {p for p in site.rglob("*") if p.suffix != ".pyc" and p.name != "__pycache__"}
    assert before == after


def test_doctor(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """`maeslant doctor` says for each missing tool how to get it and what fails without it."""
    found = json.loads(maeslant(site, "doctor", "--json").stdout)
    named = {finding["name"]: finding for finding in found}
    assert named["Verilator"]["found"] and named["g++"]["found"] and named["extra synth"]["found"]
    assert named["extra synth"]["how_to_get"] == "python3 -m pip install 'maeslant[synth]'"
    done = maeslant(site, "doctor", PATH=str(tmp_path))
    assert done.returncode == 1 and "without: g++, make, cc, ar" in " ".join(done.stdout.split())
    assert "'maeslant[test]'" in "".join(done.stdout.split()) or named["extra test"]["found"]
