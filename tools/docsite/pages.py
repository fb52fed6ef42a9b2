# SPDX-License-Identifier: Apache-2.0
"""Collects all pages of the documentation site in one folder, with links adapted.

A page is written for the repository: its links are paths in it. Here each link is led to the page
of what it names: docs/X stands at X, results/X at results/X, the README at index.md, a module at
modules/NAME.md, a register description at registers/NAME.md, any other file on a page of its
source. A link to a file that does not exist stops the build.
"""

import os
import pathlib
import posixpath
import re
import shutil
import sys

from maeslant import paths
from tools import gen_docs, gen_regs

LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]*)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^(```.*?^```[^\n]*\n)", re.MULTILINE | re.DOTALL)
LANGUAGES = {
    ".sv": "systemverilog",
    ".svh": "systemverilog",
    ".py": "python",
    ".c": "c",
    ".h": "c",
    ".yml": "yaml",
    ".toml": "toml",
    ".rdl": "text",
    ".json": "json",
    ".sh": "bash",
    ".tcl": "tcl",
}
PYTHON = {
    "maeslant.driver.device": "Opens devices; encrypts messages of any size.",
    "maeslant.driver.aead": "Seals and opens authenticated messages.",
    "maeslant.driver.message_files": "Encrypts files in bounded memory.",
    "maeslant.driver.pool": "Divides work over several cards, of one machine or of a Dask cluster.",
    "maeslant.integrations.litex": "Puts the peripheral into a LiteX SoC.",
    "maeslant.protected": "Drives the protected card from Python.",
    "maeslant.build.configurations": "Reads the named builds of configs/builds.yml.",
    "maeslant.synth": "Synthesizes a build or a module.",
    "maeslant.protected.model": "Models the protected channel, both ends and the adversary.",
}


class Site:
    """Holds the folder of the documentation site, and the sources its pages link to."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.sources: set[str] = set()
        self.broken: list[str] = []

    def place(self, target: str, page: str) -> str:
        """Returns the path in the documentation site for a file of the repository."""
        path = pathlib.PurePosixPath(target)
        if target == "README.md":
            return "index.md"
        if path.parts[0] == "docs":
            return str(pathlib.PurePosixPath(*path.parts[1:]))
        if path.parts[0] == "results":
            return target
        for kind, root, suffix in (("modules", "rtl", ".sv"), ("registers", "regs", ".rdl")):
            own = f"docs/{kind}/{path.stem}.md"
            if path.parts[0] == root and path.suffix == suffix and own != page:
                if (self.folder / kind / f"{path.stem}.md").exists():
                    return f"{kind}/{path.stem}.md"
        self.sources.add(target)
        return f"source/{target}.md"

    def lead(self, text: str, page: str) -> str:
        """Returns a page's text with links that work in the documentation site."""
        here = posixpath.dirname(page)

        def one(match: re.Match) -> str:
            target = posixpath.normpath(posixpath.join(here, match[2]))
            generated = target.startswith(("docs/modules/", "docs/registers/", "docs/c/"))
            if not generated and not (paths.ROOT / target).is_file():
                self.broken.append(f"{page}: there is no {target}")
                return match[0]
            place = self.place(target, page)
            start = posixpath.dirname(self.place(page, page)) or "."
            return match[1] + posixpath.relpath(place, start) + match[3]

        parts = FENCE.split(text)
        parts[::2] = [LINK.sub(one, part) for part in parts[::2]]
        return "".join(parts)

    def add(self, page: str, text: str) -> None:
        """Adds a page to the documentation site under its path in the repository."""
        file = self.folder / self.place(page, page)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.lead(text, page))

    def copy(self, root: str) -> None:
        """Copies a folder of the repository to the documentation site, links adapted."""
        for file in sorted((paths.ROOT / root).rglob("*")):
            page = str(file.relative_to(paths.ROOT))
            if file.suffix == ".md":
                self.add(page, file.read_text())
            elif file.is_file():
                target = self.folder / self.place(page, page)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)

    def show_sources(self) -> None:
        """Writes a page with the text of each source file to which the documentation links."""
        for name in sorted(self.sources):
            file = paths.ROOT / name
            language = LANGUAGES.get(file.suffix, "make" if file.name == "Makefile" else "text")
            target = self.folder / "source" / f"{name}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(
                "---\nsearch:\n  exclude: true\nhide:\n  - navigation\n  - toc\n---\n\n"
                f"# {name}\n\n`````{language}\n{file.read_text().rstrip()}\n`````\n"
            )


def python_pages(site: Site) -> None:
    """Writes the documentation site's pages of Python modules, from their docstrings."""
    rows = []
    for name, says in PYTHON.items():
        if not any(
            (paths.ROOT / name.replace(".", "/")).with_suffix(s).exists() for s in ("", ".py")
        ):
            site.broken.append(f"tools/docsite/pages.py: there is no {name}")
        site.add(f"docs/python/{name}.md", f"# {name}\n\n::: {name}\n")
        rows.append(f"| [`{name}`]({name}.md) | {says} |")
    text = "# Python\n\nGenerated from the docstrings.\n\n| module | purpose |\n|---|---|\n"
    (site.folder / "python" / "README.md").write_text(text + "\n".join(rows) + "\n")


def c_pages(site: Site) -> None:
    """Writes the documentation site's pages of the public C headers."""
    from tools.docsite import c_api

    rows = []
    for name in c_api.HEADERS:
        stem = pathlib.Path(name).stem
        site.add(f"docs/c/{stem}.md", c_api.page(c_api.INCLUDE / name))
        rows.append(f"- [{name}]({stem}.md)")
    text = "# C\n\nGenerated from the headers' declarations and comments.\n\n"
    site.add("docs/c/README.md", text + "\n".join(rows) + "\n")


def register_pages(site: Site) -> None:
    """Writes the documentation site's pages of the register maps."""
    folder = site.folder / "registers"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in gen_regs.maps():
        top = gen_regs.elaborate(name)
        gen_regs.export_page(top, folder)
        rows.append(f"- [{top.get_property('name')}]({name}.md)")
    text = "# Registers\n\nGenerated from the SystemRDL descriptions in `regs/`.\n\n"
    (folder / "README.md").write_text(text + "\n".join(rows) + "\n")


def collect(folder: pathlib.Path, compiled: bool = True) -> list[str]:
    """Writes all pages of the documentation site to a folder; returns broken links.

    Without ``compiled`` leaves out the C pages, which need libclang.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site = Site(folder)
    register_pages(site)
    gen_docs.write(folder / "modules")
    for file in sorted((folder / "modules").glob("*.md")):
        file.write_text(site.lead(file.read_text(), f"docs/modules/{file.name}"))
    site.copy("docs")
    site.copy("results")
    site.add("README.md", (paths.ROOT / "README.md").read_text())
    from tools.docsite import command_line

    site.add("docs/command-line.md", command_line.page())
    python_pages(site)
    if compiled:
        c_pages(site)
    site.show_sources()
    return site.broken


def main() -> int:
    """Writes the documentation site's pages to the folder that the command line names."""
    broken = collect(pathlib.Path(os.path.abspath(sys.argv[1])))
    for line in broken:
        print(line)
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
