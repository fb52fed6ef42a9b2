# SPDX-License-Identifier: Apache-2.0
"""Writes the table that tells which build fits which FPGA, and how fast it is there."""

from collections.abc import Callable, Iterable, Iterator

from maeslant.synth.fpga.parts import PARTS
from maeslant.synth.page.rows import Ours, Table
from maeslant.synth.report import Report

# What has no table of its own: small cores where they are placed and routed.
LUT4 = {"Sbox": "SboxLowDepth"}
ONE_RUN = {"seeds": 1}  # of place and route, where one takes ten minutes and more
FEWEST = (
    Ours("serial128", options={"period_ns": 5, "abc": "small"}),
    Ours("small128_gates", options={"period_ns": 5, "abc": "least"}),
)
SMALL = (
    *(Ours("small128_luts", part, {"Sbox": "SboxBoolean"}) for part in ("ecp5", "gw5a")),
    *(Ours("small128_luts", part, LUT4) for part in ("ecp5", "gw5a", "gatemate")),
    *(
        Ours(name, part)
        for name in ("serial128", "small128", "small", "iter128")
        for part in ("ecp5", "gw5a", "gatemate")
    ),
    *(Ours(f"{kind}128_luts4", part) for kind in ("small", "fast") for part in ("ecp5", "gw5a")),
    Ours("gcm1_fpga", "ecp5", options=ONE_RUN),
    Ours("gcm1_fpga_ram", "ecp5"),
)
CORES = "serial128 small128_luts small128 small iter128 iter pipe128".split()  # from small to large
# What an ECP5-85F holds of the systems and cards.
DEVICES = Table(
    "Whole devices, placed and routed",
    "With their buses, movers and memories, in an ECP5. `stream4` and the protected cards take "
    "more LUTs than it has, even with six inputs each; `gcm1_fpga_ram`, below, is one lane, and "
    "`mae_guard_request_executor` opens, carries out and answers the protected card's requests "
    "with keys and an engine of its own. `unprotected_small` is small enough, but nextpnr came to "
    "no end with its first seed (`maeslant synth unprotected_small --target ecp5 --seeds 1`).",
    ("lut", "ff", "bram", "dsp", "fmax_mhz"),
    (
        Ours("peripheral_small", "ecp5"),
        Ours("soc", "ecp5"),
        Ours("mae_guard_request_executor", "ecp5", {"Small": 1}, ONE_RUN),
    ),
)
# Builds, from small to large; each has all of its rows in one line.
BUILDS = (
    *CORES[:2],
    *("small128_luts4", "fast128_luts4"),
    "small128_gates",  # in a chip: an FPGA gains nothing
    *CORES[2:],
    *("peripheral_small", "peripheral_duplex", "peripheral", "soc"),
    *("gcm1_fpga", "gcm1_fpga_ram", "gcm1"),
    *("gcm4_fpga", "gcm4_fpga_ram", "gcm4_fpga256", "gcm4", "copy4", "stream4_fpga", "stream4"),
    *("protected_fpga", "protected_fpga_shared", "protected_fpga_ram", "protected_small"),
    *("unprotected_small", "protected"),
)
COLUMNS = {
    "nangate45": "45 nm (Nangate45)",
    "xc7": "AMD 7-series",
    "ecp5": "ECP5-85F",
    "gw5a": "GW5A-25A",
    "gatemate": "GateMate CCGM1A1",
}
ROUTED = {COLUMNS[name]: part.router.luts for name, part in PARTS.items() if part.router}
SIZES = ", ".join(f"{name} has {luts:,}" for name, luts in ROUTED.items())
SAYS = f"""LUTs and clock; in Nangate45 kGE and clock. ECP5, GW5A and GateMate are placed and
routed, behind registers: the median of five seeds of nextpnr, or one run; ECP5 of speed grade 8,
GW5A of C1/I0, GateMate in its worst corner. 7-series is a Yosys estimate without a clock. Nangate45
is mapped or, where it says so, placed, mended on its wires and with a clock tree. A LUT of ECP5 and
GW5A has four inputs, one of 7-series six; GateMate's are halves of its logic elements (CPE).
{SIZES} of them; block RAM is named where it is used. †: synthesized before its RTL last changed.
–: not synthesized there, or larger than the device."""


def lines(rows: Iterable[Ours], found: Callable[[Ours], Report | None]) -> Iterator[str]:
    """Yields the section's lines: a row for each build and choice of parameters."""
    cells: dict[str, dict[str, str]] = {}
    for ours in sorted((r for r in rows if r.name in BUILDS), key=lambda r: BUILDS.index(r.name)):
        if not ours.label and (made := found(ours)):
            # The first that a table names counts: that for a usual clock.
            cells.setdefault(ours.title, {}).setdefault(ours.target, _cell(made))
    yield SAYS
    yield ""
    yield f"| build | {' | '.join(COLUMNS.values())} |"
    yield "|---|" + "---:|" * len(COLUMNS)
    for title, made in cells.items():
        yield f"| {title} | {' | '.join(made.get(target, '–') for target in COLUMNS)} |"


def one_run(made: Report) -> bool:
    """Returns true if a report's clock is of one run of place and route."""
    return len((made.timing or {}).get("seeds", ())) == 1


def _cell(made: Report) -> str:
    """Returns area and clock of a report in words."""
    area, timing = made.area, made.timing
    words = [f"{area['kge']:,.1f} kGE" if "kge" in area else f"{area['lut']:,}"]
    words += [f"{area['bram']:g} block RAM"] if area.get("bram") else []
    if made.placed:
        words.append(f"{made.placed['fmax_mhz']:,.0f} MHz placed")
    elif timing:
        words.append(f"{timing['fmax_mhz']:,.0f} MHz")
        words += ["one run"] if one_run(made) else []
    return ", ".join(words) + (" †" if made.older else "")
