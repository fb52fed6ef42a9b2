# SPDX-License-Identifier: Apache-2.0
"""Checks that each RTL module has a test, and that sources have headers and a legal size.

Every module of rtl/ has its test, a file of its own or one in the same folder whose docstring names
the module as a part that it covers, with a test that is not marked full; a file over 500 lines has
an ADR that names it; every source file has an SPDX line; every module's header says its latency or
throughput.
"""

import ast
import pathlib
import re
import sys

from maeslant import paths

MAX_LINES = 500
SOURCES = {".sv", ".svh", ".vlt", ".rdl", ".py", ".c", ".h", ".S", ".cpp", ".ld", ".core", ".yml"}
SOURCE_NAMES = {"Makefile"}
SKIPPED = {".git", ".venv", ".ci", "build", "__pycache__"}
LEFT_OUT = "pytest.mark.full"
TIMING = re.compile(r"\b(latency|throughput|clocks?|combinational)\b", re.IGNORECASE)


def sources(root: pathlib.Path) -> list[pathlib.Path]:
    """Lists all source files of the repository that are written by hand."""
    return sorted(
        path
        for path in root.rglob("*")
        if (path.suffix in SOURCES or path.name in SOURCE_NAMES)
        and path.is_file()
        and not SKIPPED & set(path.relative_to(root).parts)
    )


def modules(root: pathlib.Path) -> list[pathlib.Path]:
    """Lists the RTL modules of rtl/ that are written by hand."""
    return [
        path
        for path in sources(root)
        if path.is_relative_to(root / "rtl")
        and path.suffix == ".sv"
        and "generated" not in path.parts
        and re.search(r"^module ", path.read_text(), re.MULTILINE)
    ]


def header(text: str) -> str:
    """Returns the comment at the top of an RTL file's text."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line)
    return "\n".join(lines)


def test_problems(root: pathlib.Path) -> list[str]:
    """Lists RTL modules without a test in the corresponding folder of tests/."""
    found = []
    for path in modules(root):
        folder = root / "tests" / path.relative_to(root / "rtl").parent
        test = folder / f"test_{path.stem.removeprefix('mae_')}.py"
        runs = test.exists() and _runs(ast.parse(test.read_text()))
        if not runs and path.stem not in _covered(
            root / "tests" / path.relative_to(root / "rtl").parts[0]
        ):
            found.append(
                f"{path}: has no {test.relative_to(root)} without mark full, and no docstring "
                "there names it"
            )
    return found


def _runs(tree: ast.Module) -> bool:
    """Returns true if a Python test file has a test that `make test` runs."""

    def left_out(nodes: list[ast.expr]) -> bool:
        return LEFT_OUT in map(ast.unparse, nodes)

    marks = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    tests = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    return not left_out(marks) and any(not left_out(test.decorator_list) for test in tests)


def _covered(folder: pathlib.Path) -> set[str]:
    """Returns the RTL modules that the docstrings of a test folder name as tested."""
    trees = (ast.parse(path.read_text()) for path in folder.glob("**/test_*.py"))
    docstrings = (ast.get_docstring(tree) or "" for tree in trees if _runs(tree))
    return set(re.findall(r"\bmae_\w+", " ".join(docstrings)))


def header_problems(root: pathlib.Path) -> list[str]:
    """Lists sources without an SPDX line and RTL modules without latency in the header."""
    found = []
    for path in sources(root):
        lines = path.read_text().splitlines()
        if lines and not any("SPDX-License-Identifier:" in line for line in lines[:3]):
            found.append(f"{path}: no SPDX line at its top")
    for path in modules(root):
        if not TIMING.search(header(path.read_text())):
            found.append(f"{path}: the header says nothing of latency or throughput")
        if f"{path.stem}:" not in header(path.read_text()):
            found.append(f"{path}: the header does not say what '{path.stem}:' is")
    return found


def size_problems(root: pathlib.Path) -> list[str]:
    """Lists source files with too many lines for which no ADR gives a reason."""
    decisions = "".join(path.read_text() for path in (root / "docs" / "adr").glob("*.md"))
    found = []
    for path in sources(root):
        lines = len(path.read_text().splitlines())
        if lines > MAX_LINES and "generated" not in path.parts and path.name not in decisions:
            found.append(f"{path}: {lines} lines, and no ADR says why (limit {MAX_LINES})")
    return found


def problems(root: pathlib.Path = paths.ROOT) -> list[str]:
    """Lists the sources with missing tests, incomplete headers or too many lines."""
    return [*test_problems(root), *header_problems(root), *size_problems(root)]


def main() -> int:
    """Prints the sources that lack a test or header or are too long; returns 0 if none."""
    found = problems()
    for line in found:
        print(line.replace(f"{paths.ROOT}/", ""))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
