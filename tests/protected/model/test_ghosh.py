# SPDX-License-Identifier: Apache-2.0
"""Tests attacks on the protocol of Ghosh's paper, and that its tag oracle fails on Maeslant's (H1).

The paper's card is RTL and its model, under one driver and the same attacks.
"""

import os
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.driver import gf128
from maeslant.protected.attacks.adversary import flip
from maeslant.protected.attacks.ghosh import CHANGE, Edit, GhoshCard, attacks
from maeslant.protected.attacks.tag_oracle import GhoshOracle, OurOracle, move_tag, recover
from maeslant.protected.model.constants import Class, Kind
from maeslant.protected.model.ghosh import (
    DATA,
    GhoshDevice,
    GhoshHost,
)
from maeslant.protected.model.keys import Key, Session, TagError
from maeslant.protected.model.link import Attack, Link, What
from maeslant.protected.model.workload import (
    CAPABILITIES,
    Machine,
    device_nonce,
    expected,
    first,
    judge,
    octets,
    play,
)
from maeslant.protected.rtl_ghosh import RtlGhosh

CARDS = {"rtl": RtlGhosh, "model": GhoshDevice}  # the first is in every run of the tests


def hash_key(key: bytes) -> int:
    """Computes the GCM hash key H = E(K, 0) of an AES key."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return int.from_bytes(cipher.update(bytes(16)))


@pytest.fixture(params=CARDS)
def card(request) -> Iterator[GhoshCard]:
    """Makes a card that follows the paper: its model and the simulated RTL."""
    made = CARDS[request.param](os.urandom(16))
    yield made
    made.close()


def host_of(card: GhoshCard, attack: Attack | None = None) -> GhoshHost:
    """Connects the driver of Ghosh's protocol to a card by a bus with an attack."""
    card.bus = Link(card, 1 << 15, attack)
    return GhoshHost(card.bus, card.key)


def test_ghosh_gives_h_away(card):
    """The tag oracle attack on Ghosh's protocol computes H."""
    attack = GhoshOracle(CHANGE)
    host = host_of(card, attack)
    host.send(0, b"anything at all.")
    assert attack.learn(card.bus, os.urandom(16)) == hash_key(card.key)


def test_unverified_data_are_in_memory(card):
    """Changed data are in the card's memory when Ghosh's driver notices them (H8)."""
    attack = Edit(What.DMA_READ, None, lambda attack, data: flip(data, 7))
    host = host_of(card, attack)
    attack.armed = True
    with pytest.raises(TagError, match=DATA):
        host.send(64, b"weights!" * 8)
    assert bytes(card.memory[64:128]) == flip(b"weights!" * 8, 7)


@pytest.mark.parametrize("kind", CARDS)
def test_attacks_on_ghosh(kind):
    """Each attack on Ghosh's protocol gets through, or is stopped and noticed, as known."""
    outcomes = {entry.name: (entry, entry.play(CARDS[kind])) for entry in attacks()}
    assert not [(name, got) for name, (entry, got) in outcomes.items() if not entry.right(got)]
    assert len(outcomes) == 13 and sum(got.through for _, got in outcomes.values()) == 4


def test_ours_shows_no_tag_twice_under_one_iv():
    """No two tags on the bus of Maeslant's protocol give H to the tag oracle attack."""
    attack = OurOracle(CHANGE)
    machine = Machine(attack)
    record = machine.session("first", first)
    assert attack.fired and not judge(record, expected())
    keys = [Key(machine_session(machine), cls, epoch, 1) for cls in Class for epoch in (0, 1)]
    right = {hash_key(key.bytes) for key in keys}
    tried = [h for _, h in attack.candidates()]
    assert len(tried) >= 10
    assert not right & set(tried)


def machine_session(machine: Machine) -> Session:
    """Recomputes the secrets of a machine's first session from the machine's seed."""
    label = f"{machine.seed} first"
    return Session(
        octets(f"{label} secret", 32),
        octets(f"{label} id", 16),
        octets(f"{label} host nonce", 32),
        device_nonce(machine.seed, 0),
        CAPABILITIES.word(),
    )


def test_ours_shows_no_chunks_tag_at_all():
    """No register and no bus data of Maeslant's protocol contains the tag of a chunk."""
    attack = OurOracle(CHANGE)
    machine = Machine(attack)
    seen: list[bytes] = []
    machine.link.watchers.append(lambda event: seen.append(event.data))
    tags = []
    real = machine.device.answer

    def answer(queue, request, status, executed=0, value=0, data=b""):
        if request.kind in (Kind.H2D, Kind.D2H):
            tags.append(data or request.body[48:64])
        real(queue, request, status, executed, value, data)

    machine.device.answer = answer
    machine.session("first", first)
    tags = {tag for tag in tags if len(tag) == 16 and any(tag)}
    assert len(tags) >= 10
    for tag in tags:
        assert all(tag not in data for data in seen)
        assert tag not in attack.readable


def test_even_with_h_a_forged_transfer_is_noticed():
    """Maeslant's protocol detects a forged transfer even if the attacker knows H."""
    machine = Machine()
    h = hash_key(machine_session(machine).derive(Class.DMA_IN, 0)[:32])
    verdict = play(OurOracle(CHANGE, h))
    assert verdict.caught == "device:CHUNK" and not verdict.wrong


def test_field():
    """Products, inverses and square roots of the gf128 module agree in GF(2^128)."""
    a, b = int.from_bytes(os.urandom(16)), int.from_bytes(os.urandom(16))
    assert gf128.multiply(a, gf128.ONE) == a
    assert gf128.multiply(a, b) == gf128.multiply(b, a)
    assert gf128.multiply(a, gf128.inverse(a)) == gf128.ONE
    assert gf128.square_root(gf128.multiply(a, a)) == a


def test_ghash_and_moved_tags_are_gcms():
    """The attack's recovered H and its forged tag equal those computed by AES-GCM."""
    key, iv = os.urandom(32), os.urandom(12)
    sealed = [AESGCM(key).encrypt(iv, os.urandom(16), b"aad") for _ in range(2)]
    (c1, t1), (c2, t2) = [(item[:16], item[16:]) for item in sealed]
    assert recover((c1, t1), (c2, t2)) == hash_key(key)
    assert move_tag(hash_key(key), t1, c1, c2, b"aad") == t2
