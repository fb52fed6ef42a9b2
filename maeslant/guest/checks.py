# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of a simulated card, each in a Linux guest of its own."""

import dataclasses
import pathlib
import tempfile
import time
from collections.abc import Callable, Collection

from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.guest import machine, media, server
from maeslant.guest.block import checks as block_checks
from maeslant.guest.card import checks as card_checks
from maeslant.guest.case import Case
from maeslant.guest.kernel import checks as kernel_checks
from maeslant.guest.protected import checks as protected_checks


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Holds what came of a check in a Linux guest."""

    name: str
    title: str
    seconds: float
    problem: str  # "" if it passed


def _protected(device: str) -> bool:
    return configurations.get(device).get("card") == "protected"


def programs(device: str) -> dict[str, pathlib.Path]:
    """Compiles the programs of a Linux guest for a card; returns their paths by name."""
    if media.capacity(device):
        return {**block_checks.built(), **kernel_checks.built()}
    return (protected_checks if _protected(device) else card_checks).built()


def every(
    device: str, size: int, folder: pathlib.Path, fio_seconds: int | None = None
) -> list[Case]:
    """Returns all checks of any card in Linux guests; media files are in ``folder``."""
    if media.capacity(device):
        kernel = kernel_checks.cases(device, folder, fio_seconds)
        return [*block_checks.cases(device, folder), *kernel]
    if fio_seconds:
        raise MaeslantError(f"{device} is no block card, and fio writes to its disk only")
    return protected_checks.cases(device) if _protected(device) else card_checks.cases(device, size)


def choose(found: list[Case], names: Collection[str]) -> list[Case]:
    """Returns the checks of given names, or all for none; an unknown name is an error."""
    known = [case.name for case in found]
    for name in names:
        if name not in known:
            raise MaeslantError(f"there is no check {name}; the card has: {', '.join(known)}")
    return [case for case in found if not names or case.name in names]


def run(
    device: str,
    size: int,
    say: Callable[[str], None],
    names: Collection[str] = (),
    fio_seconds: int | None = None,
) -> list[Outcome]:
    """Runs checks of a card, each in a new Linux guest; says how each ends; returns all outcomes.

    ``names``: of some checks only. ``fio_seconds``: that fio writes while the card is reset.
    """
    machine.check()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="maeslant-media-") as folder:
        chosen = choose(every(device, size, pathlib.Path(folder), fio_seconds), names)
        if fio_seconds and not any(case.name == "kernel-resets" for case in chosen):
            raise MaeslantError("--fio-seconds is of the check kernel-resets: choose it, too")
        server.build()
        own = programs(device)
        for case in chosen:
            start = time.monotonic()
            result = machine.run(
                case.command,
                case.options,
                programs={**own, **case.programs()},
                files=case.files,
                tree=case.tree(),
                seconds=case.seconds,
            )
            problem = case.wrong(result)
            took = time.monotonic() - start
            verdict = "FAILED" if problem else "passed"
            say(f"{verdict}  {case.name:<13} {case.title:<40} {took:6.1f} s")
            if case.name == "data" or problem:
                say(result.output.rstrip())
            if problem:
                say(f"{problem}\nthe card: {result.card}")
            outcomes.append(Outcome(case.name, case.title, round(took, 1), problem))
    return outcomes
