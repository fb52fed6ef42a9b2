# SPDX-License-Identifier: Apache-2.0
"""Writes the table of what a pipeline takes while it has nothing to do."""

from maeslant.synth.page.rows import Ours, Table

POWER = {"power": True}
TABLE = Table(
    "A pipeline with and without a clock while it is idle",
    "`lanes1_gated` is `lanes1_fast` with clock gates for lane and key memory; the other row is it "
    "without them. Idle: a key is loaded, no block is offered, and the data port changes all the "
    "same. As mapped: the clock tree, which a gate stops too, is in neither.",
    ("fmax_mhz", "mm2", "kge", "ff", "pj", "mw", "idle_mw"),
    (
        Ours("lanes1_gated", options=POWER),
        Ours("lanes1_gated", parameters={"GateIdle": 0}, options=POWER),
    ),
)
