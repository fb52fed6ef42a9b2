# SPDX-License-Identifier: Apache-2.0
"""Tests every attack of the catalogue, and random ones, against the C driver as host."""

import pytest

from maeslant.protected.attacks import catalogue, fuzz
from maeslant.protected.model.workload import Machine
from maeslant.protected.session import Host

ENTRIES = catalogue()
COUNT = 0


class CMachine(Machine):
    """Connects the C driver (driver/enclave) to the reference's card."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes the C driver as host and counts it, to prove that the driver is tested."""
        global COUNT
        COUNT += 1
        return Host(*arguments, **named)


class EagerMachine(Machine):
    """Connects the C driver, which sends chunks while it seals later ones, to the card."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver that sends chunks while it seals later ones."""
        return Host(*arguments, **named, send_while_sealing=True)


@pytest.mark.parametrize("make", [CMachine, pytest.param(EagerMachine, marks=pytest.mark.slow)])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_attack(entry, make):
    """Each attack on the C driver is detected where the protocol says, or has no effect."""
    verdict = entry.play(make)
    assert verdict.fired, "the attack never acted"
    assert not verdict.wrong
    assert verdict.caught in entry.expect
    assert verdict.second == entry.second


@pytest.mark.parametrize("make", [CMachine, EagerMachine])
def test_random_manipulations(make):
    """Random manipulations of the C driver's bus cause no wrong result."""
    before = COUNT
    tally = fuzz.fuzz(800, seed=4_000_000, make=make)
    assert not tally.wrong
    assert len(tally.caught) >= 6 and len(tally.kinds) == 12
    assert COUNT > before or make is EagerMachine


@pytest.mark.slow
def test_many_random_manipulations():
    """Many random manipulations of the C driver's bus cause no wrong result."""
    tally = fuzz.fuzz(100_000, seed=6_000_000, make=CMachine)
    assert not tally.wrong
