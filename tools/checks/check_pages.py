# SPDX-License-Identifier: Apache-2.0
"""Checks that the Markdown pages name only files, commands and modules that exist.

Checks each `make` target and variable, each maeslant command, option and part to measure, each path
in a command; each link and the heading that it names; and in backticks each path that begins in a
folder of the repository or beside the page, each hardware module or C name (mae_...), Python module
(maeslant...) and test (test_...). Of the published HTML page: each link. The table of environment
variables in docs/guides/install.md names those that the software reads.
"""

import difflib
import functools
import pathlib
import re
import shlex
import sys

from maeslant import paths

BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
ANCHOR = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)")
HREF = re.compile(r'\bhref="(?!https?:|mailto:|data:)([^"]+)"')
QUOTED = re.compile(r"`([^`\n]+)`")
# A word in backticks that may be a path: with a slash, and no placeholder in it.
PATH = re.compile(r"[\w.-]+/[\w./-]*")
NAME = re.compile(r"(?:mae|test)_\w+|MAE_\w+")
MODULE = re.compile(r"maeslant(?:\.(?!(?:core|h|pc)$)\w+)+")
PLACEHOLDER = re.compile(
    r"(?<![A-Za-z])(?!README|LICENSE)[A-Z]{3,}(?![A-Za-z])"
)  # boards/NAME: the reader's choice
SKIPPED = {".git", ".venv", "build", "node_modules", "__pycache__", ".pytest_cache"}
BUILT = ("build/", ".venv/", "docs/modules/", "docs/registers/", "docs/c/")  # generated, not kept
NUMBERED = re.compile(r"\b[Pp]apers? 0\d\d\b")  # docs/references.md has names for them
TEXTS = {".sv", ".svh", ".py", ".c", ".h", ".cpp", ".rdl", ".yml", ".S", ".core", ".toml", ".tcl"}
ROOMS = (
    "rtl",
    "driver",
    "sim",
    "regs",
    "formal",
    "maeslant",
    "tests",
    "tools",
    "examples",
    "boards",
)
VARIABLES = "docs/guides/install.md"
READ = re.compile(r'(?m)(?:getenv\(|environ(?:\.get\(|\[)|^[A-Z_]+ = )"(MAESLANT_\w+)"')
READERS = ("driver", "sim", "maeslant", "tools", "examples")
# What a program hands to its own child, and no user sets: the rest of the name.
HANDED_ON = {"DIRS", "FIGURES", "KEYS", "NETLIST", "PARAMETERS", "SCHEDULES"}


def targets(makefile: str) -> set[str]:
    """Returns the targets in a Makefile's text, for checks of Markdown pages."""
    names = re.findall(r"^([a-z$][\w $():%=-]*?):(?!=)", makefile, re.MULTILINE)
    extras = re.search(r"^EXTRAS := (.*)$", makefile, re.MULTILINE)
    words = {word for group in names for word in group.split()}
    made = {f"setup-{extra}" for extra in extras[1].split()} if extras else set()
    return {word for word in words if "$" not in word} | made


def commands() -> dict[str, set[str]]:
    """Returns the commands of `maeslant` with their options, for checks of Markdown pages."""
    import typer

    from maeslant.cli import app

    known: dict[str, set[str]] = {}

    def visit(group: object, before: tuple[str, ...]) -> None:
        for name, command in group.commands.items():
            words = (*before, name)
            known[" ".join(words)] = {
                o for param in command.params for o in (*param.opts, *param.secondary_opts)
            }
            if hasattr(command, "commands"):
                visit(command, words)

    visit(typer.main.get_command(app), ())
    return known


@functools.cache
def measured() -> frozenset[str]:
    """Returns the hardware blocks that `maeslant measure` accepts, for checks of Markdown pages."""
    from maeslant.bench.measure import collect

    return frozenset(collect.jobs())


def command_problem(
    line: str, makefile: str, known: dict[str, set[str]], here: pathlib.Path, root: pathlib.Path
) -> str | None:
    """Checks a command line of a Markdown page; returns the error, or None."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        return f"the shell cannot read it: {error}"
    while words and (words[0] in {"sudo", "time", "nice", "$"} or re.match(r"\w+=", words[0])):
        words.pop(0)
    if not words:
        return None
    if words[0] == "make":
        if "-C" in words:  # another folder's Makefile
            return None
        for word in words[1:]:
            if "=" in word:
                if not re.search(rf"\$[({{]{re.escape(word.split('=')[0])}[)}}]", makefile):
                    return f"make takes no variable {word.split('=')[0]}"
                for path in word.removeprefix("TEST=").split() if word.startswith("TEST=") else ():
                    if problem := test_problem(path, root):
                        return problem
            elif not word.startswith("-") and word not in targets(makefile):
                return f"make has no target '{word}'"
    if pathlib.PurePath(words[0]).name == "maeslant" and len(words) > 1:
        if words[1] not in known and words[1] not in {"--help", "--version"}:
            return f"maeslant has no command '{words[1]}'"
        name = " ".join(words[1:3]) if " ".join(words[1:3]) in known else words[1]
        if words[1] == "measure":
            for word in words[2:]:
                if not word.startswith("-") and word not in measured():
                    return f"maeslant measure has no part {word}"
        for word in words[2:]:
            option = word.split("=")[0]
            if word.startswith("--") and option not in known[name] | {"--help"}:
                return f"maeslant {name} has no option {option}"
    for word in words[1:]:
        if PATH.fullmatch(word) and not _there(word, here, root):
            return f"there is no {word}"
    return None


def test_problem(name: str, root: pathlib.Path) -> str | None:
    """Checks a test on a Markdown page, FILE or FILE::FUNCTION; returns the error, or None."""
    file, *inside = name.split("::")
    if not (root / file).exists():
        return f"there is no {name}"
    function = inside[-1].split("[")[0] if inside else ""
    if function and not re.search(rf"\bdef {re.escape(function)}\b", (root / file).read_text()):
        return f"{file} has no {function}"
    return None


@functools.cache
def _own_paths(root: pathlib.Path) -> frozenset[str]:
    """Returns the paths of all files in folders, without the first folder of each."""
    folders = [path for path in root.iterdir() if path.is_dir() and path.name not in SKIPPED]
    return frozenset(str(path.relative_to(top)) for top in folders for path in top.rglob("*.*"))


def _is_misspelt(name: str, root: pathlib.Path) -> bool:
    """Returns true if a path is one of the repository but for the name of its first folder."""
    first, rest = name.split("/", 1)
    folders = [path.name for path in root.iterdir() if path.is_dir()]
    return rest in _own_paths(root) and bool(difflib.get_close_matches(first, folders))


def _there(name: str, here: pathlib.Path, root: pathlib.Path) -> bool:
    """Returns true if a path on a Markdown page exists or lies outside the repository."""
    if name.startswith(BUILT) or f"{name}/" in BUILT:
        return True
    parts = name.split("/")
    kept = next((at for at, part in enumerate(parts) if PLACEHOLDER.search(part)), len(parts))
    name, first, rest = "/".join(parts[:kept]), parts[0], parts[1:kept]
    if first in ("..", "."):
        return (here / name).exists()
    if not first or not ((root / first).is_dir() or (here / first).is_dir()):
        return not (first and rest and _is_misspelt(name, root))  # the reader's, or no path
    return (root / name).exists() or (here / name).exists()


@functools.cache
def names(root: pathlib.Path) -> frozenset[str]:
    """Returns the names mae_*, MAE_* and test_* in all sources, for checks of Markdown pages."""
    found: set[str] = set()
    for room in ROOMS:
        for path in (root / room).rglob("*"):
            if SKIPPED.isdisjoint(path.relative_to(root / room).parts) and path.is_file():
                found.update(NAME.findall(path.stem))
                if path.suffix in TEXTS:
                    found.update(NAME.findall(path.read_text(errors="replace")))
    return frozenset(found)


def python_problem(name: str, root: pathlib.Path) -> str | None:
    """Checks a Python module's name on a Markdown page; returns the error, or None."""
    place, parts = root, name.split(".")
    for at, part in enumerate(parts):
        if (place / part).is_dir():
            place /= part
            continue
        if (place / f"{part}.py").is_file():
            return None  # what follows is inside the module
        inside = place / "__init__.py"
        if inside.is_file() and re.search(rf"\b{re.escape(part)}\b", inside.read_text()):
            return None
        return f"there is no Python module {'.'.join(parts[: at + 1])}"
    return None


def anchors(page: pathlib.Path) -> set[str]:
    """Returns the link targets on a Markdown page: headings and explicit ids."""
    text = FENCED.sub("", page.read_text())
    heads = re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    return named | set(re.findall(r"\bid=[\"']([^\"']+)", text))


def page_problems(page: pathlib.Path, root: pathlib.Path, known: dict[str, set[str]]) -> list[str]:
    """Returns an error for each name on a Markdown page that does not exist in the repository."""
    text, here = page.read_text(), page.parent
    makefiles = [folder / "Makefile" for folder in {here, root}]
    makefile = "\n".join(file.read_text() for file in makefiles if file.is_file())
    found = []
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if problem := command_problem(line, makefile, known, here, root):
                found.append(f"'{line.strip()}': {problem}")
    for name in sorted(set(NUMBERED.findall(text))):
        found.append(f"{name}: name the paper by its author, as docs/references.md does")
    text = FENCED.sub("", text)
    for name in sorted(set(LINK.findall(text))):
        target = pathlib.Path(*(here / name).parts)
        within = str(target.resolve()).removeprefix(f"{root.resolve()}/")
        if not target.exists() and not within.startswith(BUILT):
            found.append(f"there is no {name}")
    for name, anchor in sorted(set(ANCHOR.findall(text))):
        target = here / name if name else page
        if target.suffix == ".md" and target.is_file() and anchor not in anchors(target):
            found.append(f"{name or 'this page'} has no heading #{anchor}")
    for quoted in sorted(set(QUOTED.findall(text))):
        if re.match(r"(?:\.venv/bin/)?maeslant |make [a-z]", quoted):
            if problem := command_problem(quoted, makefile, known, here, root):
                found.append(f"'{quoted}': {problem}")
            continue
        for word in quoted.split():
            word = word.rstrip(",.;:")
            if PATH.fullmatch(word) and not _there(word, here, root):
                found.append(f"there is no {word}")
            elif MODULE.fullmatch(word) and (problem := python_problem(word, root)):
                found.append(problem)
        for name in NAME.findall(quoted):
            if "/" not in quoted and name not in names(root):
                found.append(f"no source has the name {name}")
    return [f"{page.relative_to(root)}: {line}" for line in found]


def html_problems(page: pathlib.Path, root: pathlib.Path) -> list[str]:
    """Returns an error for each link of an HTML page to a file or id that does not exist."""
    text = page.read_text()
    ids = set(re.findall(r'\bid="([^"]+)"', text))
    found = []
    for name in sorted(set(HREF.findall(text))):
        file, _, anchor = name.partition("#")
        if file and not (page.parent / file).exists():
            found.append(f"there is no {file}")
        elif not file and anchor and anchor not in ids:
            found.append(f"this page has no id {anchor}")
    return [f"{page.relative_to(root)}: {line}" for line in found]


def variable_problems(root: pathlib.Path) -> list[str]:
    """Returns an error for each environment variable that is only read or only listed."""
    files = [path for room in READERS for path in (root / room).rglob("*") if path.suffix in TEXTS]
    read = {name for path in files for name in READ.findall(path.read_text(errors="replace"))}
    page = root / VARIABLES
    listed = re.findall(r"(?m)^\| `(MAESLANT_\w+)` \|", page.read_text()) if page.exists() else []
    users = {name for name in read if name.removeprefix("MAESLANT_") not in HANDED_ON}
    found = [f"{VARIABLES}: its table lacks {name}" for name in sorted(users - set(listed))]
    return found + [f"{VARIABLES}: nothing reads {name}" for name in listed if name not in users]


def pages(root: pathlib.Path) -> list[pathlib.Path]:
    """Returns the paths of the repository's Markdown pages."""
    every = root.rglob("*.md")
    return sorted(p for p in every if SKIPPED.isdisjoint(p.relative_to(root).parts))


def problems(
    root: pathlib.Path = paths.ROOT, known: dict[str, set[str]] | None = None
) -> list[str]:
    """Returns the errors of all Markdown pages, and an error if README.md is not among them."""
    if not (root / "README.md").exists():
        return ["README.md is missing"]
    known = commands() if known is None else known
    found = [line for page in pages(root) for line in page_problems(page, root, known)]
    found += variable_problems(root)
    published = sorted((root / "results").glob("*.html"))
    return found + [line for page in published for line in html_problems(page, root)]


def main() -> int:
    """Prints the errors in Markdown pages' names and commands; returns 0 if there are none."""
    found = problems()
    for line in found:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
