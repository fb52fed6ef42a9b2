# SPDX-License-Identifier: Apache-2.0
"""Reads the published figures of other AES designs from configs/related_work.yml."""

import functools

import yaml

from maeslant import paths
from maeslant.errors import MaeslantError

FILE = paths.ROOT / "configs" / "related_work.yml"
KINDS = ("paper", "open", "sold", "software", "gpu")
BASES = ("reported", "mapped", "measured")
STAGES = ("mapped", "fitted", "silicon", "simulated", "claimed")
OF_BASIS = {"mapped": "mapped", "measured": "silicon"}  # stages that need not be said
TEXTS = ("name", "kind", "cite", "source", "basis", "target", "does")
FIGURES = (
    "lanes",
    "blocks_per_clock",
    "clocks_per_block",
    "latency_clocks",
    "fmax_mhz",
    "mm2",
    "kge",
    "lut",
    "alm",
    "mw",
    "gbps",
    "latency_ns",
    "gbps_per_w",
    "gbps_per_mm2",
)


@functools.cache
def designs() -> tuple[dict[str, object], ...]:
    """Reads and checks configs/related_work.yml; returns the published AES designs.

    The figure blocks_per_clock is computed where only clocks_per_block is given.
    """
    found = []
    for given in yaml.safe_load(FILE.read_text())["designs"]:
        design = {name: value for name, value in given.items() if value is not None}
        name = design.get("name", "?")
        for text in TEXTS:
            if not isinstance(design.get(text), str):
                raise MaeslantError(f"{FILE.name}: {name} lacks its {text}")
        for field, known in (("kind", KINDS), ("basis", BASES)):
            if design[field] not in known:
                raise MaeslantError(f"{FILE.name}: {name}: {field} is none of {', '.join(known)}")
        design.setdefault("stage", OF_BASIS.get(design["basis"]))
        if design["stage"] not in STAGES:
            raise MaeslantError(f"{FILE.name}: {name}: stage is none of {', '.join(STAGES)}")
        for figure in design.keys() - {*TEXTS, "stage"}:
            if figure not in FIGURES or not isinstance(design[figure], int | float):
                raise MaeslantError(f"{FILE.name}: {name}: {figure} is no figure that is known")
        if "clocks_per_block" in design:
            design["blocks_per_clock"] = 1 / design.pop("clocks_per_block")
        found.append(design)
    return tuple(found)
