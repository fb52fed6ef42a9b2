# SPDX-License-Identifier: Apache-2.0
"""What all commands share: the application, its options and how a device is opened."""

import contextlib
from typing import Annotated

import typer
from rich.console import Console

from maeslant import pool
from maeslant.device import Device

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="AES hardware: simulated, measured, and put to use.",
)
err = Console(stderr=True)
DeviceOption = Annotated[
    str,
    typer.Option(
        "--device",
        help="See `maeslant devices`. pool:CARD,3*CARD for several at once, "
        "pool:tcp://HOST:PORT for those of a Dask cluster.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def opened(uri: str) -> Device | pool.Pool:
    """Open a device or a pool; simulated ones are built first if need be, which takes a minute."""
    with err.status(f"opening {uri}") if err.is_terminal else contextlib.nullcontext():
        return pool.opened(uri) if uri.startswith("pool:") else Device(uri)
