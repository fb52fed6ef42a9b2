# SPDX-License-Identifier: Apache-2.0
"""Tests check_pages.py and check_snippets.py, which check names and code in pages."""

import pathlib

import pytest

from maeslant import paths
from tests.tools import tree
from tools.checks import check_pages, check_snippets

KNOWN = {"info": {"--json"}, "measure": {"--json"}}


def test_clean(tmp_path: pathlib.Path) -> None:
    """check_pages.py reports nothing for a README whose names all exist."""
    assert check_pages.problems(tree.make(tmp_path), KNOWN) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("make run", "make fly", "no target 'fly'"),
        ("FILE=x", "FIEL=x", "no variable FIEL"),
        ("FILE=x", "TEST=tests/prim/test_low.py", ""),
        ("FILE=x", "TEST=tests/gone", "there is no tests/gone"),
        ("FILE=x", "TEST=tests/prim/test_low.py::test_it", ""),
        ("FILE=x", "TEST=tests/prim/test_low.py::test_it[a-b]", ""),
        ("FILE=x", "TEST=tests/prim/test_low.py::test_i", "test_low.py has no test_i"),
        ("maeslant info", "maeslant inform", "no command 'inform'"),
        ("--json", "--xml", "no option --xml"),
        ("info sim:", "measure gcm4 dma", ""),
        ("info sim:", "measure gcm", "no part gcm"),
        ("docs/adr/0001.md", "docs/adr/0002.md", "there is no docs/adr/0002.md"),
        ("rtl/prim/mae_low.sv", "rtl/prim/mae_lo.sv", "there is no rtl/prim/mae_lo.sv"),
        ("rtl/prim/mae_low.sv", "rtll/prim/mae_low.sv", "there is no rtll/prim/mae_low.sv"),
        ("rtl/prim/mae_low.sv", "own/prim/mae_low.sv", ""),
    ],
)
def test_break(tmp_path: pathlib.Path, old: str, new: str, said: str) -> None:
    """check_pages.py reports a wrong command, file or option in a README."""
    text = tree.FILES["README.md"].replace(old, new)
    found = check_pages.problems(tree.make(tmp_path, **{"README.md": text}), KNOWN)
    assert len(found) == bool(said) and said in "".join(found), found


def test_missing(tmp_path: pathlib.Path) -> None:
    """check_pages.py reports a missing README."""
    tree.make(tmp_path)
    (tmp_path / "README.md").unlink()
    assert check_pages.problems(tmp_path, KNOWN) == ["README.md is missing"]


def test_real_commands() -> None:
    """check_pages.commands returns the options of each `maeslant` command."""
    known = check_pages.commands()
    assert "--json" in known["info"] | known["devices"] | known["measure"]


def test_links_of_the_html_page(tmp_path: pathlib.Path) -> None:
    """check_pages.py reports each link of results/*.html to a missing file or id."""
    page = (
        '<h2 id="one">1</h2><a href="#one">1</a><a href="#two">2</a><a href="a.json">a</a>'
        '<a href="b.json">b</a><a href="https://example.org/#x">x</a>'
    )
    tree.make(tmp_path, **{"results/page.html": page, "results/a.json": "{}"})
    assert check_pages.problems(tmp_path, KNOWN) == [
        "results/page.html: this page has no id two",
        "results/page.html: there is no b.json",
    ]


def test_environment_variables(tmp_path: pathlib.Path) -> None:
    """check_pages.py compares the variables that are read with the table of the install guide."""
    table = "| variable | effect |\n|---|---|\n"
    table += "".join(f"| `MAESLANT_{name}` | something |\n" for name in ("A", "B", "GONE"))
    sources = {
        "maeslant/paths.py": 'import os\nos.environ.get("MAESLANT_A")\nTWO = "MAESLANT_TWO"\n',
        "driver/src/library.c": 'char *b = getenv("MAESLANT_B"); // not MAESLANT_H\n',
        "maeslant/cli.py": 'import os\nos.environ["MAESLANT_KEYS"]; set(MAESLANT_C="1")\n',
    }
    tree.make(tmp_path, **{"docs/guides/install.md": table}, **sources)
    assert check_pages.problems(tmp_path, KNOWN) == [
        "docs/guides/install.md: its table lacks MAESLANT_TWO",
        "docs/guides/install.md: nothing reads MAESLANT_GONE",
    ]


def test_variables_of_the_tree() -> None:
    """The install guide lists each environment variable that the software reads, and no other."""
    assert check_pages.variable_problems(paths.ROOT) == []


BAD = """# A page

See [a page](../nowhere.md), `rtl/prim/mae_gone.sv`, `maeslant/none`, `maeslant.none.part`,
`mae_gone`, `tests/prim/test_gone.py` and `test_gone_too`, `make flew`; paper 003 says so.
See [that](#a-pages), [one](../adr/0001.md#two).

```sh
make fly
maeslant inform
cat docs/adr/none.md
```
"""


def test_a_page_in_a_folder(tmp_path: pathlib.Path) -> None:
    """check_pages.py reports each missing file, module or command named in docs/."""
    good = (
        "`rtl/prim/mae_low.sv`, [one](../adr/0001.md), `maeslant.cli`, `mae_low`, `boards/NAME`\n"
        '[one](../adr/0001.md#one), [b](#b-and-c_d), [e](#e)\n## B, and `c_d`\n<a id="e"></a>\n'
    )
    tree.make(tmp_path, **{"docs/guides/good.md": good, "docs/guides/bad.md": BAD})
    found = check_pages.problems(tmp_path, KNOWN)
    said = (
        "'make fly'", "'make flew'", "'maeslant inform'", "no docs/adr/none.md",
        "paper 003", "no ../nowhere.md",
        "no maeslant/none", "no Python module maeslant.none", "no rtl/prim/mae_gone.sv",
        "name mae_gone", "no tests/prim/test_gone.py", "name test_gone_too",
        "this page has no heading #a-pages", "../adr/0001.md has no heading #two",
    )  # fmt: skip
    assert all(line.startswith("docs/guides/bad.md: ") for line in found)
    for part in said:
        assert sum(part in line for line in found) == 1, (part, found)
    assert len(found) == len(said), found


def test_a_page_beside_a_makefile(tmp_path: pathlib.Path) -> None:
    """check_pages.py accepts make targets of an example's own Makefile."""
    page = "```sh\nmake icarus\nmake run\nmake none\n```\n"
    make = {"examples/one/Makefile": "icarus:\n", "examples/one/README.md": page}
    found = check_pages.problems(tree.make(tmp_path, **make), KNOWN)
    assert len(found) == 1 and "no target 'none'" in found[0]


@pytest.mark.parametrize(
    ("language", "right", "wrong"),
    [
        (
            "c",
            "#include <maeslant.h>\nint f(mae_dev_t *dev);\nint f(mae_dev_t *dev)\n"
            "{\n    return dev != 0;\n}\n",
            ("mae_dev_t", "mae_device_t"),
        ),
        (
            "systemverilog",
            "module m (input logic a_i, output logic b_o);\n  assign b_o = a_i;\nendmodule\n",
            ("= a_i", "= c_i"),
        ),
        (
            "python",
            "from maeslant import paths\n\nassert paths.RTL.is_dir()\n",
            ("paths.RTL", "paths.RTLS"),
        ),
    ],
)
def test_snippets(
    tmp_path: pathlib.Path, language: str, right: str, wrong: tuple[str, str]
) -> None:
    """check_snippets.py reports a code block of a page that does not compile."""
    page = tmp_path / "page.md"
    for text, good in ((right, True), (right.replace(*wrong), False)):
        page.write_text(f"# A page\n\n```{language}\n{text}```\n")
        found = check_snippets.problems(page, {language})
        assert bool(found) != good, found
    assert "page.md:3" in found[0] and wrong[1].split()[-1].split(".")[-1] in found[0]
