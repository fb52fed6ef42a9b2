# SPDX-License-Identifier: Apache-2.0
"""Tests tools/gen_docs.py, which writes a page for each module of rtl/."""

import pathlib
import re

import pytest

from maeslant import paths
from maeslant.build import pictures
from tools import gen_docs
from tools.docsite import diagram


@pytest.mark.full
def test_named_tests_exist(tmp_path: pathlib.Path) -> None:
    """Each module page of tools/gen_docs.py names at least one test, and the test exists."""
    gen_docs.write(tmp_path)
    pages = [page for page in tmp_path.glob("*.md") if page.name != "README.md"]
    assert pages
    for page in pages:
        named = re.findall(r"\(../../(tests/[^)]*)\)", page.read_text().split("## Place")[1])
        assert named, page.name
        missing = [name for name in named if not (paths.ROOT / name).exists()]
        assert not missing, (page.name, missing)


def test_untested_module() -> None:
    """tools/gen_docs.py fails for a module that no test names."""
    lonely = gen_docs.Module(paths.RTL / "prim" / "mae_lonely.sv", "", [], [], [])
    with pytest.raises(SystemExit, match="mae_lonely"):
        gen_docs.tests_of("mae_lonely", {"mae_lonely": lonely}, {"tests/prim/test_other.py": ""})


def test_drawings_have_the_colours_of_all_pictures() -> None:
    """Drawings of pages and modules take the colours of pictures.py, for light and dark pages."""
    drawings = [path.read_text() for path in sorted((paths.ROOT / "docs").glob("*.svg"))]
    drawings.append(diagram.draw("mae_one", ["clk_i"], ["out_o"], ["Depth 4"], ["mae_two"]))
    assert len(drawings) > 3
    for text in drawings:
        own = text.replace(pictures.colours(), "")
        assert own != text and not re.search(r"#[0-9a-fA-F]{3,6}\b", own), text[:300]
        for name in re.findall(r"var\(--(\w+)\)", own):
            assert name in pictures.LIGHT
