# SPDX-License-Identifier: Apache-2.0
"""Defines options and functions that several `maeslant` commands use."""

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console

from maeslant.driver import pool
from maeslant.driver.device import Device
from maeslant.errors import MaeslantError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Simulate, measure and use AES hardware.",
)
err = Console(stderr=True)
DeviceOption = Annotated[
    str,
    typer.Option(
        "--device",
        help="Device to use, see `maeslant devices`; pool:CARD,3*CARD for several cards, "
        "pool:tcp://HOST:PORT for the cards of a Dask cluster.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


PictureOption = Annotated[
    pathlib.Path | None, typer.Option("--picture", help="File of the picture, .svg or .png.")
]
PublishOption = Annotated[
    bool,
    typer.Option("--publish", help="Write the published picture or record in results/."),
]


def drawn(picture: pathlib.Path | None, publish: bool, report: object) -> pathlib.Path:
    """Returns the path to which a command draws its plot, by its options --picture and --publish.

    A path that cannot be drawn to is refused here, before anything is measured.
    """
    if picture and publish:
        raise MaeslantError("--publish draws in results/: it takes no --picture")
    path = report.PUBLISHED if publish else picture or report.PICTURE
    if path == report.PICTURE:
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix not in (".svg", ".png"):
        raise MaeslantError(f"{path}: the picture is a .svg or a .png")
    if not path.parent.is_dir():
        raise MaeslantError(f"{path.parent}: there is no such folder")
    return path


@contextlib.contextmanager
def waiting(text: str) -> Iterator[None]:
    """Shows a spinner with a text on the terminal while a command waits."""
    with err.status(text) if err.is_terminal else contextlib.nullcontext():
        yield


def opened(uri: str) -> Device | pool.Pool:
    """Opens and returns the device or pool that a URI names; builds a simulated device first."""
    with waiting(f"opening {uri}"):
        return pool.opened(uri) if uri.startswith("pool:") else Device(uri)
