# SPDX-License-Identifier: Apache-2.0
"""Runs an RTL module's tests on the netlist that synthesis made of it.

The cells are functional models, which Yosys makes of the Liberty file or has of an FPGA's cells.
Flip-flops start in random states, or as an FPGA's configuration says. The netlist's ports have the
names and widths of the module's. Of the configurations that the module's test file runs, the
nearest one says what the tests need to know beside the parameters; coroutines that look for signals
inside the module have none to look at, and are named as such. The PicoRV32 system is tested by a
program in its block RAM; modules that a machine in C++ drives: machines.py. What stands many times
in a netlist is simulated apart: apart.py.
"""

import dataclasses
import gzip
import importlib
import pathlib
import re
import shutil
from collections.abc import Callable

from maeslant import paths
from maeslant.build import toolchain
from maeslant.errors import MaeslantError
from maeslant.synth import technology
from maeslant.synth.design import all_parameters, find
from maeslant.synth.liberty import Library
from maeslant.synth.netlist import apart, gates, machines
from maeslant.synth.report import NETLIST, Report, SynthesisError

# Parameters that change when answers come: a configuration has to agree in these first.
TIMED = re.compile(r"Reg|Clocks|Stages|Cuts|Latency")
# Tests by the ports alone, of modules whose other tests look inside.
BY_PORTS = {"mae_protected_card": machines.CARD, "mae_soc": "tests.soc.test_soc_program"}
WITH_IMAGE = ("mae_soc",)  # whose tests have a function image(), a program for its memory
RAM = re.compile(r"\bDP16KD #\(([^;]*?)\) (\S+) +\(\n")  # parameters and name, in a netlist
FILLED = re.compile(r"\.INITVAL_\w\w\(\d+'h0*[1-9a-fA-F]")
COMPILED = "-O3"  # the compiler's option: what it compiles is small
CONTENTS = re.compile(r"\.INITVAL_\w\w\([^()]*\),?\s*")
# What a coroutine says that looks for signals or secrets inside a module.
INSIDE = ("AttributeError", "contains no", "no object named", "the search finds nothing")


def simulate(
    report: Report, library: Library | None, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """Runs an RTL module's tests on its netlist; returns the names of those that passed.

    ``library``: of the netlist's cells; None for FPGAs.
    """
    module = tests(report.top)
    parameters = all_parameters(find(report.name, report.parameters))
    machine = machines.TESTS.get(report.top)
    env = {} if machine else _environment(module, report.top, parameters)
    netlist = report.unpack(work)
    if report.top in WITH_IMAGE:
        netlist = with_image(report, netlist, importlib.import_module(module).image(), tell)
    repeated = apart.parts(netlist) if report.recipe.get("kept") else []
    alone = {}  # names of tests, each once
    for number, part in enumerate(repeated):
        tell(f"simulating {part.module} apart")
        alone |= dict.fromkeys(_part(netlist, part, work / f"part{number}", report, library))
    tell("making the cells' models")
    made = files(netlist, report.top, report.target, library, repeated)
    tell("simulating the netlist")
    if machine:
        return {"passed": machine(made, parameters, work), "inside": []}
    found = run(made, report.top, parameters, module, env)
    return found | {"passed": [*found["passed"], *alone]}


def _part(
    netlist: pathlib.Path,
    part: apart.Part,
    work: pathlib.Path,
    report: Report,
    library: Library | None,
) -> list[str]:
    """Runs a repeated module's own tests on its gates; returns their names, behind the module's."""
    work.mkdir()
    here = work / netlist.name
    here.symlink_to(netlist)
    made = files(here, part.name, report.target, library, module=part.module)
    found = run(made, part.module, part.parameters, tests(part.module), {})
    return [f"{part.module}: {name}" for name in found["passed"]]


def with_image(
    report: Report, netlist: pathlib.Path, image: pathlib.Path, tell: Callable[[str], None]
) -> pathlib.Path:
    """Gives block RAMs the contents that they have when mapped with an image; returns the path.

    Else the netlist stays as it is. Raises SynthesisError if the block RAMs are then others, or
    one that gets contents had some.
    """
    from maeslant.synth.fpga import flow as fpga

    what = find(report.name, report.parameters, technology.of_target(report.target))
    what = dataclasses.replace(what, parameters=what.parameters | {"Image": f'"{image}"'})
    work = netlist.parent / "image"
    work.mkdir()
    fpga.map_core(what, report.target, work, report.recipe, tell)
    with gzip.open(work / NETLIST, "rt") as text:
        wanted = {name: parameters for parameters, name in RAM.findall(text.read())}
    text = netlist.read_text()
    given = {name: parameters for parameters, name in RAM.findall(text)}
    one, other = ({n: CONTENTS.sub("", p) for n, p in rams.items()} for rams in (wanted, given))
    filled = [n for n in given if given[n] != wanted.get(n) and FILLED.search(given[n])]
    if one != other or filled:
        raise SynthesisError(f"with the image {image.name} it is mapped to other block RAMs")
    made = work / netlist.name
    made.write_text(RAM.sub(lambda ram: ram[0].replace(ram[1], wanted[ram[2]]), text))
    return made


def files(
    netlist: pathlib.Path,
    top: str,
    target: str,
    library: Library | None,
    repeated: list[apart.Part] | None = None,
    module: str | None = None,
) -> list[pathlib.Path]:
    """Writes a netlist as gates, and models of what is none; returns the files.

    ``library``: of standard cells; None for the FPGAs of ``target``. ``repeated``: modules of the
    netlist that stay RTL. ``module``: the top's name in rtl/, if it has another in the netlist.
    """
    made = netlist.with_name("gates.v")
    made.write_text(gates.written(netlist, top, target, library, repeated))
    _wrap(made, module or top)
    return [made, gates.SIMULATION]


def _wrap(gates: pathlib.Path, top: str) -> None:
    """Adds a top module to a file with a module "gates", so that the tests see its ports alone.

    Signals that they can see are not optimized by the simulator.
    """
    text = gates.read_text()
    body = text[text.index("\nmodule gates(") :]
    body = body[: body.index("\nendmodule")]
    ports = re.findall(r"(?m)^  ((?:in|out)put (?:\[\d+:\d+\] )?\w+);", body)
    gates.write_text(
        f"{text}\nmodule {top} ({', '.join(ports)});\n  gates gates (.*);\nendmodule\n"
    )


def run(
    netlist: list[pathlib.Path],
    top: str,
    parameters: dict[str, int],
    module: str,
    env: dict[str, str],
) -> dict[str, object]:
    """Runs a test module's cocotb tests on a netlist; returns the names of passed tests."""
    from maeslant.build import cocotb_bench  # and with it cocotb, which a synthesis does not need

    options = {"parameters": parameters, "env": env, "netlist": netlist, "optimize": COMPILED}
    try:
        return {"passed": cocotb_bench.simulate(top, module, **options), "inside": []}
    except cocotb_bench.SimulationError as error:
        found = error.coroutines
        passed = [name for name, how in found.items() if how == "passed"]
        inside = [name for name, how in found.items() if any(word in how for word in INSIDE)]
        if not passed or set(found.values()) - {"passed", "skipped"} - {found[n] for n in inside}:
            raise
        return {"passed": passed, "inside": inside}


def check_target(top: str, target: str) -> None:
    """Raises SynthesisError if a module's netlists for a target cannot be simulated."""
    if top in WITH_IMAGE and target != "ecp5":
        raise SynthesisError(f"{top} is simulated with a program in block RAM, for ecp5 alone")


def check_simulator() -> None:
    """Raises SynthesisError if Verilator or g++, needed to simulate netlists, is missing."""
    try:
        toolchain.verilator()
    except MaeslantError as error:
        raise SynthesisError(f"--simulate: {error}") from None
    if shutil.which("g++") is None:
        raise SynthesisError("--simulate needs g++: sudo apt-get install g++")


def tests(top: str) -> str:
    """Returns the name of the Python module with an RTL module's tests."""
    if top in BY_PORTS:
        return BY_PORTS[top]
    source = paths.rtl_file(top)
    if source is None:
        raise SynthesisError(f"{top} is no module of rtl/: there are no tests of it to simulate")
    folder = paths.ROOT / "tests" / source.relative_to(paths.RTL).parent
    name = f"test_{top.removeprefix('mae_')}.py"
    file = next(folder.rglob(name), None)
    if file is None:
        where = folder.relative_to(paths.ROOT)
        raise SynthesisError(f"{top} has no tests of its own: no {name} in {where}")
    return ".".join(file.relative_to(paths.ROOT).with_suffix("").parts)


def _environment(module: str, top: str, parameters: dict[str, int]) -> dict[str, str]:
    """Returns the test environment whose RTL parameters are closest to the netlist's."""
    from maeslant.build import cocotb_bench

    calls: list[dict] = []

    def record(of: str, _module: str, **options: object) -> list[str]:
        if of == top and not options.get("sources"):
            calls.append(options)
        return []

    real, cocotb_bench.simulate = cocotb_bench.simulate, record
    try:
        for function, values in _cases(importlib.import_module(module)):
            function(**values)
    finally:
        cocotb_bench.simulate = real
    if not calls:
        raise SynthesisError(f"{module} runs {top} only inside a bench of its own")

    def nearness(call: dict) -> tuple[int, int]:
        given = {k: v for k, v in (call.get("parameters") or {}).items() if k != "Image"}
        own = all_parameters(find(top, given))
        same = [name for name, value in parameters.items() if own.get(name) == value]
        return sum(bool(TIMED.search(name)) for name in same), len(same)

    return dict(max(calls, key=nearness).get("env") or {})


def _cases(module) -> list[tuple[Callable, dict[str, object]]]:
    """Returns a module's pytest functions, each with every set of its parameters' values."""
    found = []
    for name, function in vars(module).items():
        if not name.startswith("test_") or not callable(function):
            continue
        marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
        if not marks and not function.__code__.co_argcount:
            found.append((function, {}))
        if len(marks) == 1:
            names = marks[0].args[0]
            names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
            for case in marks[0].args[1]:
                values = getattr(case, "values", None) or (case if len(names) > 1 else (case,))
                if callable(values):  # a dict's own method
                    values = (case,)
                if len(names) == function.__code__.co_argcount:
                    found.append((function, dict(zip(names, values, strict=True))))
    return found
