# SPDX-License-Identifier: Apache-2.0
"""Defines a measured figure, with target and published value, and prints tables of them."""

import dataclasses
import json

from rich.console import Console
from rich.table import Table


@dataclasses.dataclass
class Figure:
    """Holds a figure measured in simulation, with its target and the published value.

    ``better`` is "lower" or "higher"; ``target`` is what the architecture asks (None where it
    asks for no figure); ``paper`` what a published system reached, with its name in ``source``.
    """

    part: str
    config: str
    metric: str
    value: float
    unit: str
    better: str
    target: float | None = None
    paper: str = ""
    source: str = ""

    def met(self) -> bool | None:
        """Returns true if the measured figure reaches its target, None if it has no target."""
        if self.target is None:
            return None
        if self.better == "lower":
            return self.value <= self.target
        return self.value >= self.target


def number(value: float) -> str:
    """Returns the text of a measured figure: without decimals if whole, else with four digits."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def show(figures: list[Figure], as_json: bool, console: Console) -> None:
    """Prints measured figures as a table or as a JSON list."""
    if as_json:
        print(json.dumps([dataclasses.asdict(figure) for figure in figures], indent=1))
        return
    if not console.is_terminal:
        console.width = 150
    table = Table(title="Clock figures, out of simulation")
    for name, justify in (
        ("part", "left"),
        ("config", "left"),
        ("metric", "left"),
        ("value", "right"),
        ("target", "right"),
        ("", "left"),
        ("papers", "left"),
    ):
        table.add_column(name, justify=justify)
    part = None
    for figure in figures:
        if part not in (None, figure.part):
            table.add_section()
        sign = {None: "", True: "[green]✓[/]", False: "[red]✗[/]"}[figure.met()]
        limit = "≤" if figure.better == "lower" else "≥"
        table.add_row(
            figure.part if figure.part != part else "",
            figure.config,
            figure.metric,
            f"{number(figure.value)} {figure.unit}",
            "" if figure.target is None else f"{limit} {number(figure.target)}",
            sign,
            figure.paper,
        )
        part = figure.part
    console.print(table)
