# SPDX-License-Identifier: Apache-2.0
"""Compiles the C++ of a Verilator model with headers and a runtime that all models share.

A model is compiled as few files: the compiler reads the headers once a file, which costs it more
than the code of a small module. What runs once (names of signals, initial values) stays
unoptimised. Verilator's headers are precompiled once for all models of the same options, and its
runtime is compiled once.
"""

import concurrent.futures
import fcntl
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence

from maeslant import paths
from maeslant.build import made, toolchain

HEADERS = "".join(f'#include "{name}.h"\n' for name in ("verilated", "verilated_vpi"))
SETTINGS = "COVERAGE TIMING TRACE TRACE_FST TRACE_SAIF TRACE_VCD".split()
# Bytes of C++ up to which a model is small: one file, all of it optimised.
SMALL = 600_000
LARGE = 40_000_000  # bytes of a file for which a compiler takes two gigabytes
RUNTIME = "-O1"  # Verilator's own part, which works at each access of a test to a signal
# The compiler's memory is not collected before it holds 1 GB, which mae_stream_card's model fills,
# and then 11 GB, where a file for half as much is left to the compiler's own rule.
NO_COLLECTION = "--param ggc-min-expand=1000 --param ggc-min-heapsize=1000000".split()
JOBS = len(os.sched_getaffinity(0))

Run = Callable[[list[str]], None]
Unit = tuple[str, list[pathlib.Path], str]  # name, C++ files, level of optimisation


def compile_model(
    folder: pathlib.Path,
    options: Sequence[str],
    optimize: str,
    run: Run,
    *,
    parts: int = JOBS,
    own: Sequence[pathlib.Path] = (),
) -> list[str]:
    """Compiles the model Vtop that Verilator wrote to a folder; returns the object files' paths.

    ``optimize``: the compiler's options for what runs often; ``run`` runs a compiler; ``parts``:
    the number of compilers that a large model is split for. With files of one's ``own``, of which
    one is the main one, compiles them, too, and adds Verilator's runtime.
    """
    listed = _lists(folder)
    flags = [f"-I{folder}", f"-I{include()}", f"-I{include() / 'vltstd'}", "-std=gnu++20"]
    flags += ["-DVERILATOR=1", "-DVM_SC=0", *options]
    flags += [f"-DVM_{name}={listed.get(f'VM_{name}', ['0'])[0]}" for name in SETTINGS]
    shared_flags = flags[1:]

    def compile_one(unit: Unit) -> str:
        name, files, level = unit
        source, target = folder / f"{name}.cpp", folder / f"{name}.o"
        paths.write(source, "".join(f'#include "{file}"\n' for file in files))
        header = [] if _has_ccache() else ["-include", str(_header(shared_flags, level, run))]
        size = sum(path.stat().st_size for path in files)
        memory = NO_COLLECTION if size < LARGE // 2 else []
        command = ["g++", *level.split(), *flags, *memory, *header, "-c", str(source)]
        run([*command, "-o", str(target)])
        return str(target)

    units = _units(folder, listed, optimize, parts)
    units[0][1].extend(own)
    with concurrent.futures.ThreadPoolExecutor(parts) as pool:
        objects = list(pool.map(compile_one, units))
    if own:  # the first of parallel builds makes the runtime, and the others wait
        needed = [*listed["VM_GLOBAL_FAST"], *listed["VM_GLOBAL_SLOW"]]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            objects += pool.map(lambda name: _runtime(name, shared_flags, run), needed)
    return objects


def digest(folder: pathlib.Path, *own: pathlib.Path) -> str:
    """Returns a SHA-256 of what a model is compiled from: Verilator's C++ and files of one's own.

    The compiler and this file count, too.
    """
    compiler = shutil.which("g++")
    words = [compiler, str(os.stat(compiler).st_size)] if compiler else []
    written = (path for path in folder.glob("Vtop*") if path.suffix in (".cpp", ".h", ".mk"))
    return made.digest(words, [*sorted(written), *own, pathlib.Path(__file__)])


def _lists(folder: pathlib.Path) -> dict[str, list[str]]:
    """Reads the settings and lists of files in the makefile that Verilator wrote for a model."""
    text = (folder / "Vtop_classes.mk").read_text().replace("\\\n", " ")
    return {name: words.split() for name, words in re.findall(r"^(\w+) \+?=(.*)$", text, re.M)}


def _units(
    folder: pathlib.Path, listed: dict[str, list[str]], optimize: str, parts: int
) -> list[Unit]:
    """Returns the files to compile a model as, the most important ones first."""

    def files(kind: str) -> list[pathlib.Path]:
        names = [*listed[f"VM_CLASSES_{kind}"], *listed[f"VM_SUPPORT_{kind}"]]
        found = [folder / f"{name}.cpp" for name in names]
        # Verilator makes groups, each of them a file that includes others.
        inner = [re.findall(r'^#include "(Vtop\w*\.cpp)"', p.read_text(), re.M) for p in found]
        groups = [[folder / n for n in names] or [p] for p, names in zip(found, inner, strict=True)]
        return [path for group in groups for path in group]

    fast, slow = files("FAST"), files("SLOW")
    total = sum(path.stat().st_size for path in [*fast, *slow])
    alike = optimize == "-O0" or total <= SMALL
    if alike:
        fast, slow, parts = [*fast, *slow], [], 1
    groups: list[list[pathlib.Path]] = [
        [] for _ in range(min(max(parts, total // LARGE + 1), len(fast)))
    ]
    for path in sorted(fast, key=lambda path: -path.stat().st_size):
        min(groups, key=lambda group: sum(p.stat().st_size for p in group)).append(path)
    units = [(f"unit{number}", group, optimize) for number, group in enumerate(groups)]
    return units if alike else [*units, ("unit_slow", slow, "-O0")]


@functools.cache
def include() -> pathlib.Path:
    """Returns the folder of Verilator's own C++ headers and sources."""
    command = [toolchain.verilator(), "--getenv", "VERILATOR_ROOT"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return pathlib.Path(out.strip()).resolve() / "include"


def _shared(flags: Sequence[str], level: str) -> pathlib.Path:
    """Creates the folder for what all models of given options share; returns the path."""
    tools = [include(), shutil.which("g++") or include()]
    key = f"{HEADERS} {flags} {level} {[os.stat(tool).st_mtime_ns for tool in tools]}"
    folder = paths.BUILD / "verilated" / hashlib.sha256(key.encode()).hexdigest()[:10]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _once(target: pathlib.Path, command: list[str], run: Run) -> pathlib.Path:
    """Makes a shared file by a compiler's command, without -o, unless it exists."""
    with open(target.with_suffix(".lock"), "w") as lock:  # of parallel builds one compiles it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            # A compiler may go on writing when its Python process was killed.
            new = target.with_suffix(f".{os.getpid()}.new")
            run([*command, "-o", str(new)])
            new.replace(target)
    return target


def _header(flags: Sequence[str], level: str, run: Run) -> pathlib.Path:
    """Precompiles Verilator's headers unless that was done; returns the path to include."""
    header = _shared(flags, level) / "headers.h"
    if not header.exists():
        paths.write(header, HEADERS)
    command = ["g++", *level.split(), *flags, "-x", "c++-header", str(header)]
    _once(header.with_name("headers.h.gch"), command, run)
    return header


def _runtime(name: str, flags: Sequence[str], run: Run) -> str:
    """Compiles a file of Verilator's runtime unless that was done; returns the object's path."""
    target = _shared(flags, RUNTIME) / f"{name}.o"
    command = ["g++", RUNTIME, *flags, "-c", str(include() / f"{name}.cpp")]
    return str(_once(target, command, run))


@functools.cache
def _has_ccache() -> bool:
    """Returns true if g++ is a link to ccache, which cannot cache uses of precompiled headers."""
    found = shutil.which("g++")
    return found is not None and pathlib.Path(found).resolve().name == "ccache"
