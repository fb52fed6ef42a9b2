# SPDX-License-Identifier: Apache-2.0
"""Tests sessions of the C driver (driver/enclave) with the card's RTL while the bus is attacked."""

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
    """Runs attacked sessions with the C driver as host and the card's RTL as device."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver as host of the protected card's RTL."""
        return Host(*arguments, **named, send_while_sealing=True)


class ThreadedCardMachine(rtl_card.RtlMachine):
    """Runs attacked sessions of the card's RTL with a C driver that encrypts in two threads."""

    @staticmethod
    def make_host(*arguments, **named):
        """Makes a C driver with two encrypting threads as host of the protected card's RTL."""
        return Host(*arguments, **named, send_while_sealing=True, threads=2)


def attack(entry, make=CardMachine) -> None:
    """Plays an attack, which must be detected where its catalogue entry says or have no effect."""
    verdict = entry.play(make)
    assert verdict.fired, "the attack never acted"
    assert not verdict.wrong
    assert verdict.caught in entry.expect
    assert verdict.second == entry.second


@pytest.mark.parametrize("make", [CardMachine, ThreadedCardMachine])
@pytest.mark.parametrize("name", FEW)
def test_attack(name, make):
    """C driver and card RTL detect a selection of bus attacks where the catalogue says."""
    attack(next(entry for entry in ENTRIES if entry.name == name), make)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_attack(entry):
    """C driver and card RTL detect every bus attack of the catalogue, or it has no effect."""
    attack(entry)


@pytest.mark.slow
def test_random_manipulations():
    """5,000 sessions of C driver and card RTL with random bus changes give no wrong result."""
    tally = fuzz.fuzz(5_000, seed=8_000_000, make=CardMachine)
    assert not tally.wrong
