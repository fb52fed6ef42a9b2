# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant files` and `constraints`: source lists, plain Verilog, SDC and XDC."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from maeslant import paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import design, sources, yosys

HERE = pathlib.Path(__file__).parent
MOST = 8_000_000  # characters of plain Verilog that Icarus is given
TOPS = ("small128", "lanes4", "gcm1_fpga", "mae_gcm_axis", "peripheral", "stream1", "soc")


def command(*words: str, name: str = "files") -> subprocess.CompletedProcess:
    """Runs `maeslant files`, or another command, in a process of its own; returns that."""
    line = [sys.executable, "-m", "maeslant.cli", name, *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=paths.ROOT)


@pytest.mark.parametrize("name", TOPS)
def test_the_list_is_all_that_a_tool_needs(name: str, tmp_path: pathlib.Path) -> None:
    """Verilator compiles the files that `maeslant files` lists, in their order."""
    known = configurations.load()
    top = known[name]["top"] if name in known else name
    file = tmp_path / "files.f"
    file.write_text(command(name).stdout)
    verilator = [paths.tool("verilator"), "--lint-only", "-f", str(file), "--top-module", str(top)]
    verilator += ["-Wno-TIMESCALEMOD"]  # PicoRV32 states one
    done = subprocess.run(verilator, capture_output=True, text=True, check=False)
    assert "%Error" not in done.stderr, done.stderr
    words = file.read_text().split()
    assert words[0].startswith("+incdir+") and len(set(words)) == len(words)


def test_json() -> None:
    """`maeslant files --json` lists the same files as the text output."""
    found = json.loads(command("small128", "--json").stdout)
    assert found["files"] == [str(path) for path in sources.ordered("small128")]
    assert all(pathlib.Path(path).is_file() for path in found["files"])


def test_technology() -> None:
    """`maeslant files --technology` lists that technology's views; an unknown one is an error."""
    listed = command("stream4_async", "--technology", "ecp5").stdout
    assert "/rtl/technology/ecp5/mae_ram.sv\n" in listed and "/prim/mae_ram.sv" not in listed
    done = command("stream4_async", "--technology", "vhs")
    assert done.returncode == 1 and "no technology 'vhs'" in done.stderr


def test_constraints() -> None:
    """`maeslant constraints` prints the format and periods asked for; bad ones are errors."""
    words = ("stream4_async", "--clock", "clk_i=4")
    done = command(*words, "--format", "xdc", name="constraints")
    assert "create_clock -name clk_i -period 4 " in done.stdout
    assert "set_max_delay -datapath_only 4 " in done.stdout
    found = json.loads(command(*words, "--json", name="constraints").stdout)
    assert "set_false_path -hold " in found["sdc"]
    for word, says in (
        ("clk_i=x", "NAME=NS"),
        ("clk_i=-1", "must be positive"),
        ("q=1", "no clock"),
    ):
        done = command("small128", "--clock", word, name="constraints")
        assert done.returncode == 1 and says in done.stderr and not done.stdout


def test_unknown_module() -> None:
    """`maeslant files` of an unknown module fails with an error that names it."""
    done = command("mae_nothing")
    assert done.returncode == 1 and "mae_nothing" in done.stderr
    with pytest.raises(MaeslantError):
        sources.plain("mae_nothing")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("TMPDIR", ["files", "mae_sbox", "--plain"]),
        ("MAESLANT_BUILD", ["synth", "mae_sbox", "--target", "xc7", "-G", "Impl=3"]),
        ("MAESLANT_BUILD", ["explore", "--quick", "--target", "nangate45"]),
    ],
)
def test_a_folder_with_a_space_is_refused(
    place: str, words: list[str], tmp_path: pathlib.Path
) -> None:
    """A folder for Yosys's files with a space in its path is refused, with the way out."""
    folder = tmp_path / "a b"
    folder.mkdir()
    line = [sys.executable, "-m", "maeslant.cli", *words]
    environment = os.environ | {place: str(folder)}
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, cwd=paths.ROOT, env=environment
    )
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in said, said
    assert said.count("error:") == 1 and "a b" in said and "no space" in said and place in said
    left = [path.name for path in folder.glob("**/*") if path.is_file()]
    assert all(name.startswith(".lock-") for name in left), left


def test_plain_verilog(tmp_path: pathlib.Path) -> None:
    """Yosys reads `maeslant files --plain`, and Icarus runs FIPS 197's example on that Verilog."""
    file = tmp_path / "small128.v"
    file.write_text(command("small128", "--plain").stdout)
    yosys.run(
        [f"read_verilog {file}", "hierarchy -check -top mae_cipher_min_area"], tmp_path / "log"
    )
    if not shutil.which("iverilog"):
        pytest.skip("no iverilog on this machine: sudo apt-get install iverilog")
    program = tmp_path / "bench"
    bench = HERE / "small128_bench.v"
    subprocess.run(["iverilog", "-g2005", "-o", program, bench, file], check=True)
    said = subprocess.run(["vvp", program], capture_output=True, text=True, check=True).stdout
    assert "right" in said, said


def test_plain_verilog_of_other_parameters() -> None:
    """`maeslant files --plain -G` sets parameters; -G without --plain is refused."""
    text = sources.plain("small128", {"MaxKeyLen": "Aes256"})
    assert "MaxKeyLen 2" in text.splitlines()[2]
    assert command("small128", "-G", "MaxKeyLen=2").returncode == 1


def test_plain_verilog_has_no_cells_of_yosys(tmp_path: pathlib.Path) -> None:
    """`maeslant files --plain` has no Yosys cells, and refuses modules with type parameters."""
    text = sources.plain("mae_guard_region_locks")
    assert "$bwmux" not in text and "$bmux" not in text and "$demux" not in text
    with pytest.raises(MaeslantError, match="types as parameters"):
        sources.plain("mae_dma_read_row_arbiter")


def test_plain_verilog_asks_for_block_ram() -> None:
    """`maeslant files --plain` keeps the attribute by which tools place an S-box ROM."""
    text = sources.plain("mae_sbox_rom", {"Bytes": 4})
    found = re.findall(r"\(\* (\w+) = \"block\" \*\)\n  reg \[15:0\] \S+ +\[255:0\];", text)
    assert found == ["rom_style"] * 2 and text.count("(*") == 2


def test_plain_verilog_of_wide_registers(tmp_path: pathlib.Path) -> None:
    """Icarus, which refuses words of 16 KB, reads plain Verilog of a register of 65,537 bits."""
    top, file = tmp_path / "my_wide.sv", tmp_path / "plain.v"
    top.write_text(
        "module my_wide (input logic clk_i, clear_i, input logic [65536:0] a_i,\n"
        "output logic [65536:0] b_o);\n"
        "always_ff @(posedge clk_i) b_o <= clear_i ? 65537'd5 : a_i; endmodule\n"
    )
    file.write_text(text := sources.plain(str(top)))
    pieces = re.search(r"\{ (1'h0(?:, 16384'h0{4096}){3}, 16384'h0{4095}5) \}", text)
    assert pieces and max(map(len, text.split())) < 5000
    if shutil.which("iverilog"):
        subprocess.run(["iverilog", "-g2005", "-o", os.devnull, file], check=True)


@pytest.mark.parametrize("folder", ["plain", "a b é"])
def test_a_file_from_outside(
    folder: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`maeslant files` lists a module outside the repository after those of rtl/ that it uses."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / folder
    place.mkdir()
    (place / "my_inverse.sv").write_text(
        "module my_inverse (input logic a_i, output logic b_o); assign b_o = ~a_i; endmodule\n"
    )
    top = place / "my_top.sv"
    top.write_text(
        "module my_top (input logic clk_i, rst_ni, a_i, output logic b_o); logic c;\n"
        "my_inverse u_inverse (.a_i, .b_o(c));\n"
        "mae_reset_sync u_sync (.clk_i, .rst_ni(c), .rst_no(b_o)); endmodule\n"
    )
    files = sources.ordered(str(top))
    assert all(paths.PLAIN.fullmatch(str(path)) and path.is_file() for path in files)
    found = [path.name for path in files]
    assert found[-1] == "my_top.sv" and {"my_inverse.sv", "mae_reset_sync.sv"} <= set(found)
    text = sources.plain(str(place / "my_inverse.sv"))
    assert "Maeslant" not in text and "SPDX" not in text, "a file of somebody else"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(design.rtl_modules()))
def test_every_module(name: str, tmp_path: pathlib.Path) -> None:
    """Verilator accepts the file list of every module in rtl/, and Icarus the plain Verilog.

    But for the largest: of 200 MB, Icarus makes nothing in ten minutes, with 6 GB of memory.
    """
    typed = re.search(r"\bparameter\s+type\b", paths.code(design.rtl_modules()[name]))
    file = tmp_path / "files.f"
    file.write_text(command(name).stdout)
    verilator = [paths.tool("verilator"), "--lint-only", "-Wno-fatal", "-f", str(file)]
    done = subprocess.run([*verilator, "--top-module", name], capture_output=True, text=True)
    assert typed or not done.returncode, done.stderr
    if not typed and shutil.which("iverilog"):
        text = sources.plain(name)
        (tmp_path / "plain.v").write_text(text)
        icarus = ["iverilog", "-g2005", "-s", name, "-o", os.devnull, str(tmp_path / "plain.v")]
        if len(text) <= MOST:
            subprocess.run(icarus, check=True)
