# SPDX-License-Identifier: Apache-2.0
"""Runs an RTL module's cocotb tests on the netlist that synthesis made of it.

The cells are functional models, which Yosys makes of the Liberty file or has of an FPGA's cells.
Flip-flops start in random states, or as an FPGA's configuration says. The netlist's ports have the
names and widths of the module's. Of the configurations that the module's test file runs, the
nearest one says what the tests need to know beside the parameters; coroutines that look for signals
inside the module have none to look at, and are named as such.
"""

import importlib
import pathlib
import re
import shutil
from collections.abc import Callable

from maeslant import paths
from maeslant.build import toolchain
from maeslant.errors import MaeslantError
from maeslant.synth import yosys
from maeslant.synth.design import all_parameters, find
from maeslant.synth.liberty import Library
from maeslant.synth.netlist import cells
from maeslant.synth.report import Report, SynthesisError

# Parameters that change when answers come: a configuration has to agree in these first.
TIMED = re.compile(r"Reg|Clocks|Stages|Cuts|Latency")
# What a coroutine says that looks for signals or secrets inside a module.
INSIDE = ("AttributeError", "contains no", "no object named", "the search finds nothing")


def simulate(
    report: Report, library: Library | None, work: pathlib.Path, tell: Callable[[str], None]
) -> dict[str, object]:
    """Runs an RTL module's cocotb tests on its netlist; returns counts, names of passed tests.

    ``library``: of the netlist's cells; None for FPGAs.
    """
    module = tests(report.top)
    parameters = all_parameters(find(report.name, report.parameters))
    env = _environment(module, report.top, parameters)
    netlist = report.unpack(work)
    tell("making the cells' models")
    if library:
        files = files_of_library(netlist, report.top, library)
    else:
        files = files_of_fpga(netlist, report.top, report.target)
    tell("simulating the netlist")
    return run(files, report.top, parameters, module, env)


def files_of_fpga(netlist: pathlib.Path, top: str, target: str) -> list[pathlib.Path]:
    """Writes an FPGA's netlist as gates, and models of what is none; returns the files."""
    gates = netlist.with_name("gates.v")
    read, others = cells.to_simulate(netlist, target)
    passes = [
        *read,
        f"hierarchy -check -top {top}",
        "proc",
        "flatten",
        "opt_expr",
        "opt_clean",
        "rename -hide",  # what is left of the RTL's names inside is no signal of the RTL
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
        own = all_parameters(find(top, call.get("parameters")))
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
