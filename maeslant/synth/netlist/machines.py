# SPDX-License-Identifier: Apache-2.0
"""Tests netlists of modules that a machine in C++ drives, not cocotb.

The protected card's takes the place of its RTL, and the C driver uses it by its ports. The memory
arbiter's runs beside its RTL and is compared with it before every clock out of reset, since the
machine looks inside that; a difference ends the simulation. Both begin with zeros.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

from maeslant import paths
from maeslant.build import simulator
from maeslant.synth.report import SynthesisError

CARD = "tests.device.accelerator.test_protected_card_ports"
ARBITER = "tests/soc/test_memory_arbiter.py::test_netlist"
BENCH = paths.ROOT / "sim" / "arbiter"
PORT = re.compile(r"(?m)^  (in|out)put (\[\d+:\d+\] )?(\w+);")


def card(netlist: list[pathlib.Path], parameters: dict[str, int], work: pathlib.Path) -> list[str]:
    """Runs the protected card's tests on its netlist; returns the names of those that passed."""
    how = {"netlist": netlist}
    file = CARD.replace(".", "/") + ".py"
    return _run("mae_protected_card", parameters, how, file, work)


def arbiter(
    netlist: list[pathlib.Path], parameters: dict[str, int], work: pathlib.Path
) -> list[str]:
    """Runs random jobs and accesses on the memory arbiter's RTL and netlist; returns what ran."""
    check = work / "check.sv"
    check.write_text(lockstep(netlist[0].read_text(), "mae_memory_arbiter"))
    top = "mae_arbiter_bench"
    sources = [BENCH / f"{top}.sv", BENCH / f"{top}.vlt", *netlist[1:], check]
    how = {"sources": sources, "macros": {"ROW_BITS": parameters["RowBits"]}}
    return _run(top, parameters, how, ARBITER, work)


def _run(
    top: str,
    parameters: dict[str, int],
    how: dict[str, object],
    tests: str,
    work: pathlib.Path,
) -> list[str]:
    """Builds a simulator's library and runs pytest on it; returns what passed."""
    name = f"netlist-{top}-{os.getpid()}"
    result = work / "tests.xml"
    library = simulator.build_top(name, top, parameters, **how)
    given = {"LIBRARY": str(library), "PARAMETERS": json.dumps(parameters)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    command += ["-o", "timeout=0"]  # a netlist takes hours where its RTL takes minutes
    done = subprocess.run(
        [*command, f"--junitxml={result}"],
        cwd=paths.ROOT,
        env=os.environ | {f"MAESLANT_{key}": value for key, value in given.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SynthesisError(f"the netlist in {library} fails {tests}:\n{done.stdout[-2000:]}")
    shutil.rmtree(simulator.folder(name))
    cases = ElementTree.parse(result).iter("testcase")
    passed = [str(case.get("name")) for case in cases if not len(case)]
    if not passed:
        raise SynthesisError(f"no test of {tests} is for this netlist")
    return passed


def lockstep(text: str, top: str) -> str:
    """Returns SystemVerilog that binds a netlist's module "gates" to the RTL of a module.

    It has the same inputs, and its outputs are compared before each rising edge out of reset.
    """
    text = text[: text.index(f"\nmodule {top} ")]
    head = re.search(r"\nmodule gates\(([^)]*)\)", text)
    ports = PORT.findall(text[head.start() :])
    if {name for _, _, name in ports} != {name.strip() for name in head[1].split(",")}:
        raise SynthesisError(f"the netlist of {top} has ports of a kind that is not compared")
    outs = [(width, name) for kind, width, name in ports if kind == "out"]
    pins = [f".{name}({'their_' * (kind == 'out')}{name})" for kind, _, name in ports]
    wires = "\n".join(f"  wire {width}their_{name};" for width, name in outs)
    checks = "\n".join(
        f'    if (their_{name} !== {name}) $error("the netlist differs: {name}");'
        for _, name in outs
    )
    return f"""{text}
module netlist_check (
  {", ".join(f"input {width}{name}" for _, width, name in ports)}
);
{wires}
  gates u_gates ({", ".join(pins)});
  always @(posedge clk_i) if (rst_ni) begin
{checks}
  end
endmodule
bind {top} netlist_check u_netlist_check (.*);
"""


TESTS = {"mae_memory_arbiter": arbiter, "mae_protected_card": card}
