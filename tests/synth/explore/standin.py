# SPDX-License-Identifier: Apache-2.0
"""Replaces synthesis in tests by a function with invented results, delays and failures."""

import hashlib
import json
import os
import pathlib
import time
from collections.abc import Callable

from maeslant.errors import MaeslantError
from maeslant.synth import report
from maeslant.synth.explore.points import Point

NAME = "tests.synth.explore.standin:synthesize"


def point(lanes: int = 1, **given: object) -> Point:
    """Returns a design point with a number of lanes for the replacement synthesis."""
    fields = {"name": "lanes1", "target": "nangate45", "parameters": {"Lanes": lanes}}
    fields |= {"values": {"Lanes": lanes}, "top": "mae_cipher_lanes", "label": f"{lanes} lanes"}
    return Point(**(fields | given))


def _lanes(name: str, parameters: dict[str, object] | None) -> int:
    """Returns the number of lanes of a design point from its parameters or name."""
    return parameters["Lanes"] if parameters else int(name.removeprefix("lanes"))


def make(name: str, target: str, lanes: int, power: bool) -> dict[str, object]:
    """Returns a synthesis report with invented figures that depend on the number of lanes."""
    kind = "asic" if target == "nangate45" else target
    area = {"lut": 1000 * lanes, "ff": 900, "bram": 0, "dsp": 0, "mux": 0}
    if kind == "asic":
        area = {"um2": 1e5 * lanes, "kge": 125.0 * lanes, "sequential_um2": 4e4}
        area |= {"cells": 100_000, "flip_flops": 5_000}
    used = {"clock_mhz": 1000, "mw": 40.0 * lanes, "pj_per_block": 40.0, "activity": "invented"}
    return {
        "schema": report.SCHEMA,
        "name": name,
        "top": "mae_cipher_lanes",
        "parameters": {"Lanes": lanes, "KeyBanks": 2, "Dirs": 1, "MaxKeyLen": 0},
        "target": target,
        "kind": kind,
        "recipe": {"period_ns": None},
        "tools": {"yosys": "0", "sta": "0"},
        "sources": hashlib.sha256(f"{name} {target} {lanes}".encode()).hexdigest(),
        "commit": "0000000",
        "left_out": "everything",
        "area": area,
        "timing": {"period_ns": 0.8, "fmax_mhz": 1250.0, "path": ["XOR2_X1 0.1 0.1"]}
        if kind == "asic"
        else None,
        "power": used if power else None,
        "function": {"blocks_per_clock": lanes, "latency_clocks": 11, "gbps": 160.0 * lanes},
    }


def synthesize(
    name: str,
    target: str,
    parameters: dict[str, object] | None = None,
    *,
    period_ns: float | None = None,
    power: bool = False,
    tell: Callable[[str], None],
) -> dict[str, object]:
    """Replaces a synthesis: notes start and end, waits or fails as orders.json says."""
    notebook = pathlib.Path(os.environ["STANDIN"])
    lanes = _lanes(name, parameters)
    note = {"lanes": lanes, "pid": os.getpid(), "asked_by": os.getppid()}
    started = notebook / f"started-{lanes}-{os.getpid()}"
    part = notebook / f"part-{lanes}-{os.getpid()}"  # no name that a reader of "started-*" finds
    part.write_text(json.dumps(note))
    part.rename(started)
    tell("thinking")
    print("chatter of a tool")
    orders = json.loads((notebook / "orders.json").read_text())
    time.sleep(orders.get("seconds", 0))
    while lanes in orders.get("holds", []):
        time.sleep(0.05)
        orders = json.loads((notebook / "orders.json").read_text())
    if lanes in orders.get("fails", []):
        raise MaeslantError(f"no {lanes} lanes today")
    if lanes in orders.get("breaks", []):
        raise ZeroDivisionError("a fault of the flow")
    if lanes in orders.get("dies", []):
        os._exit(3)
    (notebook / f"ended-{lanes}-{os.getpid()}").touch()
    found = make(name, target, lanes, power)
    return found | {"folder": f"{name}-{target}-{found['sources'][:8]}"}


def remembered(
    name: str, target: str, parameters: dict[str, object] | None = None, **rest: object
) -> report.Report | None:
    """Returns the stored report of a replaced synthesis, or None."""
    found = make(name, target, _lanes(name, parameters), False)
    folder = report.REPORTS / f"{name}-{target}-{found['sources'][:8]}"
    return report.load(folder / "report.json")
