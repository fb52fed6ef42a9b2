# SPDX-License-Identifier: Apache-2.0
"""Places and routes a netlist by nextpnr, with several seeds."""

import json
import os
import pathlib
import re
import statistics
import subprocess
import time

from maeslant import extras, paths
from maeslant.synth import interrupt
from maeslant.synth.fpga.parts import Router
from maeslant.synth.report import SynthesisError

WANTED_MHZ = 400  # never reached: the placer is to do its best
PINS = "pins.cst"
# A name that Yosys made out of those of cells; it grows with each, and says nothing.
MADE = re.compile(r"\$|_(LUT\d|TRELLIS_|CCU2C|PFUMX|L6MUX|DFF|MUX2_|ALU)")
SOURCE = re.compile(r"([\w.]+\.s?v):(\d+)")
CRASH = "wasm trap"  # what a crash of nextpnr says, in the sandbox that it runs in
# What nextpnr's log says of a routed design: clocks, then each step of a clock's critical path.
CLOCK = re.compile(r"Max frequency for clock '(.+)': ([\d.]+) MHz")
CRITICAL = re.compile(r"Critical path report for clock '(.+)' \(posedge -> posedge\):")
STEP = re.compile(r"Info: +([\w-]+) +(-?[\d.]+) +-?[\d.]+ (Net|Source) (\S+)")


def check(router: Router) -> None:
    """Raises MissingExtra if nextpnr for a device is not installed."""
    extras.need_modules((router.program.replace("-", "_"),))


def version(router: Router) -> str:
    """Returns the name and version of nextpnr for a device."""
    return f"{router.program.removeprefix('yowasp-')} {extras.version(router.program)}"


def chosen(router: Router, luts: int) -> str:
    """Returns the name of the router for a design of so many LUTs."""
    return [name for least, name in router.routers if luts >= least][-1]


def runs(work: pathlib.Path, seeds: int, router: Router, how: str) -> dict[int, dict]:
    """Places and routes a netlist by nextpnr, in parallel for several seeds; returns reports.

    ``how``: the name of its router. A seed whose placement is not routed, or with which nextpnr
    crashes before it has told the clock, gives way to the next number.
    """
    running, found, last = {}, {}, 0
    try:
        while len(found) < seeds:
            while len(running) < min(seeds - len(found), len(os.sched_getaffinity(0))):
                last += 1
                if last > 2 * seeds:
                    raise SynthesisError(f"nextpnr routed {len(found)} of {2 * seeds} seeds")
                with interrupt.held():
                    running[last] = _start(work, last, router, how)
            time.sleep(0.1)
            for seed, process in list(running.items()):
                if process.poll() is not None:
                    crashed = CRASH in (work / f"place{seed}.said").read_text()
                    if not crashed:
                        found[seed] = _result(work / f"place{seed}", process.returncode)
                    elif told := _logged(work / f"place{seed}.log"):
                        found[seed] = told
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
    found = json.loads(file.read_text())
    if not found["fmax"]:
        raise SynthesisError("nextpnr found no path from register to register: there is no clock")
    return found


def _logged(log: pathlib.Path) -> dict:
    """Returns what nextpnr's log tells of a routed design, as its report; empty if it is not.

    nextpnr for GateMate crashes over its report in some designs, after it has logged the same.
    """
    text = log.read_text() if log.exists() else ""
    _, routed, text = text.rpartition("Info: Routing complete.")
    clocks = {name: {"achieved": float(mhz)} for name, mhz in CLOCK.findall(text)}
    if not routed or not clocks:
        return {}
    critical, parts = [], CRITICAL.split(text)
    for name, block in zip(parts[1::2], parts[2::2], strict=True):
        steps = STEP.findall(block.partition("Critical path report")[0])
        path = [
            {"type": kind, "delay": float(delay)}
            | ({"net": at} if what == "Net" else {"to": {"cell": at.rpartition(".")[0]}})
            for kind, delay, what, at in steps
        ]
        critical.append({"from": f"posedge {name}", "to": f"posedge {name}", "path": path})
    return {"fmax": clocks, "critical_paths": critical}


def _astray(log: pathlib.Path) -> bool:
    """Returns true if nextpnr's router no longer makes progress, judged from its log."""
    text = log.read_text() if log.exists() else ""
    overused = [int(number) for number in re.findall(r"iter=\d+ .*overused=(\d+)", text)]
    return bool(overused) and overused[-1] > 2 * min(overused) + 100


def _start(work: pathlib.Path, seed: int, router: Router, how: str) -> subprocess.Popen:
    """Starts nextpnr to place and route a netlist with one seed; returns the process."""
    command = [paths.tool(router.program), *router.device, "--json", "net.json", "--quiet"]
    command += ["--timing-allow-fail", "--freq", str(WANTED_MHZ), "--router", how]
    command += ["--seed", str(seed), "--report", f"place{seed}.json", "--log", f"place{seed}.log"]
    if router.pins:
        command += ["--vopt", f"cst={PINS}"]
    # Its sandbox sees the working folder only. What it says goes to a file: nobody reads a pipe
    # until it has ended, and a full one would hold it.
    with (work / f"place{seed}.said").open("w") as said:
        return subprocess.Popen(command, cwd=work, stdout=said, stderr=subprocess.STDOUT)


def pins(router: Router, netlist: pathlib.Path, top: str) -> None:
    """Gives the ports of a netlist's top a place each, in a file beside it, if nextpnr wants it."""
    if not router.pins:
        return
    ports = json.loads(netlist.read_text())["modules"][top]["ports"]
    if len(ports) > len(router.pins):
        raise SynthesisError(f"{len(ports)} pins are more than the {len(router.pins)} known ones")
    lines = (f'IO_LOC "{port}" {at};' for port, at in zip(ports, router.pins, strict=False))
    netlist.with_name(PINS).write_text("\n".join(lines) + "\n")


def origins(netlist: pathlib.Path, top: str) -> dict[str, str]:
    """Returns what each cell of a netlist is for a reader: its place in the RTL, or its type."""
    found = {}
    for name, cell in json.loads(netlist.read_text())["modules"][top]["cells"].items():
        sources = cell["attributes"].get("src", "").split("|")
        places = (SOURCE.search(source) for source in sources if "/share/" not in source)
        place = next(filter(None, places), None)
        found[name] = f"{place[1]}:{place[2]}" if place else cell["type"]
    return found


def _words(step: dict, names: dict[str, str]) -> str:
    """Describes a step of a nextpnr path: the kind, and the net or the cell behind it."""
    net = step.get("net")
    if net is None:
        cell = step["to"]["cell"]
        packed = cell.rpartition("$")[0]  # a part of a carry chain's cell, which nextpnr made
        return f"{step['type']} {names.get(cell) or names.get(packed, cell)}"
    return step["type"] if MADE.search(net) else f"{step['type']} {net.removeprefix('u_core.')}"


def median(runs: dict[int, dict], names: dict[str, str]) -> dict[str, object]:
    """Returns the timing of the median nextpnr run, with the clock rates of all runs.

    ``names``: what its cells are (origins).
    """
    fmax = {seed: min(c["achieved"] for c in run["fmax"].values()) for seed, run in runs.items()}
    middle = statistics.median_low(fmax.values())
    run = runs[next(seed for seed, value in fmax.items() if value == middle)]
    slowest = min(run["fmax"], key=lambda clock: run["fmax"][clock]["achieved"])
    path, total = [], 0.0
    for critical in run.get("critical_paths", []):
        if critical["from"] == critical["to"] == f"posedge {slowest}":
            for step in critical["path"]:
                total += step["delay"]
                path.append(f"{_words(step, names)} +{step['delay']:.2f} {total:.2f}")
            break
    return {
        "period_ns": round(1000 / statistics.median(fmax.values()), 3),
        "fmax_mhz": round(statistics.median(fmax.values()), 2),
        "path": path,
        "seeds": {str(seed): round(value, 2) for seed, value in fmax.items()},
    }
