# SPDX-License-Identifier: Apache-2.0
"""Tests how netlists are simulated beside their RTL, and with a program in their memory."""

import gzip
import pathlib
import re
import shutil
import types

import pytest

from maeslant.build import cocotb_bench
from maeslant.synth import SynthesisError, design, flow, synthesize
from maeslant.synth import report as reports
from maeslant.synth.fpga import flow as fpga
from maeslant.synth.netlist import machines, simulation
from tests.synth.test_flow import library as installed

PARAMETERS = {"Width": 8, "Depth": 3}


def invert(table: re.Match) -> str:
    """Returns the table of a LUT inverted."""
    return f"{table[1]}{15 - int(table[2], 16):x}"


@pytest.mark.parametrize(
    ("target", "right", "wrong"),
    [("xc7", r"(\.INIT\(4'h)(\w)", invert), ("nangate45", r"\b(NAND2)(_X1)", r"NOR2\2")],
)
def test_lockstep(
    target: str, right: str, wrong, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A netlist runs beside its RTL while that is tested; one with wrong gates ends the test."""
    library = None if target == "xc7" else installed(target)
    monkeypatch.setattr(reports, "REPORTS", tmp_path)
    netlist = synthesize("mae_fifo", target, PARAMETERS).unpack(tmp_path)

    def run() -> list[str]:
        gates, models = simulation.files(netlist, "mae_fifo", target, library)
        check = tmp_path / "check.sv"
        check.write_text(machines.lockstep(gates.read_text(), "mae_fifo"))
        return cocotb_bench.simulate(
            "mae_fifo",
            "tests.prim.fifo.test_fifo",
            sources=[models, check],
            parameters=PARAMETERS,
            test_filter="keeps_order",
        )

    assert "keeps_order_under_stalls" in run()
    text = netlist.read_text()
    broken = re.sub(right, wrong, text)
    assert broken != text
    netlist.write_text(broken)
    with pytest.raises(cocotb_bench.SimulationError, match="the netlist differs: "):
        run()


HOLDER = """module holder #(parameter string Image = "") (
  input logic clk_i, we_i, input logic [9:0] at_i, input logic [17:0] word_i,
  output logic [17:0] word_o
);
  logic [17:0] rows_q[1024];
  if (Image != "") initial $readmemh(Image, rows_q);
  always_ff @(posedge clk_i) begin
    if (we_i) rows_q[at_i] <= word_i;
    word_o <= rows_q[at_i];
  end
endmodule
"""


def test_memory_image(tmp_path: pathlib.Path) -> None:
    """A netlist gets the contents of block RAMs of an image, if those have the same names."""
    file, image = tmp_path / "holder.sv", tmp_path / "image.hex"
    file.write_text(HOLDER)
    image.write_text("12345\n2abcd\n")
    what, how = design.find(str(file)), fpga.recipe("ecp5", 1, True, False)
    fpga.map_core(what, "ecp5", tmp_path, how, lambda step: None)
    netlist = tmp_path / "net.v"
    netlist.write_bytes(gzip.decompress((tmp_path / "net.v.gz").read_bytes()))
    given = types.SimpleNamespace(name=str(file), parameters={}, target="ecp5", recipe=how)
    made = simulation.with_image(given, netlist, image, lambda step: None)
    words = [re.findall(r"INITVAL_00\(320'h(\w+)\)", path.read_text()) for path in (netlist, made)]
    assert [int(found[0], 16) for found in words] == [0, 0x2ABCD << 20 | 0x12345]
    assert re.sub(r"INITVAL_00.*", "", netlist.read_text()) == re.sub(
        r"INITVAL_00.*", "", made.read_text()
    )
    made_text = netlist.read_text()
    netlist.write_text(re.sub(r"(\\rows_q)(\S+)", r"\1.other\2", netlist.read_text()))
    shutil.rmtree(made.parent)
    with pytest.raises(SynthesisError, match=r"with the image image\.hex .* other block RAMs"):
        simulation.with_image(given, netlist, image, lambda step: None)
    shutil.rmtree(made.parent)
    netlist.write_text(re.sub("INITVAL_05\\(320'h0+", "INITVAL_05(320'h1", made_text))
    with pytest.raises(SynthesisError, match="other block RAMs"):
        simulation.with_image(given, netlist, image, lambda step: None)


def test_systems_in_other_parts() -> None:
    """The PicoRV32 system's netlist is refused, before synthesis, where it gets no program."""
    with pytest.raises(SynthesisError, match="for ecp5 alone"):
        flow.check_simulation("soc", "xc7")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("assert os.environ['MAESLANT_LIBRARY']", ""),
        ("assert float(pytestconfig.getini('timeout')) == 0", ""),  # netlists are slow
        ("assert False", "fails"),
        ("pytest.skip('other')", "no test of"),
    ],
)
def test_tests_of_a_machine(
    body: str, why: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names the tests that passed; a failed one is an error, and so is a netlist without one."""
    monkeypatch.setattr(machines.simulator, "build_top", lambda *_, **__: tmp_path / "library")
    monkeypatch.setattr(machines.simulator, "folder", lambda name: tmp_path / "built")
    (tmp_path / "built").mkdir()
    file = tmp_path / "test_it.py"
    file.write_text(
        "import os, pytest\n\ndef test_it(pytestconfig):\n"
        f"    os.environ['MAESLANT_LIBRARY']\n    {body}\n"
    )
    monkeypatch.setattr(machines, "ARBITER", str(file))
    monkeypatch.setattr(machines, "lockstep", lambda text, top: "")
    (tmp_path / "gates.v").write_text("")

    def run() -> list[str]:
        return machines.arbiter([tmp_path / "gates.v"], {"RowBits": 1}, tmp_path)

    if not why:
        assert run() == ["test_it"]
    else:
        with pytest.raises(SynthesisError, match=why):
            run()
