# SPDX-License-Identifier: Apache-2.0
"""Describes a check of a card in a Linux guest."""

import dataclasses
import pathlib
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
