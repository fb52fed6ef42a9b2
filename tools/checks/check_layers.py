# SPDX-License-Identifier: Apache-2.0
"""Checks that files of rtl/, driver/ and Python use only earlier folders of a fixed order.

rtl/ in the order of maeslant.paths.RTL_ORDER, by the modules and packages a file names (views of
rtl/technology stand for modules of rtl/prim and are left out); driver/ by its includes; Python by
its imports: maeslant uses itself, tools may use maeslant, tests anything.
No files of maeslant/ or of one part of driver/ use each other in a circle.
"""

import ast
import graphlib
import pathlib
import re
import sys

from maeslant import paths

DRIVER_ORDER = ("include", "enclave", "src", "backend", "provider", "os", "firmware", "fuzz")
DRIVER_ORDER += ("linux",)
PYTHON_USES = {"maeslant": set(), "tools": {"maeslant"}}
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^\s*[`#]\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def _check_order(
    tree: pathlib.Path, order: tuple[str, ...], uses: dict[pathlib.Path, set[pathlib.Path]]
) -> list[str]:
    """Returns errors: uses of a folder later in the order, and folders that the order lacks."""
    problems = []

    def folder(path: pathlib.Path) -> str:
        return path.relative_to(tree).parts[0]

    for path in sorted(uses):
        if folder(path) not in order:
            problems.append(f"{path}: folder {folder(path)}/ has no place in the order {order}")
            continue
        for other in sorted(uses[path]):
            if folder(other) in order and order.index(folder(other)) > order.index(folder(path)):
                problems.append(
                    f"{path}: {folder(path)}/ may not use {folder(other)}/ ({other.stem})"
                )
    return problems


def rtl_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each module, package or include of rtl/ that breaks the folder order."""
    rtl = root / "rtl"
    files = [*rtl.glob("**/*.sv"), *rtl.glob("**/*.svh")]
    files = [path for path in files if path.relative_to(rtl).parts[0] != "technology"]
    modules = {path.stem: path for path in files if path.suffix == ".sv"}
    headers = {path.name: path for path in files if path.suffix == ".svh"}
    uses = {}
    for path in files:
        text = path.read_text()
        names = set(re.findall(r"\b\w+\b", COMMENT.sub(" ", text)))
        uses[path] = {modules[name] for name in names & modules.keys()}
        uses[path] |= {headers[name] for name in INCLUDE.findall(text) if name in headers}
    return _check_order(rtl, paths.RTL_ORDER, uses)


def driver_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each include of driver/ that breaks the folder order."""
    driver = root / "driver"
    files = [path for suffix in ("c", "h", "S") for path in driver.glob(f"**/*.{suffix}")]
    headers = {path.name: path for path in files if path.suffix == ".h"}
    uses = {
        path: {
            headers[pathlib.PurePath(name).name]
            for name in INCLUDE.findall(path.read_text())
            if pathlib.PurePath(name).name in headers
        }
        for path in files
    }
    return _check_order(driver, DRIVER_ORDER, uses)


def python_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each forbidden import between the packages maeslant, tools, tests."""
    problems = []
    for package, allowed in PYTHON_USES.items():
        for path in sorted((root / package).glob("**/*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                names = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in {name.split(".")[0] for name in names}:
                    if name in {"maeslant", "tools", "tests"} - allowed - {package}:
                        problems.append(f"{path}:{node.lineno}: {package}/ may not import {name}")
    return problems


def _circles(root: pathlib.Path, uses: dict[pathlib.Path, set[pathlib.Path]]) -> list[str]:
    """Returns an error that names the files of a dependency cycle, or an empty list."""
    try:
        graphlib.TopologicalSorter(uses).prepare()
    except graphlib.CycleError as error:
        names = " -> ".join(str(path.relative_to(root)) for path in reversed(error.args[1]))
        return [f"files use each other in a circle: {names}"]
    return []


def call_circles(root: pathlib.Path) -> list[str]:
    """Returns an error for each cycle of calls between C files in a folder of driver/."""
    found = []
    for folder in (root / "driver").glob("*/"):
        texts = {path: COMMENT.sub(" ", path.read_text()) for path in folder.glob("**/*.c")}
        home = {
            name: path
            for path, text in texts.items()
            for name in re.findall(r"^(?!static)[\w ]+[ *](\w+)\([^;{}]*\)\n\{", text, re.MULTILINE)
        }
        uses = {
            path: {home[name] for name in set(re.findall(r"\b\w+\b", text)) & home.keys()} - {path}
            for path, text in texts.items()
        }
        found += _circles(root, uses)
    return sorted(found)


def import_circles(root: pathlib.Path) -> list[str]:
    """Returns an error for each cycle of imports between modules or folders of maeslant/."""
    files = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (root / "maeslant").glob("**/*.py")
    }
    uses: dict[pathlib.Path, set[pathlib.Path]] = {}
    for path in files.values():
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
                names.add(node.module)
        # A package's __init__ hands on names of its own modules.
        uses[path] = {files[name] for name in names & files.keys()} - {path}
        uses[path] = {
            other
            for other in uses[path]
            if other.parent not in path.parents or other.name != "__init__.py"
        }
    wing = {path: root.joinpath(*path.relative_to(root).parts[:2]) for path in uses}
    wings: dict[pathlib.Path, set[pathlib.Path]] = {}
    for path, others in uses.items():
        wings.setdefault(wing[path], set()).update({wing[other] for other in others} - {wing[path]})
    return _circles(root, uses) or _circles(root, wings)


def problems(root: pathlib.Path = paths.ROOT) -> list[str]:
    """Returns an error for each dependency that breaks the layer order of rtl/, driver/, Python."""
    checks = (rtl_problems, driver_problems, python_problems, call_circles, import_circles)
    return [line for check in checks for line in check(root)]


def main() -> int:
    """Prints dependencies that break the layer order; returns the exit code, 0 without any."""
    found = problems()
    for line in found:
        print(line.replace(f"{paths.ROOT}/", ""))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
