# SPDX-License-Identifier: Apache-2.0
"""Figures of the devices: whole transfers through the driver, counted by the simulated machine."""

import secrets

from maeslant.device import DECRYPT, ENCRYPT, MODES, Device, check
from maeslant.measure.figures import Figure

MEMORY = "latency=50-300&order=shuffled&seed=1"
TRANSFER = 64 << 10
QUEUED = 32
CHAINED = (("cbc", ENCRYPT), ("pcbc", ENCRYPT), ("pcbc", DECRYPT), ("cfb", ENCRYPT))
CHAINED += (("ofb", ENCRYPT),)
PARALLEL = (("ecb", ENCRYPT), ("ecb", DECRYPT), ("cbc", DECRYPT), ("cfb", DECRYPT))
PARALLEL += (("ctr", ENCRYPT), ("xts", ENCRYPT), ("xts", DECRYPT))


class Batch:
    """Equal jobs, each in a context of its own, submitted together."""

    def __init__(self, device: Device, mode: str, direction: int, jobs: int, size: int) -> None:
        self.device = device
        self.ffi, self.lib = device.ffi, device.lib
        self.mode, self.direction, self.jobs, self.size = mode, direction, jobs, size
        self.source = self._memory(jobs * size)
        self.sink = self._memory(jobs * size)
        self.slot = self._key()
        self.tweak = self._key() if mode == "xts" else 0xFF
        self.contexts = [self._context() for _ in range(jobs)]

    def _memory(self, size: int):
        pointer = self.ffi.new("void **")
        check(self.lib.mae_mem_alloc(self.device.handle, size, pointer))
        return self.ffi.cast("uint8_t *", pointer[0])

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
        """Hand over job ``index``."""
        job = self.ffi.new("struct mae_job *")
        job.mode, job.direction = MODES.index(self.mode), self.direction
        job.key_slot, job.tweak_slot = self.slot, self.tweak
        job.context, job.init, job.length = self.contexts[index], 1, self.size
        job.src = self.source + index * self.size
        job.dst = self.sink + index * self.size
        check(self.lib.mae_submit(self.device.handle, job))

    def wait(self, count: int) -> None:
        """Until ``count`` more jobs have completed, each without an error."""
        done = self.ffi.new("struct mae_completion[64]")
        fetched = self.ffi.new("size_t *")
        while count:
            check(self.lib.mae_wait(self.device.handle, done, 64, fetched, 1_000_000))
            for completion in done[0 : fetched[0]]:
                check(completion.error)
            count -= fetched[0]

    def run(self) -> dict[str, int]:
        """All jobs at once; the simulator's counters."""
        self.device.reset_stats()
        for index in range(self.jobs):
            self.submit(index)
        self.wait(self.jobs)
        return self.device.stats()


def data_clocks(stats: dict[str, int]) -> tuple[int, int]:
    """Data beats moved, and the data clocks there were from the first beat to the last."""
    span = stats["last_data_clock"] - stats["first_data_clock"] + 1
    ways = 1 if stats["one_way"] else 2
    return stats["read_beats"] + stats["write_beats"], span * ways


def used(stats: dict[str, int]) -> float:
    """Share of the bus's data clocks in which data moved, in percent."""
    beats, clocks = data_clocks(stats)
    return 100 * beats / clocks


def batch(uri: str, mode: str, direction: int, jobs: int, size: int) -> dict[str, int]:
    """Run a batch on a fresh device."""
    with Device(uri) as device:
        return Batch(device, mode, direction, jobs, size).run()


def bus_figures(build: str) -> list[Figure]:
    """Share of bus data clocks used, both kinds of bus, queued and alone, with P2's copies."""
    result = []
    for bus in ("two-way", "one-way"):
        uri = f"sim:{build}?{MEMORY}&bus={bus}"
        paper = "P2: 50 % (its peak, one-way bus)"

        def note(metric: str, value: float, target=None, text=paper, config=bus) -> None:
            config = f"{build}, {config} bus"
            result.append(
                Figure(
                    "dma",
                    config,
                    metric,
                    value,
                    "%",
                    "higher",
                    target,
                    text,
                    "P2 Table 1",
                )
            )

        stats = batch(uri, "ctr", ENCRYPT, QUEUED, TRANSFER)
        note(
            f"CTR, {QUEUED} queued transfers of 64 KB: data clocks used",
            used(stats),
            95,
        )
        stats = batch(uri, "ctr", ENCRYPT, 16, TRANSFER)
        note("CTR, 16 queued transfers of 64 KB: data clocks used", used(stats), 95)
        stats = batch(uri, "ctr", ENCRYPT, 1, TRANSFER)
        note("CTR, one transfer of 64 KB alone: data clocks used", used(stats))
        share = with_copies(uri)
        text = "P2: 29 % (459 of 1600 MB/s)"
        note(
            "CTR, with P2's two copies by the host: data clocks of use",
            share,
            None,
            text,
        )
    return result


def with_copies(uri: str) -> float:
    """P2's way: copy to a staging area, transfer, copy back, a megabyte at a time.

    Gives the useful data clocks (a read and a write of each byte by the device) in percent of
    those there were.
    """
    jobs = 16
    with Device(uri) as device:
        work = Batch(device, "ctr", ENCRYPT, jobs, TRANSFER)
        user = Batch(device, "ctr", ENCRYPT, 0, TRANSFER)
        size = jobs * TRANSFER
        user_source, user_sink = user._memory(size), user._memory(size)
        device.reset_stats()
        copy = device.lib.mae_host_copy
        check(copy(device.handle, work.source, user_source, size))
        for index in range(jobs):
            work.submit(index)
        work.wait(jobs)
        check(copy(device.handle, user_sink, work.sink, size))
        stats = device.stats()
    ways = 1 if stats["one_way"] else 2
    beats = stats["read_beats"] + stats["write_beats"]
    return 100 * beats / (stats["bus_clocks"] * ways)


def mode_figures(build: str, lanes: int) -> list[Figure]:
    """Blocks a clock of every mode and direction on a card; chained ones alone and interleaved."""
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
        stats = batch(uri, mode, direction, 11 * lanes, size)
        span = stats["last_data_clock"] - stats["first_data_clock"] + 1
        rate = 11 * lanes * size / 16 / span
        what = f"{11 * lanes} messages"
        note(mode, direction, what, rate, "blocks/clock", "higher", 0.95 * lanes)
    return result


def push_figures() -> list[Figure]:
    """The push model: the processor writes each block to a register and reads the answer."""
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
        metric = f"{mode.upper()} {('encrypt', 'decrypt')[direction]}, push model over AXI4-Lite"
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
                "P3: 1,132 and 1,111 with its CPU; P2 gave the push model up",
                "P3 Figure 7",
            )
        )
    return result
