# SPDX-License-Identifier: Apache-2.0
"""Defines the commands for the protected card: attacks, inference, overhead."""

import json
import pathlib
from typing import Annotated

import typer
from rich.console import Console

from maeslant import paths
from maeslant.cli.common import JsonOption, PictureOption, PublishOption, app, drawn, err
from maeslant.errors import MaeslantError


@app.command()
def attack(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Attack, family (flip), requirement (H7) or pattern (flip/*)."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all attacks.")] = False,
    card: Annotated[
        bool,
        typer.Option(
            "--card/--model", help="Attack the card's RTL or a model of it, under the C driver."
        ),
    ] = True,
    build: Annotated[
        str,
        typer.Option("--build", help="Card to attack, such as protected_fpga_small."),
    ] = "protected_small",
    ghosh: Annotated[
        bool, typer.Option("--ghosh", help="Attack the protocol of Ghosh et al., in RTL too.")
    ] = False,
    fuzz: Annotated[int, typer.Option("--fuzz", help="Number of random manipulations.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random manipulations.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Attack the link between driver and card; print who detected each attack."""
    from maeslant.protected import attack_runs, ghosh_runs

    console = Console()
    if as_json and bool(names or every) + ghosh + bool(fuzz) > 1:
        raise MaeslantError("--json prints one of these: NAME or --all, --ghosh, --fuzz")
    if not (names or every or ghosh or fuzz):
        attack_runs.show_catalogue(as_json, console)
        return
    attacked = build if card else None
    good = True
    if ghosh:
        good &= ghosh_runs.run_ghosh(attacked, as_json, console)
    if names or every:
        good &= attack_runs.run(names or [], every, attacked, as_json, console, err)
    if fuzz:
        good &= attack_runs.run_fuzz(fuzz, seed, attacked, as_json, console, err)
    if not good:
        raise typer.Exit(1)


@app.command()
def infer(
    images: Annotated[int, typer.Option("--images", help="Number of digits.")] = 300,
    unprotected: Annotated[
        bool, typer.Option("--unprotected", help="Use the unprotected card.")
    ] = False,
    card: Annotated[
        bool, typer.Option("--card/--no-card", help="Use the simulated card, or a model of it.")
    ] = True,
    network: Annotated[
        str | None,
        typer.Option("--network", help="Network made here: resnet18, googlenet, alexnet, digits."),
    ] = None,
    model: Annotated[
        pathlib.Path | None,
        typer.Option("--model", help="An ONNX file, int8 in QDQ or QOperator form."),
    ] = None,
    source: Annotated[
        pathlib.Path | None, typer.Option("--input", help="The network's input, .npy.")
    ] = None,
    layers: Annotated[
        bool, typer.Option("--layers/--no-layers", help="Compare the maps of all layers.")
    ] = True,
    both: Annotated[
        bool,
        typer.Option("--both", help="Run a network on both cards and compare their bytes, clocks."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Classify handwritten digits, or run a network of an ONNX file, on the protected card."""
    if network or model or source:
        from maeslant.nn import inference as networks

        if not card:
            raise MaeslantError("networks of ONNX files run on the simulated card only")
        if both and unprotected:
            raise MaeslantError("give --both or --unprotected, not both of them")
        console = Console()
        cards = [True, False] if both else [not unprotected]
        if not networks.run(network, model, source, cards, layers, as_json, console, err):
            raise typer.Exit(1)
        return
    if both:
        raise MaeslantError("--both is for networks: --network or --model")
    from maeslant.protected import inference

    if not inference.run(images, not unprotected, card, as_json, Console(), err):
        raise typer.Exit(1)


@app.command()
def overhead(
    as_json: JsonOption = False,
    picture: PictureOption = None,
    publish: PublishOption = False,
    inferences: Annotated[
        bool, typer.Option("--inferences", help="Measure only the inferences of published records.")
    ] = False,
) -> None:
    """Measure what protection adds to the transfers of three networks; Ghosh et al.'s Table 3."""
    from maeslant.bench.overhead import report

    if inferences:
        if picture is not None:
            raise MaeslantError("--inferences makes no picture; leave --picture out")
        folder = paths.RESULTS if publish else paths.BUILD / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        found = report.renew_inferences(err, folder)
        Console().print_json(json.dumps(found))
        names = ", ".join(str(file) for file in sorted(folder.glob("overhead_*.json")))
        err.print(f"written: {names}", highlight=False, soft_wrap=True)
        return
    report.run(as_json, drawn(picture, publish, report), Console(), err)
