# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant` of a checkout that is mounted for reading alone: MAESLANT_BUILD names a folder.

The message without one is tested in test_cli.py.
"""

import os
import pathlib
import subprocess

import pytest

from maeslant import paths
from tests.cli.test_cli import MAESLANT

# Mounts the checkout in a mount namespace of its own, so that nothing stays mounted.
SHELL = """
mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" || exit 99
touch new && exit 98
exec "$@"
"""


def run_there(words: list[str], build: pathlib.Path) -> subprocess.CompletedProcess:
    """Runs a command in a checkout that is mounted for reading alone."""
    alone = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
    return subprocess.run(
        [*alone, "bash", "-c", SHELL, str(paths.ROOT), *words],
        env=os.environ | {"MAESLANT_BUILD": str(build)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", [["info", "null:"], ["synth", "mae_rr_arb", "--target", "xc7"]])
def test_read_only_checkout(words: list[str], tmp_path: pathlib.Path) -> None:
    """`maeslant` works in a read-only checkout if MAESLANT_BUILD names a folder."""
    if run_there(["true"], tmp_path).returncode != 0:
        pytest.skip("no file system may be mounted here")
    done = run_there([MAESLANT, *words], tmp_path / "build")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "build").is_dir()
