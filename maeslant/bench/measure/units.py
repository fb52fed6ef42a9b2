# SPDX-License-Identifier: Apache-2.0
"""Measures the throughput of the named builds that are iterative units behind AXI4-Streams."""

import json
import tempfile

from maeslant.bench.measure.figures import Figure
from maeslant.build import cocotb_bench

MODULE = "maeslant.bench.measure.benches.units_bench"
CLOCK_MHZ = 200
BLOCK = 16  # bytes
PAPER = "Kumar: 1.65 GB/s, units and clock not said"


def figures(name: str, build: dict) -> list[Figure]:
    """Simulates one named build of mae_mode_axis; returns its ECB throughput as figures."""
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        cocotb_bench.simulate(
            build["top"],
            MODULE,
            parameters=build["parameters"],
            env={"MAESLANT_FIGURES": file.name},
        )
        (rate,) = [json.loads(line)["rate"] for line in file]
    lanes = build["parameters"]["Lanes"]
    speed = rate * BLOCK * CLOCK_MHZ / 1000
    what = "AES-128 ECB encrypt, one message"
    return [
        Figure("units", name, metric, value, unit, "higher", target, paper, "Kumar Figure 13")
        for metric, value, unit, target, paper in (
            (f"{what}, blocks a clock", rate, "blocks/clock", lanes / 11, ""),
            (f"{what}, at {CLOCK_MHZ} MHz", speed, "GB/s", None, PAPER),
            (f"{what}, share of its stream", 100 * rate / lanes, "% of clocks", None, ""),
        )
    ]
