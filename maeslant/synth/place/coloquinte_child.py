# SPDX-License-Identifier: Apache-2.0
"""Places standard cells by Coloquinte: a program of its own, so that it can be stopped any time.

usage: coloquinte_child.py PROBLEM PLACES

PROBLEM: JSON, see placer.problem. PLACES: JSON, x and y of all cells' lower left corners. Lengths
are whole numbers of the problem's unit. Cells of odd rows are turned upside down.
"""

import ctypes
import json
import sys

import coloquinte


def flush(_: object) -> None:
    """Writes what the placer has told so far, after each of its steps."""
    ctypes.CDLL(None).fflush(None)


def main(source: str, target: str) -> None:
    """Places the cells of a problem."""
    with open(source) as file:
        problem = json.load(file)
    circuit = coloquinte.Circuit(len(problem["x"]))
    for name in ("x", "y", "width", "height", "is_fixed", "is_obstruction"):
        setattr(circuit, f"cell_{name}", problem[name])
    circuit.cell_row_polarity = [coloquinte.CellRowPolarity.SAME] * len(problem["x"])
    for net in problem["nets"]:
        circuit.add_net(*net)
    width, height = problem["core"]
    circuit.setup_rows(coloquinte.Rectangle(0, width, 0, height), problem["row"], True, False)
    settings = coloquinte.ColoquinteParameters(problem["effort"], seed=1)
    circuit.place_global(settings, flush)
    circuit.legalize(settings)
    circuit.place_detailed(settings, flush)
    with open(target, "w") as file:
        json.dump([circuit.cell_x, circuit.cell_y], file)


if __name__ == "__main__":
    main(*sys.argv[1:])
