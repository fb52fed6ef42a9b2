# SPDX-License-Identifier: Apache-2.0
"""Generates a Markdown page for each RTL module: header, diagram, parameters, ports.

The header comment is the truth; the page sets it beside the ports that slang reads, the modules it
is made of, its users and its tests. The pages are not kept in the repository: `make site` makes
them (tools/docsite), and `--check` makes them in a throw-away folder. Links are as from
a folder of docs.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import sys
import tempfile

import pyslang

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths
from tools.docsite import diagram

# The labels of the papers in headers.
PAPERS = {
    "P0": "P0 is [Ghosh 2020](../references.md#ghosh-2020)",
    "P1": "P1 is [Kumar](../references.md#kumar)",
    "P2": "P2 is [Fernando](../references.md#fernando)",
    "P3": "P3 is [Kale 2021](../references.md#kale-2021)",
    "P4": "P4 is [Dong 2021](../references.md#dong-2021)",
}


@dataclasses.dataclass
class Module:
    """Holds the documentation of an RTL module: header, parameters, ports, submodules."""

    path: pathlib.Path
    header: str
    parameters: list[tuple[str, str, str]]
    ports: list[tuple[str, str, str]]
    uses: list[str]

    @property
    def name(self) -> str:
        """Returns the name of the RTL module, which is the file's name without suffix."""
        return self.path.stem

    @property
    def folder(self) -> str:
        """Returns the name of the folder of rtl/ that holds the module."""
        return self.path.relative_to(paths.RTL).parts[0]

    @property
    def summary(self) -> str:
        """Returns the first sentence of the RTL module's header."""
        text = " ".join(self.header.split("\n\n")[0].split())
        text = re.sub(rf"^{self.name}: ?", "", text)
        return re.split(r"(?<=[.:]) ", text)[0].rstrip(".:")


def header_of(text: str) -> str:
    """Returns the comment at the top of a SystemVerilog file, without the licence line."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(line for line in lines if "SPDX" not in line).strip()


def squeeze(text: object) -> str:
    """Returns SystemVerilog source text on one line, without comments."""
    return " ".join(re.sub(r"//.*", "", str(text)).split())


def visit(node, kind: str, found: list) -> list:
    """Appends all nodes of a kind in a SystemVerilog syntax tree to ``found``; returns the list."""
    if str(getattr(node, "kind", "")).endswith("." + kind):
        found.append(node)
    if isinstance(node, pyslang.syntax.SyntaxNode):
        for child in node:
            visit(child, kind, found)
    return found


def read(path: pathlib.Path, known: set[str]) -> Module:
    """Reads an RTL file by slang; returns the Module: header, parameters, ports, submodules."""
    tree = pyslang.syntax.SyntaxTree.fromFile(str(path))
    root = tree.root
    parameters = []
    for item in visit(root, "ParameterDeclaration", [])[:]:
        if squeeze(item.keyword) != "parameter":
            continue
        for declarator in visit(item, "Declarator", []):
            value = squeeze(declarator.initializer).removeprefix("= ").lstrip("= ")
            parameters.append((squeeze(declarator.name), squeeze(item.type), value))
    ports = []
    for port in visit(root, "ImplicitAnsiPort", []):
        head = squeeze(port.header)
        direction, _, kind = head.partition(" ")
        declarator = squeeze(port.declarator)
        match = re.match(r"(\w+)\s*(.*)", declarator)
        ports.append((match[1], direction, " ".join([kind, match[2]]).strip()))
    text = path.read_text()
    body = re.sub(r"//.*", "", text)
    words = dict.fromkeys(re.findall(r"^\s*(mae_\w+)\s*(?:#|u_|\w+\s*\()", body, re.MULTILINE))
    uses = [word for word in words if word in known and word != path.stem]
    return Module(path, header_of(text), parameters, ports, uses)


def link(name: str, modules: dict[str, Module]) -> str:
    """Returns a Markdown link to the page of an RTL module."""
    return f"[`{name}`]({name}.md)" if name in modules else f"`{name}`"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Returns a Markdown table as lines, from column names and rows."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows
    ]


def schedules(name: str) -> list[str]:
    """Returns the Markdown lines that embed an RTL module's timing diagrams."""
    lines = []
    found = sorted((paths.ROOT / "docs" / "schedules").glob(f"{name}-*.json"))
    for path in found:
        title = json.loads(path.read_text())["head"]["text"]
        lines += [f"![{title}](../schedules/{path.stem}.svg)", ""]
    if not lines:
        return []
    text = "Recorded in a simulation by `tools/gen_schedules.py`; A, B, ... are messages."
    if any("in_ready_o" in path.read_text() for path in found):
        text += (
            " A beat\nis taken where `in` has one and `in_ready_o` is high; A0, A1, ... are data."
        )
    return ["## Schedule", "", text, "", *lines]


def tests_of(name: str, modules: dict[str, Module], tests: dict[str, str]) -> tuple[str, list[str]]:
    """Returns (tested module, test files): the given RTL module or a module that instantiates it.

    Gives the module that the tests are of, and their paths, two at most; fails where none is.
    """
    near, seen = [name], {name}
    while near:
        for word in near:
            mirrored = modules[word].path.relative_to(paths.RTL).parent
            own = f"tests/{mirrored}/test_{word.removeprefix('mae_')}.py"
            named = [path for path, text in tests.items() if re.search(rf"\b{word}\b", text)]
            found = [own] if own in tests else named
            if found:
                return word, found[:2]
        near = [m.name for m in modules.values() if set(near) & set(m.uses) and m.name not in seen]
        seen.update(near)
    sys.exit(f"tools/gen_docs.py: no test under tests/ names {name}, nor any module that uses it")


def page(module: Module, modules: dict[str, Module], tests: dict[str, str]) -> str:
    """Returns the Markdown page of one RTL module."""
    source = module.path.relative_to(paths.ROOT)
    lines = [f"# {module.name}", "", f"[`{source}`](../../{source})", ""]
    lines += ["```text", module.header, "```", ""]
    named = [paper for label, paper in PAPERS.items() if re.search(rf"\b{label}\b", module.header)]
    if named:
        lines += ["; ".join(named) + ".", ""]
    lines += [f"![{module.name}: ports and parts]({module.name}.svg)", ""]
    if module.parameters:
        rows = [(f"`{n}`", f"`{t}`", f"`{v}`") for n, t, v in module.parameters]
        lines += ["## Parameters", "", *table(("name", "type", "default"), rows), ""]
    rows = [(f"`{n}`", d, f"`{t}`" if t else "") for n, d, t in module.ports]
    lines += ["## Ports", "", *table(("name", "direction", "type"), rows), ""]
    lines += schedules(module.name)
    used_by = [other.name for other in modules.values() if module.name in other.uses]
    lines += ["## Place", ""]
    if module.uses:
        lines += [
            "Made of " + ", ".join(link(name, modules) for name in module.uses) + ".",
            "",
        ]
    if used_by:
        lines += [
            "Used by " + ", ".join(link(name, modules) for name in used_by) + ".",
            "",
        ]
    whose, found = tests_of(module.name, modules, tests)
    within = "" if whose == module.name else f" in {link(whose, modules)}"
    lines += [f"Tested{within} by " + ", ".join(f"[`{t}`](../../{t})" for t in found) + "."]
    return "\n".join(lines) + "\n"


def picture(module: Module) -> str:
    """Returns the block diagram of an RTL module as SVG."""

    def label(name: str, kind: str) -> str:
        width = re.search(r"\[[^\]]*\]", kind)
        return name + ("".join(width[0].split()) if width else "")

    sides = {"input": [], "output": [], "inout": []}
    for name, direction, kind in module.ports:
        sides.setdefault(direction, []).append(label(name, kind))
    parameters = [name for name, _, _ in module.parameters]
    return diagram.draw(
        module.name, sides["input"], sides["output"] + sides["inout"], parameters, module.uses
    )


def index(modules: dict[str, Module]) -> str:
    """Returns the Markdown page that lists all RTL modules by folder."""
    lines = ["# Modules", ""]
    lines += ["Generated from the headers of the modules, in order of dependence.", ""]
    for folder in paths.RTL_ORDER:
        rows = [(link(m.name, modules), m.summary) for m in modules.values() if m.folder == folder]
        if rows:
            lines += [
                f"## rtl/{folder}",
                "",
                *table(("module", "what it is"), rows),
                "",
            ]
    return "\n".join(lines)


def write(out: pathlib.Path) -> None:
    """Writes the Markdown pages of all RTL modules to a folder."""
    files = [
        path
        for path in paths.rtl_files()
        if "generated" not in path.parts and not path.stem.endswith("_pkg")
    ]
    known = {path.stem for path in files}
    modules = {path.stem: read(path, known) for path in files}
    out.mkdir(parents=True, exist_ok=True)
    files = sorted((paths.ROOT / "tests").glob("**/test_*.py"))
    tests = {str(path.relative_to(paths.ROOT)): path.read_text() for path in files}
    for module in modules.values():
        (out / f"{module.name}.md").write_text(page(module, modules, tests))
        (out / f"{module.name}.svg").write_text(picture(module))
    (out / "README.md").write_text(index(modules))


def main() -> int:
    """Writes the pages of all RTL modules; with --check only checks that this is possible."""
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--check", action="store_true", help="check that the pages can be written")
    where.add_argument("--out", type=pathlib.Path, help="folder for the pages")
    arguments = parser.parse_args()
    if arguments.out:
        write(arguments.out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            write(pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
