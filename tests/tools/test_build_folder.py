# SPDX-License-Identifier: Apache-2.0
"""Tests that make, the boards and the site build in the folder that MAESLANT_BUILD names."""

import os
import pathlib
import shutil
import subprocess
import sys
import types

import pytest

from maeslant import paths
from tools.docsite import __main__ as docsite


def make(folder: pathlib.Path, *words: str, build: str) -> str:
    """Runs make in a folder with MAESLANT_BUILD set; returns what it prints."""
    environment = os.environ | {"MAESLANT_BUILD": build}
    command = ["make", "-s", "-C", str(folder), *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(("build", "where"), [("", "build"), ("/some where", "/some where")])
def test_registers(build: str, where: str, tmp_path: pathlib.Path) -> None:
    """`make regs-html` writes the register pages into the folder of what is built."""
    shutil.copy(paths.ROOT / "Makefile", tmp_path)
    for name in ("requirements.lock", "tools/packaging/setup.py", "maeslant/build/toolchain.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert f'--html "{where}/registers"' in make(tmp_path, "-n", "regs-html", build=build)


def test_clean_leaves_a_named_folder(tmp_path: pathlib.Path) -> None:
    """`make clean` removes build/, and says that the folder of MAESLANT_BUILD is left."""
    shutil.copy(paths.ROOT / "Makefile", tmp_path)
    for name in ("build", "other"):
        (tmp_path / name).mkdir()
    said = make(tmp_path, "clean", build=str(tmp_path / "other"))
    assert str(tmp_path / "other") in said
    assert (tmp_path / "other").is_dir() and not (tmp_path / "build").exists()
    for build in ("", "build"):
        assert make(tmp_path, "clean", build=build) == ""


@pytest.mark.parametrize(("build", "where"), [("", "../../build"), ("/other", "/other")])
def test_boards(build: str, where: str, tmp_path: pathlib.Path) -> None:
    """A board's bitstream is built in boards/ of the folder of what is built."""
    board = tmp_path / "boards" / "one"
    board.mkdir(parents=True)
    shutil.copy(paths.ROOT / "boards" / "board.mk", board.parent)
    (board / "Makefile").write_text("include ../board.mk\nshow:\n\t@echo $(OUT)\n")
    assert make(board, "show", build=build).strip() == f"{where}/boards/one"


def test_a_board_takes_no_space(tmp_path: pathlib.Path) -> None:
    """A board refuses a folder with a space, of which `make clean` would remove a part."""
    board = tmp_path / "boards" / "one"
    board.mkdir(parents=True)
    shutil.copy(paths.ROOT / "boards" / "board.mk", board.parent)
    (board / "Makefile").write_text("include ../board.mk\n")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        make(board, "-n", "clean", build=str(tmp_path / "my builds"))
    assert "no space" in failed.value.stderr and failed.value.stdout == ""


def test_site(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make site` collects its pages and builds the site in the folder of what is built."""
    seen = []

    def collect(folder: pathlib.Path) -> list[str]:
        seen.append(folder)
        return []

    def run(command: list[str], env: dict[str, str], **_how: object) -> types.SimpleNamespace:
        seen.append(pathlib.Path(command[command.index("--site-dir") + 1]))
        seen.append(pathlib.Path(env["MAESLANT_PAGES"]))
        return types.SimpleNamespace(returncode=0)

    monkeypatch.setattr(paths, "BUILD", tmp_path)
    monkeypatch.setattr(docsite.pages, "collect", collect)
    monkeypatch.setattr(docsite.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["docsite"])
    assert docsite.main() == 0
    assert seen == [tmp_path / "pages", tmp_path / "site", tmp_path / "pages"]
    assert "MAESLANT_PAGES" in (paths.ROOT / "mkdocs.yml").read_text()
