# SPDX-License-Identifier: Apache-2.0
"""Tests repair.py, which speeds up a mapped netlist by buffers and larger cells."""

import os
import pathlib
import subprocess
import sys

import pytest

from maeslant import paths
from maeslant.synth import liberty
from maeslant.synth.liberty import Library
from maeslant.synth.report import SynthesisError
from maeslant.synth.timing import loads, repair, sta
from tests.synth.test_flow import library

LOADS, LINKS = 8, 9


@pytest.fixture
def chain(tmp_path) -> pathlib.Path:
    """Writes a netlist with a long chain of buffers after an inverter; returns its path."""
    lines = ["module chain(clk, a, q);", "  input clk;", "  input a;"]
    lines += [f"  output [{LINKS * LOADS - 1}:0] q;", "  wire r;", "  wire n0;"]

    def cell(kind: str, name: str, **pins: str) -> None:
        text = ",\n".join(f"    .{pin}({net})" for pin, net in pins.items())
        lines.append(f"  {kind} {name} (\n{text}\n  );")

    cell("DFF_X1", "first", CK="clk", D="a", Q="r")
    cell("INV_X1", "gate", A="r", ZN="n0")
    for link in range(LINKS):
        lines.append(f"  wire n{link + 1};")
        cell("BUF_X1", f"b{link}", A=f"n{link}", Z=f"n{link + 1}")
        for load in range(link * LOADS, (link + 1) * LOADS):
            cell("DFF_X1", f"l{load}", CK="clk", D=f"n{link + 1}", Q=f"q[{load}]")
    path = tmp_path / "chain.v"
    path.write_text("\n".join([*lines, "endmodule", ""]))
    return path


def feeds(netlist: str, library: Library) -> dict[str, str]:
    """Returns the gate or port that drives each flip-flop, with buffers skipped."""
    drivers, found = {}, {}
    cells = [
        (match[1], match[2], dict(repair.PIN.findall(match[3])))
        for match in repair.INSTANCE.finditer(netlist)
    ]
    for kind, name, pins in cells:
        for pin in library.cells[kind].functions:
            if pin in pins:
                drivers[pins[pin]] = (kind, name, pins)
    for kind, name, pins in cells:
        if library.cells[kind].sequential:
            net = pins["D"]
            while net in drivers and drivers[net][0].startswith("BUF"):
                net = drivers[net][2]["A"]
            found[name] = drivers[net][1] if net in drivers else net
    return found


def test_chain_becomes_a_tree(chain) -> None:
    """repair.repair turns a chain of buffers into a faster tree with the same connections."""
    cells = library("nangate45")
    old = chain.read_text()
    before = period(chain, cells)
    repair.repair(chain, "chain", cells, before, 0.01)
    assert period(chain, cells) < 0.6 * before
    fed = feeds(chain.read_text(), cells)
    assert fed == feeds(old, cells)
    assert fed["l70"] == "gate" and fed["first"] == "a" and len(fed) == LINKS * LOADS + 1


REPAIR = """import pathlib, sys
from maeslant.synth import liberty
from maeslant.synth.timing import repair
repair.repair(pathlib.Path(sys.argv[1]), "chain", liberty.find("nangate45"), 2.0, 0.01)
"""


def test_the_same_netlist_again(chain, tmp_path) -> None:
    """repair.repair makes the same netlist in another process, whatever the order of its sets is.

    On one machine, that is: OpenSTA may list equal paths in another order on the next.
    """
    library("nangate45")
    made = set()
    for seed in ("1", "2", "3"):
        netlist = tmp_path / seed / chain.name
        netlist.parent.mkdir()
        netlist.write_text(chain.read_text())
        command = [sys.executable, "-c", REPAIR, str(netlist)]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(command, cwd=paths.ROOT, env=env, check=True)
        made.add(netlist.read_text())
    assert len(made) == 1 and made != {chain.read_text()}


def test_no_faster_than_asked(chain) -> None:
    """repair.repair meets the period asked for with less area than at the highest speed."""
    cells = library("nangate45")
    old, before = chain.read_text(), period(chain, cells)
    repair.repair(chain, "chain", cells, before, 0.9 * before)
    assert period(chain, cells) <= 0.9 * before
    met = area(chain.read_text(), cells)
    chain.write_text(old)
    repair.repair(chain, "chain", cells, before, 0.01)
    assert met < area(chain.read_text(), cells)


def period(netlist: pathlib.Path, library: Library) -> float:
    """Returns the shortest clock period of a netlist in ns, by OpenSTA."""
    return sta.timing(netlist, "chain", library, 0.01)["period_ns"]


def area(netlist: str, library: Library) -> float:
    """Returns the cell area of a netlist in um2."""
    return sum(library.cells[kind].area * n for kind, n in repair.cells(netlist).items())


def test_sizes_are_of_one_kind() -> None:
    """repair.sizes maps a cell to the next larger one with the same function."""
    cells = library("nangate45")
    found = repair.sizes(cells)
    assert found["NAND2_X1"] == "NAND2_X2" and found["DFFR_X1"] == "DFFR_X2"
    assert "BUF_X32" not in found
    for small, large in found.items():
        assert cells.cells[small].functions == cells.cells[large].functions


def nangate45() -> Library:
    """Returns Nangate45; skips without its Liberty file."""
    try:
        return liberty.find("nangate45")
    except SynthesisError:
        pytest.skip("no Liberty file here")


def many(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Writes a netlist in which a small buffer of a given name drives 80 inverters."""
    lines = ["module many(a, q);", "  input a;", "  output [79:0] q;", "  wire n;", "  wire m;"]
    lines += ["  INV_X1 few (\n    .A(a),\n    .ZN(m)\n  );"]
    lines += [f"  BUF_X1 {name} (\n    .A(m),\n    .Z(n)\n  );"]
    lines += [f"  INV_X1 l{i} (\n    .A(n),\n    .ZN(q[{i}])\n  );" for i in range(80)]
    netlist = folder / "many.v"
    netlist.write_text("\n".join([*lines, "endmodule", ""]))
    return netlist


def test_drivers_carry_their_loads(tmp_path: pathlib.Path) -> None:
    """loads.carry makes a cell larger that drives more than it may, and leaves the others."""
    cells, netlist = nangate45(), many("driver", tmp_path)
    assert loads.overloaded(netlist, "many", cells) == {"driver": "BUF_X1"}
    loads.carry(netlist, "many", cells)
    assert loads.overloaded(netlist, "many", cells) == {}
    found = repair.cells(netlist.read_text())
    assert found["INV_X1"] == 81 and "BUF_X1" not in found and sum(found.values()) == 82


def test_cells_of_the_rtl_stay(tmp_path: pathlib.Path) -> None:
    """loads.carry leaves a cell that the RTL names, with a dot in its name, and comes to an end."""
    cells, netlist = nangate45(), many("\\u_x.u_driver ", tmp_path)
    before = netlist.read_text()
    assert loads.overloaded(netlist, "many", cells) == {"u_x.u_driver": "BUF_X1"}
    loads.carry(netlist, "many", cells)
    assert netlist.read_text() == before
