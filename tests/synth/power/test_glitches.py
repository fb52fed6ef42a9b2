# SPDX-License-Identifier: Apache-2.0
"""Tests glitches.py and delays.py: transitions of a netlist with delays, by hand and by Icarus."""

import random
import re
import shutil
import subprocess

import numpy as np
import pytest

from maeslant.synth.liberty import Cell, Library
from maeslant.synth.power import delays, estimate, glitches, levels
from maeslant.synth.power import placed as placed_power
from maeslant.synth.report import SynthesisError

CELLS = {
    "INV": Cell("INV", 1.0, {"A": 1.0}, {"ZN": "!A"}, {}),
    "AND": Cell("AND", 1.0, {"A": 1.0, "B": 1.0}, {"Z": "A & B"}, {}),
    "XOR": Cell("XOR", 1.0, {"A": 1.0, "B": 1.0}, {"Z": "A ^ B"}, {}),
    "DFF": Cell(
        "DFF",
        1.0,
        {"D": 1.0, "CK": 1.0},
        {"Q": "IQ"},
        {"clocked_on": "CK", "next_state": "D", "ff": ("IQ", "IQN")},
    ),
}
OUT = {"INV": "ZN", "AND": "Z", "XOR": "Z", "DFF": "Q"}
SDF = r"""(DELAYFILE (TIMESCALE 1ns)
 (CELL (CELLTYPE "top") (INSTANCE) (DELAY (ABSOLUTE
    (INTERCONNECT a_i u\.x\[1\]/A (0.0020::0.0040) (0.0040::0.0060))
 )))
 (CELL
  (CELLTYPE "XOR")
  (INSTANCE u\.x\[1\])
  (DELAY (ABSOLUTE
    (COND (B == 1'b1)
     (IOPATH A Z (0.0300::0.0300) (0.0100::0.0100)))
    (COND (B == 1'b0)
     (IOPATH A Z (0.0500::0.0500) (0.0200::0.0200)))
    (IOPATH (posedge B) Z (0.0700::0.0900) (0.0400::0.0400))
"""


def timed(tmp_path, body: str, paths: dict, wires: dict | None = None) -> glitches.Timed:
    """Returns a netlist of the cells above with delays in ns; ports: clk_i, a_i, b_i, z_o."""
    netlist = tmp_path / "net.v"
    names = ", ".join(sorted({"clk_i", "a_i", "b_i", "z_o"}))
    text = f"module top({names});\n input clk_i;\n input a_i;\n input b_i;\n output z_o;\n"
    netlist.write_text(f"{text}{body}endmodule\n")
    library = Library("x", tmp_path / "x.lib", "", CELLS, (), "INV", 0.0, 1.0, 1.0, None)
    return glitches.Timed(netlist, "top", library, delays.Delays(paths, wires or {}))


def toggles_of(made: glitches.Timed, **steps: tuple[int, int]) -> int:
    """Returns the transitions in run 0 of z_o when each input goes from one value to another."""

    def values(at: int) -> dict[str, np.ndarray]:
        return {name: np.array([value[at]], np.uint64) for name, value in steps.items()}

    made.edge(values(0), count=False)
    made.forget()
    made.edge(values(1), count=True)
    return int(made.toggles[made.port("z_o")[0]])


HAZARD = "  INV n (.A(a_i), .ZN(w));\n  AND g (.A(a_i), .B(w), .Z(z_o));\n"


@pytest.mark.parametrize(("inverter", "wire", "seen"), [(30, 0, 2), (10, 0, 0), (10, 15, 2)])
def test_hazard(tmp_path, inverter: int, wire: int, seen: int) -> None:
    """A pulse as long as an inverter and its wire are slow passes a faster gate only."""
    paths = {("n", "A", "ZN"): (inverter / 1000,) * 2, ("g", "A", "Z"): (0.02, 0.02)}
    paths["g", "B", "Z"] = 0.02, 0.02
    made = timed(tmp_path, "  wire w;\n" + HAZARD, paths, {("g", "B"): wire / 1000})
    assert toggles_of(made, a_i=(0, 1)) == seen
    assert not made.settled[made.port("z_o")[0]], "without delays it does not change"


@pytest.mark.parametrize("first", "AB")
@pytest.mark.parametrize(("rise", "seen"), [(0.05, 0), (0.02, 2)])
def test_each_pin_and_edge(tmp_path, first: str, rise: float, seen: int) -> None:
    """A gate is as slow as the pin that changed and the edge: XOR of a value and itself.

    One pin changes at once, the other 30 steps later: a rise due by then is seen, else lost.
    """
    other = "AB".replace(first, "")
    paths = {("g", first, "Z"): (rise, 0.02), ("g", other, "Z"): (0.02, 0.02)}
    body = "  XOR g (.A(a_i), .B(a_i), .Z(z_o));\n"
    made = timed(tmp_path, body, paths, {("g", other): 0.03})
    assert toggles_of(made, a_i=(0, 1)) == seen


def test_flip_flops_change_when_their_clock_comes(tmp_path) -> None:
    """Two flip-flops that change together make a pulse if their clocks come at different times."""
    body = "  wire t;\n  wire p;\n  wire q;\n  AND t0 (.A(clk_i), .B(clk_i), .Z(t));\n"
    body += "  DFF p0 (.D(a_i), .CK(clk_i), .Q(p));\n  DFF q0 (.D(a_i), .CK(t), .Q(q));\n"
    body += "  XOR g (.A(p), .B(q), .Z(z_o));\n"
    paths = {(f, "CK", "Q"): (0.01, 0.01) for f in ("p0", "q0")}
    paths |= {("g", pin, "Z"): (0.02, 0.02) for pin in "AB"}
    for late, seen in ((0.005, 0), (0.03, 2)):
        made = timed(tmp_path, body, paths | {("t0", pin, "Z"): (late, late) for pin in "AB"})
        made.edge({"a_i": np.array([1], np.uint64)}, count=False)
        made.forget()
        made.edge({"a_i": np.array([1], np.uint64)}, count=True)
        assert made.toggles[made.port("z_o")[0]] == seen


CLOCKED = "  wire t;\n  wire p;\n  AND t0 (.A(clk_i), .B(clk_i), .Z(t));\n"
CLOCKED += "  DFF p0 (.D(a_i), .CK(clk_i), .Q(p));\n  DFF q0 (.D(p), .CK(t), .Q(z_o));\n"
ENERGIES = """library (x) { leakage_power_unit : "1nW"; capacitive_load_unit (1,ff);
cell (DFF) { pin (Q) { } }
cell (AND) { pin (Z) { internal_power () { related_pin : "A";
  rise_power (scalar) { values ("1.0"); } fall_power (scalar) { values ("3.0"); } } } } }"""


def test_energy_of_a_clock_tree(tmp_path) -> None:
    """Clock nets and buffers change twice a clock, though the simulated clock never moves."""
    made = timed(tmp_path, CLOCKED, {})
    made.library.path.write_text(ENERGIES)
    made.edge({"a_i": np.array([0], np.uint64)}, count=True)
    wires = np.zeros(made.nets)
    wires[made.port("clk_i")[0]], wires[made.cells["t0"][1]["Z"]] = 3.0, 5.0
    internal, switching, clocks, _ = estimate.energies(made, made.library, wires)
    # Pins: two of the gate and one flip-flop, and one flip-flop behind it; 1 V, 1 fF each.
    assert clocks == pytest.approx((3 + 3.0) + (1 + 5.0) + 2 * 2.0)
    assert internal == switching == 0


def test_what_settles_otherwise_is_an_error(tmp_path, monkeypatch) -> None:
    """A simulation with delays that ends elsewhere than the one without is refused."""
    made = timed(tmp_path, "  wire w;\n" + HAZARD, {})
    toggles_of(made, a_i=(0, 1))
    monkeypatch.setattr(made, "_plan", lambda *_: None)
    with pytest.raises(SynthesisError, match="settle at another value"):
        made.edge({"a_i": np.array([0], np.uint64)}, count=True)


def test_sdf(tmp_path) -> None:
    """Delays are read from SDF: escaped names, conditions, edges, wires."""
    file = tmp_path / "x.sdf"
    file.write_text(SDF)
    found = delays.read(file)
    assert found.wires == {("u.x[1]", "A"): pytest.approx(0.004)}
    assert found.paths["u.x[1]", "A", "Z"] == pytest.approx((0.04, 0.015))
    assert found.paths["u.x[1]", "B", "Z"] == pytest.approx((0.08, 0.04))


def test_charges_of_spef() -> None:
    """The wires' capacitances are read from SPEF, by what drives them; ports' are not a cell's."""
    text = "*D_NET q\\[1\\] 3.2500\n*CONN\n*I u\\.f\\[1\\]:Q B\n*I g:A B\n*CAP\n*END\n\n"
    text += "*D_NET a_i 9.0000\n*CONN\n*P a_i B\n*I g:B B\n*END\n"
    assert list(placed_power.charges(text)) == [("u.f[1]", "Q", 3.25)]


def test_as_icarus(tmp_path) -> None:
    """Every net of a random circuit has the transitions that Icarus counts, run by run."""
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus Verilog is not installed: sudo apt-get install iverilog")
    source, nets, body, paths, gates = random.Random(3), ["a_i", "b_i"], "", {}, ""
    for number in range(60):
        kind = source.choice(["INV", "AND", "XOR", "XOR"])
        inputs = [source.choice(nets[-12:]) for _ in CELLS[kind].inputs]
        net = f"w{number}" if number < 59 else "z_o"
        rise, fall = source.randint(5, 40), source.randint(5, 40)
        pins = dict(zip(CELLS[kind].inputs, inputs, strict=True))
        body += f"  wire {net};\n" if number < 59 else ""
        wired = ", ".join(f".{pin}({at})" for pin, at in pins.items())
        body += f"  {kind} g{number} ({wired}, .{OUT[kind]}({net}));\n"
        paths |= {(f"g{number}", pin, OUT[kind]): (rise / 1000, fall / 1000) for pin in pins}
        text = re.sub(
            r"\b[AB]\b", lambda pin, pins=pins: pins[pin[0]], CELLS[kind].functions[OUT[kind]]
        )
        gates += f"  wire {net};\n" if number < 59 else ""
        gates += f"  assign #({rise}, {fall}) {net} = {text.replace('!', '~')};\n"
        nets.append(net)
    made = timed(tmp_path, body, paths)
    runs = np.random.default_rng(2).integers(0, 1 << 63, (9, 2), np.uint64)
    totals = np.zeros(made.nets, np.int64)
    for number, (a, b) in enumerate(runs):
        made.edge({"a_i": np.array([a]), "b_i": np.array([b])}, count=number > 0)
    totals = {net: int(made.toggles[at]) for net, at in _numbers(made, paths).items()}
    assert max(totals.values()) > 2 * int(made.settled.max()), "glitches are there"
    assert totals == _icarus(tmp_path, gates, nets[2:], runs)


def _numbers(made: levels.Netlist, paths: dict) -> dict[str, int]:
    """Returns the numbers of the nets that gates drive."""
    found = {}
    for gate, _, out in paths:
        name = f"w{gate[1:]}" if gate != "g59" else "z_o"
        found[name] = made.cells[gate][1][out]
    return found


def _icarus(tmp_path, gates: str, nets: list[str], runs: np.ndarray) -> dict[str, int]:
    """Returns the transitions of each net over 64 runs, as Icarus simulates them one by one."""
    counts = "".join(
        f"  integer n_{net} = 0; always @({net}) n_{net} = n_{net} + on;\n" for net in nets
    )
    steps = ""
    for bit in range(64):
        for number, (a, b) in enumerate(runs):
            a_bit, b_bit = int(a) >> bit & 1, int(b) >> bit & 1
            steps += f"    on = {int(number > 0)}; a_i = {a_bit}; b_i = {b_bit}; #5000;\n"
    shown = "".join(f'    $display("{net} %0d", n_{net});\n' for net in nets)
    bench = tmp_path / "bench.v"
    bench.write_text(
        f"`timescale 1ps/1ps\nmodule bench;\n  reg a_i, b_i; integer on = 0;\n  wire z_o;\n{gates}"
        f"{counts}  initial begin\n{steps}{shown}    $finish;\n  end\nendmodule\n"
    )
    made = tmp_path / "bench.vvp"
    subprocess.run(["iverilog", "-o", made, bench], check=True)
    said = subprocess.run(["vvp", made], check=True, capture_output=True, text=True).stdout
    return {net: int(count) for net, count in re.findall(r"(?m)^(\w+) (\d+)$", said)}
