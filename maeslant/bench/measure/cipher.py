# SPDX-License-Identifier: Apache-2.0
"""Measures clock cycles of the named builds that are AES cipher cores."""

import json
import tempfile

from maeslant.bench.measure.figures import Figure
from maeslant.build import cocotb_bench
from maeslant.build.configurations import ITERATIVE

KEY_LENGTHS = {0: [128], 1: [128, 192], 2: [128, 192, 256]}  # by MaxKeyLen
DIRECTIONS = {1: [0], 2: [1], 3: [0, 1]}  # by Dirs
MODULE = "maeslant.bench.measure.benches.cipher_bench"
SERIAL = "maeslant.bench.measure.benches.serial_bench"  # a byte a clock, ports of its own


def rounds(bits: int) -> int:
    """Returns the number of AES rounds, Nr of FIPS 197 §5, for a key size in bits."""
    return bits // 32 + 6


def target_of(kind: str, bits: int, build: dict) -> tuple[str, str, float | None, str]:
    """Returns unit, better direction, target and papers' value for a metric of an AES core."""
    parameters = build["parameters"]
    lanes = int(parameters.get("Lanes", parameters.get("Units", 1)))
    iterative = build["top"] in ITERATIVE
    if build["top"] == "mae_cipher_serial":
        rate = kind == "rate"
        return "blocks/clock" if rate else "clocks", "higher" if rate else "lower", None, ""
    regs = int(parameters.get("RegsPerRound", 1))
    per_reg = int(parameters.get("RoundsPerReg", 1))
    if kind == "block":
        target = rounds(bits) if iterative else 1
        return "clocks", "lower", target, "Kumar: 12" if iterative and bits == 128 else ""
    if kind == "rate":
        target = None if iterative else lanes
        return "blocks/clock", "higher", target, f"Dong: {lanes}" if not iterative else ""
    if kind == "latency":
        target = rounds(bits) * regs + 1 if per_reg == 1 else rounds(bits) // per_reg
        target = None if iterative else target
        return (
            "clocks",
            "lower",
            target,
            "Dong: 11" if not iterative and bits == 128 else "",
        )
    if kind == "wait_decrypt":
        return "clocks", "lower", rounds(bits), "Kale: not at once"
    if kind in ("wait_encrypt", "early"):
        # Such a core waits for all round keys.
        whole = kind == "wait_encrypt" and (per_reg > 1 or "MaxKeyLen" not in parameters)
        target = None if build["top"] == "mae_cipher_luts4" else rounds(bits) if whole else 0
        return (
            "clocks",
            "lower",
            target,
            "Kumar: 50, once a key" if kind == "wait_encrypt" else "",
        )
    return "clocks", "lower", 0, ""


def figures(name: str, build: dict) -> list[Figure]:
    """Simulates a named build of an AES core; returns latency and throughput as Figures."""
    parameters = build["parameters"]
    # A build without these has one key length, AES-128 in ours, and encrypts.
    keys = KEY_LENGTHS[parameters.get("MaxKeyLen", 0)]
    dirs = DIRECTIONS[parameters.get("Dirs", 1)]
    module = SERIAL if build["top"] == "mae_cipher_serial" else MODULE
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        environment = {
            "MAESLANT_FIGURES": file.name,
            "MAESLANT_KEYS": json.dumps(keys),
            "MAESLANT_DIRS": json.dumps(dirs),
        }
        cocotb_bench.simulate(build["top"], module, parameters=parameters, env=environment)
        notes = [json.loads(line) for line in file]
    result = []
    for note in notes:
        unit, better, target, paper = target_of(note["kind"], note["bits"], build)
        metric = f"AES-{note['bits']} {note['metric']}"
        value = note["value"]
        result.append(
            Figure(
                "cipher",
                name,
                metric,
                value,
                unit,
                better,
                target,
                paper,
                "ARCHITECTURE",
            )
        )
    return result
