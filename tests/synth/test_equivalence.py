# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant synth --prove`: netlists are equal to their RTL, and one wrong cell is found."""

import gzip
import pathlib
import re
import shutil
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from maeslant.cli import app
from maeslant.synth import (
    SynthesisError,
    circuit,
    design,
    equivalence,
    liberty,
    prove,
    synthesize,
    yosys,
)
from maeslant.synth import report as reports
from maeslant.synth.page import rows, tables

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


@pytest.mark.parametrize("impl", range(len(SBOXES)))
@pytest.mark.parametrize("target", ["xc7", "nangate45"])
def test_sboxes(target: str, impl: int) -> None:
    """The netlist of each S-box is equal to its RTL, and with one wrong cell is not."""
    if target == "nangate45":
        library_or_skip(target)
    made = synthesize("mae_sbox", target, {"Impl": impl, "Kind": "DirsEncrypt"})
    assert prove(made, target)["outputs"] == 8
    if target == "xc7":
        changed(made, r"INIT\(64'h(\w+)\)", lambda m: f"INIT(64'h{int(m[1], 16) ^ 2**64 - 1:016x})")
    else:
        changed(made, r"\bNAND2_X\d", "NOR2_X1")
    with pytest.raises(SynthesisError, match=r"differs from its RTL: out_o\[\d\]"):
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


def test_ecp5(tmp_path: pathlib.Path) -> None:
    """A netlist for ECP5 is equal to its RTL."""
    what = design.find("mae_rr_arb", {"N": 4})
    netlist = tmp_path / "net.v"
    passes = [what.read(), "synth_ecp5 -top mae_rr_arb -run begin:check"]
    yosys.run([*passes, f"write_verilog -noattr {netlist}"], tmp_path / "log")
    rtl = circuit.read([what.read()], what.top, tmp_path / "rtl")
    mapped = equivalence.read_netlist(netlist, what.top, "ecp5", None)
    assert equivalence.compare(rtl, mapped, tmp_path)["outputs"] > 4


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
