# SPDX-License-Identifier: Apache-2.0
"""Defines the commands encrypt, decrypt and mac of `maeslant`."""

import contextlib
import enum
import hmac
import json
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from maeslant.cli.common import DeviceOption, JsonOption, app, err, opened
from maeslant.driver import aead_files, message_files
from maeslant.driver.device import AEAD, BLOCK, DECRYPT, ENCRYPT, MODES, NONCE, NULL, PADDED, TAG
from maeslant.errors import MaeslantError

HEX = re.compile(rb"[0-9A-Fa-f\s]+")
DEFAULT_DEVICE = "sim:stream?lanes=4"
Mode = enum.Enum("Mode", {name: name for name in (*MODES, *AEAD)}, type=str)
Mac = enum.Enum("Mac", {name: name for name in ("cmac", "gmac")}, type=str)

InputArg = Annotated[str, typer.Argument(help="File to read; - is standard input.")]
OutputArg = Annotated[str, typer.Argument(help="File to write; - is standard output.")]
ModeOption = Annotated[Mode, typer.Option("--mode", help="Mode of operation.")]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="Key in hex: 16, 24 or 32 bytes; XTS: both keys, 32 to 64 bytes."),
]
KeyFileOption = Annotated[
    str | None,
    typer.Option(
        "--key-file", help="File with the key: hex digits alone are read as hex, else raw bytes."
    ),
]
IvOption = Annotated[
    str | None,
    typer.Option(
        "--iv",
        help="IV or first counter block, 16 bytes in hex. gcm, ccm, gmac: leave it out to draw one "
        "of 12 bytes, written in front of the output. Using an IV twice under one key breaks "
        "these modes.",
    ),
]
AadOption = Annotated[
    str | None, typer.Option("--aad", help="gcm, ccm: additional authenticated data (AAD) in hex.")
]
AadFileOption = Annotated[
    str | None, typer.Option("--aad-file", help="gcm, ccm: file with the AAD.")
]
PaddingOption = Annotated[
    bool,
    typer.Option("--no-padding", help="ECB, CBC, PCBC: add no PKCS#7 padding; whole blocks only."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace OUTPUT if it exists.")]


def unhex(name: str, text: str) -> bytes:
    """Converts a hexadecimal command-line value to bytes; shows the value in no error message."""
    try:
        return bytes.fromhex(text.strip())
    except ValueError:
        raise MaeslantError(f"{name} is not hexadecimal") from None


def read_key(mode: str, key: str | None, key_file: str | None) -> bytearray:
    """Returns the AES key from the option --key or --key-file; checks the key's length."""
    if (key is None) == (key_file is None):
        raise MaeslantError("give the key by --key or by --key-file, and not by both")
    lengths = (32, 48, 64) if mode == "xts" else (16, 24, 32)
    if key is not None:
        value = unhex("--key", key)
    else:
        try:
            raw = pathlib.Path(key_file).read_bytes()
        except OSError as error:
            raise MaeslantError(f"{key_file}: {error.strerror}") from None
        value = raw
        # At most one random raw key in 10^15 consists of such bytes.
        if HEX.fullmatch(raw):
            value = unhex(key_file, raw.decode("ascii"))
        elif len(raw) not in lengths:
            raise MaeslantError(
                f"{key_file}: neither {', '.join(map(str, lengths))} bytes nor their hex"
            )
    if len(value) not in lengths:
        wanted = ", ".join(map(str, lengths))
        raise MaeslantError(f"the key has {len(value)} bytes; {mode} takes {wanted}")
    half = len(value) // 2
    if mode == "xts" and hmac.compare_digest(bytes(value[:half]), bytes(value[half:])):
        raise MaeslantError("the two keys of XTS are equal; take two (FIPS 140-3 IG C.I)")
    return bytearray(value)


def read_iv(mode: str, iv: str | None) -> bytes | None:
    """Returns the IV from the option --iv; None for ECB or if the library chooses a random IV."""
    if mode in (*AEAD, "gmac"):
        value = None if iv is None else unhex("--iv", iv)
        least, most = (7, 13) if mode == "ccm" else (1, 65536)
        if value is not None and not least <= len(value) <= most:
            raise MaeslantError(
                f"the IV has {len(value)} bytes; {mode} takes {least} to {most}, or draws one"
            )
        return value
    if mode in ("ecb", "cmac"):
        if iv is not None:
            raise MaeslantError(f"{mode.upper()} takes no --iv")
        return None
    if iv is None:
        raise MaeslantError(f"{mode} needs --iv, 16 bytes in hex")
    value = unhex("--iv", iv)
    if len(value) != BLOCK:
        raise MaeslantError(f"the IV has {len(value)} bytes, not 16")
    return value


def warn_of_short_iv(mode: str, iv: bytes | None) -> None:
    """Warns of a GCM IV of fewer than 12 bytes, because short random IVs soon repeat."""
    if iv is not None and mode in ("gcm", "gmac") and len(iv) < NONCE:
        err.print(
            f"warning: the IV has fewer bytes ({len(iv)}) than {mode} is made for ({NONCE}): it "
            "may come twice; two messages under one key and IV show both and let anybody forge",
            style="yellow",
            highlight=False,
        )


def computing(uri: str) -> str:
    """Returns the device URI unchanged; raises MaeslantError for "null:", a device without AES."""
    if uri == NULL:
        raise MaeslantError(f"{NULL} computes nothing: it measures the library")
    return uri


@contextlib.contextmanager
def byte_bar(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar over bytes; yields a function that advances the bar by a byte count."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
    with progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


def crypt(direction: int, input_name: str, output_name: str, options: dict) -> None:
    """Encrypts or decrypts a file as the options of the command line say."""
    mode = options["mode"].value
    authenticated = mode in AEAD
    if not authenticated and (options["aad"] is not None or options["aad_file"] is not None):
        raise MaeslantError(f"{mode} authenticates nothing: it takes no --aad")
    if options["as_json"] and output_name == "-":
        raise MaeslantError("--json goes to standard output, and so does OUTPUT -; name a file")
    key = read_key(mode, options["key"], options["key_file"])
    written = 0
    try:
        iv = read_iv(mode, options["iv"])
        if direction == ENCRYPT:
            warn_of_short_iv(mode, iv)
        aad = aead_files.read_aad(options["aad"], options["aad_file"])
        padding = mode in PADDED and not options["no_padding"]
        title = ("encrypting", "decrypting")[direction]
        withhold = authenticated and direction == DECRYPT
        with (
            message_files.source(input_name) as (source, size),
            message_files.destination(output_name, options["force"], withhold=withhold) as sink,
            opened(computing(options["device"])) as device,
            byte_bar(title, size) as seen,
        ):
            if authenticated:
                call = aead_files.encrypt if direction == ENCRYPT else aead_files.decrypt
                pieces = call(device, mode, key, iv, aad, source, size, seen)
            else:
                pieces = message_files.read(source, seen)
                pieces = message_files.crypt(device, mode, direction, key, iv, pieces, padding)
            # A failed write must not leave the generator, and its message, behind the device.
            with contextlib.closing(pieces):
                for piece in pieces:
                    sink.write(piece)
                    written += len(piece)
    finally:
        key[:] = bytes(len(key))
    if options["as_json"]:
        record = {"mode": mode, "device": options["device"], "output": output_name}
        print(json.dumps(record | {"bytes": written}, indent=1))


@app.command()
def encrypt(
    input_name: InputArg,
    output_name: OutputArg,
    mode: ModeOption,
    key: KeyOption = None,
    key_file: KeyFileOption = None,
    iv: IvOption = None,
    aad: AadOption = None,
    aad_file: AadFileOption = None,
    device: DeviceOption = DEFAULT_DEVICE,
    no_padding: PaddingOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Encrypt INPUT into OUTPUT, byte for byte as `openssl enc` does.

    gcm and ccm: the IV if it was drawn, then the ciphertext, then the tag of 16 bytes.
    """
    crypt(ENCRYPT, input_name, output_name, locals())


@app.command()
def decrypt(
    input_name: InputArg,
    output_name: OutputArg,
    mode: ModeOption,
    key: KeyOption = None,
    key_file: KeyFileOption = None,
    iv: IvOption = None,
    aad: AadOption = None,
    aad_file: AadFileOption = None,
    device: DeviceOption = DEFAULT_DEVICE,
    no_padding: PaddingOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Decrypt INPUT into OUTPUT; gcm and ccm write nothing before the tag is verified."""
    crypt(DECRYPT, input_name, output_name, locals())


@app.command()
def mac(
    input_name: InputArg,
    mode: Annotated[Mac, typer.Option("--mode", help="Kind of MAC.")],
    key: KeyOption = None,
    key_file: KeyFileOption = None,
    iv: IvOption = None,
    check: Annotated[
        str | None, typer.Option("--check", help="Verify this MAC instead of printing one.")
    ] = None,
    device: DeviceOption = DEFAULT_DEVICE,
    as_json: JsonOption = False,
) -> None:
    """Print the MAC of INPUT in hexadecimal; gmac prints the IV first if the library drew it."""
    name = mode.value
    secret = read_key(name, key, key_file)
    found = b""
    try:
        nonce = read_iv(name, iv)
        if check is None:
            warn_of_short_iv(name, nonce)
        expected = None if check is None else unhex("--check", check)
        length = TAG + (NONCE if name == "gmac" and nonce is None else 0)
        if expected is not None and len(expected) != length:
            raise MaeslantError(f"--check has {len(expected)} bytes, not {length}")
        with (
            message_files.source(input_name) as (source, size),
            opened(computing(device)) as handle,
            byte_bar("reading", size) as seen,
        ):
            pieces = message_files.read(source, seen)
            if name == "cmac" and expected is None:
                found = aead_files.cmac(handle, secret, pieces)
            elif name == "cmac":
                aead_files.check_cmac(handle, secret, expected, pieces)
            elif expected is None:
                found = aead_files.gmac(handle, secret, nonce, pieces)
            else:
                aead_files.check_gmac(handle, secret, nonce, expected, pieces)
    finally:
        secret[:] = bytes(len(secret))
    if as_json:
        made, checked = found or expected, not found
        drawn = {"iv": made[:-TAG].hex()} if len(made) > TAG else {}
        print(json.dumps({"mode": name, **drawn, "mac": made[-TAG:].hex(), "checked": checked}))
    elif found:
        print(found.hex())
