# SPDX-License-Identifier: Apache-2.0
"""Tests the constraints of builds (SDC, XDC): OpenSTA takes them, and nothing is left without."""

import pathlib
import re
import shutil

import pytest

from maeslant import paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import asic, constraints, flow, liberty, yosys
from maeslant.synth.report import SynthesisError
from maeslant.synth.timing import sta

# What Vivado has and OpenSTA has not: the filter of get_ports, and a delay of data paths alone.
VIVADO = r"""
rename get_ports own_get_ports
proc get_ports {args} {
  if {[lindex $args 0] ne "-filter"} { return [own_get_ports {*}$args] }
  set form {^NAME == (\w+) \|\| BUS_NAME == (\w+)$}
  if {![regexp $form [lindex $args 1] - one other]} { error filter }
  if {$one ne $other} { error names }
  return [own_get_ports $one]
}
rename set_max_delay own_set_max_delay
proc set_max_delay {args} {
  set at [lsearch $args -datapath_only]
  if {$at < 0} { error datapath }
  own_set_max_delay {*}[lreplace $args $at $at]
}
"""

RESETS = ("s_rst_ni", "m_rst_ni", "test_mode_i")


@pytest.fixture(scope="module")
def library() -> liberty.Library:
    """Returns Nangate45; skips without it or OpenSTA."""
    if shutil.which("sta") is None:
        pytest.skip("no OpenSTA here")
    try:
        return liberty.find("nangate45")
    except SynthesisError:
        pytest.skip("no Liberty file here")


def mapped(name: str, library: liberty.Library, folder: pathlib.Path) -> pathlib.Path:
    """Returns the netlist of a module, mapped without any optimization of timing."""
    what = flow.point(name, "nangate45").design
    cells = f"-liberty {library.path}"
    front = [step.format(top=what.top, cells=cells) for step in asic.FRONT]
    netlist = folder / "net.v"
    passes = [*yosys.elaborate(what.read(), what.top), *front, f"abc {cells}", *asic.MAP]
    yosys.run([*passes, f"write_verilog -noattr -noexpr {netlist}"], folder / "log")
    netlist.write_text(asic._bit_by_bit(netlist.read_text()))
    return netlist


@pytest.mark.parametrize("form", constraints.FORMS)
@pytest.mark.parametrize("name", ["mae_axil_cdc", "serial128"])
def test_sta_takes_them(
    name: str, form: str, library: liberty.Library, tmp_path: pathlib.Path
) -> None:
    """OpenSTA finds every port of the constraints, and a constraint for every path.

    A crossing has the period of the faster clock, and is not checked for hold.
    """
    both = ("s_clk_i", "m_clk_i") if name == "mae_axil_cdc" else ()
    netlist = mapped(name, library, tmp_path)
    periods = {"s_clk_i": 4.0, "m_clk_i": 9.0} if name == "mae_axil_cdc" else {"clk_i": 7.0}
    file = tmp_path / f"net.{form}"
    file.write_text(constraints.text(name, form, periods))
    top = configurations.load().get(name, {"top": name})["top"]
    lines = [f"read_liberty {library.path}", f"read_verilog {netlist}", f"link_design {top}"]
    lines += [VIVADO] if form == "xdc" else []
    lines += [f"source {file}", "check_setup -verbose"]
    for a, b in (both, both[::-1]) if both else ():
        path = f"-from [get_clocks {a}] -to [get_clocks {b}] -digits 4"
        lines += [f"puts {{= {a} {b}}}", f"report_checks -path_delay max {path}"]
        lines += ["puts {= hold}", f"report_checks -path_delay min {path}"]
    text = sta.run(lines, tmp_path / "script")
    # Resets that are synchronized inside, and the test mode, have no time of arrival.
    said = re.search(
        r"Warning: There are 3 input ports missing set_input_delay\.((?:\n  \w+)+)", text
    )
    assert set(said[1].split() if said else ()) == ({*RESETS} if both else set())
    # Registers of a constant have no path that ends in them.
    ends = re.findall(r"(?m)^  (\S+)/D$", text)
    cells = netlist.read_text()
    for end in ends:
        assert re.search(rf"{re.escape(end)} +\([^;]*?\.D\(1'[bh]1\)", cells), end
    assert text.count("Warning") == (2 if both else 0), text
    for part in text.split("= ")[1:]:
        if part.startswith("hold"):
            assert "No paths found" in part or form == "xdc"  # -datapath_only has no hold check
        else:
            assert re.search(r"4\.0000 +4\.0000 +max_delay", part), part


def test_every_build_has_constraints() -> None:
    """Each port of each build's top module is constrained once, in both formats."""
    for name, build in configurations.load().items():
        every = constraints.ports(paths.rtl_file(build["top"]))
        assert len(every) > 5
        for form in constraints.FORMS:
            text = constraints.text(name, form)
            for port in every:
                uses = re.findall(rf"get_ports (?:-filter {{NAME == )?{port.name}\b", text)
                assert len(uses) == 1, (name, port)


def test_ports_have_their_clock() -> None:
    """The buses of a card with a bus clock belong to that, ports of a crossing to their side's."""
    text = constraints.text("stream4_async", "sdc", {"clk_i": 4})
    assert "set_input_delay 3 -clock bus_clk_i [get_ports m_axi_rdata]" in text
    assert "set_max_delay 4 -from [get_clocks bus_clk_i] -to [get_clocks clk_i]" in text
    assert "set_case_analysis 0 [get_ports test_mode_i]" in text
    assert "set_false_path -from [get_ports bus_rst_ni]" in text
    text = constraints.text("mae_axil_cdc", "sdc")
    assert "-clock m_clk_i [get_ports m_axil_rdata]" in text
    assert "-clock s_clk_i [get_ports s_axil_rdata]" in text


def test_bad_constraints_are_refused() -> None:
    """An unknown format or clock, a period of 0 and a module without a clock are errors."""
    with pytest.raises(MaeslantError, match="no format 'ucf': sdc or xdc"):
        constraints.text("small128", "ucf")
    with pytest.raises(MaeslantError, match="no clock 'clk'; it has clk_i"):
        constraints.text("small128", "sdc", {"clk": 4})
    with pytest.raises(MaeslantError, match="must be positive, not 0"):
        constraints.text("small128", "sdc", {"clk_i": 0})
    with pytest.raises(MaeslantError, match="has no clock"):
        constraints.text("mae_preserved_xor", "sdc")
