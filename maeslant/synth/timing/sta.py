# SPDX-License-Identifier: Apache-2.0
"""Times a standard-cell netlist by OpenSTA and reads its critical path.

Conditions: every input is driven by the library's medium buffer and arrives with the clock edge,
every output drives a small load and is due at the clock edge. Clocks are ideal until they have
trees, all clocks of a design have the same period and are taken as unrelated. Resets are no data
paths: paths that start at them, and recovery and removal, are left out. Nothing is placed: wires
weigh what the Liberty file's default wire-load model says of their fan-out, or nothing where it has
none.
"""

import functools
import pathlib
import re
import shutil
import subprocess

from maeslant.synth.liberty import Library
from maeslant.synth.report import SynthesisError

UNITS = "set_cmd_units -time ns -capacitance fF"
# Clock, and the latencies of the two flip-flops with the greatest skew of it.
SKEW = re.compile(r"(?m)^Clock (\S+)\n.*\n.*\n\s*([\d.]+)\n.*\n\s*([\d.]+)\s")
STEP = re.compile(r"^\s*(?:([\d.]+)\s+)?(-?[\d.]+)\s+(-?[\d.]+)\s+([v^])\s+(\S+) \((\S+)\)\s*$")


@functools.cache
def version() -> str:
    """Returns OpenSTA's version; raises SynthesisError if OpenSTA is missing."""
    if shutil.which("sta") is None:
        raise SynthesisError("OpenSTA (sta) is missing: sudo apt-get install opensta")
    done = subprocess.run(["sta", "-version"], capture_output=True, text=True, check=False)
    return f"OpenSTA {done.stdout.strip()}"


def left_out(library: Library) -> str:
    """Describes in words what the netlist's timing figures leave out."""
    wires = "wires"
    if library.wire_load:
        wires = f"placed wires (the library's wire-load model {library.wire_load} stands for them)"
    return f"{wires}, clock tree (ideal clocks, no skew), reset tree"


def read(netlist: pathlib.Path, top: str, library: Library, period_ns: float) -> list[str]:
    """Returns OpenSTA commands that read a netlist and constrain clock and ports."""
    text = netlist.read_text()
    resets, clocks = reset_ports(text), clock_ports(text)
    lines = [UNITS, f"read_liberty {library.path}", f"read_verilog {netlist}", f"link_design {top}"]
    lines += [f"create_clock -name {c} -period {period_ns} [get_ports {c}]" for c in clocks]
    if not clocks:
        lines.append(f"create_clock -name virtual -period {period_ns}")
    if len(clocks) > 1:
        groups = " ".join(f"-group {clock}" for clock in clocks)
        lines.append(f"set_clock_groups -asynchronous {groups}")
    lines.append(
        "set data {}; foreach port [all_inputs] { set name [get_property $port full_name]; "
        f"if {{[lsearch {{{' '.join(clocks)}}} $name] < 0}} {{ lappend data $port }} }}"
    )
    for clock in clocks or ["virtual"]:
        add = "" if clock == (clocks or ["virtual"])[0] else "-add_delay "
        lines.append(f"set_input_delay {add}0 -clock {clock} $data")
        lines.append(f"set_output_delay {add}0 -clock {clock} [all_outputs]")
    lines.append(f"set_driving_cell -lib_cell {library.driver} $data")
    lines.append(f"set_load {library.load_ff} [all_outputs]")
    lines += [f"set_false_path -from [get_ports {reset}]" for reset in resets]
    return lines


def timing(
    netlist: pathlib.Path,
    top: str,
    library: Library,
    period_ns: float,
    spef: pathlib.Path | None = None,
    propagated: bool = False,
) -> dict[str, object]:
    """Returns a netlist's critical path, by OpenSTA: length in ns and path elements.

    ``spef``: the wires; all have to be of the netlist. ``propagated``: clocks come as late as their
    trees make them, to what the ports are connected with, too; adds the difference between the
    latest and the earliest flip-flop, the latest one's delay, and the least hold slack.
    """
    lines = read(netlist, top, library, period_ns)
    if spef:
        lines.append(f"read_spef {spef}")
    told = {}
    if propagated:
        lines.append("set_propagated_clock [all_clocks]")
        told, latencies = _clocks(lines, netlist)
        lines += _ports(latencies)
    lines.append("report_checks -path_delay max -fields {capacitance} -digits 4")
    text = run(lines, netlist.with_suffix(".sta"))
    # A wire whose net or pin is not found would weigh nothing, without an error.
    if spef and (lost := re.findall(r"(?m)^.* not found\.?$", text)):
        raise SynthesisError(f"OpenSTA finds no place for {len(lost)} wires: {lost[0]}")
    slack = re.search(r"(-?[\d.]+)\s+slack", text)
    if not slack:
        raise SynthesisError(f"OpenSTA found no path in {top}:\n{_tail(text)}")
    found = period_ns - float(slack[1])
    path = []
    for line in text.splitlines():
        step = STEP.match(line)
        if step:
            path.append(f"{step[6]} {step[5]} +{float(step[2]):.3f} {float(step[3]):.3f}")
    setup = re.search(r"(-?[\d.]+)\s+-?[\d.]+\s+library setup time", text)
    if setup:
        path.append(f"setup +{-float(setup[1]):.3f} {found:.3f}")
    return {"period_ns": round(found, 4), "fmax_mhz": round(1000 / found, 1), "path": path} | told


def write_sdf(
    netlist: pathlib.Path, top: str, library: Library, spef: pathlib.Path, sdf: pathlib.Path
) -> None:
    """Writes the delays of a placed netlist's cells and wires as SDF, clocks propagated."""
    lines = read(netlist, top, library, 1.0)
    lines += [f"read_spef {spef}", "set_propagated_clock [all_clocks]", f"write_sdf {sdf}"]
    run(lines, netlist.with_suffix(".delays"))


def _clocks(
    lines: list[str], netlist: pathlib.Path
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Returns skew, latency and hold slack in ns of the commands' netlist with its clock trees.

    Returns each clock's latencies, too: of the latest and the earliest of its flip-flops that are a
    path's two ends.
    """
    pairs = "-from [all_registers -clock_pins] -to [all_registers -data_pins]"
    hold = f"report_checks -path_delay min {pairs} -digits 4"
    said = run([*lines, "report_clock_skew -digits 4", hold], netlist.with_suffix(".clocks"))
    ends = {name: sorted(map(float, both), reverse=True) for name, *both in SKEW.findall(said)}
    slack = re.search(r"(-?[\d.]+)\s+slack", said)
    told = {
        "skew_ns": round(max((a - b for a, b in ends.values()), default=0.0), 4),
        "latency_ns": max((late for late, _ in ends.values()), default=0.0),
        "hold_ns": float(slack[1]) if slack else None,
    }
    return told, ends


def _ports(latencies: dict[str, list[float]]) -> list[str]:
    """Returns OpenSTA commands that give the other sides of ports the clock of a tree like ours.

    Inputs change with the latest flip-flop and outputs are due with the earliest.
    """
    lines, add = [], ""
    for clock, (late, early) in latencies.items():
        lines.append(f"set_input_delay {add}{late} -clock {clock} $data")
        lines.append(f"set_output_delay {add}{-early} -clock {clock} [all_outputs]")
        add = "-add_delay "
    return lines


def reset_ports(netlist: str) -> list[str]:
    """Returns the names of a netlist's reset input ports."""
    return _inputs(netlist, r"rst_ni$|resetn$")


def clock_ports(netlist: str) -> list[str]:
    """Returns the names of a netlist's clock input ports."""
    return _inputs(netlist, r"clk_i$|^clk$")


def _inputs(netlist: str, pattern: str) -> list[str]:
    """Returns the names of a netlist's one-bit input ports that match a pattern."""
    return [n for n in re.findall(r"(?m)^\s*input (\w+)\s*;", netlist) if re.search(pattern, n)]


def run(lines: list[str], script: pathlib.Path, seconds: float | None = None) -> str:
    """Runs OpenSTA on a list of commands; returns OpenSTA's output."""
    version()
    script.write_text("\n".join([*lines, "exit", ""]))
    try:
        done = subprocess.run(
            ["sta", "-no_splash", "-exit", str(script)],
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise SynthesisError(f"OpenSTA did not end within {seconds:.0f} s: {script}") from None
    errors = re.findall(r"(?m)^.*\bError:.*$", done.stdout + done.stderr)
    if done.returncode or errors:
        said = "\n".join(errors[:5]) or _tail(done.stdout + done.stderr)
        raise SynthesisError(f"OpenSTA stopped: {said}")
    return done.stdout + done.stderr


def _tail(text: str) -> str:
    """Returns the last lines of OpenSTA's output for an error message."""
    return "\n".join(text.splitlines()[-8:])
