# SPDX-License-Identifier: Apache-2.0
"""Runs the synthesis of one design in a process that can be stopped.

Reads the function's keyword arguments as a line of JSON; writes lines of JSON: {"tell": TEXT} while
it works, at the end {"report": {...}} or {"error": TEXT}. The process leads a group of its own with
all tools that it starts, and ends them and itself when its input is closed: nothing goes on after
the one who asked has gone, however that went.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.integrations import cluster

SYNTHESIZE = "maeslant.synth:synthesize"
SOURCES = (
    "rtl/**/*.sv*",
    "configs/builds.yml",
    "maeslant/build/configurations.py",
    "maeslant/synth/*.*",
    "maeslant/synth/explore/*.py",
)
GRACE_S = 3


class Stopped(Exception):
    """Raised if a design's synthesis was stopped by its caller."""


def run(
    function: str,
    arguments: dict[str, object],
    tell: Callable[[str], None] = lambda text: None,
    stop: threading.Event | None = None,
) -> dict[str, object]:
    """Synthesizes a design in a process of its own and returns the report.

    Raises MaeslantError with what it says, Stopped once ``stop`` is set.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "maeslant.synth.explore.worker", function],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=paths.ROOT,
        start_new_session=True,
    )
    watch = threading.Thread(target=_watch, args=(process, stop), daemon=True)
    watch.start()
    last: list[str] = []
    noise = threading.Thread(target=lambda: last.extend(process.stderr), daemon=True)
    noise.start()
    found = {}
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(arguments) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            found = json.loads(line)
            if "tell" in found:
                tell(found["tell"])
        process.wait()
        noise.join(GRACE_S)
    finally:
        end(process)
    if stop is not None and stop.is_set():
        raise Stopped
    if "report" in found:
        return found["report"]
    said = "".join(last).strip().splitlines()
    raise MaeslantError(
        found.get("error")
        or f"the synthesis ended with status {process.returncode}: {said[-1] if said else ''}"
    )


def run_remote(
    function: str, arguments: dict[str, object], globs: tuple[str, ...], expected: str
) -> dict[str, object]:
    """Synthesizes a design as a task of a Dask cluster; returns its report or error."""
    try:
        cluster.check_sources(globs, expected)
        return {"report": run(function, arguments)}
    except MaeslantError as error:
        return {"error": str(error)}


def _watch(process: subprocess.Popen, stop: threading.Event | None) -> None:
    while stop is not None and process.poll() is None:
        if stop.wait(0.1):
            end(process)


def end(process: subprocess.Popen) -> None:
    """Ends the process of a synthesis and all its child processes."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.close()


def _lifeline() -> None:
    """Waits until standard input is closed, then ends this synthesis process and its children."""
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(0, signal.SIGKILL)


def _terminated(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _line() -> bytes:
    """Returns the first line of standard input, read byte by byte and no further."""
    found = b""
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        found += byte
    return found


def main() -> int:
    """Synthesizes the design that standard input names and prints the report; a worker process."""
    signal.signal(signal.SIGTERM, _terminated)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever tools print is no answer

    def answer(**fields: object) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    module, _, function = sys.argv[1].partition(":")
    arguments = json.loads(_line())
    threading.Thread(target=_lifeline, daemon=True).start()
    try:
        call = getattr(importlib.import_module(module), function)
        report = call(**arguments, tell=lambda text: answer(tell=str(text)))
        if not isinstance(report, dict):
            report = report.as_dict() | {"folder": report.folder.name}
        answer(report=report)
    except MaeslantError as error:
        answer(error=str(error))
    except Exception as error:  # a fault of the flow is one point's, and is said
        answer(error=f"{type(error).__name__}: {error}")
    answers.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
