# SPDX-License-Identifier: Apache-2.0
"""Tests tools/lint.py: each tool's violations are reported, and --fix repairs formats."""

import pathlib
from collections.abc import Callable

import pytest

from tests.tools import tree
from tools import lint

GOOD = {
    "rtl/prim/mae_low.sv": tree.FILES["rtl/prim/mae_low.sv"],
    "driver/src/a.c": tree.SPDX_C + "int f(int x)\n{\n    return x;\n}\n",
    "sim/a.cpp": "int f(int x) { return x; }\n",
    "a.py": '"""A module."""\n\nX = 1\n',
}
CHECKS = {
    "verible_format": lambda root: lint.verible_format(root, False),
    "verible_lint": lint.verible_lint,
    "verilator_lint": lint.verilator_lint,
    "slang": lint.slang,
    "yosys": lint.yosys,
    "clang_format": lambda root: lint.clang_format(root, False),
    "ruff": lambda root: lint.ruff(root, False),
}
BREAKS = [
    ("verible_format", "rtl/prim/mae_low.sv", "  assign", "    assign"),
    ("verible_lint", "rtl/prim/mae_low.sv", "module mae_low", "module mae_other"),
    ("verilator_lint", "rtl/prim/mae_low.sv", "logic a_i", "logic [1:0] a_i"),
    ("slang", "rtl/prim/mae_low.sv", "b_o = a_i", "b_o = mae_none_pkg::None"),
    ("yosys", "rtl/prim/mae_low.sv", "b_o = a_i;", "b_o = a_i; initial forever #1;"),
    ("clang_format", "driver/src/a.c", "    return", "  return"),
    ("clang_format", "sim/a.cpp", "int x", "int  x"),
    ("ruff", "a.py", "X = 1", "X=1"),
    ("ruff", "a.py", '"""A module."""', ""),
]

FULL_COUNTER = "if (Depth + 1 < 2 ** CountWidth)"  # what keeps mae_fifo from such a comparison


def make(root: pathlib.Path, changes: dict[str, str] | None = None) -> pathlib.Path:
    """Writes a small source tree with the repository's lint settings; returns its folder."""
    for name, text in {**GOOD, **(changes or {})}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in (".clang-format", "sim/.clang-format", "pyproject.toml"):
        (root / name).write_text((lint.paths.ROOT / name).read_text())
    return root


@pytest.mark.parametrize("check", CHECKS)
def test_clean(tmp_path: pathlib.Path, check: str) -> None:
    """tools/lint.py reports nothing for a correct source tree."""
    assert CHECKS[check](make(tmp_path)) == []


@pytest.mark.parametrize(("check", "file", "old", "new"), BREAKS)
def test_break(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture, check: str, file: str, old: str, new: str
) -> None:
    """tools/lint.py reports each violation with its file's name."""
    found = CHECKS[check](make(tmp_path, {file: GOOD[file].replace(old, new)}))
    assert found
    assert pathlib.PurePath(file).name in " ".join(found) + capfd.readouterr().err


@pytest.mark.parametrize(
    ("check", "fix"),
    [
        ("verible_format", lint.verible_format),
        ("clang_format", lint.clang_format),
        ("ruff", lint.ruff),
    ],
)
def test_fix(tmp_path: pathlib.Path, check: str, fix: Callable) -> None:
    """tools/lint.py --fix repairs a file that violates a formatter's rules."""
    _, file, old, new = next(item for item in BREAKS if item[0] == check)
    root = make(tmp_path, {file: GOOD[file].replace(old, new)})
    fix(root, True)
    assert (root / file).read_text() == GOOD[file]
    assert CHECKS[check](root) == []


@pytest.mark.parametrize("depth", [1, 3, 15, 16])
def test_edges_of_fifo(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, depth: int) -> None:
    """lint.verilator_lint finds a comparison that is constant in mae_fifo at full counters only."""
    name = "rtl/prim/fifo/mae_fifo.sv"
    text = (lint.paths.ROOT / name).read_text()
    assert text.count(FULL_COUNTER) == 1
    root = make(tmp_path, {name: text.replace(FULL_COUNTER, "if (1'b1)")})
    monkeypatch.setattr(lint.configurations, "load", dict)
    given = [(path.stem, found) for path, found in lint.verilator_tops(root)]
    assert ("mae_fifo", {"Depth": depth}) in given
    only = [(root / name, {"Depth": depth})]
    monkeypatch.setattr(lint, "verilator_tops", lambda _root: only)
    found = " ".join(lint.verilator_lint(root))
    assert ("CMPCONST" in found and "mae_fifo.sv" in found) == (depth in (1, 3, 15)), found
