# SPDX-License-Identifier: Apache-2.0
"""Tests check_layers.py, which forbids a folder to use a later layer's folder."""

import pathlib

import pytest

from tests.tools import tree
from tools.checks import check_layers


def test_clean(tmp_path: pathlib.Path) -> None:
    """check_layers.py accepts a correct tree and ignores comments and strings."""
    assert check_layers.problems(tree.make(tmp_path)) == []


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "rtl/prim/mae_low.sv",
            tree.MODULE.format(name="mae_low", body="mae_high u_high (.a_i, .b_o);"),
            "prim/ may not use cipher/ (mae_high)",
        ),
        (
            "rtl/prim/mae_low.sv",
            tree.MODULE.format(name="mae_low", body='`include "cipher.svh"'),
            "prim/ may not use cipher/ (cipher)",
        ),
        (
            "rtl/cipher/mae_high.sv",
            tree.MODULE.format(name="mae_high", body="assign b_o = mae_dev_pkg::Value;"),
            "cipher/ may not use device/ (mae_dev_pkg)",
        ),
        ("rtl/other/mae_other.sv", "module mae_other; endmodule\n", "no place in the order"),
        ("driver/src/library.c", '#include "sim.h"\n', "src/ may not use backend/ (sim)"),
        ("driver/include/api.h", '#include "ops.h"\n', "include/ may not use src/ (ops)"),
        ("maeslant/cli.py", "import tools.check\n", "maeslant/ may not import tools"),
        (
            "maeslant/cli.py",
            "def f():\n    from tests import support\n",
            "maeslant/ may not import tests",
        ),
        ("tools/check.py", "from tests.support import bench\n", "tools/ may not import tests"),
    ],
)
def test_break(tmp_path: pathlib.Path, file: str, text: str, said: str) -> None:
    """check_layers.py names the file that uses a module or header of a later layer."""
    extra = {
        "rtl/cipher/cipher.svh": "// SPDX\n",
        "rtl/device/mae_dev_pkg.sv": "package mae_dev_pkg;\nendpackage\n",
    }
    found = check_layers.problems(tree.make(tmp_path, **extra, **{file: text}))
    assert len(found) == 1
    assert file in found[0] and said in found[0]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {
                "maeslant/first.py": "from maeslant import second\n",
                "maeslant/second.py": "def f():\n    from maeslant.first import g\n",
            },
            ("first.py", "second.py"),
        ),
        (
            {
                "maeslant/a/low.py": "",
                "maeslant/a/high.py": "import maeslant.b.middle\n",
                "maeslant/b/middle.py": "from maeslant.a import low\n",
            },
            ("maeslant/a", "maeslant/b"),
        ),
        (
            {
                "driver/src/one.c": "int one(int x)\n{\n    return two(x);\n}\n",
                "driver/src/deep/two.c": "int two(int x)\n{\n    return x ? one(x - 1) : 0;\n}\n",
            },
            ("one.c", "two.c"),
        ),
    ],
)
def test_circle(tmp_path: pathlib.Path, files: dict[str, str], said: tuple[str, str]) -> None:
    """check_layers.py names files, or folders of maeslant/, that use each other."""
    found = check_layers.problems(tree.make(tmp_path, **files))
    assert len(found) == 1
    assert "circle" in found[0] and all(name in found[0] for name in said)
