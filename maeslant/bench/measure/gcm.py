# SPDX-License-Identifier: Apache-2.0
"""Measures clock cycles of the named builds that are GCM engines."""

import json
import tempfile

from maeslant.bench.measure.figures import Figure
from maeslant.build import cocotb_bench

STREAM, BEAT = (
    "maeslant.bench.measure.benches.gcm_bench",
    "maeslant.bench.measure.benches.beat_bench",
)


# What a build with Deep gives for its clock, and one with Small for its area: these have no target.
DEEP_LONGER = ("key", "first", "tag")
SMALL_LONGER = ("key", "first", "rate", "between", "other")


def rounds(bits: int) -> int:
    """Returns the number of AES rounds, Nr of FIPS 197 §5, for a key size in bits."""
    return bits // 32 + 6


def stream_figure(kind: str, bits: int, lanes: int) -> tuple[str, float | None, str]:
    """Returns (name, target, papers' value) for a metric of the GCM engine mae_gcm_stream."""
    doublings = (2 * lanes - 1).bit_length()  # ceil(log2(2 * lanes))
    theirs = bits == 128 and lanes == 4
    return {
        "key": (
            "from key to ready, powers of H included",
            rounds(bits) + 2 * doublings + 1,
            "Ghosh: 19" if theirs else "",
        ),
        "latency": ("latency, from a beat in to the same beat out", None, "Ghosh: 1"),
        "rate": (
            "blocks a clock, messages following each other",
            lanes,
            "Ghosh: 4" if theirs else "Dong: 10, proposed" if bits == 128 and lanes == 10 else "",
        ),
        "first": ("from announcement to first beat", rounds(bits) + 4, ""),
        "between": ("lost between messages under one key", 0, ""),
        "other": ("lost between messages under two loaded keys", 0, ""),
        "mixed": ("lost a change between loaded keys of 128 and of these bits", None, ""),
        "bubbles": ("bubbles inside a message", 0, "Ghosh: 0"),
        "tag": ("from last data to tag", 6, "Ghosh: 11"),
    }[kind]


def beat_figure(kind: str, bits: int, build: dict) -> tuple[str, str, str, float | None, str]:
    """Returns (name, unit, direction, target, papers' value) for a metric of 64-bit GCM cores."""
    ahead = build["top"] == "mae_gcm_prefetch"
    theirs = "Ghosh: 16" if bits == 128 else ""
    a_clock = "Ghosh: 1" if bits == 128 else ""
    enough = int(build["parameters"].get("Ahead", 4)) >= 17
    return {
        "rate": ("a key of its own each", "messages/clock", "higher", 1, a_clock),
        "verdict": (
            "from request to verdict",
            "clocks",
            "lower",
            5 if ahead else None,
            theirs,
        ),
        "load": ("from load to first request", "clocks", "lower", None, ""),
        "prepared": ("all streams by turns", "messages/clock", "higher", 1, a_clock),
        "alone": ("one stream alone", "messages/clock", "higher", 1 if enough else None, ""),
    }[kind]


def figures(name: str, build: dict) -> list[Figure]:
    """Simulates a named build of a GCM engine; returns latency and throughput as Figures."""
    is_stream = build["top"] == "mae_gcm_stream"
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        cocotb_bench.simulate(
            build["top"],
            STREAM if is_stream else BEAT,
            parameters=build["parameters"],
            env={"MAESLANT_FIGURES": file.name},
        )
        notes = [json.loads(line) for line in file]
    result = []
    for entry in notes:
        kind, bits, value = entry["kind"], entry["bits"], entry["value"]
        if is_stream:
            metric, target, paper = stream_figure(kind, bits, build["parameters"]["Lanes"])
            longer = DEEP_LONGER if build["parameters"].get("Deep") else ()
            longer += SMALL_LONGER if build["parameters"].get("Small") else ()
            target = None if kind in longer else target
            unit, better, source = "clocks", "lower", "Ghosh §4.1"
            if kind == "rate":
                unit, better = "blocks/clock", "higher"
        else:
            metric, unit, better, target, paper = beat_figure(kind, bits, build)
            source = "Ghosh §4.2"
        metric = f"AES-{bits} {metric}"
        result.append(Figure("gcm", name, metric, value, unit, better, target, paper, source))
    return result
