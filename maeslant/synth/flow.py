# SPDX-License-Identifier: Apache-2.0
"""Synthesizes a build or RTL module for a target, or returns the stored report."""

import dataclasses
import functools
import json
import pathlib
import re
from collections.abc import Callable

from maeslant import paths
from maeslant.synth import asic, design, liberty, report, technology, yosys
from maeslant.synth.fpga import flow as fpga
from maeslant.synth.fpga.parts import PARTS
from maeslant.synth.netlist import equivalence, simulation
from maeslant.synth.place import flow as placement
from maeslant.synth.place import picture, placer
from maeslant.synth.place.wires import without_model
from maeslant.synth.power import placed as placed_power
from maeslant.synth.power.estimate import MODEL, estimate
from maeslant.synth.report import Report, SynthesisError, UnprovedError
from maeslant.synth.timing import sta

FIGURES = paths.RESULTS / "figures.json"
SEEDS = 5  # place and route runs
# What results/figures.json calls them; a message of mae_gcm_single is a block.
METRICS = {
    "clocks a block of one lane": "clocks a block of one lane",
    "blocks a clock": "blocks a clock",
    "a key of its own each": "blocks a clock",
    "latency": "latency",
    "from request to verdict": "latency",
}


@dataclasses.dataclass(frozen=True)
class Point:
    """Describes a synthesis to run: design, target and settings."""

    design: design.Design
    target: str
    library: liberty.Library | None  # None for FPGAs
    recipe: dict[str, object]

    @functools.cached_property
    def digest(self) -> str:
        """Returns a digest of RTL, parameters and settings, to detect an outdated report.

        It is that of the first call, so of RTL as the synthesis found it, however long that takes.
        A library is known by its content, whatever its file is called. What the recipe says in
        words (ports, inputs, ways) changes with the code that does it.
        """
        recipe = {key: value for key, value in self.recipe.items() if key != "liberty"}
        return self.design.digest(recipe | {"target": self.target})

    @property
    def kept(self) -> tuple[str, ...]:
        """Returns the names of the modules that stay apart in this synthesis."""
        return asic.kept(self.recipe) if self.library else tuple(self.recipe.get("kept", ()))

    @property
    def cleaned(self) -> tuple[str, ...]:
        """Returns the Yosys passes with which this synthesis begins to optimize the design."""
        return tuple(asic.FRONT[:2]) if self.library else fpga.FRONT

    @property
    def file(self) -> pathlib.Path:
        """Returns the path of this synthesis's report in the build folder."""
        folder = f"{self.design.name}-{self.target}-{self.digest[:8]}"
        return report.REPORTS / folder / "report.json"

    @property
    def published(self) -> pathlib.Path:
        """Returns the path of this synthesis's report in results/reports."""
        base = {} if self.design.outside else design.find(self.design.name).parameters
        words = [self.design.name, self.target]
        if self.library and self.target not in liberty.KNOWN:
            words.append(self.library.digest[:8])
        words += [f"{k}{v}" for k, v in self.design.parameters.items() if base.get(k) != v]
        how = self.recipe
        if how.get("period_ns"):
            words.append(f"{how['period_ns']:g}ns")
        if self.library and [*how["abc"]] != asic.scripts(how["period_ns"], None):
            words += how["abc"]
        if "kept" in how:
            words.append("kept")
        if self.library and how["flatten"] != flattens(self.design):
            words.append("flat" if how["flatten"] else "kept")
        if how.get("seeds", SEEDS) != SEEDS:
            words.append(f"seeds{how['seeds']}")
        return report.PUBLISHED / f"{'-'.join(words)}.json"


def point(
    name: str,
    target: str,
    parameters: dict[str, object] | None = None,
    period_ns: float | None = None,
    seeds: int = SEEDS,
    flatten: bool | None = None,
    abc: str | None = None,
) -> Point:
    """Returns the description (a Point) of the synthesis that :func:`synthesize` would run."""
    if target in PARTS:
        what = design.find(name, parameters, technology.of_target(target))
        if period_ns is not None:
            raise SynthesisError(f"{target} takes no period: it is always made as fast as possible")
        if abc is not None or (flatten is not None and PARTS[target].router):
            raise SynthesisError(
                f"{target} has one way of mapping: it takes neither --flatten nor --map"
            )
        if seeds < 1:
            raise SynthesisError("place and route needs one seed at least")
        if seeds != SEEDS and PARTS[target].router is None:
            raise SynthesisError(f"{target} is not placed and routed: it takes no --seeds")
        how = fpga.recipe(target, seeds, flatten is not False, fpga.preserved(what, target))
        return Point(what, target, None, how)
    if period_ns is not None and not 0 < period_ns < 1e6:
        raise SynthesisError(f"the period must be positive, not {period_ns} ns")
    if seeds != SEEDS:
        raise SynthesisError(f"{target} is not placed and routed: it takes no --seeds")
    if abc is not None and abc not in asic.SCRIPTS:
        raise SynthesisError(f"unknown mapping {abc!r}; known: {', '.join(asic.SCRIPTS)}")
    period_ns = None if period_ns is None else float(period_ns)
    library = liberty.find(target)
    views = technology.of_target(library.target)
    what = design.find(name, parameters, views, liberty.declare(library))
    if flatten is None:
        flatten = flattens(what)
    return Point(what, library.target, library, asic.recipe(library, period_ns, flatten, abc))


def flattens(what: design.Design) -> bool:
    """Returns true if synthesis flattens a design by default, for at most two lanes."""
    return what.parameters.get("Lanes", 0) <= 2


def remembered(
    name: str,
    target: str,
    parameters: dict[str, object] | None = None,
    *,
    period_ns: float | None = None,
    power: bool = False,
    seeds: int = SEEDS,
    flatten: bool | None = None,
    abc: str | None = None,
    placed: bool = False,
    older: bool = False,
) -> Report | None:
    """Returns the stored report of a synthesis; None if no stored report is up to date.

    What was synthesized here goes before what is published; that has no netlist. What the published
    one says beyond it of the same netlist, as where it was placed, is taken from there. ``power``
    and ``placed`` demand both. ``older`` takes a published report of RTL or of a flow that has
    changed since, too, and marks it so.
    """
    what = point(name, target, parameters, period_ns, seeds, flatten, abc)
    files = (what.file, what.published)
    stored = [_current(what, report.load(file), parameters) for file in files]

    def suffices(found: Report | None) -> bool:
        return bool(found and (found.power or not power) and (found.placed or not placed))

    for found in stored:
        if found and suffices(made := _completed(found, stored[-1])):
            return made
    found = report.load(what.published) if older else None
    return dataclasses.replace(found, older=True) if suffices(found) else None


def _of_another_library(found: Report) -> bool:
    """Returns true if a stored report is of a Liberty file with other contents than today's."""
    digest = found.recipe.get("liberty_sha256")
    return bool(digest and digest != liberty.find(found.target).digest)


def why_older(found: Report) -> str:
    """Returns in words why a stored synthesis report is not up to date."""
    return "of another Liberty file" if _of_another_library(found) else "of an older RTL"


def check_libraries() -> None:
    """Raises SynthesisError if a Liberty file is not the one that results are published of."""
    checked = set()
    for file in sorted(report.PUBLISHED.glob("*.json")):
        found = report.load(file)
        if found and found.target in liberty.KNOWN and found.target not in checked:
            checked.add(found.target)
            if _of_another_library(found):
                raise SynthesisError(
                    f"{liberty.folder()} has another Liberty file for {found.target} than that of "
                    "results/, which is published for that one alone: leave --publish out"
                )


def same_netlist(one: Report, other: Report) -> bool:
    """Returns true if two synthesis reports are of the same sources and came to the same netlist.

    Tools are no part of the sources' digest, so they may have mapped differently.
    """
    keys = ("sources", "tools", "area", "timing")
    return all(one[key] == other[key] for key in keys)


def map_again(
    found: Report,
    target: str,
    parameters: dict[str, object] | None = None,
    tell: Callable[[str], None] = lambda step: None,
    **how: object,
) -> Report:
    """Returns a published synthesis report with its netlist, which is made again if need be.

    An FPGA's netlist is only mapped, not placed and routed: the report's timing stays. ``how``: the
    options of :func:`synthesize`. Raises SynthesisError if the netlist is another one here.
    """
    how = {key: value for key, value in how.items() if key not in ("power", "placed")}
    what = point(found.name, target, parameters, **how)
    if what.library is None and report.load(what.file) is None:
        with report.locked(what.digest[:16]), report.workplace(what.design.name) as work:
            area = fpga.map_core(what.design, target, work, what.recipe, tell)
            tools = found.tools | {"yosys": yosys.version()}
            made = dataclasses.replace(found, area=area, tools=tools)
            if same_netlist(made, found):
                report.keep(made, work, what.file, fpga.KEPT)
    else:
        made = synthesize(found.name, target, parameters, **how, tell=tell)
    if not same_netlist(made, found):
        raise SynthesisError("mapped to another netlist here than the stored report's")
    return made


def _completed(found: Report, other: Report | None) -> Report:
    """Adds power, checks and places to a synthesis report that another one of its netlist has."""
    if other is None or not same_netlist(found, other):
        return found
    return dataclasses.replace(
        found,
        power=found.power or other.power,
        netlist=_verified(other.netlist, found.netlist),
        placed=found.placed or other.placed,
    )


def _current(
    what: Point, found: Report | None, parameters: dict[str, object] | None
) -> Report | None:
    """Returns a stored synthesis report if up to date, else None."""
    if found is None or found.sources != what.digest:
        return None
    if found.power and found.power.get("model") != MODEL:
        found.power = None
    if (found.placed or {}).get("power", {}).get("model") != placed_power.MODEL:
        (found.placed or {}).pop("power", None)
    found.function = function(what.design.name, parameters, found.timing)
    return found


def publish(
    found: Report,
    name: str,
    target: str,
    parameters: dict[str, object] | None = None,
    *,
    power: bool = False,
    **how: object,
) -> Report:
    """Copies a finished synthesis report to results/reports; returns what is there then.

    What a published report of the same sources says beyond it stays, if of the same netlist; if of
    another one, the published report stays whole.
    """
    what = point(name, target, parameters, **how)
    there = report.load(what.published)
    if there and there.sources == found.sources:
        found = _completed(found, there)
        if (there.power and not found.power) or (there.placed and not found.placed):
            return there
    if there and there.as_dict() == found.as_dict():
        return there
    copy = dataclasses.replace(found)
    copy.write(what.published)
    return copy


def synthesize(
    name: str,
    target: str,
    parameters: dict[str, object] | None = None,
    *,
    period_ns: float | None = None,
    power: bool = False,
    placed: bool = False,
    seeds: int = SEEDS,
    flatten: bool | None = None,
    abc: str | None = None,
    tell: Callable[[str], None] = lambda step: None,
) -> Report:
    """Synthesizes a build, module or user's file for a target technology; returns the report.

    ``target``: nangate45, sky130, ihp, ecp5, gw5a, gatemate, xc7, or the path of a Liberty file.
    ``parameters`` are set on top of the build's. ``period_ns`` is met as small as possible;
    without, the least there is. ``power`` simulates the netlist and adds the report's power (ASIC).
    ``placed`` places and mends it and gives it a clock tree (nangate45); adds a picture, too.
    ``seeds``: place and route runs (FPGAs but xc7). ``flatten`` merges modules before mapping
    (ASIC, without: unless there are many lanes; xc7: all, or all but fpga.REPEATED); ``abc`` names
    one of asic.SCRIPTS, to use that. ``tell`` hears what is going on. Raises SynthesisError.
    """
    what = point(name, target, parameters, period_ns, seeds, flatten, abc)
    if power and what.library is None:
        raise SynthesisError(f"power is estimated for standard cells, not for {target}")
    if placed:
        placement.check(what.target)
    with report.locked(what.digest[:16]):
        found = _current(what, report.load(what.file), parameters)
        if found is None:
            with report.workplace(what.design.name) as work:
                found = _new(what, parameters, work, tell)
        if power and found.power is None:
            with report.workplace(what.design.name) as work:
                found.power = estimate(found, what.library, work, tell)
            found.write(what.file)
        wires = f"{placement.WIRES}.gz"
        known = found.placed or {}
        now = (placer.version(), placement.MODEL)
        old = placed and (known.get("tool"), known.get("model")) != now
        if old or (placed and power and not (found.folder / wires).exists()):
            with report.workplace(what.design.name) as work:
                found.placed, circuit = placement.place(found, what.library, work, tell)
                picture.draw(circuit, what.library, work / picture.FILE)
                files = [report.pack(work / name).name for name in placement.FILES]
                report.keep(found, work, what.file, [picture.FILE, *files])
        if placed and power and not found.placed.get("power"):
            with report.workplace(what.design.name) as work:
                netlist, spef = (found.unpack(work, f"{name}.gz") for name in placement.FILES)
                bare = without_model(what.library, work)
                found.placed["power"] = placed_power.estimate(found, netlist, spef, bare, tell)
            found.write(what.file)
    return found


def check_simulation(name: str, target: str) -> None:
    """Raises SynthesisError if simulation of a netlist would be impossible here."""
    top = design.find(name).top
    simulation.tests(top)
    simulation.check_target(top, target)
    simulation.check_simulator()


def simulate(
    found: Report, target: str, tell: Callable[[str], None] = lambda step: None
) -> dict[str, object]:
    """Runs an RTL module's tests on its netlist; returns the names of those that passed.

    Names of tests that look inside the module, which do not count, are beside them. The report
    keeps the first, and publishing it publishes them.
    """
    check_simulation(found.name, target)
    library = None if target in PARTS else liberty.find(target)
    with report.workplace(found.name) as work:
        tests = simulation.simulate(found, library, work, tell)
    _checked(found, simulated=tests["passed"])
    return tests


def prove(
    found: Report, target: str, tell: Callable[[str], None] = lambda step: None
) -> dict[str, object]:
    """Proves by SAT that a netlist equals its RTL; returns counts of compared points.

    The report keeps that, or what stood against a proof, and publishing it publishes it. Raises
    UnprovedError then, and SynthesisError if they differ or a tool fails.
    """
    library = None if target in PARTS else liberty.find(target)
    try:
        with report.workplace(found.name) as work:
            proved = equivalence.prove(found, library, work, tell)
    except UnprovedError as error:
        _checked(found, unproved=str(error))
        raise
    _checked(found, proved=proved)
    return proved


def _checked(found: Report, **how: object) -> None:
    """Adds the results of a netlist's verification to a synthesis report; writes the report."""
    found.netlist = _verified(found.netlist, how | {"commit": design.commit()})
    found.write(found.file)


def _verified(old: dict | None, new: dict | None) -> dict | None:
    """Joins the records of a netlist's verification; with a proof, nothing stands against one."""
    found = (old or {}) | (new or {})
    if "proved" in found:
        found.pop("unproved", None)
    return found or None


def _new(
    what: Point,
    parameters: dict[str, object] | None,
    work: pathlib.Path,
    tell: Callable[[str], None],
) -> Report:
    """Synthesizes a design for a target; stores and returns the report."""
    how = what.recipe
    if what.library is None:
        area, timing = fpga.synthesize(what.design, what.target, work, how, tell)
        kind, tools, files = PARTS[what.target].kind, fpga.tools(what.target), fpga.KEPT
        left_out = fpga.left_out(what.target)
    else:
        area, timing, used = asic.synthesize(what.design, what.library, work, how, tell)
        how = how | {"abc_used": used}
        kind, tools, files = "asic", {"yosys": yosys.version(), "sta": sta.version()}, asic.FILES
        left_out = sta.left_out(what.library)
    found = Report(
        name=what.design.name,
        top=what.design.top,
        parameters=what.design.parameters,
        target=what.target,
        kind=kind,
        recipe=how,
        tools=tools,
        sources=what.digest,
        commit=design.commit(),
        left_out=left_out,
        area=area,
        timing=timing,
        function=function(what.design.name, parameters, timing),
    )
    return report.keep(found, work, what.file, files)


def function(
    name: str, parameters: dict[str, object] | None, timing: dict[str, object] | None
) -> dict[str, object] | None:
    """Returns a build's AES blocks per clock, latency, Gbit/s, from results/figures.json."""
    if parameters or not FIGURES.exists():
        return None
    own: dict[str, float] = {}
    for figure in json.loads(FIGURES.read_text())["figures"]:
        if figure["config"] == name:
            for metric, key in METRICS.items():
                if re.search(rf"\b{metric}(,|$)", figure["metric"]):
                    own.setdefault(key, figure["value"])  # AES-128 comes first
    rate, single = own.get("blocks a clock"), own.get("clocks a block of one lane")
    if rate is None:
        return None
    if single is not None:  # without the first block's latency, that is in the measured rate
        rate = round(rate * single) / single
    gbps = round(128 * rate * timing["fmax_mhz"] / 1000, 2) if timing else None
    return {"blocks_per_clock": rate, "latency_clocks": own.get("latency"), "gbps": gbps}
