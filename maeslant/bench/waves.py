# SPDX-License-Identifier: Apache-2.0
"""Writes waveforms of a simulated test or build, for `maeslant wave`."""

import json
import os
import pathlib
import secrets
import subprocess
import sys

from maeslant import paths
from maeslant.build import configurations
from maeslant.driver.device import ENCRYPT, Device
from maeslant.errors import MaeslantError

STANDARD_ERROR = 2  # its file descriptor
VIEWERS = "open it with GTKWave or Surfer: gtkwave {0}"


def run(target: str, as_json: bool) -> None:
    """Simulates a test file or named build with waveforms on; prints their paths."""
    if target.startswith("tests/") or target.endswith(".py"):
        files = of_test(target)
    else:
        files = of_build(target)
    if as_json:
        print(json.dumps([str(path) for path in files], indent=1))
    else:
        print(*files, VIEWERS.format(files[-1]), sep="\n")


def newest(folder: pathlib.Path, since: float) -> list[pathlib.Path]:
    """Returns the waveform files in a folder that are newer than a given time."""
    found = [path for kind in ("fst", "vcd") for path in folder.rglob(f"*.{kind}")]
    return sorted(path for path in found if path.stat().st_mtime >= since and path.stat().st_size)


def of_test(target: str) -> list[pathlib.Path]:
    """Runs a test file with waveforms on; returns their paths. What pytest says is on stderr."""
    file = target.split("::", 1)[0]
    if not (paths.ROOT / file).is_file():
        raise MaeslantError(f"{file}: there is no such test file")
    marker = paths.BUILD / ".wave"
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    command = [sys.executable, "-m", "pytest", "-q", "-x", target]
    environment = os.environ | {"MAESLANT_WAVES": "1"}
    result = subprocess.run(
        command, cwd=paths.ROOT, env=environment, stdout=STANDARD_ERROR, check=False
    )
    files = newest(paths.BUILD / "bench", marker.stat().st_mtime)
    if not files:
        raise MaeslantError(f"{target} wrote no waveform (pytest ended with {result.returncode})")
    return files


def of_build(name: str) -> list[pathlib.Path]:
    """Simulates a device that encrypts 4 KiB; returns the waveforms' paths."""
    build = configurations.get(name)
    if not build.get("device"):
        raise MaeslantError(f"{name} is no device; use a test: maeslant wave tests/cipher/...")
    folder = paths.BUILD / "waves"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.fst"
    with Device(f"sim:{name}?wave={path}") as device:
        data = secrets.token_bytes(4096)
        device.crypt("ctr", ENCRYPT, secrets.token_bytes(16), bytes(16), data)
    return sorted(folder.glob(f"{name}.*"))
