# SPDX-License-Identifier: Apache-2.0
"""Runs the demonstration of `make run` on the simulated stream and protected cards.

The file's results are compared with OpenSSL's; the protected card is attacked in three places.
"""

import hashlib
import pathlib
import secrets
import subprocess
import sys
import sysconfig
import tempfile
import time

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from maeslant.build import simulator
from maeslant.driver import aead_files, message_files
from maeslant.driver.device import (
    AEAD,
    DECRYPT,
    ENCRYPT,
    NONCE,
    PADDED,
    TAG,
    Device,
    build_simulation,
)
from maeslant.errors import MaeslantError
from maeslant.protected import attack_runs, inference

DEVICE = "sim:stream?lanes=4&latency=50-300&order=shuffled&seed=1"
CONDITIONS = "host memory: 50-300 clocks latency, answers shuffled, reads and writes at once"
CLOCK_MHZ = 200  # at which the Gbit/s are stated; Ghosh's engines ran at 303-310, Fernando's at 199
PASSES = tuple((mode, way) for mode in ("gcm", "ctr", "cbc") for way in (ENCRYPT, DECRYPT))
KEY_BYTES = {"gcm": 32, "ctr": 16, "cbc": 16}
DIGITS = 40  # of the 300 that `maeslant infer` takes
ATTACKS = ("replay/request before BATCH", "redirect/read/another chunk", "invent/BATCH/zeros")
PAPERS = (
    "Kumar: a block in 12 clocks a unit, AES-128 encryption only",
    "Fernando: 796 MB/s at its peak, all of a bus of both ways; 459 MB/s with its two copies",
    "Kale: 1,132 clocks a block beside a PicoRV32",
    "Dong: a block a clock in each of N pipelines, 11 clocks latency, encryption only",
)


def real_file() -> pathlib.Path:
    """Returns the path of an existing file of two to eight megabytes on this machine."""
    places = [sysconfig.get_config_var("LIBDIR"), "/usr/lib", "/usr/bin", sys.prefix]
    for place in filter(None, places):
        for path in sorted(pathlib.Path(place).rglob("*")):
            try:
                if path.is_file() and 2_000_000 < path.stat().st_size < 8_000_000:
                    return path
            except OSError:
                continue
    raise MaeslantError("found no file of some megabytes here; use make run FILE=...")


def digest(path: pathlib.Path) -> str:
    """Returns the SHA-256 digest of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def openssl(mode: str, key: bytes, iv: bytes, source: pathlib.Path, sink: pathlib.Path) -> None:
    """Encrypts a file by the program `openssl` to another file, as reference for the card."""
    command = [
        "openssl",
        "enc",
        f"-aes-{8 * len(key)}-{mode}",
        "-K",
        key.hex(),
        "-iv",
        iv.hex(),
    ]
    subprocess.run([*command, "-in", str(source), "-out", str(sink)], check=True)


def cryptography_opens(key: bytes, aad: bytes, source: pathlib.Path, sink: pathlib.Path) -> None:
    """Decrypts a GCM file by the Python package `cryptography` to another file; checks the tag."""
    with source.open("rb") as reader, sink.open("wb") as writer:
        reader.seek(-TAG, 2)
        left, tag = reader.tell() - NONCE, reader.read(TAG)
        reader.seek(0)
        other = Cipher(algorithms.AES(key), modes.GCM(reader.read(NONCE), tag)).decryptor()
        other.authenticate_additional_data(aad)
        while left > 0:
            piece = reader.read(min(left, message_files.PIECE))
            left -= len(piece)
            writer.write(other.update(piece))
        try:
            writer.write(other.finalize())
        except InvalidTag:
            raise MaeslantError("the tag of gcm is wrong: the hardware is wrong") from None


def one_pass(progress, mode, direction, key, iv, aad, source, sink) -> dict[str, int]:
    """Encrypts or decrypts a file on a simulated AES card; returns the simulator's counters."""
    title = f"{mode.upper()} {('encryption', 'decryption')[direction]}"
    task = progress.add_task(title, total=source.stat().st_size)
    with (
        Device(DEVICE) as device,
        source.open("rb") as reader,
        sink.open("wb") as writer,
    ):
        device.reset_stats()

        def seen(count: int) -> None:
            progress.advance(task, count)

        if mode in AEAD:  # the library draws the IV
            call = aead_files.encrypt if direction == ENCRYPT else aead_files.decrypt
            pieces = call(device, mode, key, None, aad, reader, source.stat().st_size, seen)
        else:
            pieces = message_files.read(reader, seen)
            pieces = message_files.crypt(device, mode, direction, key, iv, pieces, mode in PADDED)
        for piece in pieces:
            writer.write(piece)
        return device.stats()


def run(name: str, console: Console) -> None:
    """Encrypts a file on a simulated AES card in three modes, then shows the protected card."""
    path = pathlib.Path(name) if name else real_file()
    if not path.is_file():
        raise MaeslantError(f"{path}: there is no such file")
    if path.stat().st_size == 0:
        raise MaeslantError(f"{path} is empty")
    console.print(f"[bold]{path}[/], {path.stat().st_size:,} bytes, through {DEVICE}")
    with console.status(f"making the card from its SystemVerilog ({simulator.ONCE})"):
        build_simulation(DEVICE)
    iv, aad = secrets.token_bytes(16), path.name.encode()
    keys = {mode: secrets.token_bytes(size) for mode, size in KEY_BYTES.items()}
    table = Table(
        title="AES-256-GCM, AES-128-CTR and -CBC on the 4-lane stream card",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.caption = f"{CONDITIONS}; bus: share of its data clocks; Gbit/s at {CLOCK_MHZ} MHz"
    for column in ("pass", "bytes", "clocks", "blocks/clk", "bus", "Gbit/s", "equal to"):
        table.add_column(column, justify="left" if column in ("pass", "equal to") else "right")
    simulated = 0.0
    with tempfile.TemporaryDirectory() as folder, Progress(console=console) as progress:
        work = pathlib.Path(folder)
        for mode, direction in PASSES:
            cipher, other = work / f"{mode}.enc", work / f"{mode}.openssl"
            source, sink = (path, cipher) if direction == ENCRYPT else (cipher, work / "back")
            start = time.monotonic()
            stats = one_pass(progress, mode, direction, keys[mode], iv, aad, source, sink)
            simulated += time.monotonic() - start
            wanted, got, equal = path, sink, "original"
            if direction == ENCRYPT and mode in AEAD:  # OpenSSL checks the tag and gives it back
                cryptography_opens(keys[mode], aad, sink, other)
                got, equal = other, "OpenSSL"
            elif direction == ENCRYPT:
                openssl(mode, keys[mode], iv, path, other)
                wanted, equal = other, "OpenSSL"
            if digest(got) != digest(wanted):
                raise MaeslantError(f"{mode} differs from {wanted}: the hardware is wrong")
            clocks = stats["core_clocks"]
            span = stats["last_data_clock"] - stats["first_data_clock"] + 1
            used = (stats["read_beats"] + stats["write_beats"]) / (2 * span)
            rate = source.stat().st_size * 8 / clocks * CLOCK_MHZ / 1000
            table.add_row(
                f"{mode.upper()} {('encrypt', 'decrypt')[direction]}",
                f"{source.stat().st_size:,}",
                f"{clocks:,}",
                f"{source.stat().st_size / 16 / clocks:.3f}",
                f"{100 * used:.1f} %",
                f"{rate:.2f}",
                equal,
            )
    console.print(table)
    console.print(
        "CBC encryption is a chain: each block waits 11 clocks for the one before.\n"
        "Many messages at once fill the card in those modes too: maeslant measure modes"
    )
    for line in PAPERS:
        console.print(f"  {line}", style="dim")
    console.print(f"Simulated in {simulated:.1f} s. Everything is equal to OpenSSL.\n")
    guarded(console)


def guarded(console: Console) -> None:
    """Runs an inference on the protected card, then attacks on the card's bus; prints results."""
    err = Console(stderr=True)
    if not inference.run(DIGITS, True, True, False, console, err):
        raise MaeslantError("the labels differ from the reference's: the hardware is wrong")
    if not attack_runs.run(list(ATTACKS), False, "protected_small", False, console, err):
        raise MaeslantError("an attack was not detected: the hardware is wrong")
    console.print(
        "All attacks: maeslant attack --all; the paper's protocol falling: --ghosh", style="dim"
    )
