# SPDX-License-Identifier: Apache-2.0
"""Checks that each RTL module has a test, and that sources and folders are as the rules ask.

Every module of rtl/ has its test, a file of its own or one in the same folder whose docstring names
the module, or a pattern such as mae_sbox_*, as a part that it covers, with a test that is not
marked full; a file over 500 lines has an ADR that names it; a folder has at most 15 files unless
TABLES names it; every source file has an SPDX line; every module's header says its latency or
throughput; what stands at a source's top names no file that does not exist; RTL gives no unknown
value (x), for which synthesis may take a secret.
"""

import ast
import collections
import fnmatch
import pathlib
import re
import sys

from maeslant import paths

MAX_LINES = 500
MAX_FILES = 15
# Folders that may have more files, all of one kind, of which a page or a program makes a table.
TABLES = {
    "docs/adr": "a decision a file; docs/adr/README.md lists them",
    "driver/fuzz/corpus/*": "stored inputs of a fuzz target",
    "results/reports": "a synthesis report a file; results/synthesis.md is made of them",
}
SOURCES = {".sv", ".svh", ".vlt", ".rdl", ".py", ".c", ".h", ".S", ".cpp", ".ld", ".core", ".yml"}
SOURCE_NAMES = {"Makefile"}
SKIPPED = {".git", ".venv", ".ci", "build", "__pycache__", ".pytest_cache", ".ruff_cache"}
LEFT_OUT = "pytest.mark.full"
UNKNOWN = re.compile(r"'[sS]?(?:[bBoOdDhH][\da-fA-F_]*)?[xX]")
# The comment at a file's top, in C or Verilog, or with #.
COMMENT = re.compile(r"(?:\s*(?://.*\n|#.*\n|/\*[\s\S]*?\*/\s*))*")
FILE = re.compile(r"(?<![\w./:-])(\w+)/[\w./*-]*\w")
TIMING = re.compile(r"\b(latency|throughput|clocks?|combinational)\b", re.IGNORECASE)


def sources(root: pathlib.Path) -> list[pathlib.Path]:
    """Returns the paths of all hand-written source files of the repository."""
    return sorted(
        path
        for path in root.rglob("*")
        if (path.suffix in SOURCES or path.name in SOURCE_NAMES)
        and path.is_file()
        and not SKIPPED & set(path.relative_to(root).parts)
    )


def modules(root: pathlib.Path) -> list[pathlib.Path]:
    """Returns the paths of all hand-written RTL modules of rtl/."""
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
    """Returns an error for each RTL module without a test in the matching folder of tests/."""
    found = []
    for path in modules(root):
        folder = root / "tests" / path.relative_to(root / "rtl").parent
        test = folder / f"test_{path.stem.removeprefix('mae_')}.py"
        runs = test.exists() and _runs(ast.parse(test.read_text()))
        covered = _covered(root / "tests" / path.relative_to(root / "rtl").parts[0])
        if not runs and not any(fnmatch.fnmatch(path.stem, name) for name in covered):
            found.append(
                f"{path}: has no {test.relative_to(root)} without mark full, and no docstring "
                "there names it"
            )
    return found


def _runs(tree: ast.Module) -> bool:
    """Returns true if a parsed Python test file contains a test that `make test` runs."""

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
    """Returns the RTL module names (or name patterns) in the docstrings of a folder's tests."""
    trees = (ast.parse(path.read_text()) for path in folder.glob("**/test_*.py"))
    docstrings = (ast.get_docstring(tree) or "" for tree in trees if _runs(tree))
    return set(re.findall(r"\bmae_\w+\*?", " ".join(docstrings)))


def header_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each source without SPDX line, or RTL header without latency."""
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


def path_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each path in a source's docstring or top comment that does not exist.

    A path may hold ``*`` and be of an ADR by its number alone; X is a name to be filled in.
    """
    found = []
    for path in sources(root):
        text = path.read_text()
        top = COMMENT.match(text)[0]
        if path.suffix == ".py":
            top = ast.get_docstring(ast.parse(text)) or ""
        for name, folder in {match[0]: match[1] for match in FILE.finditer(top)}.items():
            if folder in SKIPPED or not (root / folder).is_dir() or name.endswith("/X"):
                continue
            short = f"{name}-*" if folder == "docs" else name
            if not (root / name).exists() and not any(root.glob(short)):
                found.append(f"{path}: there is no {name}")
    return found


def unknown_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each RTL line that assigns or compares an unknown (X) value."""
    return [
        f"{path}: an unknown value, for which synthesis may take any: {line.strip()}"
        for path in sorted((root / "rtl").rglob("*.sv*"))
        for line in paths.code(path).splitlines()
        if UNKNOWN.search(line)
    ]


def size_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each source file that is too long, unless an ADR gives a reason."""
    decisions = "".join(path.read_text() for path in (root / "docs" / "adr").glob("*.md"))
    found = []
    for path in sources(root):
        lines = len(path.read_text().splitlines())
        if lines > MAX_LINES and "generated" not in path.parts and path.name not in decisions:
            found.append(f"{path}: {lines} lines, and no ADR says why (limit {MAX_LINES})")
    return found


def folder_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each folder with too many files, hidden files not counted."""
    files = [path for path in root.rglob("[!.]*") if path.is_file() and path.name != "__init__.py"]
    counts = collections.Counter(path.relative_to(root).parent for path in files)
    return [
        f"{folder}: {count} files beside each other (limit {MAX_FILES}); split it by subject"
        for folder, count in sorted(counts.items())
        if count > MAX_FILES
        and not (SKIPPED | {"generated"}) & set(folder.parts)
        and not any(fnmatch.fnmatch(str(folder), table) for table in TABLES)
    ]


def problems(root: pathlib.Path = paths.ROOT) -> list[str]:
    """Returns errors of the sources: no test, no header, X values, too long files, full folders."""
    checks = (
        test_problems,
        header_problems,
        path_problems,
        unknown_problems,
        size_problems,
        folder_problems,
    )
    return [line for check in checks for line in check(root)]


def main() -> int:
    """Prints files and folders that break the repository's rules; returns 0 if there are none."""
    found = problems()
    for line in found:
        print(line.replace(f"{paths.ROOT}/", ""))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
