# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant synth --renew`: reports are renewed if the RTL's logic is the same, only then."""

import json
import pathlib
import shutil
import subprocess
import types

import pytest

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.synth import SynthesisError, design, flow, report, show, yosys
from maeslant.synth.explore import points
from maeslant.synth.fpga import flow as fpga
from maeslant.synth.page import tables
from maeslant.synth.renewal import canonical, renew

TOY = """
module toy #(parameter Unused = 1) (
  input clk, input en, input [3:0] at, input [7:0] a, b, output [7:0] y, output reg [7:0] q
);
  reg [7:0] rows [0:15];
  reg [7:0] sum = 8'd5;
  wire [7:0] both, one, two;
  initial begin rows[0] = 8'd1; rows[1] = 8'd2; end
  part u_one (.a(a), .b(b), .y(one));
  part u_two (.a(b), .b(one), .y(two));
  assign both = (one & two) ^ (a + 8'd3);
  assign y = sum;
  always @(posedge clk) begin
    sum <= both;
    if (en) rows[at] <= both;
    q <= rows[at];
  end
endmodule
module part (input [7:0] a, b, output [7:0] y);
  assign y = a | ~b;
endmodule
"""
SAME = {
    "nothing": [],
    "a name": [("both", "other_name")],
    "a parameter that nothing uses": [("Unused = 1", "Unused = 2, More = 3")],
    "names of a memory and a register": [("rows", "abc"), ("sum", "zzz")],
    "names of parts": [("u_one", "u_zero"), ("part", "piece")],
    "two equal cells in another order": [
        ("  part u_one (.a(a), .b(b), .y(one));\n", ""),
        (".y(two));\n", ".y(two));\n  part u_last (.a(a), .b(b), .y(one));\n"),
    ],
    "logic that nothing uses": [("assign y =", "wire [7:0] none = a * b;\n  assign y =")],
}
DIFFERENT = {
    "a gate": [("one & two", "one | two")],
    "a gate of a part": [("a | ~b", "a & ~b")],
    "a constant": [("8'd3", "8'd4")],
    "an initial value": [("sum = 8'd5", "sum = 8'd4")],
    "no initial value": [("sum = 8'd5", "sum")],
    "contents of a memory": [("rows[1] = 8'd2", "rows[1] = 8'd3")],
    "the size of a memory": [("[0:15]", "[0:7]")],
    "a connection": [("(a + 8'd3)", "(b + 8'd3)")],
    "a connection of a part": [(".a(b), .b(one)", ".a(one), .b(b)")],
    "an address": [("q <= rows[at]", "q <= rows[a[3:0]]")],
    "the order of bits": [("y = sum", "y = {sum[0], sum[7:1]}")],
    "an enable": [("if (en) rows", "if (!en) rows")],
    "a clock's edge": [("posedge", "negedge")],
    "the name of a port": [("input en", "input on"), ("if (en)", "if (on)")],
    "an attribute for the mapper": [("reg [7:0] rows", '(* ram_style = "block" *) reg [7:0] rows')],
    "a second register": [("assign y = sum", "reg [7:0] r;always @(posedge clk)r<=sum;assign y=r")],
}


def netlist(folder: pathlib.Path, changes: list, *passes: str) -> canonical.Netlist:
    """Returns the netlist of TOY with some changes of its text."""
    text = TOY
    for find, replace in changes:
        assert find in text
        text = text.replace(find, replace)
    (folder / "toy.v").write_text(text)
    file = folder / "net.json"
    read = [f"read_verilog {folder / 'toy.v'}", "hierarchy -check -top toy", "proc"]
    yosys.run([*read, *passes, "opt_clean", f"write_json {file}"], folder / "log")
    return canonical.Netlist(file, "toy")


@pytest.mark.parametrize("passes", [[], ["flatten"]], ids=["parts", "flat"])
def test_canonical_form(passes: list[str], tmp_path) -> None:
    """Netlists are equal under other names and orders, and differ in whatever counts."""
    base = netlist(tmp_path, [], *passes)
    for title, changes in SAME.items():
        assert netlist(tmp_path, changes, *passes).difference(base) is None, title
    for title, changes in DIFFERENT.items():
        assert netlist(tmp_path, changes, *passes).difference(base), title


def test_a_copy_of_a_register_counts(tmp_path) -> None:
    """Two registers with the same input are not one register that is read twice."""
    one = "reg [7:0] r; always @(posedge clk) r <= a; assign y = r ^ {r[3:0], r[7:4]};"
    two = "reg [7:0] r, s; always @(posedge clk) begin r <= a; s <= a; end assign y = r ^ "
    two += "{s[3:0], s[7:4]};"
    made = [netlist(tmp_path, [("assign y = sum;", text)]) for text in (one, two)]
    assert made[0].difference(made[1])


def test_what_has_no_form_is_refused(tmp_path) -> None:
    """A net with two drivers and an inout raise SynthesisError."""
    for change, says in (
        ("assign y = sum; assign y = a;", "two drivers"),
        ("assign y = sum; (* keep *) part u_none (.a(a), .b(b));", "no output depends on a cell"),
    ):
        with pytest.raises(SynthesisError, match=says):
            netlist(tmp_path, [("assign y = sum;", change)])
    with pytest.raises(SynthesisError, match="inout"):
        netlist(tmp_path, [("input en", "inout en")])


def test_rtl(tmp_path) -> None:
    """mae_fifo has the logic of its copy with another name, and not that of a changed one."""
    text = paths.rtl_file("mae_fifo").read_text()

    def made(name: str, *changes: tuple[str, str]) -> canonical.Netlist:
        changed = text.replace("module mae_fifo", f"module {name}")
        for find, replace in changes:
            assert find in changed
            changed = changed.replace(find, replace)
        (tmp_path / f"{name}.sv").write_text(changed)
        what = design.find(str(tmp_path / f"{name}.sv"), {"Depth": 4})
        return renew._netlist(what.read(), name, (), fpga.FRONT)

    what = design.find("mae_fifo", {"Depth": 4})
    own = renew._netlist(what.read(), "mae_fifo", (), fpga.FRONT)
    assert own.difference(made("fifo_a")) is None
    assert own.difference(made("fifo_b", ("count_q", "number_q"))) is None
    assert own.difference(made("fifo_c", ("posedge", "negedge")))


# The Python of an older tree, as far as renewing asks it.
STUB = """
import pathlib, types
TREE = pathlib.Path(__file__).parents[2]
def point(name, target, parameters, **how):
    read = f"read_slang {TREE / 'rtl' / 'toy.sv'} --top toy"
    design = types.SimpleNamespace(top="toy", read=lambda flatten: read)
    return types.SimpleNamespace(design=design, digest=(TREE / "digest").read_text())
"""
RTL = """module toy (input logic [3:0] a_i, input logic [3:0] b_i, output logic [3:0] y_o);
  logic [3:0] sum;
  assign sum = a_i + b_i;
  assign y_o = ~sum;
endmodule
"""
RENAMED, OTHER = RTL.replace("sum", "total"), RTL.replace("a_i + b_i", "a_i - b_i")


class Repository:
    """Holds a Git repository with one RTL module and its published report."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.rtl = folder / "rtl" / "toy.sv"
        self.file = folder / "results" / "toy-xc7.json"
        package = folder / "maeslant" / "synth"
        for path in (self.rtl.parent, self.file.parent, package):
            path.mkdir(parents=True)
        for path in (package.parent, package):
            (path / "__init__.py").touch()
        (package / "flow.py").write_text(STUB)
        self.git("init", "--quiet")

    def git(self, *words: str) -> str:
        """Runs Git in the repository; returns its output."""
        who = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(self.folder), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, text: str | None = None) -> str:
        """Commits the repository's files, with a new text of the RTL; returns the commit."""
        if text:
            self.rtl.write_text(text)
        (self.folder / "digest").write_text(self.point().digest)
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "--short", "HEAD")

    def point(self) -> flow.Point:
        """Returns the synthesis that the report is of."""
        return flow.point(str(self.rtl), "xc7")

    def publish(self, commit: str, **how: object) -> None:
        """Publishes and commits a report of the RTL as it stands, said to be of a commit."""
        what = self.point()
        words = {"name": "toy", "top": "toy", "parameters": {}, "target": "xc7", "kind": "xilinx"}
        words |= {"recipe": what.recipe, "tools": {}, "left_out": "", "commit": commit}
        words |= {"sources": what.digest, "area": {"lut": 4, "ff": 0}, "timing": None}
        report.Report(**words | how).write(self.file)
        self.commit()


@pytest.fixture
def toy(tmp_path, monkeypatch) -> Repository:
    """Makes a repository whose RTL is committed and is all of Maeslant's tables."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    made = Repository(tmp_path / "repository")
    monkeypatch.setattr(report, "PUBLISHED", made.file.parent)
    monkeypatch.setattr(report, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(renew, "paths", types.SimpleNamespace(ROOT=made.folder))
    row = tables.Table("One", "", (), (tables.Ours(str(made.rtl), "xc7"),))
    monkeypatch.setattr(tables, "tables", lambda: (row,))
    monkeypatch.setattr(points, "load", lambda: [])
    made.first = made.commit(RTL)
    return made


def says() -> str:
    """Renews the one report that is not up to date; returns what became of it."""
    (found,) = renew.renew(publish=True)
    assert found.equal == found.says.startswith("renewed: ")
    return found.says


def test_renew(toy, capsys) -> None:
    """A report is renewed over changes of names, twice, and not over a change of logic.

    Without --publish it stays as it is.
    """
    toy.publish(toy.first)
    assert renew.stale() == []
    second = toy.commit(RENAMED)
    before = toy.file.read_text()
    show.renewed("toy", False, True, None, show.Console(stderr=True))
    (said,) = json.loads(capsys.readouterr().out)
    assert said["equal"] and not said["renewed"] and toy.file.read_text() == before
    assert said["says"] == f"can be renewed: {toy.first} and {second} have the same logic"
    show.renewed("toy", True, True, None, show.Console(stderr=True))
    (said,) = json.loads(capsys.readouterr().out)
    assert said["renewed"] and said["file"] == str(toy.file)
    found = report.load(toy.file)
    assert (found.commit, found.equal_at) == (toy.first, second)
    assert found.commits == f"commit {toy.first}, same logic at {second}"
    assert found.sources == toy.point().digest and renew.stale() == []
    third = toy.commit(RTL.replace("sum", "result"))
    assert says() == f"renewed: {toy.first} and {third} have the same logic"
    before = toy.file.read_text()
    toy.commit(OTHER)
    assert says().startswith("differs: ") and toy.file.read_text() == before


def test_digests_given_by_hand(toy) -> None:
    """A report whose digest was changed later is known by its first version in Git."""
    toy.publish(toy.first)
    toy.publish(toy.first, sources="0" * 64)
    toy.commit(RENAMED)
    assert says().startswith("renewed: ")
    toy.publish(toy.first, sources="0" * 64, area={"lut": 5, "ff": 0})  # another synthesis
    assert says().startswith("not compared: no digest")


@pytest.mark.parametrize("middle", [RENAMED, OTHER], ids=["same", "other"])
def test_a_report_published_with_later_rtl(toy, middle: str) -> None:
    """A report with the digest of its publication's tree is compared with both trees."""
    toy.commit(middle)
    toy.publish(toy.first)
    toy.commit(RTL.replace("sum", "result"))
    assert says().startswith("renewed: " if middle == RENAMED else "differs: ")


def test_what_is_not_known_is_not_compared(toy) -> None:
    """A report of an unknown tree or of another recipe stays as it is, and says why."""
    second = toy.commit(RENAMED)
    none = {"sources": "0" * 64}
    for how, why in (
        ({"commit": f"{toy.first}-changed", **none}, "no commit has its RTL"),
        ({"commit": "1234567", **none}, "not in this clone"),
        ({"commit": toy.first, **none}, "no digest that it was published with"),
        ({"commit": toy.first, "equal_at": second, **none}, f"{second} has another digest"),
        ({"commit": toy.first, "recipe": {"flatten": True}, **none}, "recipe (family, passes)"),
    ):
        toy.publish(**how)
        before = toy.file.read_text()
        said = says()
        assert said.startswith("not compared: ") and why in said
        assert toy.file.read_text() == before


def test_errors(toy) -> None:
    """RTL that is not committed and unknown names raise errors; nothing is written."""
    toy.publish(toy.first)
    with pytest.raises(MaeslantError, match="no build or module named 'nothing'"):
        list(renew.renew("nothing", publish=True))
    with pytest.raises(MaeslantError, match="no report of mae_fifo is published"):
        list(renew.renew("mae_fifo", publish=True))
    toy.rtl.write_text(RTL.replace("sum", "more"))
    with pytest.raises(MaeslantError, match="commit them"):
        list(renew.renew(publish=True))
    shutil.rmtree(toy.folder / ".git")
    with pytest.raises(MaeslantError, match="needs Git"):
        list(renew.renew(publish=True))


@pytest.mark.parametrize("kept", [(), ("mae_clock_gate",)], ids=["flat", "kept"])
def test_view_of_a_cell(kept: tuple[str, ...]) -> None:
    """A view of ECP5 names a cell: it is logic like any other, unlike RTL that names none."""
    forms = [
        renew._netlist(found.read(not kept), found.top, kept, ("flatten", "opt_clean"))
        for found in (design.find("mae_idle_clock", views=views) for views in ("ecp5", "generic"))
    ]
    assert [any("DCCA" in line for line in made.form) for made in forms] == [not kept, False]
    assert forms[0].difference(forms[1])
