# SPDX-License-Identifier: Apache-2.0
"""Tests what `python -m maeslant.build.simulator` says where it cannot build."""

import os
import pathlib
import subprocess
import sys

from maeslant import paths


def test_no_compiler(tmp_path: pathlib.Path) -> None:
    """Without g++ the simulator's build ends with one line that says what is missing."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in pathlib.Path("/usr/bin").iterdir():
        if tool.name not in ("g++", "verilator"):
            (tools / tool.name).symlink_to(tool)
    result = subprocess.run(
        [sys.executable, "-m", "maeslant.build.simulator", "peripheral_small"],
        cwd=paths.ROOT,
        env=os.environ | {"PATH": str(tools), "MAESLANT_BUILD": str(tmp_path / "build")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == "there is no g++: `maeslant doctor` says how to get it"
    assert "Traceback" not in result.stderr
