# SPDX-License-Identifier: Apache-2.0
"""Lists a design's SystemVerilog files, or converts them to Verilog: `maeslant files`."""

import pathlib
import re
import tempfile

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.synth import design, liberty, technology, yosys

ROM = re.compile(
    r"(?m)^  reg \[\d+:0\] \\?(\S+) +\[\d+:0\];$"
)  # a memory; an escaped name has a \\
LITERAL = re.compile(r"\b(\d+)'([bh])([0-9a-fxz]{4097,})")
PIECE = 4096  # digits: Icarus refuses a word beyond its buffer of 16 KB
STYLE = '  (* rom_style = "block" *)\n'
OURS = """// SPDX-License-Identifier: Apache-2.0
// Out of Maeslant's SystemVerilog, commit {commit}.
"""
HEAD = """// {top} with {values}, by `maeslant files --plain`.
// Plain Verilog (IEEE 1364-2005) for tools that do not read SystemVerilog; without assertions.
"""


def ordered(
    name: str,
    parameters: dict[str, object] | None = None,
    views: str = technology.GENERIC,
) -> list[pathlib.Path]:
    """Returns a design's SystemVerilog files in compilation order, with a technology's views.

    Raises MaeslantError for a name that is neither, or for an unknown technology.
    """
    what = design.find(name, parameters, views)
    top = what.file
    every = paths.rtl_packages()
    packages = [path for path in what.files if path in every]
    modules = {path.stem: path for path in what.files if path not in packages}
    done: list[pathlib.Path] = []

    def visit(path: pathlib.Path) -> None:
        if path in done:
            return
        for used in sorted(set(re.findall(r"\b[A-Za-z_]\w*", paths.code(path))) & modules.keys()):
            if modules[used] != path:
                visit(modules[used])
        done.append(path)

    visit(top)
    return [*packages, *done]


def include_folder() -> pathlib.Path:
    """Returns the folder for `include of a design's SystemVerilog files."""
    return paths.RTL / "prim"


def plain(
    name: str,
    parameters: dict[str, object] | None = None,
    views: str = technology.GENERIC,
) -> str:
    """Converts a design with fixed parameters to plain Verilog; returns one text.

    Module names below the top carry their parameters. Raises SynthesisError where Yosys refuses.
    """
    standard = views in liberty.KNOWN
    cells = liberty.declare(liberty.find(views)) if standard else None
    what = design.find(name, parameters, views, cells)
    if re.search(r"\bparameter\s+type\b", paths.code(what.file)):
        raise MaeslantError(
            f"{what.top} takes types as parameters, which plain Verilog has not: ask for a module "
            "that uses it"
        )
    with tempfile.TemporaryDirectory(prefix="maeslant-files-") as folder:
        out = pathlib.Path(folder) / "plain.v"
        yosys.run(
            [
                what.read(flatten=False),
                f"hierarchy -check -top {what.top}",
                "proc",
                # Rewrite the cells that Verilog has no expression for.
                "bwmuxmap",
                "bmuxmap",
                "demuxmap",
                "opt_clean",
                f"write_verilog -noattr {out}",
                f"tee -q -o {out}.roms select -list m:* a:rom_style=block %i",
            ],
            pathlib.Path(folder) / "log",
        )
        text = out.read_text()
        roms = set(pathlib.Path(f"{out}.roms").read_text().split())
    text = LITERAL.sub(_in_pieces, text)
    text = ROM.sub(lambda found: _styled(found, roms), text)
    if not re.search(rf"(?m)^module {what.top}\(", text):
        raise MaeslantError(f"{what.top} is not in what Yosys wrote")
    if cell := re.search(r"(?m)^\s*\\(\$[a-z]\w*)\s+(?:#\(|\w|\\)", text):
        raise MaeslantError(f"{what.top} has a cell that plain Verilog has not: {cell[1]}")
    values = ", ".join(f"{key} {value}" for key, value in what.parameters.items())
    head = "" if what.outside else OURS.format(commit=design.commit())
    head += HEAD.format(top=what.top, values=values or "its defaults")
    return head + text.split("\n", 1)[1]


def _in_pieces(literal: re.Match[str]) -> str:
    """Returns a long literal as a concatenation of literals of at most PIECE digits."""
    width, base, digits = int(literal[1]), literal[2], literal[3]
    bits = PIECE * (4 if base == "h" else 1)
    first = len(digits) % PIECE or PIECE
    rest = range(first, len(digits), PIECE)
    pieces = [f"{width - len(rest) * bits}'{base}{digits[:first]}"]
    pieces += [f"{bits}'{base}{digits[at : at + PIECE]}" for at in rest]
    return "{ " + ", ".join(pieces) + " }"


def _styled(memory: re.Match[str], roms: set[str]) -> str:
    """Returns a memory's declaration, with the wish for block RAM if it is one of ``roms``.

    ``roms`` holds "module/name" of Yosys; modules differ by parameters, names tell enough.
    """
    names = {rom.partition("/")[2] for rom in roms}
    return (STYLE if memory[1] in names else "") + memory[0]
