# SPDX-License-Identifier: Apache-2.0
"""Writes the timing constraints of a build: SDC for most tools, XDC for AMD Vivado.

Clocks, ports, resets and crossings follow from the ports of the top module: a port belongs to the
clock whose name begins as its own does, else to bus_clk_i, else to the only one.
"""

import dataclasses
import pathlib
import re

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.synth import design

FORMS = ("sdc", "xdc")
DEFAULT_NS = 10.0
IO_SHARE = 0.3  # of the period, that the other side of a port takes
PORT = re.compile(r"\b(input|output)\b([^;]*?)\b(\w+)\s*(?=\[[^\]]*\]\s*$|$)")
CLOCK = re.compile(r"(\w+_)?clk_i$|clk$")
RESET = re.compile(r"(\w+_)?rst_ni$|(\w+_)?resetn$")
TEST = "test_mode_i"
HEAD = """# Timing constraints of {top}, in ns, by
# {command}
# Not in it: pins, pads, loads and drivers, clock uncertainty, and what the board adds to a port.
"""
# What the two languages do not have in common: the bits of a port, the delay of a crossing.
BITS = {
    "sdc": "[get_ports {port}]",
    "xdc": "[get_ports -filter {{NAME == {port} || BUS_NAME == {port}}}]",
}
CROSSING = {
    "sdc": (
        "set_max_delay {ns:g} -from [get_clocks {a}] -to [get_clocks {b}]",
        "set_false_path -hold -from [get_clocks {a}] -to [get_clocks {b}]",
    ),
    "xdc": ("set_max_delay -datapath_only {ns:g} -from [get_clocks {a}] -to [get_clocks {b}]",),
}


@dataclasses.dataclass(frozen=True)
class Port:
    """Describes a port of a top module: name, and whether it is an input."""

    name: str
    is_input: bool


def ports(file: pathlib.Path) -> list[Port]:
    """Returns the ports of a SystemVerilog file's module in their order."""
    text = paths.code(file)
    text = text[text.index(f"module {file.stem}") :]
    head = text[: text.index(");")]
    found = (PORT.search(line.strip().rstrip(",")) for line in head.splitlines())
    return [Port(port[3], port[1] == "input") for port in found if port]


def clock_of(port: str, clocks: list[str]) -> str:
    """Returns the name of the clock that a port belongs to."""
    own = [name for name in clocks if port.startswith(name[: -len("clk_i")] or " ")]
    return own[0] if own else "bus_clk_i" if "bus_clk_i" in clocks else clocks[0]


def text(
    name: str,
    form: str,
    periods: dict[str, float] | None = None,
    parameters: dict[str, object] | None = None,
) -> str:
    """Returns the constraints of a build or module as text in SDC or XDC.

    ``periods``: in ns, by clock; DEFAULT_NS for others. Raises MaeslantError for an unknown format
    or clock, a period that is not positive, and a module without a clock.
    """
    if form not in FORMS:
        raise MaeslantError(f"no format {form!r}: {' or '.join(FORMS)}")
    what = design.find(name, parameters)
    every = ports(what.file)
    clocks = [port.name for port in every if port.is_input and CLOCK.fullmatch(port.name)]
    given = dict(periods or {})
    if not clocks:
        raise MaeslantError(f"{what.top} has no clock: there is nothing to constrain")
    for clock, ns in given.items():
        if clock not in clocks:
            raise MaeslantError(f"{what.top} has no clock {clock!r}; it has {', '.join(clocks)}")
        if not ns > 0:
            raise MaeslantError(f"the period of {clock} must be positive, not {ns} ns")
    ns = {clock: given.get(clock, DEFAULT_NS) for clock in clocks}
    options = "".join(f" --clock {clock}={value:g}" for clock, value in ns.items())
    command = f"maeslant constraints {name} --format {form}{options}"
    lines = [HEAD.format(top=what.top, command=command)]
    lines += [
        f"create_clock -name {clock} -period {ns[clock]:g} [get_ports {clock}]" for clock in clocks
    ]
    lines += _crossings(clocks, ns, form)
    lines += _resets(every, clocks, ns, form, {path.stem for path in what.files})
    lines += _ports(every, clocks, ns, form)
    return "\n".join([*lines, ""])


def _crossings(clocks: list[str], ns: dict[str, float], form: str) -> list[str]:
    """Returns the commands for paths between clocks, all of which lead into crossings."""
    if len(clocks) < 2:
        return []
    lines = [
        "",
        "# Between the clocks there are crossings alone (mae_fifo_async, mae_sync). Gray-coded",
    ]
    lines += [
        "# pointers and the words behind them have to arrive within a clock of the faster side."
    ]
    for a in clocks:
        for b in clocks:
            if a != b:
                least = min(ns[a], ns[b])
                lines += [line.format(ns=least, a=a, b=b) for line in CROSSING[form]]
    return lines


def _resets(
    every: list[Port], clocks: list[str], ns: dict[str, float], form: str, modules: set[str]
) -> list[str]:
    """Returns the commands for the resets and the test mode of a top module."""
    resets = [port.name for port in every if port.is_input and RESET.fullmatch(port.name)]
    lines = [""]
    if "mae_reset_sync" in modules:
        lines.append(
            "# The resets may come at any time: mae_reset_sync releases them with each clock."
        )
        lines += [f"set_false_path -from [get_ports {reset}]" for reset in resets]
    elif resets:
        lines.append("# Release the reset with the clock (mae_reset_sync), for it is checked so.")
        lines += [_delay("input", reset, clock_of(reset, clocks), ns, form) for reset in resets]
    if any(port.name == TEST for port in every):
        lines += ["# Low outside a scan test.", f"set_case_analysis 0 [get_ports {TEST}]"]
    return lines


def _ports(every: list[Port], clocks: list[str], ns: dict[str, float], form: str) -> list[str]:
    """Returns the commands for the data ports of a top module."""
    lines = [
        "",
        f"# {IO_SHARE:.0%} of the period belongs to what is behind a port: put its own there.",
    ]
    for port in every:
        left_out = port.name in clocks or RESET.fullmatch(port.name) or port.name == TEST
        if not left_out:
            kind = "input" if port.is_input else "output"
            lines.append(_delay(kind, port.name, clock_of(port.name, clocks), ns, form))
    return lines


def _delay(kind: str, port: str, clock: str, ns: dict[str, float], form: str) -> str:
    """Returns the command that gives a port its share of the period of its clock."""
    share = IO_SHARE * ns[clock]
    return f"set_{kind}_delay {share:g} -clock {clock} {BITS[form].format(port=port)}"
