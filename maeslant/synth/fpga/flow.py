# SPDX-License-Identifier: Apache-2.0
"""Synthesizes RTL for an FPGA: maps it by Yosys, and has nextpnr place and route it.

A core has more ports than a chip has pins, so for place and route it stands in a wrapper: its
inputs come from a shift register and its outputs go to registers, so that paths from and to ports
have a whole clock, and only clocks, resets and two more signals are pins. It is not counted.
"""

import hashlib
import json
import pathlib
import re
from collections.abc import Callable

from maeslant.synth import report, yosys
from maeslant.synth.design import Design, all_parameters
from maeslant.synth.fpga import nextpnr
from maeslant.synth.fpga.parts import ECP5, PARTS, Cells, Part
from maeslant.synth.report import SynthesisError

KEPT = [report.NETLIST, "cells.json", "*.log", "place*.json"]
# What takes LUTs or memory blocks in any family: none of it may be left out of a count.
COUNTED = re.compile(
    r"(LUT|RAM|SRL|CFGLUT|TRELLIS_DPR|PDPW16|ALU|SD?P|DP|pROM|CC_(LUT|L2T|MX|ADDF|BRAM|FIFO))"
)
# What stands many times in a design; where modules are kept, each of these is mapped once.
REPEATED = ("mae_ntt_butterfly", "mae_poly_slots")
# Whose boundaries are preserved in 7-series: mapped as written they take fewer LUTs.
PRESERVED = ("mae_sbox_lut", "mae_preserved_products", "mae_preserved_xor")
# The same in ECP5, of designs with the first of these; flattened once they are mapped. Of the other
# parts that are placed and routed, Yosys' scripts would put pads at what is kept apart.
PRESERVED_ECP5 = ("mae_lut4", "mae_sbox_lut")
SBOX_LUT = 5  # SboxLut of mae_aes_pkg
# What all of Yosys' scripts for FPGAs begin with, after reading.
FRONT = ("flatten", "opt_expr", "opt_clean", "opt -nodffe -nosdff")
WRAPPER = "mae_place_wrapper"


def tools(target: str) -> dict[str, str]:
    """Returns the versions of the FPGA synthesis tools, by name."""
    found = {"yosys": yosys.version()}
    if router := PARTS[target].router:
        found["nextpnr"] = nextpnr.version(router)
    return found


def preserved(design: Design, target: str) -> tuple[str, ...]:
    """Returns the names of a design's modules whose boundaries are kept while it is mapped.

    7-series has some if S-boxes made for LUTs are asked for, or by its top's defaults.
    """
    files = {file.stem for file in design.files}
    if PARTS[target].router:
        return PRESERVED_ECP5 if PARTS[target] is ECP5 and PRESERVED_ECP5[0] in files else ()
    default = all_parameters(design).get("Sbox", SBOX_LUT)
    if "Sbox" not in design.parameters and files.isdisjoint(PRESERVED[1:]):
        return ()
    return PRESERVED if design.parameters.get("Sbox", default) == SBOX_LUT else ()


def recipe(
    target: str, seeds: int, flatten: bool = True, preserve: tuple[str, ...] = ()
) -> dict[str, object]:
    """Returns the settings of an FPGA synthesis for the synthesis report."""
    part = PARTS[target]
    if part.router is None:
        names = [*(() if flatten else REPEATED), *preserve]
        kept = {"kept": names} if names else {}
        return {"family": target, "flatten": flatten, "passes": _mapping(part), **kept}
    how = {"ways": part.ways, "device": " ".join(part.router.device), "seeds": seeds}
    names = [f"{name} from {n} LUTs on" if n else name for n, name in part.router.routers]
    how |= {"asked_mhz": nextpnr.WANTED_MHZ, "router": "; ".join(names), "flatten": True}
    if part is not ECP5:  # whose published reports are known by a recipe without it
        how["passes"] = _mapping(part)
    if preserve:
        how["kept"] = [*preserve]
    if part.techmap:
        digest = hashlib.sha256(part.techmap.read_bytes()).hexdigest()
        how["techmap"] = f"{part.techmap.name} {digest[:8]}"
    return {**how, "ports": "behind registers of a wrapper, not counted"}


def _mapping(part: Part, option: str = "") -> str:
    """Returns Yosys' command that maps a design to a part, for a top to be named."""
    return " ".join((*part.mapping.split(), *option.split(), "-top {top}"))


def left_out(target: str) -> str:
    """Describes in words what the figures of an FPGA target leave out."""
    if PARTS[target].router is None:
        return "everything after mapping: a Yosys estimate, not a result of the maker's tools"
    return "pads (the core stands behind registers of a wrapper, which is not counted)"


def map_core(
    design: Design,
    target: str,
    work: pathlib.Path,
    how: dict[str, object],
    tell: Callable[[str], None],
) -> dict[str, object]:
    """Maps a design to an FPGA's cells, in the better of the part's ways; returns the area."""
    part = PARTS[target]

    def stat(name: str) -> str:
        return f"tee -q -o {work / name}.json stat -json"

    def netlist(name: str) -> str:
        return f"write_verilog -noattr {work / name}.v"

    def mapped(option: str, run: str) -> str:
        return _mapping(part, f"{option} {part.bare}").format(top=design.top) + f" -run {run}"

    tell("reading")
    read = _read(design, how)
    if part.router is None:
        passes = [*read, _mapping(part).format(top=design.top), stat("cells"), netlist("net")]
        yosys.run(passes, work / "map.log", tell)
        report.pack(work / "net.v")
        return _area(_counts(work / "cells.json"), part.cells)
    # Not the cells that a technology's view names: Yosys' models of some are processes.
    passes = [*read, "opt_clean", f"write_json -selected {work / 'core.json'}"]
    passes += [mapped("", "begin:map_luts"), "design -save core"]
    for way, option in part.ways.items():
        passes += ["design -load core", mapped(option, "map_luts:check"), *_merge(how)]
        passes += [stat(way), netlist(way)]
    yosys.run(passes, work / "map.log", tell)
    areas = {way: _area(_counts(work / f"{way}.json"), part.cells) for way in part.ways}
    way = min(areas, key=lambda way: areas[way]["lut"])
    (work / f"{way}.json").replace(work / "cells.json")
    report.pack((work / f"{way}.v").rename(work / "net.v"))
    return areas[way] | {"way": way}


def synthesize(
    design: Design,
    target: str,
    work: pathlib.Path,
    how: dict[str, object],
    tell: Callable[[str], None],
) -> tuple[dict[str, object], dict[str, object] | None]:
    """Synthesizes a design for an FPGA; returns (area, timing), no timing if it is not routed."""
    part = PARTS[target]
    if part.router:
        nextpnr.check(part.router)
    area = map_core(design, target, work, how, tell)
    if part.router is None:
        return area, None
    luts = area["lut"]
    if luts > part.router.luts:
        raise SynthesisError(
            f"{design.name} takes {luts:,} LUTs, more than the {part.router.luts:,} of the device"
        )
    wrap = f"@wrap {work / 'core.json'} {design.top} {WRAPPER}"
    passes = [*_read(design, how), "opt_clean", wrap]
    whole = _mapping(part, part.ways[area["way"]]).format(top=WRAPPER)
    again = [f"techmap -map {part.techmap}"] if part.techmap else []
    passes += [whole, *_merge(how), *again, f"write_json {work / 'net.json'}"]
    yosys.run(passes, work / "place.map.log", tell)
    seeds = how["seeds"]
    tell(f"placing and routing, {seeds} seeds")
    nextpnr.pins(part.router, work / "net.json", WRAPPER)
    runs = nextpnr.runs(work, seeds, part.router, nextpnr.chosen(part.router, luts))
    return area, nextpnr.median(runs, nextpnr.origins(work / "net.json", WRAPPER))


def _read(design: Design, how: dict[str, object]) -> list[str]:
    """Returns the Yosys commands that read and flatten a design."""
    kept = how.get("kept", ())
    return [*yosys.elaborate(design.read(not kept), design.top, kept), "flatten"]


def _merge(how: dict[str, object]) -> list[str]:
    """Returns the Yosys commands that flatten what was kept apart while it was mapped."""
    kept = [f"setattr -mod -unset keep_hierarchy {name}$*" for name in how.get("kept", ())]
    return [*kept, "flatten"] if kept else []


def _counts(file: pathlib.Path) -> dict[str, int]:
    """Returns the number of FPGA cells of each type, from Yosys' statistics file."""
    return json.loads(file.read_text())["design"]["num_cells_by_type"]


def _area(counts: dict[str, int], kinds: Cells) -> dict[str, object]:
    """Returns the LUTs, flip-flops and memories of an FPGA netlist, from counts of cells.

    Raises SynthesisError for unknown ones that hold LUTs or memory.
    """
    area = {
        name: sum(counts.get(cell, 0) * weight for cell, weight in cells.items())
        for name, cells in kinds.items()
    }
    known = {cell for cells in kinds.values() for cell in cells}
    area["other"] = {
        name: number
        for name, number in counts.items()
        if name not in known and "$" not in name  # modules that are kept have it, too
    }
    missing = [name for name in area["other"] if COUNTED.match(name)]
    if missing:
        raise SynthesisError(
            f"the LUTs of cell {missing[0]} are unknown: it is not in the list of cells"
        )
    return area
