# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant encrypt`, `decrypt` and `mac` in authenticated modes against `cryptography`."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time
from functools import partial

import pytest
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.cmac import CMAC

from maeslant.driver import message_files
from tests.cli.test_cli import IV, KEYS, MAESLANT, SMALL, bad, good, no_larger, run

MODES = {"gcm": AESGCM, "ccm": AESCCM}
NONCE = IV[:24]
KEY = KEYS[256]


def options(mode: str, *more: str, bits: int = 256) -> list[str]:
    """Returns the command-line options of `maeslant encrypt` for an AEAD mode and a key."""
    return ["--mode", mode, "--key", KEYS[bits], *more]


def oracle(mode: str, bits: int = 256):
    """Returns the AEAD cipher of `cryptography` for a mode under the test's key."""
    return MODES[mode](bytes.fromhex(KEYS[bits]))


@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("mode", MODES)
def test_same_bytes_as_cryptography(mode: str, bits: int, tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt` and `decrypt` give the bytes of `cryptography` for a given IV and AAD."""
    aad = tmp_path / "aad"
    aad.write_bytes(b"\x01\x02\x03")
    for length in (0, 5000) if bits == 128 else (31,):
        plain, cipher, back = (tmp_path / f"{name}{length}" for name in ("p", "c", "b"))
        plain.write_bytes(random.Random(length).randbytes(length))
        tail = options(mode, "--iv", NONCE, bits=bits)
        good("encrypt", plain, cipher, *tail, "--aad", "010203")
        wanted = oracle(mode, bits).encrypt(bytes.fromhex(NONCE), plain.read_bytes(), b"\1\2\3")
        assert cipher.read_bytes() == wanted
        good("decrypt", cipher, back, *tail, "--aad-file", aad)
        assert back.read_bytes() == plain.read_bytes()


def test_short_ivs_are_warned_of(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt` and `mac` warn of a GCM IV below 12 bytes; `decrypt` does not."""
    plain, cipher = tmp_path / "plain", tmp_path / "cipher"
    plain.write_bytes(b"text")
    for iv in ("01", NONCE):
        more = ("--iv", iv, "--device", "sim:peripheral")
        for words in (
            ["encrypt", plain, cipher, *options("gcm", *more), "--force"],
            ["mac", plain, *options("gmac", *more)],
        ):
            done = run(*words)
            assert done.returncode == 0
            assert (b"warning: the IV has fewer bytes" in done.stderr) == (iv == "01")
        assert b"warning" not in run("decrypt", cipher, "-", *options("gcm", *more)).stderr


def test_force_keeps_mode_and_link(tmp_path: pathlib.Path) -> None:
    """`maeslant decrypt --force` replaces a private file by a private one, also behind a link."""
    cipher, private, link = (tmp_path / name for name in ("cipher", "private", "link"))
    cipher.write_bytes(oracle("gcm").encrypt(bytes.fromhex(NONCE), b"text", b""))
    private.touch(0o600)
    link.symlink_to(private.name)
    tail = options("gcm", "--iv", NONCE, "--device", "sim:peripheral", "--force")
    for target in (private, link):
        private.write_bytes(b"old")
        good("decrypt", cipher, target, *tail)
        assert private.read_bytes() == b"text" and private.stat().st_mode & 0o777 == 0o600
    assert link.is_symlink()


def test_no_other_group_reads(tmp_path: pathlib.Path, monkeypatch) -> None:
    """A replaced file whose owner cannot be kept is not readable by the new one's group."""
    old = tmp_path / "old"
    for mode, chown, kept in ((0o640, True, 0o640), (0o640, False, 0o600), (0o664, False, 0o604)):
        old.touch()
        old.chmod(mode)
        if not chown:
            monkeypatch.setattr(os, "fchown", partial(raised, PermissionError("not root")))
        with message_files.destination(str(old), force=True) as sink:
            sink.write(b"new")
        assert old.read_bytes() == b"new" and old.stat().st_mode & 0o777 == kept


def raised(error: OSError, *_: object) -> None:
    """Raises an error in the place of a function of the operating system."""
    raise error


@pytest.mark.parametrize("mode", MODES)
def test_drawn_iv_stands_in_front(mode: str) -> None:
    """Without --iv `maeslant encrypt` puts a random IV before each ciphertext."""
    data = random.Random(1).randbytes(1000)
    first, second = (good("encrypt", "-", "-", *options(mode), data=data) for _ in range(2))
    assert first[:12] != second[:12]
    assert len(first) == 12 + len(data) + 16
    assert oracle(mode).decrypt(first[:12], first[12:], b"") == data
    assert good("decrypt", "-", "-", *options(mode), data=second) == data


@pytest.mark.parametrize("mode", MODES)
def test_ivs_of_other_lengths(mode: str) -> None:
    """`maeslant encrypt` and `decrypt` accept IVs of other lengths, as `cryptography` does."""
    lengths = (8, 16, 60) if mode == "gcm" else (7, 13)
    for length in lengths:
        iv = bytes(range(length))
        got = good("encrypt", "-", "-", *options(mode, "--iv", iv.hex()), data=b"data")
        assert got == oracle(mode).encrypt(iv, b"data", None)
        assert good("decrypt", "-", "-", *options(mode, "--iv", iv.hex()), data=got) == b"data"


def changed(data: bytes, place: int) -> bytes:
    """Returns a byte string with one bit inverted at a given place."""
    place %= len(data)
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


@pytest.mark.parametrize("mode", MODES)
def test_tampered(mode: str, tmp_path: pathlib.Path) -> None:
    """`maeslant decrypt` refuses a tampered or truncated file and writes no plaintext."""
    data = random.Random(2).randbytes(70001)
    cipher = good("encrypt", "-", "-", *options(mode, "--aad", "0102"), data=data)
    source, sink, keep = tmp_path / "source", tmp_path / "sink", tmp_path / "keep"
    keep.write_bytes(b"keep")
    tail = options(mode, "--aad", "0102")
    # In the IV, at the start and the end of the data, in the tag; cut short, and longer.
    damaged = [changed(cipher, place) for place in (0, 12, -17, -1)]
    damaged += [cipher[:-1], cipher[1:], cipher + b"\0", cipher[:30000]]
    ways = [("-", "-"), (source, "-"), (source, sink)]
    for number, wrong in enumerate(damaged):
        source.write_bytes(wrong)
        message = bad("decrypt", *ways[number % 3], *tail, data=wrong)
        assert "tag is wrong" in message
    source.write_bytes(cipher)
    bad("decrypt", source, sink, *options(mode, "--aad", "0103"))
    bad("decrypt", source, sink, *options(mode))
    bad("decrypt", source, sink, "--mode", mode, "--key", KEYS[128], "--aad", "0102")
    bad("decrypt", source, sink, *tail, "--iv", NONCE)
    bad("decrypt", source, keep, *options(mode), "--force")
    assert keep.read_bytes() == b"keep"  # what was there stays
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keep", "source"]
    good("decrypt", source, sink, *tail)
    assert sink.read_bytes() == data


def test_nothing_reaches_a_pipe(tmp_path: pathlib.Path) -> None:
    """`maeslant decrypt` writes nothing to a pipe or a device if the tag is wrong."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Longer than what the driver holds before it gives out the first piece.
    cipher = os.urandom(3 << 20)
    with (tmp_path / "read").open("wb") as read, subprocess.Popen(["cat", pipe], stdout=read):
        message = bad("decrypt", "-", pipe, *options("gcm"), data=cipher)
    assert "tag is wrong" in message
    assert (tmp_path / "read").read_bytes() == b""


def test_too_short() -> None:
    """`maeslant decrypt` refuses a file too short for an IV and a tag, and says so."""
    for mode in MODES:
        for length in (0, 5, 12, 27):
            assert "too short" in bad("decrypt", "-", "-", *options(mode), data=bytes(length))
        message = bad("decrypt", "-", "-", *options(mode, "--iv", NONCE), data=bytes(15))
        assert "too short" in message


def test_long_stream_in_bounded_memory(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt | maeslant decrypt` restores 3 MiB that pass through pipes."""
    data = tmp_path / "data"
    data.write_bytes(random.Random(5).randbytes(3 << 20))
    tail = " ".join(options("gcm"))
    shell = f"{MAESLANT} encrypt - - {tail} < {data} | {MAESLANT} decrypt - - {tail} | cmp - {data}"
    subprocess.run(["bash", "-o", "pipefail", "-c", shell], check=True, timeout=300)


def test_killed_midway(tmp_path: pathlib.Path) -> None:
    """A `maeslant decrypt` that is killed leaves no plaintext in any file."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [MAESLANT, "decrypt", "-", tmp_path / "out", *options("gcm")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    process.stdin.write(bytes(1 << 20))
    process.stdin.flush()
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--mode", "ctr", "--iv", IV, "--aad", "00"], "no --aad"),
        (["--mode", "gcm", "--aad", "xx"], "not hexadecimal"),
        (["--mode", "gcm", "--aad", "00", "--aad-file", "x"], "not by both"),
        (["--mode", "gcm", "--aad-file", "/nowhere/x"], "No such file"),
        (["--mode", "gcm", "--iv", ""], "0 bytes"),
        (["--mode", "ccm", "--iv", "0011"], "2 bytes"),
        (["--mode", "ccm", "--iv", "00" * 14], "14 bytes"),
        (["--mode", "cmac"], "cmac"),
    ],
)
def test_bad_options(change: list[str], words: str) -> None:
    """`maeslant encrypt` and `decrypt` name each bad AEAD option in the error, never the key."""
    for command in ("encrypt", "decrypt"):
        message = bad(command, "-", "-", "--key", KEY, *change, data=bytes(100))
        assert words in message and KEY not in message


def test_cmac(tmp_path: pathlib.Path) -> None:
    """`maeslant mac` gives the CMAC of `cryptography`; --check reports by its exit status."""
    path = tmp_path / "data"
    for length in (0, 16, 100001):
        path.write_bytes(random.Random(length).randbytes(length))
        wanted = CMAC(algorithms.AES(bytes.fromhex(KEY)))
        wanted.update(path.read_bytes())
        got = good("mac", path, *options("cmac")).decode().strip()
        assert got == wanted.finalize().hex()
        assert good("mac", path, *options("cmac", "--check", got)) == b""
        wrong = changed(bytes.fromhex(got), length).hex()
        assert "MAC is wrong" in bad("mac", path, *options("cmac", "--check", wrong))
    assert "8 bytes, not 16" in bad("mac", path, *options("cmac", "--check", got[:16]))
    assert "no --iv" in bad("mac", path, *options("cmac", "--iv", IV))


def test_gmac() -> None:
    """`maeslant mac --mode gmac` gives the tag of GCM without data, after an IV that it draws."""
    data = random.Random(8).randbytes(70001)
    wanted = oracle("gcm").encrypt(bytes.fromhex(NONCE), b"", data).hex()
    got = good("mac", "-", *options("gmac", "--iv", NONCE), data=data).decode().strip()
    assert got == wanted
    good("mac", "-", *options("gmac", "--iv", NONCE, "--check", got), data=data)
    bad("mac", "-", *options("gmac", "--iv", NONCE, "--check", got), data=data[:-1])
    whole = good("mac", "-", *options("gmac"), data=data).decode().strip()
    assert len(whole) == 2 * 28
    iv, tag = bytes.fromhex(whole[:24]), bytes.fromhex(whole[24:])
    oracle("gcm").decrypt(iv, tag, data)
    made = json.loads(good("mac", "-", *options("gmac"), "--json", data=data))
    oracle("gcm").decrypt(bytes.fromhex(made["iv"]), bytes.fromhex(made["mac"]), data)
    good("mac", "-", *options("gmac", "--check", whole), data=data)
    wrong = changed(bytes.fromhex(whole), -1).hex()
    assert "MAC is wrong" in bad("mac", "-", *options("gmac", "--check", wrong), data=data)


def test_peripheral_device() -> None:
    """AEAD commands of `maeslant` give equal bytes on the peripheral and on the card."""
    for mode in MODES:
        tail = options(mode, "--iv", NONCE, "--aad", "0102", "--device", "sim:peripheral")
        got = good("encrypt", "-", "-", *tail, data=bytes(range(100)))
        assert got == oracle(mode).encrypt(bytes.fromhex(NONCE), bytes(range(100)), b"\1\2")
        assert good("decrypt", "-", "-", *tail, data=got) == bytes(range(100))
        assert run("decrypt", "-", "-", *tail, data=changed(got, 3)).returncode == 1
    wanted = good("mac", "-", *options("cmac"), data=bytes(33))
    tail = options("cmac", "--device", "sim:peripheral")
    assert good("mac", "-", *tail, data=bytes(33)) == wanted


@pytest.mark.parametrize("way", ["gcm", "ccm"])
@pytest.mark.parametrize(
    ("folder", "most", "words"),
    [
        ("t", 4096, "File too large"),
        ("t", 0, "File too large"),
        ("none", resource.RLIM_INFINITY, "No such file"),
        ("file", resource.RLIM_INFINITY, "Not a directory"),
    ],
)
def test_unusable_temporary_folder(
    folder: str, most: int, words: str, way: str, tmp_path: pathlib.Path
) -> None:
    """`maeslant decrypt` from and to a pipe holds the message in TMPDIR alone, or fails.

    gcm keeps plaintext there before the tag is verified, ccm the ciphertext; Python's own choice
    of a folder would take another one. ``most``: size in bytes to which a file may grow.
    """
    (tmp_path / "t").mkdir()
    (tmp_path / "file").touch()
    cipher = oracle(way).encrypt(bytes.fromhex(NONCE), bytes(1 << 16), None)
    # Builds driver and simulator, which are larger than the limit.
    good("mac", "-", *options("cmac"), *SMALL, data=b"")
    done = subprocess.run(
        [MAESLANT, "decrypt", "-", "-", *options(way, "--iv", NONCE), *SMALL],
        preexec_fn=lambda: no_larger(most),
        input=cipher,
        env=os.environ | {"TMPDIR": str(tmp_path / folder)},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    said = done.stderr.decode().replace("\n", "")  # rich breaks a long line within a path
    assert done.returncode == 1 and done.stdout == b"", said
    assert f"{folder}(TMPDIR):{words}".replace(" ", "") in said.replace(" ", ""), said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "t"]
    assert not list((tmp_path / "t").iterdir())
