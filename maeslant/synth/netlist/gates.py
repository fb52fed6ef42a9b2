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
from maeslant.synth.report import SynthesisError

SIMULATION = paths.ROOT / "sim" / "gates" / "gates.cpp"
WORD = 32  # bits of a word that is passed by DPI
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
    text = _Text(read, known, kept)
    _check_drivers(read, text.back)
    read.join()
    order = _order(read, text.back)
    clocks = [name for name, way in read.ports if way == "input" and order.control[read.net(name)]]
    number = order.number
    states = read.states.copy()
    states[:, :5] = number[states[:, :5]]
    memories = read.memories[order.memories]
    for field in ("clock", "enable", "data", "to"):
        memories[field] = number[memories[field]]
    given, made, body = text.written(clocks, netlist.with_name("gates.bin"))
    nets = [number[given], number[made], number[[read.net(name) for name in clocks]]]
    parts = [*nets, states, order.groups, memories, order.pins]
    data = [made, read.states[:, (1, 3, 4)], *(read.memories[n] for n in ("enable", "data", "to"))]
    moving = _moving(read, order.control)
    is_data = (moving & ~order.control).any() or any(moving[nets].any() for nets in data)
    if moving[text.given_on].any():
        raise SynthesisError("a cell that is no gate has a gated clock: not simulated")
    sizes = [read.count, *map(len, parts[:4]), order.controls, order.far, *map(len, parts[4:])]
    sizes.append(is_data)
    with open(netlist.with_name("gates.bin"), "wb") as file:
        for part in (sizes, *parts):
            exact = part is order.groups or part is memories
            np.asarray(part, part.dtype if exact else "<i4").tofile(file)
    return f"{body}{models}{others if library is None else ''}"


class _Text:
    """Writes Verilog around the simulation of a netlist.

    ``back``: nets that cells drive which stay Verilog; ``given_on``: nets that are made for these.
    """

    def __init__(self, read: Netlist, known: functions.Cells, kept: dict[str, apart.Part]) -> None:
        self._read, self._known, self._kept = read, known, kept
        self.back: list[int] = []
        self.given_on: list[int] = []
        self._expressions: list[str] = []  # of those nets
        self._wires: list[str] = []
        for place, one in enumerate(read.stays):
            for pin, bits in one.pins.items():
                way, count = known.directions[one.key[0]][pin]
                if way == "input":
                    continue
                if len(bits) != count:
                    raise SynthesisError(f"a {one.key[0]} has {len(bits)} bits at its pin {pin}")
                wire = f"back{place}_{pin}"
                self._wires.append(f"  wire [{count - 1}:0] {wire};\n")
                self.back += bits
                self._expressions += [f"{wire}[{i}]" for i in range(count)]

    def written(self, clocks: list[str], tables: pathlib.Path) -> tuple[list[int], list[int], str]:
        """Returns the nets that are given to the simulation, those it makes, and the Verilog."""
        read = self._read
        ways = {kind: [n for n, way in read.ports if way == kind] for kind in ("input", "output")}
        given, expressions = [], []
        for name in ways["input"]:
            bits = read.bits(name)
            if name in clocks:
                if len(bits) > 1:
                    raise SynthesisError(f"{name} has a clock in several bits: not simulated")
                continue
            given += bits
            vector = name in read.widths
            expressions += [f"{name}[{i}]" if vector else name for i in range(len(bits))]
        given, expressions = given + self.back, expressions + self._expressions
        made: list[int] = []
        places: dict[int, int] = {}  # of nets in what is made
        direct = {read.net(name): name for name in clocks} | {ZERO: "1'b0", ONE: "1'b1"}

        def expression(net: int) -> str:
            net = int(read.same[net])
            if net in direct:
                return direct[net]
            if net not in places:
                places[net] = len(made)
                made.append(net)
            return f"made[{places[net] // WORD}][{places[net] % WORD}]"

        def joined(bits: list[int]) -> str:
            # Verilator takes 40,000 words in a line.
            return "{" + ",\n    ".join(map(expression, reversed(bits))) + "}"

        ends = [f"  assign {name} = {joined(read.bits(name))};\n" for name in ways["output"]]
        for place, one in enumerate(read.stays):
            kind, values = one.key
            if kind in self._kept:
                part = self._kept[kind]
                kind, values = part.module, tuple((n, str(v)) for n, v in part.parameters.items())
            elif one.key in self._known.renamed:
                kind, values = self._known.renamed[one.key], ()
            ways_of = self._known.directions[one.key[0]]
            for pin, bits in one.pins.items():
                nets = read.same[bits].tolist() if ways_of[pin][0] == "input" else []
                self.given_on += [net for net in nets if net not in direct]
            pins = (
                f".{pin}({joined(bits) if ways_of[pin][0] == 'input' else f'back{place}_{pin}'})"
                for pin, bits in one.pins.items()
            )
            with_values = ", ".join(f".{name}({value})" for name, value in values)
            ends.append(f"  {kind} #({with_values}) stays{place} ({', '.join(pins)});\n")
        words = [expressions[at : at + WORD] for at in range(0, len(expressions), WORD)]
        assigned = "".join(
            f"  assign given[{place}] = {WORD}'({{{', '.join(reversed(word))}}});\n"
            for place, word in enumerate(words)
        )
        declared = "".join(
            f"  {kind} {f'[{len(read.bits(name)) - 1}:0] ' if name in read.widths else ''}{name};\n"
            for kind in ("input", "output")
            for name in ways[kind]
        )
        edges = "".join(
            f"  int edges{i};\n"
            f"  always @({name}) edges{i} <= maeslant_gates_clock(which, {i}, {name});\n"
            for i, name in enumerate(clocks)
        )
        moved = " + ".join(["0", *(f"edges{i}" for i in range(len(clocks)))])
        last_in, last_out = (max(-(-count // WORD), 1) - 1 for count in (len(given), len(made)))
        # Nothing drives `start`: it is what the simulator gives a flip-flop that was not reset.
        return (
            given,
            made,
            f"""
module gates({", ".join(name for names in ways.values() for name in names)});
{declared}
  import "DPI-C" function int maeslant_gates_open(input string tables, input int start);
  import "DPI-C" function int maeslant_gates_clock(input int which, clock, input bit level);
  import "DPI-C" function void maeslant_gates_settle(
    input int which, moved, input bit [{WORD - 1}:0] given[0:{last_in}],
    output bit [{WORD - 1}:0] made[0:{last_out}]
  );
  int which, start;
  bit [{WORD - 1}:0] given[0:{last_in}], made[0:{last_out}];
  initial which = maeslant_gates_open("{tables}", start);
{edges}{"".join(self._wires)}{assigned}
  always_comb maeslant_gates_settle(which, {moved}, given, made);
{"".join(ends)}endmodule
""",
        )


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
    ends = np.append(begins[1:], len(order))
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


def _check_drivers(read: Netlist, back: list[int]) -> None:
    """Raises if a net of a netlist is driven by nothing, or twice; ``back``: by other cells."""
    driven = np.zeros(read.count, int)
    for nets in (read.outputs, read.states[:, 0], _inputs(read), back, [ZERO, ONE]):
        np.add.at(driven, nets, 1)
    if (driven != 1).any():
        raise SynthesisError(f"{(driven != 1).sum()} nets have no driver, or several")


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
