# SPDX-License-Identifier: Apache-2.0
"""Builds firmware for a LiteX SoC from LiteX's headers and start-up code and the C driver."""

import pathlib
import struct

import litex
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
    contents = firmware.image(image)
    padded = contents + bytes(-len(contents) % 4)
    return [word for (word,) in struct.iter_unpack("<I", padded)]
