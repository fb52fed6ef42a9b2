# SPDX-License-Identifier: Apache-2.0
"""Resolve requirements.in in a fresh environment and write requirements.lock."""

import pathlib
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = "# Written by `make lock` from requirements.in; do not edit.\n"


def main() -> None:
    """Install into a throw-away environment, then freeze it."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = pathlib.Path(folder) / "bin" / "python"
        pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-q", "-r", str(ROOT / "requirements.in")], check=True)
        frozen = subprocess.run(
            [*pip, "freeze"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    (ROOT / "requirements.lock").write_text(HEAD + frozen)


if __name__ == "__main__":
    sys.exit(main())
