# SPDX-License-Identifier: Apache-2.0
"""Tests a pool of simulated cards while cards are removed, hang or have bus errors."""

import pathlib
import random

import pytest

from maeslant.build import simulator
from maeslant.driver import aead, device, pool
from maeslant.driver.device import ENCRYPT
from maeslant.driver.pool import messages
from tests.cli.test_cli import bad, good, openssl, options
from tests.driver.pool.test_messages import gcm
from tests.driver.test_sim_devices import oracle

KEY, IV = bytes(range(16)), bytes(range(16, 32))
DATA = random.Random(1).randbytes(400_000)


@pytest.fixture
def opening() -> int:
    """Returns the simulated clock at which the driver has finished opening a stream card."""
    simulator.build("stream4")
    with device.Device("sim:stream4") as card:
        return card.stats()["bus_clocks"]


# So many clocks after the opening: before any job, while a key is loaded, in the middle of one.
@pytest.mark.parametrize("later", [1, 40, 700, 2000])
def test_a_card_is_removed(opening: int, later: int, monkeypatch) -> None:
    """If a card of a pool is removed during a message, calls, streams and AEAD still end right."""
    monkeypatch.setattr(messages, "PART", 1 << 16)
    dying = f"sim:stream4?dies={opening + later}"
    want = oracle("ctr", KEY, IV, DATA, ENCRYPT)
    for way in ("call", "stream", "gcm", "cbc"):
        with pool.opened(f"pool:{dying},sim:stream4") as cards:
            if way == "call":
                assert cards.crypt("ctr", ENCRYPT, KEY, IV, DATA) == want
            elif way == "gcm":
                with aead.seal(cards, "gcm", KEY, IV[:12]) as message:
                    out = b"".join(message.update(DATA))
                    tag = message.finish()
                    out += b"".join(message.read())
                assert out + tag == gcm(IV[:12], b"", DATA)
            else:
                mode, data = ("ctr", DATA) if way == "stream" else ("cbc", DATA[:131072])
                with cards.stream(mode, ENCRYPT, KEY, IV) as stream:
                    out = b"".join(stream.update(data)) + b"".join(stream.finish())
                assert out == oracle(mode, KEY, IV, data, ENCRYPT)
            first, second = cards.cards()
            assert "removed at clock" in first["why"] and not second["error"]


@pytest.mark.parametrize("fault", ["error_read=50000", "error_write=50000"])
def test_bus_errors(fault: str) -> None:
    """The pool stops using a card after its first bus error; its messages still end right."""
    with pool.opened(f"pool:sim:stream4?{fault},2*sim:stream4") as cards:
        for _ in range(3):
            got = cards.crypt("ctr", ENCRYPT, KEY, IV, DATA)
            assert got == oracle("ctr", KEY, IV, DATA, ENCRYPT)
        found = cards.cards()
        assert "bus error" in found[0]["why"] and not found[1]["error"] and not found[2]["error"]


def test_all_cards_fail(opening: int, tmp_path: pathlib.Path) -> None:
    """If all cards of a pool fail, `maeslant encrypt` reports the error and leaves no file."""
    source, sink = tmp_path / "source", tmp_path / "sink"
    source.write_bytes(DATA)
    dying = f"pool:2*sim:stream4?dies={opening + 900}"
    for mode in (options("ctr"), ["--mode", "gcm", "--key", KEY.hex()]):
        message = bad("encrypt", source, sink, *mode, "--device", dying)
        assert "all 2 cards of the pool have failed" in message and "removed" in message
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_files(opening: int, tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt` and `decrypt` finish files on a pool in which a card dies."""
    plain, cipher, back = (tmp_path / name for name in ("plain", "cipher", "back"))
    plain.write_bytes(random.Random(2).randbytes((2 << 20) + 11))
    cards = ["--device", f"pool:sim:stream4?dies={opening + 9000},2*sim:stream4"]
    good("encrypt", plain, cipher, *options("ctr"), *cards)
    assert cipher.read_bytes() == openssl("ctr", 128, plain.read_bytes())
    key = ["--key", KEY.hex()]
    good("encrypt", plain, cipher, "--force", "--mode", "gcm", *key, *cards)
    good("decrypt", cipher, back, "--mode", "gcm", *key, *cards)
    assert back.read_bytes() == plain.read_bytes()
    damaged = bytearray(cipher.read_bytes())
    damaged[1 << 20] ^= 1
    cipher.write_bytes(damaged)
    back.unlink()
    message = bad("decrypt", cipher, back, "--mode", "gcm", *key, *cards)
    assert "tag is wrong" in message and not back.exists()


def test_macs_and_info() -> None:
    """`maeslant mac` gives equal MACs on a pool and a card; `info` names the pool's cards."""
    cards = ["--device", "pool:2*sim:stream4"]
    for mode in (["--mode", "cmac"], ["--mode", "gmac", "--iv", "00" * 12]):
        command = ["mac", "-", *mode, "--key", KEY.hex()]
        assert good(*command, *cards, data=DATA) == good(*command, data=DATA)
    assert "2 cards" in good("info", cards[1]).decode()
