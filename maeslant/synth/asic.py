# SPDX-License-Identifier: Apache-2.0
"""Synthesizes RTL for standard cells by Yosys and ABC, and times the netlist by OpenSTA.

A design is merged into one module before, so that ABC sees across edges. Where there are many
lanes they stay apart, so that what stands ten times is mapped once; they are merged afterwards.
ABC is told of a driver and a load (-constr): without, it leaves large fan-outs unbuffered.
Where a period is asked for, the first of TRIED that meets it is kept, else the fastest.
"""

import hashlib
import json
import pathlib
import re
from collections.abc import Callable

from maeslant.synth import report, yosys
from maeslant.synth.design import Design
from maeslant.synth.liberty import Library
from maeslant.synth.report import SynthesisError
from maeslant.synth.timing import loads, repair, sta

# What stays apart where there are many of it.
LANE = "mae_pipe_rounds"
# ABC's scripts; {D} is the period asked for. All keep the RTL's structure, of exclusive-ors above
# all, that Yosys' own script tears apart; the first looks for area, "speed" for speed alone.
SIZED = "topo; buffer -c; topo; upsize {D}; dnsize {D}; stime -p"
SCRIPTS = {
    "small": f"strash; ifraig; scorr; &get -n; &dch -f; &nf -R 1000; &put; {SIZED}",
    "density": f"strash; dch; map -a {{D}}; {SIZED}",
    "speed": f"strash; balance; map -B 0.9 {{D}}; {SIZED}",
    # Buffers only behind more than 60 loads, for periods at which a driver may be slow; drivers are
    # made large enough for them afterwards (loads).
    "least": "strash; ifraig; scorr; &get -n; &dch -x; &nf -R 1000 -F 50; &put; topo; "
    "buffer -c -N 60; topo; upsize {D}; dnsize {D}; stime -p",
}
# Tried in this order where none is asked for.
TRIED = ("small", "density", "speed")
# What ABC is asked for where no period is given: longer ones came out slower in every trial.
FASTEST_NS = 0.01
# Yosys' passes between reading and ABC, and after it.
FRONT = [
    "flatten",
    "opt -full",
    "memory_map",
    "opt_clean",
    "synth -run coarse: -top {top} -flatten -noabc",
    "opt -full",
    "simplemap",  # opt makes word-level multiplexers again
    "dfflibmap {cells}",
    "opt",
    "simplemap",
]
MAP = [
    "opt_clean -purge",
    "setundef -zero",
    "setattr -mod -unset keep_hierarchy *",
    "flatten",
    "splitnets",
    "opt_clean -purge",
]
FILES = [report.NETLIST, "net.sta", "net.repair", "front.log", "map.log", "cells.json"]


def scripts(period_ns: float | None, abc: str | None) -> list[str]:
    """Returns the names of the ABC optimization scripts to try for a design's clock period."""
    return [abc] if abc else [*TRIED] if period_ns else ["speed"]


def recipe(library: Library, period_ns: float | None, flatten: bool, abc: str) -> dict[str, object]:
    """Returns the settings of a standard-cell synthesis for the synthesis report."""
    loaded = {"loads": "drivers within the library's limits"} if abc == "least" else {}
    return {
        **loaded,
        "period_ns": period_ns,
        "abc": {name: SCRIPTS[name] for name in scripts(period_ns, abc)},
        "flatten": flatten,
        "passes": hashlib.sha256(json.dumps([FRONT, MAP]).encode()).hexdigest()[:8],
        "dont_use": list(library.dont_use),
        "repair": repair.recipe(),
        "liberty": library.path.name,
        "liberty_sha256": library.digest,
        "driver": library.driver,
        "load_ff": library.load_ff,
        "inputs": "arrive at the clock edge",
        "outputs": "due at the clock edge",
        "resets": "paths from them, recovery and removal left out",
        "wires": f"wire-load model {library.wire_load}" if library.wire_load else "none",
    }


def kept(how: dict[str, object]) -> tuple[str, ...]:
    """Returns the modules that stay apart in a standard-cell synthesis, each mapped once."""
    return () if how["flatten"] else (LANE,)


def synthesize(
    design: Design,
    library: Library,
    work: pathlib.Path,
    how: dict[str, object],
    tell: Callable[[str], None],
) -> tuple[dict[str, object], dict[str, object], str]:
    """Synthesizes a design for standard cells; returns (area, timing, best ABC script's name)."""
    sta.version()
    front = work / "front.il"
    tell("reading")
    yosys.run(
        [
            *yosys.elaborate(design.read(how["flatten"]), design.top, kept(how)),
            *(step.format(top=design.top, cells=_cells(library)) for step in FRONT),
            f"write_rtlil {front}",
        ],
        work / "front.log",
        tell,
    )
    tell("mapping")
    best = None
    for name in how["abc"]:
        found = _map(design, library, work / name, front, how, name)
        if best is None or found[1]["period_ns"] < best[1]["period_ns"]:
            best = (*found, name)
        if found[1]["period_ns"] <= (how["period_ns"] or 0):
            break
    area, timing, name = best
    for path in (work / name).iterdir():
        path.replace(work / path.name)
    report.pack(work / "net.v")
    return area, timing, name


def _map(
    design: Design,
    library: Library,
    folder: pathlib.Path,
    front: pathlib.Path,
    how: dict[str, object],
    abc: str,
) -> tuple[dict[str, object], dict[str, object]]:
    """Maps a design to standard cells by a given ABC script; returns (area, timing)."""
    folder.mkdir()
    constraints, script = folder / "constraints", folder / "script"
    netlist, period = folder / "net.v", how["period_ns"] or FASTEST_NS
    script.write_text(SCRIPTS[abc].replace("{D}", f"-D {period * 1000:.0f}"))
    constraints.write_text(f"set_driving_cell {library.driver}\nset_load {library.load_ff}\n")
    yosys.run(
        [
            f"read_rtlil {front}",
            f"abc {_cells(library)} -script {script} -constr {constraints}",
            *MAP,
            f"write_verilog -noattr -noexpr -nohex -nodec {netlist}",
        ],
        folder / "map.log",
    )
    netlist.write_text(_bit_by_bit(netlist.read_text()))
    if abc == "least":
        loads.carry(netlist, design.top, library)
    timing = sta.timing(netlist, design.top, library, period)
    if timing["period_ns"] > period:
        repair.repair(netlist, design.top, library, timing["period_ns"], period)
        timing = sta.timing(netlist, design.top, library, period)
    counts = repair.cells(netlist.read_text())
    (folder / "cells.json").write_text(json.dumps(counts, indent=1, sort_keys=True))
    return _area(counts, library), timing


def _bit_by_bit(netlist: str) -> str:
    """Splits a netlist's multi-bit assignments into single bits, which OpenSTA can read."""
    ranges = re.findall(r"(?m)^  (?:in|out)put \[(\d+):0\] (\S+) ?;", netlist)
    wide = {name: int(top) for top, name in ranges}

    def bits(text: str) -> list[str]:
        found = []
        for word in text.strip().strip("{}").split(","):
            word = word.strip()
            constant = re.fullmatch(r"\d+'b([01xz]+)", word)
            several = re.fullmatch(r"(.+)\[(\d+):(\d+)\]", word)
            if constant:
                found += [f"1'b{bit}" for bit in constant[1]]
            elif several:
                high, low = int(several[2]), int(several[3])
                found += [f"{several[1]}[{bit}]" for bit in range(high, low - 1, -1)]
            elif word in wide:
                found += [f"{word}[{bit}]" for bit in range(wide[word], -1, -1)]
            else:
                found.append(word)
        return found

    def each(match: re.Match) -> str:
        pairs = zip(bits(match[1]), bits(match[2]), strict=True)
        return "\n".join(f"  assign {left} = {right} ;" for left, right in pairs)

    return re.sub(r"(?m)^  assign (\{.*?\}) = (.*);$", each, netlist)


def _area(counts: dict[str, int], library: Library) -> dict[str, object]:
    """Returns a flat netlist's area, the sum over all standard cells, as report entries."""
    unmapped = [name for name in counts if name not in library.cells]
    if unmapped:
        raise SynthesisError(
            f"{library.path.name} has no cells for {', '.join(sorted(unmapped)[:5])}"
        )
    areas = {name: library.cells[name].area * number for name, number in counts.items()}
    held = [name for name in counts if library.cells[name].sequential]
    um2 = sum(areas.values())
    return {
        "um2": round(um2, 1),
        "kge": round(um2 / library.nand2_um2 / 1000, 3),
        "sequential_um2": round(sum(areas[name] for name in held), 1),
        "cells": sum(counts.values()),
        "flip_flops": sum(counts[name] for name in held),
    }


def _cells(library: Library) -> str:
    """Returns Yosys options that name the Liberty file and the cells not to use."""
    return " ".join([f"-liberty {library.path}", *(f"-dont_use {n}" for n in library.dont_use)])
