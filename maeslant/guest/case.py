# SPDX-License-Identifier: Apache-2.0
"""Describes a check of a card in a Linux guest."""

import dataclasses
from collections.abc import Callable, Mapping

from maeslant.guest import machine


@dataclasses.dataclass(frozen=True)
class Case:
    """Describes a check: the guest, its command, and what is wrong with a result."""

    name: str
    title: str
    options: machine.Options
    command: str
    wrong: Callable[[machine.Result], str]  # "" if nothing is
    files: Mapping[str, bytes] = dataclasses.field(default_factory=dict)  # for the guest's /root
    tree: Callable[[], Mapping[str, bytes]] = dict  # makes files for places in the guest
