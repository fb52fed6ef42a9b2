# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant synth` for standard cells: mapping, timing, power, netlist simulation."""

import dataclasses
import gzip
import json
import pathlib
import random
import re
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from maeslant import paths
from maeslant.build import cocotb_bench
from maeslant.cli import app
from maeslant.errors import MaeslantError
from maeslant.synth import (
    SynthesisError,
    asic,
    flow,
    liberty,
    remembered,
    show,
    synthesize,
    yosys,
)
from maeslant.synth import report as reports
from maeslant.synth.netlist import simulation
from maeslant.synth.power import estimate, levels, stimulus
from tests.cipher.fips197 import SBOX


@pytest.fixture(scope="session")
def nangate45() -> liberty.Library:
    """Returns the Nangate45 library, or skips the test if it is not installed."""
    return library("nangate45")


def library(target: str) -> liberty.Library:
    """Returns the standard-cell library of a target, or skips the test if it is missing."""
    if shutil.which("sta") is None:
        pytest.skip("OpenSTA is not installed: sudo apt-get install opensta")
    try:
        return liberty.find(target)
    except SynthesisError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def own_reports(request, tmp_path_factory, monkeypatch) -> None:
    """Keeps this file's synthesis reports in a folder of their own."""
    folder = getattr(request.session, "synth_reports", None)
    if folder is None:
        folder = request.session.synth_reports = tmp_path_factory.mktemp("reports")
    monkeypatch.setattr(reports, "REPORTS", folder)


def unpacked(report: reports.Report, folder: pathlib.Path) -> pathlib.Path:
    """Unpacks the netlist of a synthesis report; returns its path."""
    netlist = folder / "net.v"
    netlist.write_bytes(gzip.decompress((report.folder / "net.v.gz").read_bytes()))
    return netlist


def test_sbox_is_mapped_and_remembered(nangate45, monkeypatch) -> None:
    """Synthesis of mae_sbox_tower reports area and timing; a second call runs no tool."""
    assert remembered("mae_sbox_tower", "nangate45", {"Kind": "DirsEncrypt"}) is None
    made = synthesize("mae_sbox_tower", "nangate45", {"Kind": "DirsEncrypt"})
    assert 0.15 < made.area["kge"] < 0.8 and made.area["flip_flops"] == 0
    assert made.area["um2"] == pytest.approx(made.area["kge"] * 798, rel=0.01)
    assert 0.3 < made.timing["period_ns"] < 2
    assert made.timing["fmax_mhz"] == pytest.approx(1000 / made.timing["period_ns"], rel=0.001)
    assert "in_i" in made.timing["path"][0] and "out_o" in made.timing["path"][-1]
    monkeypatch.setattr(yosys, "run", None)
    again = synthesize("mae_sbox_tower", "nangate45", {"Kind": 1})
    assert again.as_dict() == made.as_dict() and again.folder == made.folder
    assert remembered("mae_sbox_tower", "nangate45", {"Kind": 1}, power=True) is None


def test_a_period_is_met_with_less(nangate45) -> None:
    """Synthesis for a longer clock period gives a smaller netlist that still meets it."""
    fast = synthesize("mae_sbox_tower", "nangate45", {"Kind": 1})
    small = synthesize("mae_sbox_tower", "nangate45", {"Kind": 1}, period_ns=3)
    assert small.area["um2"] < fast.area["um2"]
    assert fast.timing["period_ns"] < small.timing["period_ns"] <= 3
    assert small.recipe["abc_used"] == "small"


def test_netlist_runs_the_modules_tests(nangate45, tmp_path) -> None:
    """The synthesized netlist of mae_fifo passes mae_fifo's tests, and with a wrong gate fails."""
    made = synthesize("mae_fifo", "nangate45", {"Depth": 3})
    found = flow.simulate(made, "nangate45")
    assert reports.load(made.file).netlist["simulated"] == found["passed"]
    assert "keeps_order_under_stalls" in found["passed"]
    assert found["inside"] == ["clear_zeroes_the_store"]
    netlist = unpacked(made, tmp_path)
    text = netlist.read_text()
    broken = re.sub(r"\bN(AND|OR)2_X\d", lambda m: {"AND": "NOR2_X1", "OR": "NAND2_X1"}[m[1]], text)
    assert broken != text
    netlist.write_text(broken)
    parameters = {"Width": 8, "Depth": 3, "Zero": 1}
    with pytest.raises(cocotb_bench.SimulationError, match="failed: mae_fifo"):
        files = simulation.files(netlist, "mae_fifo", "nangate45", nangate45)
        simulation.run(files, "mae_fifo", parameters, "tests.prim.fifo.test_fifo", {})


def test_parallel_simulation_is_right(nangate45, tmp_path) -> None:
    """The netlist simulation that counts toggles gives the AES S-box's output in each run."""
    made = synthesize("mae_sbox_tower", "nangate45", {"Kind": 1})
    design = levels.Netlist(unpacked(made, tmp_path), "mae_sbox_tower", nangate45)
    source = random.Random(1)
    idle = {n: np.zeros(len(b), np.uint64) for n, (d, b) in design.ports.items() if d == "input"}
    for given in [source.randbytes(levels.RUNS) for _ in range(20)]:
        words = [
            sum((byte >> bit & 1) << run for run, byte in enumerate(given)) for bit in range(8)
        ]
        enabled = {"en_i": np.full(1, levels.ONES, np.uint64)}
        design.edge(idle | enabled | {"in_i": np.array(words, np.uint64)}, count=True)
        out = [int(word) for word in design.words[design.port("out_o")]]
        for run, byte in enumerate(given):
            assert sum((word >> run & 1) << bit for bit, word in enumerate(out)) == SBOX[byte]


def test_power_is_what_the_toggles_cost(nangate45, tmp_path) -> None:
    """Without a wire model the switching power equals half C V^2 for each toggle."""
    text = nangate45.path.read_text()
    path = tmp_path / "bare.lib"
    path.write_text(re.sub(r"(?m)^\s*default_wire_load\s*:.*$", "", text))
    bare = liberty.find(str(path))
    assert bare.wire_load is None and nangate45.wire_load == "5K_hvratio_1_1"
    made = synthesize("mae_fifo", str(path), {"Depth": 3}, power=True)
    design = levels.Netlist(unpacked(made, tmp_path), "mae_fifo", bare)
    bench = stimulus.bench("mae_fifo", made.parameters, design)
    for clock in range(bench.warm + estimate.COUNTED):
        bench.clock(count=clock >= bench.warm)
    load, driven = np.zeros(design.nets), np.zeros(design.nets, bool)
    for kind, pins in design.cells.values():
        for pin, net in pins.items():
            load[net] += bare.cells[kind].inputs.get(pin, 0)
            driven[net] |= pin in bare.cells[kind].functions
    for direction, nets in design.ports.values():
        load[nets] += bare.load_ff if direction == "output" else 0
    charge = (load * design.activity()[0])[driven].sum()  # fF a clock
    expected = 0.5 * charge * bare.volts**2 / made.timing["period_ns"] / 1000
    found = made.power
    assert found["switching_mw"] - found["clock_pins_mw"] == pytest.approx(expected, rel=0.02)
    flip_flops = made.area["flip_flops"]
    energy = found["clock_pins_mw"] * made.timing["period_ns"] * 1000 / flip_flops
    assert 0.5 < energy < 3  # fJ a clock on each clock pin
    internal = found["internal_mw"] * made.timing["period_ns"] * 1000 / flip_flops
    assert internal > 5  # fJ a clock: a flip-flop alone takes more
    parts = sum(found[f"{name}_mw"] for name in ("internal", "switching", "leakage"))
    assert found["mw"] == pytest.approx(parts, rel=1e-3) and "no glitches" in found["activity"]


@pytest.mark.parametrize(
    ("text", "truth"),
    (
        ("!(A & B)", lambda a, b: not (a and b)),
        ("(A'*B)+(A*B')", lambda a, b: a != b),
        ("A ^ !B", lambda a, b: a == b),
        ("!A | A B", lambda a, b: not a or b),
        ("1", lambda a, b: True),
    ),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_functions_are_read(text: str, truth) -> None:
    """levels.function reads every notation of a logic function in a Liberty file."""
    words = np.array([0b0011, 0b0101], np.uint64)
    found = int(levels.function(text, ["A", "B"])(words)) & 0xF
    assert found == sum(bool(truth(i >> 1 & 1, i & 1)) << (3 - i) for i in range(4))


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        (("lanes100", "nangate45"), "did you mean lanes10"),
        (("mae_fifo", "nangate54"), "no target 'nangate54'"),
        (("mae_fifo", "nangate45", {"Wdth": 3}), "has no parameter Wdth; it has: Width, Depth"),
        (("mae_sbox", "nangate45", {"Impl": "SboxTover"}), "SboxTover"),
        (("mae_fifo", "ecp5", None, {"period_ns": 1}), "takes no period"),
        (("mae_fifo", "xc7", None, {"power": True}), "not for xc7"),
        (("mae_fifo", "nangate45", None, {"period_ns": -1}), "-1 ns"),
        (("mae_fifo", "xc7", None, {"abc": "small"}), "one way of mapping"),
        (("mae_fifo", "ecp5", None, {"flatten": False}), "one way of mapping"),
        (("mae_fifo", "nangate45", {"Width": "--5"}), "neither a number nor"),
    ),
    ids=str,
)
def test_errors_say_what_to_do(arguments, message, nangate45) -> None:
    """synthesize() refuses wrong names, values and options with an error that helps."""
    *plain, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    if len(arguments) == 3:
        plain, options = arguments, {}
    with pytest.raises(SynthesisError, match=re.escape(message)):
        synthesize(*plain, **options)


def test_missing_tools_and_libraries_are_named(tmp_path, monkeypatch) -> None:
    """synthesize() says how to get OpenSTA or a Liberty file if either is missing."""
    monkeypatch.setenv(liberty.FOLDER, str(tmp_path))
    with pytest.raises(SynthesisError, match="nangate45_typ.lib.*OpenSTA.*MAESLANT_PDK"):
        synthesize("mae_fifo", "nangate45")
    (tmp_path / "not.lib").write_text("library (x) {}")
    with pytest.raises(SynthesisError, match="is it a Liberty file"):
        synthesize("mae_fifo", str(tmp_path / "not.lib"))
    flow.sta.version.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SynthesisError, match="sudo apt-get install opensta"):
        flow.sta.version()


@pytest.mark.slow
@pytest.mark.parametrize("target", ("sky130", "ihp"))
def test_other_libraries(target: str, tmp_path) -> None:
    """Netlists in the two other technologies pass the tests of the S-box and the FIFO."""
    found = library(target)
    made = synthesize("mae_sbox_tower", target, {"Kind": 1}, power=True)
    assert 0.15 < made.area["kge"] < 0.8 and made.power["mw"] > 0
    made = synthesize("mae_fifo", target, {"Depth": 3}, power=True)
    assert "keeps_order_under_stalls" in flow.simulate(made, target)["passed"]
    assert made.target == target and dataclasses.asdict(found)["wire_load"]


@pytest.mark.slow
def test_iterative_core_in_gates(nangate45) -> None:
    """The netlist of mae_cipher_iter passes the cipher's tests and has a plausible energy."""
    made = synthesize("iter128", "nangate45", power=True)
    assert "known_answers" in flow.simulate(made, "nangate45")["passed"]
    estimate = made.power
    assert 50 < estimate["pj_without_wires"] < estimate["pj_per_block"] < 2000
    assert 50 < estimate["counter_pj_without_wires"] < estimate["counter_pj"]
    assert estimate["counter_pj"] == pytest.approx(estimate["pj_per_block"], rel=0.02), (
        "rounds follow"
    )


def test_counter_blocks() -> None:
    """The stimulus for counter mode gives the lanes consecutive blocks with constant upper bits."""

    class Ready:
        """Imitates the netlist of a cipher with two lanes that are always ready."""

        def __init__(self) -> None:
            widths = {"key_i": 260, "key_valid_i": 1, "req_valid_i": 2, "req_i": 2 * 139}
            self.ports = {n: ("input", np.arange(w)) for n, w in widths.items()}
            self.words = np.full(300, stimulus.ONES)

        def port(self, name: str) -> np.ndarray:
            """Returns an output port of the imitated netlist."""
            return np.arange(2)

        def edge(self, values: dict[str, np.ndarray], count: bool) -> None:
            """Does nothing at a clock edge of the imitated netlist."""

    bench = stimulus.counter_mode("mae_cipher_lanes")({}, Ready())
    seen, above = [], set()
    for _ in range(6):
        bench.clock(count=False)
        for lane in range(2):
            block = bench.values["req_i"][lane * 139 : lane * 139 + 128]
            number = sum(int(word & np.uint64(1)) << bit for bit, word in enumerate(block[:32]))
            if bench.keyed:
                seen.append(number)
                above.add((lane, block[32:].tobytes()))
    steps = {(b - a) % 2**32 for a, b in zip(seen[2:], seen[3:], strict=False)}
    assert steps == {1} and len(above) == 2
    assert stimulus.counter_mode("mae_fifo") is None


def test_stream_stimulus() -> None:
    """The stimulus of mae_mode_axis gives a key, a command, then a fresh row for each one taken."""

    class Waits:
        """Imitates a netlist of one lane that takes what it is offered every second clock."""

        widths = {
            "s_axis_key_tvalid": 1,
            "s_axis_key_tdata": 320,
            "s_axis_cmd_tvalid": 1,
            "s_axis_cmd_tdata": 256,
            "s_axis_tvalid": 1,
            "s_axis_tdata": 128,
            "s_axis_tkeep": 16,
            "s_axis_tlast": 1,
            "m_axis_tready": 1,
        }

        def __init__(self) -> None:
            self.ports = {n: ("input", np.arange(w)) for n, w in self.widths.items()}
            self.words = np.zeros(2, np.uint64)  # of an output that is 0, and of the others
            self.offered: list[str] = []

        def port(self, name: str) -> np.ndarray:
            """Returns the nets of an output port of the imitated netlist."""
            return np.array([0 if name == "m_axis_tuser" else 1])

        def edge(self, values: dict[str, np.ndarray], count: bool) -> None:
            """Takes what is offered in every second clock edge."""
            self.words[1] ^= stimulus.ONES
            self.offered += [n for n in self.widths if n.endswith("tvalid") and values[n][0]]

    design = Waits()
    bench = stimulus.bench("mae_mode_axis", {}, design)
    rows = set()
    for _ in range(12):
        bench.clock(count=True)
        rows.add(bench.values["s_axis_tdata"].tobytes())
    offered = design.offered
    ports = ("s_axis_key_tvalid", "s_axis_cmd_tvalid", "s_axis_tvalid")
    assert sorted(offered, key=ports.index) == offered and set(offered) == set(ports)
    assert len(rows) == offered.count("s_axis_tvalid") // 2
    assert not bench.values["s_axis_cmd_tdata"].any() and bench.values["s_axis_tkeep"].all()
    assert bench.values["s_axis_key_tdata"][:128].any()
    assert not bench.values["s_axis_key_tdata"][128:].any()
    assert bench.blocks == 6 * 64  # a block of each run, every second clock


def test_what_the_fingerprint_holds(nangate45, monkeypatch) -> None:
    """A synthesis fingerprint depends on RTL, passes and library, not on a number's notation."""

    def digest(**how: object) -> str:
        return flow.point("mae_fifo", "nangate45", None, **how).digest

    assert digest(period_ns=2) == digest(period_ns=2.0) != digest(period_ns=3)
    before, names = digest(), {path.name for path in flow.point("mae_fifo", "xc7").design.files}
    assert names == {"mae_fifo.sv"}, "a module's comment is no use of what it names"
    with monkeypatch.context() as patch:
        patch.setattr(asic, "MAP", asic.MAP[1:])
        assert digest() != before
    known = liberty.KNOWN["nangate45"]
    with monkeypatch.context() as patch:
        patch.setitem(liberty.KNOWN, "nangate45", (*known[:2], (*known[2], "XOR2_X1")))
        assert digest() != before
    read = pathlib.Path.read_text
    for more, same in (("// not code\n\n", True), ("wire more;\n", False)):

        def changed(path: pathlib.Path, add: str = more, **options: object) -> str:
            return (add if path.suffix == ".sv" else "") + read(path, **options)

        with monkeypatch.context() as patch:
            patch.setattr(pathlib.Path, "read_text", changed)
            assert (digest() == before) == same
    assert digest() == before


def test_published_names_differ(nangate45) -> None:
    """Different syntheses have different report names; equal ones have equal names."""
    path = str(liberty.folder() / "nangate45_typ.lib")
    path = path if pathlib.Path(path).exists() else f"{path}.gz"

    def name(target: str = "nangate45", given: dict | None = None, **how: object) -> str:
        return flow.point("small128", target, given, **how).published.name

    names = {
        name(),
        name(period_ns=2),
        name(period_ns=2, abc="speed"),
        name(abc="small"),
        name(flatten=False),
        name(path, period_ns=2),
        name("ecp5"),
        name("ecp5", seeds=2),
        name("nangate45", {"Sbox": "SboxTable"}),
    }
    assert len(names) == 9
    assert name(abc="speed") == name(flatten=True) == name("nangate45", {"MaxKeyLen": 0}) == name()


def test_reports_of_noise_are_none(tmp_path) -> None:
    """reports.load returns None for a damaged synthesis report."""
    good = {"schema": 1, "name": "a", "top": "a", "parameters": {}, "target": "xc7", "kind": "asic"}
    good |= {"recipe": {}, "tools": {}, "sources": "1", "commit": "2", "left_out": ""}
    good |= {"area": {}, "timing": None}
    file = tmp_path / "report.json"
    file.write_text(json.dumps(good))
    assert reports.load(file).name == "a"
    for bad in ({"area": None}, {"timing": []}, {"schema": 2}, {"sources": 3}, {"more": 1}):
        file.write_text(json.dumps(good | bad))
        assert reports.load(file) is None


def test_a_library_in_a_folder_with_a_space(
    nangate45, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Liberty file is used from any folder: Yosys and OpenSTA get a path without a space."""
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    (tmp_path / "a b").mkdir()
    file = tmp_path / "a b" / "my cells.lib"
    file.write_text(nangate45.path.read_text())
    made = synthesize("mae_sbox_tower", str(file), {"Kind": "DirsEncrypt"})
    assert 0.15 < made.area["kge"] < 0.8 and made.timing["period_ns"] > 0.3


def test_options_that_do_not_go_together() -> None:
    """`maeslant synth` refuses options that contradict each other, before any synthesis."""
    for words, said in (
        (["mae_sbox_table_pkg", "--simulate"], "is a package"),
        (["mae_sbox", "--seeds", "3"], "nangate45 is not placed"),
        (["mae_sbox", "--target", "xc7", "--seeds", "3"], "xc7 is not placed"),
        (["mae_sbox", "--tables", "--finished"], "takes no PART"),
        (["--tables", "--finished", "--power"], "takes no PART"),
        (["--tables", "--renew"], "--renew takes PART, --publish"),
        (["mae_sbox", "--renew", "--target", "xc7"], "--renew takes PART, --publish"),
        (["mae_sbox", "--target", "xc7", "-G", "Impl=9"], "9 is no sbox_impl_e: SboxTable"),
    ):
        result = CliRunner().invoke(app, ["synth", *words])
        assert isinstance(result.exception, MaeslantError) and said in str(result.exception), words
    result = CliRunner().invoke(app, ["explore", "--finished", "--cluster", "tcp://127.0.0.1:1"])
    assert "--finished synthesizes nothing" in str(result.exception)


def test_settings_are_numbers_or_names() -> None:
    """show.settings keeps a value that is no number as text and refuses a missing "="."""
    words = ["A=-2", "B=--5", "C=²", "D=SboxTable"]
    assert show.settings(words) == {"A": -2, "B": "--5", "C": "²", "D": "SboxTable"}
    with pytest.raises(SynthesisError, match="is not PARAMETER=VALUE"):
        show.settings(["Lanes"])


def test_every_reset_is_released() -> None:
    """The power stimulus leaves clocks, resets and stop signals alone and drives the rest."""
    for name in ("rst_ni", "bus_rst_ni", "resetn", "s_rst_ni", "aresetn"):
        assert stimulus.RESETS.search(name) and stimulus.QUIET.search(name)
    for name in ("clk_i", "bus_clk_i", "clear_i", "abort_i"):
        assert stimulus.QUIET.search(name)
    for name in ("beat_first_i", "s_axi_awburst", "in_data_i"):
        assert not stimulus.QUIET.search(name)


def test_a_file_of_ones_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`maeslant synth` accepts a module outside the repository, from any folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reports, "REPORTS", tmp_path / "reports")
    (tmp_path / "my_sbox.sv").write_text(
        "module my_sbox #(parameter int unsigned Mask = 0) (input logic [7:0] in_i,\n"
        "output logic [7:0] out_o);\n"
        "logic [7:0] once;\nassign out_o = once ^ 8'(Mask);\n"
        "mae_sbox #(.Kind(mae_aes_pkg::DirsEncrypt)) u_sbox (.clk_i(1'b0), .rst_ni(1'b1),\n"
        ".en_i(1'b1), .inverse_i(1'b0), .in_i, .out_o(once));\nendmodule\n"
    )
    found = synthesize("my_sbox.sv", "xc7", {"Mask": 3})
    assert found.top == "my_sbox" and found.parameters == {"Mask": 3} and found.area["lut"] > 20
    assert found.file.exists() and flow.remembered("my_sbox.sv", "xc7", {"Mask": 3})
    for name, text, said in (
        ("none.sv", None, "no such file"),
        ("other.sv", "module x; endmodule", "holds no module other"),
        ("my box.sv", "module box; endmodule", "named after its module"),
        ("mae_sbox.sv", "module mae_sbox; endmodule", "a name of this repository"),
    ):
        if text:
            (tmp_path / name).write_text(text)
        with pytest.raises(SynthesisError, match=said):
            synthesize(name, "xc7")
    with pytest.raises(SynthesisError, match="no module of rtl"):
        flow.check_simulation("my_sbox.sv", "nangate45")


def test_a_report_is_named_from_where_one_stands(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """show.near returns a path that is valid from the current folder."""
    for here in (paths.ROOT, paths.ROOT / "rtl", tmp_path):
        monkeypatch.chdir(here)
        name = show.near(paths.ROOT / "README.md")
        assert pathlib.Path(name).samefile(paths.ROOT / "README.md")
