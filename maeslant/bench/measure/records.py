# SPDX-License-Identifier: Apache-2.0
"""Measures a card whose messages each have a key of their own: a key record's, or a slot's."""

import random
import secrets

from maeslant.bench.measure import card, messages
from maeslant.bench.measure.figures import Figure
from maeslant.driver.device import ENCRYPT, Device, check

RECORDS = 10_000
SHARE = 75  # target in percent of the data clocks
SLOTS = 32  # of the card
SEED = 1  # of the order of the keys


class Batch(card.Batch):
    """Runs GCM messages whose keys are drawn from a table of key records."""

    def __init__(self, device: Device, queued: int) -> None:
        """Gives the card a table of RECORDS random keys, and allocates all messages."""
        lib = device.lib
        check(lib.mae_key_records(device.handle, RECORDS))
        for index in range(RECORDS):
            slot, key = lib.MAE_RECORD_FIRST + index, secrets.token_bytes(16)
            check(lib.mae_key_load(device.handle, slot, key, len(key)))
        count = messages.ROUNDS * queued
        super().__init__(device, "gcm", ENCRYPT, count, messages.PACKET, 0, queued)
        # Job i takes key i: each its own.
        drawn = random.Random(SEED).sample(range(RECORDS), count)
        self.slots = [lib.MAE_RECORD_FIRST + index for index in drawn]
        self.tweaks = [0xFF] * count


def figures(build: str) -> list[Figure]:
    """Measures the share of data clocks of packets, each under its own of RECORDS or SLOTS keys."""
    result = []
    for queued in (messages.QUEUED, messages.FEW):
        with Device(f"sim:{build}?{card.MEMORY}") as device:
            work = Batch(device, queued)
            share = card.used(work.run(), work.jobs * work.size)
        metric = f"GCM, {queued} of {messages.PACKET:,} B queued, each its own of {RECORDS:,} "
        metric += "key records"
        target = SHARE if queued == messages.QUEUED else None
        result.append(
            Figure("messages", build, metric, share, "% of data clocks", "higher", target)
        )
    with Device(f"sim:{build}?{card.MEMORY}") as device:
        count = messages.ROUNDS * messages.FEW
        work = card.Batch(device, "gcm", ENCRYPT, count, messages.PACKET, SLOTS, messages.FEW)
        share = card.used(work.run(), count * messages.PACKET)
    metric = f"GCM, {messages.FEW} of {messages.PACKET:,} B queued, {SLOTS} keys by turns"
    result.append(
        Figure("messages", build, metric, share, "% of data clocks", "higher", messages.FEW_SHARE)
    )
    return result
