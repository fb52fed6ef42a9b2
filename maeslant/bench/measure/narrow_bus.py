# SPDX-License-Identifier: Apache-2.0
"""Measures a card on the bus of Fernando et al.: 64 bits that reads and writes share, at 199 MHz.

The paper does not say how late its memory answers; here it is as late as for the other cards. Its
two copies, into and out of the 2 MB that its FPGA can reach, are the processor's and use other
memory: 459 MB/s with them and 796 without mean 2,169 MB/s for each.
"""

from maeslant.bench.measure import card
from maeslant.bench.measure.figures import Figure
from maeslant.driver.device import ENCRYPT, Device, check

CLOCK_MHZ = 199
COPY = 136  # percent of 8 bytes a clock: 2,165 MB/s
REACH = 1 << 20  # bytes that the FPGA can reach in each direction
CHUNKS = 16
QUEUED = 16  # as many as the card has contexts


def figures(build: str) -> list[Figure]:
    """Returns figures in MB/s of a card on a 64-bit bus: encryption, without and with copies."""
    uri = f"sim:{build}?{card.MEMORY}&bus=one-way"
    found = []

    def note(metric: str, bytes_: int, clocks: int, paper: int, target: int | None = None) -> None:
        text = f"Fernando: {paper} MB/s"
        rate = bytes_ * CLOCK_MHZ / clocks
        name = f"{build}, 64 bits, one-way"
        found.append(
            Figure("dma", name, metric, rate, "MB/s", "higher", target, text, "Fernando Table 1")
        )

    queued = card.batch(uri, "ecb", ENCRYPT, QUEUED, card.TRANSFER)
    clocks = queued["last_data_clock"] - queued["first_data_clock"] + 1
    moved = QUEUED * card.TRANSFER
    note(f"ECB, {QUEUED} transfers of 64 KB queued", moved, clocks, 796)
    alone = card.batch(uri, "ecb", ENCRYPT, 1, REACH)
    note("ECB, 1 MB, from doorbell to completion", REACH, alone["bus_clocks"], 796)
    uri += f"&copy={COPY}"
    note("ECB, two copies, then the next 1 MB", CHUNKS * REACH, in_turn(uri), 459)
    note("ECB, two copies beside the next 512 KB", CHUNKS * REACH, beside(uri), 459, 459)
    return found


def in_turn(uri: str) -> int:
    """Returns a card's clocks to copy in, encrypt and copy out chunks of data one by one."""
    with Device(uri) as device:
        work = card.Batch(device, "ecb", ENCRYPT, 1, REACH)
        source, sink = (card.memory(device, CHUNKS * REACH) for _ in range(2))
        device.reset_stats()
        copy = device.lib.mae_host_copy
        for at in range(0, CHUNKS * REACH, REACH):
            check(copy(device.handle, work.source, source + at, REACH))
            work.submit(0)
            work.wait(1)
            check(copy(device.handle, sink + at, work.sink, REACH))
        return device.stats()["bus_clocks"]


def beside(uri: str) -> int:
    """Returns a card's clocks to encrypt chunks of data while their neighbours are copied."""
    half, count = REACH // 2, 2 * CHUNKS
    with Device(uri) as device:
        work = card.Batch(device, "ecb", ENCRYPT, 2, half)
        source, sink = (card.memory(device, count * half) for _ in range(2))
        device.reset_stats()
        copy = device.lib.mae_host_copy

        def bring(index: int) -> None:
            at = work.source + index % 2 * half
            check(copy(device.handle, at, source + index * half, half))

        def take(index: int) -> None:
            at = work.sink + index % 2 * half
            check(copy(device.handle, sink + index * half, at, half))

        bring(0)
        for index in range(count):
            work.submit(index % 2)
            if index:
                take(index - 1)
            if index + 1 < count:
                bring(index + 1)
            work.wait(1)
        take(count - 1)
        return device.stats()["bus_clocks"]
