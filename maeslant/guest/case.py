# SPDX-License-Identifier: Apache-2.0
"""Describes a check of a card in a Linux guest."""

import dataclasses
import pathlib
import re
from collections.abc import Callable, Mapping

from maeslant.guest import machine


@dataclasses.dataclass(frozen=True)
class Case:
    """Describes a check in a Linux guest: options, command, and a judge of the result."""

    name: str
    title: str
    options: machine.Options
    command: str
    wrong: Callable[[machine.Result], str]  # "" if nothing is
    files: Mapping[str, bytes] = dataclasses.field(default_factory=dict)  # for the guest's /root
    tree: Callable[[], Mapping[str, bytes]] = dict  # makes files for places in the guest
    programs: Callable[[], Mapping[str, pathlib.Path]] = dict  # builds more, for its /bin and /lib
    seconds: float = 900  # that the guest may take


def restart(first: str, then: str) -> str:
    """Returns the shell command that runs ``first``, panics, and runs ``then`` in the restart.

    The clock of the machine goes on when it starts again, and says that it did.
    """
    return f"""hwclock -s
if [ "$(date +%Y)" -ge 2040 ]; then
    echo "started again"
{then}
    exit
fi
date -s 2040.06.01-00:00
hwclock -w
{first}
echo c > /proc/sysrq-trigger
"""


def wrong_restart(result: machine.Result) -> str:
    """Returns what is wrong where a guest should start again with jobs of the card in flight.

    After the restart the function must have been reset once more: what the card wrote until then
    it wrote for the guest that has gone.
    """
    if "started again\n" not in result.output:
        return "the guest did not start again"
    resets = re.findall(r"reset of an? (busy|idle) card, (\d+) bytes written", result.card)
    busy = [i for i, (state, _) in enumerate(resets[:-1]) if state == "busy"]
    if not busy:
        return "the card was idle when the guest started again"
    if any(resets[i][1] != resets[i + 1][1] for i in busy):
        return "the card wrote memory after a reset that ended its jobs"
    return ""
