# SPDX-License-Identifier: Apache-2.0
"""Builds firmware for a LiteX SoC from LiteX's headers and start-up code and the C driver."""

import pathlib
import struct

import litex
from elftools.elf.elffile import ELFFile
from litex.soc.cores.cpu.picorv32 import core

from maeslant.build import firmware

LITEX = pathlib.Path(litex.__file__).parent / "soc"
CPU = pathlib.Path(core.__file__).parent


def build(folder: pathlib.Path) -> list[int]:
    """Builds the firmware of a LiteX SoC; returns its ROM contents as words."""
    files = [pathlib.Path(__file__).with_suffix(".c"), CPU / "crt0.S"]
    files += firmware.FREESTANDING
    includes = [folder, LITEX / "software" / "include", CPU, firmware.DRIVER / "include"]
    # The linker looks for what the script includes in its own folder only.
    script = folder / "linker.ld"
    text = (LITEX / "software" / "bios" / "linker.ld").read_text()
    script.write_text(text.replace("INCLUDE generated", f"INCLUDE {folder}/generated"))
    image = folder / "firmware.elf"
    options = ["-std=c17", "-Os", "-ffreestanding", "-nostdlib", f"-Wl,-T,{script}"]
    options += [f"-I{path}" for path in includes]
    firmware.run([*options, *files, "-o", image], "building LiteX firmware")
    with open(image, "rb") as file:
        return words(ELFFile(file))


def words(elf: ELFFile) -> list[int]:
    """Returns a linked ELF program as little-endian words from address 0."""
    image = bytearray()
    for segment in elf.iter_segments("PT_LOAD"):
        at, data = segment["p_paddr"], segment.data()
        if data:  # not the memory that starts as zeros
            image.extend(bytes(max(0, at + len(data) - len(image))))
            image[at : at + len(data)] = data
    image.extend(bytes(-len(image) % 4))
    return [word for (word,) in struct.iter_unpack("<I", image)]
