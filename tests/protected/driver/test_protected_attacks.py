# SPDX-License-Identifier: Apache-2.0
"""Tests the C driver against every attack of maeslant/protected/attacks, and random bus changes."""

import pytest

from maeslant.protected.attacks import catalogue, fuzz
from maeslant.protected.model.workload import Machine
from maeslant.protected.session import Host

ENTRIES = catalogue()
COUNT = 0


class CMachine(Machine):
    """Runs attacked sessions with the C driver as host and the card model as device."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver as host of an attacked session and counts how many were made."""
        global COUNT
        COUNT += 1
        return Host(*arguments, **named)


class EagerMachine(Machine):
    """Connects the card model to a C driver that sends chunks while it seals later ones."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver as host that sends a transfer's first chunks while it seals the next."""
        return Host(*arguments, **named, send_while_sealing=True)


class ThreadedMachine(Machine):
    """Connects the card model to a C driver that seals and opens chunks in four threads."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver as host that encrypts and decrypts chunks in four threads."""
        return Host(*arguments, **named, send_while_sealing=True, threads=4)


EAGER = (EagerMachine, ThreadedMachine)
OTHERS = [pytest.param(machine, marks=pytest.mark.slow) for machine in EAGER]


@pytest.mark.parametrize("make", [CMachine, *OTHERS])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_attack(entry, make):
    """Each attack on the C driver is detected where the catalogue says, or has no effect."""
    verdict = entry.play(make)
    assert verdict.fired, "the attack never acted"
    assert not verdict.wrong
    assert verdict.caught in entry.expect
    assert verdict.second == entry.second


@pytest.mark.parametrize("make", [CMachine, EagerMachine, ThreadedMachine])
def test_random_manipulations(make):
    """800 sessions of the C driver with random bus changes give right results or an error."""
    before = COUNT
    tally = fuzz.fuzz(800, seed=4_000_000, make=make)
    assert not tally.wrong
    assert len(tally.caught) >= 6 and len(tally.kinds) == 12
    assert COUNT > before or make is not CMachine


@pytest.mark.slow
def test_many_random_manipulations():
    """100,000 sessions of the C driver with random bus changes give right results or an error."""
    tally = fuzz.fuzz(100_000, seed=6_000_000, make=CMachine)
    assert not tally.wrong
