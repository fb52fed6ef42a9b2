# SPDX-License-Identifier: Apache-2.0
"""Tests attacks between the C driver (driver/enclave) and the card's RTL."""

import pytest

from maeslant.protected import rtl_card
from maeslant.protected.attacks import catalogue, fuzz
from maeslant.protected.session import Host

ENTRIES = catalogue()
FEW = (
    "flip/request/BATCH/body data",
    "flip/response/D2H/body chunk tag",
    "flip/chunk in/bus/60",
    "flip/chunk out/bus/60",
    "double fetch/out, after each load",
    "double fetch/in, between stages 1",
    "shared memory across its start",
    "reset/data in/1",
)


class CardMachine(rtl_card.RtlMachine):
    """Connects the C driver to the simulated card."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes the C driver as host of the simulated card."""
        return Host(*arguments, **named, send_while_sealing=True)


class ThreadedCardMachine(rtl_card.RtlMachine):
    """Connects the C driver with two sealing threads to the simulated card."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes the C driver as host of the simulated card, with two threads."""
        return Host(*arguments, **named, send_while_sealing=True, threads=2)


def attack(entry, make=CardMachine) -> None:
    """Plays an attack, which must be detected where the protocol says or have no effect."""
    verdict = entry.play(make)
    assert verdict.fired, "the attack never acted"
    assert not verdict.wrong
    assert verdict.caught in entry.expect
    assert verdict.second == entry.second


@pytest.mark.parametrize("make", [CardMachine, ThreadedCardMachine])
@pytest.mark.parametrize("name", FEW)
def test_attack(name, make):
    """A selection of attacks between C driver and card RTL is detected."""
    attack(next(entry for entry in ENTRIES if entry.name == name), make)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_attack(entry):
    """Every attack between C driver and card RTL is detected or has no effect."""
    attack(entry)


@pytest.mark.slow
def test_random_manipulations():
    """Thousands of random manipulations between C driver and card RTL cause no wrong result."""
    tally = fuzz.fuzz(5_000, seed=8_000_000, make=CardMachine)
    assert not tally.wrong
