# SPDX-License-Identifier: Apache-2.0
"""Writes a netlist as tables, which sim/gates/gates.cpp simulates.

A simulator that compiles what it runs takes gigabytes and hours for a million gates. Here a net is
a number, and an output of a cell a table of its function. Verilog with the ports of the module
calls the simulation by DPI: for a clock when that changes, for all other inputs together. What is
no gate, such as block RAM, stays Verilog beside it.
"""

import dataclasses
import pathlib

import numpy as np

from maeslant import paths
from maeslant.synth.liberty import Library
from maeslant.synth.netlist import apart, cells, flat, functions
from maeslant.synth.netlist.flat import ONE, ZERO, Netlist
from maeslant.synth.netlist.shell import Shell
from maeslant.synth.report import SynthesisError

SIMULATION = paths.ROOT / "sim" / "gates" / "gates.cpp"
DEEPEST = 10_000  # gates, one behind another
GROUP = np.dtype([("table", "<u8"), ("count", "<i4"), ("size", "<i4")])
CHANGING = 8  # added to the count of inputs of gates whose tables are memories


def written(
    netlist: pathlib.Path,
    top: str,
    target: str,
    library: Library | None,
    repeated: list[apart.Part] | None = None,
) -> str:
    """Returns Verilog of a module "gates" that simulates a flat netlist; writes tables beside it.

    ``library``: of standard cells; None for an FPGA. ``repeated``: modules of the netlist that
    stay RTL.
    """
    others = cells.others(target, library)
    known = functions.Cells(target, library, others, netlist.parent)
    with open(netlist) as lines:
        found, modules = flat.keys(lines) if library is None else (set(), {})
    kept = {f"\\{part.name}": part for part in repeated or ()}
    known.keep({name: modules[part.name] for name, part in kept.items()})
    models = known.prepare(found)
    read = Netlist(known)
    with open(netlist) as lines:
        read.read(lines, top)
    shell = Shell(read, known, kept)
    drivers = _drivers(read, shell.back)
    read.join()
    order = _order(read, shell.back)
    inputs = [name for name, way in read.ports if way == "input"]
    clocks = [name for name in inputs if order.control[read.bits(name)].any()]
    if not read.widths.keys().isdisjoint(clocks):
        raise SynthesisError(f"{top} has a clock in a port of several bits: not simulated")
    tables = netlist.with_name("gates.bin")
    text = shell.text(clocks, tables)
    _check_drivers(read, drivers, shell.made)
    moving = _moving(read, order.control)
    if (moving | order.control)[shell.used].any():
        raise SynthesisError(f"{top} has a made clock of a cell that is no gate: not simulated")
    data = [shell.made, read.states[:, (1, 3, 4)]]
    data += [read.memories[name] for name in ("enable", "data", "to")]
    clock_is_data = (moving & ~order.control).any() or any(moving[nets].any() for nets in data)
    nets = [shell.given, shell.made, [read.net(name) for name in clocks]]
    _write(tables, read, order, nets, clock_is_data)
    return f"{text}{models}{others if library is None else ''}"


def _write(
    tables: pathlib.Path, read: Netlist, order: "_Order", nets: list[list[int]], clock_is_data: bool
) -> None:
    """Writes a netlist for sim/gates/gates.cpp; ``nets``: given, made, clocks."""
    number = order.number
    states = read.states.copy()
    states[:, :5] = number[states[:, :5]]
    memories = read.memories[order.memories]
    for field in ("clock", "enable", "data", "to"):
        memories[field] = number[memories[field]]
    parts = [*(number[of] for of in nets), states, order.groups, memories, order.pins]
    sizes = [read.count, *map(len, parts[:4]), order.controls, order.far, *map(len, parts[4:])]
    with open(tables, "wb") as file:
        for part in ([*sizes, clock_is_data], *parts):
            exact = part is order.groups or part is memories
            np.asarray(part, part.dtype if exact else "<i4").tofile(file)


@dataclasses.dataclass(frozen=True)
class _Order:
    """Holds gates in the order of their evaluation.

    First come those that make clocks, last those that depend on an input in the same clock.
    ``number``: of a net, in that order; ``control``: nets that clocks depend on; ``controls``:
    how many groups come first; ``far``: those before the last ones; ``memories``: their order;
    ``pins``: numbers of inputs, of each group those of one pin in a row.
    """

    number: np.ndarray
    control: np.ndarray
    controls: int
    far: int
    groups: np.ndarray
    memories: np.ndarray
    pins: np.ndarray


def _order(read: Netlist, back: list[int]) -> _Order:
    """Returns the order in which a netlist's gates are evaluated; raises if there is none.

    ``back``: nets that other cells drive.
    """
    inputs, outputs = read.inputs, read.outputs
    control = np.zeros(read.count, bool)
    control[read.states[:, 2]] = True
    control[read.memories["clock"]] = True
    before = None
    while before != (before := control.sum()):
        control[inputs[control[outputs]]] = True
        control[[ZERO, ONE]] = False
    level = np.zeros(read.count, np.int32)
    for _ in range(DEEPEST):
        deeper = level[inputs].max(axis=1, initial=0) + 1
        if (level[outputs] == deeper).all():
            break
        level[outputs] = deeper
    else:
        raise SynthesisError("gates that wait for each other, in a loop, are not simulated")
    near = np.zeros(read.count, bool)
    near[_inputs(read)] = near[back] = True
    before = None
    while before != (before := near.sum()):
        near[outputs] |= near[inputs].any(axis=1)
    counts = read.counts.copy()
    counts[read.changing] += CHANGING
    keys = (read.tables, counts, level[outputs], near[outputs], ~control[outputs])
    order = np.lexsort(keys)
    keys = tuple(key[order] for key in keys)
    starts = np.zeros(len(order), bool)
    starts[:1] = True
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    begins = np.flatnonzero(starts)
    ends = np.append(begins[1:], len(order))[: len(begins)]
    groups = np.zeros(len(begins), GROUP)
    groups["table"], groups["count"] = keys[0][begins], keys[1][begins]
    groups["size"] = ends - begins
    made = np.zeros(read.count, bool)
    made[outputs] = True
    number = np.zeros(read.count, np.int64)
    number[~made] = np.arange((~made).sum())
    number[outputs[order]] = (~made).sum() + np.arange(len(order))
    numbered = number[inputs[order]]
    pins = [
        numbered[begin:end, : count % CHANGING].T.ravel()
        for begin, end, count in zip(begins, ends, groups["count"], strict=True)
    ]
    place = np.argsort(order)[read.changing]
    return _Order(
        number,
        control,
        int((~keys[-1][begins]).sum()),
        int((~(keys[-1] & keys[-2])[begins]).sum()),
        groups,
        np.argsort(place),
        np.concatenate([*pins, np.zeros(0, np.int64)]),
    )


def _drivers(read: Netlist, back: list[int]) -> np.ndarray:
    """Returns how often each net of a netlist is driven; ``back``: nets that other cells drive."""
    found = np.zeros(read.count, int)
    for nets in (read.outputs, read.states[:, 0], _inputs(read), back, [ZERO, ONE]):
        np.add.at(found, nets, 1)
    return found


def _check_drivers(read: Netlist, drivers: np.ndarray, used: list[int]) -> None:
    """Raises if a net is driven twice, or by nothing and is read; ``used``: those read by others.

    Names that Yosys keeps of what it took out are read by nothing but names.
    """
    reading = np.zeros(read.count, bool)
    parts = [read.inputs, read.states[:, 1:5], used]
    parts += [read.memories[name] for name in ("clock", "enable", "data", "to")]
    for nets in parts:
        reading[nets] = True
    wrong = int(((drivers > 1) | (reading & (drivers == 0))).sum())
    if wrong:
        raise SynthesisError(f"{wrong} nets have no driver, or several")


def _moving(read: Netlist, control: np.ndarray) -> np.ndarray:
    """Returns the nets that may change with a clock's edge; ``control``: what clocks depend on."""
    found = np.zeros(read.count, bool)
    found[_inputs(read)] = True
    found &= control
    before = None
    while before != (before := found.sum()):
        found[read.outputs] |= found[read.inputs].any(axis=1)
    return found


def _inputs(read: Netlist) -> list[int]:
    """Returns the nets of a netlist's input ports."""
    return [bit for name, way in read.ports if way == "input" for bit in read.bits(name)]
