# SPDX-License-Identifier: Apache-2.0
"""Starts a Dask scheduler and workers on this machine for tests, each in a folder of its own."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator


@contextlib.contextmanager
def cluster(
    folder: pathlib.Path, workers: int, environment: dict[str, str] | None = None
) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """Starts a Dask cluster; yields the scheduler's address and the worker processes."""
    file = folder / "scheduler.json"
    settings = (
        os.environ | (environment or {}) | {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}
    )
    processes: list[subprocess.Popen] = []

    def start(program: str, name: str, *words: str) -> subprocess.Popen:
        home = folder / name
        home.mkdir()
        command = [sys.executable, "-m", "dask", program, *words, "--no-dashboard"]
        with open(home / "log", "w") as log:
            found = subprocess.Popen(
                command, cwd=home, env=settings, stdout=log, stderr=subprocess.STDOUT
            )
        processes.append(found)
        return found

    try:
        address = ["--host", "127.0.0.1"]
        start("scheduler", "scheduler", "--port", "0", "--scheduler-file", str(file), *address)
        until = time.monotonic() + 30
        while not file.exists() or not file.read_text():
            assert time.monotonic() < until and processes[0].poll() is None
            time.sleep(0.05)
        uri = json.loads(file.read_text())["address"]
        each = ["--nthreads", "1", "--no-nanny", *address]
        made = [start("worker", f"worker{i}", uri, *each) for i in range(workers)]
        yield uri, made
    finally:
        for process in reversed(processes):
            process.kill()
        for process in processes:
            process.wait()
