# SPDX-License-Identifier: Apache-2.0
"""Tests the simulator's own LZ4 and zlib writers (sim/wave_headers) with real decoders."""

import os
import pathlib
import subprocess
import zlib

import pytest

from maeslant.build.simulator import SIM

PROGRAM = r"""
#include <lz4.h>
#include <zlib.h>
#include <cstdio>
#include <vector>
int main(int argc, char **argv) {
    std::vector<unsigned char> in(1 << 20), out(2 << 20);
    const size_t size = fread(in.data(), 1, in.size(), stdin);
    uLongf room = compressBound(size);
    if (argc > 1) {
        room = LZ4_compress_default((char *)in.data(), (char *)out.data(), int(size),
                                    LZ4_compressBound(int(size)));
    } else if (compress2(out.data(), &room, in.data(), size, 9) != Z_OK) {
        return 1;
    }
    fwrite(out.data(), 1, room, stdout);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Builds a program that compresses standard input by sim/wave_headers' LZ4 or zlib."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "plain.cpp").write_text(PROGRAM)
    includes = [f"-I{SIM / 'wave_headers' / name}" for name in ("lz4", "zlib")]
    command = ["g++", "-std=gnu++20", "-Wall", "-Werror", *includes]
    subprocess.run([*command, str(folder / "plain.cpp"), "-o", str(folder / "plain")], check=True)
    return folder / "plain"


def literals(block: bytes) -> bytes:
    """Decodes an LZ4 block of literals only."""
    length, at = block[0] >> 4, 1
    if length == 15:
        while block[at] == 255:
            length, at = length + 255, at + 1
        length, at = length + block[at], at + 1
    assert len(block) == at + length
    return block[at:]


@pytest.mark.parametrize("size", [0, 1, 14, 15, 16, 269, 270, 271, 65535, 65536, 200_000])
def test_plain(program: pathlib.Path, size: int) -> None:
    """Data compressed by sim/wave_headers decompresses to the same, at each format's limits."""
    data = os.urandom(size)
    packed = subprocess.run([program], input=data, capture_output=True, check=True).stdout
    assert zlib.decompress(packed) == data
    block = subprocess.run([program, "lz4"], input=data, capture_output=True, check=True).stdout
    assert literals(block) == data
