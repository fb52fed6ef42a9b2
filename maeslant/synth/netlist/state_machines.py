# SPDX-License-Identifier: Apache-2.0
"""Gives state machines of the RTL the registers that synthesis gave them: one for each state.

Yosys' pass fsm_recode says in the log of a synthesis how it encodes states. That is taken as a
hint: what follows from it (the RTL's next state is always one of those) is proved like all else.
"""

import dataclasses
import functools
import re
from collections.abc import Iterable

from maeslant.synth.netlist.circuit import Circuit

RECODED = re.compile(
    r"(?m)^Recoding FSM `\$fsm\$\\(\S+)\$\d+' from module `\S+' using `\w+' encoding:\n"
    r"  mapping .* to `one-hot` for this FSM\.\n((?:  [01]+ -> [-1]+\n)+)"
)


@dataclasses.dataclass(frozen=True)
class Machine:
    """Describes a state machine with a register for each state, by nets."""

    name: str
    states: list[object]  # one of them is 1
    known: object  # the next state is one of them, and so is the state at reset


def recoded(log: str) -> dict[str, list[str]]:
    """Returns the old codes of the states that a synthesis recoded, by name of the register."""
    return {name: re.findall(r"(\d+) ->", codes) for name, codes in RECODED.findall(log)}


class Gates:
    """Adds gates to the cells of a circuit."""

    def __init__(self, cells: dict[str, dict]) -> None:
        self.cells = cells
        nets = (bit for c in cells.values() for bits in c["connections"].values() for bit in bits)
        self.last = max((bit for bit in nets if isinstance(bit, int)), default=0)

    def net(self) -> int:
        """Returns a new net."""
        self.last += 1
        return self.last

    def add(self, kind: str, made: object = None, **pins: object) -> object:
        """Adds a gate; returns the net that it drives, a new one by default."""
        made = self.net() if made is None else made
        nets = {pin: [bit] for pin, bit in pins.items()} | {"Y": [made]}
        self.cells[f"added {kind} {made}"] = {"type": kind, "connections": nets}
        return made

    def join(self, kind: str, bits: Iterable[object]) -> object:
        """Adds gates of two inputs that join one net or more; returns the net that they drive."""
        return functools.reduce(lambda a, b: self.add(kind, A=a, B=b), bits)


def one_hot(rtl: Circuit, encodings: dict[str, list[str]]) -> tuple[Circuit, list[Machine]]:
    """Returns a circuit that has a register for each state of given state machines.

    ``encodings``: the states' codes, by name of the register. A machine stays as it is if its
    register is not in the circuit as one with a common clock and reset.
    """
    names, machines, cells = rtl.names(), [], dict(rtl.module["cells"])
    of = {bits[0]: name for name, c in cells.items() if (bits := c["connections"].get("Q"))}
    nets = dict(rtl.module["netnames"])
    gates = Gates(cells)
    for name, codes in encodings.items():
        width = len(codes[0])
        bits = [names.get(f"{name}[{i}]" if width > 1 else name) for i in range(width)]
        if not all(bit in of for bit in bits):
            continue
        old = [rtl.registers[bit] for bit in bits]
        first = "".join(kept.value[0] for kept in reversed(old))
        (clock, falling), (reset, low) = old[0].clock, old[0].reset
        if len({(kept.clock, kept.reset) for kept in old}) > 1 or first not in codes:
            continue
        lines = {"1": [kept.data[0] for kept in old]}
        lines["0"] = [gates.add("$_NOT_", A=bit) for bit in lines["1"]]
        states, nexts = [gates.net() for _ in codes], []
        for code, state in zip(codes, states, strict=True):
            nexts.append(gates.join("$_AND_", [lines[c][i] for i, c in enumerate(reversed(code))]))
            nets[f"{name} is {code}"] = {"bits": [state]}
            pins = {"C": clock, "D": nexts[-1], "Q": state, "L": reset, "AD": f"{code == first:d}"}
            cells[f"{name} is {code}"] = {
                "type": f"$_ALDFF_{'PN'[falling]}{'PN'[low]}_",
                "connections": {pin: [bit] for pin, bit in pins.items()},
            }
        for i, bit in enumerate(bits):
            del cells[of[bit]]
            ones = [s for s, code in zip(states, codes, strict=True) if code[-1 - i] == "1"]
            gates.add("$_BUF_", bit, A=gates.join("$_OR_", ones or ["0"]))
        machines.append(Machine(name, states, gates.join("$_OR_", nexts)))
    return Circuit(rtl.module | {"cells": cells, "netnames": nets}), machines
