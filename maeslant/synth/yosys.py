# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys in a separate process.

A crash or a refusal of theirs is an error here, never the end of the program; and a run that is
given up takes its helpers (ABC) with it.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable

from maeslant import extras, paths
from maeslant.synth import interrupt
from maeslant.synth.report import SynthesisError

MARK = "@@pass "
CHILD = pathlib.Path(__file__).with_name("yosys_child.py")


def version() -> str:
    """Returns the version of the Yosys that synthesis uses."""
    return f"Yosys {extras.version('pyosys')}"


def elaborate(read: str, top: str, kept: Iterable[str] = ()) -> list[str]:
    """Returns the Yosys passes that elaborate a design, before what is not kept is flattened."""
    once = [f"@once {name}" for name in kept]
    again = [f"hierarchy -top {top}"] if once else []
    return [read, f"hierarchy -check -top {top}", "proc", *once, *again]


def run(passes: list[str], log: pathlib.Path, tell: Callable[[str], None] | None = None) -> None:
    """Runs Yosys passes in a separate process, logs the output, reports each pass to ``tell``.

    The log's folder is that of the files that the passes write; raises MaeslantError where its path
    has a character that would end a word of a pass.
    """
    paths.check(log.parent.absolute())
    extras.need_modules(["pyosys"])
    process = None
    try:
        with interrupt.held():
            process = subprocess.Popen(
                [sys.executable, str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
                # ABC's folders are removed with the run's own, also after an interruption.
                env=os.environ | {"TMPDIR": str(log.parent.absolute())},
            )
        with open(log, "w") as kept:
            process.stdin.write("\n".join(passes))
            process.stdin.close()
            for line in process.stdout:
                kept.write(line)
                if tell and line.startswith(MARK):
                    tell(line[len(MARK) :].split()[0])
        status = process.wait()
    except BaseException:
        if process:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise
    if status:
        raise SynthesisError(f"Yosys stopped ({status}): {_complaint(log)}")


def _complaint(log: pathlib.Path) -> str:
    """Returns those lines of a Yosys log that explain a failure."""
    text = log.read_text(errors="replace")
    found = re.findall(r"(?m)^.*(?:\berror:|ERROR:).*$", text)
    return "\n".join(found[-5:]) or "\n".join(text.splitlines()[-5:])
