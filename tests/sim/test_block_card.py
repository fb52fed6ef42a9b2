# SPDX-License-Identifier: Apache-2.0
"""Tests block_card.py, the host of the simulated block card."""

import pathlib
import random
from collections.abc import Iterator

import pytest

from maeslant.build.generated.mae_block_card import LockCommand, LockError
from maeslant.errors import MaeslantError
from maeslant.sim.block_card import FLUSH, READ, WRITE, BlockCard, Request
from tests.device import oracle

pytestmark = pytest.mark.full

SIZE = 8 * 4096


@pytest.fixture
def card() -> Iterator[BlockCard]:
    """Opens a small simulated block card."""
    made = BlockCard("block_small", "latency=20-60&order=shuffled&stall=5", size=1 << 20)
    yield made
    made.close()


def test_round_trip(card: BlockCard) -> None:
    """BlockCard writes OpenSSL's AES-256-XTS to the media and reads the plaintext back."""
    rng = random.Random(1)
    key, data, unit = rng.randbytes(64), rng.randbytes(SIZE), (1 << 64) - 2
    card.load_key(1, key)
    card.memory[:SIZE] = data
    sectors = SIZE // 512
    card.run([Request(WRITE, 16, sectors, 0, 1, 12, unit), Request(FLUSH)])
    card.run([Request(READ, 16, sectors, SIZE)])
    cipher = b"".join(
        oracle.crypt(
            "xts", False, key[:32], n.to_bytes(16, "little"), data[at : at + 4096], key[32:]
        )
        for n, at in enumerate(range(0, SIZE, 4096), unit)
    )
    assert card.memory[SIZE : 2 * SIZE] == cipher
    card.run([Request(READ, 16, sectors, 2 * SIZE, 1, 12, unit)], queue=1)
    assert card.memory[2 * SIZE : 3 * SIZE] == data


def test_media_in_a_file(tmp_path: pathlib.Path) -> None:
    """The option media= keeps the media in a file that outlives the machine, from address 0."""
    file, data = tmp_path / "media", bytes(range(256)) * 16
    file.write_bytes(bytes(1 << 16))  # the card has more: the rest is not there
    options = f"media={file}"
    card = BlockCard("block_small", options, size=1 << 20)
    card.memory[:4096] = data
    card.run([Request(WRITE, 120, 8, 0), Request(FLUSH)])
    assert file.read_bytes() == bytes(120 * 512) + data  # while the card has it
    assert card.sim.stats()["memory_flushes"] == 1
    with pytest.raises(MaeslantError, match="in use by another"):
        BlockCard("block_small", options)
    with pytest.raises(MaeslantError, match=r"status \[10\]"):
        card.run([Request(WRITE, 124, 8, 0)])
    card.close()
    after = BlockCard("block_small", options, size=1 << 20)
    after.run([Request(READ, 120, 4, 0)])
    assert after.memory[:2048] == data[:2048]
    after.close()


def test_bad_media(tmp_path: pathlib.Path) -> None:
    """A file that cannot be the media is refused when the machine is made."""
    (tmp_path / "empty").touch()
    wrong = {"": "a file name", "none": "No such file", "empty": "bytes", ".": "directory"}
    for name, why in wrong.items():
        file = tmp_path / name if name else ""
        with pytest.raises(MaeslantError, match=why):
            BlockCard("block_small", f"media={file}")


def test_errors(card: BlockCard) -> None:
    """BlockCard raises for a refused key and for a request under an empty slot."""
    with pytest.raises(MaeslantError, match="EQUAL_KEYS"):
        card.load_key(0, bytes(64))
    assert card.command(LockCommand.UNLOAD, 2) == LockError.BAD_SLOT
    assert card.command(LockCommand.ZEROIZE) == LockError.OK
    with pytest.raises(MaeslantError, match=r"status \[5\]"):
        card.run([Request(READ, 0, 8, 0, 0)])
    card.run([Request(READ, 0, 8, 0)])
