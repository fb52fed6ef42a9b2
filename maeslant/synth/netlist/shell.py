# SPDX-License-Identifier: Apache-2.0
"""Writes Verilog around the simulation of a netlist: its ports, and cells that stay Verilog."""

import pathlib

from maeslant.synth.netlist.apart import Part
from maeslant.synth.netlist.flat import ONE, ZERO, Instance, Netlist
from maeslant.synth.netlist.functions import Cells
from maeslant.synth.report import SynthesisError

WORD = 32  # bits of a word that is passed by DPI


class Shell:
    """Holds what a module "gates" has beside a netlist's gates.

    ``back``: nets that its cells drive. After `text`: ``given`` and ``made``, the nets of the words
    that go to the simulation and come from it; ``used``: those of ``made`` that its cells read.
    ``kept``: modules of the netlist, by name, that are RTL here.
    """

    def __init__(self, read: Netlist, known: Cells, kept: dict[str, Part]) -> None:
        self._read, self._known, self._kept = read, known, kept
        self.back: list[int] = []
        self.given: list[int] = []
        self.made: list[int] = []
        self.used: list[int] = []
        self._places: dict[int, int] = {}  # of nets in what is made
        self._bits: list[str] = []  # what drives ``back``
        self._wires: list[str] = []
        for place, one in enumerate(read.stays):
            for pin, bits in one.pins.items():
                way, count = known.directions[one.key[0]][pin]
                if way == "input":
                    continue
                if len(bits) != count:
                    raise SynthesisError(f"a {one.key[0]} has {len(bits)} bits at its pin {pin}")
                self._wires.append(f"  wire [{count - 1}:0] back{place}_{pin};\n")
                self.back += bits
                self._bits += [f"back{place}_{pin}[{i}]" for i in range(count)]

    def text(self, clocks: list[str], tables: pathlib.Path) -> str:
        """Returns the module in Verilog; ``clocks``: ports; ``tables``: the file of the gates."""
        read = self._read
        self._direct = {ZERO: "1'b0", ONE: "1'b1"}
        self._direct |= {read.net(name): name for name in clocks}
        ways = {kind: [n for n, way in read.ports if way == kind] for kind in ("input", "output")}
        bits = self._given(name for name in ways["input"] if name not in clocks)
        ends = [f"  assign {name} = {self._joined(read.bits(name))};\n" for name in ways["output"]]
        ends += [self._instance(place, one) for place, one in enumerate(read.stays)]
        words = [bits[at : at + WORD] for at in range(0, len(bits), WORD)]
        assigned = "".join(
            f"  assign given[{place}] = {WORD}'({{{', '.join(reversed(word))}}});\n"
            for place, word in enumerate(words)
        )
        declared = "".join(
            f"  {kind} {f'[{len(read.bits(name)) - 1}:0] ' if name in read.widths else ''}{name};\n"
            for kind, names in ways.items()
            for name in names
        )
        edges = "".join(
            f"  int edges{i};\n"
            f"  always @({name}) edges{i} <= maeslant_gates_clock(which, {i}, {name});\n"
            for i, name in enumerate(clocks)
        )
        begins = "".join(
            f"    void'(maeslant_gates_clock(which, {i}, {name}));\n"
            for i, name in enumerate(clocks)
        )
        moved = " + ".join(["0", *(f"edges{i}" for i in range(len(clocks)))])
        given, made = (f"[0:{max(len(of) - 1, 0) // WORD}]" for of in (self.given, self.made))
        # Nothing drives `start`: it is what the simulator gives a flip-flop that was not reset.
        return f"""
module gates({", ".join(name for names in ways.values() for name in names)});
{declared}
  import "DPI-C" function int maeslant_gates_open(input string tables, input int start);
  import "DPI-C" function int maeslant_gates_clock(input int which, clock, input bit level);
  import "DPI-C" function void maeslant_gates_settle(
    input int which, moved, input bit [{WORD - 1}:0] given{given},
    output bit [{WORD - 1}:0] made{made}
  );
  int which;
  logic [31:0] start;
  bit [{WORD - 1}:0] given{given}, made{made};
  initial begin
    which = maeslant_gates_open("{tables}", start);
{begins}  end
{edges}{"".join(self._wires)}{assigned}
  always_comb maeslant_gates_settle(which, {moved}, given, made);
{"".join(ends)}endmodule
"""

    def _given(self, names) -> list[str]:
        """Adds the nets that are given to the simulation; returns what drives each."""
        found = []
        for name in names:
            bits = self._read.bits(name)
            vector = name in self._read.widths
            found += [f"{name}[{i}]" if vector else name for i in range(len(bits))]
            self.given += bits
        self.given += self.back
        return found + self._bits

    def _joined(self, bits: list[int]) -> str:
        """Returns the expression of some nets, the lowest bit first."""
        # Verilator takes 40,000 words in a line.
        return "{" + ",\n    ".join(map(self._expression, reversed(bits))) + "}"

    def _expression(self, net: int) -> str:
        net = int(self._read.same[net])
        if net in self._direct:
            return self._direct[net]
        if net not in self._places:
            self._places[net] = len(self.made)
            self.made.append(net)
        return f"made[{self._places[net] // WORD}][{self._places[net] % WORD}]"

    def _instance(self, place: int, one: Instance) -> str:
        """Returns the instance of a cell that stays Verilog."""
        kind, values = one.key
        directions = self._known.directions[kind]
        if kind in self._kept:
            part = self._kept[kind]
            kind, values = part.module, tuple((n, str(v)) for n, v in part.parameters.items())
        elif one.key in self._known.renamed:
            kind, values = self._known.renamed[one.key], ()
        pins = []
        for pin, bits in one.pins.items():
            if directions[pin][0] == "input":
                nets = self._read.same[bits].tolist()
                self.used += [net for net in nets if net not in self._direct]
                pins.append(f".{pin}({self._joined(bits)})")
            else:
                pins.append(f".{pin}(back{place}_{pin})")
        given = ", ".join(f".{name}({value})" for name, value in values)
        return f"  {kind} #({given}) stays{place} ({', '.join(pins)});\n"
