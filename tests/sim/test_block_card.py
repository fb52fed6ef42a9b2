# SPDX-License-Identifier: Apache-2.0
"""Tests block_card.py, the host of the simulated block card."""

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


def test_errors(card: BlockCard) -> None:
    """BlockCard raises for a refused key and for a request under an empty slot."""
    with pytest.raises(MaeslantError, match="EQUAL_KEYS"):
        card.load_key(0, bytes(64))
    assert card.command(LockCommand.UNLOAD, 2) == LockError.BAD_SLOT
    assert card.command(LockCommand.ZEROIZE) == LockError.OK
    with pytest.raises(MaeslantError, match=r"status \[5\]"):
        card.run([Request(READ, 0, 8, 0, 0)])
    card.run([Request(READ, 0, 8, 0)])
