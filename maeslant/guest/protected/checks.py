# SPDX-License-Identifier: Apache-2.0
"""Lists the checks of the protected card in Linux guests."""

import functools
import pathlib
import re

from maeslant.build import c_driver
from maeslant.guest import machine, programs
from maeslant.guest.case import Case

FOLDER = pathlib.Path(__file__).parent
KILL = 128 + 9  # exit status of a process that was killed
RUN = "protected_check $CARD secret"
UNDER_WAY = f"""{RUN} load > /tmp/log &
job=$!
seen() {{ until grep -q "$1" /tmp/log || ! kill -0 $job; do sleep 0.1; done; }}
seen {machine.SECRET}
echo {machine.SECRET}
seen "under way"
"""
AFTERWARDS = f"""wait $job
code=$?
grep -v {machine.SECRET} /tmp/log
echo "ended: $code"
"""
# The process that owns the card ends when the enclave has gone.
NEXT = f"""for i in $(seq 600); do pidof maeslant-os > /dev/null || break; sleep 0.1; done
{RUN}
"""
KILLED = f"{UNDER_WAY}kill -9 $job\n{AFTERWARDS}{NEXT}"
OS_KILLED = f"{UNDER_WAY}kill -9 $(pidof maeslant-os)\n{AFTERWARDS}{NEXT}"
REMOVED = f"{UNDER_WAY}echo {machine.REMOVE}\n{AFTERWARDS}"


def built() -> dict[str, pathlib.Path]:
    """Compiles the enclave's program and the process that owns the card; returns paths by name."""
    check = programs.linked(FOLDER / "protected_check.c", c_driver.build_protected())
    return {"protected_check": check, "maeslant-os": c_driver.build_os()[0]}


def _checked(result: machine.Result) -> str:
    """Returns what is wrong with sessions through the card, "" if nothing is."""
    if wrong := re.search("^WRONG +(.*)$", result.output, re.MULTILINE):
        return f"not so: {wrong[1]}"
    if result.code or "the protected card is good\n" not in result.output:
        return f"exit status {result.code}"
    moved = re.search(r"^moved (\d+) bytes each way$", result.output, re.MULTILINE)
    counts = re.search("bytes read ([0-9]+), bytes written ([0-9]+)", result.card)
    if not counts:
        return f"the card did not say what it moved: {result.card!r}"
    if not moved or min(map(int, counts.groups())) < int(moved[1]):
        return f"the card read {counts[1]} bytes and wrote {counts[2]}"
    if "accesses refused 0\n" not in result.card:
        return f"the card met unmapped memory: {result.card}"
    return "no interrupt came" if re.search(", interrupts 0,", result.card) else ""


def _ended(code: int, result: machine.Result) -> str:
    """Returns what is wrong where a process ended in mid-transfer; ``code``: the enclave's."""
    if f"\nended: {code}\n" not in result.output or "under way\n" not in result.output:
        return f"the enclave did not end with {code}"
    if wrong := re.search("^WRONG +(.*)$", result.output, re.MULTILINE):
        return f"not so: {wrong[1]}"
    said = re.search("^the session says: ", result.output, re.MULTILINE)
    return "" if code == KILL or said else "the session did not say that it is over"


def _killed(code: int, result: machine.Result) -> str:
    """Returns what is wrong where the next process should have the card."""
    good = "the protected card is good\n" in result.output and result.code == 0
    return _ended(code, result) or ("" if good else "the next process has no card that works")


def cases(device: str) -> list[Case]:
    """Lists the checks of a protected card in Linux guests."""
    options = machine.Options(device=device)
    killed, os_killed = functools.partial(_killed, KILL), functools.partial(_killed, 1)
    return [
        Case("data", "sessions, chunks, changed chunks", options, RUN, _checked),
        Case("msix", "the same by MSI-X", machine.Options(device=device, msi=False), RUN, _checked),
        Case("killed", "enclave killed in mid-transfer", options, KILLED, killed),
        Case("os-killed", "the card's process killed", options, OS_KILLED, os_killed),
        Case("removed", "card removed in mid-transfer", options, REMOVED,
             functools.partial(_ended, 1)),
    ]  # fmt: skip
