# SPDX-License-Identifier: Apache-2.0
"""Tests messages on a pool of two simulated cards against `cryptography` and a single card."""

import random
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.base import Cipher
from cryptography.hazmat.primitives.ciphers.modes import GCM
from cryptography.hazmat.primitives.cmac import CMAC

from maeslant.driver import aead, device, pool
from maeslant.driver.device import DECRYPT, ENCRYPT, MODES, PADDED
from maeslant.driver.pool import messages, parts
from tests.driver.test_sim_devices import oracle

PART = 2048
LENGTHS = (0, 5, 16, 31, PART, PART + 15, PART + 16, 5 * PART + 37)
KEY = bytes(range(16))
IV = b"\xff" * 15 + b"\xf0"  # CTR carries over all 128 bits in the first part


@pytest.fixture(scope="module")
def cards() -> Iterator[pool.Pool]:
    """Opens a pool of a fast and a slow simulated card, and checks that both were used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "PART", PART)
        uri = "pool:sim:stream4?latency=50-300&order=shuffled,sim:stream4"
        with pool.opened(uri) as found:
            yield found
            used = [card["loans"] for card in found.cards()]
            assert min(used) > sum(used) / 10, used


def pieces(data: bytes, seed: int) -> Iterator[bytes]:
    """Cuts data into pieces of random size for a stream."""
    source, at = random.Random(seed), 0
    while at < len(data):
        size = source.randrange(1, 3 * PART)
        yield data[at : at + size]
        at += size


@pytest.mark.parametrize("direction", [ENCRYPT, DECRYPT], ids=["encrypt", "decrypt"])
@pytest.mark.parametrize("mode", MODES)
def test_plain_modes(cards: pool.Pool, mode: str, direction: int) -> None:
    """Encrypted and decrypted messages and streams on a pool equal those of `cryptography`."""
    key = KEY + KEY[::-1] if mode == "xts" else KEY
    iv = None if mode == "ecb" else IV
    for length in LENGTHS:
        if mode in PADDED:
            length = length // 16 * 16
        elif mode == "xts" and length < 16:
            continue
        data = random.Random(length).randbytes(length)
        want = oracle(mode, key, IV, data, direction) if data else b""
        with cards.stream(mode, direction, key, iv) as stream:
            got = b"".join(out for piece in pieces(data, 1) for out in stream.update(piece))
            got += b"".join(stream.finish())
        assert got == want, length
        assert cards.crypt(mode, direction, key, iv, data) == want, length


@pytest.mark.parametrize("mode", ["ecb", "cbc"])
def test_lengths_that_a_mode_has_not(cards: pool.Pool, mode: str) -> None:
    """The pool refuses an illegal message length and keeps using its cards."""
    with pytest.raises(device.DeviceError) as caught:
        with cards.stream(mode, ENCRYPT, KEY, None if mode == "ecb" else IV) as stream:
            list(stream.update(bytes(PART + 17)))
            list(stream.finish())
    assert "whole blocks" in str(caught.value)
    assert not any(card["error"] for card in cards.cards())


def sealed(cards: pool.Pool, mode: str, nonce: bytes, aad: bytes, data: bytes) -> bytes:
    """Encrypts an authenticated message on the pool in pieces; returns ciphertext and tag."""
    with aead.seal(cards, mode, KEY, nonce, (len(aad), len(data))) as message:
        for piece in pieces(aad, 3):
            message.aad(piece)
        out = b"".join(part for piece in pieces(data, 2) for part in message.update(piece))
        tag = message.finish()
        return out + b"".join(message.read()) + tag


def opened(
    cards: pool.Pool, mode: str, nonce: bytes, aad: bytes, data: bytes, unverified: bool
) -> bytes:
    """Decrypts an AEAD message on the pool; checks that no plaintext precedes the tag check."""
    body, tag = data[:-16], data[-16:]
    lengths = (len(aad), len(body))
    with aead.unseal(cards, mode, KEY, nonce, lengths, unverified=unverified) as message:
        message.aad(aad)
        out = b"".join(part for piece in pieces(body, 4) for part in message.update(piece))
        assert unverified or not out
        message.finish(tag)
        return out + b"".join(message.read())


def gcm(nonce: bytes, aad: bytes, data: bytes) -> bytes:
    """Encrypts by AES-GCM of OpenSSL with an IV of any length."""
    cipher = Cipher(AES(KEY), GCM(nonce)).encryptor()
    cipher.authenticate_additional_data(aad)
    return cipher.update(data) + cipher.finalize() + cipher.tag


def wrapping() -> bytes:
    """Returns a 16-byte GCM IV with which the 32-bit block counter overflows after 100 blocks."""
    h = int.from_bytes(oracle("ecb", KEY, b"", bytes(16), ENCRYPT))
    return parts._nonce(h, 0x0123456789ABCDEF01234567FFFFFF9C)


@pytest.mark.parametrize("mode", ["gcm", "ccm"])
def test_authenticated_modes(cards: pool.Pool, mode: str) -> None:
    """GCM and CCM messages on a pool equal those of `cryptography`, and decrypt again."""
    for number, length in enumerate(LENGTHS):
        data = random.Random(length).randbytes(length)
        aad = random.Random(7).randbytes((0, 1, 16, 2 * PART + 30, 0xFF00)[number % 5])
        nonce = bytes([number]) * (7 + number % 7 if mode == "ccm" else (12, 8, 16, 60)[number % 4])
        if mode == "gcm" and number == 7:
            nonce = wrapping()
        want = gcm(nonce, aad, data) if mode == "gcm" else AESCCM(KEY).encrypt(nonce, data, aad)
        assert sealed(cards, mode, nonce, aad, data) == want, length
        assert opened(cards, mode, nonce, aad, want, number % 2 == 0) == data, length


@pytest.mark.parametrize("mode", ["gcm", "ccm"])
def test_changed_messages(cards: pool.Pool, mode: str) -> None:
    """The pool rejects a GCM or CCM message with one changed bit in text, AAD or tag."""
    nonce, aad, data = bytes(12), b"header", random.Random(1).randbytes(3 * PART)
    good = sealed(cards, mode, nonce, aad, data)
    for place in (0, PART + 1, len(data) - 1, len(data), len(good) - 1):
        wrong = bytearray(good)
        wrong[place] ^= 1
        with pytest.raises(device.DeviceError) as caught:
            opened(cards, mode, nonce, aad, bytes(wrong), place % 2 == 0)
        assert device.is_wrong_tag(caught.value)
    with pytest.raises(device.DeviceError):
        opened(cards, mode, nonce, b"Header", good, True)
    assert not any(card["error"] for card in cards.cards())


@pytest.mark.parametrize(
    ("mode", "nonce", "tag_bytes"),
    [
        ("gcm", 0, 16),
        ("gcm", 12, 0),
        ("gcm", 12, 3),
        ("gcm", 12, 17),
        ("ccm", 5, 16),
        ("ccm", 7, 5),
    ],
)
def test_sizes_that_a_mode_has_not(cards: pool.Pool, mode: str, nonce: int, tag_bytes: int) -> None:
    """The pool refuses illegal nonce and tag lengths with the same error as a single card."""
    with device.Device("sim:stream4") as card:
        for where in (cards, card):
            with pytest.raises(device.MaeslantError):
                with aead.seal(where, mode, KEY, bytes(nonce), (0, 1), tag_bytes):
                    pass


@pytest.mark.parametrize("tag", [b"", bytes(15)])
def test_tags_cut_short(cards: pool.Pool, tag: bytes) -> None:
    """The pool refuses a short tag, and AAD that comes after message data."""
    with device.Device("sim:stream4") as card:
        for where in (cards, card):
            with aead.unseal(where, "gcm", KEY, bytes(12)) as message:
                list(message.update(b"data"))
                with pytest.raises(device.MaeslantError):
                    message.finish(tag)
            with aead.seal(where, "gcm", KEY, bytes(12)) as message:
                list(message.update(b"data"))
                with pytest.raises(device.MaeslantError):
                    message.aad(b"late")


def test_cmac(cards: pool.Pool) -> None:
    """CMAC of a message on the pool equals OpenSSL's."""
    for length in LENGTHS:
        data = random.Random(length).randbytes(length)
        want = CMAC(AES(KEY))
        want.update(data)
        with aead.cmac(cards, KEY) as message:
            for piece in pieces(data, 5):
                message.aad(piece)
            assert message.finish() == want.finalize(), length


def test_caps(cards: pool.Pool) -> None:
    """The pool reports its backend, the lanes of both cards together, and a list of the cards."""
    caps = cards.caps()
    assert caps["backend"] == "pool" and caps["lanes"] == 8 and len(caps["cards"]) == 2


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("pool:", "list of devices"),
        ("pool:2*", "list of devices"),
        ("pool:99*sim:stream4", "64 cards"),
        ("pool:sim:nosuch", "maeslant build nosuch"),
        ("pool:vfio:0000:ff:1f.7", "PCI function"),
        ("pool:3*null:", "computes nothing"),
        ("pool:pool:sim:stream4", "should begin with"),
        ("pool:tcp://127.0.0.1:1", "no Dask scheduler answers"),
        ("pool:tcp://127.0.0.1", "no address"),
    ],
)
def test_names_that_cannot_be_opened(uri: str, words: str) -> None:
    """Each malformed pool name (pool:...) gives an error that states the reason."""
    with pytest.raises(Exception) as caught:
        pool.opened(uri)
    assert isinstance(caught.value, device.MaeslantError) and words in str(caught.value)
