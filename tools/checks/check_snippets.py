# SPDX-License-Identifier: Apache-2.0
"""Compiles the code blocks of the Markdown pages and runs the README's Python code.

Takes each fenced block in SystemVerilog (Verilator lints it with the modules that it uses), C (the
compiler checks it against our headers) and, of README.md, Python (runs it). A block with a title is
a part of a file, and is not checked.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from maeslant import paths
from tools.checks import check_pages

BLOCK = re.compile(r"^```(systemverilog|c|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
C = ["gcc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-xc"]


def command(language: str, file: pathlib.Path, text: str) -> list[str]:
    """Returns the command that compiles or runs a page's code block, which is saved in a file."""
    if language == "c":
        return [*C, f"-I{paths.ROOT / 'driver' / 'include'}", str(file)]
    if language == "python":
        return [sys.executable, str(file)]
    top = re.search(r"^module (\w+)", text, re.MULTILINE)
    if not top:
        raise SystemExit(f"a block in SystemVerilog without a module:\n{text}")
    packages = [str(path) for path in paths.rtl_packages()]
    # The snippet's own text is judged; the modules below it are linted by tools/lint.py.
    options = ["--lint-only", "-Wall", "-Wno-fatal", "-Wno-DECLFILENAME", "--top-module", top[1]]
    return [paths.tool("verilator"), *options, *paths.verilator_sources(), *packages, str(file)]


def problems(page: pathlib.Path, languages: set[str]) -> list[str]:
    """Compiles or runs the code blocks of a Markdown page; returns the errors."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for match in BLOCK.finditer(page.read_text()):
            language, text = match.groups()
            if language not in languages:
                continue
            suffix = {"systemverilog": "sv", "c": "c", "python": "py"}[language]
            file = pathlib.Path(folder) / f"snippet.{suffix}"
            file.write_text(text)
            run = subprocess.run(
                command(language, file, text),
                capture_output=True,
                text=True,
                cwd=paths.ROOT,
                env=os.environ | {"PYTHONPATH": str(paths.ROOT)},
                check=False,
            )
            said = run.stdout + run.stderr
            ours = [line for line in said.splitlines() if str(file) in line]
            if run.returncode or (language != "python" and ours):
                line = page.read_text()[: match.start()].count("\n") + 1
                # Python's error follows the lines that name the file.
                what = said.strip() if language == "python" else "\n".join(ours) or said.strip()
                found.append(f"{os.path.relpath(page, paths.ROOT)}:{line}: {language}:\n{what}")
    return found


def main() -> int:
    """Compiles or runs the code blocks of all pages; prints errors; returns 0 if none."""
    found = []
    for page in check_pages.pages(paths.ROOT):
        run = {"python"} if page == paths.ROOT / "README.md" else set()
        found += problems(page, {"systemverilog", "c"} | run)
    for problem in found:
        print(problem)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
