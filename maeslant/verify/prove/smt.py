# SPDX-License-Identifier: Apache-2.0
"""Proves the assertions of an RTL module by an SMT solver, with Yosys' model of it.

Bounded model checking unrolls the system from reset; k-induction takes any k states that keep the
assertions, and asks whether the next one can break one. What `yosys-smtbmc` does, of which the
Python package of Yosys has the library alone.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from maeslant import paths
from maeslant.build import bus_checkers
from maeslant.errors import MaeslantError

YOSYS = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.argv[1:]:
    libyosys.run_pass(command, design)
"""
# Parameters of the checkers of ports; counts and queues that are small keep the proofs short.
PROVING = {
    "axil": ", .AssumeOther(1'b1), .CountWidth(3)",
    "axi": ", .AssumeOther(1'b1), .LogBursts(2)",
    "axis": ", .AssumeOther(1'b1)",
}
INVARIANT = "mae_axil_port_invariant"
INCLUDES = (paths.RTL / "prim", paths.ROOT / "formal" / "bus")


@dataclasses.dataclass(frozen=True)
class Answer:
    """Holds the SMT solver's answer: no violation, or the assertions that can be violated."""

    holds: bool
    violated: tuple[str, ...] = ()


def yosys(*commands: str) -> str:
    """Runs Yosys passes in a separate process, returns output; raises MaeslantError on failure."""
    result = subprocess.run(
        [sys.executable, "-c", YOSYS, *commands], capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise MaeslantError(f"Yosys failed:\n{result.stdout[-1500:]}{result.stderr[-1500:]}")
    return result.stdout


def read(top: pathlib.Path, parameters: dict[str, object], rtl: pathlib.Path = paths.RTL) -> str:
    """Returns the Yosys command that reads an RTL module and all files it needs.

    ``rtl`` may be a modified copy.
    """
    own = [path for path in (paths.ROOT / "formal").glob("*/*.sv") if path != top]
    used = {path.stem: path for path in own}
    files = [top, *(used[n] for n in re.findall(r"\bmae_\w+", paths.code(top)) if n in used)]
    files = [*paths.rtl_packages_of(files), *paths.rtl_closure(files)]
    names = [str(path).replace(str(paths.RTL), str(rtl), 1) for path in dict.fromkeys(files)]
    words = ["read_slang", "--no-synthesis-define"]
    words += [f"-I {folder}" for folder in INCLUDES] + names + ["--top", top.stem]
    return " ".join([*words, *(f"-G {key}={value}" for key, value in parameters.items())])


def system(
    top: pathlib.Path,
    parameters: dict[str, object],
    rtl: pathlib.Path = paths.RTL,
    *,
    clocks: int = 1,
    free: Sequence[str] = (),
    whole: bool = True,
    holds: str | None = None,
) -> str:
    """Returns an RTL module as a transition system in SMT-LIB, converted by Yosys.

    A module of rtl/ gets the checkers of its bus ports, which assume that the other side keeps its
    rules, and with ``holds`` the invariant of a mae_axil_to_reg in it. With one clock, a step is a
    clock, and resets are synchronous: the states that an asynchronous one leads to are the same.
    With more, clocks are inputs, and a step changes any of them; the assertions that stand in rtl/
    look back by clocks and are left out, as without ``whole``.
    Modules of ``free`` may answer anything.
    """
    source = read(top, parameters, rtl)
    cut = "; ".join(f"delete t:{name}" for name in free) or "opt_clean"
    if clocks > 1 or not whole:
        source = source.replace(" --no-synthesis-define", "")
    model = "memory_map; clk2fflogic" if clocks > 1 else "async2sync; memory_map -formal"
    with tempfile.TemporaryDirectory() as folder:
        more = [f"--blackboxed-module {name}" for name in free]
        if top.is_relative_to(paths.RTL):
            more += map(str, _checkers(top, holds, pathlib.Path(folder) / "checkers.sv"))
        source = " ".join([source, *more])
        out = pathlib.Path(folder) / "system.smt2"
        yosys(
            source,
            f"hierarchy; {cut}; hierarchy -check; proc; flatten; {model}; chformal -lower",
            "opt; setundef -undriven -anyseq; dffunmap; opt_clean",
            f"write_smt2 -stbv {out}",
        )
        return out.read_text()


def _checkers(top: pathlib.Path, holds: str | None, target: pathlib.Path) -> list[pathlib.Path]:
    """Returns the protocol checkers of a module's bus ports; writes a file that binds them."""
    found = bus_checkers.ports(top)
    binds = [port.bind(PROVING[port.kind]) for port in found]
    names = {bus_checkers.KINDS[port.kind] for port in found}
    if holds is not None:
        names.add(INVARIANT)
        check = f"u_check_{found[0].prefix}"
        pins = [f".{name}_i({check}.{name})" for name in ("aw_q", "w_q", "ar_q", "out_of_reset_q")]
        for name in ("aw", "w", "b", "ar", "r"):
            pins += [
                f".{name}_{part}_i({holds}u_{name}.{part}_q)"
                for part in ("out_valid", "skid_valid")
            ]
        for name in ("b", "r"):
            pins += [
                f".{name}_{part}_i({holds}u_{name}.{part}_q[1:0])"
                for part in ("out_data", "skid_data")
            ]
        binds.append(
            f"bind {top.stem} {INVARIANT} u_invariant (.clk_i, .rst_ni, {', '.join(pins)});\n"
        )
    target.write_text("".join(binds))
    return [*(bus_checkers.CHECKERS / f"{name}.sv" for name in sorted(names)), target]


def _run(text: str, limit: int, *options: str) -> str:
    """Runs the SMT solver on a script, for at most ``limit`` seconds; returns its output."""
    with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
        file.write(text)
        file.flush()
        try:
            result = subprocess.run(
                [paths.tool("yices-smt2"), *options, file.name],
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise MaeslantError(f"the solver did not end in {limit} s") from None
    return result.stdout + result.stderr


def _solve(text: str, clocks: range, top: str, names: list[str], limit: int) -> Answer:
    """Asks the SMT solver which assertions can be violated; returns their names in an Answer."""
    last = clocks[-1]
    values = " ".join(f"(|{top}_a {i}| s{last})" for i in range(len(names)))
    text += f"(check-sat)\n(get-value ({values}))\n" if values else "(check-sat)\n"
    said = _run(text, limit)
    if said.startswith("unsat"):
        return Answer(True)
    if not said.startswith("sat"):
        raise MaeslantError(f"the solver failed: {said[:1000]}")
    found = re.findall(r"\|\w+_a (\d+)\| s\d+\)\s+(true|false)", said)
    return Answer(False, tuple(dict.fromkeys(names[int(i)] for i, v in found if v == "false")))


def _names(text: str) -> list[str]:
    """Returns the names of the assertions in a transition system's SMT-LIB text, by number."""
    return [line[2].strip() for line in re.finditer(r"; yosys-smt2-assert (\d+) (.*)", text)]


def _top(text: str) -> str:
    return re.search(r"; yosys-smt2-topmod (\S+)", text)[1]


def _reset(top: str, text: str, index: int) -> str:
    """Returns an SMT-LIB constraint by which an RTL module's resets are active in clock 0 only."""
    ports = re.findall(r"; yosys-smt2-input (\w*rst_ni) 1", text)
    level = "{}" if index else "(not {})"
    return "".join(f"(assert {level.format(f'(|{top}_n {p}| s{index})')})\n" for p in ports)


def _steps(text: str, count: int, initial: bool) -> str:
    top = _top(text)
    lines = ["(set-option :produce-models true)\n(set-logic QF_BV)\n", text]
    for i in range(count):
        lines.append(f"(declare-fun s{i} () |{top}_s|)\n")
        lines.append(f"(assert (|{top}_u| s{i}))\n(assert (|{top}_h| s{i}))\n")
        lines.append(_reset(top, text, i if initial else 1).replace("s1)", f"s{i})"))
        if i:
            lines.append(f"(assert (|{top}_t| s{i - 1} s{i}))\n")
    return "".join(lines)


def everywhere(text: str, limit: int = 3600) -> Answer:
    """Proves a combinational RTL module's assertions for all inputs; returns the violated ones."""
    top, names = _top(text), _names(text)
    text = _steps(text, 2, True)
    for i in range(len(names)):
        text += f"(push 1)\n(assert (not (|{top}_a {i}| s1)))\n(check-sat)\n(pop 1)\n"
    said = _run(text, limit, "--incremental").split()
    if len(said) != len(names) or set(said) - {"sat", "unsat"}:
        raise MaeslantError(f"the solver failed: {' '.join(said)[:500]}")
    found = [name for name, answer in zip(names, said, strict=True) if answer == "sat"]
    return Answer(not found, tuple(found))


def bounded(text: str, depth: int, limit: int = 3600) -> Answer:
    """Proves an RTL module's assertions for the first ``depth`` clocks; returns violated ones."""
    top, names = _top(text), _names(text)
    if not names:
        raise MaeslantError(f"{top} has no assertion")
    for last in range(1, depth + 1):
        question = _steps(text, last + 1, True) + f"(assert (not (|{top}_a| s{last})))\n"
        answer = _solve(question, range(last + 1), top, names, limit)
        if not answer.holds:
            return answer
    return Answer(True)


def induction(text: str, length: int, limit: int = 3600) -> Answer:
    """Proves an RTL module's assertions by k-induction; returns the violated ones."""
    top, names = _top(text), _names(text)
    question = _steps(text, length + 1, False)
    question += "".join(f"(assert (|{top}_a| s{i}))\n" for i in range(length))
    question += f"(assert (not (|{top}_a| s{length})))\n"
    return _solve(question, range(length + 1), top, names, limit)
