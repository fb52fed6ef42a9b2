# SPDX-License-Identifier: Apache-2.0
"""Commands about the cards themselves: listed, built, measured, watched."""

import json
import pathlib
from typing import Annotated

import typer
from rich.console import Console

from maeslant.bench.measure.figures import show
from maeslant.cli.common import JsonOption, PublishOption, app, drawn, err, opened, waiting
from maeslant.driver.device import devices


@app.command("devices")
def list_devices(as_json: JsonOption = False) -> None:
    """What can be opened here."""
    from maeslant.driver import inventory

    inventory.show(devices(), as_json, Console())


@app.command()
def info(device: Annotated[str, typer.Argument()], as_json: JsonOption = False) -> None:
    """What DEVICE can do."""
    from maeslant.driver import inventory

    with opened(device) as handle:
        inventory.show_caps(handle.caps(), as_json, Console())


@app.command()
def build(
    names: Annotated[list[str], typer.Argument(help="Named builds.")], as_json: JsonOption = False
) -> None:
    """Make the simulated devices NAMES from the SystemVerilog."""
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
    parts: Annotated[list[str] | None, typer.Argument(help="Only these parts.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Every clock figure, out of simulation, beside its target and the papers'."""
    from maeslant.bench.measure.collect import all_figures

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
    from maeslant.bench import waves

    print(waves.make(target))


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
    publish: PublishOption = False,
) -> None:
    """AES on the PicoRV32: in software, over AXI4-Lite, through the arbiter; Kale's Figure 7."""
    from maeslant.bench.soc import report

    report.run(as_json, drawn(picture, publish, report), Console(), err)


@app.command(hidden=True)
def demo(file: Annotated[str, typer.Argument()] = "") -> None:
    """What `make run` shows: a file through the card, compared with OpenSSL."""
    from maeslant.cli import demo as demonstration

    demonstration.run(file, Console())
