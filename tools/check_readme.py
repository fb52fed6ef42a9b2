# SPDX-License-Identifier: Apache-2.0
"""Checks that the commands, options, targets and files named in README.md exist.

Each `make` target and variable, each maeslant command and option in its shell blocks, and each file
that it links to or names in backticks as a path.
"""

import pathlib
import re
import shlex
import sys

from maeslant import paths

BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
# A path in backticks: with a slash, and only one that starts in a folder of the repository.
NAMED = re.compile(r"`([\w.-]+/[\w./-]+)`")


def targets(makefile: str) -> set[str]:
    """Returns the targets of a Makefile."""
    names = re.findall(r"^([a-z][\w -]*):(?!=)", makefile, re.MULTILINE)
    return {name for group in names for name in group.split()}


def commands() -> dict[str, set[str]]:
    """Returns the commands of maeslant with their options."""
    import typer

    from maeslant.cli import app

    group = typer.main.get_command(app)
    return {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in group.commands.items()
    }


def command_problem(line: str, makefile: str, known: dict[str, set[str]]) -> str | None:
    """Checks one line of a shell block; returns what is wrong, or None."""
    words = shlex.split(line, comments=True)
    while words and words[0] in {"sudo", "time", "nice", "$"}:
        words.pop(0)
    if not words:
        return None
    if words[0] == "make":
        for word in words[1:]:
            if "=" in word:
                if not re.search(rf"\$[({{]{re.escape(word.split('=')[0])}[)}}]", makefile):
                    return f"make takes no variable {word.split('=')[0]}"
            elif not word.startswith("-") and word not in targets(makefile):
                return f"make has no target '{word}'"
    if pathlib.PurePath(words[0]).name == "maeslant" and len(words) > 1:
        if words[1] not in known and words[1] != "--help":
            return f"maeslant has no command '{words[1]}'"
        for word in words[2:]:
            option = word.split("=")[0]
            if word.startswith("--") and option not in known[words[1]] | {"--help"}:
                return f"maeslant {words[1]} has no option {option}"
    return None


def problems(
    root: pathlib.Path = paths.ROOT, known: dict[str, set[str]] | None = None
) -> list[str]:
    """Reports each command, option, target or file in README.md that does not exist."""
    readme = root / "README.md"
    if not readme.exists():
        return ["README.md is missing"]
    text = readme.read_text()
    makefile = (root / "Makefile").read_text()
    known = commands() if known is None else known
    found = []
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            problem = command_problem(line, makefile, known)
            if problem:
                found.append(f"README.md: '{line.strip()}': {problem}")
    named = [name for name in NAMED.findall(text) if (root / name.split("/")[0]).is_dir()]
    for name in sorted({*LINK.findall(text), *named}):
        if "*" not in name and not name.startswith(("build/", ".venv/")):
            if not (root / name).exists():
                found.append(f"README.md: there is no {name}")
    return found


def main() -> int:
    """Prints what does not exist; returns 0 if everything does."""
    found = problems()
    for line in found:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
