# SPDX-License-Identifier: Apache-2.0
"""Power of a mapped netlist: simulated switching activity, carried to OpenSTA pin by pin.

OpenSTA 2.0 reads no VCD, and what set_power_activity says of a pin inside has no effect: it
propagates from the inputs through the cells' functions, as if all nets were independent. So every
cell's output gets its simulated activity as an input of its own: the netlist and the library that
OpenSTA reads for power have an extra pin at each cell, which weighs nothing and is the output's
function; ports of the top drive these pins, and ports keep the activity that they are given.
OpenSTA then adds up internal, switching and leakage power from the Liberty tables. It counts no
nets that a port drives; the charge of the clock pins, one such net, is added from their capacity.
"""

import dataclasses
import gzip
import os
import pathlib
import re
import shutil
from collections.abc import Callable

from maeslant import paths
from maeslant.synth import levels, sta, stimulus
from maeslant.synth.liberty import Library
from maeslant.synth.report import Report, SynthesisError

WARM, COUNTED = 48, 60  # clocks of each run; 60: whole blocks of 10 clocks too
PIN, PORT = "ACTIVITY_", sta.ACTIVITY
# From a flip-flop's extra pin: without, OpenSTA would not look at its output. Takes no time.
ARC = """
 timing () {{ related_pin : "{}"; timing_type : combinational; timing_sense : positive_unate;
  cell_rise (scalar) {{ values ("0.0"); }} rise_transition (scalar) {{ values ("0.0"); }}
  cell_fall (scalar) {{ values ("0.0"); }} fall_transition (scalar) {{ values ("0.0"); }} }}"""
SAYS = (
    "{runs} random runs of {clocks} clocks of the mapped netlist, {stimulus}; transitions and duty "
    "of every net carried to OpenSTA by set_power_activity through an extra port for each; "
    "zero-delay: no glitches; clock pins' charge included, clock tree not"
)


def estimate(
    report: Report, library: Library, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """The power of a finished point at its own fastest clock."""
    netlist = work / "net.v"
    with gzip.open(report.folder / "net.v.gz") as packed, open(netlist, "wb") as plain:
        shutil.copyfileobj(packed, plain)
    tell("reading the netlist")
    design = levels.Netlist(netlist, report.top, library)
    bench = stimulus.bench(report.top, report.parameters, design)
    for clock in range(WARM + COUNTED):
        if clock % 8 == 0:
            tell(f"simulating clock {clock} of {WARM + COUNTED}")
        bench.clock(count=clock >= WARM)
    period = report.timing["period_ns"]
    tell("adding up power")
    internal, switching, leakage = _report_power(design, netlist, report.top, library, period)
    clocks = _clock_pins(design, library) * library.volts**2 / period * 1e-3  # mW
    total = internal + switching + clocks + leakage
    blocks = bench.blocks / (COUNTED * levels.RUNS)
    return {
        "clock_mhz": round(1000 / period, 1),
        "mw": round(total, 5),
        "internal_mw": round(internal, 5),
        "switching_mw": round(switching + clocks, 5),
        "leakage_mw": round(leakage, 6),
        "clock_pins_mw": round(clocks, 5),
        "blocks_per_clock": round(blocks, 4),
        "latency_clocks": bench.latency,
        "pj_per_block": round(total * period / blocks, 4) if blocks else None,
        "activity": SAYS.format(runs=levels.RUNS, clocks=COUNTED, stimulus=bench.says),
    }


def _report_power(
    design: levels.Netlist, netlist: pathlib.Path, top: str, library: Library, period_ns: float
) -> tuple[float, float, float]:
    """Internal, switching and leakage power in mW, by OpenSTA."""
    rate, high = design.activity()
    told = {
        (name, pin): index
        for index, (name, pin) in enumerate(
            (name, pin)
            for name, (kind, pins) in design.cells.items()
            for pin in library.cells[kind].functions
            if pin in pins
        )
    }
    extended = _extend_netlist(netlist, told)
    lines = sta.read(extended, top, _extend_library(library), period_ns)
    clocks = {int(n) for name in sta.clock_ports(netlist.read_text()) for n in design.port(name)}

    def tell_port(port: str, net: int) -> None:
        lines.append(
            f"sta::set_power_input_port_activity [get_ports {{{port}}}] "
            f"{rate[net]:.5f} {high[net]:.4f}"
        )

    for name, (direction, nets) in design.ports.items():
        for bit, net in enumerate(nets):
            if direction == "input" and int(net) not in clocks:
                tell_port(name if len(nets) == 1 else f"{name}[{bit}]", net)
    for (name, pin), index in told.items():
        tell_port(f"{PORT}[{index}]", design.cells[name][1][pin])
    lines.append("report_power -digits 6")
    text = sta.run(lines, netlist.with_suffix(".power"))
    found = re.search(r"(?m)^Total\s+([\d.e+-]+)\s+([\d.e+-]+)\s+([\d.e+-]+)\s+([\d.e+-]+)", text)
    if not found:
        raise SynthesisError(f"OpenSTA reported no power:\n{text[-500:]}")
    return tuple(1000 * float(found[column]) for column in (1, 2, 3))  # it prints W


def _extend_netlist(netlist: pathlib.Path, told: dict[tuple[str, str], int]) -> pathlib.Path:
    """The netlist with a port for each cell output's activity."""
    pins: dict[str, list[str]] = {}
    for (name, pin), index in told.items():
        pins.setdefault(name, []).append(f".{PIN}{pin}({PORT}[{index}]),")

    def cell(head: re.Match) -> str:
        return head[0] + "".join(pins.get(head[1], []))

    text = re.sub(r"(?m)^  [\w$]+ (\w+) \(\n", cell, netlist.read_text())
    if told:
        declared = f");\n  input [{len(told) - 1}:0] {PORT};"
        text = re.sub(r"(?m)^(module [^;]*)\);", rf"\1, {PORT}{declared}", text, count=1)
    extended = netlist.with_name("extended.v")
    extended.write_text(text)
    return extended


def _extend_library(library: Library) -> Library:
    """The library with a pin for each cell output's activity, kept under build/."""
    path = paths.BUILD / "pdk" / f"power-{library.digest[:16]}.lib"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(_extended(library))
        part.replace(path)
    return dataclasses.replace(library, path=path)


def _extended(library: Library) -> str:
    """The text of that library."""
    heads = r'(?m)^(\s*cell\s*\(\s*"?([\w$]+)"?\s*\)\s*\{)'
    pieces = re.split(heads, library.path.read_text(errors="replace"))
    text = [pieces[0]]
    for head, name, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        cell = library.cells[name]
        for pin, function in cell.functions.items():
            own = PIN + pin
            head += f"\n pin ({own}) {{ direction : input; capacitance : 0; }}"
            found = re.search(rf'(?m)^\s*pin\s*\(\s*"?{re.escape(pin)}"?\s*\)\s*\{{', body)
            arc = ARC.format(own) if cell.sequential else ""
            old = re.compile(r'(\bfunction\s*:\s*)"' + re.escape(function) + '"')
            rest = old.sub(rf'\1"{own}"', body[found.end() :], count=1)
            body = body[: found.end()] + arc + rest
        text += [head, body]
    return "".join(text)


def _clock_pins(design: levels.Netlist, library: Library) -> float:
    """The capacitance of all pins on clock nets, in fF."""
    total = 0.0
    for kind, _ in design.cells.values():
        cell = library.cells[kind]
        if cell.sequential:
            pins = re.findall(r"\w+", str(cell.state.get("clocked_on", "")))
            total += sum(cell.inputs.get(pin, 0.0) for pin in pins)
    return total
