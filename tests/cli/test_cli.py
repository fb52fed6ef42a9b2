# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant encrypt`, `decrypt`, `devices` and others against `openssl`, and bad input."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant import paths
from maeslant.build import configurations
from maeslant.cli import crypt
from maeslant.errors import MaeslantError

MAESLANT = str(paths.ROOT / ".venv" / "bin" / "maeslant")
KEYS = {128: "00112233445566778899aabbccddeeff"}
KEYS[192] = KEYS[128] + "0123456789abcdef"
KEYS[256] = KEYS[128] + "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
SMALL = ("--device", "sim:peripheral")  # the one that is quickest to build


def no_larger(most: int) -> None:
    """Lets no file of this process grow beyond a size in bytes, as a full disk does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def run(*arguments: object, data: bytes | None = None, timeout: float = 900):
    """Runs `maeslant` with given arguments and standard input; returns the finished process."""
    command = [MAESLANT, *map(str, arguments)]
    return subprocess.run(command, input=data, capture_output=True, timeout=timeout, check=False)


def good(*arguments: object, data: bytes | None = None) -> bytes:
    """Runs `maeslant`, asserts success and returns standard output."""
    result = run(*arguments, data=data)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


def bad(*arguments: object, data: bytes | None = None) -> str:
    """Runs `maeslant`, asserts failure without a traceback and returns the error message.

    A crash would end by a signal, with another exit code than a refusal: 1, or 2 for bad usage.
    """
    result = run(*arguments, data=data)
    message = result.stderr.decode()
    assert result.returncode in (1, 2), message
    assert "Traceback" not in message and message.strip(), message
    assert result.stdout == b""
    return " ".join(message.split())


def openssl(mode: str, bits: int, data: bytes, *more: str) -> bytes:
    """Encrypts or decrypts data by the program `openssl enc`."""
    command = ["openssl", "enc", f"-aes-{bits}-{mode}", "-K", KEYS[bits], *more]
    if mode != "ecb":
        command += ["-iv", IV]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def options(mode: str, bits: int = 128) -> list[str]:
    """Returns the command-line options of `maeslant encrypt` for a mode, key and IV."""
    key = KEYS[bits] + KEYS[bits][::-1] if mode == "xts" else KEYS[bits]
    return ["--mode", mode, "--key", key, *([] if mode == "ecb" else ["--iv", IV])]


@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("mode", ["ecb", "cbc", "cfb", "ofb", "ctr"])
def test_same_bytes_as_openssl(mode: str, bits: int, tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt` and `decrypt` give the bytes of `openssl enc` for files of any length."""
    for length in (0, 1, 16, 47, 5000) if bits == 128 else (31,):
        plain, cipher, back = (tmp_path / f"{name}{length}" for name in ("p", "c", "b"))
        plain.write_bytes(random.Random(length).randbytes(length))
        good("encrypt", plain, cipher, *options(mode, bits))
        assert cipher.read_bytes() == openssl(mode, bits, plain.read_bytes())
        good("decrypt", cipher, back, *options(mode, bits))
        assert back.read_bytes() == plain.read_bytes()


def test_pcbc(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt --mode pcbc` equals PCBC with PKCS#7 padding, built from OpenSSL's ECB."""
    data = random.Random(3).randbytes(1000)
    count = 16 - len(data) % 16
    ecb = Cipher(algorithms.AES(bytes.fromhex(KEYS[128])), modes.ECB()).encryptor()
    chain, wanted = int(IV, 16), b""
    padded = data + bytes([count]) * count
    for at in range(0, len(padded), 16):
        block = int.from_bytes(padded[at : at + 16], "big")
        out = int.from_bytes(ecb.update((block ^ chain).to_bytes(16, "big")), "big")
        wanted += out.to_bytes(16, "big")
        chain = block ^ out
    got = good("encrypt", "-", "-", *options("pcbc"), data=data)
    assert got == wanted
    assert good("decrypt", "-", "-", *options("pcbc"), data=got) == data


@pytest.mark.parametrize("length", [16, 17, 31, 33, 4096, 70001])
def test_xts(length: int) -> None:
    """`maeslant encrypt --mode xts` equals XTS of `cryptography`, with ciphertext stealing."""
    key = bytes.fromhex(KEYS[256] + KEYS[256][::-1])
    data = random.Random(length).randbytes(length)
    cipher = Cipher(algorithms.AES(key), modes.XTS(bytes.fromhex(IV))).encryptor()
    got = good("encrypt", "-", "-", *options("xts", 256), data=data)
    assert got == cipher.update(data) + cipher.finalize()
    assert good("decrypt", "-", "-", *options("xts", 256), data=got) == data


def test_no_padding() -> None:
    """`maeslant encrypt --no-padding` adds no padding and refuses a partial block."""
    data = bytes(range(64))
    got = good("encrypt", "-", "-", *options("cbc"), "--no-padding", data=data)
    assert got == openssl("cbc", 128, data, "-nopad")
    bad("encrypt", "-", "-", *options("cbc"), "--no-padding", data=data[:-1])


def test_peripheral_device() -> None:
    """`maeslant encrypt` gives equal bytes on the peripheral and on the card."""
    data = bytes(range(100))
    got = good("encrypt", "-", "-", *options("ctr"), "--device", "sim:peripheral", data=data)
    assert got == openssl("ctr", 128, data)


def test_key_file(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt` accepts a key file of raw bytes, or of hex digits."""
    raw, text = tmp_path / "raw", tmp_path / "text"
    raw.write_bytes(bytes.fromhex(KEYS[256]))
    text.write_text(KEYS[256] + "\n")
    mode = ["--mode", "ctr", "--iv", IV]
    wanted = openssl("ctr", 256, b"data")
    for path in (raw, text):
        assert good("encrypt", "-", "-", *mode, "--key-file", path, data=b"data") == wanted
    text.write_text(KEYS[128])  # 32 digits: not the 32 bytes of a raw AES-256 key
    wanted = openssl("ctr", 128, b"data")
    assert good("encrypt", "-", "-", *mode, "--key-file", text, data=b"data") == wanted
    text.write_text(KEYS[128][:16])
    assert "key has 8 bytes" in bad("encrypt", "-", "-", *mode, "--key-file", text, data=b"data")
    text.write_text(KEYS[128] + "0")
    assert "not hex" in bad("encrypt", "-", "-", *mode, "--key-file", text, data=b"data")
    text.write_text("no key at all")
    assert "neither" in bad("encrypt", "-", "-", *mode, "--key-file", text, data=b"data")
    assert "No such file" in bad("encrypt", "-", "-", *mode, "--key-file", tmp_path / "no")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--mode", "ctr", "--key", "00", "--iv", IV], "key has 1 bytes"),
        (["--mode", "ctr", "--key", "xx", "--iv", IV], "not hexadecimal"),
        (["--mode", "ctr", "--iv", IV], "--key or by --key-file"),
        (["--mode", "ctr", "--key", KEYS[128]], "needs --iv"),
        (["--mode", "ctr", "--key", KEYS[128], "--iv", "00"], "IV has 1 bytes"),
        (["--mode", "ecb", "--key", KEYS[128], "--iv", IV], "takes no --iv"),
        (["--mode", "gost", "--key", KEYS[128], "--iv", IV], "gost"),
        (["--mode", "xts", "--key", KEYS[128], "--iv", IV], "xts takes"),
        (["--mode", "xts", "--key", 2 * KEYS[128], "--iv", IV], "two keys of XTS are equal"),
        ([*options("ctr"), "--device", "sim:none"], "none"),
        ([*options("ctr"), "--device", "nonsense"], "nonsense"),
        ([*options("ctr"), "--device", "null:"], "computes nothing"),
        ([*options("ctr"), "--device", "pool:2*null:"], "computes nothing"),
        ([*options("ctr"), "--device", "vfio:0000:ff:1f.7"], "0000:ff:1f.7"),
        (["--mode", "xts", "--key", KEYS[256], "--iv", IV], ""),
    ],
)
def test_bad_options(change: list[str], words: str) -> None:
    """`maeslant encrypt` names each bad option in its error and never shows the key."""
    message = bad("encrypt", "-", "-", *change, data=b"short")
    assert words in message
    assert KEYS[128] not in message


def test_equal_keys_of_xts() -> None:
    """`maeslant encrypt` refuses two equal keys of XTS before it looks for a device."""
    assert len(crypt.read_key("xts", KEYS[256], None)) == 32
    with pytest.raises(MaeslantError, match="two keys of XTS are equal"):
        crypt.read_key("xts", 2 * KEYS[128], None)


def test_bad_files(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt` refuses missing or existing files and folders, and keeps their data."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.write_bytes(b"text")
    there.write_bytes(b"keep")
    assert "no such file" in bad("encrypt", tmp_path / "none", tmp_path / "x", *options("ctr"))
    assert "--force" in bad("encrypt", here, there, *options("ctr"))
    assert there.read_bytes() == b"keep"
    good("encrypt", here, there, *options("ctr"), "--force")
    assert there.read_bytes() == openssl("ctr", 128, b"text")
    assert "folder" in bad("encrypt", here, tmp_path, *options("ctr"))
    assert "folder" in bad("encrypt", here, tmp_path / "no" / "x", *options("ctr"))
    # A damaged file under CBC: no output at all.
    cipher = openssl("cbc", 128, bytes(100))
    here.write_bytes(cipher[:-5])
    bad("decrypt", here, tmp_path / "x", *options("cbc"))
    here.write_bytes(cipher[:-16])
    assert "padding" in bad("decrypt", here, tmp_path / "x", *options("cbc"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "there"]


def test_full_disk(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt` reports a full disk and leaves no output file."""
    # Builds driver and simulator, which are larger than the limit.
    good("encrypt", "-", "-", *options("ctr"), *SMALL, data=b"")
    source = tmp_path / "source"
    source.write_bytes(bytes(1 << 20))
    result = subprocess.run(
        [MAESLANT, "encrypt", source, tmp_path / "out", *options("ctr"), *SMALL],
        preexec_fn=lambda: no_larger(1 << 18),
        capture_output=True,
        check=False,
    )
    said = result.stderr.decode().replace("\n", "")  # rich breaks a long line within a path
    assert result.returncode == 1 and "Traceback" not in said, said
    assert f"{tmp_path / 'out'}:Filetoolarge" in said.replace(" ", ""), said
    assert list(tmp_path.iterdir()) == [source]
    assert "/dev/full" in bad("encrypt", source, "/dev/full", *options("ctr"))


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["files", "mae_cipher_iter", "--plain"], "TMPDIR"),
        (["synth", "mae_sbox", "-G", "Impl=3", "--target", "xc7"], "MAESLANT_BUILD"),
        (["build", "peripheral"], "MAESLANT_BUILD"),
    ],
)
def test_full_temporary_folder(words: list[str], place: str, tmp_path: pathlib.Path) -> None:
    """Each `maeslant` command that writes files reports a full folder and leaves no file there."""
    folder = tmp_path / "t"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "maeslant.cli", *words],
        preexec_fn=lambda: no_larger(4096),
        cwd=paths.ROOT,
        env=os.environ | {place: str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert "error:" in done.stderr and str(folder) in done.stderr.replace("\n", "")
    assert "standard output" not in done.stderr
    if place == "TMPDIR":
        assert not list(folder.iterdir())


READ_ONLY = """
import errno, os, sys
from maeslant.cli import main
def refuse(path, *_, **__):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
os.mkdir = refuse
sys.argv = ["maeslant", "build", "peripheral"]
sys.exit(main())
"""


FAILING = """
import pathlib, sys
from maeslant import cli
from maeslant.bench import software
from maeslant.bench.measure import messages
from maeslant.cli import demo
FILE = pathlib.Path("file")
cli.app = lambda **_: {}
sys.exit(cli.main())
"""


@pytest.mark.parametrize(
    ("program", "call"),
    [
        ("openssl", "demo.openssl('ctr', bytes(16), bytes(16), FILE, FILE)"),
        ("openssl", "messages.openssl('ctr', 16)"),
        ("gcc", "software.table_rate(16, 0.1)"),
    ],
    ids=["demo", "messages", "software"],
)
@pytest.mark.parametrize(
    ("end", "how"),
    [("exit 3", "exit code 3"), ("kill -9 $$", "signal 9")],
    ids=["fails", "killed"],
)
def test_failing_program(program: str, call: str, end: str, how: str, tmp_path) -> None:
    """A program that `maeslant` runs and that fails is named, in one line, without its key."""
    fake = tmp_path / program
    fake.write_text(f"#!/bin/sh\necho its reason >&2\n{end}\n")
    fake.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", FAILING.format(call)],
        cwd=paths.ROOT,
        env=os.environ
        | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "MAESLANT_BUILD": str(fake.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr
    assert done.returncode == 1 and "Traceback" not in said, said
    assert said.count("error:") == 1 and f"error: {program} " in said and how in said, said
    assert "its reason" in said and bytes(16).hex() not in said


def test_unreadable_input(tmp_path: pathlib.Path) -> None:
    """A read error of the input names the input: a file, or standard input."""
    broken = "/proc/self/mem"  # its first byte cannot be read
    for mode in ("ctr", "gcm"):
        words = ["--mode", mode, "--key", KEYS[128], "--iv", IV, *SMALL]
        out = tmp_path / "out"
        for command in ("encrypt", "decrypt"):
            assert f"{broken}: Input/output error" in bad(command, broken, out, *words)
            with open(broken, "rb") as file:
                line = [MAESLANT, command, "-", out, *words]
                done = subprocess.run(line, stdin=file, capture_output=True, text=True, check=False)
            assert done.returncode == 1
            assert "standard input: Input/output error" in " ".join(done.stderr.split())
    line = f"{MAESLANT} mac - --mode cmac --key {KEYS[128]} {' '.join(SMALL)} <&-"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "standard input is closed" in done.stderr
    assert not list(tmp_path.iterdir())


def test_read_only_checkout(tmp_path: pathlib.Path) -> None:
    """`maeslant` in a read-only checkout explains what to do instead of crashing."""
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY],
        cwd=paths.ROOT,
        env=os.environ | {"MAESLANT_BUILD": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        check=False,
    )
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and "Traceback" not in said
    assert "Read-only file system" in said and "MAESLANT_BUILD names another folder" in said


@pytest.mark.parametrize("words", [["encrypt", "{}", "-", *options("ctr"), *SMALL],
                                   ["encrypt", "{}", "-", "--mode", "gcm",
                                    "--key", KEYS[128], *SMALL],
                                   ["devices"], ["devices", "--json"], ["info", "null:"],
                                   ["files", "mae_fifo"], ["--help"]])  # fmt: skip
@pytest.mark.full
def test_full_standard_output(words: list[str], tmp_path: pathlib.Path) -> None:
    """`maeslant` reports a full disk behind standard output in one line, without a traceback."""
    source = tmp_path / "source"
    source.write_bytes(bytes(1 << 16))
    with open("/dev/full", "wb") as full:
        command = [MAESLANT, *(word.format(source) for word in words)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "standard output" in done.stderr and "No space left" in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len([line for line in lines if not line.startswith("building the simulator")]) == 1
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.full
def test_killed_midway(number: signal.Signals, tmp_path: pathlib.Path) -> None:
    """A killed `maeslant encrypt` leaves no output file and no temporary file."""
    process = subprocess.Popen(
        [MAESLANT, "encrypt", "-", tmp_path / "out", *options("ctr")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background jobs ignore SIGINT; a person's do not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    process.stdin.write(bytes(1 << 20))
    process.stdin.flush()
    time.sleep(1.5)
    process.send_signal(number)
    _, message = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"Traceback" not in message
    assert list(tmp_path.iterdir()) == []


def test_pipe_of_both(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt | maeslant decrypt` restores 3 MiB through standard streams."""
    data = tmp_path / "data"
    data.write_bytes(random.Random(5).randbytes(3 << 20))
    tail = " ".join(options("ctr"))
    shell = f"{MAESLANT} encrypt {data} - {tail} | {MAESLANT} decrypt - - {tail} | cmp - {data}"
    subprocess.run(["bash", "-o", "pipefail", "-c", shell], check=True, timeout=300)


def test_reader_gone() -> None:
    """`maeslant encrypt` ends without a traceback if the reader of its output stops reading."""
    shell = f"head -c 3000000 /dev/zero | {MAESLANT} encrypt - - {' '.join(options('ctr'))}"
    result = subprocess.run(
        ["bash", "-c", f"{shell} | head -c 10 | wc -c"], capture_output=True, check=True
    )
    assert result.stdout.strip() == b"10"
    assert b"Traceback" not in result.stderr


def test_devices_and_info() -> None:
    """`maeslant devices` and `info` print devices and capabilities, as text and as JSON."""
    found = json.loads(good("devices", "--json"))
    assert any(device["uri"] == "sim:stream4" for device in found)
    assert b"sim:stream4" in good("devices")
    # What tests and engines leave among the builds is no device.
    named = {f"sim:{name}" for name, build in configurations.load().items() if build.get("device")}
    assert {d["uri"] for d in found if d["uri"].startswith("sim:")} == named
    caps = json.loads(good("info", "sim:stream4", "--json"))
    assert caps["lanes"] == 4 and caps["modes"] == [
        "ecb",
        "cbc",
        "pcbc",
        "cfb",
        "ofb",
        "ctr",
        "xts",
        "gcm",
    ]
    assert b"stream card" in good("info", "sim:stream4")
    assert "host program of its own" in bad("info", "sim:protected")


def test_help_is_there() -> None:
    """`maeslant --help` lists every command, and each command has a help text."""
    text = good("--help").decode()
    for command in (
        "encrypt",
        "decrypt",
        "mac",
        "devices",
        "info",
        "measure",
        "bench",
        "wave",
        "build",
    ):
        assert command in text
        assert good(command, "--help")


def test_environment_is_not_needed(tmp_path: pathlib.Path) -> None:
    """`maeslant devices` works in any folder with an almost empty environment."""
    result = subprocess.run(
        [MAESLANT, "devices"],
        cwd=tmp_path,
        env={"PATH": os.defpath},
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()


def test_what_can_be_built() -> None:
    """`maeslant` errors about a device or build list only those that exist."""
    for name in ("small", "smal"):
        message = bad("build", name)
        assert "peripheral" in message and "iter128" not in message
    message = bad("info", "sim:nosuch")
    assert "build nosuch" not in message and "stream4" in message


def test_json_of_results(tmp_path: pathlib.Path) -> None:
    """`maeslant encrypt`, `mac` and `build` print their results as JSON with --json."""
    source = tmp_path / "source"
    source.write_bytes(bytes(100))
    for command, name, to in (("encrypt", source, "out"), ("decrypt", tmp_path / "out", "back")):
        words = [name, tmp_path / to, *options("ctr"), *SMALL, "--json"]
        found = json.loads(good(command, *words))
        assert found["bytes"] == 100 and found["mode"] == "ctr"
    words = ["mac", source, "--mode", "cmac", "--key", KEYS[128], *SMALL]
    assert json.loads(good(*words, "--json"))["mac"] == good(*words).decode().strip()
    assert pathlib.Path(json.loads(good("build", "peripheral", "--json"))["peripheral"]).exists()
    assert "--json" in bad("encrypt", source, "-", *options("ctr"), *SMALL, "--json")


@pytest.mark.parametrize(
    "words", [["encrypt", "-", "-", *options("ctr"), *SMALL], ["build", "peripheral"]]
)
def test_build_is_announced(words: list[str], tmp_path: pathlib.Path) -> None:
    """`maeslant build`, and the first `encrypt`, announce in a line that a simulator is built."""
    process = subprocess.Popen(
        [MAESLANT, *words],
        env=os.environ | {"MAESLANT_BUILD": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        announced = process.stderr.readline()
        assert "building the simulator of peripheral (once, up to several minutes)" in announced
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
