# SPDX-License-Identifier: Apache-2.0
"""Builds an RTL module with Verilator and runs cocotb tests on the simulation."""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from cocotb_tools import config
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import Verilator

from maeslant import paths
from maeslant.build import bus_checkers, made, model, toolchain
from maeslant.errors import MaeslantError

# The makefiles name these folders of cocotb, and accept no space in them.
config.share_dir, config.libs_dir = map(paths.plain, (config.share_dir, config.libs_dir))


class SimulationError(MaeslantError):
    """Raised if an RTL simulation does not build or a cocotb test in the simulation fails.

    ``coroutines`` holds the result of each coroutine that ran.
    """

    coroutines: dict[str, str] = {}


# Warnings stay on and are judged by `make check`; a waiver stands in the RTL beside its reason.
ARGS = ["--assert", "-Wall", "-Wno-fatal", "-Werror-USERFATAL", "-Werror-USERERROR"]
ARGS += ["--x-assign", "unique", "--x-initial", "unique"]


# Of the compiler. With -O0 a stream card's bench builds in 12 s of a CPU instead of 20, and runs
# more than twice as long; all of mae_kernel_fhe's test takes twice as long.
OPTIMIZE = os.environ.get("MAESLANT_BENCH_OPTIMIZE", "-O1")


class _Runner(Verilator):
    """Runs Verilator for cocotb; by default only the top module's signals are visible to tests."""

    visible = False

    def _build_command(self) -> list[list[str]]:
        verilate, _ = super()._build_command()  # model.py compiles
        if not self.visible:
            at = verilate.index("--public-flat-rw")
            verilate[at : at + 1] = ["--public-depth", "1"]
        return [verilate]


def simulate(
    top: str,
    module: str,
    *,
    parameters: dict[str, object] | None = None,
    sources: list[str | pathlib.Path] | None = None,
    env: dict[str, str] | None = None,
    test_filter: str | None = None,
    visible: bool = False,
    optimize: str = OPTIMIZE,
    netlist: list[pathlib.Path] | None = None,
) -> list[str]:
    """Builds RTL module ``top`` and runs cocotb tests on the model; returns the tests' names.

    ``parameters`` are the module's (enum values as integers); ``sources`` adds files outside rtl/
    (a test's own wrapper, which then holds ``top``); ``env`` reaches the cocotb side through
    os.environ; ``test_filter`` is a regular expression on test names; ``visible`` shows every
    signal of the hierarchy to cocotb instead of the top's alone; ``optimize`` is the compiler's
    option (-O2 for long runs; MAESLANT_BENCH_OPTIMIZE is the default); ``netlist``: files of
    gates that stand in the place of rtl/, made for these parameters, run from random initial
    states. Gives the names of the coroutines that ran; a failed one is a SimulationError. The
    seed is MAESLANT_SEED (default 1), and a failure prints how to rerun. A build is kept under
    build/bench by its configuration and made again when a source changed.
    """
    values = {k: int(v) if isinstance(v, bool) else v for k, v in (parameters or {}).items()}
    file = module.replace(".", "/") + ".py"
    waves = bool(os.environ.get("MAESLANT_WAVES"))
    extra = [paths.ROOT / source for source in sources or []]
    own = [] if any(path.stem == top for path in extra) else [*filter(None, [paths.rtl_file(top)])]
    ports, random_states = values, []
    if netlist is not None:  # its parameters are in it
        own, ports, random_states = netlist, {}, ["+verilator+rand+reset+2"]
    paths.check(paths.ROOT)
    folder = _folder(top, values, extra, waves, visible, optimize, *(netlist or []))
    # The simulator and cocotb find Verilator by this name.
    os.environ["PATH"] = toolchain.search_path()
    files = [*extra, *own]
    foreign = [path for path in files if path.suffix == ".cpp"]
    files = [path for path in files if path not in foreign]
    files = [*paths.rtl_packages_of(files), *files]
    if netlist is None:
        files += bus_checkers.sources(files, folder / "bus_checks.sv")
    include = f"-I{bus_checkers.CHECKERS}"
    runner = _Runner()
    runner.visible = visible
    with open(folder / ".lock", "w") as lock:  # of parallel tests one builds, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        times, read = folder / "Vtop__verFiles.dat", folder / "sources.sha256"
        try:
            # Verilator skips what has not changed, and goes by times in seconds.
            if not read.exists() or read.read_text() != _sources_digest(times):
                times.unlink(missing_ok=True)
            runner.build(
                sources=files,
                hdl_toplevel=top,
                parameters=ports,
                build_dir=folder,
                build_args=[*ARGS, *paths.verilator_sources(), include, "-j", "2"],
                timescale=("1ns", "1ps"),
                waves=waves,
                always=True,
                log_file=folder / "build.log",
            )
            paths.write(read, _sources_digest(times))
            _compile(folder, top, optimize, foreign)
        except (RuntimeError, subprocess.CalledProcessError, OSError) as error:
            text = f"{top} does not build: {error}\n{_tail(folder / 'build.log')}"
            raise SimulationError(text) from None
    seed = os.environ.get("MAESLANT_SEED", "1")
    work = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    log = work / "run.log"
    results = work / "results.xml"
    status: BaseException | None = None
    try:
        runner.test(
            hdl_toplevel=top,
            test_module=module,
            build_dir=folder,
            test_dir=work,
            results_xml=str(results),
            seed=seed,
            parameters=ports,
            plusargs=random_states,
            waves=waves,
            extra_env={
                "PYTHONPATH": os.pathsep.join([str(paths.ROOT), *sys.path]),
                "MAESLANT_PARAMETERS": json.dumps(values),
                "MAESLANT_NETLIST": "1" if netlist is not None else "",
                "COCOTB_ANSI_OUTPUT": "0",
                **(env or {}),
            },
            test_filter=test_filter,
            log_file=log,
        )
    except (
        RuntimeError,
        SystemExit,
    ) as error:  # a test failed, or the simulator stopped
        status = error
    total, failed = get_results(results) if results.exists() else (0, 0)
    if failed or not total or status is not None:
        what = f"{failed} of {total} failed" if failed else "the simulation did not end well"
        again = f"MAESLANT_SEED={seed} MAESLANT_WAVES=1 .venv/bin/pytest {file}"
        stopped = SimulationError(
            f"{what}: {top} {values}\n{_tail(log)}\nwhole log: {log}\nrerun: {again}"
        )
        stopped.coroutines = coroutines(results) if results.exists() else {}
        raise stopped
    ran = coroutines(results)
    if waves:
        print(f"waveform: {work / 'dump.vcd'}")
    else:
        shutil.rmtree(work)
    return [name for name, how in ran.items() if how == "passed"]


def coroutines(results: pathlib.Path) -> dict[str, str]:
    """Returns each cocotb test's outcome from a results file: "passed", "skipped" or the error."""
    found = {}
    for case in ElementTree.parse(results).iter("testcase"):
        failure = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped") is not None
        found[case.get("name")] = "skipped" if skipped else "passed"
        if failure is not None:
            found[case.get("name")] = " ".join(failure.attrib.values())
    return found


def parameters() -> dict[str, object]:
    """Returns the RTL parameters of the simulated module by name, for use in a cocotb test."""
    return json.loads(os.environ.get("MAESLANT_PARAMETERS", "{}"))


def is_netlist() -> bool:
    """Returns true in a cocotb test if gates stand in the place of the module's RTL."""
    return bool(os.environ.get("MAESLANT_NETLIST"))


def _folder(top: str, *configuration: object) -> pathlib.Path:
    """Creates the build folder for an RTL module with given parameters; returns the path."""
    key = hashlib.sha256(repr(configuration).encode()).hexdigest()[:10]
    folder = paths.BUILD / "bench" / f"{top}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _sources_digest(times: pathlib.Path) -> str:
    """Returns a digest of the sources that Verilator read, which its file of times lists."""
    text = times.read_text() if times.exists() else ""
    return made.digest([], re.findall(r'^S .*"([^"]*\.\w+)"$', text, re.M))


def _compile(folder: pathlib.Path, top: str, optimize: str, foreign: list[pathlib.Path]) -> None:
    """Makes the simulator of a bench of what Verilator wrote, unless it is up to date.

    ``foreign``: C++ files with functions that the bench calls by DPI.
    """
    target = folder / top
    main = config.share_dir / "lib" / "verilator" / "verilator.cpp"
    own = [main, *foreign]
    stamp, digest = folder / "model.sha256", model.digest(folder, *own)
    if target.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    stamp.unlink(missing_ok=True)

    def run(command: list[str]) -> None:
        with open(folder / "build.log", "a") as log:
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
            try:
                subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True)
            except OSError as error:
                log.write(f"{error}\n")
                raise

    # Each worker of pytest has its share of the cores.
    parts = max(1, model.JOBS // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    objects = model.compile_model(folder, [], optimize, run, parts=parts, own=own)
    libraries = [f"-L{config.libs_dir}", f"-Wl,-rpath,{config.libs_dir}", "-lcocotbvpi_verilator"]
    new = target.with_suffix(".new")
    run(["g++", "-o", str(new), *objects, *libraries, "-pthread"])
    new.replace(target)
    paths.write(stamp, digest)


def _tail(log: pathlib.Path, lines: int = 60) -> str:
    """Returns the last lines of a simulation's log file."""
    text = log.read_text(errors="replace") if log.exists() else "(no log)"
    return "\n".join(text.splitlines()[-lines:])
