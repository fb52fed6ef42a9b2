# SPDX-License-Identifier: Apache-2.0
"""Every attack of the catalogue, and random ones, with the C driver (driver/enclave) as host."""

import pytest

from maeslant.protected.attacks import catalogue, fuzz
from maeslant.protected.model.workload import Machine
from maeslant.protected.session import Host

ENTRIES = catalogue()
COUNT = 0


class CMachine(Machine):
    """The reference's card, the driver in C."""

    @staticmethod
    def make_host(*arguments, **named):
        """Count, so that nobody tests the reference by mistake."""
        global COUNT
        COUNT += 1
        return Host(*arguments, **named)


class EagerMachine(Machine):
    """The same, and chunks are sent while later ones are sealed."""

    @staticmethod
    def make_host(*arguments, **named):
        """As the name says."""
        return Host(*arguments, **named, send_while_sealing=True)


@pytest.mark.parametrize("make", [CMachine, pytest.param(EagerMachine, marks=pytest.mark.slow)])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_attack(entry, make):
    """Attack."""
    verdict = entry.play(make)
    assert verdict.fired, "the attack never acted"
    assert not verdict.wrong
    assert verdict.caught in entry.expect
    assert verdict.second == entry.second


@pytest.mark.parametrize("make", [CMachine, EagerMachine])
def test_random_manipulations(make):
    """The long run is `make test-all`'s."""
    before = COUNT
    tally = fuzz.fuzz(800, seed=4_000_000, make=make)
    assert not tally.wrong
    assert len(tally.caught) >= 6 and len(tally.kinds) == 12
    assert COUNT > before or make is EagerMachine


@pytest.mark.slow
def test_many_random_manipulations():
    """Many random manipulations."""
    tally = fuzz.fuzz(100_000, seed=6_000_000, make=CMachine)
    assert not tally.wrong
