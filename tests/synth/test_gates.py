# SPDX-License-Identifier: Apache-2.0
"""Tests the simulation of netlists from tables beside Verilator's of Yosys' models of cells."""

import gzip
import pathlib
import random
import re
import zlib

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from maeslant.build import cocotb_bench
from maeslant.synth import design, liberty, yosys
from maeslant.synth.fpga import flow as fpga
from maeslant.synth.netlist import cells, functions, gates, simulation
from maeslant.synth.report import SynthesisError
from tests.support.stream import start

TRISTATE = re.compile("TBUF|TINV|TLAT|ebuf|einv")


def known(target: str) -> liberty.Library:
    """Returns a standard-cell library, or skips the test without its Liberty file."""
    try:
        return liberty.find(target)
    except SynthesisError:
        pytest.skip("no Liberty file here")


def instance(kind: str, pins: dict[str, str]) -> str:
    """Returns an instance of a cell as Yosys writes it."""
    name = f"_{zlib.crc32(str(pins).encode())}_"
    given = ",\n".join(f"    .{pin}({net})" for pin, net in sorted(pins.items()))
    return f"  {kind} {name} (\n{given}\n  );\n"


def module(wires: list[str], body: list[str], outputs: list[str]) -> str:
    """Returns a module "top" with instances of cells, as Yosys writes it."""
    return (
        "module top(clk_i, rst_ni, in_i, out_o);\n"
        "  input clk_i;\n  wire clk_i;\n  input rst_ni;\n  wire rst_ni;\n"
        f"  input [7:0] in_i;\n  output [{len(outputs) - 1}:0] out_o;\n"
        + "".join(f"  wire {wire};\n" for wire in wires)
        + "".join(body)
        + f"  assign out_o = {{ {', '.join(outputs[::-1])} }};\nendmodule\n"
    )


def every_cell(library: liberty.Library, source: random.Random) -> str:
    """Returns a netlist with each of a library's gates, flip-flops, latches and clock gates.

    Some are left out: those that are both set and reset, whose state has no meaning while they
    are. Nothing that a clock samples changes at its edge but by that of a flip-flop.
    """
    body, given, clocks = [], [f"in_i[{i}]" for i in range(8)], ["clk_i"]
    kinds = [c for c in library.cells.values() if c.functions and not TRISTATE.search(c.name)]
    plain = [c for c in kinds if c.inputs and not c.sequential and not c.gate]
    states = [c for c in kinds if c.sequential and not {"clear", "preset"} <= c.state.keys()]
    states = [c for c in states if not c.gate]
    flip_flops, latches = ([c for c in states if kind in c.state] for kind in ("ff", "latch"))
    for number, cell in enumerate(c for c in library.cells.values() if c.gate):
        clock, out, _ = cell.gate
        pins = {pin: source.choice([*given, "1'h0"]) for pin in cell.inputs}
        body.append(instance(cell.name, {**pins, clock: "clk_i", out: f"gated{number}"}))
        clocks.append(f"gated{number}")
    nets = [*given]
    for number, cell in enumerate([*plain, *flip_flops, *flip_flops, *latches, *plain]):
        near = given if cell in latches else nets[-20:]
        pins = {pin: source.choice([*near, "1'h1"]) for pin in cell.inputs}
        if number == 0:
            pins = dict.fromkeys(pins, "gated1")  # what depends on a clock in the same half
        if cell.sequential:
            resets = [cell.state[name] for name in ("clear", "preset") if name in cell.state]
            moved = cell.state.get("clocked_on", cell.state.get("enable"))
            pins |= {str(end).strip("!'() "): "rst_ni" for end in resets}
            pins[str(moved).strip("!'() ")] = source.choice(clocks)
        made = {pin: f"\\u_part.net{number}[{i}] " for i, pin in enumerate(cell.functions)}
        body.append(instance(cell.name, pins | made))
        nets += made.values()
    assert len(plain) > 30 and len(flip_flops) > 3
    return module([*nets[8:], *clocks[1:]], body, nets[8:])


BENCH = """module bench(input logic clk_i, rst_ni, input logic [7:0] in_i, output logic same_o);
  wire [{high}:0] one, other;
  top u_top (.*, .out_o(one));
  gates u_gates (.*, .out_o(other));
  assign same_o = one === other;
endmodule
"""


@cocotb.test()
async def random_inputs(dut) -> None:
    """Both netlists' outputs are the same in both halves of a clock, and when inputs change."""
    source = random.Random(2)
    dut.rst_ni.value = 1  # Verilator's flip-flops are reset at an edge
    await Timer(1, unit="ns")
    await start(dut, in_i=0)
    for edge in [RisingEdge, FallingEdge] * 400:
        await edge(dut.clk_i)
        await Timer(1, unit="ns")
        assert dut.same_o.value
        dut.in_i.value = source.getrandbits(8)
        dut.rst_ni.value = source.random() > 0.02
        await Timer(1, unit="ns")
        assert dut.same_o.value


@pytest.mark.parametrize("target", ["nangate45", "ihp"])
def test_standard_cells(target: str, tmp_path: pathlib.Path) -> None:
    """Each cell of a library does what Yosys' model of the cell does in Verilator."""
    library = known(target)
    models = library_models(library, tmp_path)
    compare(every_cell(library, random.Random(1)), target, library, models)


# Cells of FPGAs that our netlists are made of, with values of parameters; a number is one of as
# many bits, chosen at random.
FPGA: dict[str, list[tuple[str, dict[str, object]]]] = {
    "xc7": [
        *((f"LUT{n}", {"INIT": 2**n}) for n in range(1, 7)),
        *((name, {"INIT": 1}) for name in ("FDRE", "FDSE", "FDCE", "FDPE")),
        *((name, {}) for name in ("CARRY4", "MUXF7", "MUXF8", "INV", "BUFG")),
        *((f"RAM{n}M", {f"INIT_{part}": 64 for part in "ABCD"}) for n in (32, 64)),
        *((f"RAM{n}X1{way}", {"INIT": n}) for n in (32, 64, 128) for way in "SD"),
        ("RAM256X1S", {"INIT": 256}),
        ("SRL16E", {"INIT": 16, "IS_CLK_INVERTED": "1'h0"}),
        ("SRL16E", {"INIT": 16, "IS_CLK_INVERTED": "1'h1"}),
        ("SRLC32E", {"INIT": 32}),
    ],
    "ecp5": [
        ("LUT4", {"INIT": 16}),
        ("PFUMX", {}),
        ("L6MUX21", {}),
        *(
            ("TRELLIS_FF", {"REGSET": f'"{first}"', "SRMODE": f'"{mode}"', "CEMUX": f'"{enable}"'})
            for first in ("SET", "RESET")
            for mode in ("ASYNC", "LSR_OVER_CE")
            for enable in ("CE", "1", "INV")
        ),
        ("CCU2C", {"INIT0": 16, "INIT1": 16, "INJECT1_0": '"NO"', "INJECT1_1": '"NO"'}),
        ("TRELLIS_DPR16X4", {"INITVAL": 64, "WCKMUX": '"WCK"', "WREMUX": '"WRE"'}),
        ("TRELLIS_DPR16X4", {"INITVAL": 64, "WCKMUX": '"INV"', "WREMUX": '"INV"'}),
    ],
    "gw5a": [
        *((f"LUT{n}", {"INIT": 2**n}) for n in range(1, 5)),
        *((f"MUX2_LUT{n}", {}) for n in range(5, 9)),
        *((f"DFF{end}", {}) for end in ("", "E", "S", "SE", "R", "RE", "P", "PE", "C", "CE")),
        *(("ALU", {"ALU_MODE": f"32'sd{mode}"}) for mode in (0, 1, 2)),
        *((f"RAM16S{n}", {f"INIT_{i}": 16 for i in range(n)}) for n in (1, 2, 4)),
        *((f"RAM16SDP{n}", {f"INIT_{i}": 16 for i in range(n)}) for n in (1, 2, 4)),
    ],
    "gatemate": [
        *((f"CC_LUT{n}", {"INIT": 2**n}) for n in range(1, 5)),
        ("CC_L2T4", {f"INIT_L{place}": 4 for place in ("00", "01", "10")}),
        ("CC_L2T5", {f"INIT_L{place}": 4 for place in ("02", "03", "11", "20")}),
        *((name, {}) for name in ("CC_MX2", "CC_MX4", "CC_ADDF", "CC_BUFG")),
        *(("CC_DFF", {"EN_INV": f"1'h{i & 1}", "SR_VAL": f"1'h{i >> 1}"}) for i in range(4)),
    ],
}
CLOCKS = {"CLK", "WCLK", "WCK"}
RESETS = {"CLR", "PRE", "LSR", "PRESET", "CLEAR", "SR"}


def every_fpga_cell(target: str, source: random.Random, work: pathlib.Path) -> str:
    """Returns a netlist with each of an FPGA's cells twice."""
    directions = functions.Cells(target, None, "", work).directions
    body, nets = [], [f"in_i[{i}]" for i in range(8)]
    wires = []
    for number, (kind, values) in enumerate([*FPGA[target], *FPGA[target]]):
        pins, own = {}, []
        for pin, (way, count) in directions[kind].items():
            if way == "output":
                made = [f"net{number}_{pin}[{i}]" for i in range(count)]
                wires.append(f"[{count - 1}:0] net{number}_{pin}")
            else:
                clock = pin in CLOCKS or (pin == "C" and kind.startswith("FD"))
                near = ["clk_i"] if clock else ["rst_ni"] if pin in RESETS else nets[-24:]
                made = [source.choice(near) for _ in range(count)]
            pins[pin] = f"{{ {', '.join(made[::-1])} }}" if count > 1 else made[0]
            own += made if way == "output" else []
        nets += own
        written = {
            name: value if isinstance(value, str) else f"{value}'h{source.getrandbits(value):x}"
            for name, value in values.items()
        }
        given = ",\n".join(f"    .{name}({value})" for name, value in written.items())
        text = instance(kind, pins)
        body.append(text.replace(f"  {kind} ", f"  {kind} #(\n{given}\n  ) ") if given else text)
    return module(wires, body, nets[8:])


@pytest.mark.parametrize("target", FPGA)
def test_fpga_cells(target: str, tmp_path: pathlib.Path) -> None:
    """Each of an FPGA's cells does what Yosys' model of it does in Verilator."""
    compare_fpga(every_fpga_cell(target, random.Random(1), tmp_path), target, tmp_path)


def compare_fpga(text: str, target: str, folder: pathlib.Path) -> None:
    """Runs a netlist's tables beside the netlist that Yosys makes of it and its models."""
    models = folder / "models.v"
    passes = [f"read_verilog {cells.MODELS[target]}", f"read_verilog {models.with_name('top.v')}"]
    models.with_name("top.v").write_text(text)
    flat = ["hierarchy -top top", "proc", "flatten", "opt_clean", "rename top reference"]
    yosys.run([*passes, *flat, f"write_verilog -noattr {models}"], folder / "log")
    models.write_text(models.read_text().replace("module reference(", "module top("))
    compare(text, target, None, models, alone=True)


MIXED = """module top(
  input logic clk_i, rst_ni, input logic [7:0] in_i, output logic [35:0] out_o
);
  (* ram_style = "block" *) logic [17:0] rows_q[1024];
  logic [17:0] word_q, wide;
  logic [35:0] product_q;
  assign wide = {in_i, ~in_i, in_i[1:0]};
  initial for (int i = 0; i < 1024; i++) rows_q[i] = 18'(i * 40503);
  always_ff @(posedge clk_i) begin
    if (in_i[0]) rows_q[{2'b0, in_i}] <= wide;
    word_q <= rows_q[{2'b0, in_i ^ 8'h1}];
    product_q <= word_q * wide;
  end
  assign out_o = product_q ^ {word_q, word_q};
endmodule
"""


@pytest.mark.parametrize("target", ["ecp5", "xc7"])
def test_what_stays(target: str, tmp_path: pathlib.Path) -> None:
    """A netlist's block RAM and multipliers, which stay Verilog, do what the RTL does."""
    file = tmp_path / "mixed.sv"
    file.write_text(MIXED.replace("module top(", "module mixed("))
    how = fpga.recipe(target, 1)
    fpga.map_core(design.find(str(file)), target, tmp_path, how, lambda step: None)
    text = gzip.decompress((tmp_path / "net.v.gz").read_bytes()).decode()
    assert re.search("DSP48E1|MULT18X18D", text) and re.search("RAMB18E1|DP16KD", text)
    models = tmp_path / "models.sv"
    models.write_text(MIXED)
    compare(text.replace("module mixed(", "module top("), target, None, models, alone=True)


def test_made_clock_of_block_ram(tmp_path: pathlib.Path) -> None:
    """Block RAM whose clock a gate makes is refused: it would be written before its inputs rest."""
    file = tmp_path / "mixed.sv"
    made = MIXED.replace("module top(", "module mixed(").replace("posedge clk_i", "posedge made")
    file.write_text(made.replace("  assign wide", "  wire made = clk_i & rst_ni;\n  assign wide"))
    fpga.map_core(design.find(str(file)), "ecp5", tmp_path, fpga.recipe("ecp5", 1), print)
    netlist = tmp_path / "netlist.v"
    netlist.write_bytes(gzip.decompress((tmp_path / "net.v.gz").read_bytes()))
    with pytest.raises(SynthesisError, match="a made clock of a cell that is no gate"):
        simulation.files(netlist, "mixed", "ecp5", None)


TWO = """module bench(input logic clk_i, other_i, input logic [7:0] in_i, output logic same_o);
  wire [3:0] one;
  logic [3:0] two = '0;
  wire rst_ni = 1'b1;
  gates u_gates (.*, .out_o(one));
  always_ff @(posedge clk_i) {two[2], two[0]} <= {in_i[0], two[1]};
  always_ff @(posedge other_i) {two[3], two[1]} <= {two[0], two[2]};
  assign same_o = one === two;
endmodule
"""


@cocotb.test()
async def two_clocks(dut) -> None:
    """Flip-flops of two clocks take each other's old values where both have an edge at once."""
    source, clocks = random.Random(3), (dut.clk_i, dut.other_i)
    levels = [0, 0]
    for clock in clocks:
        clock.value = 0
    dut.in_i.value = 0
    for _ in range(800):
        await Timer(1, unit="ns")
        assert dut.same_o.value
        dut.in_i.value = source.getrandbits(8)
        await Timer(1, unit="ns")
        which = source.randrange(1, 4)
        for i, clock in enumerate(clocks):
            levels[i] ^= which >> i & 1
            clock.value = levels[i]


def test_two_clocks(tmp_path: pathlib.Path) -> None:
    """A netlist with two clock ports does what its RTL does, whichever edges coincide."""
    netlist, bench = tmp_path / "netlist.v", tmp_path / "bench.sv"
    pins = (("clk_i", "b"), ("other_i", "c"), ("clk_i", "in_i[0]"), ("other_i", "a"))
    body = [
        instance("FDRE", {"C": clock, "CE": "1'h1", "R": "1'h0", "D": data, "Q": q})
        for q, (clock, data) in zip("abcd", pins, strict=True)
    ]
    text = module([*"abcd"], body, [*"abcd"]).replace("(clk_i,", "(clk_i, other_i,")
    netlist.write_text(text.replace("  input clk_i;", "  input other_i;\n  input clk_i;", 1))
    bench.write_text(f"{gates.written(netlist, 'top', 'xc7', None)}{TWO}")
    assert run("bench", "two_clocks", sources=[gates.SIMULATION, bench])


def compare(
    text: str,
    target: str,
    library: liberty.Library | None,
    models: pathlib.Path,
    alone: bool = False,
) -> None:
    """Runs a netlist's tables beside the netlist with models; ``alone``: it is in their file."""
    netlist, bench = (models.with_name(f"{name}.sv") for name in ("netlist", "bench"))
    netlist.write_text(text)
    made = gates.written(netlist, "top", target, library)
    high = re.search(r"output \[(\d+):0\] out_o", text)[1]
    bench.write_text(f"{made}{BENCH.format(high=high)}")
    sources = [*([] if alone else [netlist]), models, gates.SIMULATION, bench]
    assert run("bench", "random_inputs", sources=sources)


def run(top: str, only: str, **options) -> list[str]:
    """Runs one of this file's coroutines on a module."""
    return cocotb_bench.simulate(top, "tests.synth.test_gates", test_filter=only, **options)


def library_models(library: liberty.Library, folder: pathlib.Path) -> pathlib.Path:
    """Writes Verilog of a library's cells: Yosys' models, and ours of clock gates."""
    models = folder / "models.sv"
    read = f"read_liberty -ignore_miss_func {library.path}"
    yosys.run([read, "proc", f"write_verilog -noattr {models}"], folder / "log")
    ours, text = cells.clock_gates(library), models.read_text()
    for name in re.findall(r"module (\w+) \(", ours):
        text = re.sub(rf"(?ms)^module {name}\(.*?^endmodule\n", "", text)
    models.write_text(text + ours)
    return models


def test_reset_by_a_flip_flop(tmp_path: pathlib.Path) -> None:
    """A flip-flop whose reset another one ends at an edge takes nothing at that edge."""
    pins = {"C": "clk_i", "CE": "1'h1"}
    body = [instance("FDPE", {**pins, "D": "1'h0", "PRE": "in_i[7]", "Q": "reset"})]
    body.append(instance("FDCE", {**pins, "D": "1'h1", "CLR": "reset", "Q": "made"}))
    compare_fpga(module(["reset", "made"], body, ["reset", "made"]), "xc7", tmp_path)


@cocotb.test()
async def random_states(dut) -> None:
    """Flip-flops that nothing resets, and inputs that are x, have random values from the start."""
    await Timer(1, unit="ns")
    states, unknown = divmod(int(dut.out_o.value), 1 << 64)
    assert 8 < states.bit_count() < 56 and 8 < unknown.bit_count() < 56


def test_random_states(tmp_path: pathlib.Path) -> None:
    """Flip-flops without a reset, and x, are simulated from random values."""
    library, netlist = known("nangate45"), tmp_path / "top.v"
    body, held, unknown = [], [f"held{i}" for i in range(64)], [f"x{i}" for i in range(64)]
    body += [instance("DFF_X1", {"CK": "clk_i", "D": net, "Q": net}) for net in held]
    body += [instance("BUF_X1", {"A": "1'hx", "Z": net}) for net in unknown]
    netlist.write_text(module([*held, *unknown], body, [*unknown, *held]))
    made = simulation.files(netlist, "top", "nangate45", library)
    assert run("top", "random_states", netlist=made)


@pytest.mark.parametrize(
    ("pins", "why"),
    [
        ({"A1": "in_i[0]", "A2": "in_i[1]", "ZN": "made"}, ""),
        ({"A1": "in_i[0]", "A2": "made", "ZN": "made"}, "in a loop"),
        ({"A1": "in_i[0]", "A2": "other", "ZN": "made"}, "1 nets have no driver"),
        ({"A1": "in_i[0]", "A2": "in_i[1]", "ZN": "in_i[2]"}, "2 nets have no driver, or several"),
        ({"A1": "in_i[0]", "ZN": "made"}, "nothing at its pin 'A2'"),
        ({"A1": "in_i[0]", "A2": "~in_i[1]", "ZN": "made"}, "is not understood"),
        ({"A1": "in_i[0]", "A2": "in_i[1:0]", "ZN": "made"}, "no pin A2 of 2 bits"),
        ({"A1": "in_i[0]", "A9": "in_i[1]", "ZN": "made"}, "no pin A9 of 1 bits"),
    ],
)
def test_broken_netlists(pins: dict[str, str], why: str, tmp_path: pathlib.Path) -> None:
    """A netlist that has no meaning is refused."""
    library, netlist = known("nangate45"), tmp_path / "top.v"
    netlist.write_text(module(["made", "other"], [instance("NAND2_X1", pins)], ["made"]))
    if not why:
        simulation.files(netlist, "top", "nangate45", library)
        return
    with pytest.raises(SynthesisError, match=why):
        simulation.files(netlist, "top", "nangate45", library)


def test_clock_of_several_bits(tmp_path: pathlib.Path) -> None:
    """A clock that is a bit of a wider port is refused."""
    library, netlist = known("nangate45"), tmp_path / "top.v"
    pins = {"CK": "in_i[0]", "D": "in_i[1]", "Q": "made"}
    netlist.write_text(module(["made"], [instance("DFF_X1", pins)], ["made"]))
    with pytest.raises(SynthesisError, match="a clock in a port of several bits"):
        simulation.files(netlist, "top", "nangate45", library)


def test_names_of_each_other(tmp_path: pathlib.Path) -> None:
    """Nets that are only names of each other are refused, and so is a netlist without the top."""
    library, netlist = known("nangate45"), tmp_path / "top.v"
    ring = "".join(f"  assign {a} = {b};\n" for a, b in ("pq", "qr", "rp"))
    netlist.write_text(module(["p", "q", "r"], [ring], ["p"]))
    with pytest.raises(SynthesisError, match="names of each other"):
        simulation.files(netlist, "top", "nangate45", library)
    with pytest.raises(SynthesisError, match="no module other"):
        simulation.files(netlist, "other", "nangate45", library)
