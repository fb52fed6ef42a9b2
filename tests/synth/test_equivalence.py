# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant synth --prove`: netlists are equal to their RTL, and one wrong cell is found."""

import dataclasses
import gzip
import pathlib
import random
import re
import shutil
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from maeslant.cli import app
from maeslant.synth import (
    SynthesisError,
    design,
    flow,
    liberty,
    prove,
    synthesize,
    yosys,
)
from maeslant.synth import report as reports
from maeslant.synth.fpga import nextpnr
from maeslant.synth.fpga.parts import PARTS
from maeslant.synth.netlist import circuit, correspondence, equivalence, state_machines
from maeslant.synth.page import rows, tables
from maeslant.synth.report import UnprovedError

SBOXES = design.enum_values("mae_aes_pkg::sbox_impl_e")


@pytest.fixture(autouse=True)
def own_reports(tmp_path, monkeypatch) -> None:
    """Keeps a test's synthesis reports in a folder of their own."""
    monkeypatch.setattr(reports, "REPORTS", tmp_path)


def changed(report: reports.Report, find: str, replace: str | Callable) -> None:
    """Changes one place of a report's netlist."""
    packed = report.folder / reports.NETLIST
    text, count = re.subn(find, replace, gzip.decompress(packed.read_bytes()).decode(), count=1)
    assert count == 1
    packed.write_bytes(gzip.compress(text.encode()))


# A cell that takes another's place, by a mapping's target.
WRONG = {
    "xc7": (r"INIT\(64'h(\w+)\)", lambda m: f"INIT(64'h{int(m[1], 16) ^ 2**64 - 1:016x})"),
    "nangate45": (r"\bNAND2_X\d", "NOR2_X1"),
}


SBOX = [("mae_sbox", {"Impl": i, "Kind": "DirsEncrypt"}, 8) for i in range(len(SBOXES))]
ROUND = pytest.param("mae_round", {}, 128, marks=pytest.mark.full)


@pytest.mark.parametrize(("top", "given", "outputs"), [*SBOX, ROUND])
@pytest.mark.parametrize("target", WRONG)
def test_sboxes(target: str, top: str, given: dict[str, object], outputs: int) -> None:
    """The netlist of each S-box, and of a round, is its RTL's equal; with one wrong cell, not."""
    if target == "nangate45":
        library_or_skip(target)
    made = synthesize(top, target, given)
    assert prove(made, target)["outputs"] == outputs
    changed(made, *WRONG[target])
    with pytest.raises(SynthesisError, match=r"differs from its RTL: \w+\[\d+\]"):
        prove(made, target)


def library_or_skip(target: str) -> None:
    """Skips the test if standard cells cannot be synthesized here."""
    if shutil.which("sta") is None:
        pytest.skip("OpenSTA is not installed: sudo apt-get install opensta")
    try:
        liberty.find(target)
    except SynthesisError as error:
        pytest.skip(str(error))


def test_registers() -> None:
    """The netlist of mae_fifo is equal to its RTL, and with another reset value is not.

    Its registers with a reset lose their names in synthesis.
    """
    made = synthesize("mae_fifo", "xc7", {"Depth": 4})
    found = prove(made, "xc7")
    assert found["registers"] + found["constant"] == made.area["ff"] > 20
    stored = reports.load(made.file)
    assert stored.netlist["proved"] == found
    row = rows.Ours("mae_fifo")
    assert "netlist proved" in tables._record(row, {repr(row): stored})["from"]
    changed(made, r"\bFDCE\b", "FDPE")
    changed(made, r"\.CLR\(", ".PRE(")
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        prove(made, "xc7")


def mapped_by_yosys(
    target: str, name: str, parameters: dict[str, object], folder: pathlib.Path
) -> tuple[circuit.Circuit, pathlib.Path]:
    """Maps a module for an FPGA, without place and route; returns its RTL and the netlist."""
    what = design.find(name, parameters)
    netlist = folder / "net.v"
    mapping = f"{PARTS[target].mapping} {PARTS[target].bare} -top {what.top} -run begin:check"
    passes = [what.read(), mapping, f"write_verilog -noattr {netlist}"]
    yosys.run(passes, folder / "log")
    return circuit.read([what.read()], what.top, folder / "rtl"), netlist


def compared(
    target: str,
    rtl: circuit.Circuit,
    netlist: pathlib.Path,
    top: str,
    encodings: dict[str, list[str]] | None = None,
) -> dict[str, object]:
    """Compares RTL with a netlist for an FPGA."""
    mapped = equivalence.read_netlist(netlist, top, target, None)
    return equivalence.compare(rtl, mapped, netlist.parent, encodings)


def spoil(netlist: pathlib.Path, find: str, replace: str | Callable) -> None:
    """Changes one place of a netlist."""
    text, count = re.subn(find, replace, netlist.read_text(), count=1)
    assert count == 1
    netlist.write_text(text)


TABLE = r"INIT\((\d+)'h(\w+)\)"  # of a LUT


def inverted(match: re.Match) -> str:
    """Returns the table of a LUT that gives the opposite."""
    return f"INIT({match[1]}'h{int(match[2], 16) ^ 2 ** int(match[1]) - 1:x})"


@pytest.mark.parametrize("kind", ["DirsDecrypt", "DirsBoth"])
@pytest.mark.parametrize("impl", range(len(SBOXES)))
@pytest.mark.parametrize("target", ["ecp5", "xc7"])
def test_inverse_sboxes(target: str, impl: int, kind: str, tmp_path: pathlib.Path) -> None:
    """The FPGA netlist of each S-box for decryption, or both directions, is equal to its RTL."""
    given = {"Impl": impl, "Kind": kind}
    rtl, netlist = mapped_by_yosys(target, "mae_sbox", given, tmp_path)
    assert compared(target, rtl, netlist, "mae_sbox")["outputs"] == 8
    spoil(netlist, TABLE, inverted)
    with pytest.raises(SynthesisError, match=r"differs from its RTL: out_o\[\d\]"):
        compared(target, rtl, netlist, "mae_sbox")


@pytest.mark.parametrize("target", ["ecp5", "xc7"])
@pytest.mark.slow
def test_inverse_round(target: str, tmp_path: pathlib.Path) -> None:
    """The FPGA netlist of a round for decryption is equal to its RTL, and with a wrong LUT not."""
    given = {"Dirs": "DirsDecrypt", "Sbox": "SboxBoolean"}
    rtl, netlist = mapped_by_yosys(target, "mae_round", given, tmp_path)
    assert compared(target, rtl, netlist, "mae_round")["outputs"] == 128
    spoil(netlist, TABLE, inverted)
    with pytest.raises(SynthesisError, match=r"differs from its RTL: state_o\[\d+\]"):
        compared(target, rtl, netlist, "mae_round")


@pytest.mark.parametrize(
    ("target", "memory", "wire"),
    [("ecp5", "TRELLIS_DPR16X4", "WRE"), ("xc7", "RAM32M", "WE")],
    ids=["ecp5", "xc7"],
)
def test_memories(target: str, memory: str, wire: str, tmp_path: pathlib.Path) -> None:
    """A FIFO in an FPGA's memories of LUTs is equal to its RTL; without its write enable it is not.

    Its words have no names in the netlist: they are paired by what they do.
    """
    given = {"Depth": 16, "Width": 8, "Zero": 0}
    rtl, netlist = mapped_by_yosys(target, "mae_fifo", given, tmp_path)
    assert memory in netlist.read_text()
    assert compared(target, rtl, netlist, "mae_fifo")["registers"] >= 16 * 8
    spoil(netlist, rf"\.{wire}\([^()]+\)", f".{wire}(1'h1)")
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared(target, rtl, netlist, "mae_fifo")


BLOCK_RAM = """module block_ram (
  input logic clk_i, we_i, read_i, input logic [5:0] to_i, from_i,
  input logic [WIDTH-1:0] word_i, output logic [WIDTH-1:0] word_o
);
  (* ram_style = "block" *) logic [WIDTH-1:0] rows_q[64];
  always_ff @(posedge clk_i) begin
    if (we_i) rows_q[to_i] <= word_i;
    if (read_i) word_o <= rows_q[from_i];
  end
endmodule
"""
ROM = """module block_ram (input logic clk_i, input logic [8:0] from_i, output logic [35:0] word_o);
  always_ff @(posedge clk_i) case (from_i)
{rows}
  endcase
endmodule
"""


SLOW = pytest.mark.slow


@pytest.mark.parametrize("width", [4, 18, *(pytest.param(n, marks=SLOW) for n in (9, 36, 72))])
def test_block_ram(width: int, tmp_path: pathlib.Path) -> None:
    """A memory in a block RAM of 7-series is equal to its RTL; without a write enable it is not."""
    file = tmp_path / "block_ram.sv"
    file.write_text(BLOCK_RAM.replace("WIDTH", f"{width}"))
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    assert re.search(r"RAMB(18|36)E1", netlist.read_text())
    assert compared("xc7", rtl, netlist, "block_ram")["registers"] == 65 * width
    whole = netlist.read_text()
    spoil(netlist, rf"(READ_WIDTH_.)\(32'd{width}\)", r"\1(32'd2)")
    with pytest.raises(UnprovedError, match="E1_of_two_widths cannot be compared"):
        compared("xc7", rtl, netlist, "block_ram")
    netlist.write_text(whole)
    spoil(netlist, r"\.WE(A|BWE)\(\{[^()]+\}\)", r".WE\1(~0)")
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared("xc7", rtl, netlist, "block_ram")


def test_block_ram_of_one_port(tmp_path: pathlib.Path) -> None:
    """A memory whose one port reads the old row while it writes is equal to its RTL."""
    file = tmp_path / "block_ram.sv"
    text = BLOCK_RAM.replace("WIDTH", "9").replace("rows_q[from_i]", "rows_q[to_i]")
    file.write_text(text.replace("to_i, from_i", "to_i").replace("if (read_i) ", ""))
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    (port,) = re.findall(r"READ_WIDTH_(.)\(32'd9\)", netlist.read_text())
    assert compared("xc7", rtl, netlist, "block_ram")["registers"] == 65 * 9
    spoil(netlist, rf'WRITE_MODE_{port}\("READ_FIRST"\)', f'WRITE_MODE_{port}("WRITE_FIRST")')
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared("xc7", rtl, netlist, "block_ram")


def test_block_rom(tmp_path: pathlib.Path) -> None:
    """A table in a block RAM of 7-series is equal to its RTL, and with one wrong bit is not."""
    file = tmp_path / "block_ram.sv"
    source = random.Random(0)
    words = [source.getrandbits(36) for _ in range(512)]
    rows = "\n".join(f"    9'd{i}: word_o <= 36'd{word};" for i, word in enumerate(words))
    file.write_text(ROM.format(rows=rows))
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    assert "RAMB18E1" in netlist.read_text()
    assert compared("xc7", rtl, netlist, "block_ram")["registers"] == 36
    spoil(netlist, r"INIT_03\(256'h(\w)", lambda m: f"INIT_03(256'h{int(m[1], 16) ^ 1:x}")
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared("xc7", rtl, netlist, "block_ram")


PRODUCT = """module product (input logic [17:0] a_i, b_i, output logic [35:0] made_o);
  assign made_o = a_i * b_i;
endmodule
"""


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("DP16KD", BLOCK_RAM.replace("WIDTH", "36").replace("64", "512").replace("5:0", "8:0")),
        ("MULT18X18D", PRODUCT),
    ],
)
def test_cells_without_a_model(cell: str, text: str, tmp_path: pathlib.Path) -> None:
    """A netlist with block RAM or multipliers of ECP5 cannot be proved, as its guide says."""
    top = text.split()[1]
    file = tmp_path / f"{top}.sv"
    file.write_text(text)
    rtl, netlist = mapped_by_yosys("ecp5", str(file), {}, tmp_path)
    with pytest.raises(UnprovedError, match=f"a cell {cell} cannot be compared"):
        compared("ecp5", rtl, netlist, top)


SELDOM = """module seldom (
  input logic clk_i, rst_ni, input logic [31:0] key_i, word_i, output logic [7:0] word_o
);
  logic [63:0] seen_q;
  logic        open_q;
  logic [7:0]  word_q, more_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {seen_q, open_q, word_q, more_q} <= '0;
    else begin
      seen_q <= {key_i, word_i};
      open_q <= open_q || seen_q == 64'h5c3a9617_0ff1ce42;
      if (open_q) word_q <= word_q ^ word_i[7:0];
      if (word_q[0]) more_q <= word_i[15:8];
    end
  assign word_o = word_q ^ more_q;
endmodule
"""


def test_a_state_that_is_seldom_reached(tmp_path: pathlib.Path) -> None:
    """Registers that random inputs from reset do not fill are told apart, and proved."""
    file = tmp_path / "seldom.sv"
    file.write_text(SELDOM)
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    found = compared("xc7", rtl, netlist, "seldom")
    assert found["registers"] == 64 + 1 + 8 + 8 and found["constant"] == 0
    spoil(netlist, TABLE, inverted)
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared("xc7", rtl, netlist, "seldom")


MACHINE = """module machine (
  input logic clk_i, rst_ni, go_i, end_i, input logic [2:0] many_i, output logic [5:0] now_o
);
  typedef enum logic [1:0] {Idle, Move, Wait} state_e;
  state_e     state_q;
  logic [2:0] left_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q <= Idle;
      left_q  <= '0;
    end else case (state_q)
      Idle: if (go_i) begin
        state_q <= Move;
        left_q  <= many_i;
      end
      Move: begin
        left_q <= left_q - 3'd1;
        if (left_q == '0) state_q <= Wait;
      end
      default: if (end_i) state_q <= left_q[0] ? Idle : Move;
    endcase
  assign now_o = {left_q, state_q == Idle, state_q == Move, state_q == Wait};
endmodule
"""


def test_state_machines(tmp_path: pathlib.Path) -> None:
    """A state machine that has a register for each state is proved; a wrong LUT is found."""
    file = tmp_path / "machine.sv"
    file.write_text(MACHINE)
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    encodings = state_machines.recoded((tmp_path / "log").read_text())
    assert {name: sorted(codes) for name, codes in encodings.items()} == {
        "state_q": ["00", "01", "10"]
    }
    found = compared("xc7", rtl, netlist, "machine", encodings)
    assert found["state machines"] == 1 and found["registers"] == 3 + 3
    with pytest.raises(SynthesisError, match="that need not be reached"):
        compared("xc7", rtl, netlist, "machine")
    spoil(netlist, TABLE, inverted)
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared("xc7", rtl, netlist, "machine", encodings)


ONCE = """module once (input logic clk_i, rst_ni, go_i, end_i, output logic now_o);
  logic [1:0] state_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) state_q <= '0;
    else if (state_q == 0 && go_i) state_q <= 1;
    else if (state_q == 1 && end_i) state_q <= 2;
  assign now_o = state_q == 1;
endmodule
"""


def test_a_state_that_the_netlist_lacks(tmp_path: pathlib.Path) -> None:
    """A netlist that differs from its RTL in a state that has no code there is not proved."""
    circuits = []
    for text in (ONCE, ONCE.replace("state_q", "again_q").replace("<= 2", "<= 0")):
        file = tmp_path / "once.sv"
        file.write_text(text)
        passes = [design.find(str(file)).read()]
        circuits.append(circuit.read(passes, "once", tmp_path / f"side{len(circuits)}"))
    rtl, netlist = circuits
    with pytest.raises(SynthesisError, match="next state of state_q"):
        equivalence.compare(rtl, netlist, tmp_path, {"state_q": ["00", "01"]})


def test_a_machine_that_stays_in_a_state(tmp_path: pathlib.Path) -> None:
    """A state machine that is in one state for ever is taken to be in no other."""
    file = tmp_path / "once.sv"
    file.write_text(ONCE)
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    rtl, machines = state_machines.one_hot(rtl, {"state_q": ["00", "01", "10"]})
    mapped = equivalence.read_netlist(netlist, "once", "xc7", None)
    found = correspondence.Correspondence(rtl, mapped, [machines[0].states])
    assert len(equivalence.Miter(found, machines).chosen) == 3
    found.classes[0][machines[0].states[0]] = "1"
    assert not equivalence.Miter(found, machines).chosen


SETTLES = """module settles (input logic clk_i, rst_ni, in_i, output logic out_o);
  logic enabled_q, later_q, no_reset;
  assign no_reset = 1'b1;
  always_ff @(posedge clk_i) enabled_q <= 1'b1;
  always_ff @(posedge clk_i or negedge no_reset)
    if (!no_reset) later_q <= 1'b0; else later_q <= enabled_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) out_o <= 1'b0; else out_o <= in_i && later_q;
endmodule
"""


def test_registers_that_become_one(tmp_path: pathlib.Path) -> None:
    """Registers that are never reset and 1 from some clock on may be left out of a netlist."""
    circuits = []
    for text in (SETTLES, *(SETTLES.replace("&& later_q", now) for now in ("", "&& !later_q"))):
        file = tmp_path / "settles.sv"
        file.write_text(text)
        passes = [design.find(str(file)).read()]
        circuits.append(circuit.read(passes, "settles", tmp_path / f"side{len(circuits)}"))
    rtl, netlist, never = circuits
    assert equivalence.compare(rtl, netlist, tmp_path)["constant"] == 2
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        equivalence.compare(rtl, never, tmp_path)


LOOKUP = """module lookup (
  input logic clk_i, rst_ni, input logic [1:0] row_i, output logic [4:0] word_o
);
  logic [4:0] made, word_q;
  always_comb case (row_i)
    2'd0: made = 5'd9;
    2'd1: made = word_q + 5'd7;
    2'd2: made = 5'd12;
    default: made = 'x;
  endcase
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) word_q <= '0; else word_q <= made;
  assign word_o = word_q;
endmodule
"""


def test_undefined_bits(tmp_path: pathlib.Path) -> None:
    """A netlist may take any value for a word that the RTL leaves undefined, but for no other."""
    file = tmp_path / "lookup.sv"
    file.write_text(LOOKUP)
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    found = compared("xc7", rtl, netlist, "lookup")
    assert found["undefined"] == found["registers"] == 5
    spoil(netlist, TABLE, inverted)
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared("xc7", rtl, netlist, "lookup")
    file.write_text(LOOKUP.replace("made = 'x", "made = '0"))
    strict = circuit.read([design.find(str(file)).read()], "lookup", tmp_path / "strict")
    _, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    assert "undefined" not in compared("xc7", strict, netlist, "lookup")


def test_a_value_that_is_never_defined(tmp_path: pathlib.Path) -> None:
    """Nothing is said to be proved of an output that nobody drives."""
    file = tmp_path / "lookup.sv"
    file.write_text(LOOKUP.replace("assign word_o = word_q;", "assign word_o[3:0] = word_q[3:0];"))
    rtl, netlist = mapped_by_yosys("xc7", str(file), {}, tmp_path)
    with pytest.raises(SynthesisError, match=r"leaves word_o\[4\] undefined"):
        compared("xc7", rtl, netlist, "lookup")


@pytest.mark.parametrize("target", ["ecp5", "gatemate", "gw5a"])
def test_routed_parts(target: str, tmp_path: pathlib.Path) -> None:
    """A netlist for an FPGA that is placed and routed is equal to its RTL, with a wrong LUT not."""
    rtl, netlist = mapped_by_yosys(target, "mae_rr_arb", {"N": 4}, tmp_path)
    assert compared(target, rtl, netlist, "mae_rr_arb")["outputs"] > 4
    spoil(netlist, TABLE, inverted)
    with pytest.raises(SynthesisError, match="differs from its RTL"):
        compared(target, rtl, netlist, "mae_rr_arb")


def test_a_netlist_is_made_again(monkeypatch, tmp_path: pathlib.Path) -> None:
    """The netlist of a report that has none here is mapped again for a proof, and not routed."""
    few = {"KeySlots": 1, "KeyBanks": 1}
    made = synthesize("mae_key_cache", "ecp5", few, seeds=1)
    monkeypatch.setattr(reports, "REPORTS", tmp_path / "again")
    monkeypatch.setattr(nextpnr, "runs", None)
    again = flow.map_again(made, "ecp5", few, seeds=1)
    assert (again.area, again.timing) == (made.area, made.timing)
    assert prove(again, "ecp5")["state machines"] == 1
    other = dataclasses.replace(made, area=made.area | {"lut": made.area["lut"] + 1})
    monkeypatch.setattr(reports, "REPORTS", tmp_path / "other")
    with pytest.raises(SynthesisError, match="mapped to another netlist here"):
        flow.map_again(other, "ecp5", few, seeds=1)
    assert not list((tmp_path / "other").glob("*/report.json"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small128", "small128_luts"])
def test_cores(name: str) -> None:
    """The netlist of a small core is equal to its RTL."""
    found = prove(synthesize(name, "xc7"), "xc7")
    assert found["outputs"] == 139 and found["registers"] > 400


def test_a_netlist_that_is_not_there() -> None:
    """A report without its netlist gives an error that says how to get one."""
    made = synthesize("mae_rr_arb", "xc7")
    (made.folder / reports.NETLIST).unlink()
    result = CliRunner().invoke(app, ["synth", "mae_rr_arb", "--target", "xc7", "--prove"])
    assert "holds no netlist: remove that folder" in str(result.exception)
