# SPDX-License-Identifier: Apache-2.0
"""Tests the oracle of modes: block by block it gives what OpenSSL gives for whole messages."""

import random

import pytest

from maeslant.driver.device import MODES
from maeslant.verify import mode_oracle


def test_every_mode() -> None:
    """The oracle has a rule for each unauthenticated mode of the register description."""
    assert set(mode_oracle.RULES) == set(MODES)


@pytest.mark.parametrize("decrypt", [False, True], ids=["encrypt", "decrypt"])
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "xts"])
def test_chain_values(mode: str, decrypt: bool) -> None:
    """Blocks chained by next_chain are OpenSSL's message; what is decrypted is the plaintext."""
    source = random.Random(mode)
    for iv in (source.randbytes(16), b"\xff" * 16):
        key, data = source.randbytes(32), source.randbytes(80)
        blocks = mode_oracle.crypt_blocks(mode, decrypt, [key] * 5, iv, data)
        assert blocks == mode_oracle.crypt(mode, decrypt, key, iv, data)
        assert mode_oracle.crypt(mode, not decrypt, key, iv, blocks) == data


def test_whole_xts_only() -> None:
    """XTS cannot be processed block by block, as OpenSSL gives no tweaks."""
    with pytest.raises(ValueError, match="whole"):
        mode_oracle.crypt_blocks("xts", False, [bytes(32)], bytes(16), bytes(16))
