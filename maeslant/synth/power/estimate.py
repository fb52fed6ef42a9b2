# SPDX-License-Identifier: Apache-2.0
"""Estimates the power of a netlist of standard cells from simulated activity.

The packaged OpenSTA is not asked for it. It reads no VCD; activities that it is told of inside a
design have no effect, it propagates those of the inputs as if all nets were independent; and
it adds up all internal_power groups of an output at each of its transitions, though one input in
one state causes it: four times too much for an exclusive-or.

Every net's transitions are counted in simulation (levels). A transition takes half C V^2 of what is
on the net, the wire by the library's model, and inside the driving cell the mean of
that output's arcs at that load. Of ciphers the energy of counter blocks is added, and both without
the library's model of wires. A flip-flop's clock pin takes what the groups say of D as Q and,
in the share of clocks in which Q changes, of D unlike Q; both its outputs change, connected or not.
"""

import collections
import pathlib
from collections.abc import Callable

import numpy as np

from maeslant.synth.liberty import Cell, Library
from maeslant.synth.power import energy, levels, stimulus
from maeslant.synth.power.energy import Arc, Energies
from maeslant.synth.report import Report

MODEL = 1  # one more whenever the same netlist comes to other figures
WARM, COUNTED = 48, 60  # clocks of each run; 60: whole blocks of 10 clocks too
SAYS = (
    "{runs} random runs of {clocks} clocks of the mapped netlist, {stimulus}; transitions of nets "
    "times the Liberty file's energies (inputs' slew {slew} ns) and half C V^2; zero-delay: no "
    "glitches; clock pins' charge included, clock tree not"
)


def estimate(
    report: Report, library: Library, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """Simulates a netlist and returns the estimate of its power at its greatest clock rate."""
    netlist = report.unpack(work)
    tell("reading the netlist")
    design = levels.Netlist(netlist, report.top, library)
    bench = _run(stimulus.bench(report.top, report.parameters, design), tell)
    tell("adding up power")
    internal, switching, clocks, leakage = energies(design, library)
    period = report.timing["period_ns"]
    parts = [internal / period * 1e-3, switching / period * 1e-3, clocks / period * 1e-3]  # mW
    total = sum(parts) + leakage
    blocks = bench.blocks / (COUNTED * levels.RUNS)
    found = {
        "model": MODEL,
        "clock_mhz": round(1000 / period, 1),
        "mw": round(total, 5),
        "internal_mw": round(parts[0], 5),
        "switching_mw": round(parts[1] + parts[2], 5),
        "leakage_mw": round(leakage, 6),
        "clock_pins_mw": round(parts[2], 5),
        "blocks_per_clock": round(blocks, 4),
        "latency_clocks": bench.latency,
        "pj_per_block": round(total * period / blocks, 4) if blocks else None,
        "activity": SAYS.format(
            runs=levels.RUNS, clocks=COUNTED, stimulus=bench.says, slew=energy.SLEW_NS
        ),
    }
    counter = stimulus.counter_mode(report.top)
    if blocks and counter:

        def each(wires: bool) -> float:
            """Returns the energy in pJ that the design needs for an AES block."""
            spent = energies(design, library, wires)
            return round((sum(spent[:3]) * 1e-3 + spent[3] * period) / blocks, 4)

        found["pj_without_wires"] = each(wires=False)
        design.forget()
        _run(counter(report.parameters, design), tell)
        found["counter_pj"] = each(wires=True)
        found["counter_pj_without_wires"] = each(wires=False)
    return found


def _run(bench: stimulus.Bench, tell: Callable[[str], None]) -> stimulus.Bench:
    """Simulates a netlist with its stimulus for a fixed number of clocks; returns the stimulus."""
    for clock in range(WARM + COUNTED):
        if clock % 8 == 0:
            tell(f"simulating clock {clock} of {WARM + COUNTED}")
        bench.clock(count=clock >= WARM)
    return bench


def energies(
    design: levels.Netlist, library: Library, wires: bool = True
) -> tuple[float, float, float, float]:
    """Returns a netlist's energy in fJ a clock by kind, and its leakage in mW.

    Without ``wires`` the library's model of them is left out.
    """
    known = energy.read(library)
    rate = design.activity()[0]
    kinds = collections.defaultdict(list)
    for kind, pins in design.cells.values():
        kinds[kind].append(pins)
    load, driven, charge = _loads(design, library, kinds, wires)
    switching = 0.5 * library.volts**2 * float((load * rate)[driven].sum())
    clocks = charge * library.volts**2
    internal = leakage = 0.0
    for kind, members in kinds.items():
        cell, own = library.cells[kind], known[kind]
        leakage += own.leakage_mw * len(members)
        if cell.sequential:
            internal += _flip_flops(cell, own, members, rate, load)
            continue
        for pin in cell.functions:
            nets = np.array([pins[pin] for pins in members if pin in pins], int)
            internal += _mean(own.pins.get(pin, ()), rate[nets], load[nets])
    return internal, switching, clocks, leakage


def _loads(
    design: levels.Netlist,
    library: Library,
    kinds: dict[str, list[dict[str, int]]],
    wires: bool,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns each net's load in fF, the nets that cells drive, and all clock pins' load."""
    load, pins_on = np.zeros(design.nets), np.zeros(design.nets)
    driven, charge = np.zeros(design.nets, bool), 0.0
    for kind, members in kinds.items():
        cell = library.cells[kind]
        for pin in {name for pins in members for name in pins}:
            nets = np.array([pins[pin] for pins in members if pin in pins], int)
            np.add.at(load, nets, cell.inputs.get(pin, 0.0))
            np.add.at(pins_on, nets, pin in cell.inputs)
            driven[nets] |= pin in cell.functions
            charge += cell.inputs.get(pin, 0.0) * len(nets) * (pin == _clock_pin(cell))
    for direction, nets in design.ports.values():
        if direction == "output":
            np.add.at(load, nets, library.load_ff)
            np.add.at(pins_on, nets, 1)
    if wires:
        load = load + energy.wire_load(library, pins_on)
    return load, driven, charge


def _clock_pin(cell: Cell) -> str:
    """Returns the name of a flip-flop cell's clock pin."""
    return str(cell.state.get("clocked_on", "")).strip("!'() ")


def _mean(arcs: tuple[Arc, ...], rate: np.ndarray, load: np.ndarray) -> float:
    """Returns the internal energy in fJ a clock of cell outputs, from their activity."""
    if not arcs:
        return 0.0
    each = np.mean([arc.mean(load) for arc in arcs], axis=0)
    return float((rate * each).sum())


def _flip_flops(
    cell: Cell, own: Energies, members: list[dict[str, int]], rate: np.ndarray, load: np.ndarray
) -> float:
    """Returns the internal energy in fJ a clock of all flip-flops of one cell type."""
    clock, total = _clock_pin(cell), 0.0
    pins = [next(p[pin] for pin in cell.functions if pin in p) for p in members]
    changes = rate[np.array(pins, int)]  # a clock, of the state
    for pin in cell.functions:
        nets = np.array([p.get(pin, 0) for p in members], int)
        there = np.array([pin in p for p in members])
        arcs = tuple(arc for arc in own.pins.get(pin, ()) if arc.related in ("", clock))
        total += _mean(arcs, changes, np.where(there, load[nets], 0.0))
    for pin, arcs in own.pins.items():
        hidden = [arc for arc in arcs if not _in_reset(cell, arc)]
        if pin not in cell.inputs or not hidden:
            continue
        if pin != clock:
            nets = np.array([p[pin] for p in members if pin in p], int)
            total += _mean(tuple(hidden), rate[nets], np.zeros(len(nets)))
            continue
        state = next(iter(cell.functions))
        data = str(cell.state.get("next_state", ""))
        stays = [arc for arc in hidden if _agree(arc, data, state) is not False]
        moves = [arc for arc in hidden if _agree(arc, data, state) is False] or stays
        quiet, busy = (
            np.mean([arc.rise[0] + arc.fall[0] for arc in some]) for some in (stays, moves)
        )
        total += float(((1 - changes) * quiet + changes * busy).sum())
    return total


def _in_reset(cell: Cell, arc: Arc) -> bool:
    """Returns true if an internal_power table applies only to a flip-flop held in reset."""
    held = [str(cell.state.get(name, "")).strip("() ") for name in ("clear", "preset")]
    return any(text and arc.when.get(text.strip("!'")) is (text[0] != "!") for text in held)


def _agree(arc: Arc, data: str, state: str) -> bool | None:
    """Returns true if an internal_power table applies where a flip-flop's data equal its state."""
    if data not in arc.when or state not in arc.when:
        return None
    return arc.when[data] == arc.when[state]
