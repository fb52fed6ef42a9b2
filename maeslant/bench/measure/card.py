# SPDX-License-Identifier: Apache-2.0
"""Measures clock cycles and bus use of simulated cards through the C driver."""

import itertools
import secrets

from maeslant.bench.measure.figures import Figure
from maeslant.driver.device import CODES, DECRYPT, ENCRYPT, Device, check

MEMORY = "latency=50-300&order=shuffled&seed=1"
TRANSFER = 64 << 10
QUEUED = 32
RING = 256  # jobs in the submission ring at a time
ALONE = (16, 64, 1024)  # sizes of jobs that have the card to themselves, in KB
ROUND_TRIP = 175  # clocks, the mean of MEMORY's
LONG = 1 << 20  # bytes of a chained message beside which two round trips are little
CHAINED = (("cbc", ENCRYPT), ("pcbc", ENCRYPT), ("pcbc", DECRYPT), ("cfb", ENCRYPT))
CHAINED += (("ofb", ENCRYPT),)
PARALLEL = (("ecb", ENCRYPT), ("ecb", DECRYPT), ("cbc", DECRYPT), ("cfb", DECRYPT))
PARALLEL += (("ctr", ENCRYPT), ("xts", ENCRYPT), ("xts", DECRYPT))


def memory(device: Device, size: int):
    """Allocates memory that a simulated card can access; returns it as a uint8_t pointer."""
    pointer = device.ffi.new("void **")
    check(device.lib.mae_mem_alloc(device.handle, size, pointer))
    return device.ffi.cast("uint8_t *", pointer[0])


class Batch:
    """Runs many equal encryption jobs on a simulated card, with alternating keys and contexts."""

    def __init__(
        self,
        device: Device,
        mode: str,
        direction: int,
        jobs: int,
        size: int,
        keys: int = 1,
        contexts: int | None = None,
    ) -> None:
        """Allocates a batch of AES jobs: the memory on the card, random keys and contexts."""
        self.device = device
        self.ffi, self.lib = device.ffi, device.lib
        self.mode, self.direction, self.jobs, self.size = mode, direction, jobs, size
        self.source, self.sink = memory(device, jobs * size), memory(device, jobs * size)
        self.slots = [self._key() for _ in range(keys)]
        self.tweaks = [self._key() if mode == "xts" else 0xFF for _ in range(keys)]
        self.contexts = [self._context() for _ in range(contexts or jobs)]

    def _key(self) -> int:
        slot = self.ffi.new("uint32_t *")
        key = secrets.token_bytes(16)
        check(self.lib.mae_key_alloc(self.device.handle, key, 16, slot))
        return slot[0]

    def _context(self) -> int:
        context = self.ffi.new("uint32_t *")
        check(self.lib.mae_context_alloc(self.device.handle, context))
        return context[0]

    def submit(self, index: int) -> None:
        """Submits one encryption job of a batch of AES jobs, by the job's index, to the card."""
        job = self.ffi.new("struct mae_job *")
        job.mode, job.direction = CODES[self.mode], self.direction
        key = index % len(self.slots)
        job.key_slot, job.tweak_slot = self.slots[key], self.tweaks[key]
        job.context = self.contexts[index % len(self.contexts)]
        job.init, job.length = 1, self.size
        job.final = self.mode == "gcm"  # a whole message each
        job.src = self.source + index * self.size
        job.dst = self.sink + index * self.size
        check(self.lib.mae_submit(self.device.handle, job))

    def wait(self, count: int) -> None:
        """Waits until the card has completed ``count`` more jobs of a batch of AES jobs."""
        done = self.ffi.new("struct mae_completion[64]")
        fetched = self.ffi.new("size_t *")
        while count:
            most = min(count, len(done))
            check(self.lib.mae_wait(self.device.handle, done, most, fetched, 1_000_000))
            for completion in done[0 : fetched[0]]:
                check(completion.error)
            count -= fetched[0]

    def run(self) -> dict[str, int]:
        """Runs all jobs of a batch of AES jobs on the card; returns the simulator's counters."""
        self.device.reset_stats()
        done = 0
        for index in range(self.jobs):
            if index - done == RING:
                self.wait(RING // 8)
                done += RING // 8
            self.submit(index)
        self.wait(self.jobs - done)
        return self.device.stats()


def used(stats: dict[str, int], payload: int) -> float:
    """Returns the share of a card's bus clocks that carried the data of AES jobs, in percent.

    ``payload`` is in bytes, read once and written once; descriptors and completions do not count.
    """
    span = stats["last_data_clock"] - stats["first_data_clock"] + 1
    ways = 1 if stats["one_way"] else 2
    return 100 * 2 * payload * 8 / stats["data_width_bits"] / (span * ways)


def reachable(kilobytes: int, stats: dict[str, int]) -> float:
    """Returns the percentage of bus clocks that a single AES job on a card should fill with data.

    It is 95; for a job short enough that the round trips of its first and last row count, 95 % of
    data clocks / (data clocks + two round trips).
    """
    ways = 1 if stats["one_way"] else 2
    clocks = 2 * (kilobytes << 10) * 8 / stats["data_width_bits"] / ways
    return 95.0 if kilobytes >= 1024 else 95 * clocks / (clocks + 2 * ROUND_TRIP)


def batch(uri: str, mode: str, direction: int, jobs: int, size: int) -> dict[str, int]:
    """Opens a simulated card, runs a batch of encryption jobs and returns its counters."""
    with Device(uri) as device:
        return Batch(device, mode, direction, jobs, size).run()


def bus_figures(build: str) -> list[Figure]:
    """Returns figures of the bus clocks that a card's CTR and GCM jobs use, on two kinds of bus."""
    result = []
    for bus in ("two-way", "one-way"):
        uri = f"sim:{build}?{MEMORY}&bus={bus}"
        config = f"{build}, {bus} bus"
        # Each byte crosses the bus twice: 1,600 MB/s of one that both ways share carry 800.
        peak, copies = "Fernando: 99.5 % (796 of 800 MB/s)", "Fernando: 57 % (459 of 800 MB/s)"

        def note(metric: str, value: float, paper: str, target=None, config=config) -> None:
            unit = "% of data clocks"
            result.append(
                Figure(
                    "dma", config, metric, value, unit, "higher", target, paper, "Fernando Table 1"
                )
            )

        for jobs in (QUEUED, 16):
            stats = batch(uri, "ctr", ENCRYPT, jobs, TRANSFER)
            share = used(stats, jobs * TRANSFER)
            note(f"CTR, {jobs} transfers of 64 KB queued", share, peak, 95)
        stats = batch(uri, "gcm", ENCRYPT, 16, TRANSFER)
        note("GCM, 16 messages of 64 KB queued", used(stats, 16 * TRANSFER), "", 95)
        for mode, kilobytes in itertools.product(("ctr", "xts", "gcm"), ALONE):
            size = kilobytes << 10
            stats = batch(uri, mode, ENCRYPT, 1, size)
            note(
                f"{mode.upper()}, one job of {kilobytes:,} KB alone",
                used(stats, size),
                peak if mode == "ctr" else "",
                reachable(kilobytes, stats),
            )
        note("CTR, one call of 1 MB (the driver divides it)", one_call(uri, 1 << 20), peak)
        note("CTR, 1 MB at a time with Fernando's two copies", with_copies(uri), copies)
    return result


def one_call(uri: str, size: int) -> float:
    """Returns the percentage of bus clocks that one encryption call on a card uses for data."""
    with Device(uri) as device:
        device.reset_stats()
        device.crypt("ctr", ENCRYPT, secrets.token_bytes(16), bytes(16), bytes(size))
        return used(device.stats(), size)


def with_copies(uri: str) -> float:
    """Returns the percentage of a card's bus clocks that carry data if the data are copied too.

    Gives the useful data clocks (a read and a write of each byte by the device) in percent of
    those there were.
    """
    jobs = 16
    with Device(uri) as device:
        work = Batch(device, "ctr", ENCRYPT, jobs, TRANSFER)
        size = jobs * TRANSFER
        user_source, user_sink = memory(device, size), memory(device, size)
        device.reset_stats()
        copy = device.lib.mae_host_copy
        check(copy(device.handle, work.source, user_source, size))
        for index in range(jobs):
            work.submit(index)
        work.wait(jobs)
        check(copy(device.handle, user_sink, work.sink, size))
        stats = device.stats()
    ways = 1 if stats["one_way"] else 2
    beats = 2 * size * 8 / stats["data_width_bits"]
    return 100 * beats / (stats["bus_clocks"] * ways)


def mode_figures(build: str, lanes: int) -> list[Figure]:
    """Returns figures of a card's blocks a clock in every mode, for one message and for several."""
    result = []
    uri = f"sim:{build}?{MEMORY}"

    def note(mode, direction, what, value, unit, better, target, paper="") -> None:
        metric = f"{mode.upper()} {('encrypt', 'decrypt')[direction]}, {what}"
        result.append(
            Figure(
                "modes",
                build,
                metric,
                value,
                unit,
                better,
                target,
                paper,
                "ARCHITECTURE",
            )
        )

    for mode, direction in PARALLEL:
        stats = batch(uri, mode, direction, QUEUED, TRANSFER)
        span = stats["last_data_clock"] - stats["first_data_clock"] + 1
        rate = QUEUED * TRANSFER / 16 / span
        note(
            mode,
            direction,
            f"{QUEUED} messages",
            rate,
            "blocks/clock",
            "higher",
            0.95 * lanes,
        )
    for mode, direction in CHAINED:
        size = TRANSFER
        stats = batch(uri, mode, direction, 1, size)
        span = stats["last_data_clock"] - stats["first_data_clock"] + 1
        each = span / (size / 16)
        note(mode, direction, "one message", each, "clocks/block", "lower", None)
        if mode == "cbc":  # 11 a block, and two round trips
            stats = batch(uri, mode, direction, 1, LONG)
            span = stats["last_data_clock"] - stats["first_data_clock"] + 1
            each = span / (LONG / 16)
            note(mode, direction, "one message of 1 MB", each, "clocks/block", "lower", 11.01)
        stats = batch(uri, mode, direction, 11 * lanes, size)
        span = stats["last_data_clock"] - stats["first_data_clock"] + 1
        rate = 11 * lanes * size / 16 / span
        what = f"{11 * lanes} messages"
        note(mode, direction, what, rate, "blocks/clock", "higher", 0.95 * lanes)
    return result


def push_figures() -> list[Figure]:
    """Returns figures of the peripheral's clocks a block if the CPU writes and reads the data."""
    result = []
    for mode, direction in (
        ("ecb", ENCRYPT),
        ("ecb", DECRYPT),
        ("cbc", ENCRYPT),
        ("ctr", ENCRYPT),
    ):
        with Device("sim:peripheral") as device:
            data = secrets.token_bytes(4096)
            iv = None if mode == "ecb" else bytes(16)
            device.crypt(mode, direction, secrets.token_bytes(16), iv, data)
            device.reset_stats()
            device.crypt(mode, direction, secrets.token_bytes(16), iv, data)
            stats = device.stats()
        metric = f"{mode.upper()} {('encrypt', 'decrypt')[direction]}, push model"
        value = stats["core_clocks"] / (len(data) / 16)
        result.append(
            Figure(
                "push",
                "peripheral",
                metric,
                value,
                "clocks/block",
                "lower",
                None,
                "Kale: 1,132, CPU included",
                "Kale Figure 7",
            )
        )
    return result
