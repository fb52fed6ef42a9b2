# SPDX-License-Identifier: Apache-2.0
"""`maeslant files`: the SystemVerilog files of a build or a module, or one plain Verilog file."""

import pathlib
import re
import tempfile

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.synth import design, yosys

HEAD = """// SPDX-License-Identifier: Apache-2.0
// {top} with {values}.
// Out of Maeslant's SystemVerilog, commit {commit}, by `maeslant files --plain`.
// Plain Verilog (IEEE 1364-2005) for tools that do not read SystemVerilog; without assertions.
"""


def ordered(name: str, parameters: dict[str, object] | None = None) -> list[pathlib.Path]:
    """Lists what a tool reads for a build or a module, each file after those that it needs.

    Raises MaeslantError for a name that is neither.
    """
    what = design.find(name, parameters)
    top = next(path for path in what.files if path.stem == what.top)
    packages = paths.rtl_packages_of([top])
    modules = {path.stem: path for path in paths.rtl_closure([top]) if path not in packages}
    done: list[pathlib.Path] = []

    def visit(path: pathlib.Path) -> None:
        if path in done:
            return
        for used in sorted(set(re.findall(r"\bmae_\w+", paths.code(path))) & modules.keys()):
            if modules[used] != path:
                visit(modules[used])
        done.append(path)

    visit(top)
    foreign = [path for folder in paths.foreign_folders() for path in sorted(folder.glob("*.v"))]
    text = "".join(paths.code(path) for path in done)
    return [*packages, *(p for p in foreign if re.search(rf"\b{p.stem}\b", text)), *done]


def include_folder() -> pathlib.Path:
    """The folder of the headers that files include."""
    return paths.RTL / "prim"


def plain(name: str, parameters: dict[str, object] | None = None) -> str:
    """One plain Verilog file with the top and all that it uses, parameters fixed.

    Module names below the top carry their parameters. Raises SynthesisError where Yosys refuses.
    """
    what = design.find(name, parameters)
    with tempfile.TemporaryDirectory(prefix="maeslant-files-") as folder:
        out = pathlib.Path(folder) / "plain.v"
        yosys.run(
            [
                what.read(flatten=False),
                f"hierarchy -check -top {what.top}",
                "proc",
                "opt_clean",
                "bwmuxmap",  # the one cell that write_verilog has no expression for
                f"write_verilog -noattr {out}",
            ],
            pathlib.Path(folder) / "log",
        )
        text = out.read_text()
    if not re.search(rf"(?m)^module {what.top}\(", text):
        raise MaeslantError(f"{what.top} is not in what Yosys wrote")
    if found := re.search(r"(?m)^\s*\\\$\w+", text):
        raise MaeslantError(f"{what.top}: Yosys wrote {found[0].strip()}, which is no Verilog")
    values = ", ".join(f"{key} {value}" for key, value in what.parameters.items())
    head = HEAD.format(top=what.top, values=values or "its defaults", commit=design.commit())
    return head + text.split("\n", 1)[1]
