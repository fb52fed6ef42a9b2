# SPDX-License-Identifier: Apache-2.0
"""Adds random pauses to the AXI models of cocotbext-axi, for tests of AXI modules."""

import random
from collections.abc import Iterator


def pauses(share: float, seed: int) -> Iterator[bool]:
    """Yields for each clock true if an AXI channel shall pause, in runs of random length."""
    generator = random.Random(seed)
    while True:
        paused = generator.random() < share
        yield from [paused] * generator.randrange(1, 6)


def pause_all(model: object, share: float, seed: int = 1) -> None:
    """Sets random pauses on all channels of an AXI or AXI4-Lite model of cocotbext-axi."""
    for number, (side, names) in enumerate((("write_if", "aw w b"), ("read_if", "ar r"))):
        for name in names.split():
            channel = getattr(getattr(model, side), f"{name}_channel")
            channel.set_pause_generator(pauses(share, seed * 100 + number * 10 + ord(name[0])))
