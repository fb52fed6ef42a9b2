# SPDX-License-Identifier: Apache-2.0
"""Builds an RTL module with Verilator and runs cocotb tests on the simulation."""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
from xml.etree import ElementTree

from cocotb_tools import config
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import Verilator

from maeslant import paths
from maeslant.build import bus_checkers, toolchain
from maeslant.errors import MaeslantError

# The makefiles name these folders of cocotb, and accept no space in them.
config.share_dir, config.libs_dir = map(paths.plain, (config.share_dir, config.libs_dir))


class SimulationError(MaeslantError):
    """Raised if an RTL simulation does not build, or if one of its cocotb tests fails.

    ``coroutines`` holds the result of each coroutine that ran.
    """

    coroutines: dict[str, str] = {}


# Warnings stay on and are judged by `make check`; a waiver stands in the RTL beside its reason.
ARGS = ["--assert", "-Wall", "-Wno-fatal", "-Werror-USERFATAL", "-Werror-USERERROR"]
ARGS += ["--x-assign", "unique", "--x-initial", "unique"]


# Of the compiler. `make test`, whose runs are short, takes -O0: mae_dma_aes_client then builds in
# 12 s of a CPU instead of 27.
OPTIMIZE = os.environ.get("MAESLANT_BENCH_OPTIMIZE", "-O1")

# Verilator's own runtime is most of the compile time of a small module: take it from a build that
# has it, newer than the makefile that it depends on.
SHARE = 'for o in {}/*.o; do [ "${{o##*/}}" -nt Vtop.mk ] || [ ! -e "$o" ] || cp "$o" .; done'
# So are its headers: one precompiled header serves all modules that are compiled as one file.
HEADERS = "".join(f'#include "{name}.h"\n' for name in ("verilated", "verilated_vpi"))
PRECOMPILE = "--eval=$(HEADER).gch: $(HEADER); $(CXX) $(CXXFLAGS) $(CPPFLAGS) $(LEVEL)"
PRECOMPILE += " -MF /dev/null -x c++-header -o $@.$$$$ $< && mv $@.$$$$ $@"
# Bytes of C++ up to which a model is small: it is one file, optimised for the shortest run, too.
# mae_key_expand's takes 1.3 s of a CPU then, and 3 s in several files with a header of their own.
# In a large one, what runs once is split off: optimising that takes GCC minutes.
SMALL = 600_000
# The compiler's memory is not collected before it holds 1 GB, which mae_stream_card's model fills.
NO_COLLECTION = "--param ggc-min-expand=1000 --param ggc-min-heapsize=1000000"


def levels(optimize: str) -> tuple[str, str]:
    """Returns the C++ compiler's optimization options for small and for large models."""
    return ("-O1" if optimize == "-O0" else optimize), optimize


class _Runner(Verilator):
    """Runs Verilator for cocotb, to which by default only the top module's signals are visible."""

    visible = False
    optimize: str
    runtime: pathlib.Path

    def _build_command(self) -> list[list[str]]:
        verilate, make = super()._build_command()
        if not self.visible:
            at = verilate.index("--public-flat-rw")
            verilate[at : at + 1] = ["--public-depth", "1"]
        small, large = levels(self.optimize)
        # Optimised is Verilator's runtime, which works at each access of a test to a signal. What
        # runs once is not worth the compiler's time: the names of all signals above all.
        make += [f"OPT_GLOBAL={small}", "OPT_SLOW=-O0"]
        make += [f"LARGE:=$(shell [ $$(cat *.cpp | wc -c) -le {SMALL} ] || echo yes)"]
        make += [f"LEVEL=$(if $(LARGE),{large},{small})"]
        # Without optimisation one file is cheaper to compile, however large.
        many = f"$(if $(LARGE),{int(self.optimize != '-O0')},0)"
        make += [f"VM_PARALLEL_BUILDS={many}"]
        one = f"$(LEVEL) {NO_COLLECTION}"
        if not _has_ccache():
            make += [f"HEADER={self.runtime}/headers$(LEVEL).h", PRECOMPILE]
            users = f"$(if $(filter 0,{many}),Vtop__ALL.o verilator.o,unused)"
            make += [f"--eval={users}: $(HEADER).gch", "default"]
            one += " -include $(HEADER)"
        make += [f"OPT_FAST=$(if $(filter 0,{many}),{one},$(LEVEL))"]
        # Precompiled headers, 300 MB, are deleted after a build: nothing is made anew for that.
        make += ["--eval=.SECONDARY: Vtop__pch.h.fast.gch Vtop__pch.h.slow.gch"]
        return [verilate, ["sh", "-c", SHARE.format(self.runtime)], make]


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
    """Builds RTL module ``top`` and runs a Python module's cocotb tests on it; returns their names.

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
    own = [] if any(path.stem == top for path in extra) else [*paths.RTL.glob(f"*/**/{top}.sv")]
    ports, random_states = values, []
    if netlist is not None:  # its parameters are in it
        own, ports, random_states = netlist, {}, ["+verilator+rand+reset+2"]
    paths.check(paths.ROOT)
    folder = _folder(top, values, extra, waves, visible, optimize, *(netlist or []))
    # The simulator and cocotb find Verilator by this name.
    os.environ["PATH"] = toolchain.search_path()
    files = [*extra, *own]
    files = [*paths.rtl_packages_of(files), *files]
    if netlist is None:
        files += bus_checkers.sources(files, folder / "bus_checks.sv")
    include = f"-I{bus_checkers.CHECKERS}"
    runner = _Runner()
    runner.visible, runner.optimize = visible, optimize
    made = int(os.stat(shutil.which("verilator")).st_mtime)
    small, large = levels(optimize)
    runner.runtime = paths.BUILD / "bench" / f".runtime-{made}-{int(waves)}{small}"
    runner.runtime.mkdir(exist_ok=True)
    for level in (small, large):
        if not (header := runner.runtime / f"headers{level}.h").exists():
            paths.write(header, HEADERS)
    with open(folder / ".lock", "w") as lock:  # of parallel tests one builds, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            runner.build(
                sources=files,
                hdl_toplevel=top,
                parameters=ports,
                build_dir=folder,
                build_args=[*ARGS, *paths.verilator_sources(), include, "-j", "2"],
                timescale=("1ns", "1ps"),
                waves=waves,
                always=True,  # Verilator itself skips what has not changed
                log_file=folder / "build.log",
            )
        except RuntimeError:
            raise SimulationError(f"{top} does not build\n{_tail(folder / 'build.log')}") from None
        for header in folder.glob("*.gch"):
            header.unlink()
        _keep_runtime(folder, runner.runtime)
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
    """Returns how each cocotb test in a results file ended: "passed", "skipped" or its error."""
    found = {}
    for case in ElementTree.parse(results).iter("testcase"):
        failure = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped") is not None
        found[case.get("name")] = "skipped" if skipped else "passed"
        if failure is not None:
            found[case.get("name")] = " ".join(failure.attrib.values())
    return found


def parameters() -> dict[str, object]:
    """Returns the RTL parameters of the simulated module; for use inside a cocotb test."""
    return json.loads(os.environ.get("MAESLANT_PARAMETERS", "{}"))


def _has_ccache() -> bool:
    """Returns true if g++ is a link to ccache, which does not cache uses of precompiled headers."""
    found = shutil.which("g++")
    return found is not None and pathlib.Path(found).resolve().name == "ccache"


def _folder(top: str, *configuration: object) -> pathlib.Path:
    """Creates the build folder for an RTL module with given parameters; returns its path."""
    key = hashlib.sha256(repr(configuration).encode()).hexdigest()[:10]
    folder = paths.BUILD / "bench" / f"{top}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _keep_runtime(folder: pathlib.Path, runtime: pathlib.Path) -> None:
    """Copies the object files of Verilator's runtime to a cache for later builds."""
    for path in folder.glob("verilated*.o"):
        kept = runtime / path.name
        if not kept.exists():
            part = kept.with_suffix(f".{os.getpid()}")
            shutil.copy2(path, part)
            part.replace(kept)


def _tail(log: pathlib.Path, lines: int = 60) -> str:
    """Returns the last lines of a simulation's log file."""
    text = log.read_text(errors="replace") if log.exists() else "(no log)"
    return "\n".join(text.splitlines()[-lines:])
