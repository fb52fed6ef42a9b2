# SPDX-License-Identifier: Apache-2.0
"""Measures the throughput of a pool of cards that share one message.

Each simulated card counts its own clocks. A message's are those of the card with the greatest count
between the message's first submit and its last completion, on the pool's clock: a card that waited
for work while others had some counts that too. A target is a share of as many times what one card
does without a pool.
"""

import collections
import json
import secrets

from maeslant import paths
from maeslant.bench.measure.card import MEMORY
from maeslant.bench.measure.figures import Figure
from maeslant.driver import aead
from maeslant.driver.device import BLOCK, ENCRYPT, Device
from maeslant.driver.pool.local import Local

REPORT = paths.BUILD / "reports" / "pool.json"
CARDS = (1, 2, 4, 8)
SIZE = 32 << 20  # bytes: 2 MiB a part over 8 cards, beside which its beginning is little
OTHERS = ("xts", "gcm")
OTHERS_CARDS, OTHERS_SIZE = (4,), 8 << 20
PIECE = 1 << 20
SHARE = 0.9
GOALS = {"gcm": 14.0}  # blocks a clock of four cards


def run(device: Device | Local, mode: str, data: bytes) -> None:
    """Encrypts one message in a given mode on a card or a pool of cards; drops the result."""
    key = secrets.token_bytes(32 if mode == "xts" else 16)
    if mode != "gcm":
        device.crypt(mode, ENCRYPT, key, bytes(16), data)
        return
    with aead.seal(device, mode, key) as message:
        for at in range(0, len(data), PIECE):
            collections.deque(message.update(data[at : at + PIECE]), 0)
        message.finish()


def alone(card: str, mode: str, data: bytes) -> float:
    """Returns the blocks a clock of one simulated card, without a pool, for one message."""
    with Device(card) as device:
        before = device.stats()["bus_clocks"]
        run(device, mode, data)
        return len(data) / BLOCK / (device.stats()["bus_clocks"] - before)


def together(cards: int, card: str, mode: str, data: bytes) -> dict[str, object]:
    """Encrypts one message on a pool of simulated cards; returns blocks a clock and clocks."""
    with Local(f"pool:{cards}*{card}") as pool:
        before = pool.cards()
        run(pool, mode, data)
        after = pool.cards()
    own = [b["clocks"] - a["clocks"] for a, b in zip(before, after, strict=True)]
    # What differs between the cards' openings is nobody's work.
    start = max(card["pool_clock"] for card in before)
    clocks = max(*own, max(card["pool_clock"] for card in after) - start)
    return {
        "cards": cards,
        "blocks_per_clock": len(data) / BLOCK / clocks,
        "clocks": clocks,
        "card_clocks": own,
        "bytes": len(data),
    }


def figures(build: str) -> list[Figure]:
    """Returns figures of blocks a clock in CTR, XTS and GCM on pools of 1 to 8 simulated cards."""
    card = f"sim:{build}?{MEMORY}"
    result, rows = [], []
    for mode, numbers, size in (
        ("ctr", CARDS, SIZE),
        *((mode, OTHERS_CARDS, OTHERS_SIZE) for mode in OTHERS),
    ):
        data = bytes(size)
        one = alone(card, mode, data)
        for cards in numbers:
            row = together(cards, card, mode, data)
            row["times_one"] = row["blocks_per_clock"] / one
            rows += [{**row, "build": build, "mode": mode}] if mode == "ctr" else []
            what = f"{mode.upper()}, one message of {size >> 20} MB over {cards} cards"
            target = SHARE * cards * one if mode == "ctr" else GOALS.get(mode)
            value, unit = row["blocks_per_clock"], "blocks/clock"
            result.append(
                Figure("pool", build, what, value, unit, "higher", target, "", "Fernando")
            )
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    paths.write(REPORT, json.dumps(rows, indent=1) + "\n")
    return result
