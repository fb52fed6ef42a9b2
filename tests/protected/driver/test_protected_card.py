# SPDX-License-Identifier: Apache-2.0
"""The C driver (driver/enclave) and the RTL of the card, with the adversary between them."""

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
    """The driver in C, the card in a simulator."""

    @staticmethod
    def make_host(*arguments, **named):
        """As the name says."""
        return Host(*arguments, **named, send_while_sealing=True)


def attack(entry) -> None:
    """It is noticed where the protocol says, or has no effect."""
    verdict = entry.play(CardMachine)
    assert verdict.fired, "the attack never acted"
    assert not verdict.wrong
    assert verdict.caught in entry.expect
    assert verdict.second == entry.second


@pytest.mark.parametrize("name", FEW)
def test_attack(name):
    """A few; all of them are `make test-all`'s."""
    attack(next(entry for entry in ENTRIES if entry.name == name))


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_attack(entry):
    """Attack."""
    attack(entry)


@pytest.mark.slow
def test_random_manipulations():
    """Some thousand."""
    tally = fuzz.fuzz(5_000, seed=8_000_000, make=CardMachine)
    assert not tally.wrong
