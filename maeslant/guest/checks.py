# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of a simulated card, each in a Linux guest of its own."""

import pathlib
import tempfile
import time
from collections.abc import Callable, Iterable

from maeslant.guest import machine, media, server
from maeslant.guest.block import checks as block_checks
from maeslant.guest.card import checks as card_checks
from maeslant.guest.case import Case
from maeslant.guest.kernel import checks as kernel_checks

SECONDS = 900  # that a guest may take


def programs(device: str) -> dict[str, pathlib.Path]:
    """Compiles the programs of a Linux guest for a card; returns their paths by name."""
    if media.capacity(device):
        return {**block_checks.programs(), **kernel_checks.programs()}
    return card_checks.programs()


def every(device: str, size: int, folder: pathlib.Path) -> list[Case]:
    """Returns all checks of any card in Linux guests; media files are in ``folder``."""
    if media.capacity(device):
        return [*block_checks.cases(device, folder), *kernel_checks.cases(device, folder)]
    return card_checks.cases(device, size)


def run(
    device: str, size: int, say: Callable[[str], None], names: Iterable[str] | None = None
) -> list[str]:
    """Runs checks of a card, each in a new Linux guest; returns texts of the failed checks."""
    machine.check()
    server.build()
    own = programs(device)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="maeslant-media-") as folder:
        for case in every(device, size, pathlib.Path(folder)):
            if names is not None and case.name not in names:
                continue
            start = time.monotonic()
            result = machine.run(
                case.command,
                case.options,
                programs={**own, **case.programs()},
                files=case.files,
                tree=case.tree(),
                seconds=SECONDS,
            )
            problem = case.wrong(result)
            took = time.monotonic() - start
            verdict = "FAILED" if problem else "passed"
            say(f"{verdict}  {case.name:<13} {case.title:<40} {took:6.1f} s")
            if case.name == "data" or problem:
                say(result.output.rstrip())
            if problem:
                say(f"{problem}\nthe card: {result.card}")
                wrong.append(f"{case.name}: {problem}")
    return wrong
