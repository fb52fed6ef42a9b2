# SPDX-License-Identifier: Apache-2.0
"""Tests what synthesis knows of clock gates: their pins, pulses, energy and model."""

import pathlib
import shutil

import numpy as np
import pytest

from maeslant.synth import flow, liberty
from maeslant.synth.place import flow as placement
from maeslant.synth.power import estimate, levels
from maeslant.synth.report import SynthesisError

NETLIST = """module top(clk_i, en_i, d_i, q_o, r_o);
  input clk_i;
  input en_i;
  input d_i;
  output q_o;
  output r_o;
  wire gated;
  CLKGATETST_X1 u_gate (
    .CK(clk_i),
    .E(en_i),
    .SE(1'h0),
    .GCK(gated)
  );
  DFF_X1 u_gated (
    .CK(gated),
    .D(d_i),
    .Q(q_o)
  );
  DFF_X1 u_free (
    .CK(clk_i),
    .D(d_i),
    .Q(r_o)
  );
endmodule
"""


@pytest.fixture(scope="module")
def library() -> liberty.Library:
    """Returns Nangate45; skips without its Liberty file."""
    try:
        return liberty.find("nangate45")
    except SynthesisError:
        pytest.skip("no Liberty file here")


def netlist(library: liberty.Library, folder: pathlib.Path) -> levels.Netlist:
    """Returns a simulated netlist of a flip-flop behind a clock gate and one that is not."""
    file = folder / "net.v"
    file.write_text(NETLIST)
    return levels.Netlist(file, "top", library)


def test_pins_of_gates(library: liberty.Library) -> None:
    """The pins of both kinds of clock gates are found, and no other cell is taken for one."""
    gates = {name: cell.gate for name, cell in library.cells.items() if cell.gate}
    assert gates["CLKGATETST_X8"] == ("CK", "GCK", ("E", "SE"))
    assert gates["CLKGATE_X1"] == ("CK", "GCK", ("E",))
    assert all(name.startswith("CLKGATE") for name in gates) and len(gates) == 8


def test_gated_flip_flop_holds(library: liberty.Library, tmp_path: pathlib.Path) -> None:
    """A flip-flop behind a clock gate takes data in the runs that enable it; pulses are counted."""
    design = netlist(library, tmp_path)
    random = np.random.default_rng(3)
    names = ("clk_i", "en_i", "d_i")
    before = {name: np.zeros(1, np.uint64) for name in names}
    held = free = np.uint64(0)
    pulses = 0
    for clock in range(50):
        given = {
            name: random.integers(0, levels.ONES, 1, np.uint64, endpoint=True)
            for name in names
            if name != "clk_i"
        } | {"clk_i": np.zeros(1, np.uint64)}
        design.edge(given, count=clock > 0)
        held = before["d_i"][0] & before["en_i"][0] | held & ~before["en_i"][0]
        free = before["d_i"][0]
        pulses += int(np.bitwise_count(before["en_i"][0])) if clock > 0 else 0
        before = given
        assert design.words[design.port("q_o")[0]] == held
        assert design.words[design.port("r_o")[0]] == free
    assert list(design.pulses.values()) == [pulses]


def test_a_clock_that_stands_takes_less(library: liberty.Library, tmp_path: pathlib.Path) -> None:
    """A clock gate that is never enabled saves the clock energy of the flip-flop behind it."""
    spent = []
    for enabled in (np.uint64(0), levels.ONES):
        design = netlist(library, tmp_path)
        given = {name: np.zeros(1, np.uint64) for name in ("clk_i", "d_i")}
        for clock in range(20):
            design.edge(given | {"en_i": np.full(1, enabled)}, count=clock > 1)
        internal, switching, clocks, _ = estimate.energies(design, library)
        assert switching == 0
        spent.append((internal, clocks))
    (quiet, low), (busy, high) = spent
    assert quiet == pytest.approx(busy / 2)  # one flip-flop of two
    assert low < high


def test_gates_are_not_placed(
    library: liberty.Library, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Placement refuses a netlist with clock gates, whose clocks it gives no tree."""
    made = flow.Report.__new__(flow.Report)
    made.target, made.name = "nangate45", "top"
    file = tmp_path / "net.v"
    file.write_text(NETLIST)
    monkeypatch.setattr(flow.Report, "unpack", lambda self, folder: file)
    with pytest.raises(SynthesisError, match=r"clock gates \(CLKGATETST_X1\)"):
        placement.place(made, library, tmp_path, lambda step: None)


@pytest.mark.slow
def test_netlist_with_a_gate_is_simulated(library: liberty.Library) -> None:
    """mae_idle_clock's own tests pass on its netlist of standard cells."""
    if shutil.which("sta") is None:
        pytest.skip("no OpenSTA here")
    flow.check_simulation("mae_idle_clock", "nangate45")
    found = flow.simulate(flow.synthesize("mae_idle_clock", "nangate45"), "nangate45")
    assert found == {"passed": ["edges_pass_while_active"], "inside": []}
