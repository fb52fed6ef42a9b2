# SPDX-License-Identifier: Apache-2.0
"""Compiles firmware for the PicoRV32 (RV32I) and the driver's freestanding C files.

The compiler is Clang, out of the Python package ziglang: no system package is needed.

    python -m maeslant.build.firmware PROGRAM.c IMAGE.hex

compiles a program and writes the memory image that mae_soc starts from (its parameter Image).
"""

import os
import pathlib
import subprocess
import sys

from maeslant import extras, paths
from maeslant.build import made
from maeslant.errors import MaeslantError

DRIVER = paths.ROOT / "driver"
FIRMWARE = DRIVER / "firmware"
OUT = paths.BUILD / "firmware"
# The part of the driver that firmware takes: it needs no C library.
FREESTANDING = sorted((DRIVER / "src" / "peripheral").glob("*.c"))
COMPILER = (sys.executable, "-m", "ziglang", "cc")
TARGET = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32")
FLAGS = ("-std=c17", "-ffreestanding", "-nostdlib", "-fomit-frame-pointer", "-g0")
FLAGS += ("-Wall", "-Wextra", "-Werror")
INCLUDES = (f"-I{DRIVER / 'include'}", f"-I{FIRMWARE}")
# Of every program, beside its own file.
COMMON = ("start.S", "soc.c", "aes.c")


def run(arguments: list[object], what: str) -> None:
    """Runs the RISC-V compiler; raises MaeslantError with the compiler's messages if it fails."""
    extras.need_modules(["ziglang"])
    command = [str(word) for word in (*COMPILER, *TARGET, *arguments)]
    cache = {f"ZIG_{kind}_CACHE_DIR": str(paths.BUILD / "zig") for kind in ("GLOBAL", "LOCAL")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | cache
    )
    if done.returncode:
        raise MaeslantError(f"{what} failed:\n{done.stdout}{done.stderr}")


def build_freestanding(folder: pathlib.Path, optimize: str = "-Os") -> list[pathlib.Path]:
    """Compiles the peripheral's freestanding driver for RV32I; returns the object files' paths."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in FREESTANDING:
        target = folder / f"{source.stem}.o"
        command = [*FLAGS, optimize, INCLUDES[0], "-c", source, "-o", target]
        run(command, f"compiling {source.name}")
        objects.append(target)
    return objects


def build(name: str) -> pathlib.Path:
    """Compiles a firmware of driver/firmware if out of date; returns the ELF file's path."""
    return build_program(FIRMWARE / f"{name}.c", OUT)


def build_program(source: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Compiles a C program for the PicoRV32 SoC if out of date; returns the ELF file's path.

    Links it with the start-up code, the driver's freestanding part and AES in software.
    """
    name = source.stem
    sources = [*(FIRMWARE / file for file in COMMON), source]
    sources += FREESTANDING
    script = FIRMWARE / "soc.ld"
    headers = [*DRIVER.glob("**/*.h"), script, pathlib.Path(__file__)]

    def write(new: pathlib.Path) -> None:
        options = [*FLAGS, "-O2", *INCLUDES, f"-Wl,-T,{script}", "-o", new]
        run([*options, *sources], f"building the firmware {name}")

    return made.make(folder / f"{name}.elf", [*sources, *sorted(headers)], write)


def image(program: pathlib.Path) -> bytes:
    """Returns the contents of memory from address 0 that an ELF program starts from."""
    extras.need_modules(["elftools"])
    from elftools.elf.elffile import ELFFile

    found = bytearray()
    with program.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            at, data = segment["p_paddr"], segment.data()
            if data:  # not the memory that starts as zeros
                found.extend(bytes(max(0, at + len(data) - len(found))))
                found[at : at + len(data)] = data
    return bytes(found)


def write_image(source: pathlib.Path, target: pathlib.Path) -> None:
    """Compiles a C program for the PicoRV32 SoC; writes its image as rows for $readmemh.

    A file that has these contents already stays as it is.
    """
    contents = image(build_program(source, target.parent))
    rows = (contents[at : at + 16].ljust(16, b"\0") for at in range(0, len(contents), 16))
    text = "".join(f"{row[::-1].hex()}\n" for row in rows)
    if not target.exists() or target.read_text() != text:
        paths.write(target, text)


if __name__ == "__main__":
    write_image(*map(pathlib.Path, sys.argv[1:3]))
