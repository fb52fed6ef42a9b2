# SPDX-License-Identifier: Apache-2.0
"""Runs each example of examples/ in a copy of its folder, as its README says."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant import paths
from maeslant.build import simulator, toolchain

EXAMPLES = paths.ROOT / "examples"
MAESLANT = f"{sys.executable} -m maeslant.cli"


@pytest.fixture
def copied(tmp_path: pathlib.Path, request: pytest.FixtureRequest) -> pathlib.Path:
    """Copies an example's folder; returns the copy."""
    folder = tmp_path / request.param
    shutil.copytree(EXAMPLES / request.param, folder, ignore=shutil.ignore_patterns("build"))
    return folder


def run(folder: pathlib.Path, *command: str, **environment: str) -> str:
    """Runs a command in an example's folder; asserts success and returns its output."""
    known = {"PYTHONPATH": str(paths.ROOT), "PATH": toolchain.search_path()}
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | known | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_example_is_run_and_described() -> None:
    """Each folder of examples/ is named in this file and has a README."""
    text = pathlib.Path(__file__).read_text()
    for folder in EXAMPLES.iterdir():
        assert f'"{folder.name}"' in text and (folder / "README.md").is_file(), folder


@pytest.mark.parametrize("copied", ["gcm_axis_top"], indirect=True)
@pytest.mark.full
def test_gcm_axis_top_in_verilator(copied: pathlib.Path) -> None:
    """The example gcm_axis_top gives the expected ciphertext and tag in Verilator."""
    assert "right" in run(copied, "make", f"MAESLANT={MAESLANT}").splitlines()


@pytest.mark.parametrize("copied", ["gcm_axis_top"], indirect=True)
def test_gcm_axis_top_in_icarus(copied: pathlib.Path) -> None:
    """The example gcm_axis_top gives the expected ciphertext and tag in Icarus Verilog."""
    if not shutil.which("iverilog"):
        pytest.skip("no iverilog on this machine: sudo apt-get install iverilog")
    assert "right" in run(copied, "make", "icarus", f"MAESLANT={MAESLANT}").splitlines()


@pytest.mark.parametrize("copied", ["gcm_axis_top"], indirect=True)
@pytest.mark.slow
def test_its_bench_notices_a_wrong_tag(copied: pathlib.Path) -> None:
    """The bench of the example gcm_axis_top reports a wrong tag."""
    bench = copied / "bench.sv"
    bench.write_text(bench.read_text().replace("1a47;", "1a46;"))
    assert "wrong" in run(copied, "make", f"MAESLANT={MAESLANT}").splitlines()


@pytest.mark.parametrize("copied", ["soc_firmware"], indirect=True)
def test_soc_firmware(copied: pathlib.Path) -> None:
    """The example soc_firmware prints the tag and the last block of `cryptography`."""
    said = run(copied, sys.executable, "run.py")
    key, text = bytes.fromhex("feffe9928665731c6d6a8f9467308308"), bytes(range(256)) * 4
    tag = AESGCM(key).encrypt(bytes.fromhex("cafebabefacedbaddecaf888"), text, b"header")[-16:]
    last = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(text)[-16:]
    assert f"tag {tag.hex()}\n" in said and f"last {last.hex()}\n" in said
    assert len(re.findall(r"(?m)^\d+ clocks", said)) == 2


@pytest.mark.parametrize("copied", ["c_program"], indirect=True)
def test_c_program(copied: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The example c_program compiles by pkg-config against an installation and runs."""
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config on this machine: sudo apt-get install pkg-config")
    simulator.build("peripheral")
    prefix = tmp_path / "prefix"
    install = [sys.executable, str(paths.ROOT / "tools" / "packaging" / "install.py"), "library"]
    run(tmp_path, *install, PREFIX=str(prefix))
    said = run(
        copied,
        "make",
        "check",
        "DEVICE=sim:peripheral",
        PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"),
        LD_LIBRARY_PATH=str(prefix / "lib"),
        MAESLANT_SIM_PATH=str(paths.BUILD / "sim"),
    )
    vector = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
    assert vector in said and "changed: refused" in said
    dynamic = run(copied, "readelf", "-d", "seal_gcm")
    assert "libmaeslant.so.0" in dynamic


@pytest.mark.parametrize("copied", ["python"], indirect=True)
def test_python(copied: pathlib.Path) -> None:
    """The example python encrypts on a simulated device as `cryptography` does."""
    said = run(copied, sys.executable, "encrypt.py", "sim:peripheral")
    assert "equal: True" in said and "opened: attack at dawn" in said and "refused" in said
