# SPDX-License-Identifier: Apache-2.0
"""Defines the `maeslant` commands that list, build, measure and trace devices."""

import json
from typing import Annotated

import typer
from rich.console import Console

from maeslant.bench.measure.figures import show
from maeslant.cli.common import (
    JsonOption,
    PictureOption,
    PublishOption,
    app,
    drawn,
    err,
    opened,
    waiting,
)
from maeslant.driver.device import devices
from maeslant.errors import MaeslantError


@app.command("devices")
def list_devices(as_json: JsonOption = False) -> None:
    """List the devices that can be opened."""
    from maeslant.driver import inventory

    inventory.show(devices(), as_json, Console())


@app.command()
def info(device: Annotated[str, typer.Argument()], as_json: JsonOption = False) -> None:
    """Print the capabilities of DEVICE."""
    from maeslant.driver import inventory

    with opened(device) as handle:
        inventory.show_caps(handle.caps(), as_json, Console())


@app.command()
def build(
    names: Annotated[list[str], typer.Argument(help="Named builds to simulate.")],
    as_json: JsonOption = False,
) -> None:
    """Build the simulated devices NAMES from their SystemVerilog."""
    from maeslant.build import simulator

    made = {}
    for name in names:
        with waiting(f"building {name}"):
            made[name] = str(simulator.build(name))
        if not as_json:
            print(made[name])
    if as_json:
        print(json.dumps(made, indent=1))


@app.command()
def measure(
    parts: Annotated[
        list[str] | None, typer.Argument(help="Parts to measure; all by default.")
    ] = None,
    as_json: JsonOption = False,
    picture: PictureOption = None,
    publish: PublishOption = False,
) -> None:
    """Measure every clock figure in simulation, beside its target and the published value.

    The part `messages` draws a picture, too: --picture FILE, or --publish.
    """
    from maeslant.bench.measure.collect import all_figures

    path = None
    if picture or publish:
        from maeslant.bench.measure import messages_plot

        path = drawn(picture, publish, messages_plot)
    figures = all_figures(parts, err)
    show(figures, as_json, Console())
    if path:
        messages_plot.draw(figures, path)
        err.print(f"The picture: {path}", highlight=False)
    if any(figure.met() is False for figure in figures):
        raise typer.Exit(1)


@app.command()
def bench(
    as_json: JsonOption = False,
    quick: Annotated[bool, typer.Option(help="Fewer sizes and rounds.")] = False,
    of_driver: Annotated[
        bool, typer.Option("--driver", help="Time the C driver's part of a job instead.")
    ] = False,
    of_openssl: Annotated[
        bool, typer.Option("--openssl", help="Compare OpenSSL with its provider's card instead.")
    ] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Write results/bench.json of the repository.")
    ] = False,
) -> None:
    """Time AES in software on this CPU and on the card, over sizes: the papers' tables."""
    from maeslant.bench import driver, openssl, report

    if of_driver + of_openssl + publish > 1:
        raise MaeslantError("only one of --driver, --openssl and --publish can be taken")
    if of_driver:
        driver.run(as_json, quick, Console())
    elif of_openssl:
        openssl.run(as_json, quick, Console())
    else:
        report.run(as_json, quick, Console(), err, publish)


@app.command()
def wave(
    target: Annotated[
        str, typer.Argument(metavar="TEST|BUILD", help="Test file or named build to trace.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Write a waveform of a test file or of a running build, and print how to open it."""
    from maeslant.bench import waves

    waves.run(target, as_json)


soc_app = typer.Typer(
    no_args_is_help=True, help="Run programs on the PicoRV32 system with the memory arbiter."
)
app.add_typer(soc_app, name="soc")


@soc_app.callback()
def soc() -> None:
    """Run programs on the PicoRV32 system with the memory arbiter."""


@soc_app.command("run")
def soc_run(
    as_json: JsonOption = False,
    picture: PictureOption = None,
    publish: PublishOption = False,
) -> None:
    """Measure AES on the PicoRV32: software, AXI4-Lite, memory arbiter; Kale's Figure 7."""
    from maeslant.bench.soc import report

    report.run(as_json, drawn(picture, publish, report), Console(), err)


@app.command(hidden=True)
def demo(file: Annotated[str, typer.Argument()] = "") -> None:
    """Encrypt a file on the card and compare it with OpenSSL, as `make run` does."""
    from maeslant.cli import demo as demonstration

    demonstration.run(file, Console())
