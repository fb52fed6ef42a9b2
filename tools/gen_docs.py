# SPDX-License-Identifier: Apache-2.0
"""Write docs/modules: a page for each module of rtl/, from its header, parameters and ports.

The header comment is the truth; this only sets it beside the port table that slang reads, the
modules it is made of, where it is used and where it is tested. `--check` fails on stale pages.
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

OUT = paths.ROOT / "docs" / "modules"


@dataclasses.dataclass
class Module:
    """What a page shows."""

    path: pathlib.Path
    header: str
    parameters: list[tuple[str, str, str]]
    ports: list[tuple[str, str, str]]
    uses: list[str]

    @property
    def name(self) -> str:
        """Name of the module and of its file."""
        return self.path.stem

    @property
    def folder(self) -> str:
        """Room of rtl/ that it stands in."""
        return self.path.relative_to(paths.RTL).parts[0]

    @property
    def summary(self) -> str:
        """The first sentence of the header, without the module's name."""
        text = " ".join(self.header.split("\n\n")[0].split())
        text = re.sub(rf"^{self.name}: ?", "", text)
        return re.split(r"(?<=[.:]) ", text)[0].rstrip(".:")


def header_of(text: str) -> str:
    """The comment at the top of a file, without its licence line."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(line for line in lines if "SPDX" not in line).strip()


def squeeze(text: object) -> str:
    """Source text on one line."""
    return " ".join(re.sub(r"//.*", "", str(text)).split())


def visit(node, kind: str, found: list) -> list:
    """All nodes of a kind below a node, in order."""
    if str(getattr(node, "kind", "")).endswith("." + kind):
        found.append(node)
    if isinstance(node, pyslang.syntax.SyntaxNode):
        for child in node:
            visit(child, kind, found)
    return found


def read(path: pathlib.Path, known: set[str]) -> Module:
    """Parse one file."""
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
    """A link to a module's page."""
    return f"[`{name}`]({name}.md)" if name in modules else f"`{name}`"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows
    ]


def schedules(name: str) -> list[str]:
    """The module's timing diagrams, which tools/gen_schedules.py records."""
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
    """Find the tests of a module: named like it, else naming it, else those of its nearest users.

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
    sys.exit(f"docs/modules: no test under tests/ names {name}, nor any module that uses it")


def page(module: Module, modules: dict[str, Module], tests: dict[str, str]) -> str:
    """The page of one module."""
    source = module.path.relative_to(paths.ROOT)
    lines = [f"# {module.name}", "", f"[`{source}`](../../{source})", ""]
    lines += ["```text", module.header, "```", ""]
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


def index(modules: dict[str, Module]) -> str:
    """The catalogue, from the ground up."""
    lines = ["# Modules, from the ground up", ""]
    lines += ["Each page is made from the module's own header by `make docs`.", ""]
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
    """All pages into a folder."""
    files = [
        path
        for folder in paths.rtl_folders()
        for path in sorted(folder.glob("**/mae_*.sv"))
        if "generated" not in path.parts and not path.stem.endswith("_pkg")
    ]
    known = {path.stem for path in files}
    modules = {path.stem: read(path, known) for path in files}
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.md"):
        old.unlink()
    files = sorted((paths.ROOT / "tests").glob("**/test_*.py"))
    tests = {str(path.relative_to(paths.ROOT)): path.read_text() for path in files}
    for module in modules.values():
        (out / f"{module.name}.md").write_text(page(module, modules, tests))
    (out / "README.md").write_text(index(modules))


def main() -> int:
    """Write the pages, or compare them with what stands there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the pages are stale")
    arguments = parser.parse_args()
    if not arguments.check:
        write(OUT)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder)
        write(fresh)
        names = {p.name for p in fresh.iterdir()} | {p.name for p in OUT.glob("*.md")}
        stale = [
            name
            for name in sorted(names)
            if not (fresh / name).exists()
            or not (OUT / name).exists()
            or (fresh / name).read_text() != (OUT / name).read_text()
        ]
    for name in stale:
        print(f"docs/modules/{name} is stale; run: make docs")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
