# SPDX-License-Identifier: Apache-2.0
"""Tests every attack of the catalogue, and random ones, against the C driver."""

import pytest

from maeslant.protected.attacks import catalogue, fuzz
from maeslant.protected.model.workload import Machine
from maeslant.protected.session import Host

ENTRIES = catalogue()
COUNT = 0


class CMachine(Machine):
    """Connects the C driver (driver/enclave) to the card model."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes the C driver the host of an attacked session and counts its use."""
        global COUNT
        COUNT += 1
        return Host(*arguments, **named)


class EagerMachine(Machine):
    """Connects the card model to a C driver that sends chunks while it seals later ones."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver that sends chunks while it seals later ones."""
        return Host(*arguments, **named, send_while_sealing=True)


class ThreadedMachine(Machine):
    """Connects the card model to a C driver that seals and opens chunks in four threads."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver that seals and opens chunks in four threads."""
        return Host(*arguments, **named, send_while_sealing=True, threads=4)


EAGER = (EagerMachine, ThreadedMachine)
HELD = ("race/H2D/while it waits", "race/D2H/while it waits")
OTHERS = [pytest.param(machine, marks=pytest.mark.slow) for machine in EAGER]


@pytest.mark.parametrize("make", [CMachine, *OTHERS])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_attack(entry, make):
    """Each attack on the C driver is detected where the protocol says, or has no effect."""
    verdict = entry.play(make)
    assert verdict.fired, "the attack never acted"
    assert not verdict.wrong
    expect = entry.expect
    if make in EAGER and entry.name in HELD:
        expect += ("device:TAG",)  # the driver's next message meets the held doorbell
    assert verdict.caught in expect
    assert verdict.second == entry.second


@pytest.mark.parametrize("make", [CMachine, EagerMachine, ThreadedMachine])
def test_random_manipulations(make):
    """Random manipulations of the C driver's bus cause no wrong result."""
    before = COUNT
    tally = fuzz.fuzz(800, seed=4_000_000, make=make)
    assert not tally.wrong
    assert len(tally.caught) >= 6 and len(tally.kinds) == 12
    assert COUNT > before or make is not CMachine


@pytest.mark.slow
def test_many_random_manipulations():
    """Many random manipulations of the C driver's bus cause no wrong result."""
    tally = fuzz.fuzz(100_000, seed=6_000_000, make=CMachine)
    assert not tally.wrong
