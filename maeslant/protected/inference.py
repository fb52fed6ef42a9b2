# SPDX-License-Identifier: Apache-2.0
"""Classifies images of handwritten digits on the simulated card, for `maeslant infer`.

The application and the driver are this process, the enclave; the card and host memory belong to
another one, the operating system's. Two halves of the card's memory take turns: while the kernel
works on one group of images, the next one comes in and the last one's results go out.
"""

import json
import pathlib
import secrets
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from maeslant import progress
from maeslant.build import simulator
from maeslant.errors import MaeslantError
from maeslant.protected.network import digits, layers, memory

PROTECTED, UNPROTECTED = "protected", "unprotected"  # builds
OPTIONS = "latency=50-300&order=shuffled&seed=1"
CONDITIONS = "host memory: 50-300 clocks latency, answers shuffled"
GROUP = 20  # images
HALF = 1 << 18  # bytes of device memory
CLOCK_MHZ = 200
CONTROL, STATUS, LIST, CLOCKS = 0x00, 0x04, 0x10, 0x18  # registers of the kernel
TIMEOUT = 20_000_000  # clocks
MEBIBYTES = 16


class Group:
    """Plans the layout of card memory for a group of images classified in one kernel run."""

    def __init__(self, number: int, network: list[layers.Layer], pixels: np.ndarray) -> None:
        self.number, self.count = number, len(pixels)
        self.half = number % 2
        self.plan = memory.place(network, pixels, HALF * self.half)
        if self.plan.end > HALF * (self.half + 1):
            raise MaeslantError("the network does not fit into the card's memory")

    def loads(self, loaded: dict[int, list]) -> list[tuple[int, bytes]]:
        """Returns (address, bytes) to load for these images, less what the card already holds."""
        fixed = [self.plan.parameters, self.plan.commands]
        known = loaded.get(self.half)
        loaded[self.half] = fixed
        return [self.plan.images] if fixed == known else [*fixed, self.plan.images]

    @property
    def results(self) -> tuple[int, int]:
        """Returns (device address, size) of the classification results of this group of images."""
        return self.plan.results, self.count * self.plan.result_bytes


def groups(network: list[layers.Layer], pixels: np.ndarray) -> list[Group]:
    """Divides digit images into groups that fit half of the card's memory; returns the groups."""
    starts = range(0, len(pixels), GROUP)
    return [Group(i, network, pixels[at : at + GROUP]) for i, at in enumerate(starts)]


Seen = Callable[[int], None]


def protected(todo: list[Group], library: str, seen: Seen) -> tuple[list[int], dict[str, int]]:
    """Classifies images over the encrypted channel; returns (labels, clocks and bus bytes by name).

    ``library`` is the simulated card's library, or "reference" for the model.
    """
    from maeslant.protected.model import wire
    from maeslant.protected.model.constants import STATE, State
    from maeslant.protected.session import Gate, Host

    labels: list[int] = []
    kernel = 0
    with tempfile.TemporaryDirectory() as folder:
        counters = pathlib.Path(folder, "counters.json")
        command = [
            sys.executable,
            "-m",
            "maeslant.protected.card_process",
            "{socket}",
            "{wire}",
            library,
        ]
        command += [OPTIONS if library != "reference" else "", str(MEBIBYTES), str(counters)]
        with Gate(command) as gate:
            while int.from_bytes(gate.read(STATE, 4), "little") != State.IDLE:
                gate.pause(None, False)  # the card clears its memory first
            secret, session_id = secrets.token_bytes(32), secrets.token_bytes(16)
            start = gate.clocks
            host = Host(gate, secret, session_id, timeout=TIMEOUT, threads=1)
            if not gate.install(secret, session_id):
                raise MaeslantError("the card did not accept the secret")
            host.wait(host.open())
            loaded: dict[int, list] = {}
            under_way: list[tuple] = []

            def finish() -> None:
                nonlocal kernel
                group, start_job, down = under_way.pop(0)
                labels.extend(group.plan.labels(host.wait(down)))
                values = host.read_values(start_job)
                kernel += values[0] if values else 0
                seen(group.count)

            for group in todo:
                if len(under_way) == 2:
                    finish()  # its half of the memory is wanted
                n = group.number
                ups = [host.h2d(1, address, data) for address, data in group.loads(loaded)]
                last = ups[-1].last
                operations = [wire.wait(last.queue, last.sequence), wire.wait_runs(n)]
                operations += [wire.read(CLOCKS, 8)] if n else []  # of the run before
                operations += [wire.write(LIST, group.plan.start, 8), wire.write(CONTROL, 1)]
                job = host.batch(0, operations)
                under_way.append((group, job, host.d2h(2, *group.results, after=n + 1)))
            while under_way:
                finish()
            kernel += host.read_values(host.batch(0, [wire.read(CLOCKS, 8)]))[0]
            host.wait(host.close())
            clocks = gate.clocks - start
            host.free()
        counts = json.loads(counters.read_text())
    return labels, _counts(counts, clocks, kernel)


def unprotected(todo: list[Group], seen: Seen) -> tuple[list[int], dict[str, int]]:
    """Classifies images on the unprotected card; returns (labels, clocks and bus bytes by name)."""
    from maeslant.sim.unprotected_jobs import UnprotectedJobs

    labels: list[int] = []
    with UnprotectedJobs(UNPROTECTED, OPTIONS, MEBIBYTES << 20) as card:
        begin = card.clocks()
        loaded: dict[int, list] = {}
        kernel = 0
        waiting: tuple[Group, int] | None = None  # whose results go out

        def finish() -> None:
            group, transfer = waiting
            labels.extend(group.plan.labels(card.fetched(transfer)))
            seen(group.count)

        ups = [card.begin_load(*part) for part in todo[0].loads(loaded)] if todo else []
        for n, group in enumerate(todo):
            card.wait_loaded(ups[-1])
            card.start(group.plan.start)
            if n + 1 < len(todo):
                if waiting:
                    finish()
                    waiting = None
                ups = [card.begin_load(*part) for part in todo[n + 1].loads(loaded)]
            kernel += card.wait_run()
            if waiting:
                finish()
            waiting = (group, card.begin_fetch(*group.results))
        if waiting:
            finish()
        return labels, _counts(card.sim.stats(), card.clocks() - begin, kernel)


def _counts(stats: dict[str, int], clocks: int, kernel: int) -> dict[str, int]:
    """Returns an inference's clocks and bus traffic by name, from the simulator's counters."""
    found = {"clocks": clocks, "kernel_clocks": kernel}
    if stats:
        width = stats["data_width_bits"] // 8
        found |= {
            "payload_read_bytes": stats["payload_read_beats"] * width,
            "payload_write_bytes": stats["payload_write_beats"] * width,
            "control_read_bytes": stats["read_bytes"] - stats["payload_read_beats"] * width,
            "control_write_beats": stats["write_beats"] - stats["payload_write_beats"],
            "read_bursts": stats["read_bursts"],
            "write_bursts": stats["write_bursts"],
            "register_reads": stats["register_reads"],
            "register_writes": stats["register_writes"],
        }
    return found


def classify(images: int, is_protected: bool, card: bool, err: Console) -> dict[str, object]:
    """Classifies digit images on a simulated card or model; returns labels, accuracy, counts."""
    pixels, wanted = digits.held_out()
    if not 1 <= images <= len(pixels):
        raise MaeslantError(f"1 to {len(pixels)} images are held out, not {images}")
    pixels, wanted = pixels[:images], wanted[:images]
    network = digits.load()
    library = "reference"
    if card or not is_protected:
        with err.status(f"making the card from its SystemVerilog ({simulator.ONCE})"):
            library = str(simulator.build(PROTECTED if is_protected else UNPROTECTED))
    start = time.monotonic()
    with progress.bar("classifying", images, err) as bar:
        todo, seen = groups(network, pixels), bar.advance
        labels, counts = protected(todo, library, seen) if is_protected else unprotected(todo, seen)
    right = sum(int(a == b) for a, b in zip(labels, wanted, strict=True))
    return {
        "images": images,
        "card": library if library == "reference" else (PROTECTED if is_protected else UNPROTECTED),
        "correct": right,
        "accuracy": right / images,
        "equal_to_reference": labels == digits.labels(network, pixels),
        "labels": labels,
        **{k: v for k, v in counts.items() if library != "reference" or k != "clocks"},
        "seconds": round(time.monotonic() - start, 1),
    }


def run(
    images: int, is_protected: bool, card: bool, as_json: bool, console: Console, err: Console
) -> bool:
    """Classifies digit images, prints the accuracy; returns true if labels equal a reference's."""
    found = classify(images, is_protected, card, err)
    if as_json:
        console.print_json(json.dumps(found))
        return bool(found["equal_to_reference"])
    kind = "protected" if is_protected else "unprotected"
    console.print(
        f"{images} handwritten digits, {kind}: {found['correct']} right, "
        f"{100 * found['accuracy']:.1f} %; labels "
        + ("equal to" if found["equal_to_reference"] else "[red]different from[/]")
        + " the integer reference's"
    )
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("by the model" if found["card"] == "reference" else "on the card")
    table.add_column("", justify="right")
    table.add_column("an image", justify="right")
    for name in found:
        if name.endswith(("clocks", "bytes", "beats", "bursts")) or name.startswith("register"):
            each = found[name] / images
            table.add_row(name.replace("_", " "), f"{found[name]:,}", f"{each:,.1f}")
    if "clocks" not in found:
        table.caption = "by the kernel's formula for clocks; the model of the card has no clock"
    else:
        table.caption = (
            f"{CONDITIONS}; {found['clocks'] / CLOCK_MHZ / 1000:.2f} ms at {CLOCK_MHZ} MHz"
        )
    console.print(table)
    console.print(f"Simulated in {found['seconds']} s.")
    return bool(found["equal_to_reference"])
