# SPDX-License-Identifier: Apache-2.0
"""Builds the simulator library of a named build: Verilator's model with the C++ machine.

``python -m maeslant.build.simulator NAME`` prints the library's path. A build whose sources,
parameters and tools have not changed costs a few milliseconds; two processes may ask for one at
once.
"""

import argparse
import concurrent.futures
import fcntl
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence

from maeslant import extras, paths
from maeslant.build import bus_checkers, configurations, made, toolchain
from maeslant.build import model as compiler
from maeslant.errors import MaeslantError, naming

SIM = paths.ROOT / "sim"
# No random values: what must be reset is tested elsewhere. Measured on stream4 at work: assertions
# cost 3 % and stay on; -march=native gains nothing.
VERILATOR = "--cc --prefix Vtop -O3 --x-assign fast --x-initial fast --assert -Wno-fatal".split()
VERILATOR += "--timescale 1ns/1ps --output-split 20000".split()
# Without the last, a library stays loaded for ever and shares state with others.
CXX = "-std=gnu++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -fno-gnu-unique".split()
# stream4 builds in 46 s of a CPU; with -O3 in more, and simulates CTR 8 % and CBC 20 % faster: most
# who build a simulator run it for less time than that. The kernel of CKKS gains more: with
# MAESLANT_OPTIMIZE="-O3 -march=native" it runs 2.5 times as fast.
OPTIMIZE = os.environ.get("MAESLANT_OPTIMIZE", "-O1")
ONCE = "once, up to several minutes"  # small ones take half a minute, cards on a busy machine five
MACRO = "-DMAE_"  # of the machine's C++
FST_NEEDS = (("lz4", "lz4.h"), ("z", "zlib.h"))  # library and header
# Tops that are no devices, each with a harness of its own: the folder of sim/ that holds it.
ENGINES = {
    "mae_gcm_stream": "gcm",
    "mae_soc": "soc",
    "mae_arbiter_bench": "arbiter",
    "mae_arbiter_toy": "states",
}
# What is bound to a top to tell of its inside.
BUS_MONITORS = {
    top: [
        SIM / "bus_monitor" / f"mae_{name}.sv"
        for name in ("bus_monitor_pkg", "bus_monitor_time", own)
    ]
    for top, own in (
        ("mae_protected_card", "card_bus_monitor"),
        ("mae_unprotected_card", "unprotected_bus_monitor"),
    )
}
# Python packages that hold modules of a top.
FOREIGN = {"mae_soc": ("pythondata_cpu_picorv32",)}


def folder(name: str, trace: bool = False) -> pathlib.Path:
    """Returns the build folder of a named build's simulator."""
    return paths.BUILD / "sim" / (f"{name}-trace" if trace else name)


def library(name: str, trace: bool = False) -> pathlib.Path:
    """Returns the path of a named build's simulator library."""
    return folder(name, trace) / f"libmae_sim_{name}.so"


def buildable() -> list[str]:
    """Returns the names of the builds that have a simulator: devices, cards and engines."""
    every = configurations.load().items()
    return [
        name
        for name, found in every
        if found.get("device") or found.get("card") or found["top"] in ENGINES
    ]


def build(name: str, trace: bool = False) -> pathlib.Path:
    """Builds a named build's simulator library unless up to date; returns the library's path.

    With ``trace`` it can write waveforms, in a folder of its own, and runs slower.
    """
    found = configurations.get(name, buildable())
    if name not in buildable():
        raise MaeslantError(
            f"{name} is no device, so it has no machine to build; these have: "
            f"{', '.join(buildable())}"
        )
    top = str(found["top"])
    parameters = found["parameters"]
    # A card on a narrow bus reads whole rows of its lanes all the same.
    row = 16 * int(parameters["Lanes"]) if "BusWidth" in parameters else 0
    monitors = BUS_MONITORS.get(top, ())
    macros = {"ROW_BYTES": row} if row else {}
    return build_top(name, top, parameters, sources=monitors, trace=trace, macros=macros)


def build_top(
    name: str,
    top: str,
    parameters: Mapping[str, object],
    *,
    sources: Iterable[pathlib.Path] = (),
    trace: bool = False,
    checked: bool = True,
    macros: Mapping[str, int] | None = None,
    netlist: Sequence[pathlib.Path] = (),
    optimize: str = OPTIMIZE,
) -> pathlib.Path:
    """Builds a simulator library of a given top module if out of date; returns the library's path.

    The top is of rtl/, of ``sources`` or of ``netlist``: of gates, made for these parameters.

    ``checked``: binds the bus checkers of formal/bus to its ports.
    ``macros``: of the machine, less MAE_; ROW_BYTES: aligned bytes that the device reads whole, if
    more than a beat of its bus.
    ``optimize``: the compiler's option.
    """
    extras.need_modules(FOREIGN.get(top, ()))
    where = folder(name, trace)
    paths.check(paths.ROOT)
    paths.check(where)
    where.mkdir(parents=True, exist_ok=True)
    target = library(name, trace)
    own = [*netlist] or [*filter(None, [paths.rtl_file(top)])]
    sources = list(sources)
    typed = [path for path in (*own, *sources) if path.suffix == ".sv"]
    packages = paths.rtl_packages_of(typed)
    files = [*packages, *sources, *own]
    harness = [*_harness_files(top), *(path for path in files if path.suffix == ".cpp")]
    files = [path for path in files if path not in harness]
    arguments = [*VERILATOR, *(["--trace-fst"] if trace else []), "--top-module", top]
    if not netlist:
        arguments += [f"-G{key}={value}" for key, value in parameters.items()]
    arguments += [f"{MACRO}{key}={value}" for key, value in (macros or {}).items()]
    if checked and not netlist:
        files += bus_checkers.sources(files, where / "bus_checks.sv")
    # Not those that this top has no use for: installing them would build it again.
    arguments += paths.verilator_sources(foreign=top in FOREIGN)
    arguments += [f"-I{bus_checkers.CHECKERS}", *map(str, files)]
    arguments += [str(path) for path in harness if path.suffix == ".vlt"]
    with open(where / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = where / "stamp.json"
        if target.exists() and stamp.exists():
            known = json.loads(stamp.read_text())
            if known["key"] == _key([*arguments, optimize], known["files"]):
                return target
        stamp.unlink(missing_ok=True)
        print(
            f"building the simulator of {name} ({ONCE}); log: {where}/build.log",
            file=sys.stderr,
            flush=True,
        )
        before = _contents([*paths.rtl_files(), *files, *harness, SIM / "exports.map"])
        with naming(where), open(where / "build.log", "w") as log:
            _make(where, target, arguments, trace, log, harness, optimize)
        read = _dependencies(where / "model" / "Vtop__ver.d", harness)
        # A source that was edited meanwhile may be in the library or not: build again next time.
        if all(before.get(name, now) == now for name, now in _contents(read).items()):
            known = {"key": _key([*arguments, optimize], read), "files": read}
            paths.write(stamp, json.dumps(known))
    return target


def _harness_files(top: str) -> list[pathlib.Path]:
    """Returns the C++ files of sim/ that drive a top module's model, the main file first."""
    if top not in ENGINES:
        own = [SIM / "top.cpp"]
        rest = [*SIM.glob("*.cpp"), *SIM.glob("host/*.cpp"), *SIM.glob("memory/*.cpp")]
        rest = [path for path in sorted(rest) if path not in own]
        return [
            *own,
            *rest,
            *SIM.glob("*.h"),
            *SIM.glob("host/*.h"),
            *SIM.glob("memory/*.h"),
            *SIM.glob("include/*.h"),
            *SIM.glob("wave_headers/**/*.h"),
        ]
    folder = SIM / ENGINES[top]
    shared = [SIM / name for name in ("runtime.cpp", "runtime.h", "random.h")]
    if ENGINES[top] in ("arbiter", "states"):
        shared += [
            SIM / "modes" / "block_modes.h",
            paths.ROOT / "driver" / "include" / "maeslant.h",
        ]
    own = folder / f"{folder.name}.cpp"
    parts = [path for path in sorted(folder.glob("*.cpp")) if path != own]
    return [own, *parts, *shared, *folder.glob("*.h"), *folder.glob("*.vlt")]


def _make(
    where: pathlib.Path,
    target: pathlib.Path,
    arguments: list[str],
    trace: bool,
    log,
    harness: list[pathlib.Path],
    optimize: str,
) -> None:
    """Builds a simulator library by Verilator and C++ compiler; writes their output to a log."""
    model = where / "model"
    # Verilator takes a source for the old one if it was changed in the same second.
    _run([toolchain.verilator(), "--no-skip-identical", *arguments, "--Mdir", str(model)], log)
    classes = (model / "Vtop.h").read_text()
    width = re.search(r"m_axi_arid,(\d+),0", classes)
    macros = [f"-DMAE_ID_BITS={int(width[1]) + 1}"] if width else []
    macros += [argument for argument in arguments if argument.startswith(MACRO)]
    _list_registers(model)
    _list_signals(model)
    own = _harness(model, macros, trace, log, harness)
    objects = own + compiler.compile_model(model, CXX, optimize, lambda command: _run(command, log))
    new = target.with_suffix(".new")
    link = ["g++", "-shared", "-pthread", "-o", str(new), *objects]
    link += [f"-Wl,--version-script={SIM / 'exports.map'}", "-Wl,--no-undefined", "-ldl"]
    if trace:
        link += [f"-l{name}" for name, header in FST_NEEDS if _has_header(header)]
    _run(link, log)
    os.replace(new, target)  # who has the old one loaded keeps it


def _list_registers(model: pathlib.Path) -> None:
    """Writes the names of a Verilator model's registers to a C header, to save model states."""
    text = (model / "Vtop___024root.h").read_text()
    kinds = r"^\s*(?:[CSIQ]Data|Vl\w+<).* "
    names = re.findall(kinds + r"((?!__V|\w*OutHolds)\w+_q);", text, re.MULTILINE)
    (model / "Vtop__registers.h").write_text("".join(f"REGISTER({name})\n" for name in names))


def _list_signals(model: pathlib.Path) -> None:
    """Writes the names of a Verilator model's signals to a C header, to look up their values."""
    parts = re.findall(r"^\s+(Vtop_\w+)\s+(TOP\w*);", (model / "Vtop__Syms.h").read_text(), re.M)
    lines = []
    for kind, part in parts:
        text = (model / f"{kind}.h").read_text()
        # Types stand before the class; their members are none of its own.
        text = re.search(rf"^class [^\n]*\b{kind}\b final\b.*?^}};", text, re.M | re.S)[0]
        kinds = r"^\s*(?:[CSIQ]Data/\*|VlWide<|VlUnpacked<).* "
        names = re.findall(kinds + r"(\w+);$", text, re.MULTILINE)
        names = [name for name in names if not re.search("(^|__)__V", name)]
        lines += [f"SIGNAL({part}, {name})\n" for name in names]
    (model / "Vtop__signals.h").write_text("".join(lines))


def _harness(
    model: pathlib.Path,
    macros: list[str],
    trace: bool,
    log,
    files: list[pathlib.Path],
) -> list[str]:
    """Compiles the simulator's C++ files and Verilator's runtime; returns object file paths."""
    include = compiler.include()
    flags = [
        "-O2",
        *CXX,
        "-pthread",
        "-isystem",
        str(include),
        "-isystem",
        str(include / "vltstd"),
    ]
    flags += [f"-I{SIM}", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0"]
    flags += [
        f"-DVM_TRACE={int(trace)}",
        f"-DVM_TRACE_FST={int(trace)}",
        "-DVM_TRACE_VCD=0",
    ]
    flags += ["-DVERILATOR=1"]
    if trace:  # where the system lacks a header, ours stands in: valid files, only larger
        missing = [header for _, header in FST_NEEDS if not _has_header(header)]
        flags += [f"-I{SIM / 'wave_headers' / header.removesuffix('.h')}" for header in missing]
    top, *shared = [path for path in files if path.suffix == ".cpp"]
    parts = [path for path in shared if path.parent == top.parent != SIM]
    shared = [path for path in shared if path not in parts]
    shared += [include / "verilated_threads.cpp"]
    shared += [include / "verilated_fst_c.cpp"] if trace else []
    key = made.digest([*flags, str(include.stat().st_mtime_ns)], sorted(files))
    cache = paths.BUILD / "sim" / ".harness" / key[:16]
    cache.mkdir(parents=True, exist_ok=True)
    jobs = [(path, cache / f"{path.stem}.o", flags) for path in shared]
    local = [*flags, *macros, "-isystem", str(model)]
    jobs.append((top, model.parent / "top.o", local))
    jobs += [(path, model.parent / f"{path.stem}.o", local) for path in parts]

    def compile_one(job: tuple[pathlib.Path, pathlib.Path, list[str]]) -> str:
        source, target, options = job
        if target.parent != cache or not target.exists():
            new = target.with_suffix(f".{os.getpid()}.o")
            _run(["g++", *options, "-c", str(source), "-o", str(new)], log)
            os.replace(new, target)
        return str(target)

    with concurrent.futures.ThreadPoolExecutor(compiler.JOBS) as pool:
        return list(pool.map(compile_one, jobs))


def _run(command: list[str], log) -> None:
    """Runs a tool of a simulator's build; raises MaeslantError with the output on failure."""
    environment = os.environ | {"PATH": toolchain.search_path()}
    if not shutil.which(command[0], path=environment["PATH"]):
        raise MaeslantError(f"there is no {command[0]}: `maeslant doctor` says how to get it")
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        check=False,
    )
    log.write(f"$ {' '.join(command)}\n{result.stdout}")
    log.flush()
    if result.returncode:
        tail = "\n".join(result.stdout.splitlines()[-30:])
        raise MaeslantError(
            f"building the simulator failed: {pathlib.Path(command[0]).name} ended with "
            f"{result.returncode}\n{tail}\nthe whole log: {log.name}"
        )


@functools.cache
def _has_header(name: str) -> bool:
    """Returns true if the C++ compiler finds a system header of a given name."""
    command = ["g++", "-E", "-x", "c++", "-", "-o", os.devnull]
    text = f"#include <{name}>\n"
    return not subprocess.run(command, input=text, text=True, capture_output=True).returncode


def _dependencies(path: pathlib.Path, harness: list[pathlib.Path]) -> list[str]:
    """Returns the paths of the source files on which a simulator library depends."""
    text = path.read_text().replace("\\\n", " ").split(":", 1)[1]
    model = str(path.parent)
    read = {word for word in text.split() if not word.startswith(model)}
    own = (*harness, SIM / "exports.map")
    return sorted(read | {str(path) for path in own})


def _key(options: Iterable[str], files: Iterable[str]) -> str:
    """Returns a digest of options and files; of a program, which is large, the size counts."""
    files = list(files)
    programs = [name for name in files if not pathlib.Path(name).suffix]
    sizes = [str(os.stat(name).st_size) for name in programs if os.path.exists(name)]
    rest = [name for name in files if name not in programs]
    return made.digest([*options, *CXX, *programs, *sizes], rest)


def _contents(files: Iterable[pathlib.Path | str]) -> dict[str, str]:
    """Returns a digest of each file's contents by its path."""
    return {str(name): made.digest([], [name]) for name in files}


def main() -> int:
    """Builds the simulators of the builds named on the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m maeslant.build.simulator", description=__doc__)
    parser.add_argument("name", nargs="+", help="a device of configs/builds.yml")
    parser.add_argument("--trace", action="store_true", help="with waveforms")
    arguments = parser.parse_args()
    try:
        for name in arguments.name:
            print(build(name, arguments.trace))
    except MaeslantError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
