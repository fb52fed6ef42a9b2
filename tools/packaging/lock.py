# SPDX-License-Identifier: Apache-2.0
"""Writes requirements.lock, which pins all Python packages by version and hash.

A group is `run`, what the command line always needs, or an extra. The line above each package
names the groups that take it, themselves or through another package; setup.py reads it.
`--upgrade` takes the newest versions; without, what is pinned stays as far as it fits.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from maeslant import python_version

if not python_version.is_new_enough():
    sys.exit(python_version.needed("lock"))
import subprocess
import tempfile
import tomllib
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
PROJECT = ROOT / "pyproject.toml"
HEAD = "# Written by `make lock` from pyproject.toml; do not edit.\n"
MARK = "# groups: "
WIDEST = "test"  # the extra with all others in it
UV = "uv==0.13.9"


def groups() -> list[str]:
    """Returns the dependency groups' names to pin: `run`, then each extra of pyproject.toml."""
    return ["run", *tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]]


def packages(text: str) -> dict[str, str]:
    """Returns the lines of each package in a resolved requirements file, by package."""
    found: dict[str, str] = {}
    for line in text.splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            name = line.split(" \\")[0].strip()
            found[name] = ""
        if not line.startswith("#"):
            found[name] += line
    return found


def _pin(requirement: str) -> str:
    """Returns (name, version) of a pinned requirement of a Python package."""
    return requirement.split(";")[0].strip()


def main() -> None:
    """Resolves versions of all Python dependencies and writes requirements.lock."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        binaries, fresh = pathlib.Path(folder) / "bin", pathlib.Path(folder) / "fresh"
        subprocess.run([str(binaries / "pip"), "install", "-q", UV], check=True)
        compiler = [str(binaries / "uv"), "pip", "compile", "-q", "--no-header", "--no-annotate"]
        compiler += ["--universal", "--fork-strategy", "fewest", "--python-version", "3.11"]

        def resolve(group: str, *options: str) -> dict[str, str]:
            extra = [] if group == "run" else ["--extra", group]
            command = [*compiler, *extra, *options, "-o", str(fresh), str(PROJECT)]
            subprocess.run(command, check=True, cwd=ROOT)
            text = fresh.read_text()
            fresh.unlink()
            return packages(text)

        known = [] if "--upgrade" in sys.argv or not LOCK.exists() else ["-c", str(LOCK)]
        pinned = resolve(WIDEST, "--generate-hashes", *known)
        limits = pathlib.Path(folder) / "limits"
        limits.write_text("\n".join(pinned))
        taken = {
            group: {_pin(line) for line in resolve(group, "-c", str(limits))} for group in groups()
        }
    text = HEAD
    for name, lines in pinned.items():
        own = [group for group in groups() if _pin(name) in taken[group]]
        text += MARK + " ".join(own) + "\n" + lines
    # Whole or not at all, without maeslant: this runs before its environment is there.
    part = LOCK.with_name(f".{LOCK.name}.part")
    try:
        part.write_text(text)
        part.replace(LOCK)
    finally:
        part.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
