# SPDX-License-Identifier: Apache-2.0
"""tools/check_readme.py notices what README.md promises in vain."""

import pathlib

import pytest

from tests.tools import tree
from tools import check_readme

KNOWN = {"info": {"--json"}}


def test_clean(tmp_path: pathlib.Path) -> None:
    """A README that tells the truth has no problems."""
    assert check_readme.problems(tree.make(tmp_path), KNOWN) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("make run", "make fly", "no target 'fly'"),
        ("FILE=x", "FIEL=x", "no variable FIEL"),
        ("maeslant info", "maeslant inform", "no command 'inform'"),
        ("--json", "--xml", "no option --xml"),
        ("docs/adr/0001.md", "docs/adr/0002.md", "there is no docs/adr/0002.md"),
        ("rtl/prim/mae_low.sv", "rtl/prim/mae_lo.sv", "there is no rtl/prim/mae_lo.sv"),
    ],
)
def test_break(tmp_path: pathlib.Path, old: str, new: str, said: str) -> None:
    """Each wrong word gives one line."""
    text = tree.FILES["README.md"].replace(old, new)
    found = check_readme.problems(tree.make(tmp_path, **{"README.md": text}), KNOWN)
    assert len(found) == 1 and said in found[0], found


def test_missing(tmp_path: pathlib.Path) -> None:
    """No README is a clear failure."""
    tree.make(tmp_path)
    (tmp_path / "README.md").unlink()
    assert check_readme.problems(tmp_path, KNOWN) == ["README.md is missing"]


def test_real_commands() -> None:
    """The commands are read from the command line itself."""
    known = check_readme.commands()
    assert "--json" in known["info"] | known["devices"] | known["measure"]
