# SPDX-License-Identifier: Apache-2.0
"""Simulates a netlist with the delays of its cells and wires and so counts its glitches.

Events are in steps of time, and in 64 runs at once as in maeslant.synth.power.levels, from which
every clock begins and with which it has to end. A flip-flop's output changes as late as the clock
tree and the flip-flop make it; a wire delays each pin on it (transport delay). A gate's output
follows the pin that changed, and a pulse shorter than the gate's delay is lost (inertial delay);
every other pulse counts as two full transitions.
"""

import collections
import itertools
import pathlib
from collections.abc import Iterator

import numpy as np

from maeslant.synth.liberty import Library
from maeslant.synth.power import levels
from maeslant.synth.power.delays import Delays
from maeslant.synth.report import SynthesisError

STEP_NS = 0.001
Events = dict[int, list[tuple[np.ndarray, np.ndarray]]]  # by time: (nets or pins, runs)


class Timed(levels.Netlist):
    """Simulates a flat netlist with delays; ``settled`` counts transitions without glitches.

    Gates are numbered by function. Pin k of gate g has number g * ``width`` + k. A gate has at most
    one change to come in each run; ``pending`` says in which runs, ``calendar`` when.
    """

    def __init__(self, netlist: pathlib.Path, top: str, library: Library, delays: Delays) -> None:
        super().__init__(netlist, top, library)
        gates = sorted(
            (kind, out, name)
            for name, (kind, pins) in self.cells.items()
            if not library.cells[kind].sequential
            for out in library.cells[kind].functions
            if out in pins
        )
        names = {kind: list(library.cells[kind].inputs) for kind, *_ in gates}
        self.width = max((len(pins) for pins in names.values()), default=1)
        shape = len(gates), self.width
        self.output = np.array([self.cells[name][1][out] for _, out, name in gates], dtype=np.int64)
        self.pin_net = np.zeros(shape, np.int64)
        wire, self.delay = np.zeros(shape, np.int64), np.ones((2, *shape), np.int64)
        starts: dict[tuple[str, str], int] = {}
        for gate, (kind, out, name) in enumerate(gates):
            starts.setdefault((kind, out), gate)
            for k, pin in enumerate(names[kind]):
                self.pin_net[gate, k] = self.cells[name][1].get(pin, 0)
                wire[gate, k] = _steps(delays.wires.get((name, pin), 0.0))
                for edge, ns in enumerate(delays.paths.get((name, pin, out), ())):
                    self.delay[edge, gate, k] = max(_steps(ns), 1)
        self.functions = [
            levels.function(library.cells[kind].functions[out], names[kind]) for kind, out in starts
        ]
        self.first = np.array([*starts.values(), len(gates)])
        self._join(gates, names, wire)
        self.launch = self._launches(delays)
        self.calendar = np.zeros((len(gates), int(self.delay.max(initial=1)) + 1), np.uint64)
        self.forget()

    def _join(self, gates: list, names: dict[str, list[str]], wire: np.ndarray) -> None:
        """Lists pins by net: ``sinks`` from ``sink_start`` of the net on, and their wires."""
        there = np.array([[k < len(names[kind]) for k in range(self.width)] for kind, *_ in gates])
        pins = np.flatnonzero(there)
        nets = self.pin_net.ravel()[pins]
        order = np.argsort(nets, kind="stable")
        self.sinks = pins[order]
        self.sink_wire = wire.ravel()[self.sinks]
        self.sink_start = np.searchsorted(nets[order], np.arange(self.nets + 1))

    def _launches(self, delays: Delays) -> np.ndarray:
        """Returns when each net that no gate drives rises and falls after the clock, in steps."""
        driver = {
            pins[out]: (name, kind, pins)
            for name, (kind, pins) in self.cells.items()
            for out in self.library.cells[kind].functions
            if out in pins and not self.library.cells[kind].sequential
        }
        late: dict[int, float] = {}

        def arrival(net: int) -> float:
            """Returns when the clock rises on a net of its tree, in ns."""
            if net not in late:
                late[net] = 0.0
                if net in driver:
                    name, kind, pins = driver[net]
                    out = next(pin for pin in self.library.cells[kind].functions if pin in pins)
                    late[net] = max(
                        arrival(pins[pin])
                        + delays.wires.get((name, pin), 0.0)
                        + delays.paths.get((name, pin, out), (0.0,))[0]
                        for pin in self.library.cells[kind].inputs
                    )
            return late[net]

        found = np.zeros((2, self.nets), np.int64)
        for name, (kind, pins) in self.cells.items():
            cell = self.library.cells[kind]
            if cell.sequential:
                clock = cell.clock
                begun = arrival(pins[clock]) + delays.wires.get((name, clock), 0.0)
                for out in cell.functions:
                    for edge, ns in enumerate(delays.paths.get((name, clock, out), ())):
                        if out in pins:
                            found[edge, pins[out]] = _steps(begun + ns)
        return found

    def forget(self) -> None:
        """Resets the counters of the netlist's signal transitions to zero."""
        super().forget()
        self.settled = np.zeros(self.nets, dtype=np.int64)

    def edge(self, values: dict[str, np.ndarray], count: bool) -> None:
        """Simulates a rising clock edge of the netlist; if transitions count, with delays."""
        before = self.words.copy()
        super().edge(values, count=False)
        if count:
            self.toggles += self._settle(before)
            self.settled += np.bitwise_count(before ^ self.words)
            self.highs += np.bitwise_count(self.words)
            self.clocks += levels.RUNS

    def _settle(self, before: np.ndarray) -> np.ndarray:
        """Returns each net's transitions, over all runs, since the state before a clock."""
        now, toggles = before.copy(), np.zeros(self.nets, np.int64)
        pins = before[self.pin_net]
        pending, touched = np.zeros(len(self.output), np.uint64), np.zeros_like(pins)
        gates_due: dict[int, list[np.ndarray]] = collections.defaultdict(list)
        nets_due, pins_due = self._begin(before), collections.defaultdict(list)
        time = 0
        while gates_due or nets_due or pins_due:
            changes = nets_due.pop(time, [])
            if time in gates_due:
                gates, runs = self._due(np.concatenate(gates_due.pop(time)), time)
                pending[gates] ^= runs
                changes.append((self.output[gates], runs))
            for nets, runs in changes:
                now[nets] ^= runs
                toggles[nets] += np.bitwise_count(runs)
                self._spread(nets, runs, time, pins_due)
            arrived = pins_due.pop(time, [])
            if arrived:
                where, runs = (np.concatenate(part) for part in zip(*arrived, strict=True))
                # An input may rise in some runs and fall in others at once: two entries for a pin.
                np.bitwise_xor.at(pins.ravel(), where, runs)
                np.bitwise_or.at(touched.ravel(), where, runs)
                gates = np.unique(where // self.width)
                value = self._evaluate(gates, pins)
                difference = value ^ now[self.output[gates]] ^ pending[gates]
                lost = difference & pending[gates]
                some = np.flatnonzero(lost)
                self.calendar[gates[some]] &= ~lost[some, None]
                pending[gates] ^= difference
                self._plan(gates, difference & ~lost, value, touched[gates], time, gates_due)
                touched[gates] = 0
            time += 1
        wrong = np.flatnonzero(now != self.words)
        if len(wrong):
            raise SynthesisError(f"{len(wrong)} nets settle at another value with delays")
        return toggles

    def _begin(self, before: np.ndarray) -> Events:
        """Returns the changes of the nets that no gate drives, by time."""
        found = collections.defaultdict(list)
        changes = before ^ self.words
        changes[self.output] = 0
        for edge, runs in enumerate((changes & self.words, changes & ~self.words)):
            nets = np.flatnonzero(runs)
            _sort(nets, runs[nets], self.launch[edge, nets], found)
        return found

    def _due(self, gates: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Takes the changes of gates at a time from the calendar; returns (gates, runs)."""
        gates, slot = np.unique(gates), time % self.calendar.shape[1]
        runs = self.calendar[gates, slot]
        self.calendar[gates, slot] = 0
        there = runs != 0
        return gates[there], runs[there]

    def _spread(self, nets: np.ndarray, runs: np.ndarray, time: int, pins_due: Events) -> None:
        """Enters when changes of nets reach the pins on them."""
        start, count = self.sink_start[nets], self.sink_start[nets + 1] - self.sink_start[nets]
        offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        which = np.repeat(start, count) + offset
        _sort(self.sinks[which], np.repeat(runs, count), time + self.sink_wire[which], pins_due)

    def _evaluate(self, gates: np.ndarray, pins: np.ndarray) -> np.ndarray:
        """Returns the values of gates, which are in ascending order, from their pins."""
        value, inputs = np.empty(len(gates), np.uint64), pins[gates].T
        bounds = np.searchsorted(gates, self.first)
        for kind in np.flatnonzero(bounds[1:] > bounds[:-1]):
            some = slice(bounds[kind], bounds[kind + 1])
            value[some] = self.functions[kind](inputs[:, some])
        return value

    def _plan(
        self,
        gates: np.ndarray,
        changes: np.ndarray,
        value: np.ndarray,
        touched: np.ndarray,
        time: int,
        gates_due: dict[int, list[np.ndarray]],
    ) -> None:
        """Enters changes of gates into the calendar, as late as the pin that causes each."""
        planned, times = [], []
        for pin in range(self.width):
            runs = changes & touched[:, pin]
            changes = changes & ~runs
            for edge, some in enumerate((runs & value, runs & ~value)):
                rows = np.flatnonzero(some)
                then = time + self.delay[edge, gates[rows], pin]
                self.calendar[gates[rows], then % self.calendar.shape[1]] |= some[rows]
                planned.append(gates[rows])
                times.append(then)
        every = np.concatenate(planned)
        for when, part in _by_time(np.concatenate(times)):
            gates_due[when].append(every[part])


def _sort(items: np.ndarray, runs: np.ndarray, times: np.ndarray, into: Events) -> None:
    """Enters items with their runs at their times."""
    for when, part in _by_time(times):
        into[when].append((items[part], runs[part]))


def _by_time(times: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yields each time and where it stands."""
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    starts = np.flatnonzero(np.diff(sorted_times, prepend=-1))
    for start, end in itertools.pairwise((*starts, len(order))):
        yield int(sorted_times[start]), order[start:end]


def _steps(ns: float) -> int:
    """Returns a time in steps."""
    return round(ns / STEP_NS)
