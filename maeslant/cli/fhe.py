# SPDX-License-Identifier: Apache-2.0
"""Defines the `maeslant` commands that compute on encrypted numbers (CKKS)."""

import json
import pathlib
from typing import Annotated

import typer
from rich.console import Console

from maeslant.cli.common import JsonOption, app

fhe = typer.Typer(help="Compute on encrypted data (CKKS).", no_args_is_help=True)
app.add_typer(fhe, name="fhe")


@fhe.command()
def matmul(
    left: Annotated[pathlib.Path, typer.Argument(metavar="A.npy", help="Matrix of up to 64 x 64.")],
    right: Annotated[
        pathlib.Path, typer.Argument(metavar="B.npy", help="Vector or matrix to encrypt.")
    ],
    encrypted: Annotated[bool, typer.Option("--encrypted", help="Encrypt A too.")] = False,
    large: Annotated[
        bool, typer.Option("--large", help="Use 8192 coefficients for vectors too.")
    ] = False,
    protected: Annotated[
        bool,
        typer.Option(
            "--protected", help="Compute on the protected card: keys and data are sealed."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Multiply A by an encrypted B on the card; compare with floating point and with SEAL."""
    from maeslant.fhe import demo

    found = demo.multiply(demo.load(left), demo.load(right), encrypted, large, protected)
    if as_json:
        print(json.dumps(found | {"result": found["result"].tolist()}))
    else:
        demo.show(found, Console())
    if not found["equal"]:
        raise typer.Exit(1)


@fhe.command()
def digits(
    images: Annotated[int, typer.Option("--images", help="Number of digits.")] = 8,
    as_json: JsonOption = False,
) -> None:
    """Classify encrypted handwritten digits by logistic regression on the card."""
    from maeslant.fhe import demo

    found = demo.digits(images)
    if as_json:
        print(json.dumps(found))
    else:
        print(
            f"{images} encrypted digits: {found['same']} labels as the plaintext model's, "
            f"{found['right']} right; {found['clocks'] // images:,} clocks an image"
        )
    if not found["equal"]:
        raise typer.Exit(1)
