# SPDX-License-Identifier: Apache-2.0
"""Tests the functional models of FPGAs' cells that Yosys has none of.

Proofs with the models of RAMs: test_equivalence.
"""

import pathlib
import random

import pytest

from maeslant.synth import yosys
from maeslant.synth.fpga.parts import PARTS
from maeslant.synth.netlist import block_ram, cells, circuit


@pytest.mark.parametrize("signed", range(4))
def test_multiplier(signed: int, tmp_path: pathlib.Path) -> None:
    """The model of ECP5's multiplier multiplies numbers with and without a sign."""
    file = tmp_path / "multiplier.v"
    file.write_text(cells.multiplier())
    found = circuit.read([f"read_verilog {file}"], "MULT18X18D", tmp_path / "multiplier")
    inputs, source = found.ports("input"), random.Random(signed)
    for _ in range(20):
        factors = {name: source.getrandbits(18) for name in "AB"}
        values = circuit.CONSTANTS | dict.fromkeys(inputs.values(), 0)
        for i, name in enumerate("AB"):
            values |= {inputs[f"{name}{n}[0]"]: -(factors[name] >> n & 1) for n in range(18)}
            values[inputs[f"SIGNED{name}[0]"]] = -(signed >> i & 1)
            factors[name] -= (signed >> i & factors[name] >> 17 & 1) << 18
        found.evaluate(values)
        made = sum((values[found.ports("output")[f"P{n}[0]"]] & 1) << n for n in range(36))
        assert made == factors["A"] * factors["B"] % (1 << 36)


MEMORY = """module memory (
  input logic clk_i, zero_i, we_i, read_i, input logic [8:0] to_i, from_i,
  input logic [WIDTH-1:0] word_i, output logic [WIDTH-1:0] word_o
);
  (* ram_style = "block" *) logic [WIDTH-1:0] rows_q[512];
  initial for (int i = 0; i < 512; i++) rows_q[i] = WIDTH'(i * 64'd40503 + 64'd99);
  always_ff @(posedge clk_i) begin
    if (we_i) rows_q[to_i] <= word_i;
    RESET
  end
endmodule
"""
RESETS = {  # what the families' block RAMs do with a reset of the output
    "ecp5": "if (zero_i) word_o <= '0; else if (read_i) word_o <= rows_q[from_i];",
    "gw5a": "if (zero_i) word_o <= '0; else if (read_i) word_o <= rows_q[from_i];",
    "xc7": "if (read_i) if (zero_i) word_o <= WIDTH'(5); else word_o <= rows_q[from_i];",
}
RAMS = {"ecp5": ["DP16KD"], "gw5a": ["SDPX9B"], "xc7": ["RAMB18E1", "RAMB36E1"]}


class Clocked:
    """Simulates a circuit of one clock, from its initial values, else zeros."""

    def __init__(self, found: circuit.Circuit) -> None:
        self.found = found
        self.values = circuit.CONSTANTS | dict.fromkeys(found.registers, 0)
        for net in found.module["netnames"].values():
            for bit, first in zip(
                net["bits"], net["attributes"].get("init", "")[::-1], strict=False
            ):
                self.values[bit] = -(first == "1")
        self.inputs, self.outputs = found.ports("input"), found.ports("output")

    def step(self, **ports: int) -> None:
        """Lets one clock pass with values at the inputs."""
        for port, bit in self.inputs.items():
            name, _, at = port.partition("[")
            self.values[bit] = -(ports.get(name, 0) >> int(at[:-1]) & 1)
        self.found.evaluate(self.values)
        self.values |= {q: self.values[r.data[0]] for q, r in self.found.registers.items()}

    def read(self) -> int:
        """Returns the outputs after the clock, which registers make alone, as a number."""
        self.found.evaluate(self.values)
        return sum((self.values[bit] & 1) << i for i, bit in enumerate(self.outputs.values()))


SLOW = pytest.mark.slow


def mapped(target: str, text: str, folder: pathlib.Path) -> Clocked:
    """Maps the module `memory` to block RAM; returns a simulation of the netlist."""
    file, netlist, models = (folder / name for name in ("memory.sv", "net.v", "models.v"))
    file.write_text(text)
    mapping = f"{PARTS[target].mapping} {PARTS[target].bare} -top memory -run begin:check"
    read = f"read_slang --unroll-limit=20000 {file}"
    yosys.run([read, mapping, f"write_verilog {netlist}"], folder / "log")
    assert any(name in netlist.read_text() for name in RAMS[target])
    models.write_text(block_ram.models(target))
    read = [f"read_verilog {cells.MODELS[target]}", f"read_verilog {models} {netlist}"]
    # Without these the two ports of a memory have clocks of two names.
    read += ["hierarchy -top memory", "proc", "flatten", "opt_expr", "opt_clean"]
    return Clocked(circuit.read(read, "memory", folder / "memory"))


def place(source: random.Random, rows: int) -> int:
    """Returns one of a few rows, which are far apart, so that accesses meet."""
    return source.randrange(8) * (rows // 8) + source.randrange(2)


KINDS = [(target, width) for target in ("ecp5", "xc7") for width in (2, 4, 9, 18, 36)]
QUICK = [("ecp5", 18), ("gw5a", 36), ("xc7", 18)]  # another width has another cell in GW5A


@pytest.mark.parametrize(
    ("target", "width", "writes"),
    [(*kind, True) for kind in QUICK]
    + [
        pytest.param(*kind, writes, marks=SLOW)
        for kind in KINDS
        for writes in (True, False)
        if (kind not in QUICK or not writes)
    ],
)
def test_block_ram(target: str, width: int, writes: bool, tmp_path: pathlib.Path) -> None:
    """Block RAM as Yosys maps it reads what was written and initial rows, and is reset."""
    text = MEMORY.replace("RESET", RESETS[target]).replace("WIDTH", str(width))
    found = mapped(target, text if writes else text.replace("if (we_i)", "if (1'b0)"), tmp_path)
    source, mask = random.Random(width), (1 << width) - 1
    rows = [(i * 40503 + 99) & mask for i in range(512)]
    word = None
    for _ in range(200):
        to, start, given = place(source, 512), place(source, 512), source.getrandbits(width)
        zero, we, go = (source.random() < chance for chance in (0.1, 0.5, 0.8))
        found.step(zero_i=zero, we_i=we, read_i=go, to_i=to, from_i=start, word_i=given)
        if target != "xc7" and zero:
            word = 0
        elif go:
            word = 5 & mask if zero else rows[start]
        if we and writes:
            rows[to] = given
        assert word is None or found.read() == word


ONE_PORT = """module memory (
  input logic clk_i, en_i, input logic [PARTS-1:0] we_i, input logic [13:0] at_i,
  input logic [WIDTH-1:0] word_i, output logic [WIDTH-1:0] word_o
);
  localparam int Part = WIDTH / PARTS;
  (* ram_style = "block" *) logic [WIDTH-1:0] rows_q[ROWS];
  initial for (int i = 0; i < ROWS; i++) rows_q[i] = WIDTH'(i * 64'd40503 + 64'd99);
  always_ff @(posedge clk_i) if (en_i)
    for (int i = 0; i < PARTS; i++)
      if (we_i[i]) rows_q[at_i[$clog2(ROWS)-1:0]][Part*i+:Part] <= word_i[Part*i+:Part];
  READ
endmodule
"""
READS = {  # what an access that writes reads
    "old": "always_ff @(posedge clk_i) if (en_i) word_o <= rows_q[at_i[$clog2(ROWS)-1:0]];",
    "nothing": "always_ff @(posedge clk_i)"
    " if (en_i && we_i == 0) word_o <= rows_q[at_i[$clog2(ROWS)-1:0]];",
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("width", [18, *(pytest.param(n, marks=SLOW) for n in (1, 9))])
def test_one_port(width: int, read: str, tmp_path: pathlib.Path) -> None:
    """A port of ECP5's block RAM reads and writes, in parts of 9 bits, as the RTL says."""
    rows, parts = {18: 1024, 9: 2048, 1: 16384}[width], 2 if width == 18 else 1
    text = ONE_PORT.replace("READ", READS[read]).replace("ROWS", str(rows))
    text = text.replace("PARTS", str(parts)).replace("WIDTH", str(width))
    found, source, mask = mapped("ecp5", text, tmp_path), random.Random(width), (1 << width) - 1
    contents = [(i * 40503 + 99) & mask for i in range(rows)]
    word = None
    for _ in range(200):
        at, given, enable = place(source, rows), source.getrandbits(width), source.random() < 0.9
        we = source.randrange(1 << parts) if source.random() < 0.7 else 0
        found.step(en_i=enable, we_i=we, at_i=at, word_i=given)
        if enable and (read == "old" or not we):
            word = contents[at]
        if enable:
            part = width // parts
            chosen = sum(((1 << part) - 1) << part * i for i in range(parts) if we >> i & 1)
            contents[at] = contents[at] & ~chosen | given & chosen
        assert word is None or found.read() == word
