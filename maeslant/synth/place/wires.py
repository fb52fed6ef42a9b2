# SPDX-License-Identifier: Apache-2.0
"""Tells OpenSTA what placed wires weigh: as SPEF, or as loads while the netlist changes.

OpenSTA's own parasitics do not survive a changed net. So while a netlist is mended each net carries
one more cell, whose pin weighs what the wire does; a buffer put before loads takes that with them.
Such a wire has no resistance. In SPEF it has: each branch of the tree half its capacitance at
either end.
"""

import dataclasses
import pathlib
import re
from collections.abc import Iterator

from maeslant.synth.liberty import Library
from maeslant.synth.place.circuit import Circuit, Tree
from maeslant.synth.place.lef import Wire

STEP_FF = 0.2  # loads are rounded to this
LOAD = "wire_of_"
HEAD = """*SPEF "IEEE 1481-1998"
*DESIGN "{top}"
*DATE "-"
*VENDOR "-"
*PROGRAM "-"
*VERSION "1"
*DESIGN_FLOW "-"
*DIVIDER /
*DELIMITER :
*BUS_DELIMITER []
*T_UNIT 1 NS
*C_UNIT 1 FF
*R_UNIT 1 OHM
*L_UNIT 1 HENRY

"""


def without_model(library: Library, folder: pathlib.Path, loads: int = 0) -> Library:
    """Returns a library without its model of wires, and with so many kinds of loads."""
    text = library.path.read_text(errors="replace")
    text = re.sub(r"\bdefault_wire_load\s*:[^;]*;", "", text)
    unit = re.search(r"capacitive_load_unit\s*\(\s*([\d.]+)\s*,\s*\"?(\w+)", text)
    femto = float(unit[1]) * {"ff": 1, "pf": 1000}[unit[2].lower()]
    more = "".join(
        f"cell (WIRE_{number}) {{ area : 0; pin (A) {{ direction : input; "
        f"capacitance : {number * STEP_FF / femto:.6g}; }} }}\n"
        for number in range(1, loads + 1)
    )
    end = text.rindex("}")
    path = folder / "placed.lib"
    path.write_text(text[:end] + more + text[end:])
    return dataclasses.replace(library, path=path, wire_load=None)


def loads(circuit: Circuit, skipped: set[str]) -> tuple[str, int]:
    """Returns a netlist's text with a load on each net, and how many kinds of loads there are."""
    added, most = [], 1
    for number, net in enumerate(circuit.nets):
        if net in skipped:
            continue
        size = round(circuit.tree(net).um * circuit.technology.signal.ff / STEP_FF)
        if size:
            most = max(most, size)
            end = " " if net.startswith("\\") else ""  # of an escaped name
            added.append(f"  WIRE_{size} {LOAD}{number} (\n    .A({net}{end})\n  );\n")
    text = re.sub(r"(?m)^endmodule", lambda end: "".join(added) + end[0], circuit.text)
    return text, most


def without_loads(text: str) -> str:
    """Returns a netlist's text without the loads that stood for wires."""
    return re.sub(rf"(?m)^  WIRE_\d+ {LOAD}\d+ \(\n(?:    \..*\n)+  \);\n", "", text)


def write_spef(
    circuit: Circuit, top: str, clocks: set[str], skipped: set[str], file: pathlib.Path
) -> None:
    """Writes the wires of all nets as SPEF; those of ``clocks`` are in the clock's metal."""
    with open(file, "w") as out:
        out.write(HEAD.format(top=top))
        for net, pins in circuit.nets.items():
            if net not in skipped and len(pins) > 1:
                wire = circuit.technology.clock if net in clocks else circuit.technology.signal
                out.writelines(_net(net, circuit.tree(net), wire))


def _net(net: str, tree: Tree, wire: Wire) -> Iterator[str]:
    """Yields the lines of a net in SPEF."""
    names = [f"{_escape(cell)}:{pin}" if cell else _escape(pin) for cell, pin in tree.pins]
    charge = [0.0] * len(names)
    for start, end, um in tree.branches:
        for pin in (start, end):
            charge[pin] += um * wire.ff / 2
    yield f"*D_NET {_escape(net)} {tree.um * wire.ff:.4f}\n*CONN\n"
    for name, (cell, _) in zip(names, tree.pins, strict=True):
        yield f"*{'I' if cell else 'P'} {name} B\n"
    yield "*CAP\n"
    for number, (name, ff) in enumerate(zip(names, charge, strict=True), 1):
        yield f"{number} {name} {ff:.5f}\n"
    yield "*RES\n"
    for number, (start, end, um) in enumerate(tree.branches, 1):
        yield f"{number} {names[start]} {names[end]} {max(um * wire.ohm, 1e-3):.4f}\n"
    yield "*END\n\n"


def _escape(name: str) -> str:
    r"""Returns a name in SPEF: of an escaped name each special sign with a backslash before it."""
    if name.startswith("\\"):
        return re.sub(r"(\W)", r"\\\1", name[1:].strip())
    return re.sub(r"\s", "", name)
