# SPDX-License-Identifier: Apache-2.0
"""Lists the checks of the protected card in Linux guests."""

import pathlib
import re

from maeslant.build import c_driver
from maeslant.guest import machine, programs
from maeslant.guest.case import Case

FOLDER = pathlib.Path(__file__).parent
RUN = "protected_check $CARD secret"


def built() -> dict[str, pathlib.Path]:
    """Compiles the enclave's program and the process that owns the card; returns paths by name."""
    check = programs.linked(FOLDER / "protected_check.c", c_driver.build_protected())
    return {"protected_check": check, "maeslant-os": c_driver.build_os()[0]}


def _checked(result: machine.Result) -> str:
    """Returns what is wrong with sessions through the card, "" if nothing is."""
    if result.code or "the protected card is good\n" not in result.output:
        return f"exit status {result.code}"
    moved = re.search(r"^moved (\d+) bytes each way$", result.output, re.MULTILINE)
    read, written = (
        int(re.search(f"bytes {way} ([0-9]+)", result.card)[1]) for way in ("read", "written")
    )
    if not moved or min(read, written) < int(moved[1]):
        return f"the card read {read} bytes and wrote {written}"
    if "accesses refused 0\n" not in result.card:
        return f"the card met unmapped memory: {result.card}"
    return "no interrupt came" if re.search(", interrupts 0,", result.card) else ""


def cases(device: str) -> list[Case]:
    """Lists the checks of a protected card in Linux guests."""
    return [
        Case(name, title, machine.Options(device=device, msi=msi), RUN, _checked)
        for name, title, msi in (
            ("data", "sessions, chunks, changed chunks", True),
            ("msix", "the same by MSI-X", False),
        )
    ]
