# SPDX-License-Identifier: Apache-2.0
"""Repairs the critical paths of a standard-cell netlist by resizing and buffering cells.

ABC maps module by module and buffers large fan-outs by chains. Here OpenSTA times the whole and
small changes are tried along its worst paths, each kept only if it helps: a larger size of a cell,
a pin taken from behind a buffer to before it, and a buffer before all loads but the critical one
(repair.tcl). What is computed stays the same: no gate's function or input changes.
"""

import collections
import fnmatch
import hashlib
import pathlib
import re

from maeslant.synth import liberty
from maeslant.synth.liberty import Cell, Library
from maeslant.synth.timing import sta

SCRIPT = pathlib.Path(__file__).with_suffix(".tcl")
# The repair ends after a number of trials, not after a time: a faster machine tries no more.
TRIALS = 10000
PATHS = 10
INSTANCE = re.compile(r"(?m)^  (\S+) (\S+) \(\n((?:    \..*\n)+)  \);$")
PIN = re.compile(r"\.(\w+)\((.*)\)")


def cells(text: str) -> dict[str, int]:
    """Returns the number of standard cells of each type in a netlist's text."""
    return dict(collections.Counter(match[1] for match in INSTANCE.finditer(text)))


def recipe() -> str:
    """Returns the settings of the netlist's timing repair for the synthesis report."""
    digest = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
    return f"repair.tcl {digest[:8]}, {TRIALS} trials, {PATHS} paths"


def repair(
    netlist: pathlib.Path, top: str, library: Library, start_ns: float, goal_ns: float
) -> None:
    """Repairs a netlist file's timing by OpenSTA, for clock periods from start down to goal.

    It is one flat module as Yosys writes it. The result depends on the order in which the timer
    lists equal paths: the same netlist gave 2,286.8 MHz here and 2,296.7 MHz on another machine.
    Raises SynthesisError.
    """
    driver = library.cells[library.driver]
    text = netlist.read_text()
    lines = sta.read(netlist, top, library, start_ns)
    for smaller, larger in sizes(library).items():
        lines.append(f"set larger({smaller}) {larger}")
    for cell in liberty.buffers(library.cells):
        lines.append(f"set is_buffer({cell.name}) {next(iter(cell.inputs))}")
    clocks = " ".join(sta.clock_ports(text) or ["virtual"])
    lines += [
        f"set buffer {driver.name}",
        f"set buffer_in {next(iter(driver.inputs))}",
        f"set buffer_out {next(iter(driver.functions))}",
        f"source {SCRIPT}",
        f"repair {{{clocks}}} {start_ns} {goal_ns} {TRIALS} {PATHS}",
    ]
    said = sta.run(lines, netlist.with_suffix(".tcl"))
    netlist.with_suffix(".repair").write_text(said)
    edits = [line.split()[1:] for line in said.splitlines() if line.startswith("edit ")]
    netlist.write_text(edited(text, edits))


def edited(text: str, edits: list[list[str]]) -> str:
    """Returns a netlist with the cell replacements and buffers that OpenSTA's repair.tcl found."""
    names = {word.split("/")[0] for edit in edits for word in edit[1:]}
    cells = {
        match[2]: [match[1], dict(PIN.findall(match[3]))]
        for match in INSTANCE.finditer(text)
        if match[2] in names
    }

    def net(pin: str) -> str:
        name, port = pin.split("/")
        return cells[name][1][port]

    made = []
    for edit in edits:
        if edit[0] == "size":
            cells[edit[1]][0] = edit[2]
        elif edit[0] == "move":
            name, port = edit[1].split("/")
            cells[name][1][port] = net(edit[2])
        else:
            _, name, kind, into, out, like = edit
            made.append(name)
            cells[name] = [kind, {into: net(like), out: f"{name}_net"}]

    def written(name: str) -> str:
        pins = ",\n".join(f"    .{port}({wire})" for port, wire in cells[name][1].items())
        return f"  {cells[name][0]} {name} (\n{pins}\n  );"

    text = INSTANCE.sub(lambda old: written(old[2]) if old[2] in cells else old[0], text)
    new = "".join(f"  wire {name}_net;\n{written(name)}\n" for name in made)
    return re.sub(r"(?m)^endmodule", lambda end: new + end[0], text)


def sizes(library: Library) -> dict[str, str]:
    """Maps each standard cell to the cell of the next larger drive strength."""
    families: dict[str, list[tuple[int, Cell]]] = {}
    for cell in library.cells.values():
        split = re.fullmatch(r"(.*\D)(\d+)", cell.name)
        if split and not any(fnmatch.fnmatch(cell.name, p) for p in library.dont_use):
            families.setdefault(split[1], []).append((int(split[2]), cell))
    found = {}
    for family in families.values():
        family.sort(key=lambda member: member[0])
        for (_, small), (_, large) in zip(family, family[1:], strict=False):
            same = (small.inputs.keys(), small.functions, small.state) == (
                large.inputs.keys(),
                large.functions,
                large.state,
            )
            if same and large.area > small.area:
                found[small.name] = large.name
    return found
