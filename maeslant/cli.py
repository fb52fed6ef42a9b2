# SPDX-License-Identifier: Apache-2.0
"""The command line: `maeslant COMMAND`. Thin: each command calls the module that does the work."""

import contextlib
import enum
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from maeslant import files, sealed
from maeslant.device import (
    AEAD,
    BLOCK,
    DECRYPT,
    ENCRYPT,
    MODES,
    NONCE,
    PADDED,
    TAG,
    Device,
    devices,
)
from maeslant.errors import MaeslantError
from maeslant.measure.figures import show

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="AES hardware: simulated, measured, and put to use.",
)
err = Console(stderr=True)
INTERRUPTED = 130  # 128 + SIGINT, as shells have it; what typer makes of KeyboardInterrupt
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
    typer.Option("--key-file", help="File with the key, raw or in hex; others cannot see it."),
]
IvOption = Annotated[
    str | None,
    typer.Option(
        "--iv",
        help="IV or first counter block, 16 bytes in hex. gcm, ccm, gmac: best left out, then one "
        "of 12 bytes is drawn and stands in front of the output. An IV that comes twice under one "
        "key breaks them.",
    ),
]
AadOption = Annotated[
    str | None, typer.Option("--aad", help="gcm, ccm: in hex, authenticated but not encrypted.")
]
AadFileOption = Annotated[
    str | None, typer.Option("--aad-file", help="gcm, ccm: the same, the bytes of a file.")
]
DeviceOption = Annotated[str, typer.Option("--device", help="See `maeslant devices`.")]
PaddingOption = Annotated[
    bool,
    typer.Option("--no-padding", help="ECB, CBC, PCBC: no PKCS#7, whole blocks only."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace OUTPUT if it exists.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def unhex(name: str, text: str) -> bytes:
    """Bytes of a hexadecimal option; the text itself is never repeated in an error."""
    try:
        return bytes.fromhex(text.strip())
    except ValueError:
        raise MaeslantError(f"{name} is not hexadecimal") from None


def read_key(mode: str, key: str | None, key_file: str | None) -> bytearray:
    """The key from one of the two options, with its length checked."""
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
        if len(raw) not in lengths:
            try:
                value = bytes.fromhex(raw.decode("ascii").strip())
            except (ValueError, UnicodeDecodeError):
                raise MaeslantError(
                    f"{key_file}: neither {', '.join(map(str, lengths))} bytes nor their hex"
                ) from None
    if len(value) not in lengths:
        wanted = ", ".join(map(str, lengths))
        raise MaeslantError(f"the key has {len(value)} bytes; {mode} takes {wanted}")
    return bytearray(value)


def read_iv(mode: str, iv: str | None) -> bytes | None:
    """The IV: the user's, or None in ECB and where the library draws one."""
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


@contextlib.contextmanager
def byte_bar(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar over bytes on a terminal, nothing elsewhere; gives its advance function."""
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


def opened(uri: str) -> Device:
    """Open a device; a simulated one is built first if need be, which takes a minute."""
    with err.status(f"opening {uri}") if err.is_terminal else contextlib.nullcontext():
        return Device(uri)


def crypt(direction: int, input_name: str, output_name: str, options: dict) -> None:
    """Encrypt or decrypt a file."""
    mode = options["mode"].value
    authenticated = mode in AEAD
    if not authenticated and (options["aad"] is not None or options["aad_file"] is not None):
        raise MaeslantError(f"{mode} authenticates nothing: it takes no --aad")
    key = read_key(mode, options["key"], options["key_file"])
    try:
        iv = read_iv(mode, options["iv"])
        aad = sealed.read_aad(options["aad"], options["aad_file"])
        padding = mode in PADDED and not options["no_padding"]
        title = ("encrypting", "decrypting")[direction]
        withhold = authenticated and direction == DECRYPT
        with (
            files.source(input_name) as (source, size),
            files.destination(output_name, options["force"], withhold=withhold) as sink,
            opened(options["device"]) as device,
            byte_bar(title, size) as seen,
        ):
            if authenticated:
                call = sealed.encrypt if direction == ENCRYPT else sealed.decrypt
                pieces = call(device, mode, key, iv, aad, source, size, seen)
            else:
                pieces = files.read(source, seen)
                pieces = files.crypt(device, mode, direction, key, iv, pieces, padding)
            for piece in pieces:
                sink.write(piece)
    finally:
        key[:] = bytes(len(key))


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
) -> None:
    """Encrypt INPUT into OUTPUT: the same bytes as `openssl enc`.

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
) -> None:
    """Decrypt INPUT into OUTPUT. gcm and ccm give out nothing before the tag was found right."""
    crypt(DECRYPT, input_name, output_name, locals())


@app.command()
def mac(
    input_name: InputArg,
    mode: Annotated[Mac, typer.Option("--mode", help="Kind of MAC.")],
    key: KeyOption = None,
    key_file: KeyFileOption = None,
    iv: IvOption = None,
    check: Annotated[
        str | None, typer.Option("--check", help="Say nothing, and fail unless this is the MAC.")
    ] = None,
    device: DeviceOption = DEFAULT_DEVICE,
) -> None:
    """Print the MAC of INPUT in hex; for gmac after its IV, if that was drawn."""
    name = mode.value
    secret = read_key(name, key, key_file)
    try:
        nonce = read_iv(name, iv)
        expected = None if check is None else unhex("--check", check)
        length = TAG + (NONCE if name == "gmac" and nonce is None else 0)
        if expected is not None and len(expected) != length:
            raise MaeslantError(f"--check has {len(expected)} bytes, not {length}")
        with (
            files.source(input_name) as (source, size),
            opened(device) as handle,
            byte_bar("reading", size) as seen,
        ):
            pieces = files.read(source, seen)
            if name == "cmac" and expected is None:
                print(sealed.cmac(handle, secret, pieces).hex())
            elif name == "cmac":
                sealed.check_cmac(handle, secret, expected, pieces)
            elif expected is None:
                print(sealed.gmac(handle, secret, nonce, pieces).hex())
            else:
                sealed.check_gmac(handle, secret, nonce, expected, pieces)
    finally:
        secret[:] = bytes(len(secret))


@app.command("devices")
def list_devices(as_json: JsonOption = False) -> None:
    """What can be opened here."""
    from maeslant import inventory

    inventory.show(devices(), as_json, Console())


@app.command()
def info(device: Annotated[str, typer.Argument()], as_json: JsonOption = False) -> None:
    """What DEVICE can do."""
    from maeslant import inventory

    with opened(device) as handle:
        inventory.show_caps(handle.caps(), as_json, Console())


@app.command()
def build(names: Annotated[list[str], typer.Argument(help="Named builds.")]) -> None:
    """Make the simulated devices NAMES from the SystemVerilog."""
    from maeslant import simbuild

    for name in names:
        with err.status(f"building {name}"):
            path = simbuild.build(name)
        print(path)


@app.command()
def measure(
    parts: Annotated[list[str] | None, typer.Argument(help="Only these parts.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Every clock figure, out of simulation, beside its target and the papers'."""
    from maeslant.measure.collect import all_figures

    figures = all_figures(parts, err)
    show(figures, as_json, Console())
    if any(figure.met() is False for figure in figures):
        raise typer.Exit(1)


@app.command()
def bench(as_json: JsonOption = False, quick: Annotated[bool, typer.Option()] = False) -> None:
    """Software AES on this CPU beside the card, over sizes: the papers' tables, regenerated."""
    from maeslant.bench import report

    report.run(as_json, quick, Console(), err)


@app.command()
def wave(
    target: Annotated[str, typer.Argument(metavar="TEST|BUILD", help="tests/... or a named build")],
) -> None:
    """Make a waveform of a test file or of a build at work, and say how to open it."""
    from maeslant import waves

    print(waves.make(target))


@app.command()
def attack(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Attack, family (flip), requirement (H7), flip/*."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    card: Annotated[bool, typer.Option("--card/--model", help="The simulated card or a model.")] = (
        True
    ),
    p0: Annotated[
        bool, typer.Option("--p0", help="The tag oracle: the paper's mode falls.")
    ] = False,
    fuzz: Annotated[int, typer.Option("--fuzz", help="So many random manipulations.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of the random ones.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Stand between driver and card: what each attack would have got, and where it was caught."""
    from maeslant import attacks

    console = Console()
    if not (names or every or p0 or fuzz):
        attacks.show_catalogue(console)
        return
    good = True
    if p0:
        good &= attacks.run_p0(card, console)
    if names or every:
        good &= attacks.run(names or [], every, card, as_json, console, err)
    if fuzz:
        good &= attacks.run_fuzz(fuzz, seed, card, console, err)
    if not good:
        raise typer.Exit(1)


@app.command()
def infer(
    images: Annotated[int, typer.Option("--images", help="How many digits.")] = 300,
    unprotected: Annotated[
        bool, typer.Option("--unprotected", help="On the card without a guard.")
    ] = False,
    card: Annotated[bool, typer.Option("--card/--model", help="The simulated card or a model.")] = (
        True
    ),
    as_json: JsonOption = False,
) -> None:
    """Classify handwritten digits on the accelerator behind the guard."""
    from maeslant import inference

    if not inference.run(images, not unprotected, card, as_json, Console(), err):
        raise typer.Exit(1)


@app.command()
def overhead(
    as_json: JsonOption = False,
    picture: Annotated[
        pathlib.Path | None, typer.Option("--picture", help="Draw here, .svg or .png.")
    ] = None,
) -> None:
    """Paper 000's Table 3: what protection adds to the transfers of three networks."""
    from maeslant.overhead import report

    report.run(as_json, picture or report.PICTURE, Console(), err)


soc_app = typer.Typer(no_args_is_help=True, help="The PicoRV32 system with the memory arbiter.")
app.add_typer(soc_app, name="soc")


@soc_app.callback()
def soc() -> None:
    """The PicoRV32 system with the memory arbiter."""


@soc_app.command("run")
def soc_run(
    as_json: JsonOption = False,
    picture: Annotated[
        pathlib.Path | None, typer.Option("--picture", help="Draw here, .svg or .png.")
    ] = None,
) -> None:
    """AES on the PicoRV32: in software, over AXI4-Lite, through the arbiter; P3's Figure 7."""
    from maeslant.soc import report

    report.run(as_json, picture or report.PICTURE, Console(), err)


@app.command(hidden=True)
def demo(file: Annotated[str, typer.Argument()] = "") -> None:
    """What `make run` shows: a file through the card, compared with OpenSSL."""
    from maeslant import demo as demonstration

    demonstration.run(file, Console())


def main() -> int:
    """Run the command line; every error is one line on standard error, never a traceback."""
    try:
        status = app(standalone_mode=False) or 0  # of a command that ended by typer.Exit
        if status == INTERRUPTED:
            err.print("interrupted", style="red")
        return status
    except typer.Abort:
        err.print("interrupted", style="red")
        return INTERRUPTED
    except MaeslantError as error:
        err.print(f"[red]error:[/] {error}", highlight=False)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; silence the flush at exit too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        err.print(f"[red]error:[/] {error.strerror}: {error.filename or ''}", highlight=False)
        return 1
    except Exception as error:  # click's usage errors, which know how to show themselves
        if not hasattr(error, "show"):
            raise
        error.show()
        return error.exit_code
    return 0
