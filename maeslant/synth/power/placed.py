# SPDX-License-Identifier: Apache-2.0
"""Estimates the power of a placed netlist, with its wires, its clock tree and its glitches."""

import pathlib
import re
from collections.abc import Callable, Iterator

import numpy as np

from maeslant.synth.liberty import Library
from maeslant.synth.power import delays, energy, glitches, levels, stimulus
from maeslant.synth.power.estimate import energies
from maeslant.synth.report import Report
from maeslant.synth.timing import sta

MODEL = 1  # one more whenever the same placed netlist comes to other figures
COUNTED = 20  # clocks of each run: two blocks of 10 clocks, too
SAYS = (
    "{runs} random runs of {clocks} clocks of the placed netlist, {stimulus}; event-driven, with "
    "the delays that OpenSTA finds with the placed wires, pulses shorter than a gate's delay "
    "lost; transitions times the Liberty file's energies (inputs' slew {slew} ns) and half C V^2 "
    "with placed wires; clock tree included, reset tree and routing not"
)
DRIVER = re.compile(r"(?m)^\*D_NET \S+ (\S+)\n\*CONN\n\*I (\S+):(\w+) ")


def estimate(
    report: Report,
    netlist: pathlib.Path,
    spef: pathlib.Path,
    library: Library,
    tell: Callable[[str], None] = lambda step: None,
) -> dict[str, object]:
    """Simulates a placed netlist with delays; returns its power at its placed maximum clock rate.

    ``library``: without a model of wires. Writes an SDF file beside the netlist.
    """
    tell("calculating delays")
    sdf = netlist.with_suffix(".sdf")
    sta.write_sdf(netlist, report.top, library, spef, sdf)
    design = glitches.Timed(netlist, report.top, library, delays.read(sdf))
    bench = stimulus.bench(report.top, report.parameters, design)
    for clock in range(bench.warm + COUNTED):
        tell(f"simulating with delays, clock {clock} of {bench.warm + COUNTED}")
        bench.clock(count=clock >= bench.warm)
    blocks = bench.blocks / (COUNTED * levels.RUNS)
    wires = np.zeros(design.nets)
    for cell, pin, ff in charges(spef.read_text()):
        wires[design.cells[cell][1][pin]] = ff
    period = report.placed["period_ns"]

    def spent() -> tuple[float, float, float, float]:
        """Returns internal, switching, clock and leakage energy in pJ a clock."""
        *moving, leakage = energies(design, library, wires)
        return *(part * 1e-3 for part in moving), leakage * period

    parts = spent()
    rate = design.toggles.sum() / design.clocks
    design.toggles = design.settled
    quiet = spent()
    names = ("internal_mw", "switching_mw", "clock_mw", "leakage_mw")
    return {
        "model": MODEL,
        "clock_mhz": report.placed["fmax_mhz"],
        "mw": round(sum(parts) / period, 5),
        **{name: round(part / period, 5) for name, part in zip(names, parts, strict=True)},
        "blocks_per_clock": round(blocks, 4),
        "pj_per_block": round(sum(parts) / blocks, 4) if blocks else None,
        "pj_without_glitches": round(sum(quiet) / blocks, 4) if blocks else None,
        "transitions": round(float(rate), 1),
        "transitions_without_glitches": round(float(design.settled.sum() / design.clocks), 1),
        "activity": SAYS.format(
            runs=levels.RUNS, clocks=COUNTED, stimulus=bench.says, slew=energy.SLEW_NS
        ),
    }


def charges(spef: str) -> Iterator[tuple[str, str, float]]:
    """Yields the wires that cells drive, from SPEF: (cell, output pin, capacitance in fF)."""
    for ff, cell, pin in DRIVER.findall(spef):
        yield cell.replace("\\", ""), pin, float(ff)
