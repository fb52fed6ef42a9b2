# SPDX-License-Identifier: Apache-2.0
"""Tests mae_ghosh_card, with mae_ghosh_registers and mae_ghosh_dma, beside the model of it.

OpenSSL seals and opens what passes, in the driver of maeslant/protected/model/ghosh.py. Attacks:
tests/protected/model/test_ghosh.py.
"""

import os
from collections.abc import Iterator

import pytest

from maeslant.build.generated.mae_ghosh_card import ID
from maeslant.protected.attacks.ghosh import GhoshCard
from maeslant.protected.model.ghosh import (
    ANSWER_TAG,
    GO,
    IN,
    MOVE,
    OUT,
    REQUEST_TAG,
    START,
    TARGET,
    VERDICT,
    GhoshDevice,
    GhoshHost,
    raw_read,
    raw_write,
    target_word,
)
from maeslant.protected.model.link import Link
from maeslant.protected.rtl_ghosh import RtlGhosh

SLOW = "latency=20-60&order=shuffled&stall=5"
CARDS = {
    "slow": lambda key: RtlGhosh(key, SLOW),
    "rtl": RtlGhosh,
    "model": GhoshDevice,
}


@pytest.fixture(params=CARDS)
def card(request) -> Iterator[GhoshCard]:
    """Makes a card that follows the paper: its model, the RTL, the RTL on a slow bus."""
    made = CARDS[request.param](os.urandom(16))
    yield made
    made.close()


def host_of(card: GhoshCard) -> GhoshHost:
    """Connects the driver of Ghosh's protocol to a card."""
    card.bus = Link(card, 1 << 15)
    return GhoshHost(card.bus, card.key)


@pytest.mark.parametrize("size", [16, 48, 64, 320, 1024, 3008])
def test_ghosh_works_when_nobody_attacks(card, size):
    """Ghosh's protocol transfers data correctly without an attack."""
    host = host_of(card)
    for address in (64, 0, 4096):
        data = os.urandom(size)
        host.send(address, data)
        assert bytes(card.memory[address : address + size]) == data
        assert host.receive(address, size) == data


def test_protected_registers(card):
    """The card takes the paper's protected writes, seals reads, and refuses what has no tag."""
    host = host_of(card)
    host.write(TARGET, target_word(OUT, 64, 128))
    assert host.read(TARGET) == target_word(OUT, 64, 128)
    assert not any(host.read(VERDICT))  # the verdict was read before
    raw_write(card.bus, TARGET, bytes(8))
    assert raw_read(card.bus, TARGET, 8) == b"\xff" * 8
    assert host.read(TARGET) == target_word(OUT, 64, 128)
    shown = raw_read(card.bus, ANSWER_TAG, 16)
    raw_write(card.bus, START, os.urandom(8))
    assert raw_read(card.bus, ANSWER_TAG, 16) == shown


def test_what_a_start_does(card):
    """A new start begins a transfer anew; an illegal one, or a move without one, does nothing."""
    host = host_of(card)
    host.send(0, b"weights!" * 8)
    host.write(TARGET, target_word(IN, 0, 64))
    host.write(START, b"unmoved.")
    host.send(64, b"weights!" * 8)
    raw_write(card.bus, MOVE, GO)
    assert bytes(card.memory[:128]) == b"weights!" * 16
    for address, size in ((32, 64), (0, 0), (1 << 14, 64), ((1 << 14) - 64, 128)):
        host.write(TARGET, target_word(OUT, address, size))
        host.write(START, b"illegal.")
        before = bytes(card.bus.memory)
        raw_write(card.bus, MOVE, GO)
        assert bytes(card.bus.memory) == before


def test_clocks() -> None:
    """A protected write takes 16 clocks more than a plain one, a protected read 33, refused 17."""
    card = RtlGhosh(os.urandom(16))
    simulator, host = card.simulator, host_of(card)

    def clocks(access, *arguments: int) -> int:
        before = simulator.stats()["core_clocks"]
        access(*arguments)
        return simulator.stats()["core_clocks"] - before

    write, read = clocks(simulator.write32, REQUEST_TAG, 0), clocks(simulator.read32, ID)
    assert clocks(simulator.write32, TARGET + 4, 0) - write == 16
    assert clocks(simulator.read32, VERDICT) - read == 17
    host.read(VERDICT)  # its request stands
    assert clocks(simulator.read32, VERDICT) - read == 33
    card.close()


def test_words() -> None:
    """The paper's flows move 16 words in and 6 out for a protected write, 7 and 6 for a read.

    Three of the words in are an IV, each time.
    """
    card = RtlGhosh(os.urandom(16))
    host = host_of(card)

    def words(access, *arguments: object) -> tuple[int, int]:
        before = card.simulator.stats()
        access(*arguments)
        after = card.simulator.stats()
        return tuple(after[key] - before[key] for key in ("register_writes", "register_reads"))

    assert words(host.write, TARGET, bytes(8)) == (16, 6)
    assert words(host.read, TARGET) == (7, 6)
    card.close()
