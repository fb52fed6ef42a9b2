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
COUNTED = 60  # clocks of each run; 60: whole blocks of 10 clocks too
SAYS = (
    "{runs} random runs of {clocks} clocks of the mapped netlist, {stimulus}; transitions of nets "
    "times the Liberty file's energies (inputs' slew {slew} ns) and half C V^2; zero-delay: no "
    "glitches; clock pins' charge included, clock tree not"
)


def estimate(
    report: Report, library: Library, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """Simulates a netlist and returns the estimated power at its maximum clock rate."""
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
            """Returns the energy in pJ that the netlist needs for an AES block."""
            spent = energies(design, library, None if wires else np.zeros(design.nets))
            return round((sum(spent[:3]) * 1e-3 + spent[3] * period) / blocks, 4)

        found["pj_without_wires"] = each(wires=False)
        design.forget()
        _run(counter(report.parameters, design), tell)
        found["counter_pj"] = each(wires=True)
        found["counter_pj_without_wires"] = each(wires=False)
        found |= _idle(report, design, library, period, tell)
    return found


def _idle(
    report: Report,
    design: levels.Netlist,
    library: Library,
    period: float,
    tell: Callable[[str], None] = lambda step: None,
) -> dict[str, float]:
    """Returns the power in mW of an AES core that has a key and no block, and its clock pins'."""
    design.forget()
    _run(stimulus.Idle(report.parameters, design), tell)
    internal, switching, clocks, leakage = energies(design, library)
    spent = (internal + switching + clocks) / period * 1e-3 + leakage
    return {"idle_mw": round(spent, 5), "idle_clock_mw": round(clocks / period * 1e-3, 5)}


def _run(bench: stimulus.Bench, tell: Callable[[str], None]) -> stimulus.Bench:
    """Simulates a netlist under random stimulus for a fixed time; returns the used stimulus."""
    for clock in range(bench.warm + COUNTED):
        if clock % 8 == 0:
            tell(f"simulating clock {clock} of {bench.warm + COUNTED}")
        bench.clock(count=clock >= bench.warm)
    return bench


def energies(
    design: levels.Netlist, library: Library, wires: np.ndarray | None = None
) -> tuple[float, float, float, float]:
    """Returns a netlist's internal, switching and clock energy in fJ, and leakage in mW.

    ``wires``: of each net in fF; None: by the library's model, and clocks have none. The energy of
    clocks is that of their nets and buffers.
    """
    known = energy.read(library)
    rate = design.activity()[0]
    clocked = design.clock_nets()
    rate[clocked] = 2
    for net, pulses in design.pulses.items():
        rate[net] = 2 * pulses / max(design.clocks, 1)
    kinds = collections.defaultdict(list)
    for kind, pins in design.cells.values():
        kinds[kind].append(pins)
    load, driven = _loads(design, library, kinds, wires)
    changed = 0.5 * library.volts**2 * load * rate
    switching = float(changed[driven & ~clocked].sum())
    clocks = float(changed[clocked].sum())
    internal = leakage = 0.0
    for kind, members in kinds.items():
        cell, own = library.cells[kind], known[kind]
        leakage += own.leakage_mw * len(members)
        if cell.gate:
            clocks += _clock_gates(cell, own, members, rate, load)
            continue
        if cell.sequential:
            internal += _flip_flops(cell, own, members, rate, load)
            continue
        for pin in cell.functions:
            nets = np.array([pins[pin] for pins in members if pin in pins], int)
            for some, of_clock in ((nets[~clocked[nets]], False), (nets[clocked[nets]], True)):
                spent = _mean(own.pins.get(pin, ()), rate[some], load[some])
                internal, clocks = internal + spent * (not of_clock), clocks + spent * of_clock
    return internal, switching, clocks, leakage


def loads(design: levels.Netlist, library: Library) -> np.ndarray:
    """Returns each net's load in fF, with the library's model of wires."""
    kinds = collections.defaultdict(list)
    for kind, pins in design.cells.values():
        kinds[kind].append(pins)
    return _loads(design, library, kinds, None)[0]


def _loads(
    design: levels.Netlist,
    library: Library,
    kinds: dict[str, list[dict[str, int]]],
    wires: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns each net's load in fF, and which nets cells drive."""
    load, pins_on = np.zeros(design.nets), np.zeros(design.nets)
    driven = np.zeros(design.nets, bool)
    for kind, members in kinds.items():
        cell = library.cells[kind]
        for pin in {name for pins in members for name in pins}:
            nets = np.array([pins[pin] for pins in members if pin in pins], int)
            np.add.at(load, nets, cell.inputs.get(pin, 0.0))
            np.add.at(pins_on, nets, pin in cell.inputs)
            driven[nets] |= pin in cell.functions or (cell.gate or "--")[1] == pin
    for direction, nets in design.ports.values():
        if direction == "output":
            np.add.at(load, nets, library.load_ff)
            np.add.at(pins_on, nets, 1)
    if wires is None:
        wires = np.where(design.clock_nets(), 0.0, energy.wire_load(library, pins_on))
    return load + wires, driven


def _mean(arcs: tuple[Arc, ...], rate: np.ndarray, load: np.ndarray) -> float:
    """Returns the internal energy in fJ per clock of cell outputs, from their toggle rates."""
    if not arcs:
        return 0.0
    each = np.mean([arc.mean(load) for arc in arcs], axis=0)
    return float((rate * each).sum())


def _clock_gates(
    cell: Cell, own: Energies, members: list[dict[str, int]], rate: np.ndarray, load: np.ndarray
) -> float:
    """Returns the internal energy in fJ per clock of all clock gates of a given cell type."""
    clock, out, enables = cell.gate
    total = 0.0
    for pins in members:
        for pin in (clock, out, *enables):
            net = pins.get(pin, 0)
            loads = load[[net]] if pin == out else np.zeros(1)
            total += _mean(own.pins.get(pin, ()), rate[[net]], loads)
    return total


def _flip_flops(
    cell: Cell, own: Energies, members: list[dict[str, int]], rate: np.ndarray, load: np.ndarray
) -> float:
    """Returns the internal energy in fJ per clock of all flip-flops of a given cell type."""
    clock, total = cell.clock, 0.0
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
        pulses = rate[np.array([p[clock] for p in members], int)] / 2  # 1, if nothing gates it
        total += float(((pulses - changes) * quiet + changes * busy).sum())
    return total


def _in_reset(cell: Cell, arc: Arc) -> bool:
    """Returns true if an internal_power table applies only to a flip-flop during reset."""
    held = [str(cell.state.get(name, "")).strip("() ") for name in ("clear", "preset")]
    return any(text and arc.when.get(text.strip("!'")) is (text[0] != "!") for text in held)


def _agree(arc: Arc, data: str, state: str) -> bool | None:
    """Returns true if an internal_power table requires data equal to state; None if unspecified."""
    if data not in arc.when or state not in arc.when:
        return None
    return arc.when[data] == arc.when[state]
