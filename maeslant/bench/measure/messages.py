# SPDX-License-Identifier: Apache-2.0
"""Measures how many messages a second a card encrypts, by size, beside OpenSSL."""

import itertools
import random
import re
import secrets
import subprocess

from maeslant.bench.measure import card
from maeslant.bench.measure.figures import Figure
from maeslant.driver.device import ENCRYPT, Device, check

SIZES = (16, 64, 256, 1024, 1504, 4096, 16384, 65536)  # bytes; 1,504: 1,500 in whole blocks
MODES = ("ctr", "xts", "gcm")
QUEUED = 64  # messages at once, as many as the card has contexts
ROUNDS = 32  # messages of a context, one after another
FEW, PACKET, FEW_SHARE = 32, 1504, 85  # fewer packets of a network, and their target in percent
MOST = 4 << 20  # bytes of a batch at most
KEYS = 16  # as many as the card has key slots; XTS takes two of them for a message
CLOCK_MHZ = 200
# Targets, by mode, bytes, and whether each message has another key than the one before.
SHARES = {("gcm", 1024, False): 80, ("gcm", 1504, True): 85}
CLOCKS = {("gcm", 64, False): 8}
# A card with key records: how many keys there are, and the target in percent of the data clocks.
RECORDS, RECORDS_SHARE = 10_000, 75
SLOTS = 32  # of that card


def openssl(mode: str, size: int) -> float:
    """Returns how many messages a second `openssl speed` encrypts by AES-128 on one core."""
    command = ["openssl", "speed", "-mr", "-seconds", "1", "-bytes", str(size)]
    command += ["-aead"] if mode == "gcm" else []
    done = subprocess.run(
        [*command, "-evp", f"aes-128-{mode}"], capture_output=True, text=True, check=True
    )
    found = re.search(r"^\+F:\d+:[^:]*:([\d.]+)", done.stdout, re.MULTILINE)
    return float(found[1]) / size if found else 0.0


def figures(build: str) -> list[Figure]:
    """Returns figures of a card's messages a second, by mode, size and number of keys."""
    result = []
    uri = f"sim:{build}?{card.MEMORY}"

    def note(metric: str, value: float, unit: str, better: str, target=None) -> None:
        result.append(Figure("messages", build, metric, value, unit, better, target))

    for mode, size in itertools.product(MODES, SIZES):
        count = min(ROUNDS * QUEUED, max(MOST // size, QUEUED))
        for own in (False, True):
            keys = KEYS // (1 + (mode == "xts")) if own else 1
            with Device(uri) as device:
                work = card.Batch(device, mode, ENCRYPT, count, size, keys, QUEUED)
                stats = work.run()
            name = f"{mode.upper()}, {QUEUED} of {size:,} B queued, "
            name += f"{keys} keys by turns" if own else "one key"
            span = stats["last_data_clock"] - stats["first_data_clock"] + 1
            share = card.used(stats, count * size)
            note(name, share, "% of data clocks", "higher", SHARES.get((mode, size, own)))
            target = CLOCKS.get((mode, size, own))
            note(name, span / count, "clocks/message", "lower", target)
            rate = count / span * CLOCK_MHZ
            note(f"{name}, at {CLOCK_MHZ} MHz", rate, "million messages/s", "higher")
        name = f"{mode.upper()}, {size:,} B, OpenSSL on one core, one key"
        note(name, openssl(mode, size) / 1e6, "million messages/s", "higher")
    with Device(uri) as device:
        count = ROUNDS * FEW
        stats = card.Batch(device, "gcm", ENCRYPT, count, PACKET, KEYS, FEW).run()
    name = f"GCM, {FEW} of {PACKET:,} B queued, {KEYS} keys by turns"
    note(name, card.used(stats, count * PACKET), "% of data clocks", "higher", FEW_SHARE)
    return result


class RecordBatch(card.Batch):
    """Runs GCM messages on a card, each under a key of the card's table of key records."""

    def __init__(self, device: Device, queued: int) -> None:
        """Loads RECORDS random keys into the card's key records and allocates the GCM messages."""
        lib = device.lib
        check(lib.mae_key_records(device.handle, RECORDS))
        for index in range(RECORDS):
            slot, key = lib.MAE_RECORD_FIRST + index, secrets.token_bytes(16)
            check(lib.mae_key_load(device.handle, slot, key, len(key)))
        count = ROUNDS * queued
        super().__init__(device, "gcm", ENCRYPT, count, PACKET, 0, queued)
        # Job i takes key i: each its own.
        drawn = random.Random(1).sample(range(RECORDS), count)
        self.slots = [lib.MAE_RECORD_FIRST + index for index in drawn]
        self.tweaks = [0xFF] * count


def own_key_figures(build: str) -> list[Figure]:
    """Returns figures of a card's bus use for GCM packets, each under one of many keys."""
    result = []
    for queued in (QUEUED, FEW):
        with Device(f"sim:{build}?{card.MEMORY}") as device:
            work = RecordBatch(device, queued)
            share = card.used(work.run(), work.jobs * work.size)
        metric = f"GCM, {queued} of {PACKET:,} B queued, each its own of {RECORDS:,} "
        metric += "key records"
        target = RECORDS_SHARE if queued == QUEUED else None
        result.append(
            Figure("messages", build, metric, share, "% of data clocks", "higher", target)
        )
    with Device(f"sim:{build}?{card.MEMORY}") as device:
        count = ROUNDS * FEW
        work = card.Batch(device, "gcm", ENCRYPT, count, PACKET, SLOTS, FEW)
        share = card.used(work.run(), count * PACKET)
    metric = f"GCM, {FEW} of {PACKET:,} B queued, {SLOTS} keys by turns"
    result.append(Figure("messages", build, metric, share, "% of data clocks", "higher", FEW_SHARE))
    return result
