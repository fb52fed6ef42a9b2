# SPDX-License-Identifier: Apache-2.0
"""Tests the views of rtl/technology: ports, behaviour, and the cells that they become.

mae_ram, mae_sync, mae_reset_sync and mae_clock_gate of each technology pass the tests of the
generic view in rtl/prim; the cells of libraries are models after their documents (cells.v).
"""

import collections
import json
import pathlib

import pytest

from maeslant import paths
from maeslant.build import cocotb_bench
from maeslant.errors import MaeslantError
from maeslant.synth import design, liberty, sources, technology, yosys
from maeslant.synth.fpga.parts import PARTS

MODELS = pathlib.Path(__file__).with_name("cells.v")
TESTS = {
    "mae_ram": "tests.prim.technology.test_ram",
    "mae_sync": "tests.prim.technology.test_sync",
    "mae_reset_sync": "tests.prim.test_reset_sync",
    "mae_clock_gate": "tests.prim.technology.test_clock_gate",
}
VALUES = {
    "mae_ram": [
        {"Width": 32, "Depth": 16, "WriteBits": 8},
        {"Width": 32, "Depth": 16, "WriteBits": 8, "ReadReg": 1},
        {"Width": 8, "Depth": 1},
    ],
    "mae_sync": [{"Width": 5}],
}
VIEWS = sorted({path for name in technology.FOLDERS for path in technology.views(name).values()})


def interface(file: pathlib.Path) -> str:
    """Returns the parameters and ports of a module's file as text without spaces."""
    text = "\n" + paths.code(file)
    return "".join(text[text.index("\nmodule") : text.index(");")].split())


@pytest.mark.parametrize("file", VIEWS, ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_view_has_the_ports_of_the_generic_one(file: pathlib.Path) -> None:
    """A technology's view has the parameters and ports of the module in rtl/prim."""
    assert interface(file) == interface(paths.rtl_file(file.stem))


RUNS = [
    (file, values)
    for file in VIEWS
    for values in VALUES.get(file.stem, [{}])
    if (file.parent.name, file.stem) != ("fpga", "mae_reset_sync")
]


@pytest.mark.parametrize(
    ("file", "values"),
    RUNS,
    ids=[f"{f.parent.name}-{f.stem}-{'-'.join(map(str, v.values()))}" for f, v in RUNS],
)
def test_view_behaves_as_the_generic_one(file: pathlib.Path, values: dict[str, int]) -> None:
    """A technology's view passes the tests of the generic module."""
    own = (
        technology.choose([paths.rtl_file(file.stem)], file.parent.name)
        if (file.parent.name in technology.FOLDERS)
        else [file]
    )
    names = [MODELS, *own] if technology.cells(own) else own
    cocotb_bench.simulate(file.stem, TESTS[file.stem], parameters=values, sources=names)


def test_reset_of_fpgas_has_no_test_mode() -> None:
    """The view of mae_reset_sync for FPGAs releases as the generic one does, also in test mode."""
    file = technology.views("xc7")["mae_reset_sync"]
    names = cocotb_bench.simulate(
        file.stem,
        TESTS[file.stem],
        sources=[file],
        test_filter="asserts_at_once_and_releases_on_the_second_clock",
    )
    assert len(names) == 1


def mapped(name: str, target: str, values: dict[str, int], folder: pathlib.Path) -> dict[str, int]:
    """Returns the cells that a module is mapped to for an FPGA, by type."""
    what = design.find(name, values, technology.of_target(target))
    passes = [what.read(), f"{PARTS[target].mapping} {PARTS[target].bare} -top {name}"]
    yosys.run([*passes, f"tee -q -o {folder / 'cells'} stat -json"], folder / "log")
    found = json.loads((folder / "cells").read_text())["design"]["num_cells_by_type"]
    return collections.Counter(found)


GATES = {"xc7": "BUFGCE", "ecp5": "DCCA", "gw5a": "DCE"}
MEMORIES = {"xc7": ("RAM32M", "RAMB18E1"), "ecp5": ("TRELLIS_DPR16X4", "DP16KD")}


@pytest.mark.parametrize("target", GATES)
def test_gates_are_cells(target: str, tmp_path: pathlib.Path) -> None:
    """A clock gate becomes the FPGA's own cell, and nothing else."""
    assert mapped("mae_clock_gate", target, {}, tmp_path) == {GATES[target]: 1}


@pytest.mark.parametrize("target", MEMORIES)
def test_memories_are_cells(target: str, tmp_path: pathlib.Path) -> None:
    """A memory becomes LUT RAM if it is read at once, block RAM if from its register."""
    direct, registered = MEMORIES[target]
    assert mapped("mae_ram", target, {"Width": 36, "Depth": 16}, tmp_path)[direct]
    values = {"Width": 36, "Depth": 256, "ReadReg": 1}
    assert mapped("mae_ram", target, values, tmp_path)[registered]


@pytest.mark.parametrize("target", [*GATES, "gatemate"])
def test_synchronizers_are_two_registers(target: str, tmp_path: pathlib.Path) -> None:
    """A synchronizer becomes two flip-flops a bit: no shift register, no gate between."""
    cells = mapped("mae_sync", target, {"Width": 3}, tmp_path)
    assert sum(cells[name] for name in PARTS[target].cells["ff"]) == 6
    logic = [cells[name] for name in PARTS[target].cells["lut"]]
    assert sum(logic) <= 1  # an inverter, of the reset


def test_attributes_reach_the_netlist(tmp_path: pathlib.Path) -> None:
    """ASYNC_REG stands at both registers of mae_sync and mae_reset_sync for 7-series."""
    for name, count in (("mae_sync", 2), ("mae_reset_sync", 2)):
        what = design.find(name, {}, "xc7")
        count_of = f"select -assert-count {count} w:* a:ASYNC_REG=TRUE %i"
        yosys.run([what.read(), "proc", count_of], tmp_path / "log")


@pytest.mark.parametrize("name", ["mae_sync", "mae_reset_sync", "mae_ram"])
def test_views_of_nangate45_name_cells_of_the_library(name: str) -> None:
    """The cells that the views for Nangate45 name are in its Liberty file."""
    try:
        library = liberty.find("nangate45")
    except MaeslantError:
        pytest.skip("no Liberty file here")
    files = technology.choose([paths.rtl_file(name)], "nangate45")
    assert set(technology.cells(files)) <= library.cells.keys()
    assert technology.cells(files)


def test_files_of_a_technology() -> None:
    """A design's file list has one view of each module, and what that view needs."""
    for name in technology.FOLDERS:
        files = sources.ordered("stream4_async", None, name)
        stems = [path.stem for path in files]
        assert len(stems) == len(set(stems))
        assert {"mae_ram", "mae_sync", "mae_reset_sync"} <= set(stems)
        own = technology.views(name)
        assert all(path == own[path.stem] for path in files if path.stem in own)
    with pytest.raises(MaeslantError, match="no technology 'vhs'"):
        sources.ordered("stream4_async", None, "vhs")
