# SPDX-License-Identifier: Apache-2.0
"""`maeslant files`: lists that tools take as they are, and plain Verilog that others read."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

from maeslant import paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import sources, yosys

HERE = pathlib.Path(__file__).parent
TOPS = ("small128", "lanes4", "gcm1_fpga", "mae_gcm_axis", "peripheral", "stream1", "soc")


def command(*words: str) -> subprocess.CompletedProcess:
    """The command line, in a process of its own."""
    line = [sys.executable, "-m", "maeslant.cli", "files", *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=paths.ROOT)


@pytest.mark.parametrize("name", TOPS)
def test_the_list_is_all_that_a_tool_needs(name: str, tmp_path: pathlib.Path) -> None:
    """Verilator takes the list alone, without a library folder, in its order."""
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
    """The same as values."""
    found = json.loads(command("small128", "--json").stdout)
    assert found["files"] == [str(path) for path in sources.ordered("small128")]
    assert all(pathlib.Path(path).is_file() for path in found["files"])


def test_unknown_module() -> None:
    """One line, and exit status 1."""
    done = command("mae_nothing")
    assert done.returncode == 1 and "mae_nothing" in done.stderr
    with pytest.raises(MaeslantError):
        sources.plain("mae_nothing")


def test_plain_verilog(tmp_path: pathlib.Path) -> None:
    """Yosys' own Verilog reader takes it; Icarus runs FIPS 197's example on it."""
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
    """-G sets what the build leaves open; the list needs no parameters and refuses them."""
    text = sources.plain("small128", {"MaxKeyLen": "Aes256"})
    assert "MaxKeyLen 2" in text.splitlines()[1]
    assert command("small128", "-G", "MaxKeyLen=2").returncode == 1
