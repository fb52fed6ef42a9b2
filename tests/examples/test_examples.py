# SPDX-License-Identifier: Apache-2.0
"""Runs each example of examples/ in a copy of its folder, as its README says, and README.md's C."""

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
from maeslant.build import c_driver, simulator, toolchain

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


# Seals a message by the README's function; prints nonce, ciphertext and tag.
SEAL_MAIN = r"""
#include <stdio.h>

static void print(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

int main(void)
{
    struct { uint8_t before[8], nonce[12], between[8], tag[16], after[8]; } room = {0};
    uint8_t key[32] = {1, 2, 3}, data[100] = {0};
    mae_error_t error = seal(key, room.nonce, room.tag, data, sizeof data);
    print((const uint8_t *)&room, sizeof room);
    print(data, sizeof data);
    return (int)error;
}
"""


def test_the_c_code_of_readme(tmp_path: pathlib.Path) -> None:
    """README.md's C function seals a message, with a drawn nonce of 12 bytes and a tag of 16."""
    (snippet,) = re.findall(r"(?ms)^```c\n(.*?)^```", (paths.ROOT / "README.md").read_text())
    assert snippet.count('"sim:stream?lanes=4"') == 1
    source = tmp_path / "seal.c"
    # The peripheral is quicker to build than a card.
    source.write_text(snippet.replace("sim:stream?lanes=4", "sim:peripheral") + SEAL_MAIN)
    simulator.build("peripheral")
    library, program = c_driver.build_archive(), tmp_path / "seal"
    include = paths.ROOT / "driver" / "include"
    compiler = [c_driver.compiler(), "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{include}"]
    run(tmp_path, *compiler, str(source), str(library), "-ldl", "-pthread", "-o", str(program))
    said = [run(tmp_path, str(program), MAESLANT_SIM_PATH=str(paths.BUILD / "sim")) for _ in "12"]
    nonces = set()
    for text in said:
        room, sealed = map(bytes.fromhex, text.split())
        nonce, tag = room[8:20], room[28:44]
        assert room[:8] == room[20:28] == room[44:] == bytes(8), "more was written"
        key = bytes((1, 2, 3)) + bytes(29)
        assert AESGCM(key).decrypt(nonce, sealed + tag, None) == bytes(100)
        nonces.add(nonce)
    assert len(nonces) == 2
