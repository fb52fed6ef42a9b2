# SPDX-License-Identifier: Apache-2.0
"""Measures the block card: latency and rate of requests of 4 KiB, under XTS and in plain.

Host memory answers after 50 to 300 clocks, the media as the DRAM of the cards with a memory of
their own. One key, data units of 4 KiB. The same requests in plain are the reference.
"""

import secrets

from maeslant.bench.measure.card import MEMORY
from maeslant.bench.measure.figures import Figure
from maeslant.errors import MaeslantError
from maeslant.sim.block_card import READ, SECTOR, WRITE, BlockCard, Request

SIZE = 4096
QUEUED = 240  # requests in a queue at a time
CLOCK_MHZ = 200
FIXED = "latency=100&seed=1"  # so that two runs differ by the cipher only
GOAL_CLOCKS, GOAL_PERCENT = 40, 1.0
BEATS = SIZE // 64
NAMES = {READ: "read", WRITE: "write"}


def requests(
    op: int, slot: int | None, count: int, first: int = 0, unit_log2: int = 12
) -> list[Request]:
    """Returns requests of 4 KiB for the block card, each with its own sectors and host memory."""
    sectors, units = SIZE // SECTOR, SIZE >> unit_log2
    return [
        Request(op, sectors * n, sectors, SIZE * n, slot, unit_log2, units * n)
        for n in range(first, first + count)
    ]


def clocks(card: BlockCard) -> int:
    """Returns the number of clocks that the block card has been simulated."""
    return card.sim.stats()["core_clocks"]


def opened(options: str) -> BlockCard:
    """Returns a simulated block card with a key in slot 0 under which it wrote and read data."""
    card = BlockCard(options=options)
    card.load_key(0, secrets.token_bytes(64))
    data = secrets.token_bytes(2 * SIZE)
    card.memory[: 2 * SIZE] = data
    card.run(requests(WRITE, 0, 2))
    card.memory[: 2 * SIZE] = bytes(2 * SIZE)
    card.run(requests(READ, 0, 2))
    if card.memory[: 2 * SIZE] != data:
        raise MaeslantError("the block card reads other data than it wrote")
    return card


def alone(op: int, slot: int | None) -> int:
    """Returns the clocks that a block card takes for a request, from doorbell to completion."""
    card = opened(FIXED)
    card.submit(requests(op, slot, 1))
    begun = clocks(card)
    card.finish(step=1)
    spent = clocks(card) - begun
    card.close()
    return spent


def queued(slot: int | None, ops: tuple[int, ...], unit_log2: int = 12) -> float:
    """Returns a block card's clocks a request of 4 KiB, with many queued, a queue an operation."""
    card = opened(MEMORY)
    for queue, op in enumerate(ops):
        card.submit(requests(op, slot, QUEUED, QUEUED * queue, unit_log2), queue)
    begun = clocks(card)
    for queue in range(len(ops)):
        card.finish(queue)
    spent = clocks(card) - begun
    card.close()
    return spent / (QUEUED * len(ops))


def figures(build: str) -> list[Figure]:
    """Returns measured figures of a block card: clocks and rates of its requests, plain and XTS."""
    found = []

    def note(metric: str, value: float, unit: str, better: str, target: float | None = None):
        found.append(Figure("block", build, metric, value, unit, better, target))

    for op, name in NAMES.items():
        cipher, plain = alone(op, 0), alone(op, None)
        note(f"{name} of 4 KiB alone, XTS", cipher, "clocks", "lower")
        note(f"{name} of 4 KiB alone, plain", plain, "clocks", "lower")
        note(f"{name} of 4 KiB alone, added by XTS", cipher - plain, "clocks", "lower", GOAL_CLOCKS)
    for ops in ((READ,), (WRITE,), (READ, WRITE)):
        name = " and ".join(f"{NAMES[op]}s" for op in ops) + " of 4 KiB queued"
        cipher, plain = queued(0, ops), queued(None, ops)
        rate = CLOCK_MHZ * 1e6 / cipher
        note(f"{name}, XTS", rate, "requests/s at 200 MHz", "higher")
        share = 100 * BEATS / len(ops) / cipher
        note(f"{name}, XTS", share, "% of each bus", "higher")
        note(f"{name}, plain", 100 * BEATS / len(ops) / plain, "% of each bus", "higher")
        added = 100 * (cipher / plain - 1)
        note(f"{name}, added by XTS", added, "% of the time", "lower", GOAL_PERCENT)
        share = 100 * BEATS / len(ops) / queued(0, ops, 9)
        note(f"{name}, XTS, data units of 512 bytes", share, "% of each bus", "higher")
    return found
