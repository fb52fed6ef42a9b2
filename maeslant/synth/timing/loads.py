# SPDX-License-Identifier: Apache-2.0
"""Makes the cells of a netlist larger that drive more than their library allows.

ABC sizes for the period that is asked for. Where that is long, it leaves a small cell in front of
many others, whose slow edges the library has no figures for.
"""

import pathlib

from maeslant.synth.liberty import Library
from maeslant.synth.power import estimate, levels
from maeslant.synth.timing import repair


def overloaded(netlist: pathlib.Path, top: str, library: Library) -> dict[str, str]:
    """Returns the cells of a netlist that drive too much, by name: their types.

    Wires weigh what the library's model says of their fan-out.
    """
    design = levels.Netlist(netlist, top, library)
    load = estimate.loads(design, library)
    found = {}
    for name, (kind, pins) in design.cells.items():
        limits = library.cells[kind].most
        if any(load[pins[pin]] > most for pin, most in limits.items() if pin in pins):
            found[name] = kind
    return found


def carry(netlist: pathlib.Path, top: str, library: Library) -> None:
    """Replaces cells of a netlist file by larger ones until none drives more than it may.

    A cell stays that is the largest of its kind, or that the RTL names itself.
    """
    larger = repair.sizes(library)
    while True:
        grown = {
            name: larger[kind]
            for name, kind in overloaded(netlist, top, library).items()
            if kind in larger
        }
        if not grown:
            return

        def cell(found, grown=grown) -> str:
            kind = grown.get(found[2], found[1])
            return f"  {kind} {found[2]} (\n{found[3]}  );"

        before = netlist.read_text()
        after = repair.INSTANCE.sub(cell, before)
        if after == before:
            return
        netlist.write_text(after)
