# SPDX-License-Identifier: Apache-2.0
"""Defines an entry of the attack catalogue, with edit functions for bus events."""

import dataclasses
from collections.abc import Callable

from maeslant.protected.attacks.adversary import On, flip
from maeslant.protected.model.constants import Kind
from maeslant.protected.model.link import Attack, Event, Link
from maeslant.protected.model.workload import Machine, Verdict, expected_of_careless, play

NOTHING, TAG, CHUNK, BEAT = "nothing", "device:TAG", "device:CHUNK", "device:BEAT"
BELL = "device:DOORBELL"
ILLEGAL, INSIDE = "host:illegal capabilities", "host:shared memory inside the enclave"
RESPONSE, HOST_CHUNK, TIMEOUT = "host:response tag", "host:chunk tag", "host:timeout"

HEADER = {"version": 0, "class": 1, "queue": 2, "kind": 3, "epoch": 7, "sequence": 15}
BODY = {
    Kind.BATCH: {"operation": 0, "width": 1, "zero": 2, "offset": 7, "data": 15, "next": 16},
    Kind.H2D: {
        "address": 7,
        "length": 11,
        "index": 15,
        "base": 23,
        "total": 31,
        "host": 39,
        "after": 47,
        "chunk tag": 63,
    },
}
BODY[Kind.D2H] = BODY[Kind.H2D]
ANSWER = {"status": 1, "executed": 3, "zero": 7, "value": 15}
ANSWER_MORE = {Kind.D2H: {"chunk tag": 16}}
# How many requests of a kind the workload makes before the one that is attacked.
LATER = {Kind.BATCH: 1, Kind.H2D: 1, Kind.D2H: 1}


@dataclasses.dataclass(frozen=True)
class Entry:
    """Describes a bus attack of the catalogue: name, aim, requirement, expected detection."""

    name: str
    requirement: str
    aim: str
    make: Callable[[], Attack]
    expect: tuple[str, ...]
    big: bool = False
    stay: bool = False
    second: str = NOTHING  # who notices in the next session, if the attack stays
    careless: bool = False  # the application starts the kernel too early

    def play(self, make: Callable[..., Machine] = Machine) -> Verdict:
        """Runs this bus attack on a protected machine; returns the Verdict."""
        want = expected_of_careless(self.make) if self.careless else None
        return play(self.make(), big=self.big, stay=self.stay, make=make, want=want)


def edit_data(change: Callable[[bytes], bytes]) -> Callable:
    """Returns an edit function by which an attack changes the data of a bus write."""
    return lambda attack, event, link: [event.with_data(change(event.data))]


def edit_answer(change: Callable[[bytes], bytes]) -> Callable:
    """Returns an edit function by which an attack changes the data of a bus read."""
    return lambda attack, event, data, link: change(data)


def flipper(at: int) -> Callable[[bytes], bytes]:
    """Returns a function that flips the lowest bit of byte ``at`` of a byte string."""
    return lambda data: flip(data, 8 * at)


def drop(attack: On, event: Event, link: Link) -> list[Event]:
    """Returns no bus events in place of one, as an edit function: the receiver gets nothing."""
    return []
