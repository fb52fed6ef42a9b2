# SPDX-License-Identifier: Apache-2.0
"""Defines the `maeslant` commands that synthesize designs and list their files."""

import json
import os
import pathlib
from typing import Annotated

import typer
from rich.console import Console

from maeslant import progress
from maeslant.cli.common import JsonOption, app, err
from maeslant.errors import MaeslantError


@app.command()
def synth(
    part: Annotated[
        str | None,
        typer.Argument(
            metavar="PART|BUILD|FILE.sv",
            help="Named build, module of rtl/, or file that is named after its module.",
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            help="nangate45, sky130, ihp, ecp5, gw5a, gatemate, xc7, or a Liberty file.",
        ),
    ] = "nangate45",
    period: Annotated[
        float | None,
        typer.Option(
            "--period", help="Clock period in ns, met in the smallest area; default: shortest."
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", "-G", metavar="PARAMETER=VALUE", help="Set a parameter."),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", help="FPGAs but xc7: number of place-and-route runs.")
    ] = 5,
    flatten: Annotated[
        bool | None,
        typer.Option(
            "--flatten/--keep", help="Flatten modules before mapping; default: unless many lanes."
        ),
    ] = None,
    abc: Annotated[
        str | None,
        typer.Option(
            "--map", help="ABC script: least, small, density or speed; default: by the period."
        ),
    ] = None,
    power: Annotated[
        bool, typer.Option("--power", help="Simulate the netlist and estimate its power.")
    ] = False,
    placed: Annotated[
        bool,
        typer.Option("--place", help="Place the netlist, mend it, add a clock tree (nangate45)."),
    ] = False,
    simulated: Annotated[
        bool, typer.Option("--simulate", help="Run the module's own tests on the netlist.")
    ] = False,
    proved: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Prove by SAT that the netlist is equal to the RTL; with --tables, those netlists "
            "that no check has seen.",
        ),
    ] = False,
    tables: Annotated[
        bool,
        typer.Option("--tables", help="Write the papers' tables in build/reports; takes hours."),
    ] = False,
    finished: Annotated[
        bool, typer.Option("--finished", help="--tables: use finished reports only.")
    ] = False,
    public: Annotated[
        bool,
        typer.Option("--publish", help="--tables, --renew: write to results/ of the repository."),
    ] = False,
    renewed: Annotated[
        bool,
        typer.Option(
            "--renew",
            help="Find published reports (of PART, or all) whose RTL has changed, not its logic; "
            "with --publish renew them.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Synthesize PART in a technology; print its area, clock and critical path."""
    from maeslant.synth import flow, prove, simulate, synthesize
    from maeslant.synth import show as pages

    how = given or power or placed or simulated or period or abc or flatten is not None
    if renewed:
        if tables or finished or how or proved or seeds != flow.SEEDS or target != "nangate45":
            raise MaeslantError(
                "--renew takes PART, --publish and --json: what it renews is as it was published"
            )
        pages.renewed(part, public, as_json, Console(), err)
        return
    if tables:
        if part or how:
            raise MaeslantError(
                "--tables has its own points: it takes no PART, nor how to make one"
            )
        pages.tables(not finished, public, proved, as_json, Console(), err)
        return
    if finished or public:
        raise MaeslantError("--finished goes with --tables, --publish with that or --renew")
    if part is None:
        raise MaeslantError("name a build or a module to synthesize, or ask for --tables")
    if simulated:
        flow.check_simulation(part, target)
    with progress.steps(part, err) as tell:
        report = synthesize(
            part,
            target,
            pages.settings(given),
            period_ns=period,
            power=power,
            placed=placed,
            seeds=seeds,
            flatten=flatten,
            abc=abc,
            tell=tell,
        )
        tests = simulate(report, target, tell) if simulated else None
        proof = prove(report, target, tell) if proved else None
    pages.show(report, tests, proof, as_json, Console())


@app.command()
def files(
    part: Annotated[
        str, typer.Argument(help="Named build, module of rtl/, or file.", metavar="PART")
    ],
    given: Annotated[
        list[str] | None,
        typer.Option("--set", "-G", metavar="PARAMETER=VALUE", help="Set a parameter (--plain)."),
    ] = None,
    as_plain: Annotated[
        bool, typer.Option("--plain", help="Print one plain Verilog file instead of the list.")
    ] = False,
    technology: Annotated[
        str,
        typer.Option(
            "--technology",
            help="Views of RAM, synchronizers and clock gate: generic, xc7, ecp5, gowin, "
            "gatemate or nangate45.",
        ),
    ] = "generic",
    as_json: JsonOption = False,
) -> None:
    """List the SystemVerilog files of PART in compilation order."""
    from maeslant import paths
    from maeslant.synth import show as pages
    from maeslant.synth import sources

    values = pages.settings(given)
    if as_plain:
        text = sources.plain(part, values, technology)
        typer.echo(json.dumps({"verilog": text}) if as_json else text, nl=as_json)
        return
    if values:
        raise MaeslantError("the list is the same for all parameters: -G goes with --plain")
    found = [str(path) for path in sources.ordered(part, None, technology)]
    include = str(sources.include_folder())
    if as_json:
        typer.echo(json.dumps({"include": [include], "files": found, "root": str(paths.ROOT)}))
        return
    typer.echo("\n".join([f"+incdir+{include}", *found]))


@app.command()
def constraints(
    part: Annotated[
        str, typer.Argument(help="Named build, module of rtl/, or file.", metavar="PART")
    ],
    form: Annotated[
        str, typer.Option("--format", help="sdc, or xdc for AMD Vivado.", metavar="FORMAT")
    ] = "sdc",
    clock: Annotated[
        list[str] | None,
        typer.Option("--clock", metavar="NAME=NS", help="Period of a clock; default 10 ns."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print timing constraints of PART: clocks, ports, resets, crossings."""
    from maeslant.synth import constraints as lines

    periods = {}
    for word in clock or []:
        name, _, value = word.partition("=")
        try:
            periods[name] = float(value)
        except ValueError:
            raise MaeslantError(f"--clock {word}: NAME=NS, as clk_i=4") from None
    text = lines.text(part, form, periods)
    typer.echo(json.dumps({form: text}) if as_json else text, nl=as_json)


@app.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
def verilator(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of Verilator.", metavar="ARGUMENTS")
    ] = None,
) -> None:
    """Run the Verilator that maeslant simulates with."""
    from maeslant.build import toolchain

    program = toolchain.verilator()
    os.execv(program, [program, *(arguments or [])])


@app.command()
def explore(
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="Technology, or path of a Liberty file; default: all."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Synthesize the smallest cores only.")
    ] = False,
    finished: Annotated[
        bool, typer.Option("--finished", help="Draw finished reports; synthesize nothing.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="tcp://HOST:PORT", help="Dask scheduler to use."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of parallel jobs; default: CPU cores."),
    ] = None,
    out: Annotated[
        pathlib.Path | None,
        typer.Option("--out", help="File of the page; default: build/reports/explore.html."),
    ] = None,
    picture: Annotated[
        pathlib.Path | None,
        typer.Option("--picture", help="File of the first plot, an SVG."),
    ] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--publish", help="Write page, picture and reports to results/ of the repository."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Synthesize the designs of configs/explore.yml and draw a page for choosing a core."""
    from maeslant.synth.explore import command

    if finished and (cluster or jobs):
        raise MaeslantError("--finished synthesizes nothing: leave --cluster and --jobs out")
    consoles = Console(), err
    how = (target or [], quick, finished, cluster, jobs, out, picture, as_json)
    if not command.run(*how, *consoles, public=public):
        raise typer.Exit(1)
