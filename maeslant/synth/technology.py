# SPDX-License-Identifier: Apache-2.0
"""Chooses the views of technology-dependent modules: RAM, synchronizers, clock gate.

rtl/prim has a generic view of each. A technology may have another one, a file of the same name in
rtl/technology, with the same ports and parameters (docs/adr/0040).
"""

import pathlib
import re

from maeslant import paths
from maeslant.errors import MaeslantError

GENERIC = "generic"
# Folders of rtl/technology, the first of which has precedence.
FOLDERS: dict[str, tuple[str, ...]] = {
    GENERIC: (),
    "xc7": ("xc7", "fpga"),
    "ecp5": ("ecp5", "fpga"),
    "gowin": ("gowin", "fpga"),
    "gatemate": ("fpga",),
    "nangate45": ("nangate45",),
}
# Yosys' declarations of the cells that views name; those of nangate45 are in its Liberty file.
CELLS = {
    "xc7": "read_verilog -lib +/xilinx/cells_xtra.v",
    "ecp5": "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v",
    "gowin": "read_verilog -lib +/gowin/cells_sim.v +/gowin/cells_xtra_gw5a.v",
}
OF_TARGET = {"gw5a": "gowin"}  # of a target of synthesis, where it has another name
INSTANCE = re.compile(r"(?m)^\s*(?!mae_|module\b|else\b|endmodule\b|end\b)(\w+) u_\w+ \(")


def of_target(target: str) -> str:
    """Returns the technology of a synthesis target; the generic one for unknown libraries."""
    name = OF_TARGET.get(target, target)
    return name if name in FOLDERS else GENERIC


def check(name: str) -> None:
    """Raises MaeslantError for a name that is no technology."""
    if name not in FOLDERS:
        raise MaeslantError(f"no technology {name!r}; known: {', '.join(FOLDERS)}")


def views(name: str) -> dict[str, pathlib.Path]:
    """Returns a technology's own views by module name."""
    found: dict[str, pathlib.Path] = {}
    for folder in reversed(FOLDERS[name]):
        found |= {path.stem: path for path in (paths.RTL / "technology" / folder).glob("*.sv")}
    return found


def choose(files: list[pathlib.Path], name: str) -> list[pathlib.Path]:
    """Replaces generic modules among a design's files by a technology's views.

    Adds what a view uses of rtl/ beyond.
    """
    own = views(name)
    chosen: dict[str, pathlib.Path] = {}

    def add(file: pathlib.Path) -> None:
        """Adds a file, or the view in its place and the files which that needs."""
        if file.stem in chosen:
            return
        generic = file.parent == paths.RTL / "prim"
        chosen[file.stem] = own.get(file.stem, file) if generic else file
        if chosen[file.stem] != file:
            for more in paths.rtl_closure([chosen[file.stem]]):
                add(more)

    for file in files:
        add(file)
    return list(chosen.values())


def cells(files: list[pathlib.Path]) -> list[str]:
    """Returns the names of library cells that the views among a design's files name."""
    own = [path for path in files if path.is_relative_to(paths.RTL / "technology")]
    return sorted({cell for path in own for cell in INSTANCE.findall(path.read_text())})
