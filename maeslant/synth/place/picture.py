# SPDX-License-Identifier: Apache-2.0
"""Draws a placed netlist: its cells in the core, coloured by what they are."""

import pathlib

from maeslant.synth.liberty import Library
from maeslant.synth.place.circuit import Circuit

FILE = "layout.png"
COLOURS = {  # tab10's, apart for all kinds of sight
    "flip-flops": "#d62728",
    "exclusive-ors": "#1f77b4",
    "other gates": "#c7c7c7",
    "clock tree": "#2ca02c",
}


def kind(cell: str, name: str, library: Library) -> str:
    """Returns what a cell is called in the picture."""
    if name.startswith("tree_"):
        return "clock tree"
    if library.cells[cell].sequential:
        return "flip-flops"
    return "exclusive-ors" if cell.startswith(("XOR", "XNOR")) else "other gates"


def draw(circuit: Circuit, library: Library, file: pathlib.Path) -> None:
    """Draws a placed netlist to a PNG file; lengths are in µm."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    shapes: dict[str, list] = {name: [] for name in COLOURS}
    row = circuit.technology.row
    for cell, (x, y) in circuit.at.items():
        width = circuit.technology.outlines[circuit.kinds[cell]].width
        corners = [(x, y), (x + width, y), (x + width, y + row), (x, y + row)]
        shapes[kind(circuit.kinds[cell], cell, library)].append(corners)
    figure = Figure(figsize=(8, 8.6), dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, colour in COLOURS.items():
        axes.add_collection(PolyCollection(shapes[name], facecolor=colour, edgecolor="none"))
    axes.set(xlim=(0, circuit.core[0]), ylim=(0, circuit.core[1]), aspect="equal")
    axes.set(xlabel="µm", ylabel="µm")
    marks = [
        Patch(color=colour, label=f"{name}: {len(shapes[name]):,}")
        for name, colour in COLOURS.items()
    ]
    axes.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.savefig(file)
