# SPDX-License-Identifier: Apache-2.0
"""Tests that the driver's register-level part compiles for RV32I without any library."""

import re
import shutil
import subprocess

from maeslant.build import c_driver, firmware

CALLS = {
    "mae_pio_probe",
    "mae_pio_key_load",
    "mae_pio_key_erase",
    "mae_pio_wipe",
    "mae_pio_run",
    "mae_pio_run_with",
    "mae_pio_run_both",
    "mae_pio_second",
    "mae_pio_save",
    "mae_pio_restore",
    "mae_pio_seal",
    "mae_pio_unseal",
    "mae_pio_mac",
    "mae_pio_mac_verify",
    "mae_pio_block",
    "mae_pio_memory_start",
    "mae_pio_memory_poll",
    "mae_pio_memory_wait",
    "mae_pio_memory_message",
    "mae_pio_mmio_read32",
    "mae_pio_mmio_write32",
}


def test_compiles_for_rv32i(tmp_path) -> None:
    """The driver's register-level C files compile for RV32I without multiply or compressed code."""
    for target in firmware.build_freestanding(tmp_path):
        head = target.read_bytes()[:64]
        assert head[:5] == b"\x7fELF\x01"  # 32 bits
        assert head[18] == 243  # RISC-V
        assert int.from_bytes(head[36:40], "little") & 7 == 0  # no C, soft float


def test_needs_nothing(tmp_path) -> None:
    """The driver's register-level C files need no library and have no writable static data."""
    for option in ("-O0", "-O2", "-Os"):
        undefined, defined = set(), set()
        for source in firmware.FREESTANDING:
            target = tmp_path / f"{source.stem}{option}.o"
            flags = ["-std=c17", option, "-ffreestanding", "-nostdlib", "-Wall", "-Wextra"]
            command = [c_driver.compiler(), *flags, "-Werror", c_driver.INCLUDES[0]]
            subprocess.run([*command, "-c", source, "-o", target], check=True)
            listing = subprocess.run(
                [shutil.which("nm"), target], capture_output=True, text=True, check=True
            ).stdout
            kinds = dict(re.findall(r"([A-Za-z]) (\S+)$", listing, re.MULTILINE))
            assert not kinds.keys() & set("bBdDC"), listing
            undefined |= {line.split()[-1] for line in listing.splitlines() if " U " in line}
            defined |= set(re.findall(r" T (\S+)", listing))
        assert undefined - defined <= {"_GLOBAL_OFFSET_TABLE_"}, undefined
        assert defined >= CALLS
