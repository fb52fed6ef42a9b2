# SPDX-License-Identifier: Apache-2.0
"""Proves with Yosys' SAT solver that all implementations of mae_sbox are equal."""

import subprocess
import sys

import pytest

from maeslant import paths

TOP = paths.ROOT / "formal" / "cipher" / "mae_sbox_equal.sv"
# In a process of its own: a failed proof ends the whole of Yosys.
YOSYS = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.argv[1:]:
    libyosys.run_pass(command, design)
"""


def prove(kind: str, flip: int) -> subprocess.CompletedProcess:
    """Runs Yosys' SAT solver to compare all S-boxes of a kind; returns the finished process.

    mae_sbox_rom is not compared: it has a register, so it is no implementation of mae_sbox.
    """
    cipher = paths.RTL / "cipher"
    files = [cipher / "mae_aes_pkg.sv", cipher / "sbox" / "mae_sbox_table_pkg.sv"]
    files += sorted(set(cipher.glob("sbox/mae_sbox*.sv")) - {cipher / "sbox" / "mae_sbox_rom.sv"})
    files += [paths.RTL / "prim" / "mae_preserved_gates.sv"]
    names = " ".join(dict.fromkeys(str(file) for file in [*files, TOP]))
    commands = (
        f"read_slang -D SYNTHESIS -I {paths.RTL / 'prim'} {names} --top mae_sbox_equal "
        f"-G Kind=mae_aes_pkg::{kind} -G Flip={flip}",
        "hierarchy -check; proc; setattr -mod -unset keep_hierarchy *; flatten",
        "memory_map; opt -full",
        "sat -verify -prove equal_o 1",
    )
    return subprocess.run(
        [sys.executable, "-c", YOSYS, *commands], capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("kind", ("DirsEncrypt", "DirsDecrypt", "DirsBoth"))
def test_equal(kind: str) -> None:
    """Yosys proves all S-boxes of a kind equal, and refutes it if one output bit is inverted."""
    proof = prove(kind, 0)
    assert proof.returncode == 0, proof.stdout[-3000:] + proof.stderr[-3000:]
    assert "SUCCESS!" in proof.stdout
    for flip in (0x10, 0x1000, 0x20000):
        refuted = prove(kind, flip)
        assert refuted.returncode != 0
        assert "proof did fail" in refuted.stderr
