# SPDX-License-Identifier: Apache-2.0
"""Checks format and lint of the SystemVerilog, Python, C and C++ sources. `--fix` formats in place.

Verible's format and lint; Verilator's -Wall on every module of rtl/ as a top with its default
parameters and on the named builds; slang on all of it together, and Yosys through slang;
clang-format on boards/, driver/ and sim/; ruff. Generated files keep the form their generator
gives them.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

from maeslant import paths
from maeslant.build import configurations

JOBS = 2
VERILOG = ("boards/**/*.sv", "formal/**/*.sv", "rtl/**/*.sv", "tests/**/*.sv")
SKIPPED = {"generated", "build", ".venv", "__pycache__"}


def files(root: pathlib.Path, *patterns: str) -> list[pathlib.Path]:
    """Returns the hand-written source files whose paths match patterns."""
    found = {path for pattern in patterns for path in root.glob(pattern)}
    return sorted(p for p in found if not SKIPPED & set(p.relative_to(root).parts))


def rtl_modules(root: pathlib.Path) -> list[pathlib.Path]:
    """Returns the hand-written RTL modules, without the views that name cells of a library."""
    found = [p for p in files(root, "rtl/**/*.sv") if not p.stem.endswith("_pkg")]
    return [p for p in found if not p.is_relative_to(root / "rtl" / "technology")]


def _run(command: list[object], root: pathlib.Path = paths.ROOT) -> str:
    """Runs a lint program; returns the program's output on failure, else ""."""
    done = subprocess.run(
        [str(word) for word in command], cwd=root, capture_output=True, text=True, check=False
    )
    text = (done.stdout + done.stderr).strip()
    return "" if done.returncode == 0 else text or f"{command[0]} failed: {done.returncode}"


def _all(commands: list[list[object]], root: pathlib.Path) -> list[str]:
    """Runs lint programs in parallel; returns the outputs of those programs that fail."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return [text for text in pool.map(lambda c: _run(c, root), commands) if text]


def _format(tool: list[object], sources: list[pathlib.Path], fix: bool) -> list[str]:
    """Formats source files if ``fix``, else returns the files that a formatter would change."""
    found = []
    for path in sources:
        text = path.read_text()
        done = subprocess.run(
            [*tool, path], cwd=path.parent, capture_output=True, text=True, check=False
        )
        if done.returncode:
            found.append(f"{path}: {done.stderr.strip()}")
        elif done.stdout != text and fix:
            path.write_text(done.stdout)
        elif done.stdout != text:
            found.append(f"{path}: not in format: make format")
    return found


def verible_format(root: pathlib.Path, fix: bool) -> list[str]:
    """Checks, or with ``fix`` corrects, the format of SystemVerilog files by Verible."""
    sources = files(root, *VERILOG)
    return _format([paths.tool("verible-verilog-format"), "--column_limit=100"], sources, fix)


def verible_lint(root: pathlib.Path) -> list[str]:
    """Checks the style of all SystemVerilog files by Verible; returns the errors."""
    sources = files(root, *VERILOG)
    rules = f"--rules_config={paths.ROOT / '.rules.verible_lint'}"
    tool = [paths.tool("verible-verilog-lint"), rules]
    return _all([[*tool, *sources]] if sources else [], root)


# Values at the ends of ranges, where warnings differ from those of defaults and builds.
EDGES: dict[str, dict[str, tuple[int, ...]]] = {
    "mae_fifo": {"Depth": (1, 3, 15, 16), "Width": (1,)},
    "mae_fifo_async": {"LogDepth": (1, 4), "Width": (1,)},
    "mae_fifo_scrubbed": {"Depth": (2, 3, 15, 16), "Width": (1,)},
    "mae_gcm_fifo": {"Depth": (1, 3, 15), "Width": (1,), "Small": (1,), "Cut": (1,)},
    "mae_delay_line": {"Clocks": (1, 3, 15, 16), "Width": (1,)},
    "mae_external_memory_writes": {"Rows": (8, 15, 63), "Writes": (2,), "Beats": (2,)},
    "mae_rr_arb": {"N": (1, 2, 3, 64)},
    "mae_unprotected_dma_queue": {"Depth": (2, 3, 128)},
    "mae_stream_reg": {"Width": (1,)},
    "mae_axil_to_reg": {"AddrWidth": (2, 32)},
    "mae_block_registers": {"Depth": (1, 3, 15)},
}


def verilator_tops(root: pathlib.Path) -> list[tuple[pathlib.Path, dict[str, object]]]:
    """Returns the RTL modules that Verilator lints, each with parameter values.

    Leaves out modules with a type parameter, which are linted within their parents.
    """
    modules = rtl_modules(root)
    modules = [p for p in modules if not re.search(r"\bparameter type\b", p.read_text())]
    by_name = {path.stem: path for path in modules}
    named = [
        (b["top"], b["parameters"]) for b in configurations.load().values() if b["top"] in by_name
    ]
    edges = [
        (by_name[top], {name: value})
        for top, ranges in EDGES.items()
        for name, values in ranges.items()
        for value in values
        if top in by_name
    ]
    return [(path, {}) for path in modules] + [(by_name[t], given) for t, given in named] + edges


def _overrides(path: pathlib.Path, parameters: dict[str, object]) -> list[str]:
    """Returns the Verilator options that set an RTL module's parameters."""
    packages = "".join(package.read_text() for package in paths.rtl_packages())
    bits = re.findall(r"typedef enum logic \[(\d+):0\] {[^}]*} (\w+_e);", packages)
    sizes = {kind: f"{int(high) + 1}'d" for high, kind in bits}
    enums = re.findall(r"parameter +(\w+_e) +(\w+)", path.read_text())
    sized = dict.fromkeys(parameters, "") | {name: sizes[kind] for kind, name in enums}
    return [f"-G{name}={sized[name]}{int(value)}" for name, value in parameters.items()]


def verilator_lint(root: pathlib.Path) -> list[str]:
    """Lints every RTL module by Verilator; returns all warnings and errors."""
    commands = []
    for path, parameters in verilator_tops(root):
        commands.append(
            [paths.tool("verilator"), "--lint-only", "--assert", "-Wall", "--quiet"]
            + [paths.RTL / "verilator.vlt", *paths.verilator_sources()]
            + _overrides(path, parameters)
            + ["--top-module", path.stem, *paths.rtl_packages_of([path]), path]
        )
    # The same line of a shared module comes with many a top: say it once.
    found = _all(commands, root)
    return list(dict.fromkeys(found))


def _foreign() -> list[object]:
    """Returns slang options that find third-party modules, without warnings about them."""
    found = [word for folder in paths.foreign_folders() for word in ("-y", folder)]
    return [*found, "--libext", ".v", "--suppress-warnings", "**/picorv32.v"] if found else []


def slang(root: pathlib.Path) -> list[str]:
    """Compiles all RTL modules by slang, for simulation and for synthesis; returns the errors."""
    import pyslang

    packages = paths.rtl_packages()
    views = root / "rtl" / "technology"
    sources = [p for p in sorted(root.glob("rtl/**/*.sv")) if not p.is_relative_to(views)]
    sources = packages + [p for p in sources if p not in packages]
    for defines in ("", "-DSYNTHESIS=1"):
        driver = pyslang.driver.Driver()
        driver.addStandardArgs()
        words = ["slang", "--single-unit", "--error-limit=0", defines, "-I", root / "rtl" / "prim"]
        words += ["--timescale", "1ns/1ps", *_foreign()]  # theirs has one
        driver.parseCommandLine(" ".join(str(word) for word in [*words, *sources]))
        accepted = driver.processOptions() and driver.parseAllSources()
        if not (accepted and driver.runFullCompilation(quiet=True)):
            return ["slang refuses what it names above"]
    return []


def yosys(root: pathlib.Path) -> list[str]:
    """Reads each RTL module by Yosys as a check; returns the errors."""
    modules = {p.stem: p for p in rtl_modules(root)}
    used = {
        other for path in modules.values() for other in paths.rtl_closure([path]) if other != path
    }
    script = "import sys; from pyosys import libyosys as ys; ys.run_pass(sys.argv[1], ys.Design())"
    commands = []
    for top, path in modules.items():
        if path in used and not top.startswith("mae_kernel_"):  # a card takes one kernel of many
            continue
        small = {"Lanes": 1, "Contexts": 4, "DataWidth": 128} if "mae_kernel_" not in top else {}
        given = [f"-G {n}={v}" for n, v in small.items() if f" {n} " in path.read_text()]
        needed = paths.rtl_packages_of([path])
        needed += [file for file in paths.rtl_closure([path]) if file not in needed]
        words = ["read_slang", "-I", root / "rtl" / "prim", "--top", top, *given, *needed]
        words += _foreign()
        commands.append([sys.executable, "-c", script, " ".join(str(word) for word in words)])
    found = _all(commands, root)
    return ["\n".join(s for s in text.splitlines() if "ERROR" in s) or text for text in found]


def clang_format(root: pathlib.Path, fix: bool) -> list[str]:
    """Checks, or with ``fix`` corrects, the format of C and C++ files by clang-format."""
    folders = ("boards", "driver", "sim")
    patterns = [f"{top}/**/*.{suffix}" for top in folders for suffix in ("c", "h", "cpp")]
    return _format([paths.tool("clang-format"), "--style=file"], files(root, *patterns), fix)


def ruff(root: pathlib.Path, fix: bool) -> list[str]:
    """Checks, or with ``fix`` corrects, the format and lint of Python files by Ruff."""
    tool = paths.tool("ruff")
    if fix:
        return _all([[tool, "check", "--fix", "-q", "."], [tool, "format", "-q", "."]], root)
    concise = "--output-format=concise"
    return _all([[tool, "check", concise, "-q", "."], [tool, "format", "--check", "-q", "."]], root)


def problems(root: pathlib.Path = paths.ROOT, fix: bool = False) -> list[str]:
    """Runs all format and lint checks on the source files; returns the errors."""
    found = [*ruff(root, fix), *clang_format(root, fix), *verible_format(root, fix)]
    if not fix:
        found += [*verible_lint(root), *slang(root), *yosys(root)]
        found += verilator_lint(root)
    return found


def main() -> int:
    """Prints the source files' format and lint errors; returns 0 if there are none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="format in place")
    found = problems(fix=parser.parse_args().fix)
    for line in found:
        print(line.replace(f"{paths.ROOT}/", ""))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
