# SPDX-License-Identifier: Apache-2.0
"""Runs the simulations of `maeslant measure` and collects their figures."""

from rich.console import Console

from maeslant import progress
from maeslant.bench.measure import (
    block,
    card,
    cipher,
    fhe,
    gcm,
    guard,
    messages,
    narrow_bus,
    pool,
    units,
)
from maeslant.bench.measure.figures import Figure
from maeslant.build import configurations
from maeslant.errors import MaeslantError

CARD = ("stream4", 4)
RECORDS = "stream4_records"
NARROW = "stream1_narrow"


def jobs() -> dict[str, list]:
    """Returns the functions that measure each hardware block of `maeslant measure`, by name."""
    ciphers = {
        name: build
        for name, build in configurations.load().items()
        if "mae_cipher_" in build["top"]
    }
    engines = {
        name: build for name, build in configurations.load().items() if "mae_gcm_" in build["top"]
    }
    axis = {
        name: build
        for name, build in configurations.load().items()
        if build["top"] == "mae_mode_axis"
    }
    return {
        **{name: [(cipher.figures, name, build)] for name, build in ciphers.items()},
        **{name: [(gcm.figures, name, build)] for name, build in engines.items()},
        **{name: [(units.figures, name, build)] for name, build in axis.items()},
        "modes": [(card.mode_figures, *CARD)],
        "dma": [(card.bus_figures, CARD[0]), (narrow_bus.figures, NARROW)],
        "messages": [(messages.figures, CARD[0]), (messages.own_key_figures, RECORDS)],
        "push": [(card.push_figures,)],
        "guard": [(guard.figures, "protected")],
        "protected_fpga": [(guard.figures, "protected_fpga")],
        "protected_fpga_shared": [(guard.figures, "protected_fpga_shared")],
        "protected_fpga_ram": [(guard.figures, "protected_fpga_ram")],
        "pool": [(pool.figures, CARD[0])],
        "fhe": [(fhe.figures,)],
        "block": [(block.figures, "block")],
    }


def all_figures(parts: list[str] | None, err: Console) -> list[Figure]:
    """Measures the hardware blocks that `maeslant measure` names, or all; returns Figures."""
    known = jobs()
    for part in parts or []:
        if part not in known:
            raise MaeslantError(f"unknown part {part}; known: {', '.join(known)}")
    figures: list[Figure] = []
    chosen = parts or list(known)
    with progress.bar("measuring", len(chosen), err) as bar:
        for part in chosen:
            bar.begin(f"measuring {part}")
            for call, *arguments in known[part]:
                figures += call(*arguments)
            bar.advance()
    return figures
