# SPDX-License-Identifier: Apache-2.0
"""Tests what `maeslant linux --device block` is made of, without a guest."""

import os
import pathlib
import random
import subprocess

import pytest

from maeslant.build import simulator
from maeslant.errors import MaeslantError
from maeslant.guest import media
from maeslant.guest.block import checks
from maeslant.verify import key_search
from tests.cipher import fips197


@pytest.mark.full
def test_program_on_the_simulated_card(tmp_path: pathlib.Path) -> None:
    """block_check passes on the simulated card; what it leaves on the media is OpenSSL's."""
    key, data = os.urandom(64), os.urandom(checks.BYTES)
    (tmp_path / "key").write_bytes(key)
    (tmp_path / "data").write_bytes(data)
    file = tmp_path / "media"
    media.create(file, media.capacity("block_small"))
    folder = simulator.build("block_small").parent.parent
    command = [str(checks.built()["block_check"])]
    command += [f"sim:block_small?media={file}", str(tmp_path / "key"), str(tmp_path / "data")]
    environment = {**os.environ, "MAESLANT_SIM_PATH": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("the block card is good\n")
    found = file.read_bytes()
    assert checks.wrong_media(found, key, data) == ""
    # What the comparison is for.
    assert "plain sectors" in checks.wrong_media(bytes(len(found)), key, data)
    assert "are not OpenSSL's" in checks.wrong_media(found, key[::-1], data)
    leaked = found[:-16] + data[4096:4112]
    assert "holds plaintext" in checks.wrong_media(leaked, key, data)


def test_key_search() -> None:
    """A piece of a key or a round key is found in any order and at any bit; chance finds none."""
    rng = random.Random(1)
    key = rng.randbytes(32)
    assert key_search.round_keys(key) == fips197.round_keys(key)
    state = {"large": rng.randbytes(1 << 16), "small": rng.randbytes(64), "byte": b"x"}
    assert key_search.find(state, [key]) == []
    last = key_search.round_keys(key)[14]
    for name, piece, bit in (
        ("large", key[8:16], 3),
        ("large", key[16:24][::-1], 0),
        ("large", last[8:16], 7),
        ("small", key[4:8], 0),
        ("small", last[12:16][::-1], 0),
    ):
        at = int.from_bytes(state[name], "little")
        size = len(state[name])
        shift = 8 * 12 + bit
        mask = (1 << 8 * len(piece)) - 1
        value = at & ~(mask << shift) | int.from_bytes(piece, "little") << shift
        held = {**state, name: value.to_bytes(size, "little")}
        assert key_search.find(held, [bytes(32), key]) == [name]


def test_state_is_parsed() -> None:
    """A state is read as the card's server writes it."""
    data = b"top__DOT__key_q\0" + (3).to_bytes(8, "little") + b"abc"
    data += b"top.x\0" + bytes(8)
    assert key_search.parse(data) == {"top.key_q": b"abc", "top.x": b""}


def test_sizes(tmp_path: pathlib.Path) -> None:
    """Media has the size of its file, else the wanted one, else the build's; others are refused."""
    file = tmp_path / "media"
    assert media.size("block_small", None, None) == 1 << 20
    assert media.size("block_small", file, 1 << 24) == 1 << 24
    media.create(file, 1 << 16)
    assert media.size("block_small", file, None) == 1 << 16
    file.write_bytes(b"x" * (1 << 16))
    media.create(file, 1 << 20)  # left as it is
    assert file.read_bytes() == b"x" * (1 << 16)
    for device, place, wanted, why in (
        ("stream4", None, None, "no media"),
        ("block_small", file, 1 << 20, "left as it is"),
        ("block_small", None, 3 << 20, "power of two"),
        ("block_small", None, 1 << 12, "power of two"),
        ("block_small", tmp_path, None, "without &"),
    ):
        with pytest.raises(MaeslantError, match=why):
            media.size(device, place, wanted)
    with pytest.raises(MaeslantError, match="without &"):
        media.size("block_small", tmp_path / "a&b", None)
    with pytest.raises(OSError, match="none/media"):
        media.create(tmp_path / "none" / "media", 1 << 16)
