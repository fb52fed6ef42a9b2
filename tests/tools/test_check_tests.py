# SPDX-License-Identifier: Apache-2.0
"""Tests check_tests.py, which requires tests, headers, SPDX lines, short files and folders."""

import pathlib

import pytest

from tests.tools import tree
from tools.checks import check_tests

NEW = tree.MODULE.format(name="mae_new", body="")


def test_clean(tmp_path: pathlib.Path) -> None:
    """check_tests.py reports nothing for a correct repository."""
    assert check_tests.problems(tree.make(tmp_path)) == []


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("rtl/prim/mae_new.sv", NEW, "has no tests/prim/test_new.py"),
        (
            "tests/prim/test_low.py",
            tree.TEST.format(name="low").replace("def", "@pytest.mark.full\ndef"),
            "has no tests/prim/test_low.py without mark full",
        ),
        (
            "rtl/prim/mae_low.sv",
            tree.FILES["rtl/prim/mae_low.sv"].split("\n", 1)[1],
            "no SPDX line",
        ),
        ("driver/src/library.c", "int x;\n", "no SPDX line"),
        (
            "rtl/prim/mae_low.sv",
            tree.FILES["rtl/prim/mae_low.sv"].replace("Latency: 0 clocks.", "Good."),
            "says nothing of latency",
        ),
        (
            "rtl/prim/mae_low.sv",
            tree.FILES["rtl/prim/mae_low.sv"].replace("mae_low: an", "An"),
            "does not say what 'mae_low:' is",
        ),
        *(
            (
                "rtl/prim/mae_low.sv",
                tree.FILES["rtl/prim/mae_low.sv"].replace("= a_i;", f"= a_i ? 1'b1 : {value};"),
                f"synthesis may take any: assign b_o = a_i ? 1'b1 : {value}",
            )
            for value in ("'x", "1'bx", "8'h0X", "4'bx_01")
        ),
        ("maeslant/cli.py", tree.SPDX_PY + "x = 1\n" * 500, "501 lines, and no ADR"),
        *(
            (file, text + "\n", "there is no tests/prim/test_old.py")
            for file, text in (
                ("maeslant/cli.py", tree.SPDX_PY + '"""Is tested (tests/prim/test_old.py)."""'),
                ("regs/mae.rdl", "// SPDX-License-Identifier: x\n// tests/prim/test_old.py"),
                ("driver/a.c", "/* SPDX-License-Identifier: x */\n/* tests/prim/test_old.py. */"),
            )
        ),
    ],
)
def test_break(tmp_path: pathlib.Path, file: str, text: str, said: str) -> None:
    """check_tests.py reports the file that breaks a repository rule."""
    found = check_tests.problems(tree.make(tmp_path, **{file: text}))
    assert len(found) == 1, found
    assert file in found[0] and said in found[0]


def test_allowed(tmp_path: pathlib.Path) -> None:
    """check_tests.py accepts long files with an ADR, generated files and empty files."""
    changes = {
        "rtl/prim/mae_new.sv": NEW,
        "rtl/prim/mae_kind_new.sv": tree.MODULE.format(name="mae_kind_new", body=""),
        "tests/prim/test_low.py": tree.SPDX_PY
        + '"""mae_low with its part mae_new, and each mae_kind_*."""\n\n\ndef test_it(): ...\n',
        "maeslant/cli.py": tree.SPDX_PY + "x = 1\n" * 500,
        "docs/adr/0002.md": "Why cli.py is long.\n",
        "rtl/device/generated/mae_regs.sv": tree.SPDX_PY + "x\n" * 600,
        "build/x.py": "x = 1\n",
        "tests/__init__.py": "",
    }
    assert check_tests.problems(tree.make(tmp_path, **changes)) == []


def test_folders(tmp_path: pathlib.Path) -> None:
    """check_tests.py reports a folder with 16 files; tables and generated folders may have more."""
    folders = ("regs/x", "docs/adr", "driver/fuzz/corpus/a", "rtl/device/generated")
    files = {f"{folder}/{number}.txt": "" for folder in folders for number in range(15)}
    made = tree.make(tmp_path, **files, **{"regs/x/__init__.py": "", "regs/x/.hidden": ""})
    assert check_tests.problems(made) == []
    for folder in folders:
        (made / folder / "one_more.txt").touch()
    found = check_tests.problems(made)
    assert found == ["regs/x: 16 files beside each other (limit 15); split it by subject"]
