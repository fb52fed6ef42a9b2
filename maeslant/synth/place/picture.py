# SPDX-License-Identifier: Apache-2.0
"""Draws a placed netlist: its cells in the core, coloured by what they are."""

import pathlib

from maeslant.synth.liberty import Library
from maeslant.synth.place.circuit import Circuit

FILE = "layout.png"
TONES = {  # of maeslant.build.pictures
    "flip-flops": "red",
    "exclusive-ors": "sky",
    "other gates": "rule",
    "clock tree": "green",
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
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    from maeslant.build import pictures

    shapes: dict[str, list] = {name: [] for name in TONES}
    row = circuit.technology.row
    for cell, (x, y) in circuit.at.items():
        width = circuit.technology.outlines[circuit.kinds[cell]].width
        corners = [(x, y), (x + width, y), (x + width, y + row), (x, y + row)]
        shapes[kind(circuit.kinds[cell], cell, library)].append(corners)
    width, height = circuit.core
    with pictures.drawing(1000, 1000 * height / width + 100) as (figure, axes):
        for name, tone in TONES.items():
            paint = {"facecolor": pictures.LIGHT[tone], "edgecolor": "none"}
            axes.add_collection(PolyCollection(shapes[name], **paint))
        axes.set(xlim=(0, width), ylim=(0, height), aspect="equal", xlabel="µm", ylabel="µm")
        axes.grid(visible=False)
        marks = [
            Patch(color=pictures.LIGHT[tone], label=f"{name}: {len(shapes[name]):,}")
            for name, tone in TONES.items()
        ]
        axes.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        figure.savefig(file)
