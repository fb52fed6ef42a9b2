# SPDX-License-Identifier: Apache-2.0
"""Measures AES in software on this CPU: OpenSSL, with and without AES-NI, and plain C."""

import os
import pathlib
import re
import subprocess

from maeslant import paths
from maeslant.build import made
from maeslant.errors import MaeslantError

# OPENSSL_ia32cap bits: 57 AES-NI and 33 PCLMULQDQ of the first word; VAES and VPCLMULQDQ, bits 9
# and 10 of leaf 7 ECX, lie in bits 41 and 42 of the third. OpenSSL 3.0 knows two words.
NO_AES_INSTRUCTIONS = "~0x200000200000000"
SOURCE = pathlib.Path(__file__).with_name("table_aes.c")


def openssl_rate(cipher: str, size: int, seconds: float, instructions: bool) -> float:
    """Returns the bytes per second that `openssl speed` encrypts, for a given message size."""
    environment = {k: v for k, v in os.environ.items() if k != "OPENSSL_ia32cap"}
    if not instructions:
        environment["OPENSSL_ia32cap"] = NO_AES_INSTRUCTIONS
    command = ["openssl", "speed", "-mr", "-seconds", str(max(1, round(seconds)))]
    result = subprocess.run(
        [*command, "-bytes", str(size), "-evp", cipher],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    match = re.search(r"^\+F:.*:([0-9.]+)$", result.stdout, re.MULTILINE)
    if not match:
        raise MaeslantError(f"openssl speed gave no figure: {result.stderr.strip()[-200:]}")
    return float(match[1])


def table_aes() -> pathlib.Path:
    """Compiles the C program of table-based AES for measurements; returns the program's path."""

    def write(new: pathlib.Path) -> None:
        command = ["gcc", "-std=gnu17", "-O2", "-o", str(new), str(SOURCE)]
        subprocess.run(command, check=True)

    return made.make(paths.BUILD / "bench" / "table_aes", [SOURCE], write)


def table_rate(size: int, seconds: float) -> float:
    """Returns the bytes per second that table-based AES in C encrypts, for a given message size."""
    command = [str(table_aes()), "crypt", str(size), str(seconds)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table_steps(megabytes: int) -> dict[str, float]:
    """Returns the nanoseconds of each AES step for one block in table-based C, by step name."""
    command = [str(table_aes()), "steps", str(megabytes)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}
