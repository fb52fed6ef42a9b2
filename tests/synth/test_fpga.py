# SPDX-License-Identifier: Apache-2.0
"""Tests synthesis for FPGAs: LUT counts, place and route with several seeds, interruption."""

import dataclasses
import json
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

import pytest

from maeslant import cli, paths
from maeslant.build import cocotb_bench
from maeslant.synth import SynthesisError, flow, simulate, synthesize, yosys
from maeslant.synth import report as reports
from maeslant.synth.design import find
from maeslant.synth.fpga import flow as fpga
from maeslant.synth.fpga import nextpnr
from maeslant.synth.fpga.parts import ECP5, PARTS, XC7
from maeslant.synth.netlist import simulation

ROUTED = '{"fmax": {"clk_i": {"achieved": 100}}}'


@pytest.fixture(autouse=True)
def own_reports(tmp_path, monkeypatch) -> None:
    """Keeps a test's synthesis reports in a folder of their own."""
    monkeypatch.setattr(reports, "REPORTS", tmp_path)


def test_luts_are_counted() -> None:
    """Synthesis of mae_rr_arb for xc7 reports LUTs and no timing."""
    made = synthesize("mae_rr_arb", "xc7")
    assert made.kind == "xilinx" and 1 <= made.area["lut"] < 50 and made.timing is None
    assert "Yosys estimate" in made.left_out


def test_netlist_runs_the_modules_tests(tmp_path: pathlib.Path) -> None:
    """mae_fifo's netlist for xc7 passes mae_fifo's tests, and with wrong LUTs fails."""
    made = synthesize("mae_fifo", "xc7", {"Depth": 3})
    found = simulate(made, "xc7")
    assert reports.load(made.file).netlist["simulated"] == found["passed"]
    assert "keeps_order_under_stalls" in found["passed"]
    netlist = made.unpack(tmp_path)
    text = netlist.read_text()
    broken = re.sub(r"(\.INIT\(4'h)(\w)", lambda m: f"{m[1]}{15 - int(m[2], 16):x}", text)
    assert broken != text
    netlist.write_text(broken)
    files = simulation.files(netlist, "mae_fifo", "xc7", None)
    parameters = {"Width": 8, "Depth": 3, "Zero": 1}
    with pytest.raises(cocotb_bench.SimulationError, match="failed: mae_fifo"):
        simulation.run(files, "mae_fifo", parameters, "tests.prim.fifo.test_fifo", {})


@pytest.mark.full
def test_repeated_modules_are_kept() -> None:
    """mae_ntt_core takes about as many LUTs with each butterfly mapped once as when flattened."""
    values = {"LogN": 10, "Width": 24, "Lanes": 4}
    flat, kept = (
        synthesize("mae_ntt_core", "xc7", values, flatten=flatten).area for flatten in (True, False)
    )
    assert all(flat[name] == kept[name] for name in ("ff", "bram", "dsp")) and kept["dsp"] == 24
    assert abs(flat["lut"] - kept["lut"]) < 10
    assert set(kept["other"]) == set(flat["other"])


PARTS_OF_TABLES = """
module tables_part #(parameter logic [7:0] Table = '0) (input logic [2:0] at_i, output logic bit_o);
  assign bit_o = Table[at_i];
endmodule
module tables (input logic [2:0] at_i, output logic [2:0] bits_o);
  tables_part #(.Table(8'h17)) u_one (.at_i, .bit_o(bits_o[0]));
  tables_part #(.Table(8'h2b)) u_other (.at_i, .bit_o(bits_o[1]));
  tables_part #(.Table(8'h17)) u_again (.at_i(~at_i), .bit_o(bits_o[2]));
endmodule
"""


def test_modules_of_other_constants_are_not_merged(tmp_path: pathlib.Path) -> None:
    """Modules that differ in a constant alone are not taken for one that is mapped once."""
    file = tmp_path / "tables.sv"
    file.write_text(PARTS_OF_TABLES)
    log = tmp_path / "log"
    read = find(str(file)).read(flatten=False)
    yosys.run(yosys.elaborate(read, "tables", ["tables_part"]), log)
    assert "tables_part: 3 instances, 2 of them different" in log.read_text()


def test_every_memory_of_luts_counts() -> None:
    """Distributed memory counts as LUTs; an unknown memory cell is refused."""
    area = fpga._area({"LUT6": 3, "RAM64X1S": 5, "RAM32M": 1, "FDRE": 2, "CARRY4": 1}, XC7.cells)
    assert (area["lut"], area["ff"], area["other"]) == (3 + 5 + 4, 2, {"CARRY4": 1})
    with pytest.raises(SynthesisError, match="the LUTs of cell RAM1024X1S are unknown"):
        fpga._area({"RAM1024X1S": 1}, XC7.cells)


def test_simulation_without_a_simulator(monkeypatch, tmp_path) -> None:
    """`synth --simulate` without a C++ compiler ends in an error before synthesis."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SynthesisError, match="--simulate needs g"):
        cli.app(["synth", "mae_rr_arb", "--target", "xc7", "--simulate"], standalone_mode=False)
    assert not list(tmp_path.iterdir()), "it was synthesized first"
    with pytest.raises(SynthesisError, match="--simulate needs g"):
        flow.check_simulation("mae_rr_arb", "xc7")


def test_the_middle_run_counts() -> None:
    """The clock rate after place and route is the median over all seeds."""

    def run(mhz: float, net: str) -> dict:
        step = {"type": "routing", "delay": 1.0, "net": net}
        critical = {"from": "posedge clk_i", "to": "posedge clk_i", "path": [step]}
        return {
            "fmax": {"clk_i": {"achieved": mhz}},
            "critical_paths": [critical],
        }

    timing = nextpnr.median({1: run(90, "a"), 2: run(120, "b"), 3: run(100, "c")}, {})
    assert timing["fmax_mhz"] == statistics.median((90, 120, 100))
    assert timing["seeds"] == {"1": 90, "2": 120, "3": 100}
    assert timing["path"] == ["routing c +1.00 1.00"]
    even = nextpnr.median({1: run(50, "a"), 2: run(100, "b")}, {})
    assert (even["fmax_mhz"], even["period_ns"]) == (75, 13.333)


def test_readable_path(tmp_path) -> None:
    """A critical path names registers by their line of RTL, other cells by type, nets of RTL."""
    cells = {
        "a_LUT4_Z_D_TRELLIS_FF_Q": {
            "type": "TRELLIS_FF",
            "attributes": {"src": "rtl/x/mae_a.sv:7.3"},
        },
        "b_LUT4_Z": {"type": "LUT4", "attributes": {"src": "/y/share/lattice/cells_map.v:119.33"}},
    }
    cells["c"] = {"type": "DP16KD", "attributes": {"src": "/y/share/b.v:1.1|rtl/mae_c.sv:12.5"}}
    (tmp_path / "net.json").write_text(json.dumps({"modules": {"top": {"cells": cells}}}))
    placed = ("a_LUT4_Z_D_TRELLIS_FF_Q", "b_LUT4_Z$CCU2_COMB1", "c")
    steps = [{"type": kind, "to": {"cell": name}} for kind, name in zip("xyz", placed, strict=True)]
    steps += [{"type": "routing", "net": net} for net in ("u_core.state_q[3]", "a_LUT4_Z_D[1]")]
    critical = {"from": "posedge clk_i", "to": "posedge clk_i"}
    critical["path"] = [step | {"delay": 0.5} for step in steps]
    run = {"fmax": {"clk_i": {"achieved": 9}}, "critical_paths": [critical]}
    path = nextpnr.median({1: run}, nextpnr.origins(tmp_path / "net.json", "top"))["path"]
    words = ["x mae_a.sv:7", "y LUT4", "z mae_c.sv:12", "routing state_q[3]", "routing"]
    assert [step.rsplit(" ", 2)[0] for step in path] == words


def test_too_large_for_the_device(monkeypatch) -> None:
    """A design with more LUTs than the FPGA is refused before placement."""
    small = dataclasses.replace(ECP5, router=dataclasses.replace(ECP5.router, luts=3))
    monkeypatch.setitem(PARTS, "ecp5", small)
    with pytest.raises(SynthesisError, match="more than the 3 of the device"):
        synthesize("mae_rr_arb", "ecp5")


def test_view_of_a_cell(monkeypatch) -> None:
    """A design whose ECP5 view names a cell, with a model in Yosys, is mapped as far as placing."""
    none = dataclasses.replace(ECP5, router=dataclasses.replace(ECP5.router, luts=0))
    monkeypatch.setitem(PARTS, "ecp5", none)
    with pytest.raises(SynthesisError, match="more than the 0 of the device"):
        synthesize("mae_idle_clock", "ecp5")


def below(pid: int) -> list[int]:
    """Returns the process ids of a process's children."""
    found = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def test_terminated() -> None:
    """A terminated `maeslant synth` leaves no working folder and no Yosys process."""
    command = [sys.executable, "-m", "maeslant.cli", "synth", "pipe128", "--target", "xc7"]
    command += ["--json", "-G", "KeyBanks=4"]  # nobody's point
    works = paths.BUILD / "reports"
    finished = flow.point("pipe128", "xc7", {"KeyBanks": 4}).file.parent.name
    shutil.rmtree(works / finished, ignore_errors=True)  # by someone who was not asked to end
    others = set(works.glob(".work-pipe128-*"))  # somebody else's
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=paths.ROOT)
    until = time.monotonic() + 60
    while not (own := set(works.glob(".work-pipe128-*")) - others) and run.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert own, "it ended by itself"
    while not (children := below(run.pid)):
        assert time.monotonic() < until
        time.sleep(0.1)
    run.terminate()
    assert run.wait(30) == 128 + signal.SIGTERM
    assert not own.pop().exists()
    assert not [pid for pid in children if pathlib.Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGINT))
def test_interrupted_while_it_starts(number: int, monkeypatch, tmp_path) -> None:
    """A signal that comes while Yosys or nextpnr is being started ends that process too."""
    begun = []

    class Interrupted(Exception):
        """Is raised by the test's signal handler."""

    def handler(number: int, frame: object) -> None:
        raise Interrupted

    class Popen(subprocess.Popen):
        """Starts a sleeping process and raises a signal before the start has finished."""

        def __init__(self, *args, **options) -> None:
            super().__init__(["sleep", "60"], **options)
            begun.append(self.pid)
            signal.raise_signal(number)

    before = signal.signal(number, handler)
    try:
        with monkeypatch.context() as patch, pytest.raises(Interrupted):
            patch.setattr(subprocess, "Popen", Popen)
            yosys.run(["help"], tmp_path / "log")
        with monkeypatch.context() as patch, pytest.raises(Interrupted):
            patch.setattr(subprocess, "Popen", Popen)
            nextpnr.runs(tmp_path, 1, ECP5.router, "router1")
    finally:
        signal.signal(number, before)
    assert len(begun) == 2
    assert not [pid for pid in begun if pathlib.Path(f"/proc/{pid}").exists()]


def test_no_run_outlives_another(monkeypatch, tmp_path) -> None:
    """If nextpnr fails for one seed, the error is reported and its other runs are ended."""
    begun = []

    def start(work: pathlib.Path, seed: int, *_: object) -> subprocess.Popen:
        (work / f"place{seed}.said").write_text("ERROR: no room\n")
        begun.append(subprocess.Popen(["sh", "-c", "exit 3" if seed == 1 else "exec sleep 60"]))
        return begun[-1]

    monkeypatch.setattr(nextpnr, "_start", start)
    monkeypatch.setattr(nextpnr.os, "sched_getaffinity", lambda pid: {0, 1})
    with pytest.raises(SynthesisError, match="ERROR: no room"):
        nextpnr.runs(tmp_path, 3, ECP5.router, "router1")
    assert [run.returncode for run in begun] == [3, -signal.SIGKILL]


def test_a_seed_that_is_not_routed(monkeypatch, tmp_path) -> None:
    """A nextpnr run that crashes, or is ended for it does not converge, gives way to the next."""
    lost, crash = {2}, {3}

    def start(work: pathlib.Path, seed: int, *_: object) -> subprocess.Popen:
        rounds = (900, 300, 650, 701) if seed in lost else (900, 300, 690, 0)
        lines = [f"iter={n} wires=1 overused={left} overuse=1" for n, left in enumerate(rounds)]
        (work / f"place{seed}.log").write_text("\n".join(lines))
        (work / f"place{seed}.said").write_text("wasm trap: out of bounds" if seed in crash else "")
        if seed in crash:
            return subprocess.Popen(["sh", "-c", "exit 1"])
        command = "exec sleep 60" if seed in lost else f"echo '{ROUTED}' > place{seed}.json"
        return subprocess.Popen(["sh", "-c", command], cwd=work)

    monkeypatch.setattr(nextpnr, "_start", start)
    assert sorted(nextpnr.runs(tmp_path, 3, ECP5.router, "router2")) == [1, 4, 5]
    lost.update(range(2, 10))
    with pytest.raises(SynthesisError, match="routed 1 of 6 seeds"):
        nextpnr.runs(tmp_path, 3, ECP5.router, "router2")


TOLD = """\
Warning: Max frequency for clock 'clk_i': 60.00 MHz (FAIL at 400.00 MHz)
{}
Info: Critical path report for clock 'clk_i' (posedge -> posedge):
Info:       type curr  total name
Info:   clk-to-q  0.50  0.50 Source a$1.DOUT
Info:    routing  2.25  2.75 Net u_core.len_q[0] (20,69) -> (19,69)
Info:                          Sink b.IN1
Info:      setup  0.25  3.00 Source b.OUT

Info: Critical path report for cross-domain path '<async>' -> 'posedge clk_i':
Info:    routing  7.85  8.23 Net rst_ni (0,33) -> (7,84)
Warning: Max frequency for clock 'clk_i': 50.00 MHz (FAIL at 400.00 MHz)
"""


def test_a_crash_after_the_clock(monkeypatch, tmp_path) -> None:
    """If nextpnr crashes over its report, clock and path of the routed design are its log's."""

    def start(work: pathlib.Path, seed: int, *_: object) -> subprocess.Popen:
        (work / f"place{seed}.log").write_text(TOLD.format("Info: Routing complete." * (seed > 1)))
        (work / f"place{seed}.said").write_text("wasm trap: out of bounds memory access")
        return subprocess.Popen(["sh", "-c", "exit 1"])

    monkeypatch.setattr(nextpnr, "_start", start)
    found = nextpnr.runs(tmp_path, 1, PARTS["gatemate"].router, "default")
    timing = nextpnr.median(found, {"a$1": "mae_a.sv:7", "b": "CC_LUT2"})
    assert (timing["fmax_mhz"], timing["seeds"]) == (50, {"2": 50})
    path = ["clk-to-q mae_a.sv:7 +0.50 0.50", "routing len_q[0] +2.25 2.75"]
    assert timing["path"] == [*path, "setup CC_LUT2 +0.25 3.00"]


@pytest.mark.slow
@pytest.mark.parametrize("crowded", [False, True])
def test_place_and_route(crowded: bool, monkeypatch, tmp_path) -> None:
    """mae_fifo is placed and routed for ECP5 with two seeds; crowded designs use router2."""
    if crowded:
        router = dataclasses.replace(ECP5.router, routers=((0, "router2"),))
        monkeypatch.setitem(PARTS, "ecp5", dataclasses.replace(ECP5, router=router))
    made = synthesize("mae_fifo", "ecp5", seeds=2)
    logs = [file.read_text() for file in tmp_path.glob("*/place[12].log")]
    assert ["Router2 time" in log for log in logs] == [crowded, crowded]
    assert made.area["ff"] > 8 and len(made.timing["seeds"]) == 2
    assert 50 < made.timing["fmax_mhz"] < 1000 and made.timing["path"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "given"),
    [("gw5a", {}), ("gw5a", {"Depth": 16, "Zero": 0}), ("gatemate", {})],
    ids=["gw5a", "gw5a-memory", "gatemate"],
)
def test_other_fpgas(target: str, given: dict[str, int]) -> None:
    """mae_fifo, whose logic is mostly LUTs of two and three inputs, is placed, routed and timed."""
    made = synthesize("mae_fifo", target, given, seeds=1)
    assert made.kind == PARTS[target].kind and made.area["lut"] > 8 and made.area["ff"] > 8
    assert made.timing["fmax_mhz"] > 50 and any("logic" in step for step in made.timing["path"])


def test_no_path_no_clock(tmp_path) -> None:
    """A run of nextpnr that timed no path is an error, not a clock."""
    (tmp_path / "place1.json").write_text('{"fmax": {}, "critical_paths": []}')
    (tmp_path / "place1.said").touch()
    with pytest.raises(SynthesisError, match="no path from register to register"):
        nextpnr._result(tmp_path / "place1", 0)


def test_more_pins_than_places(tmp_path) -> None:
    """Each of a top's ports gets a place of its own; more ports than known places are an error."""
    router, netlist = PARTS["gw5a"].router, tmp_path / "net.json"
    for count in (2, len(router.pins) + 1):
        ports = {f"port{n}": {} for n in range(count)}
        netlist.write_text(json.dumps({"modules": {"top": {"ports": ports}}}))
        if count == 2:
            nextpnr.pins(router, netlist, "top")
            places = re.findall(r'IO_LOC "port\d" (\w+);', (tmp_path / nextpnr.PINS).read_text())
            assert len(places) == len(set(places)) == 2
        else:
            with pytest.raises(SynthesisError, match="are more than the"):
                nextpnr.pins(router, netlist, "top")
