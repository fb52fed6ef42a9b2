# SPDX-License-Identifier: Apache-2.0
"""Runs an RTL module's tests on the netlist that synthesis made of it.

The cells are functional models, which Yosys makes of the Liberty file or has of an FPGA's cells.
Flip-flops start in random states, or as an FPGA's configuration says. The netlist's ports have the
names and widths of the module's. Of the configurations that the module's test file runs, the
nearest one says what the tests need to know beside the parameters; coroutines that look for signals
inside the module have none to look at, and are named as such. A card is tested by the C driver, in
the simulator that its host programs use; the PicoRV32 system by a program in its block RAM.
"""

import dataclasses
import gzip
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from xml.etree import ElementTree

from maeslant import paths
from maeslant.build import simulator, toolchain
from maeslant.errors import MaeslantError
from maeslant.synth import yosys
from maeslant.synth.design import all_parameters, find
from maeslant.synth.liberty import Library
from maeslant.synth.netlist import cells
from maeslant.synth.report import NETLIST, Report, SynthesisError

# Parameters that change when answers come: a configuration has to agree in these first.
TIMED = re.compile(r"Reg|Clocks|Stages|Cuts|Latency")
# Tests by the ports alone, of modules whose other tests look inside.
BY_PORTS = {
    "mae_protected_card": "tests.device.accelerator.test_protected_card_ports",
    "mae_soc": "tests.soc.test_soc_program",
}
CARDS = ("mae_protected_card",)  # those tests take a simulator's library
INITIAL = r"\n    \.INITVAL_\w\w\([^()]*\),"  # contents of ECP5's block RAM
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
    env = {} if report.top in CARDS else _environment(module, report.top, parameters)
    netlist = report.unpack(work)
    if "image" in vars(importlib.import_module(module)):
        netlist = _with_image(report, netlist, importlib.import_module(module).image(), tell)
    tell("making the cells' models")
    if library:
        files = files_of_library(netlist, report.top, library)
    else:
        files = files_of_fpga(netlist, report.top, report.target)
    tell("simulating the netlist")
    if report.top in CARDS:
        return run_card(files, report.top, parameters, work)
    return run(files, report.top, parameters, module, env)


def _with_image(
    report: Report, netlist: pathlib.Path, image: pathlib.Path, tell: Callable[[str], None]
) -> pathlib.Path:
    """Maps the module with a memory image to the same netlist; returns that one's path.

    Raises SynthesisError if more than the contents of block RAM became another.
    """
    from maeslant.synth.fpga import flow as fpga

    what = find(report.name, report.parameters)
    what = dataclasses.replace(what, parameters=what.parameters | {"Image": f'"{image}"'})
    work = netlist.parent / "image"
    work.mkdir()
    fpga.map_core(what, report.target, work, report.recipe, tell)
    with gzip.open(work / NETLIST, "rt") as text:
        found = text.read()
    if re.sub(INITIAL, "", found) != re.sub(INITIAL, "", netlist.read_text()):
        raise SynthesisError(f"with the image {image.name} it is mapped to another netlist")
    made = work / netlist.name
    made.write_text(found)
    return made


def files_of_fpga(netlist: pathlib.Path, top: str, target: str) -> list[pathlib.Path]:
    """Writes an FPGA's netlist as gates, and models of what is none; returns the files."""
    gates = netlist.with_name("gates.v")
    read, others = cells.to_simulate(netlist, target)
    passes = [
        *read,
        f"hierarchy -check -top {top}",
        "proc",
        "flatten",
        # What is left of the RTL's names inside is no signal of the RTL, and what cells call their
        # pins is for nobody.
        "rename -hide",
        "opt_expr",
        "opt_clean",
        f"rename {top} gates",
        f"write_verilog -noattr {gates}",
    ]
    yosys.run(passes, netlist.with_name("gates.log"))
    _wrap(gates, top)
    return [gates, others]


def _wrap(gates: pathlib.Path, top: str) -> None:
    """Adds a top module to a file with a module "gates", so that the tests see its ports alone.

    Signals that they can see are not optimized by the simulator.
    """
    text = gates.read_text()
    body = text[text.index("\nmodule gates(") :]
    ports = re.findall(r"(?m)^  ((?:in|out)put (?:\[\d+:\d+\] )?\w+);", body)
    gates.write_text(
        f"{text}\nmodule {top} ({', '.join(ports)});\n  gates gates (.*);\nendmodule\n"
    )


def files_of_library(netlist: pathlib.Path, top: str, library: Library) -> list[pathlib.Path]:
    """Writes a netlist of standard cells and models of those; returns the files."""
    models, gates = netlist.with_name("cells.v"), netlist.with_name("gates.v")
    kinds = set(re.findall(r"(?m)^  (\w+) \w+ \($", netlist.read_text()))
    used = " ".join(sorted(kinds & set(library.cells)))
    yosys.run(
        [
            f"read_verilog {netlist}",
            "rename -hide",  # what is left of the RTL's names inside is no signal of the RTL
            f"rename {top} gates",
            f"write_verilog -noattr -noexpr {gates}",
            "design -reset",
            f"read_liberty -ignore_miss_func {library.path}",
            f"select -set used {used}",
            "delete @used %n",
            f"write_verilog -noattr {models}",
        ],
        netlist.with_name("cells.log"),
    )
    _wrap(gates, top)
    return [gates, models]


def run(
    files: list[pathlib.Path],
    top: str,
    parameters: dict[str, int],
    module: str,
    env: dict[str, str],
) -> dict[str, object]:
    """Runs a test module's cocotb tests on a netlist; returns counts and names of passed tests."""
    from maeslant.build import cocotb_bench  # and with it cocotb, which a synthesis does not need

    options = {"parameters": parameters, "env": env, "netlist": files}
    try:
        return {"passed": cocotb_bench.simulate(top, module, **options), "inside": []}
    except cocotb_bench.SimulationError as error:
        found = error.coroutines
        passed = [name for name, how in found.items() if how == "passed"]
        inside = [name for name, how in found.items() if any(word in how for word in INSIDE)]
        if not passed or set(found.values()) - {"passed", "skipped"} - {found[n] for n in inside}:
            raise
        return {"passed": passed, "inside": inside}


def run_card(
    files: list[pathlib.Path], top: str, parameters: dict[str, int], work: pathlib.Path
) -> dict[str, object]:
    """Runs a card's tests on its netlist; returns the names of those that passed."""
    name = f"netlist-{top}"
    library = simulator.build_top(name, top, parameters, netlist=files)
    file = BY_PORTS[top].replace(".", "/") + ".py"
    result = work / "tests.xml"
    env = os.environ | {
        "MAESLANT_LIBRARY": str(library),
        "MAESLANT_PARAMETERS": json.dumps(parameters),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file]
    done = subprocess.run(
        [*command, f"--junitxml={result}"],
        cwd=paths.ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(simulator.folder(name))
    if done.returncode:
        raise SynthesisError(f"the netlist fails tests of {file}:\n{done.stdout[-2000:]}")
    cases = ElementTree.parse(result).iter("testcase")
    return {"passed": [case.get("name") for case in cases if not len(case)], "inside": []}


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
    source = next(paths.RTL.glob(f"*/**/{top}.sv"), None)
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
